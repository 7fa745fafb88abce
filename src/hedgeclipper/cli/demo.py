"""The main job on bundled real data: ``python -m hedgeclipper.cli.demo``.

100 labels and 32,461 unlabeled rows of the Adult data: what a random forest gets from the labels
alone, what HedgeClipper and the hedged panel get from both, what can be said about the error
without knowing the other labels, and a report to look at.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from hedgeclipper import HedgeClipperClassifier, HedgedVotingClassifier
from hedgeclipper.datasets import fetch_a1a
from hedgeclipper.io.progress import print_table

N_LABELED, N_GUARANTEED = 100, 1000
REPORT = "hedgeclipper-demo.html"


class Split(NamedTuple):
    """Labeled and unlabeled rows, and the labels that only the score knows."""

    X: Any
    y: np.ndarray
    X_unlabeled: Any
    hidden: np.ndarray


def main(folder: Path = Path(), random_state: int = 0) -> None:
    """Fit the classifiers to a1a, print what comes out and write a report into a folder."""
    X, y = fetch_a1a(return_X_y=True)
    order = np.random.default_rng(random_state).permutation(y.size)
    few, more = (_split(X, y, order, size) for size in (N_LABELED, N_GUARANTEED))
    print(
        f"a1a: {few.y.size} labels, {few.hidden.size:,} unlabeled rows. "
        "This takes less than a minute on two free cores.\n"
    )
    panel = _compare(few, random_state)
    print(
        "AUC: how well rows are put in order. Error: wrong answers if the more probable class is "
        "taken.\nThe better order need not have the lower error, least of all with few labels.\n"
    )
    print(f"Hedged panel, {few.y.size} labels:\n  {panel.certificate_.describe()}")
    forest = _guaranteed(more, random_state)
    print(f"25 trees, {more.y.size:,} labels, half of them held out to judge the trees:")
    print(f"  {forest.certificate_.describe()}")
    path = _write_report(panel, few, folder / REPORT)
    print(f"\nThe report on the hedged panel: {path}")


def _write_report(model: Any, rows: Split, path: Path) -> Path:
    from hedgeclipper.inspection.report import write_report

    return write_report(
        model,
        path,
        X=rows.X,
        y=rows.y,
        X_unlabeled=rows.X_unlabeled,
        title=f"a1a with {rows.y.size} labels",
        force=True,
    )


def _split(X: Any, y: np.ndarray, order: np.ndarray, n_labeled: int) -> Split:
    labeled, unlabeled = order[:n_labeled], order[n_labeled:]
    return Split(X[labeled], y[labeled], X[unlabeled], y[unlabeled])


def _compare(rows: Split, random_state: int) -> HedgedVotingClassifier:
    """Print how three classifiers do on the unlabeled rows, and return the last of them."""
    options = {"n_jobs": -1, "random_state": random_state}
    models = {
        "random forest": RandomForestClassifier(**options),
        "HedgeClipper": HedgeClipperClassifier(**options),
        "hedged panel": HedgedVotingClassifier(**options, verbose=1),
    }
    lines = [_line(name, model, rows) for name, model in models.items()]
    print_table(["on the unlabeled rows", "AUC", "error", "seconds"], lines)
    return models["hedged panel"]


def _line(name: str, model: Any, rows: Split) -> list[str]:
    """Return name, AUC, error and seconds of a fit and its predictions."""
    started = time.perf_counter()
    unlabeled = () if name == "random forest" else (rows.X_unlabeled,)
    chances = model.fit(rows.X, rows.y, *unlabeled).predict_proba(rows.X_unlabeled)[:, 1]
    seconds = time.perf_counter() - started
    error = np.mean((chances > 0.5) != rows.hidden)
    return [name, f"{roc_auc_score(rows.hidden, chances):.3f}", f"{error:.3f}", f"{seconds:.1f}"]


def _guaranteed(rows: Split, random_state: int) -> HedgeClipperClassifier:
    model = HedgeClipperClassifier(
        confidence_level=0.95,
        specialists="trees",
        n_estimators=25,
        random_state=random_state,
    )
    return model.fit(rows.X, rows.y, X_unlabeled=rows.X_unlabeled)


if __name__ == "__main__":
    main()
