"""From leaf scores to awake predictions, probabilities and classes; all a new row needs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logit

from hedgeclipper.base.semi_supervised import BatchCheck
from hedgeclipper.forest.leaves import sum_scores
from hedgeclipper.forest.trees import LeafFinder
from hedgeclipper.game.losses import BinaryLoss

SOFT_EDGE = 0.05


@dataclass(frozen=True, eq=False)
class LeafPredictor:
    """Leaf scores of one game (two classes) or of one per class.

    Parameters
    ----------
    finder : LeafFinder
        Finds the leaves of new rows.
    leaf_scores : ndarray of shape (all leaves, n_games)
        Score of each leaf in each game.
    offsets : ndarray of shape (n_games,)
        What the class balance (and prices of errors) add to the awake prediction, so that its
        sign is the more probable (the cheaper) answer.
    priors : ndarray of shape (n_games,)
        Share of the class that the labels were weighted away from; 1/2 where they were not.
    loss : Loss
        Its link turns awake predictions into predictions.
    prepare : BatchCheck or None
        Makes arrays of frames whose columns are encoded.
    """

    finder: LeafFinder
    leaf_scores: np.ndarray
    offsets: np.ndarray
    priors: np.ndarray
    loss: BinaryLoss
    prepare: BatchCheck | None = None

    @property
    def n_games(self) -> int:
        """Number of games: 1 for two classes."""
        return self.offsets.size

    @property
    def hedged_ranges(self) -> list[tuple[float, float]]:
        """Return for each game between which awake predictions it hedges; infinite for log loss."""
        low, high = self.loss.hedged_range
        return [(low + offset, high + offset) for offset in self.offsets.tolist()]

    def awake(self, X: Any, n_jobs: int | None) -> np.ndarray:
        """Return the awake predictions of rows, shape (n_samples, n_games)."""
        X = X if self.prepare is None else self.prepare(X)
        return self.finder.sum_scores(X, self.leaf_scores, n_jobs) + self.offsets

    def awake_in(self, leaves: np.ndarray) -> np.ndarray:
        """Return the awake predictions of rows in these leaves, shape (n_rows, n_games)."""
        offsets = self.finder.offsets
        columns = [sum_scores(leaves, offsets, scores) for scores in self._columns]
        return np.column_stack(columns) + self.offsets

    @cached_property
    def _columns(self) -> list[np.ndarray]:
        return [np.ascontiguousarray(column) for column in self.leaf_scores.T]

    def decision(self, awake: np.ndarray) -> np.ndarray:
        """Return the awake prediction of one game, or each class's log-odds of several."""
        return awake[:, 0] if self.n_games == 1 else logit(self._shares(awake))

    def probabilities(self, awake: np.ndarray) -> np.ndarray:
        """Return the probability of each class, shape (n_samples, n_classes)."""
        shares = self._shares(awake)
        if self.n_games == 1:
            return np.column_stack([1.0 - shares[:, 0], shares[:, 0]])
        return shares / shares.sum(axis=1, keepdims=True)

    def classes(self, awake: np.ndarray) -> np.ndarray:
        """Return the number of the most probable class of each row."""
        if self.n_games == 1:
            return (awake[:, 0] > 0).astype(int)
        return np.argmax(self._shares(awake), axis=1)

    def _shares(self, awake: np.ndarray) -> np.ndarray:
        """Return the probability of each game's class: the link, then Bayes' rule for the prior."""
        room = np.minimum(SOFT_EDGE, np.minimum(self.priors, 1.0 - self.priors))
        mean = self.loss.soft_link(awake - self.offsets, room)
        positive = self.priors * (1.0 + mean)
        negative = (1.0 - self.priors) * (1.0 - mean)
        return positive / (positive + negative)
