"""The base of classifiers for tables: how they read rows in any form, and predict for them.

A classifier that derives from this checks its rows with `_check_rows`, and once it is fitted has a
``_predictor``, such as a `TablePredictor`. What is learned of the columns stays with it: their
number and names, as in scikit-learn, and how rows are checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from hedgeclipper import io
from hedgeclipper.base import semi_supervised
from hedgeclipper.base.columns import ColumnEncoder, ColumnScale, check_numbers
from hedgeclipper.base.evaluation import LabeledScoreMixin
from hedgeclipper.base.predictions import RowPredictor, decision_costs
from hedgeclipper.base.semi_supervised import BatchCheck, RowBatches, SemiSupervisedRows, is_dask
from hedgeclipper.io.arrays import draw_rows
from hedgeclipper.io.messages import import_extra


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


ROWS_FOR_SCALE = 1_000
NO_UNLABELED_ROWS = (
    "X_unlabeled has no rows. The game needs unlabeled rows: pass some, or leave X_unlabeled out."
)


class TableClassifier(LabeledScoreMixin, BaseEstimator):
    """Takes labeled and unlabeled rows in any form, and predicts for rows in any form."""

    _dtype = "float32"
    _keeps_frames = False
    _encodes = False  # frames are made numbers by the encoder_
    encoder_: ColumnEncoder | None = None
    _scale: ColumnScale | None = None
    _labels: np.ndarray | None
    class_weight: Any = None

    def decision_function(self, X):
        """Return the score of each row: positive means the second class of two is predicted.

        Parameters
        ----------
        X : array-like, frame, sparse matrix, batches or files, or a Dask collection
            Rows, as in ``fit``. For a Dask collection the result is a lazy Dask collection.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For more than two classes, the log-odds of each class against the rest; with a
            ``class_weight`` minus the expected cost of predicting it.
        """
        return self._predict(X, "decision_function")

    def predict_proba(self, X):
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like, frame, sparse matrix, batches or files, or a Dask collection
            Rows, as in ``fit``. For a Dask collection the result is a lazy Dask collection.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of ``decision_function``.
        """
        return self._predict(X, "predict_proba")

    def predict(self, X):
        """Return the most probable class of each row, with a ``class_weight`` the cheapest one.

        Parameters
        ----------
        X : array-like, frame, sparse matrix, batches or files, or a Dask collection
            Rows, as in ``fit``. For a Dask collection the result is a lazy Dask collection.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        return self._predict(X, "predict")

    def predict_to(self, path, X):
        """Write predictions to a Parquet file, batch by batch, in the order of the rows.

        The file appears, or replaces an older one, when all is written.

        Parameters
        ----------
        path : str or Path
            Where to write: columns ``prediction`` and, for each class, ``probability_<class>``.
        X : array-like, frame, sparse matrix, batches or files
            Rows; batches may come from an iterator.

        Returns
        -------
        int
            Number of rows written.
        """
        check_is_fitted(self)
        predictor = self._predictor
        instead = "call predict_proba(X), which is lazy, and let Dask write that"
        batches = self._batches(X, "X", instead)
        n_rows = 0
        with io.parquet_writer(path) as out:
            for batch in batches:
                out.write(self._columns(predictor.raw_predictions(batch, self.n_jobs)))
                n_rows += batch.shape[0]
            if n_rows == 0:
                out.write(self._columns(np.empty((0, predictor.n_games))))
        return n_rows

    @property
    def transduction_(self) -> np.ndarray:
        """Labels of all rows passed to ``fit``, given or predicted, where these are in memory."""
        check_is_fitted(self)
        if self._labels is None:
            raise AttributeError(
                "Labels of the unlabeled rows are kept only where fit had these in memory. Use "
                "predict, or predict_to."
            )
        return self._labels

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether a fit, the last one, came to its end."""
        return hasattr(self, "_predictor")

    def _check_rows(
        self, X: Any, y: Any, X_unlabeled: Any, sample_weight: Any, reset: bool = True
    ) -> SemiSupervisedRows:
        """Return the rows of a fit, or, without ``reset``, rows that must be like those."""
        if reset:
            finite = "allow-nan" if get_tags(self).input_tags.allow_nan else True
            checks = {"accept_sparse": "csr", "dtype": self._dtype, "ensure_all_finite": finite}
            self._row_checks, self._scale = checks, None
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
        options: dict[str, Any] = {"dtype": np.float64}
        if self._encodes:
            options = {"frames": self._width}
        X_labeled, y, source = semi_supervised.read_labeled(X, label, **options)
        if reset:
            X_labeled = self._check_table(X_labeled)
            self._column_names = source.column_names
            if source.column_names is not None:
                self.feature_names_in_ = np.array(source.column_names, dtype=object)
        check: BatchCheck | None = self._batch_check("X", self._scale)
        if self._encodes:
            check = None
        X_labeled = X_labeled if reset or check is None else check(X_labeled)
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
        if is_dask(X):
            from hedgeclipper.io.distributed import check_collection

            check_collection(X, name, self.n_features_in_)
            return X if self._scale is None else self._scale_collection(X)
        if not io.is_batched(X):
            return self._check_table(X, reset=False)
        options: dict[str, Any] = {"name": name, "columns": self._column_names, "once": once}
        if self._encodes:
            if self.encoder_ is not None:
                strings, used = self.encoder_.string_names, self.encoder_.used_names
                options |= {"strings": strings, "columns": used}
            return RowBatches(io.as_source(X, frames=self._width, **options), None)
        dtype = np.float32 if self._scale is None else np.float64
        source = io.as_source(X, dtype=dtype, **options)
        return RowBatches(source, self._batch_check(name, self._scale))

    @property
    def _width(self) -> int:
        """Number of columns that voters see; of those of the rows before these are encoded."""
        if self.encoder_ is None:
            return getattr(self, "n_features_in_", 1)
        return self.encoder_.sources_.size

    def _batch_check(self, name: str, scale: ColumnScale | None = None) -> BatchCheck:
        return BatchCheck(name, self._width, self._row_checks, None, scale)

    def _check_table(self, X: Any, reset: bool = True) -> Any:
        """Return rows in memory as an array or CSR matrix, or as a frame if it is to be kept.

        Of a frame that is kept only the names and the number of columns are checked.
        """
        if (names := io.frame_names(X)) is not None:
            io.positions_of(names, names, "The frame")  # none may be there twice
        if self._keeps_frames and io.is_frame(X):
            return validate_data(self, io.as_frame(X), reset=reset, skip_check_array=True)
        X = io.as_table(X)
        try:
            rows = validate_data(self, X, reset=reset, **self._row_checks)
        except ValueError:
            if not reset and io.is_frame(X):
                check_numbers(X, self._column_names)
            raise
        if reset and self._dtype == "float32":
            self._scale = ColumnScale.of(self._some_rows(X))
        rows = rows if self._scale is None else self._scale.transform(X)
        return semi_supervised.with_short_indices(rows)

    @staticmethod
    def _some_rows(X: Any) -> Any:
        """Return enough of the labeled rows to learn the scale of columns from."""
        X = io.as_frame(X) if io.is_frame(X) else X if hasattr(X, "shape") else np.asarray(X)
        return draw_rows(X, ROWS_FOR_SCALE, np.random.RandomState(0))

    def _scale_collection(self, X: Any) -> Any:
        """Return a Dask collection whose rows are scaled where they are read."""
        from hedgeclipper.io.distributed import map_partitions

        nothing, names = np.empty((0, self.n_features_in_), np.float32), self._column_names
        columns = list(getattr(X, "columns", ())) if names is None else names
        assert self._scale is not None
        return map_partitions(self._scale.transform, nothing, X, names, columns)

    def _draw_rows(self, X: Any, n_rows: int, random_state: np.random.RandomState) -> Any:
        """Return so many of the unlabeled rows, drawn at random, or all if there are no more."""
        if not is_dask(X):
            return draw_rows(X, n_rows, random_state)
        from hedgeclipper.io.distributed import draw_from

        check: Any = self._batch_check("X_unlabeled")
        if self._encodes and self.encoder_ is None:
            check = _as_it_is
        return draw_from(X, n_rows, self._names_of_numbers, check, random_state)

    @property
    def _names_of_numbers(self) -> list[str] | None:
        """Names of the columns of rows as voters see them; None if these have none."""
        return None if self.encoder_ is not None else self._column_names

    def _store_classes(self, y: np.ndarray) -> np.ndarray:
        self.classes_, codes = np.unique(y, return_inverse=True)
        if self.classes_.size < 2:
            raise ValueError(
                "y must have at least two classes among the labeled rows. Got one class or none, "
                f"{self.classes_.tolist()}."
            )
        self._costs = decision_costs(self.class_weight, self.classes_, codes)
        return codes

    def _games(self) -> list[int]:
        """Return the classes that have a game: the second one of two, or all of more."""
        n_classes = self.classes_.size
        return [1] if n_classes == 2 else list(range(n_classes))

    def _all_labels(self, rows: SemiSupervisedRows, predicted: np.ndarray) -> np.ndarray:
        """Return labels of all rows passed to ``fit``, given those of the unlabeled ones."""
        self._marked = rows.marked
        if rows.marked is None:
            return predicted
        kind = np.result_type(self.classes_.dtype, rows.y_labeled.dtype)  # some may be held out
        whole = np.empty(rows.marked.size, dtype=kind)
        whole[~rows.marked] = rows.y_labeled
        if rows.marked.any():
            whole[rows.marked] = predicted
        return whole

    def _batches(self, X: Any, name: str, instead: str) -> Any:
        """Return rows as batches that are read once, for a method that is not for Dask."""
        if is_dask(X):
            raise TypeError(
                f"{name} must be rows that can be read here. Got a Dask collection: {instead}, or "
                "pass its files."
            )
        rows = self._check_more(X, name, once=True)
        return rows if isinstance(rows, RowBatches) else semi_supervised.RowSlices(rows)

    def _predict(self, X: Any, method: str) -> Any:
        """Return the predictions of this method for rows; lazy for Dask."""
        check_is_fitted(self)
        check: Any = _as_it_is if self._keeps_frames else self._batch_check("X")
        predict = RowPredictor(method, self._predictor, self.classes_, check)
        rows = self._check_more(X, "X", once=True)
        if not is_dask(rows):
            return predict.of_raw(self._raw_predictions(rows))
        from hedgeclipper.io.distributed import map_partitions

        columns: str | list[str] = method
        if predict.nothing.ndim == 2:
            prefix = "probability" if method == "predict_proba" else method
            columns = [f"{prefix}_{label}" for label in self.classes_]
        return map_partitions(predict, predict.nothing, rows, self._column_names, columns)

    def _raw_predictions(self, X: Any) -> np.ndarray:
        """Return raw predictions of rows that were checked, in batches or not."""
        batches = X if isinstance(X, RowBatches) else [X]
        parts = [self._predictor.raw_predictions(batch, self.n_jobs) for batch in batches]
        return np.concatenate([np.empty((0, self._predictor.n_games)), *parts])

    def _classes_of(self, raw: np.ndarray) -> np.ndarray:
        return self.classes_[self._predictor.classes(raw)]

    def _columns(self, raw: np.ndarray) -> dict[str, np.ndarray]:
        """Return what is written for rows with these raw predictions, by the column's name."""
        names = ["prediction", *(f"probability_{label}" for label in self.classes_)]
        probabilities = self._predictor.probabilities(raw)
        return dict(zip(names, [self._classes_of(raw), *probabilities.T], strict=True))


def _as_it_is(rows: Any) -> Any:
    """Return rows of a frame as they are: the predictor encodes and checks them."""
    return rows
