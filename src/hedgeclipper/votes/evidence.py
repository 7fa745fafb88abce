"""The evidence of a fit: votes, labels, class frequencies, and whether votes shift."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import hypergeom, mannwhitneyu, norm
from sklearn.utils import check_random_state

from hedgeclipper.base.semi_supervised import ShiftWarning
from hedgeclipper.io.progress import warn_user
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.component_models import fit_agreement
from hedgeclipper.votes.gold import GoldRows
from hedgeclipper.votes.matrix import Votes

MAX_ROWS_IN_GAME, MAX_ROWS_IN_SEARCH = 50_000, 5_000
SIGNIFICANCE, LEAD_SIGNIFICANCE = 1e-4, 1e-3


@dataclass(frozen=True, eq=False)
class Evidence:
    """Votes on labeled and unlabeled rows, and which rows are used for what.

    ``codes`` are the classes of the labeled rows. The game is solved on ``sample``, a part of the
    unlabeled rows, and contradictions are searched on those numbered ``searched``. ``n_awake`` is
    the number of voters that vote on any row, at least 1. ``balance`` has the class frequencies,
    and ``cautious_balance`` those for component models: `cautious_frequencies`, or again the known
    ones. Without unlabeled rows, the labeled ones are reused.
    """

    labeled: Ballots
    codes: np.ndarray
    unlabeled: Ballots
    sample: Ballots
    searched: np.ndarray
    n_awake: int
    balance: np.ndarray
    cautious_balance: np.ndarray
    is_balance_known: bool


def gather_evidence(gold: GoldRows, class_balance: Any, random_state: Any) -> Evidence:
    """Return the evidence of the rows of a fit; ``random_state`` draws rows of many."""
    labeled, unlabeled = Ballots(gold.labeled), Ballots(gold.unlabeled)
    rng = np.random.default_rng(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    counts = np.bincount(gold.codes, minlength=labeled.n_classes)
    balance = class_frequencies(class_balance, counts)
    is_balance_known = not (isinstance(class_balance, str) and class_balance == "labeled")
    rows = _drawn(unlabeled.n_rows, MAX_ROWS_IN_GAME, rng)
    # always the same rows, but not every k-th, since rows may be in a periodic order
    searched = rows[_drawn(rows.size, MAX_ROWS_IN_SEARCH, np.random.default_rng(0))]
    n_cast = labeled.votes_cast.sum(axis=1) + unlabeled.votes_cast.sum(axis=1)
    return Evidence(
        labeled,
        gold.codes,
        unlabeled,
        unlabeled if rows.size == unlabeled.n_rows else unlabeled.take(rows),
        searched,
        max(int(np.count_nonzero(n_cast)), 1),
        balance,
        balance if is_balance_known else cautious_frequencies(counts),
        is_balance_known,
    )


def class_frequencies(class_balance: Any, counts: np.ndarray) -> np.ndarray:
    """Return class frequencies: of the labels and one more per class, or the given ones.

    ``counts`` are the numbers of labels of each class.
    """
    if isinstance(class_balance, str):
        more = counts + 1.0 if class_balance == "labeled" else np.ones(counts.size)
        return more / more.sum()
    try:
        balance = np.asarray(class_balance, dtype=float)
    except (TypeError, ValueError):
        balance = np.empty(0)
    is_whole = balance.shape == counts.shape and np.isclose(balance.sum(), 1.0)
    if not is_whole or np.any(balance <= 0):
        raise ValueError(
            f"class_balance must be {counts.size} positive frequencies that add up to 1, one for "
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


def _drawn(n_rows: int, most: int, rng: np.random.Generator) -> np.ndarray:
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


def certainty_differs(evidence: Evidence) -> bool:
    """Return whether agreement is more or less certain of labeled rows than of others.

    That is so where rows were chosen to be labeled, since their votes disagree for instance.
    """
    parts = evidence.labeled.votes, evidence.unlabeled.votes
    drawn = _drawn(sum(part.n_rows for part in parts), MAX_ROWS_IN_GAME, np.random.default_rng(0))
    first, second = np.split(drawn, [np.searchsorted(drawn, parts[0].n_rows)])
    pool = Votes.stack(parts[0].take(first), parts[1].take(second - parts[0].n_rows))
    agreement = fit_agreement(Ballots(pool))
    labeled, unlabeled = agreement.leads(evidence.labeled), agreement.leads(evidence.unlabeled)
    return bool(mannwhitneyu(labeled, unlabeled).pvalue < LEAD_SIGNIFICANCE)


def warn_of_shift(found: VoteShift) -> None:
    """Warn that voters vote differently on labeled and unlabeled rows."""
    warn_user(
        "Voters vote significantly differently on the unlabeled rows than on the labeled ones: "
        f"{found.voter!r} votes for {found.vote!r} on {found.unlabeled:.2%} of the "
        f"former and {found.labeled:.2%} of the latter. What the labels tell of it may not "
        "hold for them.",
        ShiftWarning,
    )
