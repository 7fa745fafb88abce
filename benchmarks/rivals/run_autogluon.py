"""Fit AutoGluon to a folder of rows, in its own environment.

    python -m benchmarks.rivals.run_autogluon FOLDER

Seconds are those of fitting and predicting, without
imports. With few labels of a class AutoGluon's trial of stacking may hold out rows of one class
only, or fit no model in its part of the time, and then ends in an error; it is run again without
that trial, as a user would, and the time that was lost is not counted.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import autogluon.tabular
import catboost  # noqa: F401  it would be imported in a fit, within its time
import lightgbm  # noqa: F401
import numpy as np
import pandas as pd
import xgboost  # noqa: F401

from benchmarks.environments import load, save
from benchmarks.results_file import versions

TRIAL_FAILED = ("Only one class present", "Learner is already fit")


def frame(rows: Any) -> pd.DataFrame:
    if isinstance(rows, pd.DataFrame):
        return rows
    return pd.DataFrame(rows, columns=[f"x{number}" for number in range(rows.shape[1])])


def fit_and_score(
    train: pd.DataFrame, scored: pd.DataFrame, time_limit: float, **options: bool
) -> tuple[np.ndarray, float]:
    n_classes = train["label"].nunique()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        metric = "roc_auc" if n_classes == 2 else "roc_auc_ovr"
        predictor = autogluon.tabular.TabularPredictor(
            "label", eval_metric=metric, path=folder, verbosity=0
        )
        predictor.fit(train, presets="best_quality", time_limit=time_limit, **options)
        # it leaves out classes of too few labels
        scores = predictor.predict_proba(scored).reindex(columns=range(n_classes), fill_value=0.0)
    return scores.to_numpy(), time.perf_counter() - started


def main(folder: Path) -> None:
    task = load(folder, "task")
    train = frame(task["X"]).assign(label=task["y"])
    scored = frame(task["X_unlabeled"][: task["n_scored"]])
    try:
        scores, seconds = fit_and_score(train, scored, task["time_limit"])
    except (AssertionError, ValueError) as error:
        if not any(reason in str(error) for reason in TRIAL_FAILED):
            raise
        scores, seconds = fit_and_score(train, scored, task["time_limit"], dynamic_stacking=False)
    used = versions(("autogluon.tabular",))
    save(folder, "answer", probabilities=scores, seconds=seconds, versions=used)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
