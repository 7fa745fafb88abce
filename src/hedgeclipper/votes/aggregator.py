"""VoteAggregator: labels from the votes of many voters, a few gold labels, and how voters agree."""

from __future__ import annotations

from numbers import Real
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.base.columns import refuse_leaks, warn_of_spellings
from hedgeclipper.base.evaluation import LabeledScoreMixin
from hedgeclipper.base.results import ResultsMixin
from hedgeclipper.base.row_reader import check_sampled_rows
from hedgeclipper.bounds.certificate import ClassRates
from hedgeclipper.bounds.hold_out import hold_out_labels
from hedgeclipper.bounds.tested_predictions import ESTIMATE_LEVEL
from hedgeclipper.game.losses import row_maxima, soft_maximum
from hedgeclipper.game.solvers import store_games
from hedgeclipper.io import split_target
from hedgeclipper.io.arrays import digest_rows
from hedgeclipper.io.messages import import_extra
from hedgeclipper.sklearn_private import Interval, StrOptions, _fit_context
from hedgeclipper.votes.initial_model import VoteModel, fit_initial_model
from hedgeclipper.votes.labeled_votes import (
    Evidence,
    LabeledVotes,
    check_predictions,
    find_gold_voters,
    gather_evidence,
    most_probable,
    warn_of_shift,
)
from hedgeclipper.votes.matrix import VoteKernel, Votes, split_weights
from hedgeclipper.votes.vote_game import Constraints, constrain, solve_vote_game
from hedgeclipper.weighing import contributions_of


class VoteAggregator(ResultsMixin, LabeledScoreMixin, BaseEstimator):
    """Labels from votes: of labeling functions, crowd workers, models, or all of them.

    An initial model combines the majority vote, a Dawid-Skene model of how the voters agree, naive
    Bayes with shrunken accuracies, and a logistic regression on the votes with a ridge. Its weights
    and a term for each class fit the gold labels, each predicted without itself, and a prior stands
    for few labels. The error is estimated over ten folds of the labels. Then a
    game is played against an adversary who picks the labels, limited by bounds that the gold labels
    give on how often each voter is right, in all and where it votes for a class. As long as these
    bounds hold, the result is no worse than the initial model, whatever the labels are. With few
    labels the bounds are wide, and the game often leaves the initial model as it is: ``slack_`` is
    then 0.

    Parameters
    ----------
    confidence_level : float or None, default=None
        A number such as 0.95 asks for a guarantee: some gold labels are held out, have no part in
        the fit, and test its predictions. The bound on the error holds with this probability, if
        gold labels are a simple random sample of all rows. None is an estimate from all labels.
    holdout : float or None, default=None
        Fraction of the gold labels to hold out; only with a ``confidence_level``. None is half of
        them, at most 2,000, or a little more where that allows to prove an error of 5% or 1%.
    class_balance : "labeled", "uniform" or array-like of shape (n_classes,), default="labeled"
        Class frequencies: those of the gold labels with one more label of each class, or known
        ones, all the same or in the order of the sorted classes. Known ones are taken as true,
        against the labels if need be.
    abstain_label : object, default=-1
        The label that means no vote.
    keep : list of str or None, default=None
        Names of voters to use although they seem to be the gold labels. Others that do are
        refused: they vote for each gold label, and on no row without one.
    random_state : int, RandomState or None, default=None
        Draws labels to hold out, and the rows that the game is solved on where there are more than
        50,000.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    voters_ : ndarray of shape (n_voters,)
        Names of the voters.
    class_balance_ : ndarray of shape (n_classes,)
        Class frequencies, which rows without a vote get.
    transduction_ : ndarray
        Labels of all rows passed to ``fit``, given or predicted; of the unlabeled ones alone if
        these were a set of their own.
    uncovered_ : ndarray of bool
        Which of the unlabeled rows have no vote.
    certificate_ : Certificate
        The error on the unlabeled rows, with bounds: a guarantee from held-out labels, or an
        estimate.
    weights_ : ndarray of shape (n_voters, n_classes)
        By how much the game moves the score of a class for which a voter votes.
    class_weights_ : ndarray of shape (n_classes,)
        Log-odds of the classes before any vote is counted; see ``vote_weights_``.
    slack_ : ndarray of shape (1,)
        Value of the game: log loss beyond the initial model's against the worst labels, on the
        rows it was solved on; never above 0. It is that of the predictions where all rows have
        votes: rows without one count in the game, but are predicted by the class frequencies.
    duality_gap_ : ndarray of shape (1,)
        The game's value is at most this much above the least one.
    n_iter_ : ndarray of shape (1,)
        Passes over the rows.
    stop_reason_ : ndarray of shape (1,)
        Why the game stopped: "converged" if the duality gap came within 0.001 of its value,
        "max_iter" after 200 passes, or "stalled" where rounding errors leave a larger gap.
    n_labeled_, n_unlabeled_ : int
        Number of rows with and without gold labels.

    References
    ----------
    S. An and S. Dasgupta, Convergence behavior of an adversarial weak supervision method, UAI 2024.

    Examples
    --------
    >>> votes = [[0, 0, 1], [1, 1, 1], [0, -1, 0], [1, 0, 1], [0, 0, -1], [-1, 1, 1]]
    >>> model = VoteAggregator().fit(votes, [0, 1, -1, -1, -1, -1])
    >>> model.transduction_
    array([0, 1, 0, 1, 0, 1])
    """

    _parameter_constraints: ClassVar[dict] = {
        "confidence_level": [Interval(Real, 0, 1, closed="neither"), None],
        "holdout": [Interval(Real, 0, 1, closed="neither"), None],
        "class_balance": [StrOptions({"labeled", "uniform"}), "array-like"],
        "abstain_label": "no_validation",
        "keep": [list, tuple, None],
        "random_state": ["random_state"],
    }

    # votes are what scikit-learn calls X, and no metadata
    __metadata_request__fit: ClassVar[dict] = {"L": UNUSED}
    __metadata_request__predict: ClassVar[dict] = {"L": UNUSED}
    __metadata_request__predict_proba: ClassVar[dict] = {"L": UNUSED}

    def __init__(
        self,
        *,
        confidence_level=None,
        holdout=None,
        class_balance="labeled",
        abstain_label=-1,
        keep=None,
        random_state=None,
    ):
        self.confidence_level = confidence_level
        self.holdout = holdout
        self.class_balance = class_balance
        self.abstain_label = abstain_label
        self.keep = keep
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, L, y, L_unlabeled=None, *, sample=None):
        """Learn how much to trust each voter.

        Parameters
        ----------
        L : Votes, array-like, sparse matrix, frame, path or list of paths
            Votes, a row for each row and a column for each voter. What is missing, or
            ``abstain_label``, is no vote. See `Votes.of`.
        y : array-like of shape (n_rows,), mapping, Series, or str
            Gold labels, or the name of their column, if L is a frame. A missing one, and -1 unless
            ``L_unlabeled`` is given, marks a row without. A mapping has labels of some rows by name
            (``Votes.rows``, or the index of a frame), or by number if rows have no names; so may a
            Series.
        L_unlabeled : like L, optional
            Votes on rows without gold labels.
        sample : Sample, optional
            The record of `draw_sample`, if gold labels are of rows that it has drawn from L: then L
            are all rows, in their order. Gold labels of these rows are known to be a random sample,
            and they alone test predictions. Others were chosen. A row of the sample without a label
            was skipped, since people could not decide: it counts as wrong, and needs review.

        Returns
        -------
        self
        """
        self.__dict__.pop("_predictor", None)
        gold = self._gather_labels(L, y, L_unlabeled, sample)
        draw = hold_out_labels(
            gold.codes.size,
            (gold.unlabeled_rows[: None if gold.has_unlabeled else 0], gold.labeled_rows),
            sample,
            confidence_level=self.confidence_level,
            holdout=self.holdout,
            random_state=self.random_state,
        )
        rows = gold if draw.held is None else gold.hold_out(draw.held)
        evidence = gather_evidence(rows, self.class_balance, self.random_state)
        is_shifted = warn_of_shift(evidence.labeled, evidence.unlabeled)
        constraints = constrain(evidence)
        initial, on_labeled = fit_initial_model(evidence)
        sampled = initial.log_probabilities(evidence.sample)
        game = solve_vote_game(
            evidence.sample, constraints.joint, sampled, n_labeled=rows.codes.size
        )
        model = initial.moved(game.weights)
        probabilities = model.probabilities(evidence.unlabeled)
        is_held = np.isin(rows.unlabeled_rows, np.setdiff1d(gold.labeled_rows, rows.labeled_rows))
        unlabeled, tested = probabilities[~is_held], probabilities[is_held]
        if draw.held is None:
            tested = add_game(on_labeled, evidence.labeled, game.weights)
        self._tested, self._rates = check_predictions(
            gold, draw, evidence, tested, unlabeled, is_shifted
        )
        self.certificate_ = self._tested.certificate(self.confidence_level)
        store_games(self, [game])
        self._constraints, self._predictor, self._gold = constraints, model, gold
        self._store(evidence, game.weights, unlabeled)
        return self

    def _gather_labels(self, L: Any, y: Any, L_unlabeled: Any, sample: Any) -> LabeledVotes:
        """Return votes and gold labels; no voter may be the gold label, and the sample must fit."""
        L, y = split_target(L, y)
        votes, others = self._read(L), None if L_unlabeled is None else self._read(L_unlabeled)
        gold = LabeledVotes.of(votes, y, others, self.abstain_label)
        warn_of_spellings(gold.votes.classes)
        refuse_leaks(find_gold_voters(gold), gold.codes.size, self.keep or (), "Voter")
        if sample is not None:
            known = votes.n_rows if isinstance(L, (Votes, str, Path)) else L
            check_sampled_rows(sample, known, None, L_unlabeled)
        return gold

    def _read(self, L: Any) -> Votes:
        return Votes.of(L, abstain_label=self.abstain_label)

    def predict_proba(self, L):
        """Return the probability of each class.

        Parameters
        ----------
        L : like that of ``fit``
            Votes.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities; class frequencies for rows without a vote.
        """
        check_is_fitted(self)
        votes = self._gold.aligned(self._read(L))
        return self._predictor.probabilities(VoteKernel(votes))

    def predict(self, L):
        """Return the most probable class of each row.

        Of classes that are equally probable, the more frequent one is returned.

        Parameters
        ----------
        L : like that of ``fit``
            Votes.

        Returns
        -------
        ndarray of shape (n_rows,)
            Class labels.
        """
        return self._sure_labels(self.predict_proba(L))[0]

    @property
    def vote_weights_(self) -> np.ndarray:
        """What a vote adds to the log-odds of each class, by voter, vote and class.

        Of shape (n_voters, n_classes, n_classes). Initial model and game are added up.
        """
        check_is_fitted(self)
        table = self._predictor.votes
        return table - table.mean(axis=2, keepdims=True)

    @property
    def transduction_(self) -> np.ndarray:
        """Labels of all rows passed to ``fit``, given or predicted."""
        check_is_fitted(self)
        return self._transduction

    def class_rates(self, confidence_level: float | None = None) -> ClassRates:
        r"""Return how often each class occurs in all rows of the fit, with an interval for each.

        Predicted probabilities are corrected by what the gold labels show of them
        (prediction-powered inference): an estimate. If the model has a ``confidence_level``, the
        intervals are a guarantee, from the number of gold labels of each class: they hold if these
        are a simple random sample of the rows, and they are wider.

        Parameters
        ----------
        confidence_level : float, optional
            Level of each interval; by default that of the model, or 0.95.

        Returns
        -------
        ClassRates
            Rates and intervals; ``describe()`` has them in one sentence.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> truth = rng.choice(["A", "B"], 1000, p=[0.6, 0.4])
        >>> other = np.where(truth == "A", "B", "A")
        >>> votes = np.where(rng.random((1000, 7)) < 0.8, truth[:, None], other[:, None])
        >>> gold = np.where(np.arange(1000) < 100, truth, None)
        >>> model = VoteAggregator().fit(votes, gold)
        >>> print(model.class_rates().describe().replace(", B", ",\nB"))
        A 55.1% (95% interval 51.3% to 58.7%),
        B 44.9% (41.3% to 48.7%) of 1,000 rows, an estimate
        """
        check_is_fitted(self)
        level = confidence_level or self.confidence_level or ESTIMATE_LEVEL
        return self._rates.rates(self.classes_.tolist(), level)

    def voter_summary(self):
        """Return a frame with statistics of each voter, one row each.

        Columns as in Snorkel's ``lf_summary``: ``j``, ``Polarity``, ``Coverage``, ``Overlaps``,
        ``Conflicts`` on the unlabeled rows, ``Correct``, ``Incorrect``, ``Emp. Acc.`` on the
        labeled ones. Then ``Lower`` and ``Upper``, the bounds on its accuracy, ``Est. Acc.``, its
        accuracy by the predictions, ``Weight``, by how much its vote moves the log-odds of the
        class it votes for, ``Contribution``, that times the number of its votes, as a part of the
        sum, ``Contradicts``: whether its bounds had to be relaxed, since they contradict those of
        others, and ``Reversed``: whether gold labels show that it is right less often than a random
        vote, and its votes count against the class it votes for. ``Weight`` is a mean over its
        votes and over the other classes; ``vote_weights_`` has each by itself, where a vote may
        count for another class than its own.

        Returns
        -------
        pandas.DataFrame
            The summary, indexed by the voters' names.
        """
        check_is_fitted(self)
        pandas = import_extra("pandas", "io", "voter_summary")
        columns = self._summary()
        return pandas.DataFrame(columns, index=self.voters_)

    def tested_probabilities(self):
        """Return gold labels that tested the model, and probabilities of their rows without them.

        With a ``confidence_level`` these are the held-out labels.

        Returns
        -------
        y : ndarray of shape (n_tested,)
            Gold labels.
        probabilities : ndarray of shape (n_tested, n_classes)
            Probabilities.
        """
        check_is_fitted(self)
        return self.classes_[self._rates.codes[self._rates.tested]], self._rates.probabilities

    @property
    def labeled_votes_(self) -> LabeledVotes:
        """The votes of the fit, on rows with and without gold labels."""
        check_is_fitted(self)
        return self._gold

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether the last fit was completed."""
        return hasattr(self, "_predictor")

    def _store(self, evidence: Evidence, theta: np.ndarray, unlabeled: np.ndarray) -> None:
        """Store results, and labels of all rows, given the probabilities of the unlabeled ones."""
        gold = self._gold
        self.classes_, self.voters_ = gold.votes.classes, gold.votes.voters
        self.n_features_in_ = gold.votes.n_voters
        self.n_labeled_, self.n_unlabeled_ = gold.codes.size, gold.unlabeled_rows.size
        self.class_balance_ = evidence.balance
        self.uncovered_ = np.diff(gold.unlabeled.matrix.indptr) == 0
        voters, votes, _ = split_weights(theta, *evidence.unlabeled.shape[:2])
        self.weights_, self.class_weights_ = voters[:, None] + votes, self._predictor.classes
        self._transduction = gold.all_labels(self._sure_labels(unlabeled)[0])

    def _sure_labels(self, probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        codes = most_probable(probabilities, self.class_balance_)
        return self.classes_[codes], 1.0 - row_maxima(probabilities)

    def _sure_predictions(self, X: Any) -> tuple[np.ndarray, np.ndarray, int]:
        votes = self._gold.aligned(self._read(X))
        labels, uncertainties = self._sure_labels(self.predict_proba(votes))
        return labels, uncertainties, digest_rows(votes.matrix)

    def _unlabeled_labels(self) -> np.ndarray:
        n_rows = self.n_unlabeled_ if self._gold.has_unlabeled else 0
        return self.predict(self._gold.unlabeled.take(slice(n_rows)))

    def _contributions(self) -> tuple[list[str], np.ndarray]:
        return [str(voter) for voter in self.voters_], self._summary()["Contribution"]

    def _summary(self) -> dict[str, Any]:
        return summarize_voters(self._gold, self._constraints, self._predictor, self.vote_weights_)


def add_game(log_probabilities: np.ndarray, votes: VoteKernel, theta: np.ndarray) -> np.ndarray:
    """Return probabilities of rows, given those without the game; without votes it adds nothing."""
    moved = np.where(votes.n_votes[:, None] > 0, votes.weighted(theta), 0.0)
    return soft_maximum(log_probabilities + moved)[1]


def summarize_voters(
    gold: LabeledVotes, constraints: Constraints, model: VoteModel, vote_weights: np.ndarray
) -> dict[str, Any]:
    """Return the columns of the summary, those of Snorkel first.

    An overlap is a row on which others vote, too, a conflict one on which another class has votes.
    The contribution of a voter is its weight times the number of its votes, as a part of the sum.
    """
    labeled, unlabeled = VoteKernel(gold.labeled), VoteKernel(gold.unlabeled)
    n_rows, (n_voters, n_classes, _) = unlabeled.n_rows, unlabeled.shape
    rows, voters, codes = gold.unlabeled.triplets()
    n_votes, n_same = unlabeled.n_votes[rows], gold.unlabeled.counts()[rows, codes]
    right = labeled.agreement(np.eye(n_classes)[gold.codes])[:n_voters]
    n_labeled, n_cast = labeled.votes_cast.sum(axis=1), unlabeled.votes_cast.sum(axis=1)
    expected_right = unlabeled.agreement(model.probabilities(unlabeled))[:n_voters]
    cast = labeled.votes_cast + unlabeled.votes_cast
    weight, upper = _mean_weights(unlabeled, vote_weights), constraints.each.upper[:n_voters]
    return {
        "j": np.arange(n_voters),
        "Polarity": [gold.votes.classes[row > 0].tolist() for row in cast],
        "Coverage": n_cast / n_rows,
        "Overlaps": np.bincount(voters, n_votes > 1, minlength=n_voters) / n_rows,
        "Conflicts": np.bincount(voters, n_same < n_votes, minlength=n_voters) / n_rows,
        "Correct": right.astype(int),
        "Incorrect": (n_labeled - right).astype(int),
        "Emp. Acc.": _ratio(right, n_labeled),
        "Lower": constraints.each.lower[:n_voters],
        "Upper": upper,
        "Est. Acc.": _ratio(expected_right, n_cast),
        "Weight": weight,
        "Contribution": contributions_of(weight * n_cast),
        "Contradicts": constraints.contradicting,
        "Reversed": (upper < 1.0 / n_classes) & (weight < 0.0),
    }


def _mean_weights(votes: VoteKernel, vote_weights: np.ndarray) -> np.ndarray:
    """Return by how much a vote of each voter moves the log-odds of the class it votes for.

    It is a mean over its votes and over the other classes; NaN without votes.
    """
    n_classes = votes.n_classes
    # what a vote adds to its class, less the mean over the others
    own = np.diagonal(vote_weights, axis1=1, axis2=2)
    over_others = np.sum(votes.votes_cast * own, axis=1) * n_classes / (n_classes - 1)
    return _ratio(over_others, votes.votes_cast.sum(axis=1))


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
