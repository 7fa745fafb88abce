"""Views: new columns that are learned from labeled and unlabeled rows, without any label.

`Components` are for trees, linear models and kernels, `QuantileColumns` for linear models. Trees
split one column at a time, so that they see what holds along directions of many columns only
after many splits, and these need labels. The leading components of all rows show it at once, and
the more rows teach them the better.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import njit
from scipy import sparse
from scipy.special import ndtri
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import SimpleImputer
from sklearn.utils.extmath import randomized_svd
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from hedgeclipper.io.arrays import cut, is_array

FARTHEST = 5.0


class Components(TransformerMixin, BaseEstimator):
    """Leading components of rows: a truncated singular value decomposition of scaled columns.

    Missing values become the column's median, and columns are standardized after their tails are
    cut off, at five standard deviations at most. Columns of 0 and 1 are centered only: standardized
    ones of rare categories would be most of the variance (docs/ablations.md has the experiment).
    Rows of more than 500 columns that are mostly zero, such as counts of words, are scaled to unit
    length instead.

    Parameters
    ----------
    n_components : int, default=30
        Largest number of components; there are no more than columns, or rows.
    random_state : int, RandomState or None, default=None
        Seed of the randomized decomposition.

    Attributes
    ----------
    directions_ : ndarray of shape (n_features, n_components)
        What each column, filled and cut, adds to the components.
    offset_ : ndarray of shape (n_components,)
        Components of a row of zeros.
    fill_, lowest_, highest_ : ndarray of shape (n_features,)
        The value in place of a missing one, and where each column is cut off.
    has_unit_rows_ : bool
        Whether rows are scaled to unit length.

    Examples
    --------
    >>> rows = np.array([[0.0, 1.0, 1.0], [1.0, 2.0, 2.0], [2.0, 3.0, np.nan], [3.0, 4.0, 4.0]])
    >>> Components(1, random_state=0).fit_transform(rows).ravel().round(2)
    array([-2.21, -0.66,  0.4 ,  2.47])
    """

    def __init__(self, n_components=30, *, random_state=None):
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X, y=None):
        """Learn the components.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows; missing values are NaN.
        y : None
            Not used.

        Returns
        -------
        self
        """
        X = validate_data(self, X, **_CHECKS)
        self.has_unit_rows_ = X.shape[1] > 500 and _density(X) < 0.1
        if self.has_unit_rows_:
            center, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
            rows = self._learn_unit_rows(X)
        else:
            dense = X.toarray() if sparse.issparse(X) else X
            center, scale, rows = self._learn_columns(dense.astype(float))
        size = max(1, min(self.n_components, *rows.shape))
        with threadpool_limits(limits=1, user_api="blas"):  # sums that depend on no thread
            _, _, found = randomized_svd(rows, size, random_state=self.random_state)
        self.directions_ = np.ascontiguousarray(found.T / scale[:, None])
        self.offset_ = -(center @ self.directions_)
        return self

    def transform(self, X):
        """Return the components of rows, the same for a row whatever rows come with it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            In float64: products of float32 would depend on the rows beside a row.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, ensure_min_samples=0, **_CHECKS)
        out = np.empty((X.shape[0], self.offset_.size))
        if sparse.issparse(X) and self.has_unit_rows_:
            if not X.has_canonical_format:
                X = X.copy()
                X.sum_duplicates()
            project_sparse_rows(X.indptr, X.indices, X.data, self.directions_, self.offset_, out)
            return out
        how = self.fill_, self.lowest_, self.highest_, self.has_unit_rows_
        # a block of sparse rows may become dense
        blocks = cut(X.shape[0], self.directions_.T) if sparse.issparse(X) else [slice(None)]
        for rows in blocks:
            block = X[rows].toarray() if sparse.issparse(X) else np.ascontiguousarray(X)
            project_rows(block, *how, self.directions_, self.offset_, out[rows])
        return out

    def check_arrays(self) -> None:
        """Raise unless all columns, and no others, have what their components are made of."""
        if hasattr(self, "directions_"):
            n_columns, size = self.n_features_in_, self.offset_.size
            columns = self.fill_, self.lowest_, self.highest_
            fits = is_array(self.directions_, "f", n_columns, size)
            fits = fits and is_array(self.offset_, "f", size)
            if not (fits and all(is_array(own, "f", n_columns) for own in columns)):
                raise ValueError("its components do not fit their columns")

    def _learn_columns(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Note how columns are filled and cut; return center, scale and standardized rows."""
        is_empty = np.isnan(X).all(axis=0)
        is_indicator = np.all(np.isnan(X) | (X == 0.0) | (X == 1.0), axis=0)
        self.fill_ = np.zeros(X.shape[1])
        self.fill_[~is_empty] = np.nanmedian(X[:, ~is_empty], axis=0)
        X = np.where(np.isnan(X), self.fill_, X)
        self.lowest_, self.highest_ = np.array([reach(column) for column in X.T]).T
        X = np.clip(X, self.lowest_, self.highest_)
        center, scale = X.mean(axis=0), X.std(axis=0)
        scale[is_indicator & (scale > 0.0)] = 1.0
        self.lowest_ = np.maximum(self.lowest_, center - FARTHEST * scale)
        self.highest_ = np.minimum(self.highest_, center + FARTHEST * scale)
        scale[scale <= 1e-12 * np.maximum(np.abs(center), 1.0)] = np.inf  # constant columns
        return center, scale, (np.clip(X, self.lowest_, self.highest_) - center) / scale

    def _learn_unit_rows(self, X: Any) -> Any:
        """Note that columns stay as they are; return rows of unit length."""
        self.fill_ = np.zeros(X.shape[1])
        self.lowest_, self.highest_ = np.full(X.shape[1], -np.inf), np.full(X.shape[1], np.inf)
        rows = sparse.csr_array(X, dtype=float)
        rows.data[np.isnan(rows.data)] = 0.0
        lengths = np.sqrt((rows * rows).sum(axis=1))
        return sparse.diags_array(1.0 / np.where(lengths > 0, lengths, 1.0)) @ rows


_CHECKS = {"accept_sparse": "csr", "dtype": np.float32, "ensure_all_finite": "allow-nan"}


def _density(X: Any) -> float:
    n_filled = X.count_nonzero() if sparse.issparse(X) else np.count_nonzero(X)
    return n_filled / max(1, X.shape[0] * X.shape[1])


def reach(column: np.ndarray) -> tuple[float, float]:
    """Return where the tails of a column are cut off.

    That is at the first and last hundredth of all values, but nine in ten of those that differ from
    the most common one are kept: in columns that are mostly zero, the others matter.
    """
    values, counts = np.unique(column, return_counts=True)
    ends = [*np.quantile(column, (0.01, 0.99))]
    others = column[column != values[counts.argmax()]]
    if others.size:
        ends += [*np.quantile(others, (0.05, 0.95))]
    return min(ends), max(ends)


class QuantileColumns(TransformerMixin, BaseEstimator):
    """Brings every column to about the same shape, whatever its tails.

    A value becomes the normal quantile of its rank, which is the same for equal values; columns of
    two values stay as they are. All are standardized. Missing values are filled by the median.
    """

    def fit(self, X, y=None):
        """Learn the columns of an array; y is not used."""
        self.fill_ = filler(strategy="median").fit(X)
        self.knots_ = [_normal_scores(column) for column in self.fill_.transform(X).T]
        return self

    def transform(self, X):
        """Return the rows with new columns."""
        check_is_fitted(self)
        X = X.toarray() if sparse.issparse(X) else X
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
    kept = np.searchsorted(ranks, np.linspace(0.0, 1.0 - 0.5 / column.size, 200))
    kept = np.unique([*kept, values.size - 1])
    return values[kept], (scores[kept] - center) / (spread if spread > 0 else 1.0)


# of missing values; it keeps empty columns
filler = partial(SimpleImputer, keep_empty_features=True)


@njit(cache=True, nogil=True)
def project_rows(X, fill, lowest, highest, has_unit_rows, directions, offset, out):
    """out[i] = offset + sum over columns f of x[f] directions[f], x the row i, filled and cut.

    X (rows, columns) float32; fill, lowest, highest (columns,); directions (columns, components);
    offset (components,); out (rows, components). The row is divided by its length if has_unit_rows.
    Sums go over columns in order, so that no row depends on the others.
    """
    sums = np.empty(offset.shape[0])
    for row in range(X.shape[0]):
        scale = 1.0
        if has_unit_rows:
            length = 0.0
            for column in range(X.shape[1]):
                x = float(X[row, column])
                if not np.isnan(x):
                    length += x * x
            scale = 1.0 / np.sqrt(length) if length > 0.0 else 1.0
        sums[:] = offset
        for column in range(X.shape[1]):
            x = float(X[row, column])
            x = fill[column] if np.isnan(x) else x
            x = scale * min(max(x, lowest[column]), highest[column])
            if x != 0.0:
                own = directions[column]
                for k in range(sums.shape[0]):
                    sums[k] += x * own[k]
        out[row] = sums


@njit(cache=True, nogil=True)
def project_sparse_rows(indptr, indices, data, directions, offset, out):
    """The same for rows in CSR form that are divided by their lengths; NaN counts as 0.

    indptr (rows + 1,), indices and data (entries,), indices ascending in each row.
    """
    sums = np.empty(offset.shape[0])
    for row in range(indptr.shape[0] - 1):
        length = 0.0
        for place in range(indptr[row], indptr[row + 1]):
            x = float(data[place])
            if not np.isnan(x):
                length += x * x
        scale = 1.0 / np.sqrt(length) if length > 0.0 else 1.0
        sums[:] = offset
        for place in range(indptr[row], indptr[row + 1]):
            x = scale * float(data[place])
            if not np.isnan(x):
                own = directions[indices[place]]
                for k in range(sums.shape[0]):
                    sums[k] += x * own[k]
        out[row] = sums
