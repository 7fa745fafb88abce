"""The methods, each with the same rows and labels, and what it cannot take.

AutoGluon has 60 seconds, ``presets="best_quality"`` and AUC as its metric. TabPFN averages
eight configurations; as a voter it has its default of three. LightGBM has
settings for few labels: small trees, a slow rate, and leaves of a twentieth of the labels; they are
the best of eight on a fourth draw of these settings. The others are as in the tables. Only ours,
label spreading and self-training use the unlabeled rows.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from sklearn.ensemble import RandomForestClassifier

from benchmarks.draws import Draw
from benchmarks.figures import OURS
from benchmarks.methods.semi_supervised import label_spreading, self_training
from benchmarks.methods.supervised import EQUAL_FOREST, N_TREES
from benchmarks.pages import ROOT
from benchmarks.results_file import versions
from benchmarks.rivals.exchange import read_answer, write_task
from benchmarks.rivals.settings import n_columns, one_hot, ordinal
from hedgeclipper import HedgeClipperClassifier

SECONDS = 60.0
MOST_LABELS, MOST_COLUMNS = 1_000, 100  # of TabPFN v1
# configurations of TabPFN: 32, as in its example, lowered log loss by 0.001 in one trial
ALONE, AS_VOTER = 8, 3
Scored = tuple[np.ndarray, float, str]  # probabilities (n_scored, n_classes), seconds, versions


@dataclass(frozen=True)
class Environment:
    """An environment of its own, below the root, or the interpreter that a variable names."""

    name: str
    folder: str
    variable: str

    @property
    def python(self) -> Path:
        """Return the path of its interpreter, which may be absent."""
        return Path(os.environ.get(self.variable, ROOT / self.folder / "bin" / "python"))

    def why_absent(self) -> str:
        """Return how to build it if it is absent, or nothing."""
        is_there = self.python.is_file()
        return "" if is_there else f"{self.name} is absent; `make {self.folder}/.ready` builds it"


AUTOGLUON = Environment("AutoGluon's environment", ".venv-rivals", "HEDGECLIPPER_RIVALS")
TABPFN = Environment("TabPFN's environment", ".venv-tabpfn", "HEDGECLIPPER_TABPFN")


@dataclass(frozen=True)
class Rival:
    """A method: its key in the results, its title, and what runs it on a draw with some cores."""

    name: str
    title: str
    run: Callable[[Draw, int], Scored]
    environment: Environment | None = None
    has_limits: bool = False

    def why_absent(self) -> str:
        """Return how to build its environment if that is absent, or nothing."""
        return self.environment.why_absent() if self.environment else ""

    def why_not(self, data: str, n_labels: int) -> str:
        """Return why it cannot be run on a setting, or nothing."""
        if not self.has_limits:
            return ""
        if n_labels > MOST_LABELS:
            return f"{n_labels:,} labels, and it takes at most {MOST_LABELS:,}"
        width = n_columns(data)
        return f"{width} columns, and it takes at most {MOST_COLUMNS}" * (width > MOST_COLUMNS)


def here(probabilities: Callable[[Draw, int], np.ndarray]) -> Callable[[Draw, int], Scored]:
    """Return what runs a method in this process, and takes its time."""

    def run(draw: Draw, n_jobs: int) -> Scored:
        started = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = probabilities(draw, n_jobs)
        return found, time.perf_counter() - started, versions()

    return run


def elsewhere(
    environment: Environment, module: str, draw: Draw, n_jobs: int, **options: Any
) -> Scored:
    """Return what a module of ours finds in a process of another environment."""
    variables = dict(os.environ, PYTHONPATH=os.pathsep.join([str(ROOT), str(ROOT / "src")]))
    if n_jobs == -1:
        variables.pop("OMP_NUM_THREADS", None)
    else:
        variables["OMP_NUM_THREADS"] = str(n_jobs)
    options |= {"y": draw.y, "n_scored": draw.n_scored, "seed": draw.seed, "n_jobs": n_jobs}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_task(folder, {"X": draw.X, "X_unlabeled": draw.X_unlabeled}, **options)
        command = [environment.python, "-m", f"benchmarks.rivals.{module}", folder]
        done = subprocess.run(command, env=variables, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{module}: exit code {done.returncode}\n{done.stderr[-2000:]}")
        return read_answer(folder)


def ours(draw: Draw, n_jobs: int) -> np.ndarray:
    model = HedgeClipperClassifier(n_jobs=n_jobs, random_state=draw.seed)
    model.fit(draw.X, draw.y, X_unlabeled=draw.X_unlabeled)
    return model.predict_proba(draw.X_scored)


def autogluon(draw: Draw, n_jobs: int) -> Scored:
    return elsewhere(AUTOGLUON, "run_autogluon", draw, n_jobs, time_limit=SECONDS)


def tabpfn(draw: Draw, n_jobs: int) -> Scored:
    options = {"n_configurations": ALONE, "is_voter": False}
    return elsewhere(TABPFN, "run_tabpfn", ordinal(draw), n_jobs, **options)


def ours_with_tabpfn(draw: Draw, n_jobs: int) -> Scored:
    options = {"n_configurations": AS_VOTER, "is_voter": True}
    return elsewhere(TABPFN, "run_tabpfn", draw, n_jobs, **options)


def fitted(model: Any, draw: Draw) -> np.ndarray:
    """Return what a classifier of numbers predicts, fitted to the labels."""
    draw = one_hot(draw)
    return model.fit(draw.X, draw.y).predict_proba(draw.X_scored)


def forest(draw: Draw, n_jobs: int) -> np.ndarray:
    return fitted(RandomForestClassifier(N_TREES, n_jobs=n_jobs, random_state=draw.seed), draw)


def lightgbm(draw: Draw, n_jobs: int) -> np.ndarray:
    model = LGBMClassifier(
        n_estimators=200,
        learning_rate=0.03,
        num_leaves=8,
        min_child_samples=int(np.clip(draw.y.size // 20, 3, 20)),  # 20 by default
        min_data_in_bin=1,
        subsample=0.8,
        subsample_freq=1,
        colsample_bytree=0.5,
        reg_lambda=1.0,
        n_jobs=n_jobs,
        verbose=-1,
        random_state=draw.seed,
    )
    return fitted(model, draw)


RIVALS = {
    rival.name: rival
    for rival in (
        Rival(OURS, "HedgeClipper", here(ours)),
        Rival(
            "hedgeclipper-tabpfn",
            "HedgeClipper with TabPFN v1 as a voter",
            ours_with_tabpfn,
            TABPFN,
            has_limits=True,
        ),
        Rival("autogluon", "AutoGluon, 60 seconds", autogluon, AUTOGLUON),
        Rival("tabpfn", "TabPFN v1", tabpfn, TABPFN, has_limits=True),
        Rival(EQUAL_FOREST, f"Random forest, {N_TREES} trees", here(forest)),
        Rival("lightgbm-few-labels", "LightGBM for few labels", here(lightgbm)),
        Rival("label-spreading", "Label spreading", here(lambda d, _: label_spreading(one_hot(d)))),
        Rival("self-training", "Self-training", here(lambda d, _: self_training(one_hot(d)))),
    )
}
