"""AutoGluon and TabPFN v1, each in an environment of its own, and TabPFN as a voter of ours.

AutoGluon has 60 seconds, ``presets="best_quality"`` and AUC as its metric. TabPFN averages eight
configurations; as a voter it has its default of three.
"""

from typing import Any

from benchmarks.draws import Draw, ordinal
from benchmarks.environments import Environment
from benchmarks.methods.method import Method, Scored

AUTOGLUON = Environment("AutoGluon", ".venv-rivals", "HEDGECLIPPER_RIVALS")
TABPFN = Environment("TabPFN", ".venv-tabpfn", "HEDGECLIPPER_TABPFN")
SECONDS = 60.0
LIMITS = {"most_labels": 1_000, "most_columns": 100}  # of TabPFN v1
# configurations of TabPFN: 32, as in its example, lowered log loss by 0.001 in one trial
ALONE, AS_VOTER = 8, 3


def ask(environment: Environment, module: str, draw: Draw, n_jobs: int, **options: Any) -> Scored:
    """Return what a module of ours finds in a process of another environment."""
    rows = {"X": draw.X, "y": draw.y, "X_unlabeled": draw.X_unlabeled, "n_scored": draw.n_scored}
    options |= {"seed": draw.seed, "jobs": n_jobs, **rows}
    return Scored(**environment.run(f"benchmarks.rivals.{module}", n_jobs=n_jobs, **options))


def autogluon(draw: Draw, n_jobs: int) -> Scored:
    return ask(AUTOGLUON, "run_autogluon", draw, n_jobs, time_limit=SECONDS)


def tabpfn(draw: Draw, n_jobs: int) -> Scored:
    options = {"n_configurations": ALONE, "is_voter": False}
    return ask(TABPFN, "run_tabpfn", ordinal(draw), n_jobs, **options)


def ours_with_tabpfn(draw: Draw, n_jobs: int) -> Scored:
    options = {"n_configurations": AS_VOTER, "is_voter": True}
    return ask(TABPFN, "run_tabpfn", draw, n_jobs, **options)


WITH_TABPFN = "HedgeClipper with TabPFN v1 as a voter"
METHODS = (
    Method("hedgeclipper-tabpfn", WITH_TABPFN, ours_with_tabpfn, environment=TABPFN, **LIMITS),
    Method("autogluon", "AutoGluon, 60 seconds", autogluon, environment=AUTOGLUON),
    Method("tabpfn", "TabPFN v1", tabpfn, environment=TABPFN, **LIMITS),
)
