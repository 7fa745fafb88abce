"""Which rows to label next, so that a bound that some weights prove gets tighter.

Rows that are picked one by one for their votes would say nothing of the others. So only the number
of labels in each stratum is chosen, and rows are drawn at random there.
"""

from __future__ import annotations

import numpy as np

from hedgeclipper.votes.knowledge import Knowledge
from hedgeclipper.votes.strata import PRIOR_LABELS, Strata


class LabelWorth:
    """What a label in each stratum is worth, as more and more of them are counted.

    Labels of a stratum lessen its part of a bound's variance, and bounds count as much as their
    weight in the proof. A labeled row also leaves the unlabeled ones, and so does an error if it
    was one.

    Parameters
    ----------
    strata : Strata
        Where the rows are.
    knowledge : Knowledge
        Bounds.
    weights : ndarray
        Weights of the proof, as one vector.
    wrong : ndarray of bool, shape (n_labeled,)
        Whether predictions are wrong, on the labeled rows.
    """

    def __init__(
        self, strata: Strata, knowledge: Knowledge, weights: np.ndarray, wrong: np.ndarray
    ):
        used = knowledge.is_used
        sizes = np.abs(weights[used]) if weights[used].any() else np.ones(used.sum())
        self._stakes = sizes * knowledge.widths[used]
        self._parts = knowledge.parts[:, used] * strata.n_labeled[:, None]
        self._n_labeled, self._n_left = strata.n_labeled.astype(float), strata.n_rows.copy()
        n_wrong = np.bincount(strata.labeled, wrong, minlength=strata.n_strata)
        overall = strata.weights @ n_wrong / wrong.size
        self._errors = (n_wrong + PRIOR_LABELS * overall) / (self._n_labeled + PRIOR_LABELS)

    def best(self) -> int:
        """Return the stratum where a label takes most off the bound."""
        parts = self._parts / self._n_labeled[:, None]
        size = np.sqrt(parts.sum(axis=0))
        tighter = parts @ (self._stakes / size) / (2.0 * self._n_labeled)
        n_left = self._n_left.sum()
        fewer = (self._errors - self._errors @ self._n_left / n_left) / n_left
        return int(np.where(self._n_left > 0, tighter + fewer, -np.inf).argmax())

    def count(self, stratum: int) -> None:
        """Count a row of a stratum as labeled."""
        self._n_labeled[stratum] += 1.0
        self._n_left[stratum] -= 1


def most_useful(
    strata: Strata, worth: LabelWorth, k: int, random_state: np.random.RandomState
) -> np.ndarray:
    """Return rows whose labels are worth most, each with those before it counted.

    Parameters
    ----------
    strata : Strata
        Where the rows are.
    worth : LabelWorth
        What their labels are worth; they are counted.
    k : int
        How many rows.
    random_state : RandomState
        Draws rows within a stratum.
    """
    order = random_state.permutation(strata.unlabeled.size)
    lines = [iter(order[strata.unlabeled[order] == number]) for number in range(strata.n_strata)]
    chosen = np.empty(k, dtype=np.intp)
    for step in range(k):
        stratum = worth.best()
        chosen[step] = next(lines[stratum])
        worth.count(stratum)
    return chosen
