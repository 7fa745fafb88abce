"""From rows to a panel's log-odds, probabilities and classes; all a new row needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils import _safe_indexing

from hedgeclipper.base.threads import own_jobs, run_jobs
from hedgeclipper.panel.panel_game import PanelGame
from hedgeclipper.panel.scores import member_scores

ROWS_AT_ONCE = 50_000


@dataclass(frozen=True, eq=False)
class PanelPredictor:
    """Members and games of a panel.

    Parameters
    ----------
    names : list of str
        Names of the members.
    estimators : list of classifier
        Fitted members.
    n_classes : int
        Number of classes.
    labels : ndarray or None
        Labels as the members know them; None for the codes 0, 1, ...
    games : list of PanelGame
        One for two classes, else one for each.
    prepare : callable or None
        Makes of rows what the members want.
    """

    names: Sequence[str]
    estimators: Sequence[Any]
    n_classes: int
    labels: np.ndarray | None
    games: Sequence[PanelGame]
    prepare: Callable[[Any], Any] | None = None

    @property
    def n_games(self) -> int:
        """Number of games: 1 for two classes."""
        return len(self.games)

    def awake(self, X: Any, n_jobs: int | None = None) -> np.ndarray:
        """Return the log-odds of each game's class, shape (n_samples, n_games)."""
        starts = range(0, max(X.shape[0], 1), ROWS_AT_ONCE)
        blocks = [_safe_indexing(X, slice(start, start + ROWS_AT_ONCE)) for start in starts]
        return np.concatenate([self.awake_for(self.scores(block, n_jobs)) for block in blocks])

    def scores(self, X: Any, n_jobs: int | None = None) -> np.ndarray:
        """Return what all members say of rows, shape (n_samples, n_members, n_games)."""
        X = X if self.prepare is None else self.prepare(X)
        members = zip(self.names, self.estimators, strict=True)
        calls = ((name, model, X) for name, model in members)
        return np.stack(list(run_jobs(self._scores_of, calls, n_jobs, prefer="threads")), axis=1)

    def _scores_of(self, name: str, model: Any, X: Any, shares_cores: bool) -> np.ndarray:
        with own_jobs(model, shares_cores):
            return member_scores(model, X, self.n_classes, self.labels, name=name)

    def awake_for(self, scores: np.ndarray) -> np.ndarray:
        """Return the log-odds for scores of shape (n_samples, n_members, n_games)."""
        return np.column_stack(
            [game.log_odds(scores[:, :, k]) for k, game in enumerate(self.games)]
        )

    def decision(self, awake: np.ndarray) -> np.ndarray:
        """Return the log-odds: one column for two classes, else one for each."""
        return awake[:, 0] if self.n_games == 1 else awake

    def probabilities(self, awake: np.ndarray) -> np.ndarray:
        """Return the probability of each class, shape (n_samples, n_classes)."""
        shares = expit(awake)
        if self.n_games == 1:
            return np.column_stack([1.0 - shares[:, 0], shares[:, 0]])
        return shares / shares.sum(axis=1, keepdims=True)

    def classes(self, awake: np.ndarray) -> np.ndarray:
        """Return the number of the most probable class of each row."""
        return (awake[:, 0] > 0).astype(int) if self.n_games == 1 else np.argmax(awake, axis=1)
