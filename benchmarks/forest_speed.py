"""Speed of HedgeClipperClassifier, as ratios to a random forest of as many trees, in one run.

    python -m benchmarks.forest_speed [n_rows [n_trees]]

1,000,000 generated rows of 18 columns (ten informative, labels flipped with probability 0.1),
10,000 labels, as many trees as HedgeClipper has by default, also without views, two threads for
all. "After growing" is the whole of ``fit``, including views, shrinkage, the game and predictions
of all unlabeled rows, minus the time in which scikit-learn fits the ensembles. "Whole fit" is with
1,000 labels and 8,000 unlabeled rows, and its peer is the forest's ``fit`` and ``predict_proba`` on
the same rows. Runs are interleaved; seconds are medians.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import hedgeclipper.forest.growing
from benchmarks.methods.equal_forest import N_TREES
from benchmarks.timing import calls_timed, interleaved, median_of_rounds, print_rows
from hedgeclipper import HedgeClipperClassifier

N_LABELED, N_JOBS = 10_000, 2
FEW_LABELED, FEW_UNLABELED = 1_000, 8_000
N_ROUNDS, N_SHORT_ROUNDS = 3, 7
WITH, WITHOUT = "with views", "without views"


def generate(n_rows: int):
    X, y = make_classification(
        N_LABELED + n_rows, 18, n_informative=10, flip_y=0.1, class_sep=0.7, random_state=0
    )
    X = X.astype(np.float32)
    return X[:N_LABELED], y[:N_LABELED], X[N_LABELED:]


def forest(n_trees: int = N_TREES, **options: Any) -> RandomForestClassifier:
    return RandomForestClassifier(n_trees, n_jobs=N_JOBS, random_state=0, **options)


def classifier(n_trees: int = N_TREES, views: Any = "auto") -> HedgeClipperClassifier:
    """Return the classifier with so many trees in all its groups."""
    return HedgeClipperClassifier(n_estimators=n_trees, views=views, n_jobs=N_JOBS, random_state=0)


def seconds_of(run: Callable[[], Any]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def after_growing(model: HedgeClipperClassifier, X, y, U) -> float:
    """Return the seconds of a fit without those in which ensembles are fitted."""
    with calls_timed(hedgeclipper.forest.growing, "_fit") as growing:
        whole = seconds_of(lambda: model.fit(X, y, X_unlabeled=U))
    return whole - sum(growing)


def large_rows(X, y, U, n_trees: int) -> list[tuple[str, ...]]:
    """Return what all rows cost, after growing and to predict, beside the forest's predictions."""
    models = {WITH: classifier(n_trees), WITHOUT: classifier(n_trees, None)}
    peer = forest(n_trees).fit(X, y)
    runs: dict[str, Callable[[], float]] = {
        "peer": partial(seconds_of, lambda: peer.predict_proba(U))
    }
    for name, model in models.items():  # a model is fitted before it predicts
        runs[f"after growing, {name}"] = partial(after_growing, model, X, y, U)
        runs[f"predicting new rows, {name}"] = partial(seconds_of, partial(model.predict, U))
    seconds = median_of_rounds(runs, N_ROUNDS)
    theirs = seconds.pop("peer")
    return [_row(what, ours, "predict_proba", theirs) for what, ours in seconds.items()]


def small_rows(X, y, U, n_trees: int) -> list[tuple[str, ...]]:
    """Return what a whole fit with few rows costs, beside the forest's fit and predictions."""
    X, y, U = X[:FEW_LABELED], y[:FEW_LABELED], U[:FEW_UNLABELED]
    seconds = interleaved(
        {
            "peer": lambda: forest(n_trees).fit(X, y).predict_proba(U),
            WITH: lambda: classifier(n_trees).fit(X, y, X_unlabeled=U),
            WITHOUT: lambda: classifier(n_trees, None).fit(X, y, X_unlabeled=U),
        },
        N_SHORT_ROUNDS,
    )
    theirs = seconds.pop("peer")
    return [
        _row(f"whole fit, {name}", ours, "fit and predict_proba", theirs)
        for name, ours in seconds.items()
    ]


def _row(what: str, ours: float, peer: str, theirs: float) -> tuple[str, ...]:
    return what, f"{ours:.2f}", f"forest's {peer} {theirs:.2f} s", f"{ours / theirs:.2f}"


FIRST_USE = """
import sys, time, numpy as np
from sklearn.ensemble import RandomForestClassifier
from hedgeclipper import HedgeClipperClassifier
rng = np.random.default_rng(0)
X = rng.normal(size=(1000, 5)).astype(np.float32)
y = (X[:, 0] > 0).astype(int)
started = time.perf_counter()
RandomForestClassifier(int(sys.argv[1]), random_state=0).fit(X[:300], y[:300]).predict_proba(X)
forest = time.perf_counter() - started
started = time.perf_counter()
HedgeClipperClassifier(random_state=0).fit(X[:300], y[:300], X_unlabeled=X[300:]).predict(X)
print(time.perf_counter() - started - forest)
"""


def first_use() -> float:
    """Return the seconds over the forest's of a first use, compiled code cached."""
    command = [sys.executable, "-c", FIRST_USE, str(N_TREES)]
    seconds = [
        float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for _ in range(4)
    ]
    return float(np.median(seconds[1:]))


def main(n_rows: int = 1_000_000, n_trees: int = N_TREES) -> None:
    print(__doc__)
    X, y, U = generate(n_rows)
    classifier(n_trees).fit(X[:200], y[:200], X_unlabeled=U[:500])  # compiles what is needed
    rows = [("what", "seconds", "peer", "ratio")]
    rows += large_rows(X, y, U, n_trees)
    rows += small_rows(X, y, U, n_trees)
    print(f"{n_rows:,} rows, {n_trees} trees")
    print_rows(rows)
    print(f"\nfirst use in a fresh process: {first_use():.2f} s over the forest's")


if __name__ == "__main__":
    main(*[int(argument) for argument in sys.argv[1:]])
