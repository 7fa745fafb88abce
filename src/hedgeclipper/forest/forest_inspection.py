"""What a forest shows of itself: measures out of bag, its voters, reasons and a baseline."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.base.inspection import Inspection
from hedgeclipper.base.semi_supervised import SemiSupervisedRows
from hedgeclipper.forest.groups import GroupStream, ScoredGroups, score_groups
from hedgeclipper.forest.growing import grow_forest
from hedgeclipper.forest.importances import permutation_importances
from hedgeclipper.forest.leaf_correlations import SHIFT_THRESHOLD
from hedgeclipper.forest.reasons import describe_reasons
from hedgeclipper.forest.trees import ViewedTrees
from hedgeclipper.forest.unlabeled_gain import UnlabeledGain, unlabeled_gain


class ForestInspectionMixin:
    """Adds what is measured out of bag, and what reports need, to a classifier.

    Its ``fit`` keeps what trees were grown from as ``_grown_from``. Measures are made when they are
    first asked for.
    """

    n_features_in_: int
    shift_score_: float
    estimators_: dict[str, Any]
    game: Any
    n_jobs: int | None
    shrinkage: float | str | None
    _predictor: Any
    _stream: Any
    _games: Any
    _inspection: Any

    def _forget_measures(self) -> None:
        """Forget what was measured after an earlier fit."""
        for name in ("_gain", "_importances"):
            self.__dict__.pop(name, None)

    @property
    def unlabeled_gain_(self) -> UnlabeledGain:
        """What the unlabeled rows have brought, measured out of bag on the labeled ones.

        It is computed when it is first asked for, which takes about as long as growing the trees:
        they are grown once more, on views that are learned from the labeled rows alone. A saved
        model has no rows to do so, and knows it only if it was asked for before.
        """
        if not hasattr(self, "_gain"):
            groups, rows, codes, random_state = self._groups_and_rows("unlabeled_gain_")
            if not isinstance(groups.scorer.finder, ViewedTrees):
                raise AttributeError("unlabeled_gain_ is about views, and this forest has none.")
            control = grow_forest(self, rows, codes, None, deepcopy(random_state))
            leaves = control.finder.find(rows.X_labeled, self.n_jobs)
            labels = codes, rows.weight_labeled, self._games()
            self._gain = unlabeled_gain(
                groups, score_groups(control, leaves, *labels, self.shrinkage)
            )
        return self._gain

    @property
    def feature_importances_(self) -> np.ndarray:
        """How much each column matters: what the out-of-bag AUC loses if it is shuffled.

        The array has the shape (n_features_in_,), in the order of the columns of ``fit``, also
        where strings were encoded. It is computed when it is first asked for; a saved model has no
        rows to do so, and knows it only if it was asked for before.
        """
        if not hasattr(self, "_importances"):
            groups, rows, *_ = self._groups_and_rows("feature_importances_")
            prepare, n_columns = self._predictor.prepare, rows.X_labeled.shape[1]
            source = np.arange(n_columns) if prepare is None else prepare.encoder.sources_out_
            columns = [np.flatnonzero(np.equal(source, k)) for k in range(self.n_features_in_)]
            self._importances = permutation_importances(
                groups, self._predictor.raw_of, rows.X_labeled, columns, self.n_jobs
            )
        return self._importances

    def _groups_and_rows(
        self, name: str
    ) -> tuple[ScoredGroups, SemiSupervisedRows, np.ndarray, np.random.RandomState]:
        """Return what an attribute of this name is measured by; raise if it is not there.

        That is the groups, the labeled rows, their classes, and the generator as it was when the
        trees were grown.
        """
        check_is_fitted(self)
        stream = getattr(self, "_stream", None)
        if not isinstance(stream, GroupStream):
            raise AttributeError(f"{name} is for the game of groups of trees, with game=None.")
        if not hasattr(self, "_grown_from"):
            raise AttributeError(f"{name} needs the labeled rows, and a copy of a model has none.")
        return stream.groups, *self._grown_from

    def __getstate__(self) -> dict[str, Any]:
        """Return what is saved: all but the rows."""
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_grown_from"}

    def _column_name(self, number: int) -> str:
        """Return the name of a column of the rows as trees see them."""
        prepare, names = self._predictor.prepare, getattr(self, "feature_names_in_", None)
        names = names if prepare is None else prepare.encoder.names_out_
        return f"x{number}" if names is None else str(names[number])

    def _inspect(self) -> Inspection:
        """Return what summaries, displays and the report need."""
        n_trees, score = self._predictor.finder.n_trees, self.shift_score_
        what = "its groups" if self.game is None else "its leaves"
        own: dict[str, Any] = {}
        if self.game is None:
            own = {
                "describe_gain": lambda: self.unlabeled_gain_.describe(),
                "importances": lambda: self.feature_importances_,
                "reasons": partial(describe_reasons, self),
            }
        return self._inspection(
            kind="forest",
            description=f"forest of {n_trees:,} tree{'s' * (n_trees != 1)}, {what} weighed",
            make_voters=partial(self._stream.voters, self),
            describe_voters=partial(self._stream.describe_voters, self),
            shift_score=score if score > SHIFT_THRESHOLD else None,
            predict_baseline=self._predict_baseline,
            **own,
        )

    def _predict_baseline(self, rows: Any) -> dict[str, np.ndarray]:
        """Return the probabilities of the first ensemble, as it predicts by itself."""
        prepare = self._predictor.prepare
        name, model = next(iter(self.estimators_.items()))
        rows = rows if prepare is None else prepare(rows)
        return {f"its {name} alone": model.predict_proba(rows)}
