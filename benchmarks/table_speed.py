"""Speed of HedgeClipperClassifier, as ratios to a random forest of as many trees, in one run.

    python -m benchmarks.table_speed [n_rows]

Generated rows of 18 columns (ten informative, labels flipped with probability 0.1), two jobs for
all. With 1,000 labels and 8,000 unlabeled rows, and with 10,000 and a million of them: the whole
``fit`` with the default voters and with trees alone, beside the forest's ``fit`` and
``predict_proba`` on the same rows, and ``predict_proba`` beside the forest's. Then the part of the
fit that tests predictions for the certificate. Runs are interleaved; seconds are medians.
"""

from __future__ import annotations

import sys
import time
import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from benchmarks.methods.supervised import N_TREES
from benchmarks.timing import calls_timed, interleaved, print_rows
from hedgeclipper import HedgeClipperClassifier

N_JOBS, N_ROUNDS = 2, 3
SIZES = ((1_000, 8_000), (10_000, None))
Rows = tuple[np.ndarray, np.ndarray, np.ndarray]


def generate(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(
        n_rows, 18, n_informative=10, flip_y=0.1, class_sep=0.7, random_state=0
    )
    return X.astype(np.float32), y


def forest() -> RandomForestClassifier:
    return RandomForestClassifier(N_TREES, n_jobs=N_JOBS, random_state=0)


def fit(rows: Rows, estimators: str, **options: Any) -> HedgeClipperClassifier:
    X, y, unlabeled = rows
    model = HedgeClipperClassifier(estimators, n_jobs=N_JOBS, random_state=0, **options)
    return model.fit(X, y, X_unlabeled=unlabeled)


def compare(rows: Rows) -> list[tuple[str, ...]]:
    """Return what fits and predictions cost, beside those of the forest."""
    X, y, unlabeled = rows
    peer = forest().fit(X, y)
    models = {name: fit(rows, name) for name in ("default", "trees")}
    fits = interleaved(
        {
            "peer": lambda: forest().fit(X, y).predict_proba(unlabeled),
            **{name: partial(fit, rows, name) for name in models},
        },
        N_ROUNDS,
    )
    predictions = interleaved(
        {
            "peer": lambda: peer.predict_proba(unlabeled),
            **{name: partial(model.predict_proba, unlabeled) for name, model in models.items()},
        },
        N_ROUNDS,
    )
    what = f"{y.size:,} labels, {len(unlabeled):,} rows"
    return [
        (f"{what}: {step}, {name}", f"{seconds[name]:.2f}", f"{seconds[name] / seconds['peer']:.2f}")
        for step, seconds in (("fit", fits), ("predict_proba", predictions))
        for name in models
    ]


def certificate_part(rows: Rows, level: float | None) -> tuple[str, ...]:
    """Return the part of a fit of trees that goes into the certificate."""
    with calls_timed(HedgeClipperClassifier, "_store_tested") as seconds:
        started = time.perf_counter()
        fit(rows, "trees", confidence_level=level)
        part = seconds[0] / (time.perf_counter() - started)
    what = "estimate" if level is None else "guarantee"
    return f"certificate, {what}", f"{seconds[0]:.2f}", f"{part:.3f} of the fit"


def main(n_rows: int = 1_000_000) -> None:
    print(__doc__)
    warnings.simplefilter("ignore")
    X, y = generate(SIZES[-1][0] + n_rows)
    lines = [("what", "seconds", "ratio to the forest")]
    for n_labeled, n_unlabeled in SIZES:
        rows = X[:n_labeled], y[:n_labeled], X[n_labeled:][:n_unlabeled]
        lines += compare(rows)
        lines += [certificate_part(rows, level) for level in (None, 0.95)]
    print_rows(lines)


if __name__ == "__main__":
    main(*[int(argument) for argument in sys.argv[1:]])
