"""Three methods on bundled real data: ``python -m hedgeclipper.cli.demo``.

100 labels and 32,461 unlabeled rows of the Adult data: AUC and error of a random forest fitted to
the labels alone, and of HedgeClipper and the hedged panel fitted to all rows; what the unlabeled
rows have brought; what is known of the error without the other labels: an estimate, a guarantee,
and which rows can be labeled automatically; and a report to open in a browser.
"""

from __future__ import annotations

import textwrap
import time
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from hedgeclipper import HedgeClipperClassifier, HedgedVotingClassifier
from hedgeclipper.cli.output import Output
from hedgeclipper.datasets import load_adult

N_LABELED, N_GUARANTEED = 100, 3000
REPORT = "hedgeclipper-demo.html"


class Split(NamedTuple):
    """Labeled and unlabeled rows, and the hidden labels of the latter, used for scores only."""

    X: Any
    y: np.ndarray
    X_unlabeled: Any
    hidden: np.ndarray


def main(folder: Path = Path(), random_state: int = 0) -> None:
    """Fit the classifiers to a1a, print what comes out and write a report into a folder."""
    X, y = load_adult(return_X_y=True)
    order = np.random.default_rng(random_state).permutation(y.size)
    few, more = (
        Split(X[order[:size]], y[order[:size]], X[order[size:]], y[order[size:]])
        for size in (N_LABELED, N_GUARANTEED)
    )
    print(
        f"Who earns more than $50,000? Of {y.size:,} people (Adult data, a1a) {few.y.size} have a "
        f"label.\nThis takes less than a minute on two free cores.\n"
    )
    models = _compare(few, random_state)
    forest, panel = models["HedgeClipper"], models["hedged panel"]
    print(
        "AUC: how well the probabilities rank the rows. Error: wrong predictions of the more "
        "probable class.\nThe better ranking need not have the lower error, least of all with few "
        "labels.\n"
    )
    gain = forest.unlabeled_gain_.describe().removeprefix("unlabeled rows: ")
    print(f"What the {few.hidden.size:,} unlabeled rows brought to HedgeClipper, by the labels:")
    _print_indented(gain)
    print(f"What the hedged panel knows of its error with {few.y.size} labels:")
    _print_indented(panel.certificate_.describe())
    options = {"confidence_level": 0.95, "n_jobs": -1, "random_state": random_state}
    forest = HedgeClipperClassifier(**options)
    forest.fit(more.X, more.y, X_unlabeled=more.X_unlabeled)
    print(f"HedgeClipper with {more.y.size:,} labels, half of them held out for a guarantee:")
    _print_indented(forest.certificate_.describe())
    found = forest.auto_label(max_error=0.05)
    _print_indented(found.describe())
    if found.is_sure.any():
        wrong = np.mean(found.labels[found.is_sure] != more.hidden[found.is_sure])
        _print_indented(f"(of these {wrong:.1%} are wrong, by the labels that no method has seen)")
    path = import_module("hedgeclipper.inspection.report").write_report(
        panel,
        folder / REPORT,
        X=few.X,
        y=few.y,
        X_unlabeled=few.X_unlabeled,
        title=f"a1a with {few.y.size} labels",
        force=True,
    )
    print(f"\nThe report on the hedged panel: {path}")


def _print_indented(text: str) -> None:
    print(textwrap.fill(text, 98, initial_indent="  ", subsequent_indent="    "))


def _compare(rows: Split, random_state: int) -> dict[str, Any]:
    """Print the scores of three classifiers on the unlabeled rows, and return them by name."""
    options = {"n_jobs": -1, "random_state": random_state}
    models: dict[str, Any] = {
        "random forest": RandomForestClassifier(**options),
        "HedgeClipper": HedgeClipperClassifier(**options),
        "hedged panel": HedgedVotingClassifier(**options, verbose=1),
    }
    lines = [_line(name, model, rows) for name, model in models.items()]
    Output().table(["on the unlabeled rows", "AUC", "error", "seconds"], lines)
    return models


def _line(name: str, model: Any, rows: Split) -> list[str]:
    """Return name, AUC, error and seconds of a fit and its predictions."""
    started = time.perf_counter()
    unlabeled = () if name == "random forest" else (rows.X_unlabeled,)
    probabilities = model.fit(rows.X, rows.y, *unlabeled).predict_proba(rows.X_unlabeled)[:, 1]
    seconds = time.perf_counter() - started
    error = np.mean((probabilities > 0.5) != rows.hidden)
    auc = roc_auc_score(rows.hidden, probabilities)
    return [name, f"{auc:.3f}", f"{error:.3f}", f"{seconds:.1f}"]


if __name__ == "__main__":
    main()
