"""PaperHedgeClipper: the algorithm box of the paper as an estimator of scikit-learn."""

from __future__ import annotations

from itertools import chain
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.base.predictions import TableClassifier, TablePredictor
from hedgeclipper.base.row_reader import NO_UNLABELED_ROWS, RowReader, is_dask
from hedgeclipper.io import is_in_memory
from hedgeclipper.io.arrays import MAX_SEED
from hedgeclipper.io.messages import warn_user
from hedgeclipper.paper.algorithm import (
    ContradictoryCorrelationsWarning,
    GrownForest,
    LeafRows,
    SlackSolution,
    Specialists,
    awake_predictions,
    grow_forest,
    minimize_by_sgd,
    set_up_specialists,
)
from hedgeclipper.sklearn_private import Interval, StrOptions, _fit_context
from hedgeclipper.voters.trees import PackedTrees

# the three that the paper tries
ALPHAS = (0.3, 1.0, 3.0)


class PaperHedgeClipper(TableClassifier):
    """HedgeClipper as published: a forest whose leaves and trees are weighed by a game.

    The algorithm of Balsubramani and Freund [1]_. A random forest is grown on labeled rows. Each
    leaf and each tree is a specialist, whose correlation b with the labels is estimated on rows
    that its tree was not grown from. Weights minimize the slack function on the unlabeled rows, and
    the prediction is the weighted vote, clipped to [-1, 1].

    Use `hedgeclipper.HedgeClipperClassifier` for the best predictions: with few labels these
    weights are often worse than the forest they are built from.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    min_leaf_size : int or "auto", default="auto"
        Smallest number of training rows in a leaf. "auto" is the paper's: 10 with at least 1,000
        labels, else 4.
    filter_leaves : bool, default=False
        Whether trees grow freely and smaller leaves are left out of the game, the paper's
        alternative, instead of growing trees without such leaves.
    b_from : {"oob", "bootstrap", "holdout"}, default="oob"
        Labeled rows that estimate b: out-of-bag rows of each tree; a bootstrap sample, the rows
        outside of which grow the trees; or all but the ``train_size`` that grow the trees.
    train_size : float, default=0.2
        Proportion of the labeled rows that grow the trees with ``b_from="holdout"``.
    unlabeled_weight : float or "auto", default=1.0
        Weight of the unlabeled rows (alpha). The paper tries 0.3, 1 and 3. "auto" tries these and
        takes the one whose awake predictions separate the classes of labeled rows most, which
        takes twice as many passes.
    max_iter : int, default=10
        Number of passes of SGD over the unlabeled rows. Where the correlations b contradict each
        other, the slack has no minimum, and more passes make larger weights. Minibatches have 1,024
        rows, and step t has the length 0.01 / sqrt(t).
    confidence_level : float or None, default=None
        None takes estimates of b as they are. With a number such as 0.95, b are exact lower bounds
        that hold for all leaves and trees together with this probability: ``worst_case_error_`` is
        then the paper's guarantee. It takes many labels: leaves with few labeled rows prove
        nothing and are left out.
    n_jobs : int or None, default=None
        Threads for growing the forest and finding leaves.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels. With more than two, there is a game for each class against the rest.
    forest_ : RandomForestClassifier
        The forest, "Base RF" in the paper.
    weights_ : list of ndarray of shape (n_specialists,)
        Weights (sigma) of all leaves, tree by tree, and then of the trees; one array a game.
    label_correlations_, coverage_ : list of ndarray of shape (n_specialists,)
        b, and the proportion of the unlabeled rows that each specialist is awake on.
    unlabeled_weight_ : ndarray of shape (n_games,)
        alpha of each game.
    slack_ : ndarray of shape (n_games,)
        The slack at the weights.
    worst_case_correlation_ : ndarray of shape (n_games,)
        V: the least correlation of the clipped predictions with the labels of the unlabeled rows,
        if all b hold; always at alpha = 1. NaN where the b contradict each other.
    worst_case_error_ : ndarray of shape (n_games,)
        (1 - V) / 2: the largest error of the randomized predictions. `describe` says what it
        assumes.
    n_iter_ : ndarray of shape (n_games,)
        Passes over the unlabeled rows.
    n_labeled_, n_unlabeled_ : int
        Numbers of rows.

    References
    ----------
    .. [1] A. Balsubramani and Y. Freund, "Scalable semi-supervised aggregation of classifiers",
       NIPS 2015.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(3000, random_state=0)
    >>> model = PaperHedgeClipper(confidence_level=0.95, random_state=0)
    >>> model = model.fit(X[:1000], y[:1000], X_unlabeled=X[1000:])
    >>> bool(np.mean(model.predict(X[1000:]) != y[1000:]) <= model.worst_case_error_[0])
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "min_leaf_size": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "filter_leaves": ["boolean"],
        "b_from": [StrOptions({"oob", "bootstrap", "holdout"})],
        "train_size": [Interval(Real, 0, 1, closed="neither")],
        "unlabeled_weight": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "confidence_level": [Interval(Real, 0, 1, closed="neither"), None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_estimators=100,
        *,
        min_leaf_size="auto",
        filter_leaves=False,
        b_from="oob",
        train_size=0.2,
        unlabeled_weight=1.0,
        max_iter=10,
        confidence_level=None,
        n_jobs=None,
        random_state=None,
    ):
        self.n_estimators = n_estimators
        self.min_leaf_size = min_leaf_size
        self.filter_leaves = filter_leaves
        self.b_from = b_from
        self.train_size = train_size
        self.unlabeled_weight = unlabeled_weight
        self.max_iter = max_iter
        self.confidence_level = confidence_level
        self.n_jobs = n_jobs
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, X_unlabeled=None):
        """Grow the forest, estimate b, and minimize the slack.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features), or files
            Rows of numbers.
        y : array-like of shape (n_samples,), or str
            Labels. Rows whose label is missing (None or NaN) are unlabeled, and without
            ``X_unlabeled`` so are those marked by -1. Where X is files, the name of their column
            of labels.
        X_unlabeled : like X, batches or files, optional
            Unlabeled rows. Files (Parquet, CSV) and batches are read again on each pass, and never
            held in memory.

        Returns
        -------
        self
        """
        if is_dask(X_unlabeled):
            raise TypeError(
                "X_unlabeled is read again on each pass. Got a Dask collection: pass its files, or "
                "X_unlabeled.compute()."
            )
        random_state = check_random_state(self.random_state)
        given = self._check_rows(X, y, X_unlabeled, RowReader({}))
        codes = self._store_classes(given.y_labeled, given.y_labeled)
        # step 1: grow the trees
        grown = grow_forest(
            given.X_labeled,
            codes,
            n_estimators=self.n_estimators,
            min_leaf_size=self.min_leaf_size,
            filter_leaves=self.filter_leaves,
            b_from=self.b_from,
            train_size=self.train_size,
            is_for_bounds=self.confidence_level is not None,
            random_state=random_state,
            n_jobs=self.n_jobs,
        )
        rows = LeafRows(grown.trees, given.X_unlabeled, self.n_jobs)
        self.n_labeled_, self.n_unlabeled_ = codes.size, rows.n_rows
        if rows.n_rows == 0:
            raise ValueError(NO_UNLABELED_ROWS)
        # step 2: estimate b on leaves and trees
        alpha = self.unlabeled_weight
        if alpha == "auto":
            alpha = self._choose_alpha(grown, rows, random_state)
        games = self._set_up_games(grown, rows, alpha)
        self._check_any_used(games)
        # step 3: minimize the slack on the unlabeled rows
        solutions = self._minimize(games, rows, random_state)
        self._store(grown, games, solutions)
        self._labels = None
        if is_in_memory(given.X_unlabeled):
            raw = self._predictor.raw_predictions(given.X_unlabeled, self.n_jobs)
            self._labels = self._all_labels(given, self._predictor.predict(raw))
        return self

    def decision_function(self, X):
        """Return the awake predictions [S' sigma] of rows, whose signs are the predictions.

        ``predict_proba`` is (1 + g) / 2, g the awake prediction clipped to [-1, 1]: clipped rows
        have the probabilities 0 and 1, so rank rows by this function.

        Parameters
        ----------
        X : array-like, frame, sparse matrix, batches or files, or a Dask collection
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) with more than two classes
            Positive for the second class of two; of each class against the rest for more.
        """
        return super().decision_function(X)

    def describe(self) -> str:
        """Return the value of the game in words, with what it assumes; one line a game."""
        check_is_fitted(self)
        names = [""]
        if self.classes_.size > 2:
            names = [f"{name} against the rest: " for name in self.classes_]
        pairs = zip(names, self.worst_case_correlation_, strict=True)
        return "\n".join(name + self._describe_value(value) for name, value in pairs)

    def _describe_value(self, value: float) -> str:
        if np.isnan(value):
            return (
                "no bound on the error: the correlations b contradict each other, so that no "
                "labels of the unlabeled rows have all of them"
            )
        text = (
            f"the randomized predictions err on at most {(1 - value) / 2:.1%} of the "
            f"{self.n_unlabeled_:,} unlabeled rows (V = {value:.3f})"
        )
        if self.confidence_level is None:
            return f"{text} if the estimated correlations b hold there exactly: an estimate"
        level = f"{100 * self.confidence_level:g}%"
        return (
            f"{text}, with {level} confidence, if the labeled rows are a simple random sample of "
            "labeled and unlabeled rows"
        )

    def __sklearn_tags__(self):
        """Return scikit-learn's tags."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags

    def _set_up_games(self, grown: GrownForest, rows: LeafRows, alpha: float) -> list[Specialists]:
        """Return the specialists of each game."""
        games, level = self._games(), self.confidence_level
        delta = None if level is None else (1.0 - level) / len(games)
        counts = rows.leaf_counts
        return [set_up_specialists(grown, game, counts, delta, alpha) for game in games]

    def _choose_alpha(
        self, grown: GrownForest, rows: LeafRows, random_state: np.random.RandomState
    ) -> float:
        """Return the alpha whose awake predictions separate the classes of labeled rows most.

        The rows are those of one half, b being estimated on the other one. They are predicted by
        the trees that they were not used to grow.
        """
        codes = grown.codes
        half = random_state.permutation(codes.size) % 2 == 0
        tried = [(tested, alpha) for tested in (half, ~half) for alpha in ALPHAS]
        games = [self._set_up_games(grown.without(tested), rows, alpha) for tested, alpha in tried]
        solutions = iter(self._minimize(list(chain(*games)), rows, random_state))
        found = dict.fromkeys(ALPHAS, 0.0)
        for (tested, alpha), tried_games in zip(tried, games, strict=True):
            for game, own in zip(self._games(), tried_games, strict=True):
                scores = own.leaf_scores(next(solutions).sigma)
                m = grown.unseen_predictions(scores)[tested]
                found[alpha] += separation(m, codes[tested] == game)
        return max(ALPHAS, key=found.__getitem__)

    def _check_any_used(self, games: list[Specialists]) -> None:
        """Warn if a game has nothing to weigh; raise if that is so since bounds prove nothing."""
        if all(own.is_used.any() for own in games):
            return
        text = "The labels show a positive correlation b of no leaf and no tree"
        if self.confidence_level is not None:
            raise ValueError(
                f"{text}, with confidence_level={self.confidence_level}: there is nothing to "
                "weigh. Label more rows, or leave confidence_level out."
            )
        warn_user(f"{text}: all weights are 0. Label more rows.", UserWarning)

    def _minimize(
        self, games: list[Specialists], rows: LeafRows, random_state: np.random.RandomState
    ) -> list[SlackSolution]:
        rng = np.random.default_rng(random_state.randint(MAX_SEED))
        return minimize_by_sgd(games, rows, n_passes=self.max_iter, rng=rng)

    def _store(
        self, grown: GrownForest, games: list[Specialists], solutions: list[SlackSolution]
    ) -> None:
        """Store what predicts new rows, and the results of the games."""
        self.forest_ = grown.forest
        self.weights_ = [found.sigma for found in solutions]
        self.label_correlations_ = [np.where(own.is_used, own.b, np.nan) for own in games]
        self.coverage_ = [own.coverage for own in games]
        self.unlabeled_weight_ = np.array([own.alpha for own in games])
        scores = [own.leaf_scores(sigma) for own, sigma in zip(games, self.weights_, strict=True)]
        self._predictor = AwakePredictor(grown.trees, scores, self.classes_)
        self.slack_ = np.array([found.slack for found in solutions])
        self.n_iter_ = np.full(len(games), self.max_iter)
        contradictions = [found.contradiction for found in solutions]
        V = [found.value for found in solutions]
        self.worst_case_correlation_ = np.where([one is None for one in contradictions], V, np.nan)
        self.worst_case_error_ = (1.0 - self.worst_case_correlation_) / 2.0
        if any(contradictions):
            warn_user(
                f"{next(filter(None, contradictions))} worst_case_error_ is NaN.",
                ContradictoryCorrelationsWarning,
            )


class AwakePredictor(TablePredictor):
    """Predicts rows by the sum of the scores of their leaves: the awake prediction.

    Its ``scorer`` are the trees, and its ``votes`` the scores of all leaves, one array a game.
    """

    scorer: PackedTrees

    def raw_predictions(self, X: Any, n_jobs: int | None) -> np.ndarray:
        """Return awake predictions of shape (n_samples, n_games)."""
        offsets, raw = self.scorer.offsets, [self.no_rows]
        for leaves in LeafRows(self.scorer, X, n_jobs).blocks():
            parts = [awake_predictions(leaves, offsets, own) for own in self.votes]
            raw.append(np.column_stack(parts))
        return np.concatenate(raw)

    def probabilities(self, raw: np.ndarray) -> np.ndarray:
        """Return (1 + g) / 2, g the clipped awake prediction; of many games over their sum."""
        positive = (1.0 + np.clip(raw, -1.0, 1.0)) / 2.0
        if raw.shape[1] == 1:
            return np.column_stack([1.0 - positive, positive])
        total = positive.sum(axis=1, keepdims=True)
        equal = np.full_like(positive, 1.0 / raw.shape[1])
        return np.divide(positive, total, out=equal, where=total > 0)


def separation(m: np.ndarray, is_positive: np.ndarray) -> float:
    """Return how far apart the two classes are, in their mean standard deviation; 0 if unknown."""
    known = ~np.isnan(m)
    parts = m[known & is_positive], m[known & ~is_positive]
    if min(part.size for part in parts) < 2:
        return 0.0
    spread = np.sqrt((parts[0].var() + parts[1].var()) / 2.0)
    return float((parts[0].mean() - parts[1].mean()) / spread) if spread > 0 else 0.0
