"""Evidence: votes and labels of a fit, and what they tell before any voter is judged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.matrix import Votes
from hedgeclipper.votes.strata import Strata
from hedgeclipper.votes.witnesses import Testimony, Witnesses, with_testimony

ROWS_IN_GAME, ROWS_FOR_PROOF = 50_000, 5_000


@dataclass(frozen=True, eq=False)
class Evidence:
    """Votes on rows with and without labels, and which rows serve for what.

    Parameters
    ----------
    judges : Ballots
        Votes on labeled rows, by which voters are judged.
    codes : ndarray of shape (n_labeled,)
        Classes of these.
    ballots : Ballots
        Votes on the other rows.
    played : Ballots
        Those of them that the game is played on.
    proof : ndarray of int
        Numbers of those by which weights of a proof are sought.
    witnesses : Witnesses
        Two voters more.
    said : tuple of two Testimony
        What these say of labeled rows, and of the others.
    strata : Strata
        Where the rows are.
    balance : ndarray of shape (n_classes,)
        Class frequencies.
    """

    judges: Ballots
    codes: np.ndarray
    ballots: Ballots
    played: Ballots
    proof: np.ndarray
    witnesses: Witnesses
    said: tuple[Testimony, Testimony]
    strata: Strata
    balance: np.ndarray

    @property
    def searched(self) -> Ballots:
        """Votes on the rows by which weights of a proof are sought."""
        return self.ballots.take(self.proof)

    def with_witnesses(self) -> Evidence:
        """Return the same with the votes of the witnesses, on labeled rows and on the others."""
        judges, ballots = map(with_testimony, (self.judges, self.ballots), self.said)
        return replace(self, judges=judges, ballots=ballots)


def gather_evidence(
    labeled: Votes,
    codes: np.ndarray,
    unlabeled: Votes,
    *,
    class_balance: Any,
    is_plain_draw: bool,
    random_state: Any,
) -> Evidence:
    """Return the evidence of votes and labels.

    Parameters
    ----------
    labeled, unlabeled : Votes
        Votes of the same voters, with the same classes.
    codes : ndarray of shape (n_labeled,)
        Classes of the labeled rows.
    class_balance : "labeled", "uniform" or array-like of shape (n_classes,)
        Class frequencies, as they are given.
    is_plain_draw : bool
        Whether labeled rows are taken for a plain draw, and else by how sure agreement is of them.
    random_state : int, RandomState or None
        Draws rows where there are many.
    """
    judges, ballots = Ballots(labeled), Ballots(unlabeled)
    witnesses = Witnesses.of(_pool(labeled, unlabeled, random_state))
    said = witnesses.testify(judges), witnesses.testify(ballots)
    if is_plain_draw:
        strata = Strata.one(labeled.n_rows, unlabeled.n_rows)
    else:
        strata = Strata.by_sureness(*(part.sureness for part in said))
    balance = class_shares(class_balance, codes, labeled.n_classes, strata)
    rows = _rows_in_game(unlabeled.n_rows, random_state)
    played = ballots if rows.size == unlabeled.n_rows else ballots.take(rows)
    # always the same rows, but not each k-th, since rows may come in turns
    proof = rows[_drawn(rows.size, ROWS_FOR_PROOF, np.random.default_rng(0))]
    return Evidence(judges, codes, ballots, played, proof, witnesses, said, strata, balance)


def class_shares(
    class_balance: Any, codes: np.ndarray, n_classes: int, strata: Strata
) -> np.ndarray:
    """Return class frequencies: those of labels and one more of each class, or known ones.

    Parameters
    ----------
    class_balance : "labeled", "uniform" or array-like of shape (n_classes,)
        Class frequencies, as they are given.
    codes : ndarray of shape (n_labeled,)
        Classes of the labeled rows.
    n_classes : int
        Number of classes.
    strata : Strata
        For how many rows each label stands.
    """
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
            f"class_balance must be {n_classes} positive shares that add up to 1, one for each "
            f"class in sorted order. Got {class_balance!r}."
        )
    return balance


def _pool(labeled: Votes, unlabeled: Votes, random_state: Any) -> Ballots:
    """Return votes on all rows, or on a plain draw from them."""
    rows = _rows_in_game(labeled.n_rows + unlabeled.n_rows, random_state)
    first, second = np.split(rows, [np.searchsorted(rows, labeled.n_rows)])
    return Ballots(Votes.stack(labeled.take(first), unlabeled.take(second - labeled.n_rows)))


def _rows_in_game(n_rows: int, random_state: Any) -> np.ndarray:
    return _drawn(n_rows, ROWS_IN_GAME, check_random_state(random_state))


def _drawn(n_rows: int, most: int, rng: np.random.RandomState | np.random.Generator) -> np.ndarray:
    """Return the numbers of all rows, or of some drawn from them, in order."""
    return np.arange(n_rows) if n_rows <= most else np.sort(rng.choice(n_rows, most, replace=False))
