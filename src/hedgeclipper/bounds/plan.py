"""The plan: how many rows people must label for each error of the finished file.

Each point is the answer of `auto_labels.accept_in_file` to one error. Each holds by itself, if the
test labels allow a guarantee, but not all of them together: a curve is an estimate, and the
guarantee is for the one error that was named before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgeclipper.bounds.tested_predictions import TestedPredictions
from hedgeclipper.bounds.whole_file import allowed_errors, error_limit


@dataclass(frozen=True, eq=False)
class Plan:
    """Rows to label by hand for each error of the finished file: an estimate.

    Parameters
    ----------
    max_errors : ndarray of shape (n_errors,)
        Largest proportions of wrong labels in the finished file.
    n_by_hand : ndarray of int of shape (n_errors,)
        Unlabeled rows that people must label so that no more labels are wrong.
    n_by_hand_with_more : dict of int to ndarray of shape (n_errors,)
        The same, further random test labels included, for numbers of these: if they are wrong as
        often as those that there are.
    n_unlabeled, n_rows : int
        Number of unlabeled rows, and of all rows of the file.
    confidence_level : float
        Level of each point by itself.
    """

    max_errors: np.ndarray
    n_by_hand: np.ndarray
    n_by_hand_with_more: dict[int, np.ndarray]
    n_unlabeled: int
    n_rows: int
    confidence_level: float

    def rows(self) -> list[tuple[Any, ...]]:
        """Return the plan line by line: error, rows by hand, and these with more test labels."""
        columns = [self.max_errors.tolist(), self.n_by_hand.tolist()]
        columns += [own.tolist() for own in self.n_by_hand_with_more.values()]
        return list(zip(*columns, strict=True))


def make_plan(
    rule: TestedPredictions,
    confidence_level: float,
    max_errors: Sequence[float] | np.ndarray,
    more: Sequence[int] = (),
) -> Plan:
    """Return the plan for the unlabeled rows of tested predictions.

    Parameters
    ----------
    rule : TestedPredictions
        What test labels tell of the predictions.
    confidence_level : float
        Level of each point by itself.
    max_errors : array-like of shape (n_errors,)
        Proportions of wrong labels in the finished file, between 0 and 1.
    more : sequence of int
        Numbers of further random test labels.

    Examples
    --------
    One in five rows is uncertain, and half of these are predicted wrong:

    >>> wrong = np.arange(400) % 10 == 0
    >>> own = np.where(np.arange(400) % 5 == 0, 0.5, 0.1)
    >>> others = np.repeat([0.1, 0.5], [4000, 1000])
    >>> rule = TestedPredictions(wrong, own, others, 5000, 0.3, n_labeled=400)
    >>> plan = make_plan(rule, 0.95, [0.02, 0.05, 0.2], more=[400])
    >>> plan.n_by_hand.tolist(), plan.n_by_hand_with_more[400].tolist()
    ([900, 730, 0], [1153, 998, 400])
    """
    n_tested, delta = rule.wrong.size, 1.0 - confidence_level
    order = rule.order_of_pool()
    # after how many untested rows each wrong test row comes, in the order of uncertainty
    untested = np.cumsum(~rule.is_tested[order])
    none_wrong = np.zeros(rule.unlabeled_uncertainties.size, bool)
    wrong_at = untested[rule.in_pool(rule.wrong, none_wrong)[order]]
    n_known, scale = int(untested[-1]), rule.n_unlabeled / max(int(untested[-1]), 1)
    limits = [error_limit(float(one), rule.n_known_rows) for one in max_errors]

    def by_hand(n_more: int) -> np.ndarray:
        n_sample, n_pool = n_tested + n_more, max(order.size, n_tested + n_more)
        found = []
        for limit in limits:
            allowed = allowed_errors(n_pool, n_sample, limit, delta)
            # of more labels as many are wrong, and so the allowed ones come at an earlier place
            place = int((allowed + 1) * n_tested / max(n_sample, 1)) if n_more else allowed
            if allowed < 0:
                n_kept = 0
            else:
                n_kept = n_known if place >= wrong_at.size else int(wrong_at[place])
            left = max(n_known - n_kept, 0) * (1.0 - n_more / max(rule.n_unlabeled, 1))
            found.append(min(round(scale * left) + n_more, rule.n_unlabeled))
        return np.array(found)

    return Plan(
        np.asarray(max_errors, dtype=float),
        by_hand(0),
        {int(one): by_hand(int(one)) for one in more},
        rule.n_unlabeled,
        rule.n_rows,
        confidence_level,
    )
