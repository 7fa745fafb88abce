"""Views: transformers of columns, learned from labeled and unlabeled rows without any label.

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

from hedgeclipper.forest.views import reach

N_COMPONENTS, N_LANDMARKS = 50, 300
N_EMBEDDING_TREES, EMBEDDING_DEPTH = 200, 5
MOST_KNOTS = 200
ROWS_FOR_DISTANCE = 500
WIDE, MOSTLY_ZERO = 500, 0.9
FARTHEST = 5.0


class _FilledColumns(TransformerMixin, BaseEstimator):
    """Transforms columns one by one, missing values filled by the column's median."""

    def fit(self, X, y=None):
        """Learn the columns of an array; y is not used."""
        self.fill_ = filler("median").fit(X)
        self._learn(self.fill_.transform(X))
        return self

    def transform(self, X):
        """Return the rows with new columns."""
        check_is_fitted(self)
        return np.clip(self._apply(self.fill_.transform(X)), -FARTHEST, FARTHEST)


class CutColumns(_FilledColumns):
    """Standardizes columns whose tails are cut off.

    The cut is at the first and last hundredth of all values, but spares nine in ten of those that
    differ from the column's most common value: in columns that are mostly zero, the others matter.
    """

    def _learn(self, X):
        self.lowest_, self.highest_ = np.array([reach(column) for column in X.T]).T
        self.scale_ = StandardScaler().fit(np.clip(X, self.lowest_, self.highest_))

    def _apply(self, X):
        return self.scale_.transform(np.clip(X, self.lowest_, self.highest_))


class QuantileColumns(_FilledColumns):
    """Brings every column to about the same shape, whatever its tails.

    A value becomes the normal quantile of its rank, which is the same for equal values; columns of
    two values stay as they are. All are standardized.
    """

    def _learn(self, X):
        self.knots_ = [_normal_scores(column) for column in X.T]

    def _apply(self, X):
        columns = [np.interp(x, *knots) for x, knots in zip(X.T, self.knots_, strict=True)]
        return np.stack(columns, axis=1)


def _normal_scores(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return values of a column, and what becomes of them; between them lies a straight line."""
    values, counts = np.unique(column, return_counts=True)
    ranks = np.cumsum(counts) / column.size
    scores = ndtri(ranks - 0.5 * counts / column.size) if values.size > 2 else values
    center = counts @ scores / column.size
    spread = np.sqrt(counts @ (scores - center) ** 2 / column.size)
    kept = np.searchsorted(ranks, np.linspace(0.0, 1.0 - 0.5 / column.size, MOST_KNOTS))
    kept = np.unique([*kept, values.size - 1])
    return values[kept], (scores[kept] - center) / (spread if spread > 0 else 1.0)


@dataclass(frozen=True, eq=False)
class Views:
    """Transformers that are fitted and frozen, each from the rows as they are.

    ``scaled`` has columns of unit size, without tails, ``quantiles`` quantile-normalized ones (the
    same as ``scaled`` for sparse rows). ``components`` are the leading directions of all rows,
    ``cells`` the leaves of random trees that look at no label, and ``kernel`` is the similarity to
    some of the rows.
    """

    scaled: FrozenEstimator
    quantiles: FrozenEstimator
    components: FrozenEstimator
    cells: FrozenEstimator
    kernel: FrozenEstimator


def filler(strategy: str = "mean") -> SimpleImputer:
    """Return an imputer of missing values that keeps empty columns."""
    return SimpleImputer(strategy=strategy, keep_empty_features=True)


@np.errstate(divide="ignore", invalid="ignore")  # rows that are all alike
def fit_views(X: Any, random_state: np.random.RandomState) -> Views:
    """Learn all views from rows, an array or CSR matrix; missing values are NaN."""
    seed, is_sparse = random_state.randint(np.iinfo(np.int32).max), sparse.issparse(X)
    scaled = (make_pipeline(filler(), MaxAbsScaler()) if is_sparse else CutColumns()).fit(X)
    quantiles = scaled if is_sparse else QuantileColumns().fit(X)
    components = _components(X, quantiles, seed)
    reduced = components.transform(X)
    cells = RandomTreesEmbedding(N_EMBEDDING_TREES, max_depth=EMBEDDING_DEPTH, random_state=seed)
    cells.fit(quantiles.transform(X))
    distances = pairwise_distances(reduced[:ROWS_FOR_DISTANCE], metric="sqeuclidean")
    gamma = 1.0 / (float(np.median(distances)) or 1.0)
    kernel = Nystroem(gamma=gamma, n_components=min(N_LANDMARKS, X.shape[0]), random_state=seed)
    return Views(
        scaled=FrozenEstimator(scaled),
        quantiles=FrozenEstimator(quantiles),
        components=FrozenEstimator(components),
        cells=_frozen(quantiles, cells),
        kernel=_frozen(components, kernel.fit(reduced)),
    )


def _frozen(*steps: Any) -> FrozenEstimator:
    return FrozenEstimator(Pipeline([(f"step{k}", step) for k, step in enumerate(steps)]))


def _components(X: Any, quantiles: Any, seed: int) -> Pipeline:
    """Return the leading directions: of rows of unit length where most is zero, as in text."""
    n_components = max(1, min(N_COMPONENTS, X.shape[1] - 1, X.shape[0] - 1))
    svd = TruncatedSVD(n_components, random_state=seed)
    n_filled = X.count_nonzero() if sparse.issparse(X) else np.count_nonzero(X)
    if X.shape[1] > WIDE and n_filled < (1.0 - MOSTLY_ZERO) * X.shape[0] * X.shape[1]:
        reduced = make_pipeline(filler(), Normalizer(), svd).fit(X)
        svd.components_ /= float(reduced.transform(X).std()) or 1.0  # so that they are of unit size
        return reduced
    rows = quantiles.transform(X)
    if X.shape[1] == 1:
        reducer = PCA(1, svd_solver="covariance_eigh")
    elif sparse.issparse(rows):
        reducer = svd
    else:
        reducer = PCA(n_components, svd_solver="randomized", random_state=seed)
    return Pipeline([("quantiles", quantiles), ("reduce", reducer.fit(rows))])
