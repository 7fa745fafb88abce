"""HedgeClipperClassifier: the paper's algorithm on forests and boosters."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils import check_random_state, get_tags
from sklearn.utils._param_validation import Interval, StrOptions

from hedgeclipper.base.columns import needs_encoding
from hedgeclipper.base.estimator import SemiSupervisedClassifier
from hedgeclipper.base.inspection import Inspection, store_games
from hedgeclipper.base.semi_supervised import (
    BatchCheck,
    RowBatches,
    RowSlices,
    SemiSupervisedRows,
    is_dask,
    warn_user,
)
from hedgeclipper.forest import leaf_game
from hedgeclipper.forest.growing import HOLDOUT, MAX_SEED, GrownTrees, default_forest, grow_trees
from hedgeclipper.forest.leaf_correlations import SHIFT_THRESHOLD, check_shift
from hedgeclipper.forest.leaf_game import LeafGame, LeafSolution, LeafStream
from hedgeclipper.forest.leaf_rows import LeafRows, LeafStorage, keep_leaves
from hedgeclipper.forest.leaves import (
    KINDS,
    LeafPredictor,
    count_in_leaves,
    describe_leaves,
    leaf_table,
    leaf_voters,
)
from hedgeclipper.forest.trees import LeafFinder
from hedgeclipper.game.losses import BinaryLoss, resolve_loss
from hedgeclipper.game.solution import PassRecord, PassView
from hedgeclipper.io.progress import pass_reporter, row_reporter


class HedgeClipperClassifier(SemiSupervisedClassifier):
    """Semi-supervised classifier that reweights the leaves of a forest by unlabeled rows.

    Trees are grown on the labeled rows. Every leaf becomes a specialist, awake on the rows that
    fall into it. Labeled rows that a tree was not grown from tell how good its leaves are,
    unlabeled rows where leaves of different trees overlap, and a zero-sum game against an adversary
    who picks the labels gives each leaf its weight [1]_.

    Parameters
    ----------
    estimator : estimator or None, default=None
        A tree ensemble: random forest, extra trees, bagged trees or gradient boosting of
        scikit-learn, LightGBM or XGBoost. None is a random forest. A fitted one is used as it is;
        the labeled rows given to ``fit`` then only score its trees and must be new to it. (A clone
        is not fitted: wrap it in ``sklearn.frozen.FrozenEstimator`` for a grid search.) Rows are
        passed to it as float32.
    n_estimators : int, default=100
        Number of trees of the default forest; not used with another ``estimator``.
    specialists : {"leaves", "nodes", "trees"} or sequence of these, default="leaves"
        What gets weights in the game: every leaf, every node below the roots (leaves included), or
        every tree. "trees" has the fewest weights, for very few labels.
    holdout : float or None, default=None
        Proportion of the labels that no tree is grown from and on which all trees are scored. None:
        each tree is scored on its out-of-bag rows; with a ``confidence_level``, or an ensemble that
        draws no bootstrap sample, None is a half.
    bound : {"shrunk", "plug_in", "wilson"}, default="shrunk"
        How the correlation of a specialist with the labels (b) is estimated. "shrunk": the forest's
        mean vote where the specialist is awake, plus the mean error of that vote on labeled rows,
        shrunk towards 0, with both classes weighted alike. "plug_in": the mean over unseen labeled
        rows, as in the paper. "wilson": Wilson's lower bound on that mean at 95 %. With the last
        two, specialists without a positive correlation are dropped.
    confidence_level : float or None, default=None
        A number such as 0.95 asks for a guarantee: labels are held out, and in place of ``bound``
        the game uses lower bounds that hold for all specialists together, on these unlabeled rows,
        with this probability. Without sample weights, and with unlabeled rows that are not among
        the labeled ones, the certificate is then a guarantee.
    loss : {"square", "zero_one", "log"} or Loss, default="square"
        Loss that the game minimizes in the worst case. The paper's is "zero_one"; "square" and
        "log" give probabilities that are better calibrated.
    tol : float, default=1e-2
        Relative duality gap at which the solver stops.
    max_iter : int, default=100
        Largest number of passes over the unlabeled rows.
    game : LeafGame or None, default=None
        How the game is set up and solved; None has the defaults of `LeafGame`.
    storage : LeafStorage or None, default=None
        Where leaf numbers of the unlabeled rows are kept; None has the defaults of `LeafStorage`.
    n_jobs : int or None, default=None
        Threads for growing, finding leaves and predicting; None is 1 and -1 all cores.
    random_state : int, RandomState or None, default=None
        Seed; pass an int for the same result in every fit.
    verbose : int, default=0
        1 shows on standard error the rows or partitions that are done, then passes, slack, gap and
        time left.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    estimator_ : estimator
        The fitted ensemble.
    specialist_weights_ : list of ndarray of shape (n_specialists,)
        Weights (theta) in each game: there is one for two classes, or one for each class against
        the rest.
    label_correlations_, coverage_ : list of ndarray of shape (n_specialists,)
        Correlation with the labels (b) of each specialist, and proportion of the unlabeled rows on
        which it is awake, in each game.
    n_specialists_ : ndarray of shape (n_games,)
        Number of specialists in each game.
    unlabeled_weight_ : ndarray of shape (n_games,)
        Weight of the unlabeled rows (alpha) in each game.
    hedged_range_ : ndarray of shape (n_games, 2)
        Awake predictions between these are hedged, others are clipped. With two classes these are
        values of ``decision_function``.
    slack_, duality_gap_, n_iter_, stop_reason_ : ndarray of shape (n_games,)
        Slack and duality gap that the solver reached, number of passes, and why it stopped.
    history_ : list of tuple of PassRecord
        Both sides of each game after each full pass; see `ConvergenceDisplay`.
    certificate_ : Certificate or list of these
        Bound on the error of ``predict`` on the unlabeled rows, from the correlations of the whole
        trees, and whether it is a guarantee or an estimate. For more than two classes there is one
        per class, each by itself, on the error of telling it from the rest by the sign of its awake
        prediction.
    worst_case_error_ : float or list
        Its upper bound.
    n_labeled_, n_unlabeled_ : int
        Number of labeled and of unlabeled rows.
    shift_score_ : float
        How much the distribution of the unlabeled rows over the leaves differs from that of the
        labeled rows: a chi-square statistic in standard deviations from its mean under no shift.
        Values up to 3 are usual, above 8 there is a `ShiftWarning`.

    References
    ----------
    .. [1] A. Balsubramani and Y. Freund, "Scalable semi-supervised aggregation of classifiers",
       NIPS 2015.

    Examples
    --------
    >>> from hedgeclipper.datasets import fetch_a1a
    >>> X, y = fetch_a1a(return_X_y=True)
    >>> labeled, unlabeled = slice(0, 300), slice(300, 3000)
    >>> model = HedgeClipperClassifier(random_state=0)
    >>> model.fit(X[labeled], y[labeled], X_unlabeled=X[unlabeled]).score(X[3000:], y[3000:]) > 0.8
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        "estimator": "no_validation",
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "specialists": [StrOptions(set(KINDS)), list, tuple],
        "holdout": [Interval(Real, 0, 1, closed="neither"), None],
        "bound": [StrOptions({"shrunk", "plug_in", "wilson"})],
        "confidence_level": [Interval(Real, 0, 1, closed="neither"), None],
        "loss": [StrOptions({"square", "zero_one", "log"}), BinaryLoss],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
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
        n_estimators=100,
        specialists="leaves",
        holdout=None,
        bound="shrunk",
        confidence_level=None,
        loss="square",
        tol=1e-2,
        max_iter=100,
        game=None,
        storage=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.specialists = specialists
        self.holdout = holdout
        self.bound = bound
        self.confidence_level = confidence_level
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.game = game
        self.storage = storage
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def as_in_paper(cls, **parameters: Any) -> HedgeClipperClassifier:
        """Return the classifier with the settings of the paper, changed by those given.

        These are plug-in out-of-bag correlations, zero-one loss, alpha = 1, neither cap nor ridge,
        and a few passes of stochastic gradient steps, whose early stop keeps the weights finite.
        Of a Dask collection every such pass fetches all leaf numbers; ``method="batch"`` does not.

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
        return cls(**{"bound": "plug_in", "loss": "zero_one", "game": game, **parameters})

    def fit(self, X, y, X_unlabeled=None, sample_weight=None, callback=None):
        """Grow trees on the labeled rows and weight their leaves by the unlabeled ones.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features), or files
            Rows. Columns of frames may also hold strings, categories, booleans and dates.
        y : array-like of shape (n_samples,), or str
            Labels: numbers, strings or booleans. Rows whose label is missing (None, NaN, NaT or
            ``pandas.NA``) are unlabeled, and without ``X_unlabeled`` so are those marked by -1.
            Where X is files, the name of their column of labels.
        X_unlabeled : like X, batches or files, or a Dask collection, optional
            Unlabeled rows; -1 in y is then a class, also if X_unlabeled is empty. Columns of frames
            are matched by name, whatever their order. Batches may be any object that can be
            iterated over again, or a function that returns a fresh iterable. Files are Parquet,
            Arrow, CSV or LibSVM: a path, a folder, a glob or a list; they are read in batches on
            each pass, and columns are matched by name. To choose columns, pass
            ``hedgeclipper.io.as_source(files, columns=[...])`` in place of files.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the labeled rows.
        callback : callable, optional
            Called with a `PassView` after each full pass of the game; see `LiveMargins`.

        Returns
        -------
        self
        """
        self.__dict__.pop("_predictor", None)
        self._check_settings(X_unlabeled)
        self._keeps_frames = needs_encoding(X)
        given = self._check_rows(X, y, X_unlabeled, sample_weight)
        rows, prepare = self._encode_columns(given.without_weightless())
        codes = self._encode(rows.y_labeled)
        random_state = check_random_state(self.random_state)

        grown = self._grow(rows, codes, random_state)
        options = leaf_game.LeafGameOptions.of(self, self._game, random_state.randint(MAX_SEED))
        evidence = leaf_game.leaf_evidence(grown, rows, codes, self._games(), options)
        with closing(self._find_leaves(grown.finder, rows.X_unlabeled)) as leaves:
            counts = count_in_leaves(leaves, grown.finder, self.n_jobs)
            self.shift_score_ = check_shift(evidence[0].labeled, counts)
            solutions = self._play(evidence, leaves, counts, callback, prepare)
            predictor = LeafPredictor.of(solutions, grown.finder, resolve_loss(self.loss), prepare)
            stream = LeafStream(evidence, leaves if given.has_unlabeled else None, solutions)
            labels = None
            if given.in_memory:
                predicted = predictor.classes(predictor.awake_in(leaves, self.n_jobs))
                labels = self._all_labels(given, self.classes_[predicted])
        self.estimator_ = grown.model
        self.n_labeled_, self.n_unlabeled_ = codes.size, leaves.n_samples
        return self._store(predictor, stream, solutions, labels)

    def partial_fit(self, X_unlabeled, y=None, classes=None):
        """Add more unlabeled rows, for streams that never end.

        The trees and the labels stay as they are. The game is played anew, from the weights it
        had, on a random sample of 50,000 of all unlabeled rows so far, so that neither time
        nor memory grows. ``certificate_`` is then an estimate for that sample.

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
        finder, prepare = self._require_predictor().finder, self._predictor.prepare
        instead = "pass X.partitions[0].compute() and so on, one after the other"
        batches = self._batches(X_unlabeled, "X_unlabeled", instead)
        if y is not None:
            warn_user(
                "partial_fit does not use labels, since the trees are grown already: these rows "
                "count as unlabeled. Call fit with all labeled rows to use them.",
                UserWarning,
            )
        rows = batches if prepare is None else map(prepare, batches)
        stream = self._stream.grown(finder.find(batch, self.n_jobs) for batch in rows)
        with pass_reporter(self.verbose, self.tol) as report:
            solutions = stream.play(report)
        self.n_unlabeled_ = stream.reservoir.n_seen
        predictor = LeafPredictor.of(solutions, finder, resolve_loss(self.loss), prepare)
        return self._store(predictor, stream, solutions)

    def for_prediction(self) -> HedgeClipperClassifier:
        """Return a light copy that only predicts, in one thread: it has no rows and no labels."""
        return self._fill_in(clone(self).set_params(estimator=None, n_jobs=1))

    def __sklearn_tags__(self):
        """Return scikit-learn's tags."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        model = RandomForestClassifier() if self.estimator is None else self.estimator
        try:
            tags.input_tags.allow_nan = bool(get_tags(model).input_tags.allow_nan)
        except (AttributeError, TypeError):
            tags.input_tags.allow_nan = True
        return tags

    @property
    def _game(self) -> LeafGame:
        return LeafGame() if self.game is None else self.game

    @property
    def _storage(self) -> LeafStorage:
        return LeafStorage() if self.storage is None else self.storage

    def _check_settings(self, X_unlabeled: Any) -> None:
        """Raise if settings are wrong, or if leaf numbers are to be kept where Dask decides."""
        for settings in (self, self._game, self._storage):
            settings._validate_params()
        if is_dask(X_unlabeled) and self._storage.get_params() != LeafStorage().get_params():
            raise ValueError(
                "Leaf numbers of a Dask collection are kept by its workers: storage does not "
                f"apply. Got storage={self.storage!r}. Leave it out, and set the memory of the "
                "workers in Dask."
            )

    def _grow(
        self, rows: SemiSupervisedRows, codes: np.ndarray, random_state: np.random.RandomState
    ) -> GrownTrees:
        estimator, holdout = self.estimator, self.holdout
        if estimator is None:
            seed, least = random_state.randint(MAX_SEED), self._game.min_specialist_size
            estimator = default_forest(self.n_estimators, codes.size, least, self.n_jobs, seed)
        if holdout is None and self.confidence_level is not None:
            holdout = HOLDOUT
        return grow_trees(
            estimator,
            rows.X_labeled,
            codes,
            rows.weight_labeled,
            holdout=holdout,
            stratify=self.confidence_level is None,
            random_state=random_state,
            classes=self.classes_,
            names=getattr(self, "feature_names_in_", None),
        )

    def _find_leaves(self, finder: LeafFinder, X: Any) -> LeafRows:
        """Return the leaf numbers of the unlabeled rows, kept as the parameters ask for."""
        if is_dask(X):
            from hedgeclipper.forest.dask_leaves import find_leaves
            from hedgeclipper.io.distributed import count_partitions

            check = BatchCheck("X_unlabeled", self.n_features_in_, self._row_checks)
            n_parts, names = count_partitions(X), getattr(self, "feature_names_in_", None)
            with row_reporter(self.verbose, "finding leaves", n_parts, "partitions") as report:
                return find_leaves(finder, X, names, check, report)
        rows = X if isinstance(X, RowBatches) else RowSlices(X)
        task = "counting rows" if self._storage.place == "recompute" else "finding leaves"
        with row_reporter(self.verbose, task, rows.n_rows) as report:
            leaves = keep_leaves(rows, finder, self._storage, self.n_jobs, report)
        if leaves.n_samples == 0:
            raise ValueError(
                "X_unlabeled has no rows. The game needs unlabeled rows: pass some, or leave "
                "X_unlabeled out."
            )
        return leaves

    def _play(
        self,
        evidence: list[leaf_game.LeafEvidence],
        leaves: LeafRows,
        counts: np.ndarray,
        callback: Callable[[PassView], None] | None,
        prepare: BatchCheck | None,
    ) -> list[LeafSolution]:
        """Return the solution of each game; the callback is shown the predictions of each pass."""

        def show(target: Any, record: PassRecord, now: LeafPredictor) -> None:
            def awake(X: Any) -> np.ndarray:
                rows = self._check_more(X, "X")
                return replace(now, prepare=prepare).awake(rows, self.n_jobs)[:, 0]

            assert callback is not None
            many = self.classes_.size > 2
            callback(PassView(record, awake, now.hedged_ranges[0], target, is_one_of_many=many))

        targets = self.classes_[self._games()]
        watchers = [None if callback is None else partial(show, target) for target in targets]
        with pass_reporter(self.verbose, self.tol) as report:
            return [
                leaf_game.play_leaf_game(one, leaves, counts, report=report, watch=watch)
                for one, watch in zip(evidence, watchers, strict=True)
            ]

    def _store(
        self,
        predictor: LeafPredictor,
        stream: LeafStream,
        solutions: list[LeafSolution],
        labels: np.ndarray | None = None,
    ) -> HedgeClipperClassifier:
        self._predictor, self._stream, self._labels = predictor, stream, labels
        games = [one.game for one in solutions]
        store_games(self, games, [one.certificate for one in solutions], predictor.hedged_ranges)
        self.unlabeled_weight_ = np.array([game.unlabeled_weight for game in games])
        self.specialist_weights_ = [game.weights for game in games]
        self.n_specialists_ = np.array([game.weights.size for game in games])
        self.label_correlations_ = [one.label_correlations for one in solutions]
        self.coverage_ = [one.coverage for one in solutions]
        self._kept = [one.keep for one in solutions]
        return self

    def _inspect(self) -> Inspection:
        """Return what summaries, displays and the report need."""
        n_trees, score = self._predictor.finder.n_trees, self.shift_score_
        table = leaf_table(self._predictor.finder, self.specialists)
        names = getattr(self, "feature_names_in_", None)
        known = self._predictor, table, self._kept, self.classes_, names
        return self._inspection(
            kind="forest",
            description=f"forest of {n_trees:,} tree{'s' * (n_trees != 1)}, its leaves reweighted",
            make_voters=partial(leaf_voters, self, table, self._kept),
            describe_voters=partial(describe_leaves, *known),
            shift_score=score if score > SHIFT_THRESHOLD else None,
        )
