"""The evidence of a fit: votes and labels, which rows are used for what, and bounds on voters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from hedgeclipper.base.semi_supervised import warn_user
from hedgeclipper.bounds.certificate import Certificate
from hedgeclipper.io import listed
from hedgeclipper.votes.auxiliary_voters import NAMES, AuxiliaryVoters, AuxiliaryVotes
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.gold import GoldRows
from hedgeclipper.votes.matrix import Votes
from hedgeclipper.votes.strata import Strata
from hedgeclipper.votes.voter_bounds import VoterBounds, bound_voters
from hedgeclipper.votes.worst_case import relaxed

MAX_ROWS_IN_GAME, MAX_ROWS_IN_SEARCH = 50_000, 5_000


class ContradictionWarning(UserWarning):
    """What the labels say of some voters cannot all be true of the unlabeled rows."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Votes on labeled and unlabeled rows, and which rows are used for what.

    Parameters
    ----------
    labeled : Ballots
        Votes on labeled rows.
    codes : ndarray of shape (n_labeled,)
        Classes of these.
    unlabeled : Ballots
        Votes on the other rows.
    sample : Ballots
        Those of them that the game is solved on.
    searched : ndarray of int
        Numbers of those on which weights of worst cases are searched.
    auxiliary : AuxiliaryVoters
        Two more voters.
    auxiliary_votes : tuple of two AuxiliaryVotes
        Their predictions for the labeled rows, and for the others.
    strata : Strata
        Strata of the rows.
    balance : ndarray of shape (n_classes,)
        Class frequencies.
    """

    labeled: Ballots
    codes: np.ndarray
    unlabeled: Ballots
    sample: Ballots
    searched: np.ndarray
    auxiliary: AuxiliaryVoters
    auxiliary_votes: tuple[AuxiliaryVotes, AuxiliaryVotes]
    strata: Strata
    balance: np.ndarray

    @cached_property
    def extended(self) -> tuple[Ballots, Ballots]:
        """Votes on labeled and on unlabeled rows, auxiliary voters included."""
        first, second = (found.votes for found in self.auxiliary_votes)
        return self.labeled.and_voters(first, NAMES), self.unlabeled.and_voters(second, NAMES)


def gather_evidence(
    gold: GoldRows, *, class_balance: Any, is_random_sample: bool, random_state: Any
) -> Evidence:
    """Return the evidence of the rows of a fit.

    If labeled rows are a simple random sample, all rows are one stratum; if not, strata are by the
    certainty of the Dawid-Skene model. ``random_state`` draws rows where there are many.
    """
    labeled, unlabeled, n_rows = (
        Ballots(gold.labeled),
        Ballots(gold.unlabeled),
        gold.unlabeled.n_rows,
    )
    auxiliary = AuxiliaryVoters.fit(_pool(gold.labeled, gold.unlabeled, random_state))
    predicted = auxiliary.predict(labeled), auxiliary.predict(unlabeled)
    if is_random_sample:
        strata = Strata.single(labeled.n_rows, n_rows)
    else:
        strata = Strata.by_lead(*(part.lead for part in predicted))
    balance = class_frequencies(class_balance, gold.codes, labeled.n_classes, strata)
    rows = _drawn(n_rows, MAX_ROWS_IN_GAME, check_random_state(random_state))
    sample = unlabeled if rows.size == n_rows else unlabeled.take(rows)
    # always the same rows, but not every k-th, since rows may be in a periodic order
    searched = rows[_drawn(rows.size, MAX_ROWS_IN_SEARCH, np.random.default_rng(0))]
    return Evidence(
        labeled, gold.codes, unlabeled, sample, searched, auxiliary, predicted, strata, balance
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


def _pool(labeled: Votes, unlabeled: Votes, random_state: Any) -> Ballots:
    """Return votes on all rows, or on a simple random sample of them."""
    n_rows = labeled.n_rows + unlabeled.n_rows
    rows = _drawn(n_rows, MAX_ROWS_IN_GAME, check_random_state(random_state))
    first, second = np.split(rows, [np.searchsorted(rows, labeled.n_rows)])
    return Ballots(Votes.stack(labeled.take(first), unlabeled.take(second - labeled.n_rows)))


def _drawn(n_rows: int, most: int, rng: np.random.RandomState | np.random.Generator) -> np.ndarray:
    """Return the numbers of all rows, or of some drawn from them, in order."""
    return np.arange(n_rows) if n_rows <= most else np.sort(rng.choice(n_rows, most, replace=False))


@dataclass(frozen=True, eq=False)
class Constraints:
    """Bounds on the voters, which limit the adversary, relaxed where they contradict each other.

    Parameters
    ----------
    each : VoterBounds
        Bounds that hold each by itself, as labels give them.
    relaxed, joint : VoterBounds
        The same, and bounds that hold all together, both relaxed if need be.
    extended : VoterBounds
        Bounds that hold all together, auxiliary voters included, not relaxed.
    violation : float
        By how much ``each``, added up, must be broken by any labels; 0 if they need not be.
    contradicting : ndarray of bool, shape (n_voters,)
        Whose bounds are among those to be broken.
    is_void : bool
        Whether bounds that hold all together contradict each other.
    """

    each: VoterBounds
    relaxed: VoterBounds
    joint: VoterBounds
    extended: VoterBounds
    violation: float
    contradicting: np.ndarray
    is_void: bool


def constrain(evidence: Evidence, **options: Any) -> Constraints:
    """Return bounds on the voters; options are those of `bound_voters`."""
    bound = partial(bound_voters, strata=evidence.strata, **options)
    codes, unlabeled = evidence.codes, evidence.unlabeled
    each = bound(evidence.labeled, codes, unlabeled)
    joint = bound(evidence.labeled, codes, unlabeled, together=True)
    searched, is_void = unlabeled.take(evidence.searched), False
    single = relaxed(searched, unlabeled, each)
    if single.violation:  # wider bounds may contradict each other, too
        found = relaxed(searched, unlabeled, joint)
        joint, is_void = found.bounds, found.violation > 0
    labeled, extended = evidence.extended
    return Constraints(
        each,
        single.bounds,
        joint,
        bound(labeled, codes, extended, together=True),
        single.violation,
        single.contradicting,
        is_void,
    )


def warn_of_contradiction(
    constraints: Constraints, certificate: Certificate, voters: np.ndarray
) -> None:
    """Warn if bounds had to be relaxed, or contradict each other and make the certificate void."""
    if constraints.violation:
        names = voters[constraints.contradicting].tolist()
        warn_user(
            "What the labels say of the voters cannot all be true of the unlabeled rows: bounds "
            f"would have to be relaxed by {constraints.violation:.3f} in all, among them those of "
            f"{listed(names, most=5) if names else 'the classes'}. The game was solved with wider "
            "ones. Labels may be wrong, or drawn from other rows than these.",
            ContradictionWarning,
        )
    elif certificate.kind == "void":
        warn_user(
            "What the labels say of the voters, the majority vote and the Dawid-Skene model cannot "
            "all be true of the unlabeled rows: the certificate is void. Labels may be wrong, or "
            "drawn from other rows than these; class_balance, if given, may be wrong.",
            ContradictionWarning,
        )
