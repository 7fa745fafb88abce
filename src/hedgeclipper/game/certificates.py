"""Bounds on the error of a prediction, at whatever weights were found.

If the correlations hold on the rows, then for every rule g in [-1, 1]^n, every theta of the right
signs and every t >= 0

    mean z_j g_j >= t (edge . theta - width . abs(theta)) - mean abs(t m_j - g_j)

whatever the labels z, and in the other direction, for every theta' of the right signs,

    mean z_j g_j <= mean abs(g_j + m'_j) - edge . theta' + width . abs(theta').

The error is (1 - mean z g) / 2. With g = clip(m) and t = 1 the first line is the paper's bound,
with g = sign(m) that of the hard vote. alpha, box and anchor play no part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hedgeclipper.correlations import LabelCorrelations
from hedgeclipper.game.batch import solve_batch
from hedgeclipper.game.contradiction import Contradiction, find_contradiction
from hedgeclipper.game.equations import Game
from hedgeclipper.game.losses import absolute_loss
from hedgeclipper.game.setup import set_up_game
from hedgeclipper.game.solution import GameSolution
from hedgeclipper.game.terms import WeightTerms
from hedgeclipper.game.track import Progress
from hedgeclipper.specialists.extended import ExtendedSpecialists

RULES = ("randomized", "hard")
SCALES = np.concatenate([[0.0], 2.0 ** (np.arange(-24, 13) / 4)])


@dataclass(frozen=True)
class Certificate:
    """A bound on the error of a rule on the unlabelled rows of a game.

    Parameters
    ----------
    error_upper, error_lower : float
        The error lies between these if the correlations hold on the rows.
    rule : {"randomized", "hard"}
        Which predictions: the game's own, with a coin where they are not -1 or 1, or their signs
        (a 0 counts as a coin toss).
    kind : {"guarantee", "estimate", "void"}
        "guarantee": holds with probability at least 1 - delta, under the assumptions below.
        "estimate": rests on correlations that are estimates. "void": the correlations contradict
        each other, so that they cannot all hold, and the bounds are 0 and 1.
    delta : float or None
        Probability that the correlations do not hold, if known.
    n_unlabeled : int
        Number of rows the bound speaks of. It does not speak of later rows.
    contradiction : Contradiction or None
        What is wrong where it is void.
    """

    error_upper: float
    error_lower: float
    rule: str
    kind: str
    delta: float | None
    n_unlabeled: int
    contradiction: Contradiction | None

    @property
    def is_guarantee(self) -> bool:
        """Whether it is one."""
        return self.kind == "guarantee"

    def __str__(self) -> str:
        rule = "randomised prediction" if self.rule == "randomized" else "hard vote"
        bounds = (
            f"error of the {rule} on the {self.n_unlabeled} rows between "
            f"{self.error_lower:.4f} and {self.error_upper:.4f}"
        )
        if self.kind == "guarantee":
            return (
                f"guarantee with probability {1 - (self.delta or 0):g}: {bounds}, if no voter was "
                "fitted on the labelled rows and these are drawn like the unlabelled ones"
            )
        if self.kind == "void":
            return f"void: {self.contradiction}"
        return f"estimate: {bounds}, as far as the correlations are right"


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
        The unlabelled rows, as in `solve_game`.
    label_correlations : LabelCorrelations or array-like of shape (n_voters,)
        What is known of the voters; only a `LabelCorrelations` from
        ``lower_bounds(method="transductive")`` makes it a guarantee. Need not be what the game was
        solved with.
    widths, class_balance
        As in `solve_game`; a guarantee then takes them for true.
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
    if game.specialists.n_voters - game.has_balance != solution.weights.size:
        raise ValueError(
            f"The solution has {solution.weights.size} voters. Got votes of "
            f"{game.specialists.n_voters - game.has_balance}."
        )
    play = _Rule(solution, game, rule)
    upper, contradiction = _upper_bound(game, play)
    lower = _lower_bound(game, play) if contradiction is None else 0.0
    known = label_correlations if isinstance(label_correlations, LabelCorrelations) else None
    is_guarantee = known is not None and known.is_guarantee
    return Certificate(
        error_upper=upper if contradiction is None else 1.0,
        error_lower=min(lower, upper),
        rule=rule,
        kind="void" if contradiction else "guarantee" if is_guarantee else "estimate",
        delta=known.delta if known is not None else None,
        n_unlabeled=game.specialists.n_samples,
        contradiction=contradiction,
    )


class _Rule:
    """The predictions whose error is bounded, block by block."""

    def __init__(self, solution: GameSolution, game: Game, rule: str):
        self.link = solution.loss.link
        self.is_hard = rule == "hard"
        self.balance = solution.balance_weight
        self.has_balance = game.has_balance
        self.weights = solution.weights
        self.witness = (
            np.append(solution.weights, solution.balance_weight)
            if game.has_balance
            else solution.weights
        )

    def predict(self, block: Any) -> np.ndarray:
        """Return g on the rows of a block."""
        votes = block.block if self.has_balance else block
        mean = self.link(votes @ self.weights + self.balance)
        return np.sign(mean) if self.is_hard else mean


def _upper_bound(game: Game, play: _Rule) -> tuple[float, Contradiction | None]:
    """Return the best upper bound over the scales t, and the contradiction the weights show."""
    earned = -game.terms.slack(play.witness)
    distance, size = np.zeros(SCALES.size), 0.0
    for block in game.specialists.blocks():
        m, g = block @ play.witness, play.predict(block)
        size += float(np.abs(m).sum())
        distance += [float(np.abs(t * m - g).sum()) for t in SCALES]
    n = game.specialists.n_samples
    contradiction = find_contradiction(game, play.witness, size / n)
    correlation = float(np.max(SCALES * earned - distance / n))
    return float(np.clip((1.0 - correlation) / 2.0, 0.0, 1.0)), contradiction


def _lower_bound(game: Game, play: _Rule) -> float:
    """Return a lower bound: the labels cannot agree with the rule more than voters allow.

    It is a game of its own, with the rule as one more voter whose weight is 1 and Psi = abs. Every
    value of its slack is a bound, so that it need not be solved to the end.
    """
    beside = ExtendedSpecialists(game.specialists, play.predict)
    terms = game.terms.within(1.0)
    extended = WeightTerms(
        edge=np.append(terms.edge, 0.0),
        width=np.append(terms.width, 0.0),
        curvature=np.append(terms.curvature, 0.0),
        anchor=np.append(terms.anchor, 1.0),
        lower=np.append(terms.lower, 1.0),
        upper=np.append(terms.upper, 1.0),
    )
    progress = Progress(tol=1e-2, max_passes=40)
    start = np.append(np.zeros(terms.edge.size), 1.0)
    opposing = replace(game, specialists=beside, terms=extended)
    solve_batch(opposing, progress, start)
    return float(np.clip((1.0 - progress.primal) / 2.0, 0.0, 1.0))
