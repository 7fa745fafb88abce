"""From rows to a panel's log-odds, probabilities and classes; all a new row needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils import _safe_indexing

from hedgeclipper.base.threads import own_jobs, run_jobs
from hedgeclipper.game.losses import Loss
from hedgeclipper.panel.calibration import Calibration
from hedgeclipper.panel.regions import with_regions
from hedgeclipper.panel.scales import VoteScale
from hedgeclipper.panel.scores import member_scores

ROWS_AT_ONCE = 50_000


@dataclass(frozen=True, eq=False)
class MemberVotes:
    """Makes votes of the members' scores.

    Parameters
    ----------
    scales : list of VoteScale
        One for each member.
    regions : str or None
        Regions of members that are voters of their own.
    """

    scales: Sequence[VoteScale]
    regions: str | None

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Return the votes for scores of shape (n_samples, n_members); NaN where asleep."""
        pairs = zip(self.scales, scores.T, strict=True)
        votes = np.column_stack([scale(column) for scale, column in pairs])
        return with_regions(votes, self.regions)


@dataclass(frozen=True, eq=False)
class PanelGame:
    """What one game, of one class against the rest, has found.

    Parameters
    ----------
    votes : MemberVotes
        How scores become votes.
    weights : ndarray of shape (n_voters,)
        theta.
    calibration : Calibration
        From awake predictions to log-odds.
    """

    votes: MemberVotes
    weights: np.ndarray
    calibration: Calibration

    def hedged_range(self, loss: Loss) -> tuple[float, float]:
        """Return between which log-odds the game for a loss hedges; infinite for log loss."""
        low, high = self.calibration.log_odds(np.array(loss.hedged_range))
        return float(low), float(high)

    def log_odds(self, scores: np.ndarray) -> np.ndarray:
        """Return the log-odds of the class for scores of shape (n_samples, n_members)."""
        return self.calibration.log_odds(awake_predictions(self.votes(scores), self.weights))


def awake_predictions(votes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return m, the weighted sum of the votes of those who are awake."""
    return np.nan_to_num(votes) @ weights


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
