"""VoteAggregator: votes of anybody, weighed by a few labels and by how the voters agree."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.base.inspection import (
    Inspection,
    SummaryMixin,
    VoterTable,
    contributions_of,
    inspection,
    store_games,
)
from hedgeclipper.base.semi_supervised import SemiSupervisedRows, ShiftWarning, labeled_only
from hedgeclipper.bounds.certificate import Certificate
from hedgeclipper.game.multiclass_losses import MULTICLASS_LOSSES, row_favorites, row_maxima
from hedgeclipper.game.solution import Solution
from hedgeclipper.io import listed
from hedgeclipper.io.extras import import_extra
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.evidence import Evidence, gather_evidence
from hedgeclipper.votes.gold import Gold, read_gold
from hedgeclipper.votes.knowledge import (
    CONSTRAINTS,
    ESTIMATES,
    GUARANTEE,
    Knowledge,
    learn_from_labels,
)
from hedgeclipper.votes.matrix import Votes
from hedgeclipper.votes.opening import KINDS, Opening, open_game
from hedgeclipper.votes.shift import shift_of_votes
from hedgeclipper.votes.strata import Strata
from hedgeclipper.votes.suggestion import most_useful
from hedgeclipper.votes.vote_certificate import Judge, SubgroupBounds
from hedgeclipper.votes.vote_game import play
from hedgeclipper.votes.vote_labels import class_codes
from hedgeclipper.votes.vote_predictor import VotePredictor
from hedgeclipper.votes.vote_sources import read_votes
from hedgeclipper.votes.voter_summary import summarize_voters
from hedgeclipper.votes.witnesses import Witnesses, with_testimony
from hedgeclipper.votes.worst_case import Relaxed, relaxed

DELTA = 0.05
ROUNDING = 1e-12


class ContradictionWarning(UserWarning):
    """What the labels say of some voters cannot all be true of the unlabeled rows."""


@dataclass(frozen=True, eq=False)
class _Fitted:
    """What was learned from, and what came out, for those who ask further."""

    labeled: Votes
    codes: np.ndarray
    unlabeled: Votes
    has_unlabeled: bool
    knowledge: Knowledge
    game: Solution
    contradicts: np.ndarray
    is_void: bool
    witnesses: Witnesses
    with_witnesses: Knowledge
    sampled: np.ndarray
    strata: Strata
    minus_one_is_class: bool

    def aligned(self, votes: Votes) -> Votes:
        """Return votes with the voters and classes of the fit."""
        own = self.labeled
        return votes.align(own.voters, own.classes, named=own.named)

    def judge(self, testified: Ballots, predicted: np.ndarray) -> Judge:
        """Return who judges predictions, given the votes on their rows, witnesses included."""
        return Judge(testified, self.sampled, self.with_witnesses, predicted, self.is_void)

    def gold(self, classes: np.ndarray) -> Gold:
        """Return the rows as they were given."""
        rest = self.unlabeled if self.has_unlabeled else self.unlabeled.take(np.arange(0))
        return Gold(self.labeled, classes[self.codes].tolist(), rest)


class VoteAggregator(SummaryMixin, ClassifierMixin, BaseEstimator):
    """Labels from votes: of labeling functions, crowd workers, models, or all of them.

    A plain vote, the voters' agreement and what labels say of single voters make an opening, each
    believed as far as the labels bear it out. Then a game is played against an adversary who picks
    the labels, limited by what the gold labels say of each voter, so that the result is no worse
    than the opening whatever the labels are, as long as that holds. With few labels little is
    known so surely, and the game often leaves the opening as it is: ``slack_`` is then 0.

    Parameters
    ----------
    loss : {"log", "square", "zero_one"}
        What predictions are judged by.
    initial_model : {"mixture", "majority"} or None, default="mixture"
        The prediction that the game starts from and that its result is no worse than. "mixture"
        combines the majority vote, a Dawid-Skene model of how the voters agree, and a game from
        the labels alone, with weights fitted to the labels. "majority" is the majority vote alone,
        scaled by the labels. None starts from nothing, as An and Dasgupta do: the result rests on
        the labels alone.
    constraints : {"accuracy", "class_accuracy", "both"}, default="both"
        What the labels bound, and thereby what limits the adversary: how often each voter is
        right ("accuracy"), how often it is right where it votes for a class ("class_accuracy"), or
        both. "accuracy" has fewer bounds and is enough where voters err alike in all classes.
    bound : {"wilson", "wilson_symmetric", "plug_in"}
        How labels bound that, where no guarantee is asked for: between Wilson's two bounds at 95 %,
        as far to either side of the labels' own share as the farther of these, or exactly at that
        share. The opening is left, and a certificate made, only by bounds that hold all together.
    confidence_level : float or None
        A number such as 0.95 asks for a guarantee: bounds that hold all together with this
        probability, and for the unlabeled rows themselves, take the place of ``bound``.
    class_balance : "labeled", "uniform" or array-like of shape (n_classes,)
        Class frequencies: those of the gold labels and one more of each class, or known ones, all
        the same or in the order of the sorted classes. Known ones are taken for true, against the
        labels if need be, so that the certificate is an estimate.
    abstain_label : object
        The label that means no vote; in predictions, no answer.
    abstain_cost : float or None
        The price of no answer, where a wrong one costs 1: ``predict`` gives none where an error is
        more probable than that. None: it always answers.
    tol : float
        Stop when the duality gap of the game is at most tol times its value (which counts as at
        least 0.001).
    max_iter : int
        Passes over the rows at most.
    random_state : int, RandomState or None
        Draws the rows that the game is played on where there are more than 50,000, and rows to
        label.

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
        Bounds on the error on the unlabeled rows, of the most probable class where there is no
        answer.
    worst_case_error_ : float
        Its upper bound.
    weights_ : ndarray of shape (n_voters, n_classes)
        By how much the game moves the score of a class for which a voter votes.
    class_weights_ : ndarray of shape (n_classes,)
        Log-odds of the classes before a vote is heard, which votes have to make up for; see
        ``vote_weights_``.
    slack_ : ndarray of shape (1,)
        Value of the game: loss beyond the opening's against the worst labels, on the rows it was
        played on; never above 0. It is that of the predictions where all rows have votes: to those
        without one the game has an answer too, but they get the class frequencies.
    duality_gap_ : ndarray of shape (1,)
        The game's value is at most this much above the least one.
    n_iter_ : ndarray of shape (1,)
        Passes over the rows.
    stop_reason_ : ndarray of shape (1,)
        Why the game stopped: "converged" if the duality gap came within ``tol``, "max_iter", or
        "stalled" where rounding errors leave a larger gap.
    hedged_range_ : ndarray of shape (1, 2)
        Between which values of twice a probability, less one, the game hedges; infinite for log
        loss, which never clips.
    history_ : list of one tuple of PassRecord
        The least value of the game known after each pass; see `ConvergenceDisplay`.
    n_labeled_, n_unlabeled_ : int
        Number of rows with and without gold labels.

    Examples
    --------
    >>> votes = [[0, 0, 1], [1, 1, 1], [0, -1, 0], [1, 0, 1], [0, 0, -1], [-1, 1, 1]]
    >>> model = VoteAggregator().fit(votes, [0, 1, -1, -1, -1, -1])
    >>> model.transduction_
    array([0, 1, 0, 1, 0, 1])
    """

    _parameter_constraints: ClassVar[dict] = {
        "loss": [StrOptions(set(MULTICLASS_LOSSES))],
        "initial_model": [StrOptions(set(KINDS)), None],
        "constraints": [StrOptions(set(CONSTRAINTS))],
        "bound": [StrOptions(set(ESTIMATES))],
        "confidence_level": [Interval(Real, 0, 1, closed="neither"), None],
        "class_balance": [StrOptions({"labeled", "uniform"}), "array-like"],
        "abstain_label": "no_validation",
        "abstain_cost": [Interval(Real, 0, 1, closed="neither"), None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    # votes are what scikit-learn calls X, and no metadata
    __metadata_request__fit: ClassVar[dict] = {"L": UNUSED}
    __metadata_request__partial_fit: ClassVar[dict] = {"L": UNUSED}
    __metadata_request__predict: ClassVar[dict] = {"L": UNUSED}
    __metadata_request__predict_proba: ClassVar[dict] = {"L": UNUSED}

    def __init__(
        self,
        *,
        loss="log",
        initial_model="mixture",
        constraints="both",
        bound="wilson",
        confidence_level=None,
        class_balance="labeled",
        abstain_label=-1,
        abstain_cost=None,
        tol=1e-3,
        max_iter=200,
        random_state=None,
    ):
        self.loss = loss
        self.initial_model = initial_model
        self.constraints = constraints
        self.bound = bound
        self.confidence_level = confidence_level
        self.class_balance = class_balance
        self.abstain_label = abstain_label
        self.abstain_cost = abstain_cost
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, L, y, L_unlabeled=None):
        """Learn how far to trust each voter.

        Parameters
        ----------
        L : Votes, or array-like, sparse matrix, frame, batches or files of votes
            Votes, a row for each row and a column for each voter. What is missing, or
            ``abstain_label``, is no vote.
        y : array-like of shape (n_rows,)
            Gold labels. A missing one, and -1 unless ``L_unlabeled`` is given, marks a row without.
        L_unlabeled : like L, optional
            Votes on rows without gold labels.

        Returns
        -------
        self
        """
        self.__dict__.pop("_predictor", None)
        votes = read_votes(L, self.abstain_label)
        others = None if L_unlabeled is None else read_votes(L_unlabeled, self.abstain_label)
        return self._fit(read_gold(votes, y, others))

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, L, y=None):
        """Go on with votes that have come since: on new rows, with gold labels or without.

        The result is that of a fit to all rows; it starts from the weights of before. Unlabeled
        rows, and ``transduction_``, are those of before and then the new ones.

        Parameters
        ----------
        L : like that of ``fit``
            Votes on new rows, none of which was there before; voters that are new abstain on all
            rows before.
        y : array-like of shape (n_rows,), optional
            Gold labels; None if there are none. A missing one marks a row without, and so does -1
            unless it is a class of a fit with ``L_unlabeled``.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        votes = read_votes(L, self.abstain_label)
        new = read_gold(
            votes,
            np.full(votes.n_rows, None) if y is None else y,
            minus_one_is_class=self._fitted.minus_one_is_class,
        )
        return self._fit(self._fitted.gold(self.classes_).and_more(new), self._fitted)

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
        return self._predictor.probabilities(self._ballots(L))

    def predict(self, L):
        """Return the most probable class of each row, or ``abstain_label`` if it is too unsure.

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
        shares = self.predict_proba(L)
        return self._labels(shares, _favorites(shares, self.class_balance_))

    @property
    def vote_weights_(self) -> np.ndarray:
        """What a vote adds to the log-odds of each class, by voter, vote and class.

        Of shape (n_voters, n_classes, n_classes). Opening and game are counted together, where
        log-odds are not cut off; where the game moved anything and the loss is not "log", its part
        is in that loss's own scale.
        """
        check_is_fitted(self)
        return self._predictor.vote_weights(Ballots(self._fitted.labeled).shape)

    @property
    def transduction_(self) -> np.ndarray:
        """Labels of all rows passed to ``fit``, given or predicted."""
        check_is_fitted(self)
        return self._transduction

    def voter_summary(self):
        """Return a frame of what each voter does and is worth, one row each.

        Columns as in Snorkel's ``lf_summary``: ``j``, ``Polarity``, ``Coverage``, ``Overlaps``,
        ``Conflicts`` on the unlabeled rows, ``Correct``, ``Incorrect``, ``Emp. Acc.`` on the
        labeled ones. Then ``Lower`` and ``Upper``, the bounds on its accuracy, ``Est. Acc.``, what
        the result makes of it, ``Weight``, by how much its vote moves the log-odds of the class it
        votes for, and ``Contradicts``: whether these bounds have to give way to those of others.
        ``Weight`` is a mean over its votes and over the other classes; ``vote_weights_`` has each
        by itself, where a vote may speak for another class than its own.

        Returns
        -------
        pandas.DataFrame
            The summary, indexed by the voters' names.
        """
        check_is_fitted(self)
        pandas = import_extra("pandas", "io", "voter_summary")
        return pandas.DataFrame(self._summary_columns(), index=self.voters_)

    def _summary_columns(self) -> dict[str, Any]:
        fitted = self._fitted
        return summarize_voters(
            Ballots(fitted.labeled),
            fitted.codes,
            Ballots(fitted.unlabeled),
            fitted.knowledge,
            self._predictor,
            fitted.contradicts,
            self.classes_,
        )

    def _inspect(self) -> Inspection:
        """Return what summaries, displays and the report need."""
        n_voters = self.voters_.size
        return inspection(
            self,
            kind="votes",
            description=f"aggregate of the votes of {n_voters:,} voter{'s' * (n_voters != 1)}",
            make_voters=self._voter_table,
            read_rows=self._read_again,
            predict_rows=self._predict_votes,
            contradicting=[str(name) for name in self.voters_[self._fitted.contradicts]],
            votes=self._fitted.unlabeled,
        )

    def _read_again(self, votes: Any, gold: Any) -> SemiSupervisedRows:
        """Return the votes and gold labels of the fit, or others that have the same classes."""
        known = self._fitted.gold(self.classes_)
        if votes is not None:
            read = read_votes(votes, self.abstain_label, self.classes_)
            labels = np.full(read.n_rows, None) if gold is None else gold
            known = read_gold(self._fitted.aligned(read), labels)
        y = self.classes_[class_codes(known.labels, self.classes_, "gold")]
        if known.has_unlabeled:
            return SemiSupervisedRows(known.labeled, y, None, known.rest, known.marked)
        return SemiSupervisedRows(known.labeled, y, None, known.labeled, np.zeros(y.size, bool))

    def _predict_votes(self, votes: Votes) -> tuple[np.ndarray, np.ndarray]:
        """Return probabilities, and twice that of the second class less one."""
        probabilities = self.predict_proba(votes)
        return probabilities, 2.0 * probabilities[:, 1] - 1.0

    def _voter_table(self) -> VoterTable:
        """Return the voters, for summaries; correlation is 0 for a guess, and 1 if always right."""
        columns, n_classes = self._summary_columns(), self.classes_.size
        accuracy = columns["Emp. Acc."]
        return VoterTable(
            kind="voter",
            names=[str(voter) for voter in self.voters_],
            weights=columns["Weight"],
            correlations=(n_classes * accuracy - 1.0) / (n_classes - 1.0),
            contributions=contributions_of(columns["Weight"] * columns["Coverage"]),
            coverage=columns["Coverage"],
            more={
                "right on gold labels": columns["Correct"].tolist(),
                "wrong": columns["Incorrect"].tolist(),
                "accuracy at least": columns["Lower"].tolist(),
                "at most": columns["Upper"].tolist(),
                "estimated accuracy": columns["Est. Acc."].tolist(),
                "conflicts": columns["Conflicts"].tolist(),
            },
        )

    def subgroup_bounds(self, mask: Any) -> SubgroupBounds:
        """Return the intervals in which a subgroup's error and class shares must lie.

        They hold as far as the bounds on the voters do; see ``certificate_``.

        Parameters
        ----------
        mask : array-like of bool of shape (n_unlabeled,)
            Which of the unlabeled rows of ``fit``.

        Returns
        -------
        SubgroupBounds
            Number of rows, bounds on the error, and bounds on the share of each class.
        """
        check_is_fitted(self)
        mask = np.asarray(mask)
        n_rows = self._fitted.unlabeled.n_rows
        if mask.dtype != bool or mask.shape != (n_rows,) or not mask.any():
            raise ValueError(
                f"mask must be an array of bool, one for each of the {n_rows} unlabeled rows, and "
                f"name one of them at least. Got dtype {mask.dtype}, shape {mask.shape}."
            )
        return self._judge().subgroup(mask, self.classes_)

    def suggest_labels(self, k: int) -> np.ndarray:
        """Return unlabeled rows to label next, so that the bound on the error tightens most.

        Rows are divided by how sure the voters' agreement is of them. How many come from each part
        is what takes most off the bound; within a part they are drawn at random, by
        ``random_state``. A fit weighs labels by how many unlabeled rows of their part they stand
        for. Bounds with labels chosen here are estimates, and may hold less often than those with
        random ones, since earlier labels decide where later ones are drawn. What is gained is
        small where there are many rows to each label. As rows that voters disagree on are chosen
        more often, a fit may warn of it (``ShiftWarning``). With a ``confidence_level``, and with
        ``initial_model=None``, the rows are a simple random sample, since nothing else leaves the
        guarantee in force. Once labeled, put the labels into ``y`` and fit again: to
        ``partial_fit`` they would be new rows.

        Parameters
        ----------
        k : int
            How many.

        Returns
        -------
        ndarray of shape (k,)
            Numbers of rows among the unlabeled ones of ``fit``, the most useful first.
        """
        check_is_fitted(self)
        fitted, n_rows = self._fitted, self._fitted.unlabeled.n_rows
        if not fitted.has_unlabeled:
            raise ValueError(
                "There are no rows to label: all rows of the fit have gold labels. Fit with "
                "unlabeled rows, too."
            )
        if isinstance(k, bool) or not (isinstance(k, Integral) and 1 <= k <= n_rows):
            raise ValueError(
                f"k must be a whole number between 1 and {n_rows}, the unlabeled rows. Got {k!r}."
            )
        wrong = self._favorites(fitted.labeled) != fitted.codes
        worth = self._judge().label_worth(fitted.strata, wrong)
        return most_useful(fitted.strata, worth, int(k), check_random_state(self.random_state))

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether a fit, the last one, came to its end."""
        return hasattr(self, "_predictor")

    def _fit(self, gold: Gold, before: _Fitted | None = None) -> VoteAggregator:
        """Weigh the voters; weights of a fit before are the start."""
        labeled, codes, unlabeled = gold.coded()
        if not gold.has_unlabeled:
            labeled_only(labeled, codes, None, "pass L_unlabeled, or mark them with y = -1")
        self._check_abstain_label(labeled.classes)
        evidence = self._gather(labeled, codes, unlabeled)
        _warn_of_shift(evidence.judges, evidence.ballots)
        each = self._learn(evidence)
        single, joint = self._relaxed(evidence, each)
        if single.violation:
            _warn_of_contradiction(single.violation, labeled.voters[single.blamed].tolist())
        opening = self._open(evidence, single.knowledge)
        # an opening is given up only for what all bounds say together
        bounds = single if self.initial_model is None else joint
        game = self._play(evidence, bounds.knowledge, opening, _start(before, labeled))
        testified = evidence.with_witnesses()
        fitted = _Fitted(
            labeled=labeled,
            codes=codes,
            unlabeled=unlabeled,
            has_unlabeled=gold.has_unlabeled,
            knowledge=each,
            game=game,
            contradicts=single.blamed,
            is_void=joint.violation > 0,
            witnesses=evidence.witnesses,
            with_witnesses=self._learn(testified, together=True),
            sampled=evidence.proof,
            strata=evidence.strata,
            minus_one_is_class=_minus_one_is_class(gold, labeled.classes, before),
        )
        predictor = VotePredictor(opening, game.weights, MULTICLASS_LOSSES[self.loss])
        shares = predictor.probabilities(evidence.ballots)
        favorites = _favorites(shares, evidence.balance)
        judge = fitted.judge(testified.ballots, favorites)
        certificate = judge.certificate(*self._may_guarantee(gold))
        if certificate.kind == "void" and not single.violation:
            _warn_of_void()
        self._store(fitted, predictor, evidence.balance, certificate)
        self._transduction = gold.all_labels(self._labels(shares, favorites))
        return self

    def _gather(self, labeled: Votes, codes: np.ndarray, unlabeled: Votes) -> Evidence:
        # a guarantee needs a plain draw, and An and Dasgupta's game takes labels for one
        is_plain_draw = self.confidence_level is not None or self.initial_model is None
        return gather_evidence(
            labeled,
            codes,
            unlabeled,
            class_balance=self.class_balance,
            is_plain_draw=is_plain_draw,
            random_state=self.random_state,
        )

    def _relaxed(self, evidence: Evidence, each: Knowledge) -> tuple[Relaxed, Relaxed]:
        """Return bounds that some labels obey: each by itself, and those that hold all together."""
        searched, together = evidence.searched, self._learn(evidence, together=True)
        single = relaxed(searched, evidence.ballots, each)
        if not single.violation:  # then wider ones agree, too
            return single, single._replace(knowledge=together)
        return single, relaxed(searched, evidence.ballots, together)

    def _open(self, evidence: Evidence, bounds: Knowledge) -> Opening:
        return open_game(
            self.initial_model,
            evidence.played,
            evidence.judges,
            evidence.codes,
            evidence.balance,
            bounds.on(evidence.played),
        )

    def _play(
        self, evidence: Evidence, bounds: Knowledge, opening: Opening, start: np.ndarray | None
    ) -> Solution:
        return play(
            evidence.played,
            bounds.on(evidence.played),
            opening.log_probabilities(evidence.played),
            MULTICLASS_LOSSES[self.loss],
            n_labeled=evidence.codes.size,
            tol=self.tol,
            max_iter=self.max_iter,
            start=start,
        )

    def _store(
        self,
        fitted: _Fitted,
        predictor: VotePredictor,
        balance: np.ndarray,
        certificate: Certificate,
    ) -> None:
        labeled, unlabeled, game = fitted.labeled, Ballots(fitted.unlabeled), fitted.game
        self.classes_, self.voters_ = labeled.classes, labeled.voters
        self.n_features_in_ = labeled.n_voters
        self.n_labeled_, self.n_unlabeled_ = labeled.n_rows, unlabeled.n_rows
        self.class_balance_ = balance
        self.weights_ = predictor.game_weights(unlabeled.shape)
        self.class_weights_ = predictor.class_weights(unlabeled.shape)
        store_games(self, [game], [certificate], [predictor.loss.hedged_range])
        self.uncovered_ = unlabeled.n_votes == 0
        self._fitted, self._predictor = fitted, predictor

    def _judge(self) -> Judge:
        fitted = self._fitted
        ballots = Ballots(fitted.unlabeled)
        ballots = with_testimony(ballots, fitted.witnesses.testify(ballots))
        return fitted.judge(ballots, self._favorites(fitted.unlabeled))

    def _favorites(self, votes: Votes) -> np.ndarray:
        """Return the code of the most probable class of each row of ``fit``."""
        shares = self._predictor.probabilities(Ballots(votes))
        return _favorites(shares, self.class_balance_)

    def _ballots(self, L: Any) -> Ballots:
        votes = read_votes(L, self.abstain_label, self.classes_)
        return Ballots(self._fitted.aligned(votes))

    def _check_abstain_label(self, classes: np.ndarray) -> None:
        if any(label == self.abstain_label for label in classes.tolist()):
            raise ValueError(
                f"The label {self.abstain_label!r} is both a class of the votes or of y, and "
                "abstain_label. Pass another abstain_label, or None if only missing votes abstain."
            )

    @property
    def _knows_balance(self) -> bool:
        """Whether class frequencies were given, and are taken for true."""
        return not (isinstance(self.class_balance, str) and self.class_balance == "labeled")

    def _may_guarantee(self, gold: Gold) -> tuple[bool, str]:
        """Return whether the bounds can be a guarantee, and why not."""
        if self.confidence_level is None:
            return False, "bounds on the voters are estimates; a confidence_level asks for others"
        if self._knows_balance:
            return False, "class_balance is taken for true; labels do not prove it"
        return gold.has_unlabeled, "there are no unlabeled rows apart from the labeled ones"

    def _learn(self, evidence: Evidence, *, together: bool = False) -> Knowledge:
        return learn_from_labels(
            evidence.judges,
            evidence.codes,
            evidence.ballots,
            bound=self.bound if self.confidence_level is None else GUARANTEE,
            delta=DELTA if self.confidence_level is None else 1.0 - self.confidence_level,
            constraints=self.constraints,
            together=together,
            balance=evidence.balance if self._knows_balance else None,
            strata=evidence.strata,
        )

    def _labels(self, shares: np.ndarray, favorites: np.ndarray) -> np.ndarray:
        labels = self.classes_[favorites]
        if self.abstain_cost is None:
            return labels
        kind = np.result_type(labels.dtype, np.asarray(self.abstain_label).dtype)
        labels = labels.astype(object if kind.kind in "US" else kind)
        labels[1.0 - row_maxima(shares) > self.abstain_cost] = self.abstain_label
        return labels


def _favorites(shares: np.ndarray, balance: np.ndarray) -> np.ndarray:
    """Return the code of the most probable class of each row, of several the most frequent one."""
    best = row_maxima(shares)[:, None]
    return row_favorites(np.where(shares >= best - ROUNDING, balance, 0.0))


def _warn_of_contradiction(violation: float, names: list) -> None:
    whose = listed(names, most=5) if names else "the classes"
    warnings.warn(
        "What the labels say of the voters cannot all be true of the unlabeled rows: bounds "
        f"would have to give way by {violation:.3f} in all, among them those of {whose}. The "
        "game was played with wider ones. Labels may be wrong, or drawn from other rows than "
        "these.",
        ContradictionWarning,
        stacklevel=5,
    )


def _warn_of_void() -> None:
    warnings.warn(
        "What the labels say of the voters, the plain vote and the voters' agreement cannot all be "
        "true of the unlabeled rows: the certificate is void. Labels may be wrong, or drawn from "
        "other rows than these; class_balance, if given, may be wrong.",
        ContradictionWarning,
        stacklevel=5,
    )


def _warn_of_shift(labeled: Ballots, unlabeled: Ballots) -> None:
    found = shift_of_votes(labeled, unlabeled)
    if found is not None:
        warnings.warn(
            "Voters vote significantly differently on the unlabeled rows than on the labeled ones: "
            f"{found.voter!r} votes for {found.vote!r} on {found.unlabeled:.2%} of the "
            f"former and {found.labeled:.2%} of the latter. What the labels say of it may not hold "
            "for them.",
            ShiftWarning,
            stacklevel=5,
        )


def _minus_one_is_class(gold: Gold, classes: np.ndarray, before: _Fitted | None) -> bool:
    """Return whether -1 is a label, as it can be where rows without one came apart at first."""
    if before is not None:
        return before.minus_one_is_class
    return gold.marked is None and -1 in classes.tolist()


def _start(before: _Fitted | None, labeled: Votes) -> np.ndarray | None:
    """Return the weights of a fit before, if voters and classes are the same."""
    if before is None:
        return None
    same_voters = np.array_equal(labeled.voters, before.labeled.voters)
    same = same_voters and np.array_equal(labeled.classes, before.labeled.classes)
    return before.game.weights if same else None
