"""Bounds on the error of a prediction, at whatever weights were found.

If the correlations hold on the rows, then for every rule g in [-1, 1]^n and every theta of the
right signs

    mean z_j g_j >= edge . theta - width . abs(theta) - mean abs(m_j - g_j)

whatever the labels z, and in the other direction

    mean z_j g_j <= mean abs(m_j + g_j) - edge . theta + width . abs(theta).

The error is (1 - mean z g) / 2. With g = clip(m) the first line is the paper's bound, with
g = sign(m) that of the hard vote. Both are games of their own, with the rule (or its opposite) as
one more voter whose weight is 1, and Psi = abs; every value of their slack is a bound, so that
they need not be solved to the end. alpha, box and anchor of the game that was played have no part
in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hedgeclipper.game.batch import solve_batch
from hedgeclipper.game.equations import Game, WeightTerms
from hedgeclipper.game.losses import absolute_loss
from hedgeclipper.game.setup import LabelCorrelations, set_up_game
from hedgeclipper.game.solution import GameSolution, Progress, find_contradiction
from hedgeclipper.game.specialists import ExtendedSpecialists

RULES = ("randomized", "hard")
MAX_ITER = 40
ROWS_FOR_PROOF = 20_000
ROUNDING = 1e-6


@dataclass(frozen=True)
class Certificate:
    """A bound on the error of a rule on the unlabeled rows of a game.

    Parameters
    ----------
    error_upper, error_lower : float
        The error lies between these if the correlations hold on the rows.
    rule : {"randomized", "hard"}
        Which predictions: the game's own, with a coin where they are not -1 or 1, or their signs.
        No answer, and a sign of 0, count as a coin toss: half an error.
    kind : {"guarantee", "estimate", "void"}
        "guarantee": holds with probability ``confidence_level`` at least, if no voter was fitted on
        the labeled rows and these are drawn like the unlabeled ones.
        "estimate": rests on correlations that are estimates, or that were bounded for more rows
        than these. "void": the correlations contradict each other, so that they cannot all hold,
        and the bounds are 0 and 1.
    confidence_level : float or None
        Probability that the correlations hold, if known.
    n_unlabeled : int
        Number of rows the bound speaks of. It does not speak of later rows.
    reason : str
        Why it is not a guarantee, where it is not.
    """

    error_upper: float
    error_lower: float
    rule: str
    kind: str
    confidence_level: float | None
    n_unlabeled: int
    reason: str

    @property
    def is_guarantee(self) -> bool:
        """Whether it is one."""
        return self.kind == "guarantee"

    @property
    def interval(self) -> str:
        """The bounds in words: "at most 14.2%", or "between 3.0% and 14.2%"."""
        low, high = f"{self.error_lower:.1%}", f"{self.error_upper:.1%}"
        return f"at most {high}" if low == "0.0%" else f"between {low} and {high}"

    def says_nothing(self, n_classes: int = 2) -> bool:
        """Return whether the upper bound is no lower than the error of a random guess.

        Parameters
        ----------
        n_classes : int, default=2
            Number of classes to guess among.
        """
        return self.error_upper >= 1.0 - 1.0 / n_classes

    def describe(self, n_classes: int = 2) -> str:
        """Return what is known of the error, in one sentence.

        Parameters
        ----------
        n_classes : int, default=2
            Number of classes, of which one could guess.

        Examples
        --------
        >>> Certificate(0.142, 0.03, "hard", "guarantee", 0.95, 8000, "").describe()
        'error between 3.0% and 14.2% on the 8,000 unlabeled rows (guaranteed with 95% confidence)'
        """
        if self.kind == "void":
            return f"no bound on the error: {self.reason}"
        kind = "estimate"
        if self.is_guarantee:
            kind = f"guaranteed with {100 * (self.confidence_level or 0):g}% confidence"
        text = f"error {self.interval} on the {self.n_unlabeled:,} unlabeled rows ({kind})"
        if self.says_nothing(n_classes):
            text += ": no better than guessing"
        return text

    def __str__(self) -> str:
        return self.describe()


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

    Parameters
    ----------
    solution : GameSolution
        Any solution, for any loss and alpha, converged or not.
    votes, participation
        The unlabeled rows, as in `solve_game`.
    label_correlations : LabelCorrelations or array-like of shape (n_voters,)
        What is known of the voters, whatever the game was solved with; only a `LabelCorrelations`
        from ``lower_bounds(method="transductive")``, made for no more unlabeled rows than each
        voter is awake on here, makes it a guarantee.
    widths, class_balance
        As in `solve_game`. A guarantee takes a class balance for true.
    rule : {"randomized", "hard"}
        Which predictions.

    Examples
    --------
    >>> from hedgeclipper import lower_bounds, solve_game
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.choice([-1, 1], 21_000)
    >>> votes = np.where(rng.random((21_000, 3)) < 0.9, labels[:, None], -labels[:, None])
    >>> b = lower_bounds(votes[:1000], labels[:1000], method="transductive", n_unlabeled=20_000)
    >>> bound = certificate(solve_game(votes[1000:], b), votes[1000:], b, rule="hard")
    >>> bound.kind, bool(bound.error_upper < 0.3)
    ('guarantee', True)
    """
    if rule not in RULES:
        raise ValueError(f"The 'rule' parameter must be one of {RULES}. Got {rule!r}.")
    game = set_up_game(
        votes,
        label_correlations,
        participation=participation,
        widths=widths,
        class_balance=class_balance,
        loss=absolute_loss(),
        cap=None,
    )
    if not isinstance(solution, GameSolution):
        raise TypeError(f"solution must be what solve_game returns. Got {type(solution).__name__}.")
    if game.specialists.n_voters - game.has_balance != solution.weights.size:
        raise ValueError(
            f"The solution has {solution.weights.size} voters. Got votes of "
            f"{game.specialists.n_voters - game.has_balance}."
        )
    both = np.append(solution.weights, solution.balance_weight)
    witness = both if game.has_balance else solution.weights

    def predict(block: Any) -> np.ndarray:
        votes = block.votes if game.has_balance else block
        mean = solution.loss.link(votes @ solution.weights + solution.balance_weight)
        return np.sign(mean) if rule == "hard" else mean

    return certify(game, predict, witness, rule=rule, knowledge=label_correlations)


def certify(
    game: Game,
    predict: Callable[[Any], np.ndarray],
    witness: np.ndarray,
    *,
    rule: str,
    knowledge: Any,
    max_iter: int = MAX_ITER,
    both_ends: bool = True,
) -> Certificate:
    """Return bounds on the error of any rule, given a game that says what is known.

    Parameters
    ----------
    game : Game
        Voters and what is known of them; Psi must be abs, and there must be no anchor.
    predict : callable
        The rule: takes a block of votes and returns g in [-1, 1] for its rows.
    witness : ndarray of shape (n_voters,)
        Weights to start the proof from.
    rule : {"randomized", "hard"}
        What to call the rule.
    knowledge : LabelCorrelations or anything else
        Where the game's correlations come from, for telling a guarantee from an estimate.
    max_iter : int
        Passes over the rows for each end.
    both_ends : bool
        Whether to look for a lower bound, and for a contradiction, too; it is 0 otherwise.
    """
    witness = np.clip(witness, game.terms.lower, game.terms.upper)
    void = _contradiction(game, witness) if both_ends else None
    upper = (1.0 + _least(game, lambda rows: -predict(rows), witness, max_iter)) / 2.0
    lower = 0.0
    if both_ends:
        lower = (1.0 - _least(game, predict, np.zeros(witness.size), max_iter)) / 2.0
    if void is None and (lower > upper + ROUNDING or upper < -ROUNDING):
        void = "The correlations contradict each other: the bounds cross."
    doubt = void or _doubt(game, knowledge)
    return Certificate(
        error_upper=1.0 if void else float(np.clip(upper, 0.0, 1.0)),
        error_lower=0.0 if void else float(np.clip(min(lower, upper), 0.0, 1.0)),
        rule=rule,
        kind="void" if void else "estimate" if doubt else "guarantee",
        confidence_level=getattr(knowledge, "confidence_level", None),
        n_unlabeled=game.specialists.n_samples,
        reason=doubt,
    )


def _contradiction(game: Game, witness: np.ndarray) -> str | None:
    """Return the contradiction that the weights prove, in words."""
    size = game.evaluate(witness, eps=1.0).mean_size
    found = find_contradiction(game, witness, size)
    return None if found is None else str(found)


def _least(
    game: Game, column: Callable[[Any], np.ndarray], start: np.ndarray, max_iter: int
) -> float:
    """Return an upper bound on the mean of z times the column.

    Where there are many rows, the weights that prove it are sought on a sample of them, and a pass
    over all rows then says what they prove; else it is no larger than the bound at ``start``.
    """
    terms = game.terms.within(max(1.0, float(np.abs(start).max(initial=0.0))))
    beside = replace(
        game,
        specialists=ExtendedSpecialists(game.specialists, column),
        terms=WeightTerms(
            edge=np.append(terms.edge, 0.0),
            width=np.append(terms.width, 0.0),
            curvature=np.append(terms.curvature, 0.0),
            anchor=np.append(terms.anchor, 0.0),
            lower=np.append(terms.lower, 1.0),
            upper=np.append(terms.upper, 1.0),
        ),
    )
    theta = np.append(start, 1.0)
    stride = game.specialists.n_samples // ROWS_FOR_PROOF
    sample = beside.specialists.thinned(stride) if stride >= 8 else None
    if sample is None:
        progress = Progress(tol=1e-2, max_iter=max_iter)
        solve_batch(beside, progress, theta)
        return progress.primal
    on_sample = Progress(tol=1e-2, max_iter=max_iter)
    solve_batch(replace(beside, specialists=sample), on_sample, theta)
    return beside.primal(on_sample.best.theta)


def _doubt(game: Game, label_correlations: Any) -> str:
    """Return why these correlations make no guarantee for the rows of the game, if they do not."""
    if not isinstance(label_correlations, LabelCorrelations) or (
        not label_correlations.is_guarantee or label_correlations.n_unlabeled is None
    ):
        return "as far as the correlations, which are estimates, are right"
    specialists: Any = game.specialists
    voters = specialists.base if game.has_balance else specialists
    if voters.is_fractional:
        return "participation other than 0 and 1 makes no guarantee"
    if np.any(label_correlations.n_unlabeled > voters.coverage * voters.n_samples + 0.5):
        return (
            "the correlations were bounded for more rows than some voters are awake on here (pass "
            "lower_bounds the number of these)"
        )
    return ""
