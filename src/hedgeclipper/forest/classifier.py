"""HedgeClipperClassifier: the paper's algorithm on forests and boosters."""

from __future__ import annotations

from contextlib import closing, suppress
from copy import copy, deepcopy
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.base.columns import needs_encoding
from hedgeclipper.base.inspection import store_games
from hedgeclipper.base.semi_supervised import BatchCheck, HeldOutRows, SemiSupervisedRows
from hedgeclipper.base.semi_supervised_classifier import SemiSupervisedClassifier
from hedgeclipper.bounds.checked_rule import ADDED_ROWS, USED_LABELS, why_no_guarantee
from hedgeclipper.forest.forest_inspection import ForestInspectionMixin
from hedgeclipper.forest.groups import GroupStream, score_groups, sum_of_doubts
from hedgeclipper.forest.growing import SHIFT_THRESHOLD, check_shift, draw_some, grow_forest
from hedgeclipper.forest.leaf_game import LeafGame, LeafGameOptions, LeafStream, leaf_evidence
from hedgeclipper.forest.leaf_rows import LeafRows, LeafStorage, Reservoir, find_unlabeled
from hedgeclipper.io import is_in_memory, split_target
from hedgeclipper.io.arrays import MAX_SEED
from hedgeclipper.io.progress import warn_user
from hedgeclipper.sklearn_private import HasMethods, Interval, StrOptions


class HedgeClipperClassifier(ForestInspectionMixin, SemiSupervisedClassifier):
    """Semi-supervised forest on the original columns and on components learned from all rows.

    A random forest is grown on the labeled rows as they are. Extra trees look at components of all
    rows, labeled and unlabeled, alone and beside the columns. Leaves are shrunk toward the nodes
    above them, which takes the place of a smallest leaf size [2]_. A zero-sum game against an
    adversary who picks the labels [1]_ weighs these three groups of trees: labeled rows that a tree
    was not grown from tell how good its group is. With ``game=LeafGame()`` every leaf is a
    specialist with its own weight instead, as in the paper.

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
    game : LeafGame or None, default=None
        The paper's game of leaves or trees, with settings of its own. If None, the game
        weighs groups of trees, which is faster.
    storage : LeafStorage or None, default=None
        Where to store scores of the unlabeled rows, or leaf numbers for a `LeafGame`. None has the
        defaults of `LeafStorage`.
    n_jobs : int or None, default=None
        Threads for growing, finding leaves and predicting; None is 1 and -1 all cores.
    random_state : int, RandomState or None, default=None
        Seed; pass an int for the same result in every fit.
    verbose : int, default=0
        1 shows the rows or partitions that are done, then passes of a `LeafGame` and time left.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    estimators_ : dict of str to estimator
        The fitted ensembles, by the names of the groups.
    shrinkage_ : ndarray of shape (n_groups,)
        Strength of the shrinkage of each group.
    specialist_weights_ : list of ndarray of shape (n_specialists,)
        Weights (theta) in each game, of groups or of what the `LeafGame` names: there is one game
        for two classes, or one for each class against the rest.
    label_correlations_, coverage_ : list of ndarray of shape (n_specialists,)
        Correlation with the labels (b) of each specialist, and proportion of the unlabeled rows on
        which it is awake, in each game. Of groups both classes weigh the same in b.
    n_specialists_ : ndarray of shape (n_games,)
        Number of specialists in each game.
    unlabeled_weight_ : ndarray of shape (n_games,)
        Weight of the unlabeled rows (alpha) in each game.
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
        "game": [LeafGame, None],
        "storage": [LeafStorage, None],
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
        game=None,
        storage=None,
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
        self.game = game
        self.storage = storage
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def as_in_paper(cls, **parameters: Any) -> HedgeClipperClassifier:
        """Return the classifier with the settings of the paper, changed by those given.

        These are a forest of 100 trees alone, plug-in out-of-bag correlations of its leaves,
        zero-one loss, alpha = 1, neither cap nor ridge, and a few passes of stochastic gradient
        steps, whose early stop keeps the weights finite. Of a Dask collection every such pass
        fetches all leaf numbers; ``method="batch"`` does not.

        Parameters
        ----------
        **parameters : dict
            Parameters of the classifier and, unless ``game`` is one of them, of `LeafGame`.
        """
        game = LeafGame(unlabeled_weight=1.0, cap=None, ridge=0.0, method="sgd")
        of_game = game.get_params().keys() & parameters.keys()
        if of_game and "game" in parameters:
            raise ValueError(f"Set {sorted(of_game)} in the LeafGame that is passed as game.")
        game.set_params(**{name: parameters.pop(name) for name in of_game})
        paper = {"n_estimators": 100, "views": None, "shrinkage": None, "loss": "zero_one"}
        return cls(**{**paper, "tol": 1e-2, "game": game, **parameters})

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
            Arrow, CSV or LibSVM: a path, a folder, a glob or a list, read in batches on each pass.
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
        storage = self._check_settings(X_unlabeled)
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
        seed = random_state.randint(MAX_SEED)
        stream: GroupStream | LeafStream
        if self.game is None:
            reservoir = Reservoir(np.random.default_rng(seed))
            stream = GroupStream(groups, {"loss": self.loss, "tol": self.tol}, reservoir)
        else:
            stream = LeafStream(leaf_evidence(grown, groups, LeafGameOptions.of(self, seed)))
        with closing(find_unlabeled(self, stream.finder, rows.X_unlabeled, storage)) as kept:
            drawn = stream.reservoir.draw(kept) if given.has_unlabeled else None
            self._play(stream, kept, prepare)
            self.estimators_, self.shrinkage_ = grown.models, groups.strengths
            self._store_rule(given, held, codes, kept, drawn)
        return self

    def partial_fit(self, X_unlabeled, y=None, classes=None):
        """Add more unlabeled rows, for streams that never end.

        The trees, their views and the labels stay as they are. The game is played again on a random
        sample of 50,000 of all unlabeled rows so far, so that neither time nor memory grows.
        ``certificate_`` is then an estimate.

        Parameters
        ----------
        X_unlabeled : array-like, frame, sparse matrix, batches or files
            New rows; they are read once and not kept, so that batches may come from an iterator.
        y : array-like of shape (n_samples,), optional
            Labels, for a first call without a ``fit`` before: that is then ``fit(X_unlabeled, y)``.
            Later ones are not used.
        classes : array-like, optional
            Not used; here because scikit-learn's callers pass it.

        Returns
        -------
        self
        """
        if y is not None and not hasattr(self, "_predictor"):
            return self.fit(X_unlabeled, y)
        check_is_fitted(self)
        finder, prepare = self._stream.finder, self._predictor.prepare
        instead = "pass X.partitions[0].compute() and so on, one after the other"
        batches = self._batches(X_unlabeled, "X_unlabeled", instead)
        if y is not None:
            warn_user(
                "partial_fit does not use labels, since the trees are grown already: these rows "
                "count as unlabeled. Call fit with all labeled rows to use them.",
                UserWarning,
            )
        rows = batches if prepare is None else map(prepare, batches)
        stream, before = copy(self._stream), self._stream.reservoir
        stream.reservoir = before.grown(finder.find(batch, self.n_jobs) for batch in rows)
        kept = stream.reservoir.leaves
        self._play(stream, kept, prepare)
        self.n_unlabeled_ = self._checked.n_unlabeled + stream.reservoir.n_seen - before.n_seen
        raw = self._predictor.raw_in(kept, self.n_jobs)
        more = self._predictor.doubts(raw), self.n_unlabeled_, ADDED_ROWS
        self._checked = self._checked.with_rows(*more)
        self.certificate_ = self._checked.certificate(self.confidence_level)
        self._store_never_predicted(raw)
        return self

    def for_prediction(self) -> HedgeClipperClassifier:
        """Return a light copy that only predicts, in one thread: it has no rows and no labels."""
        return self._fill_in(clone(self).set_params(estimator=None, n_jobs=1))

    def __sklearn_tags__(self):
        """Return scikit-learn's tags."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        if self.estimator is not None:
            with suppress(AttributeError, TypeError):
                tags.input_tags.allow_nan = bool(get_tags(self.estimator).input_tags.allow_nan)
        return tags

    def _check_settings(self, X_unlabeled: Any) -> LeafStorage:
        """Return the settings of the storage; raise if some are wrong, or do not apply."""
        self._validate_params()
        if self.game is not None:
            self.game._validate_params()
        return (LeafStorage() if self.storage is None else self.storage).checked_for(X_unlabeled)

    def _store_rule(
        self,
        given: SemiSupervisedRows,
        held: HeldOutRows | None,
        codes: np.ndarray,
        kept: LeafRows,
        drawn: np.ndarray | None,
    ) -> None:
        """Store labels of all rows where these are in memory, and what labels tell of them.

        ``codes`` are the classes of the rows that trees were grown on, ``held`` the others, which
        come after the unlabeled rows in ``kept``. ``drawn`` are the positions of the rows in the
        reservoir.
        """
        n_held = 0 if held is None else held.y.size
        self.n_labeled_ = codes.size + n_held
        self.n_unlabeled_ = kept.n_samples - (n_held if given.has_unlabeled else 0)
        predictor, in_memory = self._predictor, is_in_memory(given.X_unlabeled)
        some, n_some = kept, self.n_unlabeled_
        if not in_memory:
            assert drawn is not None
            some, n_some = self._stream.reservoir.leaves, int(np.searchsorted(drawn, n_some))
        raw = predictor.raw_in(some, self.n_jobs)[:n_some]
        unlabeled = raw if given.has_unlabeled else raw[:0]
        if held is None:
            labels, tested, known = self._test_out_of_bag(codes, some, unlabeled)
        else:
            labels = held.y
            tested = replace(predictor, prepare=None).raw_predictions(held.X, self.n_jobs)
            is_weighted = given.weight_labeled is not None
            known = {"caveat": why_no_guarantee(is_weighted, self.shift_score_ > SHIFT_THRESHOLD)}
        known["n_unlabeled"] = self.n_unlabeled_ if given.has_unlabeled else 0
        if in_memory:
            self._labels = self._all_labels(given, self._classes_of(raw))
        else:
            doubts = partial(sum_of_doubts, predictor=replace(predictor, prepare=None))
            total = float(kept.sum_blocks(doubts, np.asarray, self.n_jobs)[0])
            total -= 0.0 if held is None else float(predictor.doubts(tested).sum())
            known["mean_of_all"] = total / self.n_unlabeled_
        self._store_check(given.y_labeled, labels, tested, unlabeled, **known)

    def _test_out_of_bag(
        self, codes: np.ndarray, some: LeafRows, unlabeled: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
        """Return labels, predictions by trees grown without them, and fields of `CheckedRule`."""
        found = self._stream.out_of_bag(self._predictor, some, self.n_jobs)
        if np.unique(codes[found.rows]).size < self.classes_.size:
            # errors on some of the classes would tell nothing of all rows
            found = replace(found, rows=found.rows[:0], raw=found.raw[:0])
        known: dict[str, Any] = {"caveat": USED_LABELS}
        if unlabeled.size and found.rows.size:
            # fewer trees predict on another scale than all: take the values of the same ranks
            ranks = (rankdata(found.raw, axis=0) - 0.5) / found.rows.size
            pairs = zip(unlabeled.T, ranks.T, strict=True)
            scaled = np.column_stack([np.quantile(own, rank) for own, rank in pairs])
            known |= {"mean_doubt": found.mean_doubt, "scaled": scaled}
        return self.classes_[codes[found.rows]], found.raw, known

    def _play(
        self,
        stream: GroupStream | LeafStream,
        kept: LeafRows,
        prepare: BatchCheck | None,
    ) -> None:
        """Solve all games and store their results."""
        played = stream.play(kept, prepare)
        self._predictor = replace(played.predictor, costs=self._costs)
        self._stream, self._labels = stream, None
        hedged_ranges = np.array(played.hedged_ranges) - self._predictor.threshold
        store_games(self, played.games, hedged_ranges)
        self.unlabeled_weight_ = np.array([game.unlabeled_weight for game in played.games])
        self.specialist_weights_ = played.weights
        self.n_specialists_ = np.array([weights.size for weights in played.weights])
        self.label_correlations_, self.coverage_ = played.label_correlations, played.coverage
