"""HedgedVotingClassifier: any classifiers, weighed by few labels and many unlabeled rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_random_state, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import _BaseComposition
from threadpoolctl import threadpool_limits

from hedgeclipper.base.columns import needs_encoding
from hedgeclipper.base.estimator import SemiSupervisedClassifier
from hedgeclipper.base.inspection import HeldOut, Inspection, VoterTable, store_games
from hedgeclipper.base.semi_supervised import SemiSupervisedRows
from hedgeclipper.bounds.certificate import Certificate
from hedgeclipper.game.losses import BinaryLoss
from hedgeclipper.io import is_frame
from hedgeclipper.io.arrays import draw_rows, stack_rows
from hedgeclipper.io.extras import import_extra
from hedgeclipper.io.progress import member_reporter
from hedgeclipper.panel.defaults import default_panel
from hedgeclipper.panel.held_out import N_FOLDS, HeldOutScores
from hedgeclipper.panel.member_frames import NamedColumns
from hedgeclipper.panel.member_summary import summarize
from hedgeclipper.panel.member_votes import REGIONS
from hedgeclipper.panel.members import (
    Member,
    MemberRows,
    check_estimators,
    choose_folds,
    cross_fit,
    score_held_out,
    score_members,
    score_prefit,
)
from hedgeclipper.panel.panel_certificate import HardVotes, certify_panel
from hedgeclipper.panel.panel_game import PanelScores, aggregate
from hedgeclipper.panel.panel_predictor import PanelGame, PanelPredictor
from hedgeclipper.panel.weighing import PanelSolution

ROWS_FOR_VIEWS = 10_000
ROWS_TO_LEARN_FROM = 5_000
ROWS_IN_GAME, ENTRIES_IN_GAME = 200_000, 10**8
SHARE_HELD_OUT = 0.5


class NoHeldOutRowsWarning(UserWarning):
    """Some class has no held-out rows to score the members on: all members weigh the same."""


@dataclass(frozen=True, eq=False)
class _Played:
    """What came out for one class: the game for new rows, and what is told of it."""

    game: PanelGame
    solution: PanelSolution
    certificate: Certificate
    summary: dict[str, list]


class HedgedVotingClassifier(_BaseComposition, SemiSupervisedClassifier):
    """Semi-supervised vote of different classifiers.

    Labeled rows that a member has not seen tell how well it ranks, unlabeled rows where members
    agree, and a zero-sum game against an adversary who picks the labels gives each its weight. The
    weighted vote is then calibrated.

    Parameters
    ----------
    estimators : list of (str, classifier) or None
        Names and classifiers, as for scikit-learn's ``VotingClassifier``; "drop" in place of a
        classifier leaves it out. Those whose ``fit`` takes ``X_unlabeled``, and scikit-learn's
        semi-supervised ones, learn from unlabeled rows too. Where X is a frame, they get frames.
        None is a varied panel that suits the rows; strings, categories and dates in a frame are
        encoded. In a pipeline that ends in one of scikit-learn's semi-supervised classifiers, all
        steps get the unlabeled rows, marked by -1.
    cv : int, splitter, list of splits or "prefit"
        How labeled rows are held back to judge a member; a number is cut down to that of the
        rarest class with two labels. Splits count the labeled rows alone. The members are then
        fitted to all labels. "prefit": the classifiers are fitted and stay as they are; the
        labeled rows must be new to them.
    holdout : float or None
        Share of the labels that no member is fitted to and that judge all of them, in place of
        ``cv``. With a ``confidence_level``, None is a half.
    confidence_level : float or None
        A number such as 0.95 asks for a guarantee: a bound on the error that holds with this
        probability. With held-out labels or fitted members, no
        sample weights, and unlabeled rows that are not among the labeled ones, the certificate
        is a guarantee.
    regions : {"signs", "bins"} or None
        Voters beside the members: each member where it says + and where it says - ("signs"), and
        these apart for sure and unsure votes ("bins").
    loss : {"square", "zero_one", "log"} or Loss
        What the game is played for.
    tol : float
        Relative duality gap to stop at.
    max_iter : int
        Passes over the unlabeled rows at most, in each of three games.
    n_jobs : int or None
        Members fitted, or scoring rows, at a time, each in one thread; None is 1 and -1 as many as
        there are cores. BLAS and OpenMP have one thread each meanwhile, and with more than one job
        so have members with an ``n_jobs`` of their own.
    random_state : int, RandomState or None
        Seed of folds, samples and the default panel.
    verbose : int
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
        Bound on the error of ``predict`` on the unlabeled rows that played, and whether it is a
        guarantee or an estimate. For more than two classes there is one per class, on the error of
        telling it from the rest.
    worst_case_error_ : float or list
        Its upper bound.
    slack_, duality_gap_, n_iter_, stop_reason_ : ndarray of shape (n_games,)
        What the solver reached in the last game, in how many passes, and why it stopped.
    history_ : list of tuple of PassRecord
        Both sides of the last game of each class after each full pass; see `ConvergenceDisplay`.
    hedged_range_ : ndarray of shape (n_games, 2)
        Between which values of ``decision_function`` the game hedges; beyond, it clips.
        Probabilities are calibrated in its place.
    out_of_fold_ : ndarray of shape (n_labeled, n_members, n_games)
        What each member, by a fit without the row, says of each labeled row: from 0 to 1, for the
        second class of two or for each of more. NaN where no fit could tell.
    n_labeled_, n_unlabeled_ : int
        Number of labeled rows, and of unlabeled rows that played.

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
            Unlabeled rows; -1 in y is then a class, and an empty X_unlabeled says no more than
            that. Columns of frames are matched by name, whatever their order. Of more than 200,000
            rows so many are drawn at random to play, fewer beyond 500 columns (100 million entries,
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
        drawn = rows.X_labeled
        if given.has_unlabeled:
            drawn = self._draw(rows.X_unlabeled, np.random.RandomState(seed))
        rows, prepare = self._encode_columns(replace(rows, X_unlabeled=drawn))
        drawn = rows.X_unlabeled
        members = self._members(estimators, rows, codes, drawn, seed, random_state)
        members, scores = score_members(
            members, drawn, self.classes_.size, self._member_labels(), n_jobs=self.n_jobs
        )
        if not given.has_unlabeled:
            scores = _unseen(members, scores)
        self._warn_without_judges(members, codes)
        is_guarantee = self._may_guarantee(given)
        played = [
            self._play(members, codes == k, rows.weight_labeled, scores, column, is_guarantee)
            for column, k in enumerate(self._games())
        ]
        self.n_labeled_, self._judges = codes.size, (codes, rows.weight_labeled)
        self.out_of_fold_ = np.stack([member.out_of_fold for member in members], axis=1)
        self._store(members, played, given, prepare, scores)
        return self

    @property
    def members_(self) -> dict[str, Any]:
        """Fitted members by name."""
        predictor = self._require_predictor()
        return dict(zip(predictor.names, predictor.estimators, strict=True))

    def member_summary(self):
        """Return a frame of what each member is worth, one row each.

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

    def _inspect(self) -> Inspection:
        """Return what summaries, displays and the report need."""
        n_members = len(self.members_)
        return self._inspection(
            kind="panel",
            description=f"panel of {n_members:,} classifier{'s' * (n_members != 1)}",
            make_voters=self._voter_table,
            hold_out=self._hold_out,
        )

    def _hold_out(self, X_unlabeled: Any) -> HeldOut:
        """Return how to predict labeled rows by weights that were found without their labels."""
        codes, weights = self._judges
        rows = np.flatnonzero(~np.isnan(self.out_of_fold_).any(axis=(1, 2)))
        labeled = self.out_of_fold_[rows]
        scores = HeldOutScores(
            labeled=labeled,
            # as in a fit without unlabeled rows
            unlabeled=labeled
            if X_unlabeled is None
            else self._predictor.scores(X_unlabeled, self.n_jobs),
            codes=codes[rows],
            weights=np.ones(rows.size) if weights is None else weights[rows],
            games=self._games(),
            predictor=self._predictor,
            options=self._game_options(),
        )
        description = (
            "Each member's score of a row is out of fold, by a member fitted without the row; "
            "weights and calibration of the panel were found again without the labels of the "
            "fold. These labels have helped to fit the members that scored the other rows, which "
            "may flatter the panel a little."
        )
        return HeldOut(codes[rows], N_FOLDS, scores.predict, description)

    def _game_options(self) -> dict[str, Any]:
        names = "regions", "loss", "tol", "max_iter"
        return {name: getattr(self, name) for name in names}

    def _voter_table(self) -> VoterTable:
        """Return the members in all games, for summaries."""
        parts, n_members = self._summaries, len(self.members_)

        def column(name: str) -> list:
            return [value for part in parts for value in part[name]]

        return VoterTable(
            kind="member",
            names=column("member"),
            weights=np.array(column("weight")),
            correlations=np.array(column("correlation")),
            contributions=np.array(column("share")),
            errors=np.array(column("standard_error")),
            targets=np.repeat(self.classes_, n_members).tolist() if len(parts) > 1 else None,
            more={"AUC, out of fold": column("auc"), "agreement": column("agreement")},
        )

    def for_prediction(self) -> HedgedVotingClassifier:
        """Return a light copy that can predict but not go on: one thread, no rows, no labels."""
        return self._fill_in(HedgedVotingClassifier(n_jobs=1))

    def __sklearn_tags__(self):
        """Return scikit-learn's tags."""
        tags = super().__sklearn_tags__()
        try:
            named = [] if self.estimators is None else check_estimators(self.estimators)
        except (TypeError, ValueError):
            named = []  # fit will tell
        inputs = [get_tags(model).input_tags for _, model in named]
        tags.input_tags.sparse = all(tag.sparse for tag in inputs)
        tags.input_tags.allow_nan = all(_may_take_nan(model) for _, model in named)
        return tags

    def _check_estimators(self) -> list[tuple[str, Any]] | None:
        """Return the classifiers that are not dropped, None for the default panel."""
        if self._is_prefit and self.holdout is not None:
            raise ValueError(
                "With cv='prefit' all labels judge the members: none are held out. Got "
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

    def _draw(self, X: Any, random_state: np.random.RandomState) -> Any:
        """Return the unlabeled rows that play."""
        most = max(ROWS_FOR_VIEWS, min(ROWS_IN_GAME, ENTRIES_IN_GAME // self.n_features_in_))
        drawn = self._draw_rows(X, most, random_state)
        if drawn.shape[0] == 0:
            raise ValueError(
                "X_unlabeled has no rows. The game needs unlabeled rows: pass some, or leave "
                "X_unlabeled out."
            )
        return drawn

    def _encode_columns(self, rows: SemiSupervisedRows) -> tuple[SemiSupervisedRows, Any]:
        """Return rows as members want them, and what makes such rows of others."""
        if self.estimators is None or not self._keeps_frames:
            return super()._encode_columns(rows)
        prepare = NamedColumns(list(rows.X_labeled.columns))
        return replace(rows, X_unlabeled=prepare(rows.X_unlabeled)), prepare

    def _members(
        self,
        estimators: list[tuple[str, Any]] | None,
        rows: SemiSupervisedRows,
        codes: np.ndarray,
        drawn: Any,
        seed: int,
        random_state: np.random.RandomState,
    ) -> list[Member]:
        """Return fitted members with their scores of labeled rows they have not seen."""
        judges = self._held_out(codes, seed)
        fitted = np.setdiff1d(np.arange(codes.size), judges)
        # rows that judge count as unlabeled: members must not know the others better than these
        others = stack_rows(_safe_indexing(rows.X_labeled, judges), drawn) if judges.size else drawn
        learned = draw_rows(others, ROWS_TO_LEARN_FROM, random_state)
        whole = MemberRows(rows.X_labeled, codes, self.classes_.size, rows.weight_labeled, learned)
        if estimators is None:
            some = draw_rows(others, ROWS_FOR_VIEWS, random_state)
            everything = stack_rows(_safe_indexing(rows.X_labeled, fitted), some)
            estimators = default_panel(
                everything, fitted.size, random_state, n_classes=self.classes_.size
            )
        with member_reporter(self.verbose) as report:
            if self._is_prefit:
                return score_prefit(estimators, whole, self.classes_, report=report)
            options = {"n_jobs": self.n_jobs, "report": report}
            if judges.size:
                return score_held_out(estimators, whole, fitted, judges, **options)
            folds = choose_folds(codes, self.cv, seed)
            return cross_fit(estimators, whole, folds, **options)

    def _held_out(self, codes: np.ndarray, seed: int) -> np.ndarray:
        """Return the numbers of the labels that members are not fitted to; may be none."""
        if self._is_prefit or (self.holdout is None and self.confidence_level is None):
            return np.empty(0, dtype=np.intp)
        share = SHARE_HELD_OUT if self.holdout is None else self.holdout
        # a guarantee needs a plain random draw
        stratify = codes if self.confidence_level is None and np.bincount(codes).min() > 1 else None
        try:
            fitted, judges = train_test_split(
                np.arange(codes.size), test_size=share, random_state=seed, stratify=stratify
            )
        except ValueError:
            fitted, judges = codes[:0], np.arange(codes.size)
        if np.unique(codes[fitted]).size < self.classes_.size:
            raise ValueError(
                f"Some class has no label left to fit the members to, if {share:.0%} of "
                f"{codes.size} labels are held out. Label more rows, or hold out fewer."
            )
        return judges

    @property
    def _is_prefit(self) -> bool:
        return isinstance(self.cv, str)

    def _member_labels(self) -> np.ndarray | None:
        """Return the labels as members know them: None if these are codes."""
        return self.classes_ if self._is_prefit else None

    def _warn_without_judges(self, members: list[Member], codes: np.ndarray) -> None:
        judged = codes[_judging(members)]
        if np.unique(judged).size < self.classes_.size:
            warnings.warn(
                "Some class has no held-out row to score the members on, since each of its labels "
                "is needed to fit them: all members weigh the same in its game. Label at least two "
                "rows of each class.",
                NoHeldOutRowsWarning,
                stacklevel=3,
            )

    def _play(
        self,
        members: list[Member],
        is_positive: np.ndarray,
        weights: np.ndarray | None,
        scores: np.ndarray,
        column: int,
        is_guarantee: bool,
    ) -> _Played:
        """Weigh the members for one class against the rest, calibrate, and bound the error."""
        judges = _judging(members)
        said = PanelScores(
            labeled=np.column_stack([member.out_of_fold[judges, column] for member in members]),
            is_positive=is_positive[judges],
            weights=np.ones(judges.size) if weights is None else weights[judges],
            unlabeled=scores[:, :, column],
        )
        found = aggregate(said, **self._game_options())
        hard = HardVotes(
            labeled=_signs(said.labeled - 0.5),
            signs=_signs(said.is_positive - 0.5),
            unlabeled=_signs(said.unlabeled - 0.5),
            panel_labeled=_signs(found.game.log_odds(said.labeled)),
            panel_unlabeled=_signs(found.game.log_odds(said.unlabeled)),
        )
        certificate = certify_panel(hard, self.confidence_level, is_guarantee)
        by_member = found.solution.weights.reshape(-1, len(members)).sum(axis=0)
        summary = summarize(
            [member.name for member in members],
            by_member,
            found.solution,
            said.labeled,
            said.is_positive,
            found.votes.unlabeled[:, : len(members)],
        )
        return _Played(found.game, found.solution, certificate, summary)

    def _may_guarantee(self, given: SemiSupervisedRows) -> bool:
        """Return whether labels that judge are a plain draw, from rows like the unlabeled ones.

        With a ``confidence_level`` they are held out, unless the members came fitted.
        """
        is_plain = given.weight_labeled is None and given.has_unlabeled
        return self.confidence_level is not None and is_plain

    def _store(
        self,
        members: list[Member],
        played: list[_Played],
        given: SemiSupervisedRows,
        prepare: Any,
        scores: np.ndarray,
    ) -> None:
        predictor = PanelPredictor(
            names=[member.name for member in members],
            estimators=[member.estimator for member in members],
            n_classes=self.classes_.size,
            labels=self._member_labels(),
            games=[one.game for one in played],
            prepare=prepare,
        )
        self._labels = None
        if given.in_memory:
            is_whole = scores.shape[0] == given.X_unlabeled.shape[0]
            awake = (
                predictor.awake_for(scores)
                if is_whole
                else predictor.awake(given.X_unlabeled, self.n_jobs)
            )
            self._labels = self._all_labels(given, self.classes_[predictor.classes(awake)])
        self._predictor = predictor
        self._summaries = [one.summary for one in played]
        self.n_unlabeled_ = scores.shape[0]
        self.member_names_ = np.array(predictor.names, dtype=object)
        self.weights_ = np.array([one.summary["weight"] for one in played])
        store_games(
            self,
            [one.solution.game for one in played],
            [one.certificate for one in played],
            [one.game.hedged_range(one.solution.game.loss) for one in played],
        )


def _may_take_nan(model: Any) -> bool:
    """Return whether a classifier says it takes missing values; a pipeline may, and will tell."""
    return isinstance(model, Pipeline) or get_tags(model).input_tags.allow_nan


def _judging(members: list[Member]) -> np.ndarray:
    """Return the numbers of the labeled rows of which every member has told, unseen."""
    known = [~np.isnan(member.out_of_fold).any(axis=1) for member in members]
    return np.flatnonzero(np.all(known, axis=0))


def _unseen(members: list[Member], scores: np.ndarray) -> np.ndarray:
    """Return scores of labeled rows, out of fold where members have such ones."""
    unseen = np.stack([member.out_of_fold for member in members], axis=1)
    return np.where(np.isnan(unseen), scores, unseen)


def _signs(values: np.ndarray) -> np.ndarray:
    return np.where(values > 0, 1.0, -1.0)
