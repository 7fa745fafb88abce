"""HedgeClipperClassifier: rows -> voters -> weights -> tested predictions -> labels."""

from __future__ import annotations

from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.stats import rankdata
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags

from hedgeclipper.base.column_checks import find_leaks, notes_on_numbers, refuse_leaks
from hedgeclipper.base.columns import ColumnEncoder, ColumnScale, needs_encoding, warn_of_columns
from hedgeclipper.base.evaluation import AutoLabelMixin
from hedgeclipper.base.inspection import SummaryMixin
from hedgeclipper.base.predictions import (
    TablePredictor,
    warn_of_never_predicted,
)
from hedgeclipper.base.semi_supervised import (
    HeldOutRows,
    RowBatches,
    RowReader,
    RowSlices,
    SemiSupervisedRows,
    check_sampled_rows,
    hold_out_rows,
)
from hedgeclipper.base.table_classifier import (
    NO_UNLABELED_ROWS,
    ROWS_FOR_SCALE,
    TableClassifier,
)
from hedgeclipper.bounds.certificate import USED_LABELS
from hedgeclipper.bounds.hold_out import HeldOutLabels, differ_in_rank, hold_out_labels
from hedgeclipper.bounds.sample import Sample
from hedgeclipper.bounds.tested_predictions import (
    SHIFTED_LABELS,
    TestedPredictions,
)
from hedgeclipper.game.solvers import store_games
from hedgeclipper.io import (
    as_frame,
    as_source,
    frame_names,
    is_batched,
    is_frame,
    is_in_memory,
    split_target,
)
from hedgeclipper.io.arrays import MAX_SEED, draw_rows
from hedgeclipper.io.digests import MODULUS, digest_rows, hash_rows
from hedgeclipper.sklearn_private import Interval, StrOptions, _BaseComposition
from hedgeclipper.table_inspection import TableInspectionMixin, TestedRows
from hedgeclipper.voters.classifiers import LabeledRows, check_estimators
from hedgeclipper.voters.tree_groups import SHIFT_THRESHOLD, check_shift
from hedgeclipper.voters.voters import FittedVoters, UnlabeledScores, fit_voters, score_unlabeled
from hedgeclipper.weighing import (
    VoterScores,
    WeighedVoters,
    scores_by_game,
    weigh,
    weigh_by_folds,
)

# unlabeled rows that teach views
ROWS_FOR_VIEWS = 20_000
# those from which it is learned how columns are encoded
ROWS_FOR_ENCODING = 50_000


class HedgeClipperClassifier(
    TableInspectionMixin,
    SummaryMixin,
    AutoLabelMixin,
    _BaseComposition,
    TableClassifier,
):
    """Semi-supervised vote of different classifiers, most of which learn from all rows.

    The voters are three groups of trees (a random forest, extra trees on components of all rows,
    and extra trees on columns and components), linear models, class means, a kernel and boosting.
    Labeled rows that a voter has not seen show how well it ranks, unlabeled rows where voters
    agree, and a zero-sum game against an adversary who picks the labels [1]_ gives each voter its
    weight. With few labels the weights stay near an anchor that gives the trees one half. The
    weighted vote is then calibrated.

    Parameters
    ----------
    estimators : {"default", "trees"} or list of (str, classifier), default="default"
        The voters. "trees" are the groups of trees alone, which is fast. A list has names and
        classifiers, as for scikit-learn's ``VotingClassifier``; in place of a classifier "default"
        is the default voter of that name (`default_estimators` lists them) and "drop" leaves it
        out. Classifiers whose ``fit`` takes ``X_unlabeled``, and scikit-learn's semi-supervised
        ones, learn from unlabeled rows too. A fitted one is used as it is if it is wrapped in
        ``sklearn.frozen.FrozenEstimator``; the labeled rows must be new to it.
    n_estimators : int, default=600
        Number of trees in all. More trees are a little more accurate and take longer.
    confidence_level : float or None, default=None
        A number such as 0.95 asks for a guarantee: some labels are held out, have no part in the
        fit, and test its predictions. The bound on the error holds with this probability, if the
        labeled rows are a simple random sample of all rows. If None, no labels are held out, and
        the error is an estimate.
    holdout : float or None, default=None
        Fraction of the labels to hold out; only with a ``confidence_level``. None is half of them,
        at most 2,000, or a little more where that allows to prove an error of 5% or 1%.
    class_weight : "balanced", dict or None, default=None
        What errors cost, for ``predict`` alone: it returns the class of lowest expected cost, by
        the same calibrated probabilities. "balanced" weighs errors on rows of a class by one over
        its frequency among the labels, so that rare classes are found; a dictionary has a weight
        for each class (1 for others). If None, all errors cost the same.
    keep : list of str or None, default=None
        Names of columns to use although they seem to be made of the labels ("x0" is the first one
        if there are no names). Others that do are refused: columns with one value for each class,
        and those that tell classes apart but are missing or constant on unlabeled rows.
    n_jobs : int or None, default=None
        Threads for trees and predictions, processes for other fits; None is 1 and -1 all cores.
    random_state : int, RandomState or None, default=None
        Seed; pass an int for the same result in every fit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    voter_names_ : ndarray of shape (n_voters,)
        Names of the voters; those that failed are left out.
    weights_ : ndarray of shape (n_games, n_voters)
        Weights of the voters: there is one game for two classes, or one for each class against the
        rest.
    label_correlations_ : ndarray of shape (n_games, n_voters)
        Correlation with the labels (b) of each voter; both classes count the same.
    encoder_ : ColumnEncoder or None
        What makes numbers of the columns of frames; None if these are numbers already.
    estimators_ : dict of str to estimator
        The fitted classifiers other than trees, by their names.
    slack_, duality_gap_, n_iter_, stop_reason_ : ndarray of shape (n_games,)
        Slack and duality gap that the solver reached, number of passes, and why it stopped.
    certificate_ : Certificate
        The error of ``predict`` on the unlabeled rows, with bounds: a guarantee from held-out
        labels, or an estimate from labeled rows that voters have not seen.
    never_predicted_ : dict
        Classes that no unlabeled row (of a sample, of files) is predicted to be of, though at least
        ten are expected to be, and their numbers of labels.
    n_labeled_, n_unlabeled_ : int
        Number of labeled and of unlabeled rows.
    fit_files_ : dict
        Only if ``hedgeclipper fit`` has fitted the model: its target, key and left-out columns.
    shift_score_ : float
        How much the unlabeled rows differ from the labeled ones in how they fall into leaves: a
        chi-square statistic in standard deviations from its mean under no shift. Values up to 3
        are usual, above 8 there is a `ShiftWarning`. 0 without trees.

    References
    ----------
    .. [1] A. Balsubramani and Y. Freund, "Scalable semi-supervised aggregation of classifiers",
       NIPS 2015.

    Examples
    --------
    >>> from hedgeclipper.datasets import load_adult
    >>> X, y = load_adult(return_X_y=True)
    >>> labeled, unlabeled = slice(0, 300), slice(300, 3000)
    >>> model = HedgeClipperClassifier(random_state=0)
    >>> model = model.fit(X[labeled], y[labeled], X_unlabeled=X[unlabeled])
    >>> round(model.score(X[3000:], y[3000:]), 2)
    0.83
    """

    fit_files_: dict[str, Any]

    _parameter_constraints: ClassVar[dict] = {
        "estimators": [StrOptions({"default", "trees"}), list, tuple],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "confidence_level": [Interval(Real, 0, 1, closed="neither"), None],
        "holdout": [Interval(Real, 0, 1, closed="neither"), None],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "keep": [list, tuple, None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimators="default",
        *,
        n_estimators=600,
        confidence_level=None,
        holdout=None,
        class_weight=None,
        keep=None,
        n_jobs=None,
        random_state=None,
    ):
        self.estimators = estimators
        self.n_estimators = n_estimators
        self.confidence_level = confidence_level
        self.holdout = holdout
        self.class_weight = class_weight
        self.keep = keep
        self.n_jobs = n_jobs
        self.random_state = random_state

    def get_params(self, deep=True):
        """Return the parameters, those of named classifiers among them.

        Parameters
        ----------
        deep : bool
            Whether to look into the classifiers.
        """
        is_list = isinstance(self.estimators, list | tuple)
        return self._get_params("estimators", deep=deep and is_list)

    def set_params(self, **params):
        """Set parameters; a classifier is replaced by its name, or by "drop".

        Parameters
        ----------
        **params : dict
            Names and values.
        """
        if isinstance(self.estimators, list | tuple) or "estimators" in params:
            return self._set_params("estimators", **params)
        return super().set_params(**params)

    def fit(self, X, y, X_unlabeled=None, *, sample=None):
        """Fit the voters to the labeled rows, and weigh them with the help of the unlabeled ones.

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
            be iterated over again, or a function that returns a fresh iterable. Files are Parquet
            or CSV: a path, a folder, a glob or a list, read in batches. In a pipeline, pass it with
            the name of the step, as ``model__X_unlabeled``; steps before do not transform it.
        sample : Sample, optional
            The record of `draw_sample`, if labels are of rows that it has drawn from X: then X are
            all rows of the file, in memory and in its order. Labels of these rows are known to be
            a random sample, and they alone test predictions. Other labels were chosen, and train
            only. A row of the sample without a label is one that nobody could decide: it counts as
            wrong in the test, and needs review.

        Returns
        -------
        self
        """
        for name in ("_predictor", "_gain", "_importances"):  # of an earlier fit
            self.__dict__.pop(name, None)
        self._validate_params()
        plan = check_estimators(self.estimators)
        if not isinstance(self.estimators, str):
            self._validate_names([name for name, _ in self.estimators])
        if sample is not None:
            check_sampled_rows(sample, X, y, X_unlabeled)
        given, rows = self._read(X, y, X_unlabeled, plan)
        rows, draw, held = self._hold_out_labels(rows, sample)
        codes = self._store_classes(rows.y_labeled)
        random_state = self._random_state
        # by a copy of the generator, so that the same trees are grown whatever rows are drawn from
        some = self._draw(rows, ROWS_FOR_VIEWS, deepcopy(random_state))
        self._look_at_columns(rows.X_labeled, codes, some)
        labeled = LabeledRows(rows.X_labeled, codes, self.classes_, some)
        self._grown_from = labeled, deepcopy(random_state)
        self._fitted_hashes = hash_rows(labeled.X)
        voters = fit_voters(
            plan,
            labeled,
            self._games(),
            n_trees=self.n_estimators,
            random_state=random_state,
            n_jobs=self.n_jobs,
        )
        self.shift_score_ = check_shift(voters.trees, some, self.n_jobs) if voters.trees else 0.0
        unlabeled = score_unlabeled(
            voters.scorer,
            rows.X_unlabeled,
            self._reader,
            random_state.randint(MAX_SEED),
            n_jobs=self.n_jobs,
            with_digest=held is not None,
        )
        sample = unlabeled.sample if rows.has_unlabeled else self._reuse(voters, unlabeled)
        scores = scores_by_game(voters.labeled, sample.astype(float), codes, self._games())
        weighed = [weigh(own, voters.tree_sizes) for own in scores]
        self._store(voters, weighed)
        raw = self._store_labels(given, held, unlabeled)
        if held is None:
            self._tested = self._test_by_folds(scores, codes, raw, given, draw)
        else:
            self._tested = self._test_by_held_out(held, raw, given, draw, unlabeled.digest)
        self.certificate_ = self._tested.certificate(self.confidence_level)
        known = self.classes_.tolist()
        n_labels = {label: int(np.sum(given.y_labeled == label)) for label in known}
        self.never_predicted_ = warn_of_never_predicted(self._predictor, raw, n_labels)
        return self

    def __sklearn_tags__(self):
        """Return scikit-learn's tags."""
        tags = super().__sklearn_tags__()
        models: list[Any] = []
        if not isinstance(self.estimators, str):
            with suppress(TypeError, ValueError):  # fit will raise it
                plan = check_estimators(self.estimators)
                models = [model for _, model in plan if not isinstance(model, str)]
        tags.input_tags.sparse = all(get_tags(model).input_tags.sparse for model in models)
        tags.input_tags.allow_nan = all(
            # a pipeline may take missing values, and will fail if it does not
            isinstance(model, Pipeline) or get_tags(model).input_tags.allow_nan
            for model in models
        )
        return tags

    def _read(
        self, X: Any, y: Any, X_unlabeled: Any, plan: list[tuple[str, Any]]
    ) -> tuple[SemiSupervisedRows, SemiSupervisedRows]:
        """Return rows as given, and as voters learn from them.

        Rows are encoded if some voter is a default one; your own classifiers alone get frames as
        they are, and arrays in float64.
        """
        X, y = split_target(X, y)
        self._random_state = check_random_state(self.random_state)
        has_names = is_frame(X)
        if all(not isinstance(one, str) for _, one in plan):
            columns = list(as_frame(X).columns) if has_names else None
            reader = RowReader({"dtype": "float64"}, frame_columns=columns)
            given = self._check_rows(X, y, X_unlabeled, reader)
            return given, given
        encodes = False
        if has_names or (isinstance(y, str) and is_batched(X)):
            encodes = needs_encoding(X, None, y if isinstance(y, str) else None)
            encodes = encodes or needs_encoding(X_unlabeled, frame_names(X))
        reader = RowReader({}, encodes=encodes)
        given = self._check_rows(X, y, X_unlabeled, reader)
        return given, self._encode_columns(given) if encodes else given

    def _encode_columns(self, rows: SemiSupervisedRows) -> SemiSupervisedRows:
        """Return rows as numbers; the reader makes such rows of others from now on.

        How columns are encoded is learned from labeled rows and a sample of the unlabeled ones.
        """
        some = self._draw(rows, ROWS_FOR_ENCODING, np.random.RandomState(0))
        encoder = ColumnEncoder().fit(rows.X_labeled, some)
        labeled = draw_rows(rows.X_labeled, ROWS_FOR_SCALE, np.random.RandomState(0))
        self._reader = reader = replace(
            self._reader,
            encoder=encoder,
            scale=ColumnScale.of(encoder.transform(labeled)),
            n_columns=encoder.sources_.size,
        )
        unlabeled = rows.X_unlabeled
        if isinstance(unlabeled, RowBatches):
            options = {"frames": reader.n_columns, "strings": encoder.string_names}
            source = as_source(unlabeled.source, name="X_unlabeled", **options)
            unlabeled = replace(unlabeled, source=source, check=reader)
        elif is_in_memory(unlabeled):
            parts = [reader(part) for part in RowSlices(unlabeled)]
            unlabeled = np.concatenate(parts) if parts else reader(unlabeled)
        else:
            unlabeled = reader.read_collection(unlabeled)
        return replace(rows, X_labeled=reader(rows.X_labeled), X_unlabeled=unlabeled)

    def _draw(
        self, rows: SemiSupervisedRows, n_rows: int, random_state: np.random.RandomState
    ) -> Any | None:
        """Return so many unlabeled rows, for views and the like; None if there are none."""
        if not rows.has_unlabeled:
            return None
        some = self._reader.draw(rows.X_unlabeled, n_rows, random_state)
        if some.shape[0] == 0:
            raise ValueError(NO_UNLABELED_ROWS)
        return some

    def _look_at_columns(self, X: Any, codes: np.ndarray, some: Any | None) -> None:
        """Refuse columns that are made of the labels, and warn of others that may be wrong."""
        self._column_notes: dict[int, str] = {}
        if not isinstance(X, np.ndarray):
            return
        if self.encoder_ is None:
            parts = [X] if some is None else [X, some]
            self._column_notes = notes_on_numbers(parts, self._reader.scale)
        plans = self._number_plans() if self.encoder_ is None else self.encoder_.plans_
        leaks = find_leaks(X, codes, some, self._column_sources())
        known = {plans[k].name: why for k, why in leaks.items()}
        refuse_leaks(known, codes.size, () if self.keep is None else self.keep, "Column")
        warn_of_columns(plans)

    @staticmethod
    def _reuse(voters: FittedVoters, unlabeled: UnlabeledScores) -> np.ndarray:
        """Return scores of labeled rows in place of unlabeled ones: out of sample, where known."""
        known = ~np.isnan(voters.labeled).any(axis=(1, 2), keepdims=True)
        assert unlabeled.of_all is not None
        return np.where(known, voters.labeled, unlabeled.of_all[: len(voters.labeled)])

    def _store(self, voters: FittedVoters, found: list[WeighedVoters]) -> None:
        """Store what predicts new rows, and the results of the games."""
        scorer = voters.scorer
        self._voters, self._seconds = voters, voters.seconds
        self._voter_columns = [one.describe() for one in found]
        self._predictor = TablePredictor(scorer, [one.vote for one in found], self._costs)
        self.voter_names_ = np.array(scorer.names, dtype=object)
        self.weights_ = np.array([one.vote.weights for one in found])
        self.label_correlations_ = np.array([one.label_correlations for one in found])
        store_games(self, [one.game for one in found])

    def _store_labels(
        self, given: SemiSupervisedRows, held: HeldOutRows | None, unlabeled: UnlabeledScores
    ) -> np.ndarray:
        """Store labels of all rows where these are in memory; return raw predictions.

        These are of the unlabeled rows, or of a sample of them, without the held-out ones.
        """
        is_unlabeled = np.ones(unlabeled.n_rows, dtype=bool)
        if held is not None and given.has_unlabeled:
            is_unlabeled[held.positions_in(unlabeled.n_rows)] = False
        self.n_labeled_ = given.y_labeled.size
        self.n_unlabeled_ = int(is_unlabeled.sum()) if given.has_unlabeled else 0
        if unlabeled.of_all is None:
            self._labels = None
            return self._predictor.raw_of(unlabeled.sample[is_unlabeled[unlabeled.positions]])
        raw = self._predictor.raw_of(unlabeled.of_all[is_unlabeled])
        self._labels = self._all_labels(given, self._classes_of(raw))
        return raw if given.has_unlabeled else raw[:0]

    def _test_by_held_out(
        self,
        held: HeldOutRows,
        raw: np.ndarray,
        given: SemiSupervisedRows,
        draw: HeldOutLabels,
        digest: int,
    ) -> TestedPredictions:
        """Return what held-out labels tell, given raw predictions of the unlabeled rows.

        ``digest`` is that of unlabeled and held-out rows together. Labels whose draw is recorded
        are a random sample, whatever rows look like.
        """
        predictor = self._predictor
        tested = predictor.raw_of(predictor.scorer.score(held.X, self.n_jobs))
        self._tested_rows = TestedRows(held.y, tested, hash_rows(held.X))
        own, others = predictor.uncertainties(tested), predictor.uncertainties(raw)
        caveat = ""
        if not draw.is_recorded and (
            self.shift_score_ > SHIFT_THRESHOLD
            or differ_in_rank(tested, raw)
            or differ_in_rank(own, others)
        ):
            caveat = SHIFTED_LABELS
        predicted = self._classes_of(tested)
        return TestedPredictions.of(
            predicted != held.y,
            predicted,
            own,
            unlabeled=(self._classes_of(raw), others),
            labels=given.y_labeled,
            draw=draw,
            n_unlabeled=self.n_unlabeled_,
            caveat=caveat,
            digest=(digest - digest_rows(held.X)) % MODULUS,
        )

    def _test_by_folds(
        self,
        scores: list[VoterScores],
        codes: np.ndarray,
        raw: np.ndarray,
        given: SemiSupervisedRows,
        draw: HeldOutLabels,
    ) -> TestedPredictions:
        """Return what labels tell that were used in the fit, too: folds are weighed without them.

        ``codes`` are the classes of the labeled rows, and ``raw`` predictions of unlabeled ones.
        """
        predictor, sizes = self._predictor, self._voters.tree_sizes
        # labeled rows that all voters have scored without their labels
        rows = np.flatnonzero(~np.isnan(self._voters.labeled).any(axis=(1, 2)))
        if np.unique(codes[rows]).size < self.classes_.size:
            rows = rows[:0]  # errors on some of the classes would tell nothing of all rows
        tested, centers = np.empty((rows.size, predictor.n_games)), []
        folds = weigh_by_folds(scores, sizes) if rows.size else ()
        for test, votes, unlabeled in folds:
            fold = replace(predictor, votes=votes)
            tested[test] = fold.raw_of(self._voters.labeled[rows[test]])
            centers.append(float(np.mean(fold.uncertainties(fold.raw_of(unlabeled)))))
        rows, tested = rows[draw.can_test[rows]], tested[draw.can_test[rows]]
        y = self.classes_[codes[rows]]
        self._tested_rows = TestedRows(y, tested, self._fitted_hashes[rows])
        own = scaled = predictor.uncertainties(tested)
        if raw.size and tested.size:
            # fewer trees and labels predict on another scale: take the values of the same ranks
            ranks = (rankdata(tested, axis=0) - 0.5) / rows.size
            pairs = zip(raw.T, ranks.T, strict=True)
            same = np.column_stack([np.quantile(column, rank) for column, rank in pairs])
            scaled = predictor.uncertainties(same)
        predicted = self._classes_of(tested)
        return TestedPredictions.of(
            predicted != y,
            predicted,
            scaled,
            unlabeled=(self._classes_of(raw), predictor.uncertainties(raw)),
            labels=given.y_labeled,
            draw=draw,
            n_unlabeled=self.n_unlabeled_,
            own_uncertainties=own,
            center=float(np.mean(centers)) if centers and given.has_unlabeled else None,
            caveat=USED_LABELS,
        )

    def _hold_out_labels(
        self, rows: SemiSupervisedRows, sample: Sample | None
    ) -> tuple[SemiSupervisedRows, HeldOutLabels, HeldOutRows | None]:
        """Return the rows to fit to, the draw of test labels, and their rows, if there are any."""
        draw = hold_out_labels(
            rows.y_labeled.size,
            rows.places,
            sample,
            confidence_level=self.confidence_level,
            holdout=self.holdout,
            random_state=self._random_state,
        )
        if draw.held is None:
            return rows, draw, None
        rows, held = hold_out_rows(rows, draw.held, self._reader.of_read_rows.names)
        return rows, draw, held

    def _sure_predictions(self, X: Any) -> tuple[np.ndarray, np.ndarray, int]:
        """Return labels of rows, their uncertainties, and the digest of the rows."""
        predictor = self._predictor
        raw, digest = [np.empty((0, predictor.n_games))], 0
        for batch in self._batches(X, "X", "pass X.compute()"):
            raw.append(predictor.raw_predictions(batch, self.n_jobs))
            digest = (digest + digest_rows(batch)) % MODULUS
        found = np.concatenate(raw)
        return self._classes_of(found), predictor.uncertainties(found), digest

    def _unlabeled_predictions(self) -> tuple[np.ndarray, np.ndarray]:
        labels = self.transduction_
        labels = labels if self._marked is None else labels[self._marked]
        uncertainties = self._tested.unlabeled_uncertainties
        if labels.size != uncertainties.size:
            raise ValueError(
                f"{uncertainties.size:,} of the {labels.size:,} unlabeled rows of the fit were "
                "drawn for the game, and the labels tell of these alone. Pass rows as X, for an "
                "estimate."
            )
        return labels, uncertainties
