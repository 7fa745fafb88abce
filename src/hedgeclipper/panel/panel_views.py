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
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, Normalizer
from sklearn.utils.validation import check_is_fitted

N_COMPONENTS, N_LANDMARKS = 50, 300
MOST_KNOTS = 200
ROWS_FOR_DISTANCE = 500
WIDE, MOSTLY_ZERO = 500, 0.9
FARTHEST = 5.0


class QuantileColumns(TransformerMixin, BaseEstimator):
    """Brings every column to about the same shape, whatever its tails.

    A value becomes the normal quantile of its rank, which is the same for equal values; columns of
    two values stay as they are. All are standardized. Missing values are filled by the median.
    """

    def fit(self, X, y=None):
        """Learn the columns of an array; y is not used."""
        self.fill_ = filler("median").fit(X)
        self.knots_ = [_normal_scores(column) for column in self.fill_.transform(X).T]
        return self

    def transform(self, X):
        """Return the rows with new columns."""
        check_is_fitted(self)
        columns = zip(self.fill_.transform(X).T, self.knots_, strict=True)
        scores = np.stack([np.interp(column, *knots) for column, knots in columns], axis=1)
        return np.clip(scores, -FARTHEST, FARTHEST)


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

    ``quantiles`` has quantile-normalized columns (of unit size for sparse rows), ``components``
    are the leading directions of all rows, and ``kernel`` is the similarity to some of the rows.
    """

    quantiles: FrozenEstimator
    components: FrozenEstimator
    kernel: FrozenEstimator


def filler(strategy: str = "mean") -> SimpleImputer:
    """Return an imputer of missing values that keeps empty columns."""
    return SimpleImputer(strategy=strategy, keep_empty_features=True)


@np.errstate(divide="ignore", invalid="ignore")  # rows that are all alike
def fit_views(X: Any, random_state: np.random.RandomState) -> Views:
    """Learn all views from rows, an array or CSR matrix; missing values are NaN."""
    seed, is_sparse = random_state.randint(np.iinfo(np.int32).max), sparse.issparse(X)
    quantiles = make_pipeline(filler(), MaxAbsScaler()) if is_sparse else QuantileColumns()
    quantiles.fit(X)
    components = _components(X, quantiles, seed)
    reduced = components.transform(X)
    distances = pairwise_distances(reduced[:ROWS_FOR_DISTANCE], metric="sqeuclidean")
    gamma = 1.0 / (float(np.median(distances)) or 1.0)
    kernel = Nystroem(gamma=gamma, n_components=min(N_LANDMARKS, X.shape[0]), random_state=seed)
    return Views(
        quantiles=FrozenEstimator(quantiles),
        components=FrozenEstimator(components),
        kernel=FrozenEstimator(
            Pipeline([("components", components), ("map", kernel.fit(reduced))])
        ),
    )


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
