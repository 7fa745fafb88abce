"""Ten real sets of votes, and draws: some rows get labels, others are scored.

Of the sets of labeling functions and classifiers (``bf_*``) labels are drawn from the validation
rows, and all training rows are unlabeled and scored, as in the paper that made them. Of the
crowds, and of the verdicts of language models, labels are drawn from the rows with gold; all rows
are unlabeled, and the other rows with gold are scored.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from benchmarks.data.sources import data_folder

SPLIT_SETS = ("bf_basketball", "bf_cardio", "bf_domain", "bf_yelp", "bf_youtube")
CROWDS = ("crowd_bluebird", "crowd_rte", "crowd_trec", "crowd_sp")
JUDGES = "judges_llmbar"
SETS = (*SPLIT_SETS, *CROWDS)
BUDGETS, JUDGES_BUDGETS = (20, 100, 500), (10, 20, 50, 100, 200)


@dataclass(frozen=True, eq=False)
class VoteSet:
    """Rows with labels to draw from, and rows to predict; for a crowd these are the same."""

    L_pool: np.ndarray
    y_pool: np.ndarray
    L: np.ndarray
    y: np.ndarray
    is_crowd: bool

    @property
    def n_classes(self) -> int:
        """Return the number of classes."""
        return 1 + int(max(part.max() for part in (self.L_pool, self.y_pool, self.L, self.y)))

    @property
    def candidates(self) -> np.ndarray:
        """Return which rows of the pool have a label."""
        return np.flatnonzero(self.y_pool >= 0)


@dataclass(frozen=True, eq=False)
class VoteDraw:
    """What every method gets, and the labels that only the scorer sees.

    Parameters
    ----------
    L_labeled : ndarray of shape (n_labeled, n_voters)
        Votes on the labeled rows: class numbers, -1 = abstains.
    y_labeled : ndarray of shape (n_labeled,)
        Their labels.
    L_unlabeled : ndarray of shape (n_unlabeled, n_voters)
        Votes on the rows to predict; those of a crowd have the labeled rows among them.
    y_scored : ndarray of shape (n_unlabeled,)
        Labels of the rows to predict, hidden from the methods; -1 where a row is not scored.
    n_classes : int
        Number of classes.
    seed : int
        Number of the draw; also the seed of the methods.
    labeled_rows : ndarray of shape (n_labeled,) or None
        Where the labeled rows are among the unlabeled ones; None where they are not.
    """

    L_labeled: np.ndarray
    y_labeled: np.ndarray
    L_unlabeled: np.ndarray
    y_scored: np.ndarray
    n_classes: int
    seed: int
    labeled_rows: np.ndarray | None = None

    @property
    def n_scored(self) -> int:
        """Return the number of rows to score."""
        return int((self.y_scored >= 0).sum())

    def every_row_once(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the votes on all rows, the unlabeled ones last, and their labels or -1."""
        gold = np.full(self.L_unlabeled.shape[0], -1)
        if self.labeled_rows is not None:
            gold[self.labeled_rows] = self.y_labeled
            return self.L_unlabeled, gold
        votes = np.concatenate([self.L_labeled, self.L_unlabeled])
        return votes, np.concatenate([self.y_labeled, gold])


def why_absent(name: str) -> str:
    """Return why a data set is not available; empty if it is."""
    folder = data_folder()
    if folder is None:
        return "No data folder: set HEDGECLIPPER_DATA to where the archives are."
    return "" if (folder / f"{name}.npz").is_file() else f"{name}.npz is not in the data folder."


@cache
def vote_set(name: str) -> VoteSet:
    """Return a set by name, kept for the next draw."""
    reason = why_absent(name)
    if reason:
        raise FileNotFoundError(reason)
    with np.load(data_folder() / f"{name}.npz", allow_pickle=False) as file:
        if name in (*CROWDS, JUDGES):
            L, y = file["L"], file["y"].astype(np.int64)
            return VoteSet(L, y, L, y, is_crowd=True)
        y_valid, y_train = (file[key].astype(np.int64) for key in ("y_valid", "y_train"))
        return VoteSet(file["L_valid"], y_valid, file["L_train"], y_train, is_crowd=False)


def has_labels(name: str, n_labels: int) -> bool:
    """Return whether a set has that many labels to draw, and then a row to score."""
    data = vote_set(name)
    return n_labels <= data.candidates.size - data.is_crowd


def make_draw(name: str, n_labels: int, seed: int) -> VoteDraw:
    """Return a random draw of a set, with a label of each class."""
    data = vote_set(name)
    if not has_labels(name, n_labels):
        raise ValueError(f"{name} has {data.candidates.size} labels, too few to draw {n_labels}.")
    labeled = _draw_labels(data, n_labels, np.random.default_rng([seed, n_labels]))
    y_scored = data.y.copy()
    if data.is_crowd:
        y_scored[labeled] = -1
    return VoteDraw(
        L_labeled=data.L_pool[labeled],
        y_labeled=data.y_pool[labeled],
        L_unlabeled=data.L,
        y_scored=y_scored,
        n_classes=data.n_classes,
        seed=seed,
        labeled_rows=labeled if data.is_crowd else None,
    )


def _draw_labels(data: VoteSet, n_labels: int, rng: np.random.Generator) -> np.ndarray:
    n_present = np.unique(data.y_pool[data.candidates]).size
    if n_labels < n_present:
        raise ValueError(f"{n_labels} labels cannot have one of each of {n_present} classes.")
    while True:
        labeled = rng.choice(data.candidates, n_labels, replace=False)
        if np.unique(data.y_pool[labeled]).size == n_present:
            return labeled
