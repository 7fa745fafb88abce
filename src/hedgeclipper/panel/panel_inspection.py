"""What a panel and its members are worth: on held-out labels without a new fit, and on new rows."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.base.evaluation import evaluate_predictions
from hedgeclipper.base.inspection import FoldPredictor, Inspection, voter_table
from hedgeclipper.base.semi_supervised import BatchCheck
from hedgeclipper.base.semi_supervised_classifier import SemiSupervisedClassifier
from hedgeclipper.base.weighing import aggregate, panel_scores
from hedgeclipper.forest.classifier import HedgeClipperClassifier
from hedgeclipper.forest.forest_inspection import UnlabeledGain
from hedgeclipper.io import split_target
from hedgeclipper.io.extras import import_extra
from hedgeclipper.sklearn_private import _safe_indexing

N_FOLDS = 5
HOW_HELD_OUT = (
    "Each member's score of a row is out of fold, by a member fitted without the row; weights and "
    "calibration of the panel were found again without the labels of the fold. These labels have "
    "helped to fit the members that scored the other rows, which may flatter the panel a little."
)


class PanelInspectionMixin(SemiSupervisedClassifier):
    """Adds to a panel what it shows of its members and of itself."""

    _summaries: list[dict[str, list]]

    @property
    def members_(self) -> dict[str, Any]:
        """Fitted members by name."""
        check_is_fitted(self)
        return dict(self._predictor.members)

    def member_summary(self):
        """Return a frame that describes the members, one row each.

        Columns: ``weight``, ``correlation`` (b with both classes weighing the same, out of fold)
        and its ``standard_error``, ``auc`` (out of fold), ``agreement``
        (correlation of its votes with the mean vote of the others on unlabeled rows),
        ``contribution`` (proportion of the spread of the result that comes from it) and ``seconds``
        (time of all its fits, and of scoring the unlabeled rows). With more than two classes there
        is a row for each member and class, and a column ``class``.

        Returns
        -------
        pandas.DataFrame
            The summary, largest contribution first.
        """
        check_is_fitted(self)
        pandas = import_extra("pandas", "io", "member_summary")
        parts = [pandas.DataFrame(columns) for columns in self._summaries]
        if len(parts) > 1:
            for part, label in zip(parts, self.classes_, strict=True):
                part.insert(1, "class", label)
        frame = pandas.concat(parts, ignore_index=True)
        return frame.sort_values("contribution", ascending=False, ignore_index=True)

    def leaderboard(self, X, y):
        """Return a frame that compares the panel with its members on new labeled rows.

        Columns: ``member`` ("panel" for the panel itself), ``auc``, ``accuracy`` and ``log_loss``
        as in ``evaluate``, and ``seconds`` as in ``member_summary``, their sum for the panel.
        Members without probabilities have a squashed decision function in their place.

        Parameters
        ----------
        X : array-like, frame or sparse matrix
            Rows, as in ``fit``. They should be new to the model.
        y : array-like of shape (n_samples,), or str
            Labels, as in ``evaluate``.

        Returns
        -------
        pandas.DataFrame
            The comparison, largest AUC first.
        """
        return _leaderboard(self, X, y)

    @property
    def unlabeled_gain_(self) -> UnlabeledGain:
        """What the unlabeled rows have brought to the panel's own forest.

        It is ``unlabeled_gain_`` of the member that is a `HedgeClipperClassifier`, one of the
        default panel: other members are not measured without unlabeled rows.
        """
        return self._forest("unlabeled_gain_").unlabeled_gain_

    @property
    def feature_importances_(self) -> np.ndarray:
        """How much each column matters to the panel's own forest.

        It is ``feature_importances_`` of the member that is a `HedgeClipperClassifier`, one of the
        default panel, in the order of the columns of ``fit``.
        """
        n_columns = self.n_features_in_
        return self._importances_of(np.arange(n_columns), n_columns)

    def _importances_of(self, sources: np.ndarray, n_sources: int) -> np.ndarray:
        """Return how much each source of the columns matters, as of a `HedgeClipperClassifier`."""
        forest, prepare = self._forest("feature_importances_"), self._predictor.prepare
        if isinstance(prepare, BatchCheck):
            sources = sources[prepare.encoder.sources_out_]
        return forest._importances_of(sources, n_sources)

    def _forest(self, name: str) -> HedgeClipperClassifier:
        """Return the member that is a forest; an attribute of this name is missing without one."""
        for member in self.members_.values():
            if isinstance(member, HedgeClipperClassifier):
                return member
        raise AttributeError(f"{name} needs a HedgeClipperClassifier among the members.")

    def _inspect(self) -> Inspection:
        """Return what summaries, displays and the report need."""
        n_members = len(self.members_)
        own: dict[str, Any] = {}
        if any(isinstance(member, HedgeClipperClassifier) for member in self.members_.values()):
            own = {
                "describe_gain": lambda: f"{self.unlabeled_gain_.describe()}, in its forest",
                "importances": self._importances_of,
            }
        return self._inspection(
            kind="panel",
            description=f"panel of {n_members:,} classifier{'s' * (n_members != 1)}",
            make_voters=lambda: voter_table("member", self._summaries, self.classes_),
            hold_out=partial(hold_out, self),
            **own,
        )


def hold_out(model: Any, X_unlabeled: Any) -> FoldPredictor:
    """Return how to predict labeled rows by weights that were found without their labels.

    Members of the model, a fitted `HedgedVotingClassifier`, are not fitted again. Labeled rows that
    some member has not scored out of fold are left out. Without unlabeled rows labeled ones are
    reused, as in a fit.
    """
    predictor, (codes, weights), games = model._predictor, model._labeled, model._games()
    rows = np.flatnonzero(~np.isnan(model.out_of_fold_).any(axis=(1, 2)))
    unlabeled = labeled = model.out_of_fold_[rows]
    if X_unlabeled is not None:
        unlabeled = predictor.scores(X_unlabeled, model.n_jobs)
    codes, weights = codes[rows], np.ones(rows.size) if weights is None else weights[rows]

    def predict(train: np.ndarray, test: np.ndarray) -> dict[str, np.ndarray]:
        """Return probabilities of the test rows by the panel, the members' mean, and each member.

        Members are weighed by the labels of the rows in ``train`` alone; both are row numbers.
        """
        scores = panel_scores(labeled[train], unlabeled, codes[train], weights[train], games)
        found = [aggregate(own, **model._game_options()).game for own in scores]
        log_odds = [game.log_odds(labeled[test, :, k]) for k, game in enumerate(found)]
        members = _member_probabilities(labeled[test])
        return {
            "this model": predictor.probabilities(np.column_stack(log_odds)),
            "mean of all members": members.mean(axis=0),
            **dict(zip(predictor.members, members, strict=True)),
        }

    return FoldPredictor(codes, N_FOLDS, predict, HOW_HELD_OUT)


def _leaderboard(model: Any, X: Any, y: Any) -> Any:
    """Return the frame of `HedgedVotingClassifier.leaderboard`."""
    pandas = import_extra("pandas", "io", "leaderboard")
    X, y = split_target(X, y)
    known, true = model._labels_to_score(y)
    rows = _safe_indexing(model._check_more(X, "X"), np.flatnonzero(known))
    predictor, classes = model._predictor, model.classes_
    scores = predictor.scores(rows, model.n_jobs)
    raw = predictor.log_odds(scores)
    seconds = model._summaries[0]["seconds"]
    lines = [("panel", predictor.classes(raw), predictor.probabilities(raw), sum(seconds))]
    for name, own, took in zip(
        predictor.members, _member_probabilities(scores), seconds, strict=True
    ):
        sums = own.sum(axis=1, keepdims=True)
        own = np.divide(own, sums, out=np.full_like(own, 1.0 / classes.size), where=sums > 0)
        lines.append((name, own.argmax(axis=1), own, took))
    table: dict[str, list] = {"member": [], "auc": [], "accuracy": [], "log_loss": []}
    for name, codes, probabilities, _ in lines:
        found = evaluate_predictions(true, classes[codes], probabilities, classes)
        row = (name, found.auc, found.accuracy, found.log_loss)
        for column, value in zip(table.values(), row, strict=True):
            column.append(value)
    table["seconds"] = [took for *_, took in lines]
    return pandas.DataFrame(table).sort_values("auc", ascending=False, ignore_index=True)


def _member_probabilities(scores: np.ndarray) -> np.ndarray:
    """Return scores of shape (n_rows, n_members, n_games) by member, with a column per class."""
    members = np.moveaxis(scores, 1, 0)
    return np.concatenate([1.0 - members, members], axis=2) if members.shape[2] == 1 else members
