"""What is known of each voter when the game starts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class LabelCorrelations:
    """Correlations of voters with the labels, and bounds on them.

    Parameters
    ----------
    estimate : ndarray of shape (n_voters,)
        Mean of h y over the labeled rows a voter is awake on; NaN where there is none.
    lower, upper : ndarray of shape (n_voters,)
        Bounds; -1 and 1, which claim nothing, for a voter without a labeled row.
    n_labeled : ndarray of shape (n_voters,)
        Labeled rows each voter is awake on (the sum of its participation).
    method : {"plug_in", "wilson", "transductive"}
        How the bounds were made.
    confidence_level : float or None
        Probability that the bounds hold: each voter's by itself for "wilson", all of them together
        for "transductive", None for "plug_in".
    is_guarantee : bool
        Whether the bounds hold for the unlabeled rows with that probability. Everything else is an
        estimate.
    n_unlabeled : ndarray of shape (n_voters,) or None
        For "transductive": the number of unlabeled rows, awake on, that each bound was made for.
    """

    estimate: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    n_labeled: np.ndarray
    method: str
    confidence_level: float | None
    is_guarantee: bool
    n_unlabeled: np.ndarray | None = None

    @property
    def centers(self) -> np.ndarray:
        """Middle of each interval, for a game with two-sided correlations."""
        return (self.lower + self.upper) / 2

    @property
    def widths(self) -> np.ndarray:
        """Half the length of each interval, for a game with two-sided correlations."""
        return (self.upper - self.lower) / 2

    def select(self, voters: Any) -> LabelCorrelations:
        """Return those of some voters; a simultaneous bound goes on counting all of them."""
        parts = ["estimate", "lower", "upper", "n_labeled"]
        parts += [] if self.n_unlabeled is None else ["n_unlabeled"]
        return replace(self, **{name: getattr(self, name)[voters] for name in parts})
