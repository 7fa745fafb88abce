"""What a forest shows of itself: measures out of bag, its voters, reasons and a baseline.

Reasons are in terms of the columns that trees split on. The value of a node is the mean of the
(shrunk) values of the leaves below it, by their training rows. Each step of a row down a tree
changes it, and that change is put down to the column of the split; changes add up over all trees to
the difference from what is predicted for no row at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.base.evaluation import LEAST_PROBABILITY, placements
from hedgeclipper.base.inspection import Inspection, voter_table
from hedgeclipper.base.predictions import ProbabilityScale
from hedgeclipper.base.semi_supervised import SemiSupervisedRows
from hedgeclipper.base.weighing import panel_scores
from hedgeclipper.forest.groups import (
    GroupPredictor,
    ScoredGroups,
    score_groups,
    weigh_groups,
)
from hedgeclipper.forest.growing import SHIFT_THRESHOLD, grow_forest
from hedgeclipper.forest.trees import PackedTrees
from hedgeclipper.forest.views import ViewedTrees, side_by_side

MOST_REASONS = 4
MANY_COLUMNS, REPEATS = 100, 3


def column_contributions(predictor: GroupPredictor, X: Any, game: int) -> np.ndarray | None:
    """Return what each column adds to the log-odds of a game's class, for rows as trees see them.

    The shape is (n_samples, n_columns + 1); the last entry is that of all columns of views
    together. None for boosters, whose splits are not known.
    """
    finder, scorer = predictor.finder, predictor.scorer
    if not isinstance(finder, ViewedTrees):
        finder = ViewedTrees([], [(0,)], [finder])
    if scorer.are_log_odds or not all(isinstance(part, PackedTrees) for part in finder.parts):
        return None
    out = np.zeros((X.shape[0], X.shape[1] + 1))
    values = _leaf_log_odds(predictor, game)
    first, tables = 0, [X, *(view.transform(X) for view in finder.views)]
    for look, part in zip(finder.looks, finder.parts, strict=True):
        assert isinstance(part, PackedTrees)
        n_leaves = int(part.n_leaves.sum())
        places = np.minimum(part.used if 0 in look else X.shape[1], X.shape[1])
        places = np.broadcast_to(places, part.used.shape)
        own = values[first : first + n_leaves]
        _add_steps(part, part.find(side_by_side(tables, look)), own, places, out)
        first += n_leaves
    return out


def _leaf_log_odds(predictor: GroupPredictor, game: int) -> np.ndarray:
    """Return what each leaf adds to the log-odds, up to a constant."""
    scorer, own = predictor.scorer, predictor.games[game]
    scale = own.scales[0]
    assert isinstance(scale, ProbabilityScale)
    weights = own.calibration.slope * own.weights / max(scale.center, 1.0 - scale.center)
    per_leaf = np.repeat(weights[scorer.groups], scorer.finder.n_leaves)
    return scorer.leaf_values[game] * per_leaf


def _add_steps(
    trees: PackedTrees,
    leaves: np.ndarray,
    values: np.ndarray,
    columns: np.ndarray,
    out: np.ndarray,
) -> None:
    """Add the changes on the paths to the leaves of rows, shape (n_trees, rows), to their columns.

    ``columns`` are the places in out of the features that occur in splits.
    """
    node_values, _ = trees.nodes.means_and_sizes(values)
    nodes = trees.nodes.leaf_nodes[leaves.astype(np.int64) + trees.offsets[:, None]]
    rows = np.broadcast_to(np.arange(out.shape[0]), nodes.shape)
    nodes, rows = nodes.ravel(), rows.ravel()
    while nodes.size:
        parents = trees.parent[nodes]
        below = parents >= 0
        nodes, rows, parents = nodes[below], rows[below], parents[below]
        steps = node_values[nodes] - node_values[parents]
        np.add.at(out, (rows, columns[trees.feature[parents]]), steps)
        nodes = parents


def describe_reasons(model: Any, rows: Any) -> list[str] | None:
    """Return which columns raise and lower the prediction of each row most, in words.

    ``model`` is a fitted `HedgeClipperClassifier`, rows are as ``predict`` has checked them. None
    if the splits of its trees are not known.
    """
    predictor = model._predictor
    X = rows if predictor.prepare is None else predictor.prepare(rows)
    codes = predictor.classes(replace(predictor, prepare=None).raw_predictions(X, model.n_jobs))
    texts = []
    for row, code in enumerate(codes):
        one = X[row : row + 1]
        game, sign = (code, 1.0) if predictor.n_games > 1 else (0, 1.0 if code else -1.0)
        found = column_contributions(predictor, one, game)
        if found is None:
            return None
        texts.append(_in_words(model, one, sign * found[0]))
    return texts


def _in_words(model: Any, row: Any, added: np.ndarray) -> str:
    """Return the columns that add most and least to the prediction of a row, and their values.

    The last entry of ``added`` is that of all components together.
    """
    values = (row.toarray() if sparse.issparse(row) else np.asarray(row))[0]
    order = np.argsort(-np.abs(added), kind="stable")[:MOST_REASONS]
    names = {k: f"{model._column_name(k)} = {values[k]:.4g}" for k in order if k < values.size}
    parts = []
    for word, own in (("for", added > 0), ("against", added < 0)):
        named = [names.get(k, "components") for k in order if own[k]]
        if named:
            parts.append(f"{word}: {', '.join(named)}")
    return "; ".join(parts)


def permutation_importances(
    groups: ScoredGroups,
    predict: Callable[[np.ndarray], np.ndarray],
    X: Any,
    columns: Sequence[np.ndarray],
    n_jobs: int | None,
) -> np.ndarray:
    """Return by how much the out-of-bag AUC falls if columns of the labeled rows X are shuffled.

    Each entry is for columns that are shuffled together, and is the mean over classes against the
    rest. ``predict`` makes log-odds of scores of shape (n_rows, n_groups, n_games).
    """
    X = X.toarray() if sparse.issparse(X) else X
    is_positive = groups.codes[:, None] == np.asarray(groups.games)
    known = ~np.isnan(groups.out_of_bag).any(axis=(1, 2))

    def mean_auc(scores: np.ndarray) -> float:
        pairs = zip(is_positive[known].T, predict(scores[known]).T, strict=True)
        return float(np.mean([placements(own, raw)[0].mean() for own, raw in pairs]))

    rng, whole = np.random.default_rng(0), mean_auc(groups.out_of_bag)
    n_repeats = REPEATS if len(columns) <= MANY_COLUMNS else 1
    lost = np.zeros(len(columns))
    shuffled = X.copy()
    for number, own in enumerate(columns):
        for _ in range(n_repeats if own.size else 0):
            shuffled[:, own] = X[np.ix_(rng.permutation(X.shape[0]), own)]
            leaves = groups.scorer.finder.find(shuffled, n_jobs)
            lost[number] += (whole - mean_auc(groups.unseen_scores(leaves))) / n_repeats
        shuffled[:, own] = X[:, own]
    return lost


@dataclass(frozen=True)
class UnlabeledGain:
    """What the unlabeled rows have changed, as far as the labels tell.

    The model is compared with one whose views were learned from the labeled rows alone; both
    predict labeled rows by trees grown without them.

    Parameters
    ----------
    auc, log_loss : float
        Difference in AUC (the mean over classes against the rest, without those of fewer than two
        labels; NaN if there are no others) and in log loss. A higher AUC and
        a lower log loss are better.
    auc_error, log_loss_error : float
        Their standard errors.
    """

    auc: float
    auc_error: float
    log_loss: float
    log_loss_error: float

    @property
    def is_significant(self) -> bool:
        """Whether the gain in AUC is more than two standard errors."""
        return self.auc > 2.0 * self.auc_error

    def describe(self) -> str:
        """Return it in one sentence.

        Examples
        --------
        >>> UnlabeledGain(0.031, 0.011, -0.02, 0.01).describe()
        'unlabeled rows: +0.031 AUC (± 0.011)'
        >>> UnlabeledGain(0.001, 0.004, 0.0, 0.01).describe()
        'unlabeled rows: no measurable gain (+0.001 AUC, ± 0.004)'
        """
        if np.isnan(self.auc):
            return "unlabeled rows: too few labels to measure what they bring"
        if self.is_significant:
            return f"unlabeled rows: {self.auc:+.3f} AUC (± {self.auc_error:.3f})"
        return f"unlabeled rows: no measurable gain ({self.auc:+.3f} AUC, ± {self.auc_error:.3f})"


def unlabeled_gain(model: ScoredGroups, control: ScoredGroups) -> UnlabeledGain:
    """Return the gain of a model over one that has learned its views from labeled rows alone."""
    scores = [out_of_bag_log_odds(groups) for groups in (model, control)]
    known = ~np.isnan(scores[0]).any(axis=1) & ~np.isnan(scores[1]).any(axis=1)
    is_positive = (model.codes[:, None] == np.asarray(model.games))[known]
    pairs = [own[known] for own in scores]
    compared = [
        auc_difference(own, *(scores[:, k] for scores in pairs))
        for k, own in enumerate(is_positive.T)
        if 2 <= own.sum() <= own.size - 2
    ]
    gains, variances = zip(*compared, strict=True) if compared else ((np.nan,), (np.nan,))
    losses = [_log_losses(is_positive, own) for own in pairs]
    difference = losses[0] - losses[1]
    return UnlabeledGain(
        auc=float(np.mean(gains)),
        # classes share their rows, so that their errors do not cancel
        auc_error=float(np.mean(np.sqrt(variances))),
        log_loss=float(difference.mean()),
        log_loss_error=float(difference.std() / np.sqrt(difference.size)),
    )


def out_of_bag_log_odds(groups: ScoredGroups) -> np.ndarray:
    """Return log-odds of labeled rows, the groups weighed on these rows alone; NaN if unknown."""
    known = ~np.isnan(groups.out_of_bag).any(axis=(1, 2))
    own = groups.out_of_bag[known]
    weights = None if groups.weights is None else groups.weights[known]
    scores = panel_scores(own, own, groups.codes[known], weights, groups.games)
    out = np.full((known.size, len(groups.games)), np.nan)
    games = [weigh_groups(one, groups.scorer.prior_weights).game for one in scores]
    found = [game.log_odds(one.unlabeled) for game, one in zip(games, scores, strict=True)]
    out[known] = np.column_stack(found)
    return out


def auc_difference(
    is_positive: np.ndarray, scores: np.ndarray, others: np.ndarray
) -> tuple[float, float]:
    """Return the AUC of scores less that of others on the same rows, and its variance.

    References
    ----------
    E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or more
    correlated receiver operating characteristic curves", Biometrics 44, 1988.
    """
    positive, negative = placements(is_positive, scores)
    other_positive, other_negative = placements(is_positive, others)
    by_positive, by_negative = positive - other_positive, negative - other_negative
    variance = by_positive.var(ddof=1) / by_positive.size
    variance += by_negative.var(ddof=1) / by_negative.size
    return float(by_positive.mean()), float(variance)


def _log_losses(is_positive: np.ndarray, log_odds: np.ndarray) -> np.ndarray:
    """Return the log loss of each row, that of its class among all, shape (n_rows,)."""
    p = np.clip(expit(log_odds), LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)
    if p.shape[1] == 1:
        return -np.log(np.where(is_positive, p, 1.0 - p))[:, 0]
    return -np.log((p / p.sum(axis=1, keepdims=True))[is_positive])


class ForestInspectionMixin:
    """Adds what is measured out of bag, and what reports need, to a classifier.

    Its ``fit`` keeps what trees were grown from as ``_grown_from``. Measures are made when they are
    first asked for.
    """

    n_features_in_: int
    shift_score_: float
    estimators_: dict[str, Any]
    n_jobs: int | None
    shrinkage: float | str | None
    _predictor: Any
    _groups: ScoredGroups
    _summaries: list[dict[str, list]]
    _importances: np.ndarray
    _games: Any
    _inspection: Any
    classes_: np.ndarray

    @property
    def unlabeled_gain_(self) -> UnlabeledGain:
        """What the unlabeled rows have brought, measured out of bag on the labeled ones.

        It is computed when it is first asked for, which takes about as long as growing the trees:
        they are grown once more, on views that are learned from the labeled rows alone. A saved
        model has no rows to do so, and knows it only if it was asked for before.
        """
        if not hasattr(self, "_gain"):
            groups, rows, codes, random_state = self._groups_and_rows("unlabeled_gain_")
            if not getattr(groups.scorer.finder, "views", []):
                raise AttributeError("unlabeled_gain_ is about views, and this forest has none.")
            control = grow_forest(self, rows, codes, None, deepcopy(random_state))
            labels = codes, rows.weight_labeled, self._games()
            self._gain = unlabeled_gain(groups, score_groups(control, *labels, self.shrinkage))
        return self._gain

    @property
    def feature_importances_(self) -> np.ndarray:
        """How much each column matters: what the out-of-bag AUC loses if it is shuffled.

        The array has the shape ``(n_features_in_,)``, in the order of the columns of ``fit``, also
        where strings were encoded. It is computed when it is first asked for; a saved model has no
        rows to do so, and knows it only if it was asked for before.
        """
        n_columns = self.n_features_in_
        return self._importances_of(np.arange(n_columns), n_columns)

    def _importances_of(self, sources: np.ndarray, n_sources: int) -> np.ndarray:
        """Return how much each source of the columns of ``fit`` matters, shape (n_sources,).

        ``sources`` has the number of each column's source. Columns of the same source are shuffled
        together. What is measured of the columns themselves is kept.
        """
        are_columns = np.array_equal(sources, np.arange(self.n_features_in_))
        if are_columns and hasattr(self, "_importances"):
            return self._importances
        groups, rows, *_ = self._groups_and_rows("feature_importances_")
        if (prepare := self._predictor.prepare) is not None:
            sources = sources[prepare.encoder.sources_out_]
        columns = [np.flatnonzero(sources == k) for k in range(n_sources)]
        found = permutation_importances(
            groups, self._predictor.raw_of, rows.X_labeled, columns, self.n_jobs
        )
        if are_columns:
            self._importances = found
        return found

    def _groups_and_rows(
        self, name: str
    ) -> tuple[ScoredGroups, SemiSupervisedRows, np.ndarray, np.random.RandomState]:
        """Return what an attribute of this name is measured by; raise if it is not there.

        That is the groups, the labeled rows, their classes, and the generator as it was when the
        trees were grown.
        """
        check_is_fitted(self)
        if not hasattr(self, "_grown_from"):
            raise AttributeError(f"{name} needs the labeled rows, and a copy of a model has none.")
        return self._groups, *self._grown_from

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
        return self._inspection(
            kind="forest",
            description=f"forest of {n_trees:,} tree{'s' * (n_trees != 1)}, its groups weighed",
            make_voters=lambda: voter_table("group", self._summaries, self.classes_),
            shift_score=score if score > SHIFT_THRESHOLD else None,
            predict_baseline=self._predict_baseline,
            describe_gain=lambda: self.unlabeled_gain_.describe(),
            importances=self._importances_of,
            reasons=partial(describe_reasons, self),
        )

    def _predict_baseline(self, rows: Any) -> dict[str, np.ndarray]:
        """Return the probabilities of the first ensemble, as it predicts by itself."""
        prepare = self._predictor.prepare
        name, model = next(iter(self.estimators_.items()))
        rows = rows if prepare is None else prepare(rows)
        return {f"its {name} alone": model.predict_proba(rows)}
