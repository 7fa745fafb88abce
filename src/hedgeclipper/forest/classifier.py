"""HedgeClipperClassifier: the paper's algorithm on forests and boosters."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import closing
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils._param_validation import Interval, StrOptions

from hedgeclipper.base.columns import needs_encoding
from hedgeclipper.base.estimator import SemiSupervisedClassifier
from hedgeclipper.base.inspection import (
    Inspection,
    VoterTable,
    contributions_of,
    store_games,
)
from hedgeclipper.base.semi_supervised import (
    BatchCheck,
    RowBatches,
    SemiSupervisedRows,
    ShiftWarning,
    is_dask,
    parse_bytes,
)
from hedgeclipper.forest.growing import (
    SHARE_HELD_OUT,
    GrownTrees,
    default_forest,
    grow_trees,
    leaf_size,
)
from hedgeclipper.forest.leaf_correlations import shift_score
from hedgeclipper.forest.leaf_game import (
    LeafGameOptions,
    LeafKnowledge,
    LeafSolution,
    play_leaf_game,
)
from hedgeclipper.forest.leaf_predictor import LeafPredictor
from hedgeclipper.forest.leaf_rows import (
    LeafRows,
    RowSlices,
    keep_leaves,
)
from hedgeclipper.forest.leaf_stream import LeafStream
from hedgeclipper.forest.leaves import KINDS, count_in_leaves, leaf_table, specialist_names
from hedgeclipper.forest.rules import leaf_rule
from hedgeclipper.forest.settings import LeafGame, LeafStorage
from hedgeclipper.forest.trees import LeafFinder, PackedTrees
from hedgeclipper.game.losses import BinaryLoss, resolve_loss
from hedgeclipper.game.solution import PassRecord, PassView
from hedgeclipper.io.progress import pass_reporter, row_reporter

SHIFT_THRESHOLD = 8.0
BYTES_FROM_FILES = 64 * 10**6


class HedgeClipperClassifier(SemiSupervisedClassifier):
    """Semi-supervised classifier that re-weighs the leaves of a forest by unlabeled rows.

    Trees are grown on the labeled rows. Every leaf becomes a specialist, awake on the rows that
    fall into it. Labeled rows a tree has not seen tell how good its leaves are, unlabeled
    rows where leaves of different trees meet, and a zero-sum game against an adversary who picks
    the labels gives each leaf its weight (Balsubramani & Freund, NIPS 2015).

    Parameters
    ----------
    estimator : estimator or None
        A tree ensemble: random forest, extra trees, bagged trees or gradient boosting of
        scikit-learn, LightGBM or XGBoost. None is a random forest. A fitted one is used as it is;
        the labeled rows given to ``fit`` then only judge its trees and must be new to it. (A clone
        is not fitted: wrap it in ``sklearn.frozen.FrozenEstimator`` for a grid search.) Rows reach
        it as float32.
    n_estimators : int
        Number of trees of the default forest.
    specialists : {"leaves", "nodes", "trees"} or sequence of these
        Who plays: every leaf, every node below the roots (leaves included), every tree.
    holdout : float or None
        Share of the labels that no tree is grown from and that all of them are scored on. None:
        each tree is scored on the rows out of its bag; with a ``confidence_level``, or an ensemble
        that draws no bootstrap sample, None is a half.
    bound : {"shrunk", "plug_in", "wilson"}
        What the judges say of a specialist. "shrunk": the forest's vote where it is awake,
        corrected by what the vote gets wrong there, shrunk, with balanced labels. The others are
        correlations in natural proportions, plug-in or lowered by Wilson's bound at 95 %;
        specialists without a positive one are dropped.
    confidence_level : float or None
        A number such as 0.95 asks for a guarantee: labels are held out, and lower bounds that hold
        for all specialists together, on these unlabeled rows, with this probability take the place
        of ``bound``. Without sample weights, and with unlabeled rows that are not among the labeled
        ones, the certificate is then a guarantee.
    loss : {"square", "zero_one", "log"} or Loss
        What the game is played for.
    tol : float
        Relative duality gap to stop at.
    max_iter : int
        Passes over the unlabeled rows at most.
    game : LeafGame or None
        How the game is set up and solved, where the defaults do not do: see `LeafGame`.
    storage : LeafStorage or None
        Where leaf numbers of the unlabeled rows are kept: see `LeafStorage`.
    n_jobs : int or None
        Threads for growing, finding leaves and predicting.
    random_state : int, RandomState or None
        Seed.
    verbose : int
        1 shows rows or partitions that are done, then passes, slack, gap and time left.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    estimator_ : estimator
        The fitted ensemble.
    specialist_weights_ : list of ndarray of shape (n_specialists,)
        theta in each game: there is one for two classes, or one for each class against the rest.
    label_correlations_, coverage_ : list of ndarray
        b, and share of the unlabeled rows, of each specialist.
    unlabeled_weight_ : ndarray of shape (n_games,)
        alpha.
    hedged_range_ : ndarray of shape (n_games, 2)
        Between which awake predictions the game hedges; beyond, it clips. With two classes these
        are values of ``decision_function``.
    slack_, duality_gap_, n_iter_, stop_reason_ : ndarray of shape (n_games,)
        What the solver reached, in how many passes, and why it stopped.
    history_ : list of tuple of PassRecord
        Both sides of the game after each full pass; see `ConvergenceDisplay`.
    certificate_ : Certificate or list of these
        Bound on the error of ``predict`` on the unlabeled rows, from what is known of the trees,
        and whether it is a guarantee or an estimate. For more than two classes there is one per
        class, each by itself, on the error of telling it from the rest by the sign of its awake
        prediction.
    worst_case_error_ : float or list
        Its upper bound.
    n_labeled_, n_unlabeled_ : int
        Number of labeled and of unlabeled rows.
    shift_score_ : float
        How unlike the labeled rows the unlabeled ones fall into the leaves; up to 3 is usual,
        beyond 8 there is a `ShiftWarning`.

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
        """Return the classifier with the paper's own settings, and those given.

        Settings of `LeafGame` may be given by their names, too.

        Plug-in out-of-bag correlations, zero-one loss, alpha = 1, neither box nor anchor, and a few
        passes of stochastic gradient steps, whose early stop is what keeps the weights finite. With
        a Dask collection every such pass brings all leaf numbers here; ``method="batch"`` does not.
        """
        game = LeafGame(unlabeled_weight=1.0, cap=None, ridge=0.0, method="sgd")
        of_game = game.get_params().keys() & parameters.keys()
        game.set_params(**{name: parameters.pop(name) for name in of_game})
        return cls(**{"bound": "plug_in", "loss": "zero_one", "game": game, **parameters})

    def fit(self, X, y, X_unlabeled=None, sample_weight=None, callback=None):
        """Grow trees on the labeled rows and weigh their leaves by the unlabeled ones.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features), or files
            Rows. Columns of frames may also hold strings, categories, booleans and dates.
        y : array-like of shape (n_samples,), or str
            Labels: numbers, strings or booleans. Rows whose label is missing (None, NaN, NaT or
            ``pandas.NA``) are unlabeled, and without ``X_unlabeled`` so are those marked by -1.
            Where X is files, the name of their column of labels.
        X_unlabeled : like X, batches or files, or a Dask collection, optional
            Unlabeled rows; -1 in y is then a class, and an empty X_unlabeled says no more than
            that. Columns of frames are matched by name, whatever their order. Batches may be any
            object that can be iterated over again, or a function that returns a fresh iterable.
            Files are Parquet, Arrow, CSV or LibSVM: a path, a folder, a glob or a list; they are
            read in batches on each pass, and columns are matched by name. To choose columns, pass
            ``hedgeclipper.io.as_source(files, columns=[...])`` in place of files.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the labeled rows.
        callback : callable, optional
            Called with a `PassView` after each full pass of the game; see `LiveMargins`.

        Returns
        -------
        self
        """
        self._validate_params()
        self.__dict__.pop("_predictor", None)
        self._check_settings(X_unlabeled)
        self._keeps_frames = needs_encoding(X)
        given = self._check_rows(X, y, X_unlabeled, sample_weight)
        rows, prepare = self._encode_columns(given.without_weightless())
        codes = self._encode(rows.y_labeled)
        random_state = check_random_state(self.random_state)
        grown = self._grow(rows, codes, random_state)
        with closing(self._find_leaves(grown.finder, rows.X_unlabeled)) as leaves:
            if leaves.n_samples == 0:
                raise ValueError(
                    "X_unlabeled has no rows. The game needs unlabeled rows: pass some, or leave "
                    "X_unlabeled out."
                )
            seen = grown.finder.find(rows.X_labeled, self.n_jobs)
            n_leaves = int(grown.finder.n_leaves.sum())
            counts = count_in_leaves(leaves, grown.finder.offsets, n_leaves, self.n_jobs)
            self._warn_of_shift(grown, seen, counts)
            known = self._known(grown, seen, codes, rows, random_state)
            with pass_reporter(self.verbose, self.tol) as report:
                solutions = [
                    play_leaf_game(
                        knowledge,
                        leaves,
                        counts,
                        report=report,
                        watch=self._watcher(callback, grown.finder, k, prepare),
                    )
                    for knowledge, k in zip(known, self._games(), strict=True)
                ]
            stream = LeafStream(known, leaves if given.has_unlabeled else None, solutions)
            predictor = self._make_predictor(grown.finder, solutions, prepare)
            labels = self._transduce(predictor, leaves, given) if given.in_memory else None
        self.estimator_, self._stream = grown.model, stream
        self.n_labeled_, self.n_unlabeled_ = codes.size, leaves.n_samples
        self._store(predictor, solutions, labels)
        return self

    def partial_fit(self, X_unlabeled, y=None, classes=None):
        """Take in more unlabeled rows, for streams that never end.

        The trees and the labels stay as they are. The game is played anew, from the weights it
        had, on a random sample of 50,000 of all unlabeled rows so far, so that neither time
        nor memory grows. ``certificate_`` is then an estimate, and speaks of that sample.

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
            warnings.warn(
                "partial_fit does not use labels, since the trees are grown already: these rows "
                "count as unlabeled. Call fit with all labeled rows to use them.",
                UserWarning,
                stacklevel=2,
            )
        rows = batches if prepare is None else map(prepare, batches)
        stream = self._stream.grown(finder.find(batch, self.n_jobs) for batch in rows)
        with pass_reporter(self.verbose, self.tol) as report:
            solutions = stream.play(report)
        self._stream, self.n_unlabeled_ = stream, stream.n_seen
        self._store(self._make_predictor(finder, solutions, prepare), solutions, None)
        return self

    def for_prediction(self) -> HedgeClipperClassifier:
        """Return a light copy that can predict but not go on: one thread, no rows, no labels."""
        return self._fill_in(clone(self).set_params(estimator=None, n_jobs=1))

    def __sklearn_tags__(self):
        """Return scikit-learn's tags."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        model = self.estimator if self.estimator is not None else default_forest(1, 1, None, None)
        tags.input_tags.allow_nan = _allows_nan(model)
        return tags

    def _check_settings(self, X_unlabeled: Any) -> None:
        """Raise if settings are wrong, or if leaf numbers are to be kept where Dask decides."""
        self._game.check()
        self._storage.check()
        if is_dask(X_unlabeled) and not self._storage.is_default:
            raise ValueError(
                "Leaf numbers of a Dask collection are kept by its workers: storage does not "
                f"apply. Got storage={self.storage!r}. Leave it out, and set the memory of the "
                "workers in Dask."
            )

    def _grow(
        self, rows: SemiSupervisedRows, codes: np.ndarray, random_state: np.random.RandomState
    ) -> GrownTrees:
        estimator = self.estimator
        self._check_estimator_names(estimator)
        if estimator is None:
            size = leaf_size(self._game.min_specialist_size, rows.y_labeled.size)
            seed = random_state.randint(np.iinfo(np.int32).max)
            estimator = default_forest(self.n_estimators, size, self.n_jobs, seed)
        grown = grow_trees(
            estimator,
            rows.X_labeled,
            codes,
            rows.weight_labeled,
            holdout=self._share_held_out(),
            stratify=self.confidence_level is None,
            random_state=random_state,
        )
        if grown.source == "prefit" and not np.array_equal(grown.model.classes_, self.classes_):
            raise ValueError(
                f"The fitted estimator knows the classes {grown.model.classes_!r}. Got labeled "
                f"rows of the classes {self.classes_!r}; both must be the same."
            )
        return grown

    def _check_estimator_names(self, estimator: Any) -> None:
        """Raise if a fitted estimator saw other columns, or in another order, than it would now."""
        theirs = getattr(estimator, "feature_names_in_", None)
        ours = getattr(self, "feature_names_in_", None)
        if theirs is not None and ours is not None and not np.array_equal(theirs, ours):
            raise ValueError(
                "The fitted estimator knows other feature names, or in another order. Got "
                f"{list(ours)[:5]}, expected {list(theirs)[:5]}; order the columns alike."
            )

    def _kinds(self) -> tuple[str, ...]:
        kinds = (self.specialists,) if isinstance(self.specialists, str) else self.specialists
        if not kinds or not set(kinds) <= set(KINDS):
            raise ValueError(
                f"The 'specialists' parameter must name some of {KINDS}. Got {self.specialists!r}."
            )
        return tuple(kinds)

    def _known(
        self,
        grown: GrownTrees,
        seen: np.ndarray,
        codes: np.ndarray,
        rows: SemiSupervisedRows,
        random_state: np.random.RandomState,
    ) -> list[LeafKnowledge]:
        """Return what trees and labels say of each class that plays."""
        table = leaf_table(grown.finder, self._kinds())
        options = self._options(grown, rows, random_state)
        return [
            LeafKnowledge(
                grown.labeled(seen, codes == k, rows.weight_labeled),
                grown.finder,
                table,
                grown.leaf_values(seen, k),
                options,
            )
            for k in self._games()
        ]

    @property
    def _game(self) -> LeafGame:
        return LeafGame() if self.game is None else self.game

    @property
    def _storage(self) -> LeafStorage:
        return LeafStorage() if self.storage is None else self.storage

    def _share_held_out(self) -> float | None:
        """Return the share of labels to hold out, None where rows out of bag serve."""
        if self.holdout is None and self.confidence_level is not None:
            return SHARE_HELD_OUT
        return self.holdout

    def _options(
        self, grown: GrownTrees, rows: SemiSupervisedRows, random_state: np.random.RandomState
    ) -> LeafGameOptions:
        level = self.confidence_level
        held_out = level is not None and grown.source == "holdout"
        return LeafGameOptions(
            game=self._game,
            bound=self.bound,
            delta=None if level is None else 1.0 - level,
            loss=self.loss,
            tol=self.tol,
            max_iter=self.max_iter,
            is_guarantee=held_out and rows.weight_labeled is None and rows.has_unlabeled,
            n_jobs=self.n_jobs,
            seed=random_state.randint(np.iinfo(np.int32).max),
        )

    def _find_leaves(self, finder: LeafFinder, X: Any) -> LeafRows:
        """Return the leaf numbers of the unlabeled rows, kept as the parameters ask for."""
        if is_dask(X):
            return self._find_leaves_by_dask(finder, X)
        batches = X if isinstance(X, RowBatches) else RowSlices(X)
        limit = BYTES_FROM_FILES if batches is X else np.inf
        storage = self._storage
        limit = limit if storage.memory_limit is None else parse_bytes(storage.memory_limit)
        task = "counting rows" if storage.place == "recompute" else "finding leaves"
        with row_reporter(self.verbose, task, batches.n_rows) as report:
            return keep_leaves(
                batches,
                finder,
                storage=storage.place,
                memory_limit=limit,
                n_jobs=self.n_jobs,
                report=report,
            )

    def _find_leaves_by_dask(self, finder: LeafFinder, X: Any) -> LeafRows:
        from hedgeclipper.forest.dask_leaves import find_leaves
        from hedgeclipper.io.distributed import count_partitions

        check = BatchCheck("X_unlabeled", self.n_features_in_, self._row_checks)
        names = getattr(self, "feature_names_in_", None)
        n_parts = count_partitions(X)
        with row_reporter(self.verbose, "finding leaves", n_parts, "partitions") as report:
            return find_leaves(finder, X, names, check, report)

    def _warn_of_shift(self, grown: GrownTrees, seen: np.ndarray, counts: np.ndarray) -> None:
        score = shift_score(seen, counts, grown.finder.n_leaves, grown.unseen)
        self.shift_score_ = float(score)
        if score > SHIFT_THRESHOLD:
            warnings.warn(
                "The unlabeled rows look unlike the labeled ones: they fall into the leaves of "
                f"the trees in significantly different proportions (score {score:.0f}, up to 3 is "
                "usual). What the labels say of a leaf may not hold for them.",
                ShiftWarning,
                stacklevel=3,
            )

    def _watcher(
        self,
        callback: Callable[[PassView], None] | None,
        finder: LeafFinder,
        game: int,
        prepare: BatchCheck | None,
    ) -> Callable[[PassRecord, np.ndarray, float], None] | None:
        """Return what shows a callback the leaf scores at work; None without a callback."""
        if callback is None:
            return None

        def watch(record: PassRecord, leaf_scores: np.ndarray, offset: float) -> None:
            low, high = resolve_loss(self.loss).hedged_range

            def awake(X: Any) -> np.ndarray:
                rows = self._check_more(X, "X")
                rows = rows if prepare is None else prepare(rows)
                return finder.sum_scores(rows, leaf_scores[:, None], self.n_jobs)[:, 0] + offset

            span, is_one_of_many = (low + offset, high + offset), self.classes_.size > 2
            callback(PassView(record, awake, span, self.classes_[game], is_one_of_many))

        return watch

    def _inspect(self) -> Inspection:
        """Return what summaries, displays and the report need."""
        n_trees, score = self._predictor.finder.n_trees, self.shift_score_
        return self._inspection(
            kind="forest",
            description=f"forest of {n_trees:,} tree{'s' * (n_trees != 1)}, its leaves reweighted",
            make_voters=self._voter_table,
            describe_voters=self._leaf_words,
            shift_score=score if score > SHIFT_THRESHOLD else None,
        )

    def _voter_table(self) -> VoterTable:
        """Return the specialists of all games, for summaries."""
        per_game = self.specialist_weights_, self.label_correlations_, self.coverage_
        weights, correlations, coverage = (np.concatenate(values) for values in per_game)
        table = leaf_table(self._predictor.finder, self._kinds())
        names = [specialist_names(self._predictor.finder, table, keep) for keep in self._kept]
        targets = np.repeat(self.classes_[self._games()], [len(part) for part in names])
        return VoterTable(
            kind="leaf" if self._kinds() == ("leaves",) else "specialist",
            names=[name for part in names for name in part],
            weights=weights,
            correlations=correlations,
            contributions=contributions_of(weights * coverage) * len(names),
            coverage=coverage,
            targets=targets.tolist() if len(names) > 1 else None,
        )

    def _leaf_words(self, voters: np.ndarray) -> dict[str, list]:
        """Return what each of these voters votes for, and for whom, where leaves can be read."""
        finder, starts = self._predictor.finder, np.cumsum([0, *map(len, self._kept)])
        own = leaf_table(finder, self._kinds()).own_leaf
        games = np.searchsorted(starts, voters, side="right") - 1
        leaves = [own[self._kept[g][v - starts[g]]] for v, g in zip(voters, games, strict=True)]
        if min(leaves, default=-1) < 0 or not isinstance(finder, PackedTrees):
            return {}
        prepare = self._predictor.prepare
        names = getattr(self, "feature_names_in_", None)
        if prepare is not None:
            names = prepare.encoder.names_out_
        positive = [str(self.classes_[k]) for k in self._games()]
        negative = [str(self.classes_[0]) if len(positive) == 1 else "the rest"] * len(positive)
        signs = self._predictor.leaf_scores[leaves, games]
        return {
            "votes for": [
                (positive if sign > 0 else negative)[g] if sign else "nobody"
                for sign, g in zip(signs, games, strict=True)
            ],
            "rows where": [leaf_rule(finder, leaf, names) for leaf in leaves],
        }

    def _make_predictor(
        self, finder: LeafFinder, solutions: list[LeafSolution], prepare: BatchCheck | None
    ) -> LeafPredictor:
        return LeafPredictor(
            finder=finder,
            leaf_scores=np.column_stack([s.leaf_scores for s in solutions]),
            offsets=np.array([s.offset for s in solutions]),
            priors=np.array([s.prior for s in solutions]),
            loss=resolve_loss(self.loss),
            prepare=prepare,
        )

    def _store(
        self, predictor: LeafPredictor, solutions: list[LeafSolution], labels: np.ndarray | None
    ) -> None:
        self._predictor, self._labels = predictor, labels
        self._kept = [s.setting.keep for s in solutions]
        store_games(
            self,
            [s.game for s in solutions],
            [s.certificate for s in solutions],
            predictor.hedged_ranges,
        )
        self.unlabeled_weight_ = np.array([s.game.unlabeled_weight for s in solutions])
        self.specialist_weights_ = [s.game.weights for s in solutions]
        self.n_specialists_ = np.array([s.game.weights.size for s in solutions])
        self.label_correlations_ = [s.setting.label_correlations for s in solutions]
        self.coverage_ = [s.setting.coverage for s in solutions]

    def _transduce(
        self, predictor: LeafPredictor, leaves: LeafRows, rows: SemiSupervisedRows
    ) -> np.ndarray:
        awake = np.concatenate(list(leaves.map_blocks(predictor.awake_in, self.n_jobs)))
        return self._all_labels(rows, self.classes_[predictor.classes(awake)])


def _allows_nan(model: Any) -> bool:
    try:
        return bool(get_tags(model).input_tags.allow_nan)
    except (AttributeError, TypeError):
        return True
