"""What a peer's file defines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Setting:
    """What is known beside the votes.

    Parameters
    ----------
    gold : ndarray of shape (n_rows,)
        Class numbers, -1 where there is no label.
    n_classes : int
        Number of classes.
    seed : int
        Seed of the peer, where it takes one.
    """

    gold: np.ndarray
    n_classes: int
    seed: int

    @property
    def known(self) -> np.ndarray:
        """Return the labels that there are."""
        return self.gold[self.gold >= 0]

    @property
    def has_every_class(self) -> bool:
        """Return whether there is a label of each class."""
        return np.unique(self.known).size == self.n_classes

    @property
    def class_prior(self) -> np.ndarray:
        """Return the proportion of each class among the labels; uniform if there are none."""
        counts = np.bincount(self.known, minlength=self.n_classes)
        return counts / counts.sum() if counts.sum() else np.full(counts.size, 1 / counts.size)


def always(votes: Any) -> str:
    """Return no reason against running."""
    return ""


def likeliest(fitted: Any, votes: Any, probabilities: np.ndarray) -> np.ndarray:
    """Return the likeliest class of each row, the lower number in a tie."""
    return probabilities.argmax(axis=1)


@dataclass(frozen=True)
class Peer:
    """A peer in three steps, of which the second is timed.

    Parameters
    ----------
    prepare : callable
        From a vote matrix, dense or sparse, to the peer's own form of it.
    fit : callable
        From that form and the setting to the fitted peer, which has its probabilities.
    collect : callable
        From the fitted peer, the form and the setting to the probabilities, rows x classes; NaN
        where the peer says nothing.
    why_not : callable
        From a vote matrix to why the peer cannot take it; empty where it can.
    decide : callable
        From the fitted peer, the form and the probabilities to a class for each row.
    """

    prepare: Callable[[Any], Any]
    fit: Callable[[Any, Setting], Any]
    collect: Callable[[Any, Any, Setting], np.ndarray]
    why_not: Callable[[Any], str] = always
    decide: Callable[[Any, Any, np.ndarray], np.ndarray] = likeliest
