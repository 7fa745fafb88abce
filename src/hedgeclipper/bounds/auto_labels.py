"""Which rows can be labeled automatically: those whose error is provably small.

Rows are ordered by the rule's own doubt. Up to any threshold that was fixed without a look at the
labels, the labeled rows are a random sample of all rows there, so that the exact bound on the
proportion of errors holds among them, too. Thresholds are ranks among the doubts of labeled and
unlabeled rows together. They are tested one after the other, from the first at which the labels
could prove the bound to ever larger ones, and the last before the first failure is taken: so many
tests in a row need no correction, since one that fails ends them. (That is proved for labeled and
unlabeled rows together, and for the unlabeled ones shown by simulation.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hedgeclipper.bounds.exact import proportion_bounds

N_THRESHOLDS = 25
# the first threshold has so many times the labels that could prove the bound without an error
LEAST_MARGIN, MARGIN = 1.3, 4.0


@dataclass(frozen=True)
class SureRows:
    """Up to which doubt predictions can be taken as they are, and what the labels say of these."""

    threshold: float
    coverage: float
    error_upper: float
    n_errors: int
    n_tested: int
    gain_per_label: float = 0.0
    n_needed: int = 0


@dataclass(frozen=True, eq=False)
class AutoLabels:
    """Predictions, and which of them are sure enough to be taken as they are.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Predicted class of every row.
    is_sure : ndarray of bool of shape (n_samples,)
        Which rows are sure enough: among these at most ``max_error`` of the labels are wrong.
    max_error : float
        Largest proportion of wrong labels among the sure rows.
    confidence_level : float
        Probability with which that holds.
    kind : {"guarantee", "estimate"}
        "guarantee": the labels that test it were held out, and the rows are the unlabeled ones of
        the fit, or were drawn like them where the fit had none.
    reason : str
        Why it is not a guarantee, where it is not.
    error_upper : float
        Upper bound on the proportion of wrong labels among the sure rows, at most ``max_error``; 1
        if no row is sure.
    n_errors, n_tested : int
        How many of the labeled rows that are as sure are wrong, and how many there are.
    gain_per_label : float
        Roughly how much coverage one more label to test by adds: the gain from twice as many of
        them at the same error rate, divided by their number.
    n_needed : int
        Smallest number of held-out labels that could prove ``max_error``; 0 if there are enough.
    """

    labels: np.ndarray
    is_sure: np.ndarray
    max_error: float
    confidence_level: float
    kind: str
    reason: str
    error_upper: float
    n_errors: int
    n_tested: int
    gain_per_label: float
    n_needed: int

    @property
    def coverage(self) -> float:
        """Proportion of the rows that are sure."""
        return float(np.mean(self.is_sure)) if self.is_sure.size else 0.0

    def describe(self) -> str:
        """Return how many rows are sure, and of what, in one sentence."""
        n_sure, n_rows = int(self.is_sure.sum()), self.is_sure.size
        what = f"with at most {100 * self.max_error:g}% of them wrong"
        if not n_sure:
            why = f"{self.n_errors:,} of the {self.n_tested:,} surest labels that test it are wrong"
            if not n_rows:
                why = "there are no rows"
            elif self.n_needed:
                why = f"at least {self.n_needed:,} labels are needed to test it, there are "
                why += f"{self.n_tested:,}"
            return f"no row can be labeled automatically {what}: {why}"
        level = f"{100 * self.confidence_level:g}% confidence"
        kind = "guaranteed with" if self.kind == "guarantee" else "an estimate at"
        return (
            f"{n_sure:,} of {n_rows:,} rows ({self.coverage:.1%}) can be labeled automatically "
            f"{what}: {kind} {level} ({self.n_errors:,} of {self.n_tested:,} tested labels wrong)"
        )

    def __str__(self) -> str:
        return self.describe()


def surest_rows(rule: Any, max_error: float, delta: float) -> SureRows:
    """Return up to which doubt at most ``max_error`` of the unlabeled rows are wrong.

    The `CheckedRule` has doubts and errors of labeled rows, and doubts of the unlabeled ones.
    """
    found, n_tested = _last_passed(rule, max_error, delta), rule.wrong.size
    if n_tested == 0:
        return found
    twice = replace(rule, wrong=np.tile(rule.wrong, 2), doubts=np.tile(rule.doubts, 2))
    gain = _last_passed(twice, max_error, delta).coverage - found.coverage
    return replace(found, gain_per_label=max(gain, 0.0) / n_tested)


def _last_passed(rule: Any, max_error: float, delta: float) -> SureRows:
    """Return the last threshold before the first at which the bound cannot be proved."""
    n_tested = rule.wrong.size
    n_faultless = np.log(1.0 / delta) / -np.log1p(-max_error)
    n_needed = LEAST_MARGIN * n_faultless
    # a few errors among the first labels shall not end it, if there are enough labels
    first = max(n_needed, min(MARGIN * n_faultless, n_tested / 2)) / max(n_tested, 1)
    if n_tested == 0 or first > 1.0:
        return SureRows(-np.inf, 0.0, 1.0, 0, n_tested, n_needed=int(np.ceil(n_needed)))
    pool = np.sort(np.concatenate([rule.doubts, rule.unlabeled_doubts]))
    thresholds = _thresholds(pool, first, n_needed / n_tested)
    below = rule.doubts <= thresholds[:, None]
    tested, errors = below.sum(axis=1), (below & rule.wrong).sum(axis=1)
    coverage, rows = tested / n_tested, np.full(thresholds.size, np.inf)
    if rule.n_unlabeled:
        coverage = np.mean(rule.unlabeled_doubts <= thresholds[:, None], axis=1)
        rows = np.rint(coverage * rule.n_unlabeled)
    _, upper = proportion_bounds(errors, tested, rows, delta)
    n_passed = int(np.cumprod(upper <= max_error).sum())
    if n_passed == 0:
        return SureRows(-np.inf, 0.0, 1.0, int(errors[0]), int(tested[0]))
    at = n_passed - 1
    found = float(thresholds[at]), float(coverage[at]), float(upper[at])
    return SureRows(*found, int(errors[at]), int(tested[at]))


def _thresholds(pool: np.ndarray, first: float, least: float) -> np.ndarray:
    """Return the doubts at ranks from a ``first`` part of the sorted pool to all of it.

    Where many rows are as doubtful as the first, those before these come first, unless they are
    less than the ``least`` part.
    """
    ranks = np.ceil(np.linspace(first, 1.0, N_THRESHOLDS) * pool.size).astype(int) - 1
    below, upto = (np.searchsorted(pool, pool[ranks[0]], side) for side in ("left", "right"))
    if upto > ranks[0] + 1 and below >= least * pool.size:
        ranks = np.append(below - 1, ranks)
    return np.unique(pool[ranks])
