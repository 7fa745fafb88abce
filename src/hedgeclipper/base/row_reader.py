"""How classifiers for tables read rows: checked as those of the fit, in whatever form they come.

What is learned of the columns stays with the classifier: their number and names, as in
scikit-learn, and how rows are checked.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from hedgeclipper import io
from hedgeclipper.base import semi_supervised
from hedgeclipper.base.columns import ColumnEncoder
from hedgeclipper.base.semi_supervised import BatchCheck, RowBatches, SemiSupervisedRows, is_dask
from hedgeclipper.io.arrays import draw_rows
from hedgeclipper.io.extras import import_extra


@dataclass(frozen=True)
class NamedColumns:
    """Makes frames of rows without names, those of files for instance; others stay as they are.

    Classifiers that were passed with a frame may pick columns by name, as in scikit-learn.
    """

    names: Sequence[Any]

    def __call__(self, X: Any) -> Any:
        """Return the rows with names."""
        if not isinstance(X, np.ndarray):
            return X
        return import_extra("pandas", "io", "A frame").DataFrame(X, columns=self.names)


class RowReader(BaseEstimator):
    """Base of classifiers that read labeled and unlabeled rows in any form."""

    _dtype = "float32"
    _keeps_frames = False

    _knows_minus_one: Any

    def _check_rows(
        self, X: Any, y: Any, X_unlabeled: Any, sample_weight: Any, reset: bool = True
    ) -> SemiSupervisedRows:
        """Return the rows of a fit, or, without ``reset``, rows that must be like those."""
        if reset:
            finite = "allow-nan" if get_tags(self).input_tags.allow_nan else True
            checks = {"accept_sparse": "csr", "dtype": self._dtype, "ensure_all_finite": finite}
            self._row_checks = checks
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None."
            )
        if isinstance(y, str):
            return self._read_rows(X, y, X_unlabeled, sample_weight, reset)
        if is_dask(X):
            raise TypeError(
                f"Labeled rows must be in memory. Got a Dask {type(X).__name__} as X: pass "
                "X.compute(). Unlabeled rows may be a Dask collection."
            )
        if not hasattr(X, "__array__") and io.is_batched(X):
            raise TypeError(
                "Labeled rows in files need the name of their column of labels as y. Got "
                f"{type(X).__name__} for X and {type(y).__name__} for y."
            )
        X = self._check_table(X, reset)
        if reset:
            names = getattr(self, "feature_names_in_", None)
            self._column_names = None if names is None else list(names)
        minus_one_is_class = X_unlabeled is not None or (not reset and self._knows_minus_one())
        if io.is_in_memory(X_unlabeled) and X_unlabeled.shape[0] == 0:
            X_unlabeled = None
        if X_unlabeled is not None:
            known, given = self._column_names, X_unlabeled
            X_unlabeled = given if known is None else io.frame_with(given, known)
            X_unlabeled = self._check_more(X_unlabeled, "X_unlabeled")
            if reset and known is None:
                # labeled rows have no names of columns, so that those of the others are kept
                is_file = isinstance(X_unlabeled, RowBatches)
                names = io.frame_names(given._meta if is_dask(given) else given)
                self._column_names = X_unlabeled.source.column_names if is_file else names
        if sample_weight is not None:
            sample_weight = semi_supervised.checked_weights(sample_weight, X)
        rows = semi_supervised.split_rows(X, y, X_unlabeled, sample_weight, minus_one_is_class)
        check_classification_targets(rows.y_labeled)
        return rows

    def _encode_columns(
        self, rows: SemiSupervisedRows
    ) -> tuple[SemiSupervisedRows, BatchCheck | None]:
        """Return rows as numbers, and what makes such rows of others; None if all were numbers.

        How columns are encoded is learned from labeled and unlabeled rows together.
        """
        if not self._keeps_frames:
            return rows, None
        more = rows.X_unlabeled if rows.has_unlabeled else None
        encoder = ColumnEncoder().fit(rows.X_labeled, X_unlabeled=more)
        prepare = BatchCheck("X", len(encoder.names_out_), self._row_checks, encoder)
        parts = {name: prepare(getattr(rows, name)) for name in ("X_labeled", "X_unlabeled")}
        return replace(rows, **parts), prepare

    def _read_rows(
        self, X: Any, label: str, X_unlabeled: Any, sample_weight: Any, reset: bool
    ) -> SemiSupervisedRows:
        """Return labeled and unlabeled rows of files that have a column of labels."""
        if sample_weight is not None or X_unlabeled is not None or is_dask(X):
            raise ValueError(
                f"y={label!r} names the column of labels in the files given as X, whose other rows "
                "are the unlabeled ones: it goes with neither sample_weight nor X_unlabeled, nor "
                "with a Dask collection. Pass labeled rows and labels as arrays."
            )
        X_labeled, y, source = semi_supervised.read_labeled(X, label)
        if reset:
            X_labeled = validate_data(self, X_labeled, **self._row_checks)
            self._column_names = source.column_names
            if source.column_names is not None:
                self.feature_names_in_ = np.array(source.column_names, dtype=object)
        check = BatchCheck("X", self.n_features_in_, self._row_checks)
        X_labeled = X_labeled if reset else check(X_labeled)
        check_classification_targets(y)
        unlabeled = RowBatches(source, check, only_unlabeled=True)
        if next(iter(unlabeled), None) is None:
            advice = "rows of files are unlabeled where their label is missing"
            return semi_supervised.labeled_only(X_labeled, y, None, advice)
        return SemiSupervisedRows(X_labeled, y, None, unlabeled, None)

    def _check_more(self, X: Any, name: str, once: bool = False) -> Any:
        """Return rows, checked as the labeled ones were: a table, `RowBatches`, or Dask's.

        ``name`` is what errors call them; with ``once`` an iterator of batches will do.
        """
        if isinstance(X, (list, tuple)) and X and is_dask(X[0]):
            raise TypeError(
                f"{name} is a list of Dask collections. Got {type(X[0]).__name__} in it. Make one "
                "of them: dask.dataframe.from_delayed or concat, dask.array.concatenate."
            )
        width = self.n_features_in_
        if is_dask(X):
            from hedgeclipper.io.distributed import check_collection

            check_collection(X, name, width)
            return X
        if not io.is_batched(X):
            return self._check_table(X, reset=False)
        options = {"columns": self._column_names, "n_columns": width, "dtype": np.float32}
        source = io.as_source(X, name=name, once=once, **options)
        return RowBatches(source, BatchCheck(name, width, self._row_checks))

    def _check_table(self, X: Any, reset: bool = True) -> Any:
        """Return rows in memory as an array or CSR matrix, or as a frame if it is to be kept.

        Of a frame that is kept only the names and the number of columns are checked.
        """
        if (names := io.frame_names(X)) is not None:
            io.positions_of(names, names, "The frame")  # none may be there twice
        if self._keeps_frames and io.is_frame(X):
            return validate_data(self, io.as_frame(X), reset=reset, skip_check_array=True)
        return semi_supervised.with_short_indices(
            validate_data(self, io.as_table(X), reset=reset, **self._row_checks)
        )

    def _read_again(self, X: Any, y: Any, X_unlabeled: Any) -> SemiSupervisedRows:
        """Return rows like those of ``fit``, checked as these were; X and y may be None."""
        if X is None:
            rows = self._check_more(X_unlabeled, "X_unlabeled")
            return SemiSupervisedRows(None, np.empty(0), None, rows, None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", semi_supervised.NoUnlabeledRowsWarning)
            return self._check_rows(X, y, X_unlabeled, None, reset=False)

    def _draw_rows(self, X: Any, n_rows: int, random_state: np.random.RandomState) -> Any:
        """Return so many of the unlabeled rows, drawn at random, or all if there are no more."""
        if not is_dask(X):
            return draw_rows(X, n_rows, random_state)
        from hedgeclipper.io.distributed import draw_from

        check = BatchCheck("X_unlabeled", self.n_features_in_, self._row_checks)
        return draw_from(X, n_rows, self._column_names, check, random_state)
