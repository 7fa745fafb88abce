"""The part of the game's objective that depends on the weights alone, and its closed-form minimum.

For each voter i, with c its coverage and b its correlation,

    -c b theta + c eps abs(theta) + (ridge / 2) c (theta - anchor)^2,   lower <= theta <= upper.

The first term is what the labels say, the second the width within which they say it, the third
the pull to the plain vote, and the box is what the adversary pays for breaking the constraint.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True, eq=False)
class WeightTerms:
    """Coefficients of the weights' own terms; arrays of length n_voters.

    Parameters
    ----------
    edge : ndarray
        c_i b_i, what a unit of weight earns.
    width : ndarray
        c_i eps_i, the price of a unit of abs(weight); 0 where b is a one-sided bound.
    curvature : ndarray
        ridge * c_i, the strength of the anchor.
    anchor : ndarray
        Where the anchor pulls.
    lower, upper : ndarray
        The box; infinite where there is none.
    """

    edge: np.ndarray
    width: np.ndarray
    curvature: np.ndarray
    anchor: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def slack(self, theta: np.ndarray) -> float:
        """Return -sum edge theta + sum width abs(theta), the labels' share of the slack."""
        return float(self.width @ np.abs(theta) - self.edge @ theta)

    def pull(self, theta: np.ndarray) -> float:
        """Return the anchor's term."""
        return float(self.curvature @ (theta - self.anchor) ** 2) / 2.0

    def value(self, theta: np.ndarray) -> float:
        """Return the whole of the weights' own terms."""
        return self.slack(theta) + self.pull(theta)

    def slope(self, theta: np.ndarray, tilt: np.ndarray) -> np.ndarray:
        """Return the gradient of ``value(theta) + tilt @ theta``, but for the width's share."""
        return tilt - self.edge + self.curvature * (theta - self.anchor)

    def descend(self, theta: np.ndarray, slope: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Return theta after a step against the slope, shrunk by the width, back in the box."""
        moved = theta - step * slope
        shrunk = np.sign(moved) * np.maximum(np.abs(moved) - step * self.width, 0.0)
        return np.clip(shrunk, self.lower, self.upper)

    def minimizer(self, tilt: np.ndarray) -> np.ndarray:
        """Return the theta that minimizes ``value(theta) + tilt @ theta`` in the box.

        Entries are infinite where the minimum runs away.
        """
        gain = self.edge - tilt
        reduced = np.sign(gain) * np.maximum(np.abs(gain) - self.width, 0.0)
        runaway = np.where(reduced > 0, self.upper, np.where(reduced < 0, self.lower, 0.0))
        curved = self.curvature > 0
        safe = np.where(curved, self.curvature, 1.0)
        up = self.anchor + (gain - self.width) / safe
        down = self.anchor + (gain + self.width) / safe
        pulled = np.maximum(up, 0.0) + np.minimum(down, 0.0)
        return np.clip(np.where(curved, pulled, runaway), self.lower, self.upper)

    def minimum(self, tilt: np.ndarray) -> float:
        """Return the minimum of ``value(theta) + tilt @ theta`` over the box, or -inf."""
        theta = self.minimizer(tilt)
        if not np.all(np.isfinite(theta)):
            return -np.inf
        return self.value(theta) + float(tilt @ theta)

    def and_offset(self) -> WeightTerms:
        """Return these terms and those of one more voter, whose weight is fixed at 1."""
        fixed = {"edge": 0, "width": 0, "curvature": 0, "anchor": 1, "lower": 1, "upper": 1}
        return WeightTerms(**{name: np.append(getattr(self, name), fixed[name]) for name in fixed})

    def within(self, reach: float) -> WeightTerms:
        """Return the same terms with infinite sides of the box brought in to ``reach``."""
        return replace(
            self,
            lower=np.where(np.isinf(self.lower), -reach, self.lower),
            upper=np.where(np.isinf(self.upper), reach, self.upper),
        )


class SplitWeights:
    """Variables for the optimizer: weights scaled by ``scale``, free signs split in two halves.

    A weight that may be negative becomes the difference of two nonnegative variables, so that its
    width term, a multiple of its size, is linear.
    """

    def __init__(self, lower: np.ndarray, upper: np.ndarray, scale: np.ndarray):
        self.scale = scale
        self.is_free = lower < 0
        free = self.is_free
        lowest = np.concatenate([np.maximum(lower, 0.0) * scale, np.zeros(int(free.sum()))])
        highest = np.concatenate([upper * scale, -lower[free] * scale[free]])
        self.bounds = list(zip(lowest.tolist(), highest.tolist(), strict=True))

    def divide(self, theta: np.ndarray) -> np.ndarray:
        """Return the variables for theta."""
        scaled = theta * self.scale
        return np.concatenate([np.maximum(scaled, 0.0), np.maximum(-scaled[self.is_free], 0.0)])

    def join(self, x: np.ndarray) -> np.ndarray:
        """Return theta for the variables."""
        scaled = x[: self.scale.size].copy()
        scaled[self.is_free] -= x[self.scale.size :]
        return scaled / self.scale

    def size(self, x: np.ndarray) -> np.ndarray:
        """Return positive plus negative part, which is abs(theta) at the optimum."""
        scaled = x[: self.scale.size].copy()
        scaled[self.is_free] += x[self.scale.size :]
        return scaled / self.scale

    def gradient(self, slope: np.ndarray, width: np.ndarray) -> np.ndarray:
        """Return the gradient with respect to the variables."""
        positive = (slope + width) / self.scale
        negative = (width - slope) / self.scale
        return np.concatenate([positive, negative[self.is_free]])
