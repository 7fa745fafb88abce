"""HedgeClipperClassifier: rows -> voters -> weights -> tested predictions -> labels."""

from __future__ import annotations

from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import check_consistent_length, check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.base.columns import (
    ColumnEncoder,
    ColumnPlan,
    find_leaks,
    needs_encoding,
    notes_on_numbers,
    refuse_leaks,
    warn_of_columns,
    warn_of_spellings,
)
from hedgeclipper.base.evaluation import evaluate_predictions, rows_and_labels
from hedgeclipper.base.predictions import TableClassifier, TablePredictor, warn_of_never_predicted
from hedgeclipper.base.results import ResultsMixin
from hedgeclipper.base.row_reader import (
    NO_UNLABELED_ROWS,
    HeldOutRows,
    RowReader,
    SemiSupervisedRows,
    check_sampled_rows,
    hold_out_rows,
)
from hedgeclipper.bounds.hold_out import HeldOutLabels, hold_out_labels
from hedgeclipper.bounds.sample import Sample
from hedgeclipper.game.solvers import store_games
from hedgeclipper.io import as_frame, frame_names, is_batched, is_frame, split_target
from hedgeclipper.io.arrays import MAX_SEED, MODULUS, digest_rows, hash_rows
from hedgeclipper.io.messages import import_extra
from hedgeclipper.out_of_sample import (
    FitFacts,
    check_by_folds,
    check_on_held_out,
    predict_unseen,
)
from hedgeclipper.sklearn_private import Interval, StrOptions, _BaseComposition
from hedgeclipper.table_inspection import UnlabeledGain, permutation_importances, unlabeled_gain
from hedgeclipper.voters.classifiers import LabeledRows, check_estimators
from hedgeclipper.voters.tree_groups import (
    SHIFT_THRESHOLD,
    FittedTrees,
    check_shift,
    fit_trees,
)
from hedgeclipper.voters.voters import FittedVoters, UnlabeledScores, fit_voters, score_unlabeled
from hedgeclipper.weighing import WeighedVoters, scores_by_game, weigh

# unlabeled rows that teach views
ROWS_FOR_VIEWS = 20_000


class HedgeClipperClassifier(ResultsMixin, _BaseComposition, TableClassifier):
    """Semi-supervised vote of different classifiers, most of which learn from all rows.

    The voters are three groups of trees (a random forest, extra trees on components of all rows,
    and extra trees on columns and components), linear models, a kernel and boosting.
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
        if there are no names). Others that do are refused: columns whose values
        tell the classes apart, such as a date that only rows of one class have, and those that do
        so where there are labels but are missing or constant on unlabeled rows.
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
            only. A row of the sample without a label was skipped: it counts as
            wrong in the test, and needs review.

        Returns
        -------
        self
        """
        plan = self._start()
        random_state = check_random_state(self.random_state)
        given = self._read(X, y, X_unlabeled, plan, sample)  # 1: as in ARCHITECTURE.md
        draw = hold_out_labels(  # 2
            given.y_labeled.size,
            given.places,
            sample,
            confidence_level=self.confidence_level,
            holdout=self.holdout,
            random_state=random_state,
        )
        if self._reader.encodes:
            self._reader, given = self._reader.learn_encoding(given, draw.held)
        rows, held = hold_out_rows(given, draw.held)
        codes = self._store_classes(rows.y_labeled, given.y_labeled)
        # by a copy of the generator, so that the same trees are grown whatever rows are drawn from
        some = rows.draw(ROWS_FOR_VIEWS, deepcopy(random_state))  # 3
        self._look_at_columns(rows.X_labeled, codes, some)
        labeled = LabeledRows(rows.X_labeled, codes, self.classes_, some)
        self._grown_from = labeled, deepcopy(random_state)
        games, options = self._games(), {"random_state": random_state, "n_jobs": self.n_jobs}
        voters = fit_voters(plan, labeled, games, n_trees=self.n_estimators, **options)  # 4, 5
        self.shift_score_ = check_shift(voters.trees, some)
        unlabeled = score_unlabeled(  # 6
            voters.scorer,
            rows.X_unlabeled,
            random_state.randint(MAX_SEED),
            n_jobs=self.n_jobs,
            with_digest=held is not None,
        )
        sampled = unlabeled.sample if rows.has_unlabeled else voters.reused(unlabeled)
        scores = scores_by_game(voters.labeled, sampled, codes, games)
        predictor = self._store(voters, [weigh(own, voters.tree_sizes) for own in scores])  # 7, 8
        facts = self._store_labels(predictor, given, held, unlabeled, draw)
        self._fitted_hashes = hash_rows(labeled.X)
        if held is None:  # 9
            found = check_by_folds(predictor, scores, voters, facts, self._fitted_hashes)
        else:
            is_shifted = self.shift_score_ > SHIFT_THRESHOLD
            found = check_on_held_out(
                predictor, held, facts, unlabeled.digest, is_shifted, self.n_jobs
            )
        self._tested_rows, self._tested = found
        self.certificate_ = self._tested.certificate(self.confidence_level)
        self.never_predicted_ = warn_of_never_predicted(predictor, facts.raw, facts.y)
        self._predictor = predictor  # last: with it the model is fitted
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

    def voter_summary(self):
        """Return a frame that describes the voters, one row each.

        Columns: ``weight``, ``correlation`` (b with both classes counting the same, out of sample)
        and its ``standard_error``, ``auc`` (out of sample), ``agreement`` (correlation of its votes
        with the mean vote of the others on unlabeled rows), ``contribution`` (proportion of the
        spread of the result that comes from it) and ``seconds`` (time of its fits). With more than
        two classes there is a row for each voter and class, and a column ``class``.

        Returns
        -------
        pandas.DataFrame
            The summary, largest contribution first.
        """
        check_is_fitted(self)
        pandas = import_extra("pandas", "io", "voter_summary")
        names, seconds = self._predictor.scorer.names, self._seconds
        parts = []
        for game, columns in zip(self._games(), self._voter_columns, strict=True):
            part = pandas.DataFrame({"voter": names, **columns, "seconds": seconds})
            if len(self._voter_columns) > 1:
                part.insert(1, "class", self.classes_[game])
            parts.append(part)
        frame = pandas.concat(parts, ignore_index=True)
        return frame.sort_values("contribution", ascending=False, ignore_index=True)

    def leaderboard(self, X, y):
        """Return a frame that compares the model with its voters on new labeled rows.

        Columns: ``voter`` ("all voters" for the model itself), ``auc``, ``accuracy`` and
        ``log_loss`` as in ``evaluate``, and ``seconds`` as in ``voter_summary``.

        Parameters
        ----------
        X : array-like, frame, sparse matrix, batches or files
            Rows, as in ``fit``. They should be new to the model.
        y : array-like of shape (n_samples,), or str
            Labels, as in ``evaluate``.

        Returns
        -------
        pandas.DataFrame
            The comparison, largest AUC first.
        """
        pandas = import_extra("pandas", "io", "leaderboard")
        X, y = rows_and_labels(X, y)
        known, true = self._labels_to_score(y)
        predictor, classes, n_jobs = self._predictor, self.classes_, self.n_jobs
        parts = [predictor.scorer.score(batch, n_jobs) for batch in self._batches(X)]
        scores = np.concatenate(parts).astype(float)
        check_consistent_length(scores, known)
        scores = scores[known]
        raw = predictor.raw_of(scores)
        pairs = [(predictor.predict(raw), predictor.probabilities(raw))]
        pairs += [(classes[own.argmax(axis=1)], own) for own in probabilities_by_voter(scores)]
        lines = []
        for predicted, probabilities in pairs:
            found = evaluate_predictions(true, predicted, probabilities, classes)
            lines.append((found.auc, found.accuracy, found.log_loss))
        frame = pandas.DataFrame(lines, columns=["auc", "accuracy", "log_loss"])
        frame.insert(0, "voter", ["all voters", *predictor.scorer.names])
        frame["seconds"] = [np.nan, *self._seconds]
        return frame.sort_values("auc", ascending=False, ignore_index=True)

    def tested_probabilities(self):
        """Return labels that tested the model, and probabilities of their rows.

        With a ``confidence_level`` these are the held-out rows. Without, they are labeled rows of
        the fit: each voter has scored them by trees or fits without the row, and the weights were
        found without the labels of the row's fold. These labels have helped to fit the voters that
        scored the other rows, which may flatter the model a little.

        Returns
        -------
        y : ndarray of shape (n_tested,)
            Labels.
        probabilities : ndarray of shape (n_tested, n_classes)
            Probabilities.
        """
        check_is_fitted(self)
        return self._tested_rows.y, self._predictor.probabilities(self._tested_rows.raw)

    @property
    def encoder_(self) -> ColumnEncoder | None:
        """What makes numbers of the columns of frames; None if these are numbers already."""
        return self._reader.encoder

    @property
    def encoding_(self):
        """What was done with the columns of ``fit``: a frame with a row for each.

        Columns: ``column`` is its name ("x0" for the first one if there are no names), ``kind`` is
        "numbers", "categories", "text", "dates" or "left out" ("as given" where your classifiers
        get frames as they are), ``what`` is done with it, and ``note`` tells why that may be wrong.
        """
        check_is_fitted(self)
        rows = [(plan.name, plan.kind, plan.what, plan.note) for plan in self._column_plans()]
        pandas = import_extra("pandas", "io", "encoding_")
        return pandas.DataFrame(rows, columns=["column", "kind", "what", "note"])

    @property
    def estimators_(self) -> dict[str, Any]:
        """The fitted classifiers other than trees, by their names."""
        if not hasattr(self, "_predictor"):
            raise AttributeError("estimators_ is known after fit.")
        return self._predictor.scorer.classifiers

    @property
    def class_weight_(self) -> np.ndarray:
        """What errors on rows of each class cost, by ``class_weight``; 1 if all cost the same."""
        check_is_fitted(self)
        weights = self._predictor.class_weights
        return np.ones(self.classes_.size) if weights is None else weights

    @property
    def unlabeled_gain_(self) -> UnlabeledGain:
        """What the unlabeled rows have brought to the trees, measured out of bag.

        It is computed when it is first asked for, which takes about as long as growing the trees:
        they are grown once more, on components that are learned from the labeled rows alone. A
        saved model has no rows to do so, and knows it only if it was asked for before.
        """
        if not hasattr(self, "_gain"):
            trees, rows, random_state = self._trees_and_rows("unlabeled_gain_")
            if trees.scorer.components is None:
                raise AttributeError("unlabeled_gain_ is about components, and there are none.")
            control = fit_trees(
                replace(rows, X_unlabeled=None),
                self._games(),
                n_trees=self.n_estimators,
                random_state=deepcopy(random_state),
                n_jobs=self.n_jobs,
            )
            self._gain = unlabeled_gain(trees, control, rows, self._games())
        return self._gain

    @property
    def feature_importances_(self) -> np.ndarray:
        """How much each column matters to the trees: what their out-of-bag AUC loses without it.

        The columns of the labeled rows are shuffled one after the other. The array has the shape
        ``(n_features_in_,)``, in the order of the columns of ``fit``, also where strings were
        encoded. It is computed when it is first asked for; a saved model has no rows to do so, and
        knows it only if it was asked for before.
        """
        if not hasattr(self, "_importances"):
            trees, rows, _ = self._trees_and_rows("feature_importances_")
            # columns made of one are shuffled together
            sources = self._reader.sources
            columns = [np.flatnonzero(sources == k) for k in range(self.n_features_in_)]
            found = permutation_importances(trees, rows, self._games(), columns)
            self._importances = found
        return self._importances

    def _start(self) -> list[tuple[str, Any]]:
        """Forget an earlier fit, check the parameters, and return names and voters."""
        results = [name for name in vars(self) if name.endswith("_")]
        for name in ("_predictor", "_gain", "_importances", *results):
            self.__dict__.pop(name, None)
        self._validate_params()
        plan = check_estimators(self.estimators)
        if not isinstance(self.estimators, str):
            self._validate_names([name for name, _ in self.estimators])
        return plan

    def _read(
        self, X: Any, y: Any, X_unlabeled: Any, plan: list[tuple[str, Any]], sample: Sample | None
    ) -> SemiSupervisedRows:
        """Return rows as voters learn from them, but frames of strings and dates as they are.

        These are encoded later, if some voter is a default one; your own classifiers alone get
        frames as they are, and arrays in float64.
        """
        if sample is not None:
            check_sampled_rows(sample, X, y, X_unlabeled)
        X, y = split_target(X, y)
        if all(not isinstance(one, str) for _, one in plan):
            columns = list(as_frame(X).columns) if is_frame(X) else None
            reader = RowReader({"dtype": "float64"}, frame_columns=columns)
            return self._check_rows(X, y, X_unlabeled, reader)
        encodes = False
        if is_frame(X) or (isinstance(y, str) and is_batched(X)):
            encodes = needs_encoding(X, None, y if isinstance(y, str) else None)
            encodes = encodes or needs_encoding(X_unlabeled, frame_names(X))
        return self._check_rows(X, y, X_unlabeled, RowReader({}, encodes=encodes))

    def _look_at_columns(self, X: Any, codes: np.ndarray, some: Any | None) -> None:
        """Refuse columns that are made of the labels, and warn of others that may be wrong."""
        self._column_notes: dict[int, str] = {}
        warn_of_spellings(self.classes_)
        if not isinstance(X, np.ndarray):
            return
        if self._reader.encoder is None:
            parts = [X] if some is None else [X, some]
            self._column_notes = notes_on_numbers(parts, self._reader.scale)
        plans = self._column_plans()
        leaks = find_leaks(X, codes, some, self._reader.sources)
        known = {plans[k].name: why for k, why in leaks.items()}
        refuse_leaks(known, codes.size, () if self.keep is None else self.keep, "Column")
        warn_of_columns(plans)

    def _column_plans(self) -> list[ColumnPlan]:
        """Return what is done with each column, with notes on it."""
        if self._reader.encoder is not None:
            return self._reader.encoder.plans_
        numbered = [f"x{k}" for k in range(self.n_features_in_)]
        names = getattr(self, "feature_names_in_", numbered)
        kind, notes = "as given" if self._reader.frame_columns else "numbers", self._column_notes
        return [
            ColumnPlan(name, kind, "as they are", note=notes.get(k, ""))
            for k, name in enumerate(names)
        ]

    def _store(self, voters: FittedVoters, found: list[WeighedVoters]) -> TablePredictor:
        """Store the results of the games, and return what predicts new rows."""
        self._voters, self._seconds = voters, voters.seconds
        self._voter_columns = [one.describe() for one in found]
        votes = [one.vote for one in found]
        self.voter_names_ = np.array(voters.scorer.names, dtype=object)
        self.weights_ = np.array([vote.weights for vote in votes])
        self.label_correlations_ = np.array([one.label_correlations for one in found])
        store_games(self, [one.game for one in found])
        return TablePredictor(voters.scorer, votes, self.classes_, self._class_weights)

    def _store_labels(
        self,
        predictor: TablePredictor,
        given: SemiSupervisedRows,
        held: HeldOutRows | None,
        unlabeled: UnlabeledScores,
        draw: HeldOutLabels,
    ) -> FitFacts:
        """Store labels of all rows where these are in memory; return what tests must know.

        Raw predictions are of the unlabeled rows, or of a sample of them, without held-out ones.
        """
        is_unlabeled = np.ones(unlabeled.n_rows, dtype=bool)
        if held is not None and given.has_unlabeled:
            is_unlabeled[held.positions_in(unlabeled.n_rows)] = False
        if not is_unlabeled.any():
            raise ValueError(NO_UNLABELED_ROWS)
        self.n_labeled_ = given.y_labeled.size
        self.n_unlabeled_ = int(is_unlabeled.sum()) if given.has_unlabeled else 0
        self._labels = None
        if unlabeled.of_all is None:
            raw = predictor.raw_of(unlabeled.sample[is_unlabeled[unlabeled.positions]])
        else:
            raw = predictor.raw_of(unlabeled.of_all[is_unlabeled])
            self._labels = self._all_labels(given, predictor.predict(raw))
            raw = raw if given.has_unlabeled else raw[:0]
        return FitFacts(given.y_labeled, draw, raw, self.n_unlabeled_)

    def _predict_unseen(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return labels and probabilities of rows, and which of them can be scored."""
        batches, predictor = self._raw_by_batch(X), self._predictor
        raw, is_scored = predict_unseen(batches, self._tested_rows, self._fitted_hashes)
        return predictor.predict(raw), predictor.probabilities(raw), is_scored

    def _sure_predictions(self, X: Any) -> tuple[np.ndarray, np.ndarray, int]:
        """Return labels of rows, their uncertainties, and the digest of the rows."""
        predictor, parts, digest = self._predictor, [self._predictor.no_rows], 0
        for batch, raw in self._raw_by_batch(X):
            parts.append(raw)
            digest = (digest + digest_rows(batch)) % MODULUS
        found = np.concatenate(parts)
        return predictor.predict(found), predictor.uncertainties(found), digest

    def _unlabeled_labels(self) -> np.ndarray:
        labels = self.transduction_
        labels = labels if self._marked is None else labels[self._marked]
        n_known = self._tested.unlabeled_uncertainties.size
        if labels.size != n_known:
            raise ValueError(
                f"{n_known:,} of the {labels.size:,} unlabeled rows of the fit were "
                "drawn for the game, and the labels tell of these alone. Pass rows as X, for an "
                "estimate."
            )
        return labels

    def _trees_and_rows(self, name: str) -> tuple[FittedTrees, LabeledRows, np.random.RandomState]:
        """Return what an attribute of this name is measured by; raise if it is not there."""
        check_is_fitted(self)
        if self._predictor.scorer.trees is None:
            raise AttributeError(f"{name} is measured on trees, and no voter has any.")
        if not hasattr(self, "_grown_from"):
            raise AttributeError(f"{name} needs the labeled rows, and a copy of a model has none.")
        assert self._voters.trees is not None
        return self._voters.trees, *self._grown_from

    def __getstate__(self) -> dict[str, Any]:
        """Return what is saved: all but the rows, and what is measured with them."""
        state: Any = super().__getstate__()
        with_rows = ("_grown_from", "_voters")
        return {name: value for name, value in state.items() if name not in with_rows}

    def _repr_html_inner(self) -> str:
        """Return the summary of the fit, with the encoding of columns folded below it."""
        summary = super()._repr_html_inner()
        if getattr(self, "encoder_", None) is None:
            return summary
        table = self.encoding_.to_html(index=False, border=0, justify="left")
        return f"{summary}<details><summary>columns</summary>{table}</details>"

    def _contributions(self) -> tuple[list[str], np.ndarray]:
        by_game = [columns["contribution"] for columns in self._voter_columns]
        return self._predictor.scorer.names, np.max(by_game, axis=0)


def probabilities_by_voter(scores: np.ndarray) -> np.ndarray:
    """Return scores of shape (n_rows, n_voters, n_games) by voter, with a column per class."""
    own = np.moveaxis(scores, 1, 0)
    if own.shape[2] == 1:
        return np.concatenate([1.0 - own, own], axis=2)
    sums = own.sum(axis=2, keepdims=True)
    return np.divide(own, sums, out=np.full_like(own, 1.0 / own.shape[2]), where=sums > 0)
