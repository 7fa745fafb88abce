"""Which labels test predictions: those that nothing is fitted to or weighed by.

The labels that test a rule must be a simple random sample of these and the unlabeled rows, and the
fit must treat both alike. So they are drawn from all labels, not by class, and their rows join the
unlabeled ones. Where a `Sample` records how labels were drawn, the record also fixes which of them
test: the first ones of the draw, whatever the random state of the fit. A second fit to the same
sample is tested by the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import mannwhitneyu
from sklearn.utils import check_random_state

from hedgeclipper.bounds.sample import FirstQuestion, Sample
from hedgeclipper.io.messages import counted

LEAST_HELD_OUT = 5
MOST_HELD_OUT = 2000
# errors that labels should be able to prove, if these take no more than this part of them; a few
# more labels than that takes allow two errors at 10% (docs/ablations.md)
PROVABLE, PROVING_PART, SPARE_LABELS = (0.05, 0.01), 0.62, 3
# each rank test of held-out against unlabeled rows: together they cost random samples one in a
# thousand of their guarantees, and labels of the first or the easiest rows of a file have 1e-9
SHIFT_LEVEL = 5e-4
SHIFTED_LABELS = "labeled and unlabeled rows differ, so that labels are no random sample of both"


def draw_held_out(
    n_labels: int, confidence_level: float | None, holdout: float | None, random_state: Any
) -> np.ndarray | None:
    """Return the numbers of the labels to hold out, in ascending order; None without a level."""
    n_held = count_held_out(n_labels, confidence_level, holdout)
    if n_held is None:
        return None
    return np.sort(check_random_state(random_state).choice(n_labels, n_held, replace=False))


def count_held_out(
    n_labels: int, confidence_level: float | None, holdout: float | None
) -> int | None:
    """Return how many labels are held out; None without a level.

    By default they are half of the labels, and 2,000 of more than 4,000: both the model and the
    bound get better by about the square root of their labels, and beyond some thousands there is
    little left to gain for the bound. Up to 62% are held out where half of them could not prove an
    error of 5% or of 1% in a file: 62 of 100 labels, and 302 of 500.

    Examples
    --------
    >>> [count_held_out(n, 0.95, None) for n in (90, 100, 200, 500, 9000)]
    [45, 62, 100, 302, 2000]
    """
    if confidence_level is None:
        if holdout is not None:
            raise ValueError(
                f"holdout is for a guarantee. Got holdout={holdout} and no confidence_level: pass "
                "one, such as 0.95, or leave holdout out."
            )
        return None
    n_held = min(n_labels // 2, MOST_HELD_OUT) if holdout is None else round(holdout * n_labels)
    for error in PROVABLE if holdout is None else ():
        n_needed = int(np.ceil(np.log(1.0 - confidence_level) / np.log1p(-error)))
        if n_held < n_needed and n_needed + SPARE_LABELS <= PROVING_PART * n_labels:
            n_held = n_needed + SPARE_LABELS
    if n_held < LEAST_HELD_OUT or n_labels - n_held < 2:
        part = 0.5 if holdout is None else holdout
        needed = int(np.ceil(max(LEAST_HELD_OUT / part, 2 / (1 - part))))
        raise ValueError(
            f"A confidence_level needs at least {LEAST_HELD_OUT} labels to hold out, and two to "
            f"fit to. Got {counted(n_labels, 'label')}, of which {n_held} would be held out. Label "
            f"at least {max(needed, LEAST_HELD_OUT + 2)} rows, change holdout, or leave "
            "confidence_level out: the error is then an estimate."
        )
    return n_held


@dataclass(frozen=True, eq=False)
class HeldOutLabels:
    """Which labels test predictions, and what is known of their draw.

    Parameters
    ----------
    held : ndarray of int or None
        Numbers of the held-out labels among all labels, in ascending order; None without any.
    places : ndarray of int or None
        Positions of the rows that test in the pool, in the order of the file: held-out labels,
        then skipped rows. None if rows have no common order.
    can_test : ndarray of bool of shape (n_labels,)
        Which labels are a random sample; others were chosen, and train only.
    skipped : ndarray of int
        Rows of the sample that people could not decide, as positions among unlabeled rows.
    skipped_tests : ndarray of int
        Those of them that were drawn to test. They count as wrong.
    is_recorded : bool
        Whether the draw is recorded, or was only stated.
    caveat : str
        Why these labels do not allow a guarantee; "" if they do.
    first_question : FirstQuestion
        What the labels were asked first; that of the record, if there is one.
    """

    held: np.ndarray | None
    places: np.ndarray | None
    can_test: np.ndarray
    skipped: np.ndarray
    skipped_tests: np.ndarray
    is_recorded: bool = False
    caveat: str = ""
    first_question: FirstQuestion = field(default_factory=FirstQuestion)

    def why_no_sample(self, is_shifted: bool, *scores: tuple[np.ndarray, np.ndarray]) -> str:
        """Return why held-out labels are no random sample, as far as rows tell; "" if they may be.

        Labels whose draw is recorded are one, whatever rows look like.

        Parameters
        ----------
        is_shifted : bool
            Whether voters have seen that labeled and unlabeled rows differ.
        *scores : tuple of ndarray
            Scores of held-out and of unlabeled rows, as for `differ_in_rank`.
        """
        if self.is_recorded:
            return ""
        is_shifted = is_shifted or any(differ_in_rank(*pair) for pair in scores)
        return SHIFTED_LABELS if is_shifted else ""


def hold_out_labels(
    n_labels: int,
    rows: tuple[np.ndarray, np.ndarray] | None,
    sample: Sample | None,
    *,
    confidence_level: float | None,
    holdout: float | None,
    random_state: Any,
) -> HeldOutLabels:
    """Return the labels to hold out: of all labels, or of a sample alone if there is a record.

    Parameters
    ----------
    n_labels : int
        Number of labels.
    rows : tuple of ndarray or None
        Numbers of the unlabeled and of the labeled rows in the file, both ascending; None if these
        are not of one file.
    sample : Sample or None
        The record of a draw from this file.
    confidence_level, holdout, random_state
        As for `draw_held_out`.
    """
    nothing = np.zeros(0, np.int64)
    if sample is None:
        held = draw_held_out(n_labels, confidence_level, holdout, random_state)
        places = None
        if held is not None and rows is not None:
            places = pool_places(rows[1][held], rows[0])
        return HeldOutLabels(held, places, np.ones(n_labels, bool), nothing, nothing)
    unlabeled, labeled = (nothing, np.arange(n_labels)) if rows is None else rows
    caveat = sample.why_estimate(labeled)
    n_held = count_held_out(sample.n_drawn, confidence_level, holdout)
    tested = sample.rows[:n_held]  # the order of the draw is random
    skipped = np.flatnonzero(np.isin(unlabeled, sample.rows))
    skipped_tests = np.flatnonzero(np.isin(unlabeled, tested))
    can_test = np.isin(labeled, sample.rows)
    if not can_test.any():
        raise ValueError(f"None of the {sample.n_drawn:,} rows of the sample has a label.")
    held = places = None
    if n_held is not None:
        held = np.flatnonzero(np.isin(labeled, tested))
        if n_labels - held.size < 2:
            raise ValueError(
                f"{can_test.sum():,} of {sample.n_drawn:,} rows of the sample have a label. The "
                f"first {n_held:,} of its draw test the predictions, and {n_labels - held.size} "
                "labels are left to fit to. Label the other rows of the sample too, or leave "
                "confidence_level out: the error is then an estimate."
            )
        tests = np.append(labeled[held], unlabeled[skipped_tests])
        places = pool_places(tests, np.delete(unlabeled, skipped))
    known = skipped, skipped_tests, True, caveat, sample.first_question
    return HeldOutLabels(held, places, can_test, *known)


def pool_places(tested: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the positions of tested rows in the pool of these and others, in their file's order.

    Examples
    --------
    >>> pool_places(np.array([7, 2]), np.array([1, 5, 9]))
    array([3, 1])
    """
    return np.searchsorted(np.sort(np.append(tested, others)), tested)


def differ_in_rank(tested: np.ndarray, unlabeled: np.ndarray) -> bool:
    """Return whether scores of tested and unlabeled rows differ more than random samples do.

    Scores have the shape (n_rows,), or (n_rows, n_scores): the columns share the level of one test,
    the rank test of Mann and Whitney. If it rejects, the labels are no random sample. That it does
    not is no proof, and no bound becomes wrong by it.

    Examples
    --------
    >>> rows = np.arange(1000.0)
    >>> differ_in_rank(rows[::20], rows), differ_in_rank(rows[:50], rows)
    (False, True)
    """
    if tested.shape[0] == 0 or unlabeled.shape[0] == 0:
        return False
    found = mannwhitneyu(tested, unlabeled, axis=0, method="asymptotic").pvalue
    return bool(np.any(np.atleast_1d(found) < SHIFT_LEVEL / np.size(found)))
