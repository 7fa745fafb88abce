"""Fit AutoGluon to a file of rows, in its own environment.

    python benchmarks/rivals/run_autogluon.py in.npz out.npz

Reads ``X``, ``y``, ``X_scored`` and ``time_limit`` (seconds). Writes ``scores``, the probability of
class 1 of each row of ``X_scored``, ``seconds`` to fit and to predict, without imports, and
``version``. With few labels of a class AutoGluon's trial of stacking may hold out rows of one class
only, and then ends in an error; it is run again without that trial, as a user would, and the time
that was lost is not counted.
"""

from __future__ import annotations

import sys
import tempfile
import time

import autogluon.tabular
import catboost  # noqa: F401  it would be imported in a fit, within its time
import lightgbm  # noqa: F401
import numpy as np
import pandas as pd
import xgboost  # noqa: F401


def frame(rows: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=[f"x{number}" for number in range(rows.shape[1])])


def fit_and_score(
    train: pd.DataFrame, scored: pd.DataFrame, time_limit: float, **options: bool
) -> tuple[np.ndarray, float]:
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        predictor = autogluon.tabular.TabularPredictor(
            "label", eval_metric="roc_auc", path=folder, verbosity=0
        )
        predictor.fit(train, presets="best_quality", time_limit=time_limit, **options)
        scores = predictor.predict_proba(scored)[1].to_numpy()
    return scores, time.perf_counter() - started


def main(source: str, target: str) -> None:
    with np.load(source, allow_pickle=False) as file:
        train, scored = frame(file["X"]), frame(file["X_scored"])
        train["label"], time_limit = file["y"], float(file["time_limit"])
    try:
        scores, seconds = fit_and_score(train, scored, time_limit)
    except ValueError as error:
        if "Only one class present" not in str(error):
            raise
        scores, seconds = fit_and_score(train, scored, time_limit, dynamic_stacking=False)
    np.savez(target, scores=scores, seconds=seconds, version=autogluon.tabular.__version__)


if __name__ == "__main__":
    main(*sys.argv[1:])
