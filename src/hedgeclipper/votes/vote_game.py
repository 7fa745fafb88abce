"""The game of votes for several classes, its predictions, and what labels tell of these.

An adversary picks the labels, limited by bounds on the voters. The initial model predicts without
the game; its scores are an offset of the game's scores, and the loss beyond its own is minimized.
The value is then never above zero: if the bounds hold, the prediction is no worse than the initial
model, whatever the labels. From equal scores of all classes, with log loss, this is the game of An
and Dasgupta (UAI 2024):

    mean over rows of Psi(initial_j + f_j theta) - centers . theta + widths . abs(theta),

f_j theta the scores that weights theta give the classes on row j. A small ridge and a box keep
theta small where bounds nearly contradict each other: as if the adversary might break a bound, at a
price. Bounds that do contradict each other are relaxed before (`voter_bounds.relaxed`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from hedgeclipper.bounds.checked_rule import (
    ONLY_HELD_OUT,
    SHIFTED_LABELS,
    USED_LABELS,
    CheckedRule,
)
from hedgeclipper.bounds.class_rates import RateEvidence
from hedgeclipper.game.equations import Game, WeightTerms
from hedgeclipper.game.losses import MulticlassLoss, row_favorites, row_maxima
from hedgeclipper.game.solution import Progress, Solution, solution_fields
from hedgeclipper.game.solvers import solve_batch
from hedgeclipper.votes.ballots import Ballots, vote_table

if TYPE_CHECKING:
    from hedgeclipper.votes.evidence import Evidence
    from hedgeclipper.votes.gold import GoldRows
    from hedgeclipper.votes.initial_model import InitialModel
    from hedgeclipper.votes.voter_bounds import VoterBounds

RIDGE = 0.1
LARGEST = 10.0
ROUNDING = 1e-12


class BallotSpecialists:
    """Voters, votes and classes as the specialists of a game, with all rows in one block: f.

    ``offset`` of shape (n_rows, n_classes) is added to the scores, and ``coverage`` is the part of
    the rows that each weight is about; 1 for those not used.
    """

    __array_ufunc__ = None  # so that NumPy leaves ``z @ block`` to us

    def __init__(self, ballots: Ballots, offset: np.ndarray, coverage: np.ndarray):
        self.ballots, self.offset, self.coverage = ballots, np.asfortranarray(offset), coverage
        self.n_samples, self.n_voters = ballots.n_rows, coverage.size

    def __matmul__(self, weights: np.ndarray) -> np.ndarray:
        """Return the offset and f theta."""
        scores = self.ballots.weighted(weights)
        scores += self.offset
        return scores

    def __rmatmul__(self, z: np.ndarray) -> np.ndarray:
        """Return the sum over rows of f z."""
        return self.ballots.agreement(z)

    def blocks(self) -> Iterator[BallotSpecialists]:
        """Yield the only block."""
        yield self


# threads of BLAS wait for each other in matrices as small as these, longest on a busy machine
@threadpool_limits.wrap(limits=1, user_api="blas")
def solve_ballots(
    ballots: Ballots,
    bounds: VoterBounds,
    offset: np.ndarray,
    loss: MulticlassLoss,
    *,
    largest: float,
    ridge: float = 0.0,
    tol: float,
    max_iter: int,
    baseline: float = 0.0,
) -> Solution:
    """Return the best weights found in a game of votes.

    Weights are of size up to ``largest``, and 0 where a bound is not used. ``offset`` of shape
    (n_rows, n_classes) is added to the scores; ``baseline`` is the mean potential that counts as 0.
    """
    used, zeros = bounds.is_used, np.zeros(bounds.is_used.size)
    edge, width = np.where(used, [bounds.centers, bounds.widths], 0.0)
    box = np.where(used, largest, 0.0)
    terms = WeightTerms(edge, width, zeros + ridge, zeros, -box, box)
    specialists = BallotSpecialists(ballots, offset, np.where(used, bounds.coverage, 1.0))
    game, progress = Game(specialists, terms, loss, baseline=baseline), Progress(tol, max_iter)
    reason = solve_batch(game, progress, zeros)
    return Solution(**solution_fields(game, progress, reason))


def solve_vote_game(
    ballots: Ballots,
    bounds: VoterBounds,
    initial: np.ndarray,
    loss: MulticlassLoss,
    *,
    n_labeled: int,
    tol: float,
    max_iter: int,
) -> Solution:
    """Return the weights with the least loss beyond the initial model's, against the worst labels.

    ``bounds`` are used as they apply to these rows, ``initial`` of shape (n_rows, n_classes) are
    the logarithms of the initial model's probabilities; the ridge decreases with ``n_labeled``.
    """
    scores = loss.scores(initial)
    return solve_ballots(
        ballots,
        bounds.on(ballots),
        scores,
        loss,
        largest=LARGEST,
        ridge=RIDGE / max(n_labeled, 1),
        tol=tol,
        max_iter=max_iter,
        baseline=float(loss.potential(scores).mean()),
    )


@dataclass(frozen=True, eq=False)
class VotePredictor:
    """Initial model and weights theta of the game: from votes to probabilities."""

    initial: InitialModel
    weights: np.ndarray
    loss: MulticlassLoss

    def check_arrays(self) -> None:
        """Raise unless all numbers that predictions are made of are finite."""
        initial = self.initial
        numbers = [self.weights, initial.log_balance, initial.classes, initial.votes]
        if not all(np.isfinite(number).all() for number in numbers if number is not None):
            raise ValueError("its weights are not finite")

    def probabilities(self, ballots: Ballots) -> np.ndarray:
        """Return the probability of each class for each row; the class balance without votes."""
        out = np.empty((ballots.n_rows, ballots.n_classes), order="F")
        for rows, block in ballots.blocks():
            if self.weights.any():
                out[rows] = self.moved(self.initial.log_probabilities(block), block)
            else:  # often the game leaves the initial model as it is
                out[rows] = self.initial.probabilities(block)
        return out

    def moved(self, log_probabilities: np.ndarray, ballots: Ballots) -> np.ndarray:
        """Return probabilities, given those of the initial model: as the game moves them."""
        scores = self.loss.scores(log_probabilities)
        scores += ballots.weighted(self.weights)
        out = self.loss.link(scores)
        out[ballots.n_votes == 0] = np.exp(self.initial.log_balance)
        return out

    def vote_weights(self, shape: tuple[int, int, int]) -> np.ndarray:
        """Return what a vote adds to the log-odds of each class, by voter, vote and class."""
        table = self.initial.votes + vote_table(self.weights, shape)
        return table - table.mean(axis=2, keepdims=True)


def most_probable(probabilities: np.ndarray, balance: np.ndarray) -> np.ndarray:
    """Return the code of the most probable class of each row, in a tie the most frequent one."""
    best = row_maxima(probabilities)[:, None]
    return row_favorites(np.where(probabilities >= best - ROUNDING, balance, 0.0))


def check_rule(
    gold: GoldRows,
    held: np.ndarray | None,
    evidence: Evidence,
    predictor: VotePredictor,
    on_labeled: np.ndarray,
    probabilities: np.ndarray,
    is_shifted: bool,
) -> tuple[CheckedRule, RateEvidence]:
    """Return the errors on labeled rows, and the doubts on these and on the unlabeled ones.

    With them comes what labels and predictions tell of how often each class occurs. Without
    held-out labels a labeled row is predicted by an initial model that estimates the accuracies of
    its voters without the row's own label; the weights of the mixture and of the game were found
    with it.

    ``held`` are the numbers of the held-out labels, ``on_labeled`` log-probabilities of the initial
    model for the others, and ``probabilities`` those of the predictor for the unlabeled rows of the
    fit, held-out ones last if there are others.
    """
    if held is None:
        tested, codes = predictor.moved(on_labeled, evidence.labeled), evidence.codes
        caveat = USED_LABELS
    else:
        if gold.has_unlabeled:
            tested = probabilities[gold.unlabeled.n_rows :]
        else:
            tested = predictor.probabilities(Ballots(gold.labeled.take(held)))
        codes, caveat = gold.codes[held], SHIFTED_LABELS if is_shifted else ""
        known = np.bincount(evidence.codes, minlength=evidence.balance.size)
        known = known + (evidence.labeled.votes_cast + evidence.unlabeled.votes_cast).sum(axis=0)
        if np.any(known[codes] == 0):
            caveat = ONLY_HELD_OUT
    wrong = most_probable(tested, evidence.balance) != codes
    unlabeled = probabilities[: gold.unlabeled.n_rows if gold.has_unlabeled else 0]
    rates = RateEvidence(
        gold.codes,
        tested,
        np.arange(gold.codes.size) if held is None else held,
        unlabeled.mean(axis=0) if len(unlabeled) else np.zeros(evidence.balance.size),
        len(unlabeled),
        is_guarantee=held is not None and not is_shifted,
    )
    doubts, others = (1.0 - part.max(axis=1) for part in (tested, unlabeled))
    checked = CheckedRule.of(wrong, doubts, others, gold.codes, caveat=caveat)
    return checked, rates
