"""Views: what labeled and unlabeled rows together say about the columns, without any label.

Each is fitted once, on a sample of all rows, and then frozen: members that look at a view do not
fit it again in each fold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import ndtri
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import RandomTreesEmbedding
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, Normalizer, StandardScaler
from sklearn.utils.validation import check_is_fitted

N_COMPONENTS, N_LANDMARKS = 50, 300
N_EMBEDDING_TREES, EMBEDDING_DEPTH = 200, 5
TAIL, TAIL_OF_OTHERS = 0.01, 0.05
MOST_KNOTS = 200
ROWS_FOR_DISTANCE = 500
WIDE, MOSTLY_ZERO = 500, 0.9
FARTHEST = 5.0


class _FilledColumns(TransformerMixin, BaseEstimator):
    """Transforms columns one by one, missing values filled by the column's median."""

    def fit(self, X, y=None):
        """Learn the columns.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Rows.
        y : None
            Not used.
        """
        self.fill_ = filler("median").fit(X)
        self._learn(self.fill_.transform(X))
        return self

    def transform(self, X):
        """Return the rows with new columns.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Rows.
        """
        check_is_fitted(self)
        return np.clip(self._apply(self.fill_.transform(X)), -FARTHEST, FARTHEST)


class CutColumns(_FilledColumns):
    """Standardizes columns whose tails are cut off.

    The cut is at the first and last hundredth of all values, but spares nine in ten of those that
    differ from the column's most common value: in columns that are mostly zero, the others matter.
    """

    def _learn(self, X):
        self.lowest_, self.highest_ = np.array([_reach(column) for column in X.T]).T
        self.scale_ = StandardScaler().fit(np.clip(X, self.lowest_, self.highest_))

    def _apply(self, X):
        return self.scale_.transform(np.clip(X, self.lowest_, self.highest_))


class QuantileColumns(_FilledColumns):
    """Brings every column to about the same shape, whatever its tails.

    A value becomes the normal quantile of its rank, which equal values share; columns of two values
    stay as they are. All are standardized.
    """

    def _learn(self, X):
        self.knots_ = [_normal_scores(column) for column in X.T]

    def _apply(self, X):
        columns = [np.interp(x, *knots) for x, knots in zip(X.T, self.knots_, strict=True)]
        return np.stack(columns, axis=1)


def _reach(column: np.ndarray) -> tuple[float, float]:
    """Return where a column is cut off."""
    values, counts = np.unique(column, return_counts=True)
    ends = [*np.quantile(column, (TAIL, 1.0 - TAIL))]
    others = column[column != values[counts.argmax()]]
    if others.size:
        ends += [*np.quantile(others, (TAIL_OF_OTHERS, 1.0 - TAIL_OF_OTHERS))]
    return min(ends), max(ends)


def _normal_scores(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return values of a column, and what becomes of them; between them lies a straight line."""
    values, counts = np.unique(column, return_counts=True)
    shares = np.cumsum(counts) / column.size
    scores = ndtri(shares - 0.5 * counts / column.size) if values.size > 2 else values
    center = counts @ scores / column.size
    spread = np.sqrt(counts @ (scores - center) ** 2 / column.size)
    kept = np.searchsorted(shares, np.linspace(0.0, 1.0 - 0.5 / column.size, MOST_KNOTS))
    kept = np.unique([*kept, values.size - 1])
    return values[kept], (scores[kept] - center) / (spread if spread > 0 else 1.0)


@dataclass(frozen=True, eq=False)
class Views:
    """Transformers that are fitted and frozen, each from the rows as they are.

    Parameters
    ----------
    scaled : transformer
        Columns of unit size, without tails.
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


def filler(strategy: str = "mean") -> SimpleImputer:
    """Return what fills missing values, by means or as told."""
    return SimpleImputer(strategy=strategy, keep_empty_features=True)


def fit_views(X: Any, random_state: np.random.RandomState) -> Views:
    """Learn all views from rows.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Rows, labeled and not; missing values are NaN.
    random_state : RandomState
        Draws what is random.
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # rows that are all alike
        return _fit_views(X, random_state.randint(np.iinfo(np.int32).max))


def _fit_views(X: Any, seed: int) -> Views:
    is_sparse = sparse.issparse(X)
    scaled = (make_pipeline(filler(), MaxAbsScaler()) if is_sparse else CutColumns()).fit(X)
    even = scaled if is_sparse else QuantileColumns().fit(X)
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
