"""The evidence of a fit: votes, labels, auxiliary voters, strata, and class frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.dawid_skene import AuxiliaryVoters
from hedgeclipper.votes.gold import GoldRows
from hedgeclipper.votes.matrix import Votes
from hedgeclipper.votes.strata import Strata

MAX_ROWS_IN_GAME, MAX_ROWS_IN_SEARCH = 50_000, 5_000


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

    def shrunken_balance(self, n_more: float) -> np.ndarray:
        """Return class frequencies with so many labels of each class added; known ones as given."""
        if self.is_balance_known:
            return self.balance
        weights = self.strata.weights[self.strata.labeled]
        counts = np.bincount(self.codes, weights, minlength=self.balance.size) + n_more
        return counts / counts.sum()


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


def _drawn(n_rows: int, most: int, rng: np.random.RandomState | np.random.Generator) -> np.ndarray:
    """Return the numbers of all rows, or of some drawn from them, in order."""
    return np.arange(n_rows) if n_rows <= most else np.sort(rng.choice(n_rows, most, replace=False))
