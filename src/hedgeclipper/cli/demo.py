"""``hedgeclipper demo``: bundled real data, the Adult data.

With 300 labels and all other rows unlabeled: AUC and error of a random forest fitted to the labels
alone, and of HedgeClipper fitted to all rows; its error estimate and its report. With 3,000 labels:
a guarantee, and the rows that can be labeled automatically.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.cli.app import Demo
from hedgeclipper.cli.output import Output
from hedgeclipper.datasets import load_adult
from hedgeclipper.report.page import write_report

FEW, MANY = 300, 3000


def compare_methods(options: Demo, output: Output, folder: Path = Path()) -> None:
    """Fit the classifiers, print what comes out and write a report into a folder."""
    X, y = load_adult(return_X_y=True)
    order = np.random.default_rng(0).permutation(y.size)
    X, y = X[order], y[order]
    output.say(f"Who earns more than $50,000? Of {y.size:,} people {FEW} have a label.\n")
    common: dict[str, Any] = {"n_jobs": -1, "random_state": 0}
    models: dict[str, Any] = {
        "random forest": RandomForestClassifier(**common),
        "HedgeClipper, trees alone": HedgeClipperClassifier("trees", **common),
        "HedgeClipper": HedgeClipperClassifier(**common),
    }
    lines = []
    for name, model in models.items():
        started = time.perf_counter()
        unlabeled = () if name == "random forest" else (X[FEW:],)
        probabilities = model.fit(X[:FEW], y[:FEW], *unlabeled).predict_proba(X[FEW:])[:, 1]
        seconds = time.perf_counter() - started
        scores = roc_auc_score(y[FEW:], probabilities), np.mean((probabilities > 0.5) != y[FEW:])
        lines.append([name, *(f"{score:.3f}" for score in scores), f"{seconds:.1f}"])
    output.table(["on the unlabeled rows", "AUC", "error", "seconds"], lines)
    model = models["HedgeClipper"]
    output.say(f"HedgeClipper with {FEW} labels: {model.certificate_.describe()}.\n")
    tested = HedgeClipperClassifier(confidence_level=0.95, **common)
    tested.fit(X[:MANY], y[:MANY], X_unlabeled=X[MANY:])
    labels = tested.auto_label(max_error=0.05).describe().removesuffix(".")
    output.say(
        f"HedgeClipper with {MANY:,} labels, half of them held out for a guarantee: "
        f"{tested.certificate_.describe()}.\n{labels}.\n"
    )
    path = write_report(
        model,
        folder / "hedgeclipper-demo.html",
        X_unlabeled=X[FEW:],
        title=f"Adult data with {FEW} labels",
        force=True,
    )
    output.say(f"The report on the first one: {path}")
