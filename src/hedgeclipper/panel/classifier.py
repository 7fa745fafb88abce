"""HedgedVotingClassifier: any classifiers, weighed by few labels and many unlabeled rows."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags
from threadpoolctl import threadpool_limits

from hedgeclipper.base.columns import needs_encoding
from hedgeclipper.base.inspection import store_games
from hedgeclipper.base.semi_supervised import HeldOutRows, SemiSupervisedRows
from hedgeclipper.base.semi_supervised_classifier import NO_UNLABELED_ROWS
from hedgeclipper.base.weighing import Aggregate, aggregate, panel_scores, summarize
from hedgeclipper.bounds.checked_rule import USED_LABELS, why_no_guarantee
from hedgeclipper.io import is_frame, is_in_memory, split_target
from hedgeclipper.panel.defaults import default_members
from hedgeclipper.panel.fitting import NamedColumns, PanelPredictor
from hedgeclipper.panel.members import (
    ROWS_FOR_VIEWS,
    Member,
    check_estimators,
    fit_and_score,
    has_defaults,
)
from hedgeclipper.panel.panel_inspection import PanelInspectionMixin
from hedgeclipper.sklearn_private import HasMethods, Interval, StrOptions, _BaseComposition

ROWS_IN_GAME, ENTRIES_IN_GAME = 200_000, 10**8


class HedgedVotingClassifier(_BaseComposition, PanelInspectionMixin):
    """Semi-supervised vote of different classifiers.

    Labeled rows that a member has not seen show how well it ranks, unlabeled rows where members
    agree, and a zero-sum game against an adversary who picks the labels gives each its weight. With
    few labels the weights stay near the anchor, in which a member counts the less the more standard
    errors it is behind the best one. The weighted vote is then calibrated.

    Parameters
    ----------
    estimators : list of (str, classifier) or None, default=None
        Names and classifiers, as for scikit-learn's ``VotingClassifier``; "drop" in place of a
        classifier leaves it out. Those whose ``fit`` takes ``X_unlabeled``, and scikit-learn's
        semi-supervised ones, learn from unlabeled rows too. Where X is a frame, they get frames.
        None is a varied panel that suits the rows, and `default_members` lists it, to add others;
        strings, categories and dates in a frame are then encoded for all. In a pipeline that ends
        in one of scikit-learn's semi-supervised classifiers, all steps get the unlabeled rows,
        marked by -1.
    cv : int, splitter, list of splits or "prefit", default=5
        How labeled rows are held out to score a member on: a number of stratified folds, or
        splits of the labeled rows alone. There are no more folds than the smallest class of two
        labels or more has labels. The members are then fitted to all labels. With a number, and no
        weights, a `HedgeClipperClassifier` is fitted once and scored out of bag. "prefit": the
        classifiers are fitted and stay as they are; the labeled rows must be new to them. Take
        fewer folds if members are slow to fit.
    holdout : float or None, default=None
        Fraction of the labels to hold out; only with a ``confidence_level``. None is half of them,
        at most 2,000.
    confidence_level : float or None, default=None
        A number such as 0.95 asks for a guarantee: some labels are held out, have no part in the
        fit, and test its predictions. The bound on the error holds with this probability, if the
        labeled rows are a simple random sample of all rows and have no weights. If None, members
        are fitted to all labels, and the error is an estimate.
    loss : {"square", "zero_one", "log"}, default="square"
        Loss that the game minimizes in the worst case. Probabilities are calibrated whatever it is.
    tol : float, default=1e-3
        Relative duality gap at which the game counts as solved.
    max_iter : int, default=200
        Passes over the unlabeled rows at most, in each of three games.
    class_weight : "balanced", dict, matrix of shape (n_classes, n_classes) or None, default=None
        What errors cost, for ``predict`` alone: it returns the class of lowest expected cost, by
        the same calibrated probabilities. "balanced" weighs errors on rows of a class by one over
        its frequency among the labels, so that rare classes are found; a dictionary has a weight
        for each class (1 for others); a matrix has the cost of predicting the class of the column
        for a row of the class of the row, in the order of ``classes_``. If None, all errors
        cost the same.
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
        Weight of each member; there is one game for two classes, or one for each
        class against the rest.
    certificate_ : Certificate
        The error of ``predict`` on the unlabeled rows (where these are files or Dask's, on those
        in the game), with bounds: a guarantee from held-out labels, or an estimate from out-of-fold
        predictions.
    slack_, duality_gap_, n_iter_, stop_reason_ : ndarray of shape (n_games,)
        Objective and duality gap of the last game, its passes, and why the solver stopped.
    hedged_range_ : ndarray of shape (n_games, 2)
        Between which values of ``decision_function`` the game hedges; beyond, it clips.
        ``predict_proba`` is calibrated and is not clipped.
    out_of_fold_ : ndarray of shape (n_labeled, n_members, n_games)
        Each member's score of each labeled row, by a fit without the row: from 0 to 1, for the
        second class of two or for each of more. NaN where no fit has scored the row.
    never_predicted_ : dict
        Classes that are predicted for none of the unlabeled rows, though at least ten rows are
        expected to be of each, and their numbers of labels.
    n_labeled_, n_unlabeled_ : int
        Number of labeled rows, and of unlabeled rows in the game.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import BernoulliNB
    >>> from hedgeclipper.datasets import load_adult
    >>> X, y = load_adult(return_X_y=True)
    >>> labeled, unlabeled = slice(0, 200), slice(200, 2000)
    >>> members = [("linear", LogisticRegression()), ("bayes", BernoulliNB())]
    >>> model = HedgedVotingClassifier(members, random_state=0)
    >>> model = model.fit(X[labeled], y[labeled], X_unlabeled=X[unlabeled])
    >>> round(model.score(X[2000:], y[2000:]), 2)
    0.83
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
        "loss": [StrOptions({"square", "zero_one", "log"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "class_weight": [StrOptions({"balanced"}), dict, "array-like", None],
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
        loss="square",
        tol=1e-3,
        max_iter=200,
        class_weight=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.estimators = estimators
        self.cv = cv
        self.holdout = holdout
        self.confidence_level = confidence_level
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
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
            Where X is a frame or files, the name of their column of labels.
        X_unlabeled : like X, batches or files, or a Dask collection, optional
            Unlabeled rows; -1 in y is then a class, and an empty X_unlabeled has no other effect.
            Columns of frames are matched by name, whatever their order. Of more than 200,000 rows
            so many are drawn at random for the game, fewer beyond 500 columns (100 million entries,
            and 10,000 rows at least), and members learn from 5,000 of these. In a pipeline, pass it
            with the name of the step, as ``model__X_unlabeled``; steps before do not transform it.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the labeled rows.

        Returns
        -------
        self
        """
        self._validate_params()
        self.__dict__.pop("_predictor", None)
        estimators = self._check_estimators()
        X, y = split_target(X, y)
        self._has_defaults = has_defaults(estimators)
        self._keeps_frames = needs_encoding(X) if self._has_defaults else is_frame(X)
        given = self._check_rows(X, y, X_unlabeled, sample_weight)
        random_state = check_random_state(self.random_state)
        seed = random_state.randint(np.iinfo(np.int32).max)
        drawn = self._draw_unlabeled(given.without_weightless(), seed)
        rows, prepare = self._encode_columns(drawn)
        rows, held = self._hold_out_labels(rows, random_state)
        codes = self._store_classes(rows.y_labeled)
        members, unlabeled = fit_and_score(self, estimators, rows, codes, seed, random_state)
        self.out_of_fold_ = np.stack([member.out_of_fold for member in members], axis=1)
        if not rows.has_unlabeled:
            unlabeled = np.where(np.isnan(self.out_of_fold_), unlabeled, self.out_of_fold_)
        self._labeled = codes, rows.weight_labeled
        scores = panel_scores(self.out_of_fold_, unlabeled, *self._labeled, self._games())
        found = [aggregate(own, **self._game_options()) for own in scores]
        names = [member.name for member in members]
        seconds = [member.seconds for member in members]
        pairs = zip(scores, found, strict=True)
        self._summaries = [summarize(names, *pair) | {"seconds": seconds} for pair in pairs]
        self._store(members, found, prepare)
        self._store_rule(given, held, unlabeled)
        return self

    def __sklearn_tags__(self):
        """Return scikit-learn's tags."""
        tags = super().__sklearn_tags__()
        models: list[Any] = []
        with suppress(TypeError, ValueError):  # fit will raise it
            members = check_estimators(self.estimators or default_members())
            models = [model for _, model in members if not isinstance(model, str)]
        tags.input_tags.sparse = all(get_tags(model).input_tags.sparse for model in models)
        tags.input_tags.allow_nan = all(
            # a pipeline may take missing values, and will fail if it does not
            isinstance(model, Pipeline) or get_tags(model).input_tags.allow_nan
            for model in models
        )
        return tags

    def _game_options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("loss", "tol", "max_iter")}

    def _check_estimators(self) -> list[tuple[str, Any]]:
        """Return the members that are not dropped."""
        if self.confidence_level is not None and isinstance(self.cv, (list, tuple)):
            raise ValueError(
                "cv is a list of splits of all labels, some of which a confidence_level holds out. "
                "Pass a number of folds or a splitter as cv."
            )
        given = default_members() if self.estimators is None else self.estimators
        estimators = check_estimators(given)
        self._validate_names([name for name, _ in given])
        if self._is_prefit and has_defaults(estimators):
            raise ValueError(
                "cv='prefit' needs classifiers that are fitted. Got estimators="
                f"{self.estimators}: pass none that are 'default', or another cv."
            )
        return estimators

    def _draw_unlabeled(self, rows: SemiSupervisedRows, seed: int) -> SemiSupervisedRows:
        """Return the rows with a sample of the unlabeled ones, or labeled ones in their place."""
        if not rows.has_unlabeled:
            return replace(rows, X_unlabeled=rows.X_labeled)
        drawn = self._draw_rows(rows.X_unlabeled, self._most_rows, np.random.RandomState(seed))
        if drawn.shape[0] == 0:
            raise ValueError(NO_UNLABELED_ROWS)
        return replace(rows, X_unlabeled=drawn)

    @property
    def _most_rows(self) -> int:
        """Number of unlabeled rows in the game at most."""
        return max(ROWS_FOR_VIEWS, min(ROWS_IN_GAME, ENTRIES_IN_GAME // self.n_features_in_))

    def _encode_columns(self, rows: SemiSupervisedRows) -> tuple[SemiSupervisedRows, Any]:
        """Return rows as members want them, and what makes such rows of others."""
        if self._has_defaults or not self._keeps_frames:
            return super()._encode_columns(rows)
        prepare = NamedColumns(list(rows.X_labeled.columns))
        return replace(rows, X_unlabeled=prepare(rows.X_unlabeled)), prepare

    @property
    def _is_prefit(self) -> bool:
        return isinstance(self.cv, str)

    def _store(self, members: Sequence[Member], found: Sequence[Aggregate], prepare: Any) -> None:
        self._predictor = PanelPredictor(
            members={member.name: member.estimator for member in members},
            n_classes=self.classes_.size,
            labels=self.classes_ if self._is_prefit else None,  # by default codes
            games=[one.game for one in found],
            prepare=prepare,
            costs=self._costs,
        )
        self.member_names_ = np.array([member.name for member in members], dtype=object)
        self.weights_ = np.array([summary["weight"] for summary in self._summaries])
        games = [one.solution.game for one in found]
        hedged_ranges = np.array([one.game.hedged_range(one.solution.game.loss) for one in found])
        store_games(self, games, hedged_ranges - self._predictor.threshold)

    def _store_rule(
        self, given: SemiSupervisedRows, held: HeldOutRows | None, unlabeled: np.ndarray
    ) -> None:
        """Store labels of all rows where these are in memory, and what labels tell of them.

        ``unlabeled`` are the members' scores of the rows in the game, held-out ones last.
        """
        predictor, n_held = self._predictor, 0 if held is None else held.y.size
        n_rows = unlabeled.shape[0] - (n_held if given.has_unlabeled else 0)
        raw, self._labels = predictor.log_odds(unlabeled[:n_rows]), None
        self.n_labeled_, self.n_unlabeled_ = self._labeled[0].size + n_held, n_rows
        are_some = n_rows == self._most_rows
        if is_in_memory(given.X_unlabeled):
            are_some = given.has_unlabeled and given.X_unlabeled.shape[0] != n_rows
            of_all = raw
            if are_some:
                of_all = predictor.raw_predictions(given.X_unlabeled, self.n_jobs)
            self._labels = self._all_labels(given, self._classes_of(of_all))
        raw = raw if given.has_unlabeled else raw[:0]
        if held is None:
            scored = np.flatnonzero(~np.isnan(self.out_of_fold_).any(axis=(1, 2)))
            tested = predictor.log_odds(self.out_of_fold_[scored])
            labels, caveat = self.classes_[self._labeled[0][scored]], USED_LABELS
        else:
            if given.has_unlabeled:
                tested = predictor.log_odds(unlabeled[n_rows:])
            else:
                tested = replace(predictor, prepare=None).raw_predictions(held.X, self.n_jobs)
            labels = held.y
            caveat = why_no_guarantee(given.weight_labeled is not None, is_shifted=False)
        known: dict[str, Any] = {"caveat": caveat, "is_drawn": are_some}
        self._store_check(given.y_labeled, labels, tested, raw, **known)
