"""Classifiers for tables: how they read rows in any form, and predict probabilities and classes.

A classifier that derives from `TableClassifier` checks its rows with `_check_rows`, and once it is
fitted has a ``_predictor``, such as a `TablePredictor`. What is learned of the columns stays with
it, in its `RowReader`, which every row passes.

``class_weight`` moves decisions, not the fit: probabilities stay calibrated, and the predicted
class is the one with the lowest expected cost. Errors and uncertainties are those of these
decisions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, logit
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from hedgeclipper import io
from hedgeclipper.base.columns import ColumnScale, check_numbers
from hedgeclipper.base.evaluation import LabeledScoreMixin
from hedgeclipper.base.row_reader import (
    ROWS_FOR_SCALE,
    ROWS_PER_SLICE,
    DaskRows,
    RowBatches,
    RowReader,
    SemiSupervisedRows,
    is_dask,
    labeled_only,
    read_labeled,
    row_slices,
    split_rows,
)
from hedgeclipper.io.arrays import draw_rows
from hedgeclipper.io.messages import counted, warn_user


class NeverPredictedWarning(UserWarning):
    """A class that labels have is predicted for none of the unlabeled rows."""


@dataclass(frozen=True, eq=False)
class TablePredictor:
    """Predicts rows of tables: voters score them, a weighted vote makes log-odds of the scores.

    ``raw`` predictions are log-odds of shape (n_samples, n_games): there is one game for two
    classes, or one for each class against the rest. ``class_weights`` are what errors on rows of
    each class cost; None if all cost the same. It holds no rows, and can be sent to workers.
    """

    scorer: Any  # a VoterScorer
    votes: Sequence[Any]  # a WeightedVote for each game
    labels: np.ndarray  # (n_classes,): what the classes are called
    class_weights: np.ndarray | None = None  # (n_classes,)

    @property
    def no_rows(self) -> np.ndarray:
        """Raw predictions of no rows."""
        return np.empty((0, len(self.votes)))

    def of_batches(self, method: str, n_jobs: int | None, batches: Iterable[Any]) -> np.ndarray:
        """Return what a method of this name makes of the raw predictions; there may be no rows."""
        raw = [self.raw_predictions(batch, n_jobs) for batch in batches if batch.shape[0]]
        return getattr(self, method)(np.concatenate(raw or [self.no_rows]))

    def raw_predictions(self, X: Any, n_jobs: int | None) -> np.ndarray:
        """Return the log-odds of each game's class, for rows that a `RowReader` has read."""
        return self.raw_of(self.scorer.score(X, n_jobs))

    def raw_of(self, scores: np.ndarray) -> np.ndarray:
        """Return the log-odds for scores of shape (n_samples, n_voters, n_games)."""
        raw = np.empty((scores.shape[0], len(self.votes)))
        for start in range(0, scores.shape[0], ROWS_PER_SLICE):
            rows = slice(start, start + ROWS_PER_SLICE)
            for game, vote in enumerate(self.votes):
                raw[rows, game] = vote.log_odds(scores[rows, :, game].astype(float))
        return raw

    def predict(self, raw: np.ndarray) -> np.ndarray:
        """Return the label of the predicted class of each row."""
        return self.labels[self.codes(raw)]

    def decision(self, raw: np.ndarray) -> np.ndarray:
        """Return scores of rows: the class is that of the largest, or the second if positive.

        One score for two classes, beyond the threshold from which on the second one is predicted.
        For more one for each: its log-odds, or with weights minus the expected cost of the class.
        """
        weights = self.class_weights
        if weights is None:
            return raw[:, 0] if raw.shape[1] == 1 else raw
        if raw.shape[1] == 1:
            return raw[:, 0] - logit(weights[0] / weights.sum())
        costs = self.probabilities(raw) * weights
        return costs - costs.sum(axis=1, keepdims=True)

    def probabilities(self, raw: np.ndarray) -> np.ndarray:
        """Return the probability of each class, shape (n_samples, n_classes)."""
        positive = expit(raw)
        if raw.shape[1] == 1:
            return np.column_stack([1.0 - positive[:, 0], positive[:, 0]])
        return positive / positive.sum(axis=1, keepdims=True)

    def codes(self, raw: np.ndarray) -> np.ndarray:
        """Return the number of the predicted class of each row: the most probable, or cheapest."""
        scores = self.decision(raw)
        return (scores > 0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)

    def uncertainties(self, raw: np.ndarray) -> np.ndarray:
        """Return the probability that each row is not of the class that is predicted for it."""
        return 1.0 - self.probabilities(raw)[np.arange(raw.shape[0]), self.codes(raw)]


def class_weights(
    class_weight: Any, classes: np.ndarray, codes: np.ndarray, all_labels: np.ndarray
) -> np.ndarray | None:
    """Return what errors on rows of each class cost; None if all cost the same.

    ``class_weight`` is that of the classifiers, ``codes`` are the numbers of the labels' classes.
    A class among ``all_labels`` that has only held-out ones may have a weight, which has no use.

    Examples
    --------
    >>> labels = np.array(["no", "no", "no", "yes"])
    >>> class_weights("balanced", *np.unique(labels, return_inverse=True), labels).round(2)
    array([0.67, 2.  ])
    """
    if class_weight is None:
        return None
    n_classes, known = classes.size, np.unique(all_labels).tolist()
    if isinstance(class_weight, str):
        return codes.size / (n_classes * np.bincount(codes, minlength=n_classes))
    unknown = [label for label in class_weight if label not in known]
    if unknown:
        raise ValueError(
            f"class_weight has weights for {unknown}, which are no classes of the labels. Got "
            f"labels of {known}. Use these as keys."
        )
    weights = np.array([class_weight.get(label, 1.0) for label in classes.tolist()], dtype=float)
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise ValueError(f"class_weight must be positive and finite. Got {class_weight}.")
    return weights


def warn_of_never_predicted(
    predictor: TablePredictor, raw: np.ndarray, y: np.ndarray
) -> dict[Any, int]:
    """Return classes predicted for none of these rows, though ten are expected, and warn of them.

    Each comes with its number of labels in ``y``.
    """
    expected, predicted = predictor.probabilities(raw).sum(axis=0), predictor.predict(raw)
    likely = predictor.labels[expected >= 10.0]
    never = {label: int(np.sum(y == label)) for label in np.setdiff1d(likely, predicted).tolist()}
    if never:
        label, count = next(iter(never.items()))
        more = "".join(f", nor class {one!r} ({n:,})" for one, n in [*never.items()][1:])
        warn_user(
            f"Class {label!r} has {counted(count, 'label')} and is predicted for none of "
            f"{raw.shape[0]:,} unlabeled rows{more}: it is never probable enough. If missing it "
            "is worse than other errors, give it more weight (class_weight='balanced', or "
            "--balanced), or tune the threshold of its probability (scikit-learn's "
            "TunedThresholdClassifierCV).",
            NeverPredictedWarning,
        )
    return never


class TableClassifier(LabeledScoreMixin, BaseEstimator):
    """Takes labeled and unlabeled rows in any form, and predicts for rows in any form."""

    _reader: RowReader
    _predictor: TablePredictor
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
        return self._predict(X, "decision", "decision_function")

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
        return self._predict(X, "probabilities", "probability")

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
        return self._predict(X, "predict", "predict")

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
        if Path(path).suffix.lower() in (".csv", ".tsv", ".xlsx", ".json"):
            raise ValueError(
                f"predict_to writes Parquet. Got {path}. Name it .parquet, or write what "
                "predict_proba returns."
            )
        predictor = self._predictor
        names = ["prediction", *(f"probability_{label}" for label in self.classes_)]

        def tables() -> Iterator[dict[str, np.ndarray]]:
            instead = "call predict_proba(X), which is lazy, and let Dask write that"
            raw_of_batches = (raw for _, raw in self._raw_by_batch(X, instead))
            for raw in chain([next(raw_of_batches, predictor.no_rows)], raw_of_batches):
                found = [predictor.predict(raw), *predictor.probabilities(raw).T]
                yield dict(zip(names, found, strict=True))

        return io.write_parquet(path, tables())

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
        self, X: Any, y: Any, X_unlabeled: Any, reader: RowReader
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
        rows = split_rows(X, y, X_unlabeled, minus_one_is_class)
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
        X_labeled, y, source = read_labeled(X, label, **options)
        X_labeled = self._check_table(X_labeled, reset=True)
        self._reader = replace(self._reader, names=source.column_names)
        if source.column_names is not None:
            self.feature_names_in_ = np.array(source.column_names, dtype=object)
        check_classification_targets(y)
        unlabeled = RowBatches(source, self._reader.reads_as("X"), only_unlabeled=True)
        if next(iter(unlabeled), None) is None:
            advice = "rows of files are unlabeled where their label is missing"
            return labeled_only(X_labeled, y, advice)
        return SemiSupervisedRows(X_labeled, y, unlabeled, None)

    def _check_more(self, X: Any, name: str, once: bool = False) -> Any:
        """Return rows as voters score them: a table, `RowBatches` or `DaskRows`.

        ``name`` is what errors call them; with ``once`` an iterator of batches will do.
        """
        if io.is_in_memory(X):
            return self._check_table(X, name)
        if is_dask(X):
            from hedgeclipper.io.distributed import select_columns

            chosen = select_columns(X, self._reader.used_names, name, self.n_features_in_)
            return DaskRows(chosen, self._reader, name)
        if isinstance(X, (list, tuple)) and X and is_dask(X[0]):
            raise TypeError(
                f"{name} is a list of Dask collections. Got {type(X[0]).__name__} in it. Make one "
                "of them: dask.dataframe.from_delayed or concat, dask.array.concatenate."
            )
        if io.is_batched(X):
            return self._reader.open_source(X, name, once)
        return self._check_table(X, name)

    def _check_table(self, X: Any, name: str = "X", reset: bool = False) -> Any:
        """Return rows in memory as voters score them; ``reset`` learns the reader of others."""
        is_frame = io.is_frame(X)
        if is_frame:
            X, names = io.as_frame(X), io.frame_names(X)
            io.check_columns(names or (), names or (), "The frame")  # none may be there twice
        reader = self._reader
        keeps_frame = reader.encodes or reader.frame_columns is not None
        if is_frame and keeps_frame:
            rows = validate_data(self, X, reset=reset, skip_check_array=True)
        else:
            try:
                rows = validate_data(self, X, reset=reset, **reader.checks)
            except ValueError:
                if not reset and (is_frame or reader.encodes):
                    check_numbers(X, reader.names)
                raise
        if reset:
            scale, names = None, getattr(self, "feature_names_in_", None)
            if not keeps_frame and reader.checks["dtype"] == "float32":
                some = X if hasattr(X, "shape") else np.asarray(X)
                scale = ColumnScale.of(draw_rows(some, ROWS_FOR_SCALE, np.random.RandomState(0)))
            names = None if names is None else list(names)
            reader = replace(reader, n_columns=self.n_features_in_, names=names, scale=scale)
            self._reader = reader
        return reader(rows, name) if keeps_frame else reader.finish(X, rows, name)

    def _store_classes(self, y: np.ndarray, all_labels: np.ndarray) -> np.ndarray:
        """Store classes of the labels to fit to, of all labels; return their numbers."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        if self.classes_.size < 2:
            raise ValueError(
                "y must have at least two classes among the labeled rows. Got one class or none, "
                f"{self.classes_.tolist()}."
            )
        self._class_weights = class_weights(self.class_weight, self.classes_, codes, all_labels)
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

    def _raw_by_batch(self, X: Any, *instead: str) -> Iterator[tuple[Any, Any]]:
        """Yield `_batches` with their raw predictions."""
        for batch in self._batches(X, *instead):
            yield batch, self._predictor.raw_predictions(batch, self.n_jobs)

    def _batches(self, X: Any, instead: str = "pass X.compute()") -> Iterable[Any]:
        """Return batches of rows, read once; ``instead`` is what a user of Dask should do."""
        if is_dask(X):
            raise TypeError(
                f"X must be rows that can be read here. Got a Dask collection: {instead}, or pass "
                "its files."
            )
        rows = self._check_more(X, "X", once=True)
        return rows if isinstance(rows, RowBatches) else row_slices(rows)

    def _predict(self, X: Any, method: str, name: str) -> Any:
        """Return what this method of the predictor makes of rows; lazy for Dask.

        There ``name`` is that of the column, or begins those of the columns of classes.
        """
        check_is_fitted(self)
        predictor, rows = self._predictor, self._check_more(X, "X", once=True)
        if not isinstance(rows, DaskRows):
            batches = rows if isinstance(rows, RowBatches) else [rows]
            return predictor.of_batches(method, self.n_jobs, batches)
        from hedgeclipper.io.distributed import map_partitions

        nothing = predictor.of_batches(method, 1, [])
        columns = name if nothing.ndim == 1 else [f"{name}_{label}" for label in self.classes_]
        work = rows.on_blocks(partial(predictor.of_batches, method, 1))
        return map_partitions(work, nothing, rows.collection, columns)
