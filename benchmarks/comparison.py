"""Paired comparisons over draws: the best, its ties, and which gains are significant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

LEVEL = 0.05


def best_and_ties(values: Mapping[str, np.ndarray]) -> list[str]:
    """Return the method with the best mean, and those that are not significantly worse.

    The best is one of those with most draws, since means over different draws are not comparable.
    Paired t-tests of the best against each of the others, two-sided, corrected by Holm.

    Parameters
    ----------
    values : mapping from str to ndarray of shape (n_draws,)
        A figure of each method on the same draws, the larger the better; NaN where a method was
        not run.
    """
    n_draws = {name: np.count_nonzero(~np.isnan(figures)) for name, figures in values.items()}
    whole = [name for name in values if n_draws[name] == max(n_draws.values())]
    best = max(whole, key=lambda name: np.nanmean(values[name]))
    others = [name for name in values if name != best]
    p_values = np.array([paired_p_value(values[best], values[name]) for name in others])
    rejected = holm(p_values)
    return [best, *[name for name, worse in zip(others, rejected, strict=True) if not worse]]


def holm(p_values: np.ndarray) -> np.ndarray:
    """Return which hypotheses Holm's step-down procedure rejects, at the level of 5%."""
    order = np.argsort(p_values, kind="stable")
    passes = p_values[order] <= LEVEL / np.arange(p_values.size, 0, -1)
    rejected = np.zeros(p_values.size, dtype=bool)
    rejected[order] = np.logical_and.accumulate(passes)
    return rejected


def paired_p_value(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Return the p-value of the two-sided paired t-test.

    It is 1 if all differences are 0, or there is one draw.

    Draws on which one of the two was not run, and has NaN, are left out.
    """
    has_both = ~np.isnan(ours - theirs)
    ours, theirs = ours[has_both], theirs[has_both]
    differences = ours - theirs
    if differences.size < 2 or np.allclose(differences, 0.0, atol=1e-12):
        return 1.0
    if np.ptp(differences) < 1e-12:
        return 0.0
    return float(stats.ttest_rel(ours, theirs).pvalue)


@dataclass(frozen=True, eq=False)
class Difference:
    """Paired difference of a figure between two methods on the same draws.

    Parameters
    ----------
    by_row : mapping from tuple to ndarray of shape (n_draws,)
        Each row of a table to its differences.
    """

    by_row: Mapping[tuple[str, int], np.ndarray]

    @property
    def means(self) -> dict[tuple[str, int], float]:
        """Mean over the draws of each row."""
        return {row: float(values.mean()) for row, values in self.by_row.items()}

    @property
    def mean(self) -> float:
        """Mean over the rows of the mean over the draws."""
        return float(np.mean(list(self.means.values())))

    @property
    def error(self) -> float:
        """Standard error of the mean; draws vary, the rows are given."""
        squares = [values.var(ddof=1) / values.size for values in self.by_row.values()]
        return float(np.sqrt(np.sum(squares)) / len(self.by_row))

    def rows_of_sign(self, sign: int) -> list[tuple[str, int]]:
        """Return the rows whose difference has this sign; paired t-tests, Holm over the rows."""
        p_values = [paired_p_value(v, np.zeros(v.size)) for v in self.by_row.values()]
        found = zip(self.means.items(), holm(np.array(p_values)), strict=True)
        return [row for (row, mean), is_sure in found if is_sure and np.sign(mean) == sign]
