"""The main job on bundled real data: ``python -m hedgeclipper.demo``.

100 labels and 32,461 unlabelled rows of the Adult data: what a forest gets from the labels alone,
what its leaves get from both, and what can be said about the error without knowing the labels.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.datasets import fetch_a1a

N_LABELED, N_GUARANTEED = 100, 1000


def main(random_state: int = 0) -> None:
    """Fit the classifier to a1a and print what comes out."""
    X, y = fetch_a1a(return_X_y=True)
    order = np.random.default_rng(random_state).permutation(y.size)
    labeled, unlabeled = order[:N_LABELED], order[N_LABELED:]
    started = time.perf_counter()
    model = HedgeClipperClassifier(n_jobs=-1, random_state=random_state)
    model.fit(X[labeled], y[labeled], X_unlabeled=X[unlabeled])
    seconds = time.perf_counter() - started
    forest = model.estimator_
    print(f"a1a: {labeled.size} labels, {unlabeled.size:,} unlabelled rows, {seconds:.1f} s\n")
    print(f"{'':24}{'AUC':>8}{'error':>8}")
    _print_row("its forest alone", forest.predict_proba(X[unlabeled])[:, 1], 0.5, y[unlabeled])
    _print_row("HedgeClipper", model.decision_function(X[unlabeled]), 0.0, y[unlabeled])
    print(f"\n{model.certificate_}")
    print(f"\nWith {N_GUARANTEED} labels, half of them held out to judge the trees:")
    print(_guaranteed(X, y, order, random_state).certificate_)


def _guaranteed(
    X: Any, y: np.ndarray, order: np.ndarray, random_state: int
) -> HedgeClipperClassifier:
    labeled, unlabeled = order[:N_GUARANTEED], order[N_GUARANTEED:]
    model = HedgeClipperClassifier(
        correlations="holdout",
        delta=0.05,
        specialists="trees",
        n_estimators=25,
        random_state=random_state,
    )
    return model.fit(X[labeled], y[labeled], X_unlabeled=X[unlabeled])


def _print_row(name: str, scores: np.ndarray, cut: float, truth: np.ndarray) -> None:
    error = np.mean((scores > cut) != truth)
    print(f"{name:24}{roc_auc_score(truth, scores):8.3f}{error:8.3f}")


if __name__ == "__main__":
    main()
