"""What a method's file defines."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, StandardScaler

from benchmarks.data.frames import REQUIREMENTS
from benchmarks.draws import Draw
from benchmarks.environments import Environment
from benchmarks.results_file import versions


class Scored(NamedTuple):
    """The probability of each class, shape (n_scored, n_classes), and what it took."""

    probabilities: np.ndarray
    seconds: float
    versions: str


@dataclass(frozen=True)
class Method:
    """A column of a table.

    Parameters
    ----------
    name : str
        Key in the results.
    title : str
        Heading.
    probabilities : callable
        From a draw and a number of jobs to the probability of each class for each scored row, or,
        if it is run elsewhere, to `Scored`. A method that combines others takes these, as members,
        too.
    is_member : bool
        Whether the mean and the stacking combine it.
    combines : bool
        Whether it takes the other methods' scores.
    environment : Environment or None
        Where it is run, if not here.
    needs : str
        A package that is not otherwise needed.
    most_labels, most_columns : float
        What it can take; it is left out where there are more.
    """

    name: str
    title: str
    probabilities: Callable[..., Any]
    is_member: bool = False
    combines: bool = False
    environment: Environment | None = None
    needs: str = ""
    most_labels: float = np.inf
    most_columns: float = np.inf

    def why_absent(self) -> str:
        """Return how to get what it needs if that is absent, or nothing."""
        if self.needs and not find_spec(self.needs):
            return f"{self.needs} is absent. {REQUIREMENTS}"
        return self.environment.why_absent() if self.environment else ""

    def why_not(self, draw: Draw) -> str:
        """Return why it cannot be run on a draw, or nothing."""
        if draw.y.size > self.most_labels:
            return f"{draw.y.size:,} labels, and it takes at most {self.most_labels:,}"
        n_columns = draw.X.shape[1]
        is_wide = n_columns > self.most_columns
        return f"{n_columns} columns, and it takes at most {self.most_columns}" if is_wide else ""

    def run(self, draw: Draw, n_jobs: int = 1, *members: list[Member]) -> Scored:
        """Return its predictions; what it warns of is part of the comparison."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            started = time.perf_counter()
            found = self.probabilities(draw, n_jobs, *members)
            seconds = time.perf_counter() - started
        return found if isinstance(found, Scored) else Scored(found, seconds, versions())


class Member(NamedTuple):
    """A comparator and its scores on the draw, for a method that combines them."""

    method: Method
    scores: np.ndarray


def two_classes(scores: np.ndarray) -> np.ndarray:
    """Return probabilities of both classes from those of class 1."""
    return np.column_stack([1.0 - scores, scores])


def imputed(model: Any) -> Any:
    """Return the model in a pipeline that replaces missing values by medians."""
    return make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), model)


def scaled(model: Any, draw: Draw) -> Any:
    """Return the model in a pipeline that scales columns.

    Columns that are mostly zero by nature are divided by their largest value, as scikit-learn
    advises for sparse data, and handed on as such; others get mean 0 and variance 1.
    """
    if draw.is_sparse:
        return make_pipeline(FunctionTransformer(sparse.csr_array), MaxAbsScaler(), model)
    return imputed(make_pipeline(StandardScaler(), model))
