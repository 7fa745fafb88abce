"""HedgeClipperClassifier: groups of trees, weighed by few labels and many unlabeled rows."""

from __future__ import annotations

from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.stats import rankdata
from sklearn.utils import check_random_state, get_tags
from threadpoolctl import threadpool_limits

from hedgeclipper.base.columns import needs_encoding
from hedgeclipper.base.inspection import store_games
from hedgeclipper.base.semi_supervised import BatchCheck, HeldOutRows, SemiSupervisedRows
from hedgeclipper.base.semi_supervised_classifier import SemiSupervisedClassifier
from hedgeclipper.base.weighing import Aggregate, panel_scores, summarize
from hedgeclipper.bounds.checked_rule import USED_LABELS, why_no_guarantee
from hedgeclipper.forest.forest_inspection import ForestInspectionMixin
from hedgeclipper.forest.groups import GroupPredictor, ScoredGroups, score_groups, weigh_groups
from hedgeclipper.forest.growing import SHIFT_THRESHOLD, check_shift, draw_some, grow_forest
from hedgeclipper.forest.unlabeled import UnlabeledScores, score_unlabeled
from hedgeclipper.io import split_target
from hedgeclipper.io.arrays import MAX_SEED
from hedgeclipper.sklearn_private import HasMethods, Interval, StrOptions


class HedgeClipperClassifier(ForestInspectionMixin, SemiSupervisedClassifier):
    """Semi-supervised forest on the original columns and on components learned from all rows.

    A random forest is grown on the labeled rows as they are. Extra trees look at components of all
    rows, labeled and unlabeled, alone and beside the columns. Leaves are shrunk toward the nodes
    above them, which takes the place of a smallest leaf size [2]_. A zero-sum game against an
    adversary who picks the labels [1]_ weighs these three groups of trees: labeled rows that a tree
    was not grown from tell how good its group is.

    Parameters
    ----------
    estimator : estimator or None, default=None
        A tree ensemble: random forest, extra trees, bagged trees or gradient boosting of
        scikit-learn, LightGBM or XGBoost. None is a random forest and extra trees. A fitted one is
        used as it is; the labeled rows given to ``fit`` then only score its trees and must be new
        to it. (A clone is not fitted: wrap it in ``sklearn.frozen.FrozenEstimator`` for a grid
        search.) Rows are passed to it as float32.
    n_estimators : int, default=600
        Number of trees in all: half of them in the random forest, the others in equal parts in the
        groups of extra trees; not used with another ``estimator``. More trees are a little more
        accurate and take longer.
    views : "auto", transformer, sequence of transformers or None, default="auto"
        What the trees look at beside the columns as they are. "auto" is `Components` (30 leading
        components of all rows) for the default ensembles, if there are at least three columns, and
        nothing for another ``estimator``. A transformer of scikit-learn is fitted to labeled and up
        to 20,000 unlabeled rows, without labels. There are extra trees on each view, and on columns
        and views together; another ``estimator`` is fitted to the columns and to each view. With
        None extra trees look at the columns.
    shrinkage : "auto", float or None, default="auto"
        How strongly leaves are shrunk toward the nodes above them: in a node with this many rows
        the difference between a child and the node is halved. "auto" is chosen for each group of
        trees by out-of-bag log loss, and 0 is none. None grows the paper's forest instead: a random
        forest without extra trees, whose leaves have at least 10 rows (4 with fewer than 1,000
        labels). XGBoost's nodes have sums of hessians in place of numbers of rows.
    holdout : float or None, default=None
        Fraction of the labels to hold out; only with a ``confidence_level``. None is half of them,
        at most 2,000.
    confidence_level : float or None, default=None
        A number such as 0.95 asks for a guarantee: some labels are held out, have no part in the
        fit, and test its predictions. The bound on the error holds with this probability, if the
        labeled rows are a simple random sample of all rows and have no weights. If None, no labels
        are held out, and the error is an estimate.
    loss : {"square", "zero_one", "log"}, default="square"
        Loss that the game minimizes in the worst case. The paper's is "zero_one".
    tol : float, default=1e-3
        Relative duality gap at which the solver stops.
    class_weight : "balanced", dict, matrix of shape (n_classes, n_classes) or None, default=None
        What errors cost, for ``predict`` alone: it returns the class of lowest expected cost, by
        the same calibrated probabilities. "balanced" weighs errors on rows of a class by one over
        its frequency among the labels, so that rare classes are found; a dictionary has a weight
        for each class (1 for others); a matrix has the cost of predicting the class of the column
        for a row of the class of the row, in the order of ``classes_``. If None, all errors cost
        the same, or what the ``loss`` says.
    n_jobs : int or None, default=None
        Threads for growing, finding leaves and predicting; None is 1 and -1 all cores.
    random_state : int, RandomState or None, default=None
        Seed; pass an int for the same result in every fit.
    verbose : int, default=0
        1 shows the rows or partitions that are done.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    estimators_ : dict of str to estimator
        The fitted ensembles, by the names of the groups.
    shrinkage_ : ndarray of shape (n_groups,)
        Strength of the shrinkage of each group.
    weights_ : ndarray of shape (n_games, n_groups)
        Weight (theta) of each group: there is one game for two classes, or one for each class
        against the rest.
    label_correlations_ : ndarray of shape (n_games, n_groups)
        Correlation of each group with the labels (b), in which both classes have equal weight.
    hedged_range_ : ndarray of shape (n_games, 2)
        Awake predictions between these are hedged, others are clipped. With two classes these are
        values of ``decision_function``.
    slack_, duality_gap_, n_iter_, stop_reason_ : ndarray of shape (n_games,)
        Slack and duality gap that the solver reached, number of passes, and why it stopped.
    certificate_ : Certificate
        The error of ``predict`` on the unlabeled rows, with bounds: a guarantee from held-out
        labels, or an estimate from labeled rows that trees have not seen.
    never_predicted_ : dict
        Classes that no unlabeled row (of a sample, of files) is predicted to be of, though at least
        ten are expected to be, and their numbers of labels.
    n_labeled_, n_unlabeled_ : int
        Number of labeled and of unlabeled rows.
    shift_score_ : float
        How much the unlabeled rows differ from the labeled ones in how they fall into leaves: a
        chi-square statistic in standard deviations from its mean under no shift. Values up to 3
        are usual, above 8 there is a `ShiftWarning`.

    References
    ----------
    .. [1] A. Balsubramani and Y. Freund, "Scalable semi-supervised aggregation of classifiers",
       NIPS 2015.
    .. [2] A. Agarwal, Y. S. Tan, O. Ronen, C. Singh and B. Yu, "Hierarchical shrinkage: improving
       the accuracy and interpretability of tree-based methods", ICML 2022.

    Examples
    --------
    >>> from hedgeclipper.datasets import load_adult
    >>> X, y = load_adult(return_X_y=True)
    >>> labeled, unlabeled = slice(0, 300), slice(300, 3000)
    >>> model = HedgeClipperClassifier(random_state=0)
    >>> model = model.fit(X[labeled], y[labeled], X_unlabeled=X[unlabeled])
    >>> round(model.score(X[3000:], y[3000:]), 2)
    0.82
    """

    _parameter_constraints: ClassVar[dict] = {
        "estimator": "no_validation",
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "views": [StrOptions({"auto"}), HasMethods(["fit", "transform"]), list, tuple, None],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left"), None],
        "holdout": [Interval(Real, 0, 1, closed="neither"), None],
        "confidence_level": [Interval(Real, 0, 1, closed="neither"), None],
        "loss": [StrOptions({"square", "zero_one", "log"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [StrOptions({"balanced"}), dict, "array-like", None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator=None,
        *,
        n_estimators=600,
        views="auto",
        shrinkage="auto",
        holdout=None,
        confidence_level=None,
        loss="square",
        tol=1e-3,
        class_weight=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.views = views
        self.shrinkage = shrinkage
        self.holdout = holdout
        self.confidence_level = confidence_level
        self.loss = loss
        self.tol = tol
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y, X_unlabeled=None, sample_weight=None):
        """Grow trees on the labeled rows and weigh them, with the help of the unlabeled ones.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features), or files
            Rows. Columns of frames may also hold strings, categories, booleans and dates.
        y : array-like of shape (n_samples,), or str
            Labels: numbers, strings or booleans. Rows whose label is missing (None, NaN, NaT or
            ``pandas.NA``) are unlabeled, and without ``X_unlabeled`` so are those marked by -1.
            Where X is a frame or files, the name of their column of labels.
        X_unlabeled : like X, batches or files, or a Dask collection, optional
            Unlabeled rows; -1 in y is then a class, also if X_unlabeled is empty. Columns of frames
            and files are matched by name, whatever their order. Batches may be any object that can
            be iterated over again, or a function that returns a fresh iterable. Files are Parquet,
            Arrow, CSV (in batches) or LibSVM (as a whole): a path, a folder, a glob or a list.
            ``hedgeclipper.io.as_source(files, columns=[...])`` in place of files picks columns. In
            a pipeline, pass it with the name of the step, as ``model__X_unlabeled``; steps before
            do not transform it.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the labeled rows.

        Returns
        -------
        self
        """
        for name in ("_predictor", "_gain", "_importances"):  # of an earlier fit
            self.__dict__.pop(name, None)
        self._validate_params()
        X, y = split_target(X, y)
        self._keeps_frames = needs_encoding(X)
        given = self._check_rows(X, y, X_unlabeled, sample_weight)
        rows, prepare = self._encode_columns(given.without_weightless())
        random_state = check_random_state(self.random_state)
        rows, held = self._hold_out_labels(rows, random_state)
        codes = self._store_classes(rows.y_labeled)
        some = draw_some(self, rows, random_state)
        self._grown_from = replace(rows, X_unlabeled=rows.X_labeled), codes, deepcopy(random_state)
        grown = grow_forest(self, rows, codes, some, random_state)
        self.shift_score_ = check_shift(grown, some, self.n_jobs)
        groups = score_groups(grown, codes, rows.weight_labeled, self._games(), self.shrinkage)
        self.estimators_, self.shrinkage_, self._groups = grown.models, groups.strengths, groups
        seed = random_state.randint(MAX_SEED)
        unlabeled = score_unlabeled(self, groups.scorer, rows.X_unlabeled, seed)
        sample = unlabeled.sample
        if not rows.has_unlabeled:  # labeled rows are reused
            sample = groups.reused(unlabeled.first(codes.size)[0])
        self._store(self._weigh(groups, sample.astype(float)), prepare)
        self._store_rule(given, held, codes, unlabeled)
        return self

    def __sklearn_tags__(self):
        """Return scikit-learn's tags."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        if self.estimator is not None:
            with suppress(AttributeError, TypeError):
                tags.input_tags.allow_nan = bool(get_tags(self.estimator).input_tags.allow_nan)
        return tags

    @threadpool_limits.wrap(limits=1, user_api="blas")
    def _weigh(self, groups: ScoredGroups, unlabeled: np.ndarray) -> list[Aggregate]:
        """Return the solved games of all classes, given scores of rows to solve them on."""
        scores = panel_scores(
            groups.out_of_bag, unlabeled, groups.codes, groups.weights, groups.games
        )
        prior, options = groups.scorer.prior_weights, {"loss": self.loss, "tol": self.tol}
        found = [weigh_groups(own, prior, **options) for own in scores]
        pairs = zip(scores, found, strict=True)
        self._summaries = [summarize(groups.names, *pair) for pair in pairs]
        return found

    def _store(self, found: list[Aggregate], prepare: BatchCheck | None) -> None:
        """Store what predicts new rows, and the results of the games."""
        self._predictor = GroupPredictor(
            self._groups.scorer,
            games=[one.game for one in found],
            prepare=prepare,
            costs=self._costs,
        )
        games = [one.solution.game for one in found]
        ranges = np.array([one.game.hedged_range(games[0].loss) for one in found])
        store_games(self, games, ranges - self._predictor.threshold)
        self.weights_ = np.array([one.solution.weights for one in found])
        self.label_correlations_ = np.array([one.solution.label_correlations for one in found])

    def _store_rule(
        self,
        given: SemiSupervisedRows,
        held: HeldOutRows | None,
        codes: np.ndarray,
        unlabeled: UnlabeledScores,
    ) -> None:
        """Store labels of all rows where these are in memory, and what labels tell of them.

        ``codes`` are the classes of the rows that trees were grown on, ``held`` the others, which
        come after the unlabeled rows.
        """
        predictor, n_held = self._predictor, 0 if held is None else held.y.size
        self.n_labeled_ = codes.size + n_held
        self.n_unlabeled_ = unlabeled.n_rows - (n_held if given.has_unlabeled else 0)
        scores, positions = unlabeled.first(self.n_unlabeled_)
        raw, self._labels = predictor.raw_of(scores), None
        if positions is None:
            self._labels = self._all_labels(given, self._classes_of(raw))
        raw = raw if given.has_unlabeled else raw[:0]
        known: dict[str, Any] = {"n_unlabeled": self.n_unlabeled_ if given.has_unlabeled else 0}
        if held is None:
            tested_rows, tested = self._predict_out_of_bag(codes)
            labels, known["caveat"] = self.classes_[codes[tested_rows]], USED_LABELS
            if raw.size and tested.size:
                # fewer trees predict on another scale than all: take the values of the same ranks
                ranks = (rankdata(tested, axis=0) - 0.5) / tested_rows.size
                pairs = zip(raw.T, ranks.T, strict=True)
                known["scaled"] = np.column_stack([np.quantile(own, rank) for own, rank in pairs])
        else:
            labels = held.y
            tested = replace(predictor, prepare=None).raw_predictions(held.X, self.n_jobs)
            is_weighted = given.weight_labeled is not None
            known["caveat"] = why_no_guarantee(is_weighted, self.shift_score_ > SHIFT_THRESHOLD)
        self._store_check(given.y_labeled, labels, tested, raw, positions=positions, **known)

    def _predict_out_of_bag(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers of labeled rows, and raw predictions of these by trees without them."""
        scores = self._groups.out_of_bag
        rows = np.flatnonzero(~np.isnan(scores).any(axis=(1, 2)))
        if np.unique(codes[rows]).size < self.classes_.size:
            rows = rows[:0]  # errors on some of the classes would tell nothing of all rows
        return rows, self._predictor.raw_of(scores[rows])
