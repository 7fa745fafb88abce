"""HedgedVotingClassifier: any classifiers, weighed by few labels and many unlabeled rows."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_random_state, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import _BaseComposition
from threadpoolctl import threadpool_limits

from hedgeclipper.base.columns import needs_encoding
from hedgeclipper.base.estimator import SemiSupervisedClassifier
from hedgeclipper.base.inspection import HeldOut, Inspection, store_games
from hedgeclipper.base.semi_supervised import SemiSupervisedRows
from hedgeclipper.bounds.certificate import Certificate
from hedgeclipper.game.losses import BinaryLoss
from hedgeclipper.io import is_frame
from hedgeclipper.io.arrays import draw_rows, stack_rows
from hedgeclipper.io.extras import import_extra
from hedgeclipper.io.progress import member_reporter
from hedgeclipper.panel.defaults import default_panel
from hedgeclipper.panel.fitting import MemberRows
from hedgeclipper.panel.members import (
    Member,
    check_estimators,
    choose_folds,
    choose_held_out,
    cross_fit,
    prefit_members,
    score_held_out,
    score_members,
)
from hedgeclipper.panel.panel_certificate import HardVotes, certify_panel
from hedgeclipper.panel.panel_inspection import hold_out, summarize, voter_table
from hedgeclipper.panel.panel_predictor import REGIONS, NamedColumns, PanelPredictor
from hedgeclipper.panel.weighing import Aggregate, aggregate, panel_scores

ROWS_FOR_VIEWS = 10_000
ROWS_TO_LEARN_FROM = 5_000
ROWS_IN_GAME, ENTRIES_IN_GAME = 200_000, 10**8
DEFAULT_HOLDOUT = 0.5


class HedgedVotingClassifier(_BaseComposition, SemiSupervisedClassifier):
    """Semi-supervised vote of different classifiers.

    Labeled rows that a member has not seen show how well it ranks, unlabeled rows where members
    agree, and a zero-sum game against an adversary who picks the labels gives each its weight. The
    weighted vote is then calibrated.

    Parameters
    ----------
    estimators : list of (str, classifier) or None, default=None
        Names and classifiers, as for scikit-learn's ``VotingClassifier``; "drop" in place of a
        classifier leaves it out. Those whose ``fit`` takes ``X_unlabeled``, and scikit-learn's
        semi-supervised ones, learn from unlabeled rows too. Where X is a frame, they get frames.
        None is a varied panel that suits the rows; strings, categories and dates in a frame are
        encoded. In a pipeline that ends in one of scikit-learn's semi-supervised classifiers, all
        steps get the unlabeled rows, marked by -1.
    cv : int, splitter, list of splits or "prefit", default=5
        How labeled rows are held out to score a member on: a number of stratified folds, at most
        as many as the rarest class with two labels has labels, or splits of the labeled rows
        alone. The members are then fitted to all labels. "prefit": the classifiers are fitted and
        stay as they are; the labeled rows must be new to them. Take fewer folds if members are slow
        to fit.
    holdout : float or None, default=None
        Proportion of the labels that no member is fitted to, and on which all are scored, in place
        of ``cv``. None is no such labels, or one half of them with a ``confidence_level``.
    confidence_level : float or None, default=None
        A number such as 0.95 asks for a guarantee: a bound on the error that holds with this
        probability. With held-out labels or fitted members, no sample weights, and unlabeled rows
        that are not among the labeled ones, the certificate is a guarantee. None is an estimate,
        for which members can be fitted to all labels.
    regions : {"signs", "bins"} or None, default=None
        Voters beside the members: each member where it votes + and where it votes - ("signs"), and
        these apart for sure and unsure votes ("bins"). Worth a try with many labels, if members are
        better on one side than on the other.
    loss : {"square", "zero_one", "log"} or Loss, default="square"
        Loss that the game's predictor wants to be small. Probabilities are calibrated whatever it
        is.
    tol : float, default=1e-3
        Relative duality gap at which the game counts as solved.
    max_iter : int, default=200
        Passes over the unlabeled rows at most, in each of three games.
    n_jobs : int or None, default=None
        Members fitted, or scoring rows, at a time, each in one thread; None is 1 and -1 as many as
        there are cores. BLAS and OpenMP have one thread each meanwhile, and with more than one job
        so have members with an ``n_jobs`` of their own.
    random_state : int, RandomState or None, default=None
        Seed of folds, samples and the default panel.
    verbose : int, default=0
        1 shows which member has been fitted, and the time left.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    members_ : dict of str to classifier
        Fitted members; unless they came fitted, their classes are 0, 1, ... in the order of
        ``classes_``.
    member_names_ : ndarray of shape (n_members,)
        Names of the members.
    weights_ : ndarray of shape (n_games, n_members)
        Weight of each member, regions included; there is one game for two classes, or one for each
        class against the rest.
    certificate_ : Certificate or list of these
        Bound on the error of ``predict`` on the unlabeled rows of the game, and whether it is a
        guarantee or an estimate. For more than two classes there is one per class, on the error of
        telling it from the rest.
    worst_case_error_ : float or list
        Its upper bound.
    slack_, duality_gap_, n_iter_, stop_reason_ : ndarray of shape (n_games,)
        Objective and duality gap of the last game, its passes, and why the solver stopped.
    history_ : list of tuple of PassRecord
        Primal and dual value of the last game of each class after each full pass; see
        `ConvergenceDisplay`.
    hedged_range_ : ndarray of shape (n_games, 2)
        Between which values of ``decision_function`` the game hedges; beyond, it clips.
        Probabilities are calibrated in its place.
    out_of_fold_ : ndarray of shape (n_labeled, n_members, n_games)
        Each member's score of each labeled row, by a fit without the row: from 0 to 1, for the
        second class of two or for each of more. NaN where no fit has scored the row.
    n_labeled_, n_unlabeled_ : int
        Number of labeled rows, and of unlabeled rows in the game.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import BernoulliNB
    >>> from hedgeclipper.datasets import fetch_a1a
    >>> X, y = fetch_a1a(return_X_y=True)
    >>> labeled, unlabeled = slice(0, 300), slice(300, 3000)
    >>> members = [("linear", LogisticRegression()), ("bayes", BernoulliNB())]
    >>> model = HedgedVotingClassifier(members, random_state=0)
    >>> model.fit(X[labeled], y[labeled], X_unlabeled=X[unlabeled]).score(X[3000:], y[3000:]) > 0.8
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        "estimators": [list, tuple, None],
        "cv": [
            Interval(Integral, 2, None, closed="left"),
            HasMethods(["split"]),
            list,
            tuple,
            StrOptions({"prefit"}),
        ],
        "holdout": [Interval(Real, 0, 1, closed="neither"), None],
        "confidence_level": [Interval(Real, 0, 1, closed="neither"), None],
        "regions": [StrOptions(set(REGIONS)), None],
        "loss": [StrOptions({"square", "zero_one", "log"}), BinaryLoss],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }
    _dtype = np.float64

    def __init__(
        self,
        estimators=None,
        *,
        cv=5,
        holdout=None,
        confidence_level=None,
        regions=None,
        loss="square",
        tol=1e-3,
        max_iter=200,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.estimators = estimators
        self.cv = cv
        self.holdout = holdout
        self.confidence_level = confidence_level
        self.regions = regions
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def get_params(self, deep=True):
        """Return the parameters, those of named classifiers among them.

        Parameters
        ----------
        deep : bool
            Whether to look into the classifiers.
        """
        return self._get_params("estimators", deep=deep)

    def set_params(self, **params):
        """Set parameters; a classifier is replaced by its name, or by "drop".

        Parameters
        ----------
        **params : dict
            Names and values.
        """
        return self._set_params("estimators", **params)

    @threadpool_limits.wrap(limits=1)
    def fit(self, X, y, X_unlabeled=None, sample_weight=None):
        """Fit the members to the labeled rows and weigh them by all rows.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features), or files
            Rows. Columns of frames may also hold strings, categories, booleans and dates.
        y : array-like of shape (n_samples,), or str
            Labels: numbers, strings or booleans. Rows whose label is missing (None, NaN, NaT or
            ``pandas.NA``) are unlabeled, and without ``X_unlabeled`` so are those marked by -1.
            Where X is files, the name of their column of labels.
        X_unlabeled : like X, batches or files, or a Dask collection, optional
            Unlabeled rows; -1 in y is then a class, and an empty X_unlabeled has no other effect.
            Columns of frames are matched by name, whatever their order. Of more than 200,000 rows
            so many are drawn at random for the game, fewer beyond 500 columns (100 million entries,
            and 10,000 rows at least), and members learn from 5,000 of these.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the labeled rows.

        Returns
        -------
        self
        """
        self._validate_params()
        self.__dict__.pop("_predictor", None)
        estimators = self._check_estimators()
        self._keeps_frames = is_frame(X) if estimators is not None else needs_encoding(X)
        given = self._check_rows(X, y, X_unlabeled, sample_weight)
        rows = given.without_weightless()
        codes = self._encode(rows.y_labeled)
        random_state = check_random_state(self.random_state)
        seed = random_state.randint(np.iinfo(np.int32).max)
        rows, prepare = self._encode_columns(self._draw_unlabeled(rows, seed))
        members, unlabeled = self._fit_and_score(estimators, rows, codes, seed, random_state)
        self._labeled = codes, rows.weight_labeled
        scores = panel_scores(self.out_of_fold_, unlabeled, *self._labeled, self._games())
        found = [aggregate(own, **self._game_options()) for own in scores]
        # with a confidence_level labels are held out, unless the members came fitted
        may_guarantee = rows.weight_labeled is None and rows.has_unlabeled
        certificates = [
            certify_panel(HardVotes.of(own, one.game), self.confidence_level, may_guarantee)
            for own, one in zip(scores, found, strict=True)
        ]
        self._summaries = [summarize(members, *pair) for pair in zip(scores, found, strict=True)]
        self._store(members, found, certificates, given, prepare, unlabeled)
        return self

    @property
    def members_(self) -> dict[str, Any]:
        """Fitted members by name."""
        return dict(self._require_predictor().members)

    def member_summary(self):
        """Return a frame that describes the members, one row each.

        Columns: ``weight`` (regions included), ``correlation`` (b with both classes weighing the
        same, out of fold) and its ``standard_error``, ``auc`` (out of fold), ``agreement``
        (correlation of its votes with the mean vote of the others on unlabeled rows), ``share``
        (of the spread of the result). With more than two classes there is a row for each member
        and class, and a column ``class``.

        Returns
        -------
        pandas.DataFrame
            The summary, largest share first.
        """
        self._require_predictor()
        pandas = import_extra("pandas", "io", "member_summary")
        parts = [pandas.DataFrame(columns) for columns in self._summaries]
        if len(parts) > 1:
            for part, label in zip(parts, self.classes_, strict=True):
                part.insert(1, "class", label)
        frame = pandas.concat(parts, ignore_index=True)
        return frame.sort_values("share", ascending=False, ignore_index=True)

    def for_prediction(self) -> HedgedVotingClassifier:
        """Return a light copy that can predict but not go on: one thread, no rows, no labels."""
        return self._fill_in(HedgedVotingClassifier(n_jobs=1))

    def __sklearn_tags__(self):
        """Return scikit-learn's tags."""
        tags = super().__sklearn_tags__()
        models: list[Any] = []
        if self.estimators is not None:
            with suppress(TypeError, ValueError):  # fit will raise it
                models = [model for _, model in check_estimators(self.estimators)]
        tags.input_tags.sparse = all(get_tags(model).input_tags.sparse for model in models)
        tags.input_tags.allow_nan = all(
            # a pipeline may take missing values, and will fail if it does not
            isinstance(model, Pipeline) or get_tags(model).input_tags.allow_nan
            for model in models
        )
        return tags

    def _inspect(self) -> Inspection:
        """Return what summaries, displays and the report need."""
        n_members = len(self.members_)
        return self._inspection(
            kind="panel",
            description=f"panel of {n_members:,} classifier{'s' * (n_members != 1)}",
            make_voters=lambda: voter_table(self._summaries, self.classes_),
            hold_out=self._hold_out,
        )

    def _hold_out(self, X_unlabeled: Any) -> HeldOut:
        """Return how to predict labeled rows by weights that were found without their labels."""
        scores = None if X_unlabeled is None else self._predictor.scores(X_unlabeled, self.n_jobs)
        options = self._game_options()
        return hold_out(self.out_of_fold_, scores, *self._labeled, self._predictor, options)

    def _game_options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("regions", "loss", "tol", "max_iter")}

    def _check_estimators(self) -> list[tuple[str, Any]] | None:
        """Return the classifiers that are not dropped, None for the default panel."""
        if self._is_prefit and self.holdout is not None:
            raise ValueError(
                "With cv='prefit' members are scored on all labels: none are held out. Got "
                f"holdout={self.holdout}: leave it out, or give another cv."
            )
        if self.estimators is not None:
            estimators = check_estimators(self.estimators)
            self._validate_names([name for name, _ in self.estimators])
            return estimators
        if self._is_prefit:
            raise ValueError(
                "cv='prefit' needs classifiers that are fitted. Got estimators=None: pass them, or "
                "another cv."
            )
        return None

    def _draw_unlabeled(self, rows: SemiSupervisedRows, seed: int) -> SemiSupervisedRows:
        """Return the rows with a sample of the unlabeled ones, or labeled ones in their place."""
        if not rows.has_unlabeled:
            return replace(rows, X_unlabeled=rows.X_labeled)
        most = max(ROWS_FOR_VIEWS, min(ROWS_IN_GAME, ENTRIES_IN_GAME // self.n_features_in_))
        drawn = self._draw_rows(rows.X_unlabeled, most, np.random.RandomState(seed))
        if drawn.shape[0] == 0:
            raise ValueError(
                "X_unlabeled has no rows. The game needs unlabeled rows: pass some, or leave "
                "X_unlabeled out."
            )
        return replace(rows, X_unlabeled=drawn)

    def _encode_columns(self, rows: SemiSupervisedRows) -> tuple[SemiSupervisedRows, Any]:
        """Return rows as members want them, and what makes such rows of others."""
        if self.estimators is None or not self._keeps_frames:
            return super()._encode_columns(rows)
        prepare = NamedColumns(list(rows.X_labeled.columns))
        return replace(rows, X_unlabeled=prepare(rows.X_unlabeled)), prepare

    def _fit_and_score(
        self,
        estimators: list[tuple[str, Any]] | None,
        rows: SemiSupervisedRows,
        codes: np.ndarray,
        seed: int,
        random_state: np.random.RandomState,
    ) -> tuple[list[Member], np.ndarray]:
        """Return fitted members and their scores of unlabeled rows, and set ``out_of_fold_``."""
        everything, n_classes = np.arange(codes.size), self.classes_.size
        held_out = everything[:0]
        if not self._is_prefit and (self.holdout or self.confidence_level):
            # a guarantee needs a simple random sample
            is_stratified = self.confidence_level is None
            held_out = choose_held_out(codes, self.holdout or DEFAULT_HOLDOUT, is_stratified, seed)
        train = np.setdiff1d(everything, held_out)
        others = rows.X_unlabeled
        if held_out.size:
            # they count as unlabeled: members must not know the others better than these
            others = stack_rows(_safe_indexing(rows.X_labeled, held_out), others)
        to_learn_from = draw_rows(others, ROWS_TO_LEARN_FROM, random_state)
        given = MemberRows(rows.X_labeled, codes, n_classes, rows.weight_labeled, to_learn_from)
        if estimators is None:
            some = draw_rows(others, ROWS_FOR_VIEWS, random_state)
            sample = stack_rows(_safe_indexing(rows.X_labeled, train), some)
            estimators = default_panel(sample, train.size, random_state, n_classes=n_classes)
        with member_reporter(self.verbose) as report:
            options: dict[str, Any] = {"n_jobs": self.n_jobs, "report": report}
            if self._is_prefit:
                members = prefit_members(estimators, self.classes_)
                members = score_held_out(members, given, everything, self.classes_, **options)
            elif held_out.size == 0:
                folds = choose_folds(codes, self.cv, seed)
                members = cross_fit(estimators, given, folds, **options)
            else:
                members = cross_fit(estimators, given.select(train), [], **options)
                members = score_held_out(members, given, held_out, n_jobs=self.n_jobs)
        labels = self.classes_ if self._is_prefit else None  # by default codes
        members, unlabeled = score_members(
            members, rows.X_unlabeled, n_classes, labels, n_jobs=self.n_jobs
        )
        self.out_of_fold_ = np.stack([member.out_of_fold for member in members], axis=1)
        if not rows.has_unlabeled:
            unlabeled = np.where(np.isnan(self.out_of_fold_), unlabeled, self.out_of_fold_)
        return members, unlabeled

    @property
    def _is_prefit(self) -> bool:
        return isinstance(self.cv, str)

    def _store(
        self,
        members: Sequence[Member],
        found: Sequence[Aggregate],
        certificates: Sequence[Certificate],
        given: SemiSupervisedRows,
        prepare: Any,
        unlabeled: np.ndarray,
    ) -> None:
        predictor = PanelPredictor(
            members={member.name: member.estimator for member in members},
            n_classes=self.classes_.size,
            labels=self.classes_ if self._is_prefit else None,  # by default codes
            games=[one.game for one in found],
            prepare=prepare,
        )
        self._labels = None
        if given.in_memory:
            if unlabeled.shape[0] == given.X_unlabeled.shape[0]:
                log_odds = predictor.log_odds(unlabeled)
            else:
                log_odds = predictor.awake(given.X_unlabeled, self.n_jobs)
            self._labels = self._all_labels(given, self.classes_[predictor.classes(log_odds)])
        self._predictor = predictor
        self.n_labeled_, self.n_unlabeled_ = self._labeled[0].size, unlabeled.shape[0]
        self.member_names_ = np.array(list(predictor.members), dtype=object)
        self.weights_ = np.array([summary["weight"] for summary in self._summaries])
        hedged_ranges = [one.game.hedged_range(one.solution.game.loss) for one in found]
        store_games(self, [one.solution.game for one in found], certificates, hedged_ranges)
