"""Speed of HedgeClipperClassifier, as ratios to a random forest of as many trees, in one run.

    python -m benchmarks.table_speed [n_rows]

Generated rows of 18 columns (ten informative, labels flipped with probability 0.1), two jobs for
all. With 1,000 labels and 8,000 unlabeled rows, and with 10,000 and a million of them: the whole
``fit`` with the default voters and with trees alone, beside the forest's ``fit`` and
``predict_proba`` on the same rows, and ``predict_proba`` beside the forest's. Runs are interleaved;
seconds are medians.
"""

from __future__ import annotations

import sys
import warnings
from functools import partial

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from benchmarks.methods.supervised import N_TREES
from benchmarks.timing import interleaved, print_rows
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


def fit(rows: Rows, estimators: str) -> HedgeClipperClassifier:
    X, y, unlabeled = rows
    model = HedgeClipperClassifier(estimators, n_jobs=N_JOBS, random_state=0)
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
        (
            f"{what}: {step}, {name}",
            f"{seconds[name]:.2f}",
            f"{seconds[name] / seconds['peer']:.2f}",
        )
        for step, seconds in (("fit", fits), ("predict_proba", predictions))
        for name in models
    ]


def main(n_rows: int = 1_000_000) -> None:
    print(__doc__)
    warnings.simplefilter("ignore")
    X, y = generate(SIZES[-1][0] + n_rows)
    lines = [("what", "seconds", "ratio to the forest")]
    for n_labeled, n_unlabeled in SIZES:
        rows = X[:n_labeled], y[:n_labeled], X[n_labeled:][:n_unlabeled]
        lines += compare(rows)
    print_rows(lines)


if __name__ == "__main__":
    main(*[int(argument) for argument in sys.argv[1:]])
