"""The base of classifiers for tables: how they read rows in any form, and predict for them.

A classifier that derives from this checks its rows with `_check_rows`, and once it is fitted has a
``_predictor``, such as a `TablePredictor`. What is learned of the columns stays with it, in its
`RowReader`, which every row passes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from hedgeclipper import io
from hedgeclipper.base import semi_supervised
from hedgeclipper.base.columns import ColumnScale, check_numbers
from hedgeclipper.base.evaluation import LabeledScoreMixin
from hedgeclipper.base.predictions import RowPredictor, decision_costs
from hedgeclipper.base.semi_supervised import RowBatches, RowReader, SemiSupervisedRows, is_dask
from hedgeclipper.io.arrays import draw_rows

ROWS_FOR_SCALE = 1_000
NUMBERS_ONLY = RowReader({})
NO_UNLABELED_ROWS = (
    "X_unlabeled has no rows. The game needs unlabeled rows: pass some, or leave X_unlabeled out."
)


class TableClassifier(LabeledScoreMixin, BaseEstimator):
    """Takes labeled and unlabeled rows in any form, and predicts for rows in any form."""

    _reader: RowReader
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
        self,
        X: Any,
        y: Any,
        X_unlabeled: Any,
        reader: RowReader = NUMBERS_ONLY,
    ) -> SemiSupervisedRows:
        """Return the rows of a fit; what reads others like them is then in ``_reader``.

        The ``reader`` knows if frames are to be kept, and learns the rest from the labeled rows.
        """
        finite = "allow-nan" if get_tags(self).input_tags.allow_nan else True
        checks = {"accept_sparse": "csr", "dtype": "float32", "ensure_all_finite": finite}
        self._reader = replace(reader, checks={**checks, **reader.checks})
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None."
            )
        if isinstance(y, str):
            return self._read_files(X, y, X_unlabeled)
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
        X = self._check_table(X, reset=True)
        minus_one_is_class = X_unlabeled is not None
        if io.is_in_memory(X_unlabeled) and X_unlabeled.shape[0] == 0:
            X_unlabeled = None
        if X_unlabeled is not None:
            known, given = self._reader.names, X_unlabeled
            X_unlabeled = given if known is None else io.frame_with(given, known)
            X_unlabeled = self._check_more(X_unlabeled, "X_unlabeled")
            if known is None:
                # labeled rows have no names of columns, so that those of the others are kept
                is_file = isinstance(X_unlabeled, RowBatches)
                names = io.frame_names(given._meta if is_dask(given) else given)
                names = X_unlabeled.source.column_names if is_file else names
                self._reader = replace(self._reader, names=names)
            if is_dask(X_unlabeled):
                X_unlabeled = self._reader.read_collection(X_unlabeled)
        rows = semi_supervised.split_rows(X, y, X_unlabeled, minus_one_is_class)
        check_classification_targets(rows.y_labeled)
        return rows

    def _read_files(self, X: Any, label: str, X_unlabeled: Any) -> SemiSupervisedRows:
        """Return labeled and unlabeled rows of files that have a column of labels."""
        if X_unlabeled is not None or is_dask(X):
            raise ValueError(
                f"y={label!r} names the column of labels in the files given as X, whose other rows "
                "are the unlabeled ones: it goes neither with X_unlabeled nor with a Dask "
                "collection. Pass labeled rows and labels as arrays."
            )
        options = {"frames": 1} if self._reader.encodes else {"dtype": np.float64}
        X_labeled, y, source = semi_supervised.read_labeled(X, label, **options)
        X_labeled = self._check_table(X_labeled, reset=True)
        self._reader = replace(self._reader, names=source.column_names)
        if source.column_names is not None:
            self.feature_names_in_ = np.array(source.column_names, dtype=object)
        check_classification_targets(y)
        unlabeled = self._reader.read_source(source, only_unlabeled=True)
        if next(iter(unlabeled), None) is None:
            advice = "rows of files are unlabeled where their label is missing"
            return semi_supervised.labeled_only(X_labeled, y, advice)
        return SemiSupervisedRows(X_labeled, y, unlabeled, None)

    def _check_more(self, X: Any, name: str, once: bool = False) -> Any:
        """Return rows as voters score them: a table or `RowBatches`, or a Dask collection as it is.

        ``name`` is what errors call them; with ``once`` an iterator of batches will do.
        """
        if io.is_in_memory(X):
            return self._check_table(X, name)
        if isinstance(X, (list, tuple)) and X and is_dask(X[0]):
            raise TypeError(
                f"{name} is a list of Dask collections. Got {type(X[0]).__name__} in it. Make one "
                "of them: dask.dataframe.from_delayed or concat, dask.array.concatenate."
            )
        if is_dask(X):
            from hedgeclipper.io.distributed import check_collection

            check_collection(X, name, self.n_features_in_)
            return X
        if not io.is_batched(X):
            return self._check_table(X, name)
        reader = self._reader
        options: dict[str, Any] = {"name": name, "columns": reader.names, "once": once}
        if reader.encoder is not None:
            options |= {
                "columns": reader.encoder.used_names,
                "strings": reader.encoder.string_names,
            }
        if reader.encodes:
            options["frames"] = reader.n_columns
        else:
            options["dtype"] = np.float32 if reader.scale is None else np.float64
        return reader.read_source(io.as_source(X, **options), name)

    def _check_table(self, X: Any, name: str = "X", reset: bool = False) -> Any:
        """Return rows in memory as voters score them; ``reset`` learns the reader of others."""
        is_frame = io.is_frame(X)
        if is_frame:
            X, names = io.as_frame(X), io.frame_names(X)
            io.positions_of(names or (), names or (), "The frame")  # none may be there twice
        keeps_frame = self._reader.encodes or self._reader.frame_columns is not None
        if is_frame and keeps_frame:
            rows = validate_data(self, X, reset=reset, skip_check_array=True)
        else:
            try:
                rows = validate_data(self, X, reset=reset, **self._reader.checks)
            except ValueError:
                if not reset and is_frame:
                    check_numbers(X, self._reader.names)
                raise
        if reset:
            self._learn_reader(X, keeps_frame)
        return self._reader(rows, name) if keeps_frame else self._reader.finish(X, rows, name)

    def _learn_reader(self, X: Any, keeps_frame: bool) -> None:
        """Learn from labeled rows how others like them are read."""
        scale, names = None, getattr(self, "feature_names_in_", None)
        if not keeps_frame and self._reader.checks["dtype"] == "float32":
            X = X if hasattr(X, "shape") else np.asarray(X)
            scale = ColumnScale.of(draw_rows(X, ROWS_FOR_SCALE, np.random.RandomState(0)))
        self._reader = replace(
            self._reader,
            n_columns=self.n_features_in_,
            names=None if names is None else list(names),
            scale=scale,
        )

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
        predict = RowPredictor(method, self._predictor, self.classes_, self._reader)
        rows = self._check_more(X, "X", once=True)
        if not is_dask(rows):
            return predict.of_raw(self._raw_predictions(rows))
        from hedgeclipper.io.distributed import map_partitions

        columns: str | list[str] = method
        if predict.nothing.ndim == 2:
            prefix = "probability" if method == "predict_proba" else method
            columns = [f"{prefix}_{label}" for label in self.classes_]
        return map_partitions(predict, predict.nothing, rows, self._reader.names, columns)

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
