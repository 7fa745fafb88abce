"""The game of votes for several classes: an adversary picks the labels, limited by bounds.

The opening is the prediction one would make without the game; its scores are an offset of the
game's, and what is played for is the loss beyond its own. The value is then never above zero: if
the bounds hold, the prediction is no worse than the opening, whatever the labels. Without an
opening, log loss and Wilson's bounds, this is the game of An and Dasgupta (UAI 2024):

    mean over rows of Psi(opening_j + f_j theta) - centers . theta + widths . abs(theta),

f_j theta the scores that weights theta give the classes on row j. A small ridge and a largest size
keep theta in place where bounds nearly contradict each other: as if the adversary might break a
bound, at a price. Bounds that do contradict each other are widened before (`worst_case.relaxed`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from hedgeclipper.game.batch import solve_batch
from hedgeclipper.game.equations import Game, WeightTerms
from hedgeclipper.game.multiclass_losses import MulticlassLoss
from hedgeclipper.game.solution import Progress, Solution, solution_fields
from hedgeclipper.game.specialists import ExtendedSpecialists
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.knowledge import Knowledge, joined, parted

RIDGE = 0.1
LARGEST = 10.0


def scores_of(ballots: Ballots, weights: np.ndarray) -> np.ndarray:
    """Return f theta, the scores that weights give each class on each row."""
    scores = ballots.scores(vote_table(weights, ballots.shape))
    scores += weights[weights.size - ballots.n_classes :]
    return scores


def vote_table(weights: np.ndarray, shape: tuple[int, int, int]) -> np.ndarray:
    """Return what weights give each class for a voter's vote, by voter, vote and class."""
    voters, votes, _ = parted(weights, shape[0], shape[1])
    table, each = np.zeros(shape), np.arange(shape[1])
    table[:, each, each] = voters[:, None] + votes
    return table


def sums_of(ballots: Ballots, z: np.ndarray) -> np.ndarray:
    """Return the sum over rows of f z: how often z agrees with voters and votes, and classes."""
    right = np.diagonal(ballots.sums(z), axis1=1, axis2=2)
    return joined(right.sum(axis=1), right, z.sum(axis=0))


@dataclass(frozen=True, eq=False)
class BallotSpecialists:
    """Voters, votes and classes as the specialists of a game, with all rows in one block: f.

    Parameters
    ----------
    ballots : Ballots
        Votes.
    coverage : ndarray of shape (n_weights,)
        Share of the rows that each weight is about; 1 for those that are not used.
    """

    ballots: Ballots
    coverage: np.ndarray
    in_memory = True
    __array_ufunc__ = None  # so that NumPy leaves ``z @ block`` to us

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.ballots.n_rows

    @property
    def n_voters(self) -> int:
        """Number of weights."""
        return self.coverage.size

    def __matmul__(self, weights: np.ndarray) -> np.ndarray:
        return scores_of(self.ballots, weights)

    def __rmatmul__(self, z: np.ndarray) -> np.ndarray:
        return sums_of(self.ballots, z)

    def blocks(self) -> Iterator[BallotSpecialists]:
        """Yield the only block."""
        yield self

    def sum_blocks(self, work: Callable[[Any], Any]) -> Any:
        """Return the result of the work on the only block."""
        return work(self)

    def thinned(self, stride: int) -> None:
        """Return None: the rows are a sample already."""


def weight_terms(knowledge: Knowledge, reach: float, ridge: float = 0.0) -> WeightTerms:
    """Return the terms of weights of size up to ``reach``, 0 where a bound is not used."""
    used, zeros = knowledge.is_used, np.zeros(knowledge.is_used.size)
    edge, width = np.where(used, [knowledge.centers, knowledge.widths], 0.0)
    largest = np.where(used, reach, 0.0)
    return WeightTerms(edge, width, zeros + ridge, zeros, -largest, largest)


# threads of BLAS wait for each other in matrices as small as these, longest on a busy machine
@threadpool_limits.wrap(limits=1, user_api="blas")
def solve_ballots(
    ballots: Ballots,
    knowledge: Knowledge,
    terms: WeightTerms,
    offset: np.ndarray,
    loss: MulticlassLoss,
    *,
    tol: float,
    max_iter: int,
    start: np.ndarray | None = None,
    baseline: float = 0.0,
) -> Solution:
    """Return the best weights found in a game of votes.

    Parameters
    ----------
    ballots, knowledge : Ballots, Knowledge
        Votes, and bounds for their rows.
    terms : WeightTerms
        The weights' own terms.
    offset : ndarray of shape (n_rows, n_classes)
        Added to the scores, as one more voter whose weight is fixed at 1.
    loss : MulticlassLoss
        What is played for.
    tol, max_iter
        Where to stop, as in `solve_game`.
    start : ndarray of shape (n_weights,), optional
        Weights to start from; 0 if not given.
    baseline : float
        Mean potential that counts as 0.
    """
    column, first = np.asfortranarray(offset), np.zeros(terms.edge.size) if start is None else start
    voters = BallotSpecialists(ballots, np.where(knowledge.is_used, knowledge.coverage, 1.0))
    beside = ExtendedSpecialists(voters, lambda _: column)
    game, progress = (
        Game(beside, terms.and_offset(), loss, baseline=baseline),
        Progress(tol, max_iter),
    )
    first = np.append(np.clip(first, terms.lower, terms.upper), 1.0)
    reason = solve_batch(game, progress, first)
    return Solution(**solution_fields(game, progress, reason, terms.edge.size))


def play(
    ballots: Ballots,
    knowledge: Knowledge,
    opening: np.ndarray,
    loss: MulticlassLoss,
    *,
    n_labeled: int,
    **limits: Any,
) -> Solution:
    """Return the weights with the least loss beyond the opening's, against the worst labels.

    Parameters
    ----------
    ballots, knowledge : Ballots, Knowledge
        Votes on unlabeled rows, and bounds for these rows.
    opening : ndarray of shape (n_rows, n_classes)
        Logarithms of the opening's probabilities.
    loss : MulticlassLoss
        What predictions are judged by.
    n_labeled : int
        Number of labels; the ridge falls with it.
    **limits
        ``tol``, ``max_iter`` and ``start``, as in `solve_ballots`.
    """
    scores, terms = (
        loss.scores(opening),
        weight_terms(knowledge, LARGEST, RIDGE / max(n_labeled, 1)),
    )
    already = float(loss.potential(scores).mean())
    found = solve_ballots(ballots, knowledge, terms, scores, loss, baseline=already, **limits)
    if found.objective > 0:  # stopped on the way from a bad start: the opening alone is better
        nothing, gap = np.zeros_like(found.weights), found.duality_gap - found.objective
        return replace(found, weights=nothing, slack=0.0, objective=0.0, duality_gap=gap)
    return found
