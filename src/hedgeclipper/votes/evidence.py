"""The evidence of a fit: votes, labels, strata, class frequencies, and whether votes shift."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import hypergeom, mannwhitneyu, norm
from sklearn.utils import check_random_state

from hedgeclipper.base.semi_supervised import ShiftWarning
from hedgeclipper.io.progress import warn_user
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.component_models import AuxiliaryVoters
from hedgeclipper.votes.gold import GoldRows
from hedgeclipper.votes.matrix import Votes
from hedgeclipper.votes.strata import Strata

MAX_ROWS_IN_GAME, MAX_ROWS_IN_SEARCH = 50_000, 5_000
SIGNIFICANCE, LEAD_SIGNIFICANCE = 1e-4, 1e-3


@dataclass(frozen=True, eq=False)
class Evidence:
    """Votes on labeled and unlabeled rows, and which rows are used for what.

    ``codes`` are the classes of the labeled rows. The game is solved on ``sample``, a part of the
    unlabeled rows, and weights of worst cases are searched on those numbered ``searched``.
    ``balance`` has the class frequencies; ``leads`` tell how certain the Dawid-Skene model is of
    labeled and of unlabeled rows. Without unlabeled rows, the labeled ones are reused.
    """

    labeled: Ballots
    codes: np.ndarray
    unlabeled: Ballots
    has_unlabeled: bool
    sample: Ballots
    searched: np.ndarray
    auxiliary: AuxiliaryVoters
    strata: Strata
    balance: np.ndarray
    leads: tuple[np.ndarray, np.ndarray]
    is_balance_known: bool

    @property
    def n_awake(self) -> int:
        """Number of voters that vote on any row, at least 1."""
        cast = self.labeled.votes_cast.sum(axis=1) + self.unlabeled.votes_cast.sum(axis=1)
        return max(int(np.count_nonzero(cast)), 1)

    @property
    def cautious_balance(self) -> np.ndarray:
        """Class frequencies for component models: `cautious_frequencies`, or the known ones."""
        if self.is_balance_known:
            return self.balance
        weights = self.strata.weights[self.strata.labeled]
        return cautious_frequencies(np.bincount(self.codes, weights, minlength=self.balance.size))


def gather_evidence(
    gold: GoldRows, *, class_balance: Any, is_random_sample: bool, random_state: Any
) -> Evidence:
    """Return the evidence of the rows of a fit.

    If labeled rows are a simple random sample, all rows are one stratum; if not, strata are by the
    certainty of the Dawid-Skene model. ``random_state`` draws rows where there are many.
    """
    labeled, unlabeled = Ballots(gold.labeled), Ballots(gold.unlabeled)
    n_labeled, n_rows = labeled.n_rows, unlabeled.n_rows
    # auxiliary voters are fitted to all rows, or to a simple random sample of them
    drawn = _drawn(n_labeled + n_rows, MAX_ROWS_IN_GAME, check_random_state(random_state))
    first, second = np.split(drawn, [np.searchsorted(drawn, n_labeled)])
    pool = Votes.stack(gold.labeled.take(first), gold.unlabeled.take(second - n_labeled))
    auxiliary = AuxiliaryVoters.fit(Ballots(pool))
    lead, other_lead = map(auxiliary.leads, (labeled, unlabeled))
    strata = Strata.single(n_labeled, n_rows)
    if not is_random_sample:
        strata = Strata.by_lead(lead, other_lead)
    balance = class_frequencies(class_balance, gold.codes, labeled.n_classes, strata)
    rows = _drawn(n_rows, MAX_ROWS_IN_GAME, check_random_state(random_state))
    sample = unlabeled if rows.size == n_rows else unlabeled.take(rows)
    # always the same rows, but not every k-th, since rows may be in a periodic order
    searched = rows[_drawn(rows.size, MAX_ROWS_IN_SEARCH, np.random.default_rng(0))]
    return Evidence(
        labeled,
        gold.codes,
        unlabeled,
        gold.has_unlabeled,
        sample,
        searched,
        auxiliary,
        strata,
        balance,
        (lead, other_lead),
        not (isinstance(class_balance, str) and class_balance == "labeled"),
    )


def class_frequencies(
    class_balance: Any, codes: np.ndarray, n_classes: int, strata: Strata
) -> np.ndarray:
    """Return class frequencies: of the labels and one more per class, or the given ones."""
    if isinstance(class_balance, str):
        counts = np.ones(n_classes)
        if class_balance == "labeled":
            counts += np.bincount(codes, strata.weights[strata.labeled], minlength=n_classes)
        return counts / counts.sum()
    try:
        balance = np.asarray(class_balance, dtype=float)
    except (TypeError, ValueError):
        balance = np.empty(0)
    is_whole = balance.shape == (n_classes,) and np.isclose(balance.sum(), 1.0)
    if not is_whole or np.any(balance <= 0):
        raise ValueError(
            f"class_balance must be {n_classes} positive frequencies that add up to 1, one for "
            f"each class in sorted order. Got {class_balance!r}."
        )
    return balance


def cautious_frequencies(counts: np.ndarray) -> np.ndarray:
    """Return class frequencies, shrunk to equal ones as far as labels may be of such.

    It is the shrinkage of James and Stein, with two standard errors in the place of one: where rows
    have few votes, frequencies of few labels mislead component models.
    """
    expected = counts.sum() / counts.size
    excess, noise = counts - expected, 4.0 * (counts.size - 1)
    distance = max(np.sum(excess**2) / expected, noise)
    shrunken = expected + excess * (1.0 - noise / distance) + 1.0
    return shrunken / shrunken.sum()


def _drawn(n_rows: int, most: int, rng: np.random.RandomState | np.random.Generator) -> np.ndarray:
    """Return the numbers of all rows, or of some drawn from them, in order."""
    return np.arange(n_rows) if n_rows <= most else np.sort(rng.choice(n_rows, most, replace=False))


class VoteShift(NamedTuple):
    """A voter, a vote of it, and on which proportion of labeled and unlabeled rows it is cast."""

    voter: object
    vote: object
    labeled: float
    unlabeled: float


def shift_of_votes(labeled: Ballots, unlabeled: Ballots) -> VoteShift | None:
    """Return the vote whose frequency differs most; None if no difference is significant.

    If labeled rows are a simple random sample of all rows, then how many of a voter's votes for a
    class fall on them is hypergeometric. That is computed where the normal approximation, which is
    faster, and wrong for rare votes, does not rule a difference out.
    """
    m, n, cast = labeled.n_rows, unlabeled.n_rows, labeled.votes_cast
    both = cast + unlabeled.votes_cast
    level = SIGNIFICANCE / (2.0 * both.size)
    rate = (both + 1.0) / (m + n + 2.0)
    error = np.sqrt(rate * (1.0 - rate) * (1.0 / m + 1.0 / n))
    distance = np.abs(cast / m - unlabeled.votes_cast / n) / error
    voters, votes = np.nonzero(distance > norm.isf(level))
    here, total = cast[voters, votes], both[voters, votes]
    tails = (hypergeom.cdf(here, m + n, total, m), hypergeom.sf(here - 1, m + n, total, m))
    probability = np.minimum(*tails)
    if not np.any(probability < level):
        return None
    most = probability.argmin()
    voter, vote = voters[most], votes[most]
    return VoteShift(
        unlabeled.votes.voters.tolist()[voter],
        unlabeled.votes.classes.tolist()[vote],
        float(cast[voter, vote] / m),
        float(unlabeled.votes_cast[voter, vote] / n),
    )


def leads_differ(evidence: Evidence) -> bool:
    """Return whether the Dawid-Skene model is more or less certain of labeled rows than of others.

    That is so where labels were chosen, by ``suggest_labels`` for instance.
    """
    labeled, unlabeled = evidence.leads
    return bool(mannwhitneyu(labeled, unlabeled).pvalue < LEAD_SIGNIFICANCE)


def warn_of_shift(labeled: Ballots, unlabeled: Ballots) -> bool:
    """Warn, and return True, if voters vote differently on labeled and unlabeled rows."""
    found = shift_of_votes(labeled, unlabeled)
    if found is not None:
        warn_user(
            "Voters vote significantly differently on the unlabeled rows than on the labeled ones: "
            f"{found.voter!r} votes for {found.vote!r} on {found.unlabeled:.2%} of the "
            f"former and {found.labeled:.2%} of the latter. What the labels tell of it may not "
            "hold for them.",
            ShiftWarning,
        )
    return found is not None
