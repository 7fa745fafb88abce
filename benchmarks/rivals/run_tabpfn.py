"""Fit TabPFN v1 to a folder of rows, alone or as a voter of ours, in its own environment.

    python -m benchmarks.rivals.run_tabpfn FOLDER

Seconds are those of fitting and predicting, without
imports, weights that are read and kernels that are compiled. TabPFN's code is that of tabpfn
0.1.11; the weights come from the source archive of 0.1.0 and lie in the environment's folder.
"""

from __future__ import annotations

import os
import sys
import time
import typing
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch.nn.modules.transformer
from sklearn.base import BaseEstimator, ClassifierMixin

from benchmarks.environments import load, save
from benchmarks.results_file import versions

# Its layers import this name from there, where newer versions of torch no longer have it.
torch.nn.modules.transformer.Optional = typing.Optional
# Its checkpoint is older than the check that it has weights only; requirements-weights.txt has its
# hash.
os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"

from tabpfn import TabPFNClassifier  # noqa: E402

WEIGHTS = Path(sys.prefix) / "weights"
BATCH = 4  # configurations at a time: the same result as with all, in an eighth of the memory


class TabPFN(ClassifierMixin, BaseEstimator):
    """TabPFN v1, of which a copy, also in another process, has no weights of its own.

    Parameters
    ----------
    n_configurations : int
        Rotations of columns and classes, of which the probabilities are averaged.
    seed : int
        Which rotations.
    """

    def __init__(self, n_configurations: int = 3, seed: int = 0):
        self.n_configurations = n_configurations
        self.seed = seed

    def fit(self, X: np.ndarray, y: np.ndarray) -> TabPFN:
        """Store the rows: it learns from them while it predicts."""
        self.X_, self.y_, self.classes_ = X, y, np.unique(y)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return probabilities."""
        return self._model().fit(self.X_, self.y_).predict_proba(X)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the most probable classes."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _model(self) -> TabPFNClassifier:
        options = {"N_ensemble_configurations": self.n_configurations, "seed": self.seed}
        return TabPFNClassifier(base_path=WEIGHTS, batch_size_inference=BATCH, **options)

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: it takes missing values."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def with_ours(tabpfn: TabPFN, n_jobs: int) -> Any:
    """Return our classifier with TabPFN as one more voter, its kernels compiled."""
    from hedgeclipper import HedgeClipperClassifier, default_estimators

    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(60, 3)), np.arange(40) % 2
    HedgeClipperClassifier(n_estimators=6, random_state=0).fit(rows[:40], y, X_unlabeled=rows[40:])
    voters = [*default_estimators(), ("tabpfn", tabpfn)]
    return HedgeClipperClassifier(voters, n_jobs=n_jobs, random_state=tabpfn.seed)


def main(folder: Path) -> None:
    task = load(folder, "task")
    tabpfn = TabPFN(task["n_configurations"], task["seed"])
    tabpfn._model()  # the weights are read
    names = ["tabpfn", "torch", "scikit-learn", "numpy"]
    model: Any = tabpfn
    options = {}
    if task["is_voter"]:
        model, names = with_ours(tabpfn, task["jobs"]), ["hedgeclipper", *names]
        options["X_unlabeled"] = task["X_unlabeled"]
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(task["X"], task["y"], **options)
        scores = model.predict_proba(task["X_unlabeled"][: task["n_scored"]])
    seconds = time.perf_counter() - started
    if task["is_voter"] and "tabpfn" not in model.voter_names_:
        raise RuntimeError("TabPFN has failed as a voter and was left out.")
    used = versions(tuple(names))
    save(folder, "answer", probabilities=scores, seconds=seconds, versions=used)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
