"""What correlations prove: bounds on the error of a prediction, and contradictions among them.

If the correlations hold on the rows, then for every rule g in [-1, 1]^n and every theta of the
right signs

    mean z_j g_j >= edge . theta - width . abs(theta) - mean abs(m_j - g_j)

whatever the labels z, and in the other direction

    mean z_j g_j <= mean abs(m_j + g_j) - edge . theta + width . abs(theta).

The error is (1 - mean z g) / 2. With g = clip(m) the first line is the paper's bound, with
g = sign(m) that of the hard predictions. Both are games of their own, with the rule (or its
opposite) as one more voter whose weight is 1, and Psi = abs. Every value of their slack is a bound,
so that they need not be solved to the end. alpha, box and anchor of the game whose solution
predicts have no part in it.

Where correlations contradict each other, the smallest amount r by which every b must be lowered
(every interval widened) is

    r = max(0, max over sum c_i abs(theta_i) = 1 of edge . theta - width . abs(theta) - mean abs(m))
      = max(0, min over z in [-1, 1]^n of the largest violation of a constraint),

so any theta bounds it from below and any z from above. The largest ratio of
edge . theta - width . abs(theta) - mean abs(m) to sum c_i abs(theta_i) is found by Dinkelbach's
iteration (W. Dinkelbach, On Nonlinear Fractional Programming, Management Science, 1967).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hedgeclipper.game.equations import Evaluation, Game, WeightTerms
from hedgeclipper.game.losses import ABSOLUTE_LOSS
from hedgeclipper.game.solution import (
    NEGLIGIBLE,
    Contradiction,
    GameSolution,
    PassRecord,
    Progress,
    find_contradiction,
)
from hedgeclipper.game.solve import LabelCorrelations, check_positive, is_small, set_up_game
from hedgeclipper.game.solvers import solve_batch, solve_exact
from hedgeclipper.game.specialists import ExtendedSpecialists, Specialists

RULES = ("randomized", "hard")
MAX_ITER = 40
ROWS_FOR_PROOF = 20_000
ROUNDING = 1e-6
MAX_ROUNDS = 50


@dataclass(frozen=True, repr=False)
class Certificate:
    """What is known of the error of predictions on the unlabeled rows.

    Parameters
    ----------
    error : float or None
        Point estimate; None where only bounds are known.
    error_upper, error_lower : float
        Bounds on the error. For a guarantee each holds with probability ``confidence_level`` by
        itself; for an estimate they are the ends of an interval.
    kind : {"guarantee", "estimate", "void"}
        "guarantee": the labels behind it had no part in the predictions, and the labeled rows are
        a simple random sample of labeled and unlabeled rows. "estimate": everything else. "void":
        nothing is known, since bounds contradict each other or no label could test it; the bounds
        are 0 and 1.
    confidence_level : float or None
        Probability that a bound holds (of an estimate: about so), if known.
    n_unlabeled : int
        Number of rows the bounds are for. They do not hold for others. 0: there were no unlabeled
        rows, and they are for new rows that are drawn like the labeled ones.
    n_errors, n_tested : int
        How many of the labeled rows that tested the predictions were predicted wrong, and how many
        there were. Both are 0 for bounds from what is known of the voters (`certificate`).
    baseline : float or None
        Error of always predicting the most frequent class, by the labels.
    rule : {"hard", "randomized"}
        Which predictions: "hard" are those of ``predict``, "randomized" the game's own, drawn at
        random where they are not -1 or 1. For `certificate`, a sign of 0 counts as half an error.
    reason : str
        Why it is not a guarantee, where it is not.
    is_drawn : bool
        Whether the rows are some of the unlabeled ones, drawn at random.
    """

    error: float | None
    error_upper: float
    error_lower: float
    kind: str
    confidence_level: float | None
    n_unlabeled: int
    n_errors: int = 0
    n_tested: int = 0
    baseline: float | None = None
    rule: str = "hard"
    reason: str = ""
    is_drawn: bool = False

    @property
    def is_guarantee(self) -> bool:
        """Whether it is a guarantee, not an estimate or void."""
        return self.kind == "guarantee"

    def describe(self) -> str:
        r"""Return what is known of the error, in one sentence.

        Examples
        --------
        >>> found = Certificate(0.114, 0.142, 0.09, "guarantee", 0.95, 8000, 57, 500, 0.241)
        >>> print(found.describe().replace(" (", "\n("))
        error at most 14.2% on the 8,000 unlabeled rows, guaranteed with 95% confidence
        (57 errors on 500 held-out labels; always the most frequent class: 24.1%)
        """
        if self.kind == "void":
            return f"no bound on the error: {self.reason}"
        which = "unlabeled rows that were drawn" if self.is_drawn else "unlabeled rows"
        rows = f"the {self.n_unlabeled:,} {which}" if self.n_unlabeled else "new rows"
        low, high = f"{self.error_lower:.1%}", f"{self.error_upper:.1%}"
        level = f"{100 * (self.confidence_level or 0):g}%"
        notes = []
        if self.is_guarantee:
            text = f"error at most {high} on {rows}, guaranteed with {level} confidence"
            if self.n_tested:
                notes.append(f"{count_errors(self.n_errors)} on {self.n_tested:,} held-out labels")
        elif self.error is None:
            text = f"error between {low} and {high} on {rows} in the worst case, an estimate"
        else:
            text = f"error about {self.error:.1%} on {rows}, an estimate"
            notes.append(f"{level} interval {low} to {high}")
        if self.baseline is not None:
            notes.append(f"always the most frequent class: {self.baseline:.1%}")
        return f"{text} ({'; '.join(notes)})" if notes else text

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        return f"<Certificate ({self.kind}): {self.describe()}>"


def count_errors(n_errors: int) -> str:
    """Return the number of errors with the word."""
    return f"{n_errors:,} error{'s' * (n_errors != 1)}"


def certificate(
    solution: GameSolution,
    votes: Any,
    label_correlations: Any,
    *,
    participation: Any = None,
    widths: Any = None,
    class_balance: Any = None,
    rule: str = "randomized",
) -> Certificate:
    """Return bounds on the error of the solution's predictions on the rows of a game.

    Whatever the labels are, the error lies between the bounds if the correlations hold on these
    rows; whether that is certain enough for a guarantee is the ``kind`` of the certificate.

    Parameters
    ----------
    solution : GameSolution
        Any solution, for any loss and alpha, converged or not.
    votes : array-like or sparse matrix of shape (n_samples, n_voters), or re-iterable of these
        Votes on the unlabeled rows, as in `solve_game`.
    label_correlations : LabelCorrelations or array-like of shape (n_voters,)
        What is known of the voters, whatever the game was solved with. Only a `LabelCorrelations`
        from ``lower_bounds(method="exact")``, made for as many unlabeled rows as each
        voter is awake on here, makes it a guarantee; all else makes it an estimate.
    participation : like votes, default=None
        Probability of voting, as in `solve_game`. Values other than 0 and 1 make it an estimate.
    widths : float, array-like of shape (n_voters,), or "bounds", default=None
        As in `solve_game`. Pass "bounds" with a `LabelCorrelations` to use its upper bounds too,
        which may make both bounds on the error tighter, the lower one above all.
    class_balance : float or (float, float), default=None
        As in `solve_game`. A guarantee assumes that it is true.
    rule : {"randomized", "hard"}, default="randomized"
        Which predictions: "randomized" are ``solution.predictions(randomized=True)``, "hard" the
        signs, as a classifier predicts them. The former are minimax optimal for zero-one loss, so
        that the bound on the signs is mostly larger.

    Returns
    -------
    Certificate
        The bounds, their kind, and the reason where they are no guarantee.

    References
    ----------
    A. Balsubramani and Y. Freund. Scalable Semi-Supervised Aggregation of Classifiers. NIPS 2015.

    Examples
    --------
    >>> from hedgeclipper import lower_bounds, solve_game
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.choice([-1, 1], 21_000)
    >>> votes = np.where(rng.random((21_000, 3)) < 0.9, labels[:, None], -labels[:, None])
    >>> b = lower_bounds(votes[:1000], labels[:1000], method="exact", n_unlabeled=20_000)
    >>> bound = certificate(solve_game(votes[1000:], b), votes[1000:], b, rule="hard")
    >>> bound.kind, bool(bound.error_upper < 0.3)
    ('guarantee', True)
    """
    if rule not in RULES:
        raise ValueError(f"The 'rule' parameter must be one of {RULES}. Got {rule!r}.")
    known = (label_correlations, participation, widths, class_balance)
    game = set_up_game(votes, *known, loss=ABSOLUTE_LOSS, cap=None)
    if not isinstance(solution, GameSolution):
        raise TypeError(f"solution must be what solve_game returns. Got {type(solution).__name__}.")
    if game.specialists.n_voters - game.has_balance != solution.weights.size:
        raise ValueError(
            f"The solution has {solution.weights.size} voters. Got votes of "
            f"{game.specialists.n_voters - game.has_balance}."
        )
    start = solution.weights
    if game.has_balance:
        start = np.append(start, solution.balance_weight)

    def predict(block: Any) -> np.ndarray:
        votes = block.votes if game.has_balance else block
        mean = solution.loss.link(votes @ solution.weights + solution.balance_weight)
        return np.sign(mean) if rule == "hard" else mean

    return certify(game, predict, start, rule=rule, knowledge=label_correlations)


def certify(
    game: Game,
    predict: Callable[[Any], np.ndarray],
    start: np.ndarray,
    *,
    rule: str,
    knowledge: Any,
) -> Certificate:
    """Return bounds on the error of any rule, given a game that holds what is known.

    In the game Psi must be abs, and there must be no anchor. ``predict``, called ``rule``, takes a
    block of votes and returns g in [-1, 1] for its rows. The search for a proof begins at the
    weights ``start``. ``knowledge`` is where the game's correlations come from; only
    `LabelCorrelations` can make a guarantee.
    """
    start = np.clip(start, game.terms.lower, game.terms.upper)
    upper = (1.0 + _largest_mean(game, lambda rows: -predict(rows), start)) / 2.0
    found = find_contradiction(game, start, game.evaluate(start, eps=1.0).mean_size)
    void = "" if found is None else str(found)
    lower = (1.0 - _largest_mean(game, predict, np.zeros(start.size))) / 2.0
    if not void and (lower > upper + ROUNDING or upper < -ROUNDING):
        void = "The correlations contradict each other: the bounds cross."
    doubt = void or _doubt(game, knowledge)
    return Certificate(
        error=None,
        error_upper=1.0 if void else float(np.clip(upper, 0.0, 1.0)),
        error_lower=0.0 if void else float(np.clip(min(lower, upper), 0.0, 1.0)),
        kind="void" if void else "estimate" if doubt else "guarantee",
        confidence_level=getattr(knowledge, "confidence_level", None),
        n_unlabeled=game.specialists.n_samples,
        rule=rule,
        reason=doubt,
    )


def largest_error(
    voters: Specialists,
    lower: np.ndarray,
    balance: tuple[float, float],
    predict: Callable[[Any], np.ndarray],
    max_iter: int = MAX_ITER,
) -> float:
    """Return an upper bound on the error of a rule under any labels that the voters allow.

    The last voter always votes +, and ``balance`` is the mean label and the width within which it
    is known; ``lower`` are lower bounds on the correlations of the other voters. ``predict`` is
    that of `certify`. The result is 1 if these contradict each other.
    """
    none = np.zeros(lower.size)
    terms = WeightTerms.of(
        voters.coverage,
        np.append(lower, balance[0]),
        width=np.append(none, balance[1]),
        lower=np.append(none, -np.inf),
    )
    start = np.append(np.maximum(lower, 0.0) / lower.size, 0.0)
    game = Game(voters, terms, ABSOLUTE_LOSS)
    found = (1.0 + _largest_mean(game, lambda rows: -predict(rows), start, max_iter)) / 2.0
    return 1.0 if found < -ROUNDING else float(np.clip(found, 0.0, 1.0))


def _largest_mean(
    game: Game,
    column: Callable[[Any], np.ndarray],
    start: np.ndarray,
    max_iter: int = MAX_ITER,
) -> float:
    """Return an upper bound on the mean of z times the column.

    Where there are many rows, the weights that prove it are sought on a sample of them, and a pass
    over all rows then shows what they prove; else it is no larger than the bound at ``start``.
    """
    reach = max(1.0, float(np.abs(start).max(initial=0.0)))
    terms = game.terms.within(reach).and_offset()
    beside = replace(game, specialists=ExtendedSpecialists(game.specialists, column), terms=terms)
    stride = game.specialists.n_samples // ROWS_FOR_PROOF
    sample = beside.specialists.thinned(stride) if stride >= 8 else None
    progress = Progress(tol=1e-2, max_iter=max_iter)
    sought = beside if sample is None else replace(beside, specialists=sample)
    solve_batch(sought, progress, np.append(start, 1.0))
    return progress.primal if sample is None else beside.primal(progress.best.theta)


def _doubt(game: Game, label_correlations: Any) -> str:
    """Return why these correlations make no guarantee for the rows of the game; "" if they do."""
    if not isinstance(label_correlations, LabelCorrelations) or (
        not label_correlations.is_guarantee or label_correlations.n_unlabeled is None
    ):
        return "as far as the correlations, which are estimates, are right"
    specialists: Any = game.specialists
    voters = specialists.base if game.has_balance else specialists
    if voters.is_fractional:
        return "participation other than 0 and 1 makes no guarantee"
    n_awake = voters.coverage * voters.n_samples
    if np.any(np.abs(label_correlations.n_unlabeled - n_awake) > 0.5):
        return (
            "the correlations were bounded for another number of rows than some voters are awake "
            "on here (pass lower_bounds the number of these)"
        )
    return ""


@dataclass(frozen=True)
class Relaxation:
    """The smallest amount by which all correlations must be relaxed to be consistent.

    Parameters
    ----------
    lower, upper : float
        Bracket of that amount. If ``lower`` is 0, no contradiction was found; if ``upper`` is,
        there is none.
    is_exact : bool
        Whether ``lower`` and ``upper`` are within 1e-6 of each other.
    contradiction : Contradiction or None
        The proof of ``lower``; None if that is 0.
    """

    lower: float
    upper: float
    is_exact: bool
    contradiction: Contradiction | None


def smallest_relaxation(
    votes: Any,
    label_correlations: Any,
    *,
    participation: Any = None,
    widths: Any = None,
    class_balance: Any = None,
    max_iter: int = 300,
) -> Relaxation:
    """Return by how much all correlations must be lowered so that some labels have them.

    Use it to see whether correlations contradict each other, by how much, and through which
    voters. With ``widths`` or a class balance, intervals are widened instead. Small problems are
    solved by linear programs, large ones up to the bracket that ``max_iter`` passes give.

    Parameters
    ----------
    votes : array-like or sparse matrix of shape (n_samples, n_voters), or re-iterable of these
        Votes on the unlabeled rows, as in `solve_game`.
    label_correlations : array-like of shape (n_voters,) or LabelCorrelations
        Lower bound on the correlation of each voter with the labels, as in `solve_game`.
    participation : like votes, default=None
        Probability of voting, as in `solve_game`; by default a voter takes part wherever it does
        not abstain.
    widths : float, array-like of shape (n_voters,), or "bounds", default=None
        Makes the knowledge two-sided, as in `solve_game`; by default it is bounded from below
        alone.
    class_balance : float or (float, float), default=None
        Proportion of + among the rows, or the proportion and the width within which it is known;
        by default nothing is known of it.
    max_iter : int, default=300
        Passes over the rows at most. Raise it where ``lower`` and ``upper`` are too far apart.

    Returns
    -------
    Relaxation
        Bracket of the amount, and the voters that prove its lower end.

    Examples
    --------
    Two voters that never agree cannot both be right three times out of four:

    >>> votes = np.array([[1, -1], [1, -1], [-1, 1], [-1, 1]])
    >>> result = smallest_relaxation(votes, [0.5, 0.5])
    >>> round(result.lower, 6), result.contradiction.voters.tolist()
    (0.5, [0, 1])
    """
    known = (label_correlations, participation, widths, class_balance)
    game = set_up_game(votes, *known, loss=ABSOLUTE_LOSS)
    check_positive("max_iter", max_iter)
    terms, coverage = game.terms, game.specialists.coverage
    lower, upper, best, n_iter = 0.0, np.inf, None, 0

    def note_labels(record: PassRecord, evaluation: Evaluation) -> None:
        """Lower ``upper`` to the largest violation of a constraint under this pass's labels."""
        nonlocal upper
        missing = terms.edge - evaluation.tilt
        violation = np.where(terms.lower < 0, np.abs(missing), missing) - terms.width
        upper = min(upper, max(0.0, float(np.max(violation / coverage))))

    for _ in range(MAX_ROUNDS):
        if n_iter >= max_iter:
            break
        # with every correlation lowered by the best ratio so far, weights whose slack is still
        # negative have a better ratio; if there are none, that ratio was the largest
        lowered = replace(game, terms=replace(terms, width=terms.width + lower * coverage))
        progress = Progress(1e-3, max_iter - n_iter, reports=[note_labels])
        if is_small(game):
            solve_exact(lowered, progress)
        else:
            solve_batch(lowered, progress, np.clip(0.0, terms.lower, terms.upper))
        n_iter += progress.n_iter
        proof = find_contradiction(game, progress.best.theta, progress.best.mean_size)
        if proof is None or proof.excess <= lower * (1 + 1e-9):
            break
        best, lower = proof, proof.excess
    upper = max(upper if upper > NEGLIGIBLE else 0.0, lower)
    return Relaxation(lower, upper, upper - lower <= NEGLIGIBLE, best)
