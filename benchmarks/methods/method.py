"""What a method's file defines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, StandardScaler

from benchmarks.draws import Draw


@dataclass(frozen=True)
class Method:
    """A column of the table.

    Parameters
    ----------
    name : str
        Key in the results.
    title : str
        Heading.
    scores : callable
        From a draw to the probability of class 1 of each scored row. A method that combines others
        takes these, as members, too.
    is_member : bool
        Whether the mean and the stacking combine it.
    combines : bool
        Whether it takes the other methods' scores.
    max_rows : int or None
        Rows it can take at most; it is left out where there are more.
    """

    name: str
    title: str
    scores: Callable[..., np.ndarray]
    is_member: bool = False
    combines: bool = False
    max_rows: int | None = None


class Member(NamedTuple):
    """A comparator and its scores on the draw, for a method that combines them."""

    method: Method
    scores: np.ndarray


def probability(model: Any, X: Any) -> np.ndarray:
    """Return the probability of class 1."""
    return model.predict_proba(X)[:, 1]


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
