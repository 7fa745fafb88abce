"""The game of votes for several classes: bounds on the voters, and its solution.

**Bounds.** Labels bound three kinds of proportions: how often a voter is right, how often it is
right where it votes for a class, and how often a class occurs. They are one vector, as the weights
theta are that belong to them (`VoteKernel`). In the game they are proportions of all unlabeled
rows: a voter that votes on a tenth of them and is right nine times in ten has 0.09. For any theta,

    mean over rows of max over k of -(f_j theta)_k + centers . theta + widths . abs(theta)

is at least 0 if the bounds hold, f_j theta the scores that weights theta give the classes on row j.
Where it is below 0, they contradict each other, and are relaxed.

**The game.** An adversary picks the labels, limited by the bounds. The initial model predicts
without the game; its scores are an offset of the game's scores, and the loss beyond its own is
minimized, log loss. The value is then never above zero: if the bounds hold, the prediction is no
worse than the initial model, whatever the labels. From equal scores of all classes this is the game
of An and Dasgupta (UAI 2024):

    mean over rows of Psi(initial_j + f_j theta) - centers . theta + widths . abs(theta).

A small ridge and a box keep theta small where bounds nearly contradict each other: as if the
adversary might break a bound, at a price.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from threadpoolctl import threadpool_limits

from hedgeclipper.bounds.intervals import wilson_bounds
from hedgeclipper.game.equations import Game, WeightTerms
from hedgeclipper.game.losses import LargestScore, LogLoss, Loss, row_maxima
from hedgeclipper.game.solvers import Solution, solve_batch
from hedgeclipper.io import listed
from hedgeclipper.io.messages import warn_user
from hedgeclipper.votes.labeled_votes import Evidence
from hedgeclipper.votes.matrix import VoteKernel, split_weights

DELTA = 0.05
RIDGE_OF_ONE_LABEL = 0.1
CONTRADICTION = 0.01


class ContradictionWarning(UserWarning):
    """What the labels tell of some voters cannot all be true of the unlabeled rows."""


@dataclass(frozen=True, eq=False)
class VoterBounds:
    """Bounds on all proportions, each in one vector of voters, votes and classes.

    ``n_labeled`` is the number of labels behind each, infinite for class frequencies that are
    known, ``coverage`` the proportion of unlabeled rows that it is about, and ``is_used`` tells
    whether the game may use it.
    """

    lower: np.ndarray
    upper: np.ndarray
    n_labeled: np.ndarray
    coverage: np.ndarray
    is_used: np.ndarray

    @property
    def centers(self) -> np.ndarray:
        """Middle of each interval, as a proportion of all rows; 0 where it is not used."""
        return np.where(self.is_used, self.coverage * (self.lower + self.upper) / 2.0, 0.0)

    @property
    def widths(self) -> np.ndarray:
        """Half the length of each interval; 0 where it is not used."""
        return np.where(self.is_used, self.coverage * (self.upper - self.lower) / 2.0, 0.0)

    def on(self, votes: VoteKernel) -> VoterBounds:
        """Return the same bounds for votes on other rows, where voters may vote less often."""
        n_rows = votes.rows_about
        used = self.is_used & (n_rows > 0)
        return replace(self, coverage=n_rows / votes.n_rows, is_used=used)

    def widened(self) -> VoterBounds:
        """Return bounds about twice as far apart; class frequencies known without labels stay."""
        middle, length = (self.lower + self.upper) / 2.0, self.upper - self.lower
        half = np.where(np.isinf(self.n_labeled), 0.0, length + 0.01)
        lower, upper = np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)
        return replace(self, lower=lower, upper=upper)


def bound_voters(
    labeled: VoteKernel,
    codes: np.ndarray,
    unlabeled: VoteKernel,
    *,
    together: bool = False,
    balance: np.ndarray | None = None,
) -> VoterBounds:
    """Return Wilson's bounds on how often voters are right on the unlabeled rows.

    ``codes`` are the classes of the labeled rows, and ``balance`` has class frequencies that are
    known. Each interval holds at the level 1 - DELTA by itself, or all of them ``together`` do.
    """
    n_labeled, n_unlabeled = labeled.rows_about, unlabeled.rows_about
    right = labeled.agreement(np.eye(labeled.n_classes)[codes])
    estimate = np.divide(right, n_labeled, out=np.full_like(right, np.nan), where=n_labeled > 0)
    if balance is not None:
        estimate[-balance.size :], n_labeled[-balance.size :] = balance, np.inf
    each = DELTA / (2.0 * (estimate.size if together else 1))
    lower, upper = wilson_bounds(estimate, n_labeled, each)
    is_used = (n_labeled > 0) & (n_unlabeled > 0)
    return VoterBounds(lower, upper, n_labeled, n_unlabeled / unlabeled.n_rows, is_used)


class KernelVoters:
    """Voters, votes and classes as the specialists of a game, with all rows in one block: f.

    ``offset`` of shape (n_rows, n_classes) is added to the scores, and ``coverage`` is the part of
    the rows that each weight is about; 1 for those not used.
    """

    __array_ufunc__ = None  # so that NumPy leaves ``z @ block`` to us

    def __init__(self, votes: VoteKernel, offset: np.ndarray, coverage: np.ndarray):
        self.kernel, self.offset, self.coverage = votes, np.asfortranarray(offset), coverage
        self.n_samples = votes.n_rows

    def __matmul__(self, weights: np.ndarray) -> np.ndarray:
        """Return the offset and f theta."""
        scores = self.kernel.weighted(weights)
        scores += self.offset
        return scores

    def __rmatmul__(self, z: np.ndarray) -> np.ndarray:
        """Return the sum over rows of f z."""
        return self.kernel.agreement(z)

    def blocks(self) -> Iterator[KernelVoters]:
        """Yield the only block."""
        yield self


# threads of BLAS wait for each other in matrices as small as these, longest on a busy machine
@threadpool_limits.wrap(limits=1, user_api="blas")
def solve_votes(
    votes: VoteKernel,
    bounds: VoterBounds,
    offset: np.ndarray,
    loss: Loss,
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
    box = np.where(used, largest, 0.0)
    terms = WeightTerms(bounds.centers, bounds.widths, zeros + ridge, zeros, -box, box)
    specialists = KernelVoters(votes, offset, np.where(used, bounds.coverage, 1.0))
    return solve_batch(Game(specialists, terms, loss, baseline=baseline), tol, max_iter)


def proved_violation(
    sample: VoteKernel, votes: VoteKernel, bounds: VoterBounds
) -> tuple[float, np.ndarray]:
    """Return by how much the bounds, added up, must be broken by any labels, and prices as proof.

    Prices are weights of at most 1, at that where a bound has to be relaxed. They are found on a
    sample. Proportions there differ a little from those of all rows, and may seem to contradict
    bounds: if the prices prove less of all rows, that is returned.
    """
    here, nothing = bounds.on(sample), np.zeros((sample.n_rows, sample.n_classes), order="F")
    limits = {"largest": 1.0, "tol": 1e-2, "max_iter": 200}
    prices = -solve_votes(sample, here, nothing, LargestScore(), **limits).weights
    violation = _violation(sample, here, prices)
    if violation > 0.0 and sample.n_rows < votes.n_rows:
        violation = min(violation, _violation(votes, bounds, prices))
    return violation, prices


def _violation(votes: VoteKernel, bounds: VoterBounds, prices: np.ndarray) -> float:
    """Return by how much the bounds must be broken, as the prices prove."""
    paid = bounds.centers @ prices + bounds.widths @ np.abs(prices)
    scores = sum(row_maxima(-block.weighted(prices)).sum() for _, block in votes.blocks())
    return max(-float(scores / votes.n_rows + paid), 0.0)


def relaxed(sample: VoteKernel, votes: VoteKernel, bounds: VoterBounds) -> VoterBounds:
    """Return bounds that some labels obey: the same, or wider ones if these contradict each other.

    All are widened as often as needed, and once more, since bounds that just meet leave the
    adversary no choice, and were proved wrong. Contradictions are searched on the sample.
    """
    wider = bounds
    while proved_violation(sample, votes, wider)[0] > CONTRADICTION:
        wider = wider.widened()
    return bounds if wider is bounds else wider.widened()


@dataclass(frozen=True, eq=False)
class Constraints:
    """Bounds on the voters, which limit the adversary.

    ``each`` are bounds that hold each by itself, as labels give them, ``joint`` ones that hold all
    together, relaxed where they contradict each other. ``contradicting`` of shape (n_voters,) tells
    whose bounds are among those to be relaxed.
    """

    each: VoterBounds
    joint: VoterBounds
    contradicting: np.ndarray


def constrain(evidence: Evidence) -> Constraints:
    """Return bounds on the voters, and warn if they had to be relaxed."""
    labeled, unlabeled, sample = evidence.labeled, evidence.unlabeled, evidence.searched
    balance = evidence.balance if evidence.is_balance_known else None
    each = bound_voters(labeled, evidence.codes, unlabeled, balance=balance)
    joint = bound_voters(labeled, evidence.codes, unlabeled, together=True, balance=balance)
    violation, prices = proved_violation(sample, unlabeled, each)
    if violation <= CONTRADICTION:
        return Constraints(each, joint, np.zeros(unlabeled.shape[0], dtype=bool))
    voters, votes, _ = split_weights(np.abs(prices) > 0.5, *unlabeled.shape[:2])
    contradicting = voters | votes.any(axis=1)
    names = unlabeled.votes.voters[contradicting].tolist()
    warn_user(
        "What the labels tell of the voters cannot all be true of the unlabeled rows: bounds "
        f"would have to be relaxed by {violation:.3f} in all, among them those of "
        f"{listed(names, most=5) if names else 'the classes'}. The game was solved with wider "
        "ones. Labels may be wrong, or drawn from other rows than these.",
        ContradictionWarning,
    )
    return Constraints(each, relaxed(sample, unlabeled, joint), contradicting)


def solve_vote_game(
    votes: VoteKernel,
    bounds: VoterBounds,
    initial: np.ndarray,
    *,
    n_labeled: int,
    tol: float = 1e-3,
    max_iter: int = 200,
) -> Solution:
    """Return the weights with the least log loss beyond the initial model's, for the worst labels.

    ``bounds`` are used as they apply to these rows, ``initial`` of shape (n_rows, n_classes) are
    the logarithms of the initial model's probabilities; the ridge decreases with ``n_labeled``.
    """
    loss = LogLoss()
    return solve_votes(
        votes,
        bounds.on(votes),
        initial,
        loss,
        largest=10.0,
        ridge=RIDGE_OF_ONE_LABEL / max(n_labeled, 1),
        tol=tol,
        max_iter=max_iter,
        baseline=float(loss.potential(initial).mean()),
    )
