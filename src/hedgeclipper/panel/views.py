"""Views: what labelled and unlabelled rows together say about the columns, without any label.

Each is fitted once, on a sample of all rows, and then frozen: members that look at a view do not
fit it again in each fold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import RandomTreesEmbedding
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    Normalizer,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.utils.validation import check_is_fitted

N_COMPONENTS, N_LANDMARKS = 50, 300
N_EMBEDDING_TREES, EMBEDDING_DEPTH = 200, 5
MANY_VALUES, ROWS_TO_COUNT = 20, 3_000
ROWS_FOR_DISTANCE = 500
WIDE, MOSTLY_ZERO = 500, 0.9
FARTHEST = 5.0


class EvenColumns(TransformerMixin, BaseEstimator):
    """Brings every column to about the same shape, whatever its tails, and fills what is missing.

    Columns of many values become normal quantiles, others are standardised.

    Parameters
    ----------
    random_state : int, RandomState or None
        Seed of the rows that quantiles are taken from.
    """

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y=None):
        """Learn the columns' shapes.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Rows.
        y : None
            Not used.
        """
        self.fill_ = filler().fit(X)
        X = self.fill_.transform(X)
        n_values = [np.unique(column).size for column in X[:ROWS_TO_COUNT].T]
        self.is_long_ = np.array(n_values) > MANY_VALUES
        n_quantiles = min(100, X.shape[0])
        self.long_ = QuantileTransformer(
            n_quantiles=n_quantiles, output_distribution="normal", random_state=self.random_state
        )
        self.short_ = StandardScaler()
        for part, columns in self._parts():
            part.fit(X[:, columns])
        return self

    def transform(self, X):
        """Return the rows with columns of even shape.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Rows.
        """
        check_is_fitted(self)
        X = self.fill_.transform(X)
        out = np.empty(X.shape)
        for part, columns in self._parts():
            out[:, columns] = part.transform(X[:, columns])
        return np.clip(out, -FARTHEST, FARTHEST)

    def _parts(self):
        both = ((self.long_, self.is_long_), (self.short_, ~self.is_long_))
        return [(part, columns) for part, columns in both if columns.any()]


@dataclass(frozen=True, eq=False)
class Views:
    """Transformers that are fitted and frozen, each from the rows as they are.

    Parameters
    ----------
    scaled : transformer
        Columns of unit size.
    even : transformer
        Columns of even shape; the same as ``scaled`` for sparse rows.
    components, whitened : transformer
        The leading directions of all rows, in their own size and in the same size.
    cells : transformer
        The leaves of random trees that look at no label.
    kernel : transformer
        Similarity to some of the rows.
    """

    scaled: Any
    even: Any
    components: Any
    whitened: Any
    cells: Any
    kernel: Any


def filler() -> SimpleImputer:
    """Return what fills missing values, by means."""
    return SimpleImputer(keep_empty_features=True)


def fit_views(X: Any, random_state: np.random.RandomState) -> Views:
    """Learn all views from rows.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Rows, labelled and not; missing values are NaN.
    random_state : RandomState
        Draws what is random.
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # rows that are all alike
        return _fit_views(X, random_state.randint(np.iinfo(np.int32).max))


def _fit_views(X: Any, seed: int) -> Views:
    scaled = make_pipeline(filler(), _scaler(X)).fit(X)
    even = scaled if sparse.issparse(X) else EvenColumns(seed).fit(X)
    components = _components(X, even, seed)
    reduced = components.transform(X)
    whitened = PCA(whiten=True, random_state=seed).fit(reduced)
    cells = RandomTreesEmbedding(N_EMBEDDING_TREES, max_depth=EMBEDDING_DEPTH, random_state=seed)
    cells.fit(even.transform(X))
    kernel = Nystroem(
        gamma=_width(reduced), n_components=min(N_LANDMARKS, X.shape[0]), random_state=seed
    ).fit(reduced)
    return Views(
        scaled=FrozenEstimator(scaled),
        even=FrozenEstimator(even),
        components=FrozenEstimator(components),
        whitened=_frozen(components, whitened),
        cells=_frozen(even, cells),
        kernel=_frozen(components, kernel),
    )


def _frozen(*steps: Any) -> FrozenEstimator:
    return FrozenEstimator(Pipeline([(f"step{k}", step) for k, step in enumerate(steps)]))


def _scaler(X: Any) -> Any:
    return MaxAbsScaler() if sparse.issparse(X) else StandardScaler()


def _components(X: Any, even: Any, seed: int) -> Pipeline:
    """Return the leading directions: of rows of unit length where most is zero, as in text."""
    n_components = max(1, min(N_COMPONENTS, X.shape[1] - 1, X.shape[0] - 1))
    if _is_like_text(X):
        reduced = make_pipeline(
            filler(), Normalizer(), TruncatedSVD(n_components, random_state=seed)
        ).fit(X)
        return _of_unit_size(reduced, X)
    rows = even.transform(X)
    if X.shape[1] == 1:
        reducer = PCA(1, svd_solver="covariance_eigh")
    elif sparse.issparse(rows):
        reducer = TruncatedSVD(n_components, random_state=seed)
    else:
        reducer = PCA(n_components, svd_solver="randomized", random_state=seed)
    return Pipeline([("even", even), ("reduce", reducer.fit(rows))])


def _is_like_text(X: Any) -> bool:
    if X.shape[1] <= WIDE:
        return False
    n_filled = X.count_nonzero() if sparse.issparse(X) else np.count_nonzero(X)
    return n_filled < (1.0 - MOSTLY_ZERO) * X.shape[0] * X.shape[1]


class _Divide(TransformerMixin, BaseEstimator):
    """Divides all columns by one number."""

    def __init__(self, size=1.0):
        self.size = size

    def fit(self, X, y=None):
        """Do nothing.

        Parameters
        ----------
        X, y
            Not used.
        """
        return self

    def transform(self, X):
        """Return the rows divided by the number.

        Parameters
        ----------
        X : ndarray
            Rows.
        """
        return X / self.size

    def __sklearn_is_fitted__(self) -> bool:
        return True


def _of_unit_size(reduced: Pipeline, X: Any) -> Pipeline:
    size = float(reduced.transform(X).std()) or 1.0
    return Pipeline([*reduced.steps, ("size", _Divide(size))])


def _width(rows: np.ndarray) -> float:
    """Return one over the median squared distance between rows."""
    distances = pairwise_distances(rows[:ROWS_FOR_DISTANCE], metric="sqeuclidean")
    median = float(np.median(distances))
    return 1.0 / median if median > 0 else 1.0
