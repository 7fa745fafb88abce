"""From rows to members' scores and a panel's log-odds: all that a new row needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit

from hedgeclipper.base.predictions import GamePredictor, PanelGame
from hedgeclipper.base.threads import run_jobs
from hedgeclipper.io.extras import import_extra
from hedgeclipper.panel.fitting import member_scores
from hedgeclipper.sklearn_private import _safe_indexing

ROWS_AT_ONCE = 50_000


@dataclass(frozen=True, eq=False)
class PanelPredictor(GamePredictor):
    """Fitted members of a panel by name, and its games: one for two classes, else one for each.

    ``labels`` are those of the classes as the members know them, None for the codes 0, 1, ...;
    ``prepare`` makes of rows what the members want.
    """

    members: dict[str, Any]
    n_classes: int
    labels: np.ndarray | None
    games: Sequence[PanelGame]
    prepare: Callable[[Any], Any] | None = None

    @property
    def n_games(self) -> int:
        """Number of games: 1 for two classes."""
        return len(self.games)

    def raw_predictions(self, X: Any, n_jobs: int | None = None) -> np.ndarray:
        """Return the log-odds of each game's class, shape (n_samples, n_games)."""
        starts = range(0, max(X.shape[0], 1), ROWS_AT_ONCE)
        blocks = [_safe_indexing(X, slice(start, start + ROWS_AT_ONCE)) for start in starts]
        return np.concatenate([self.log_odds(self.scores(block, n_jobs)) for block in blocks])

    def scores(self, X: Any, n_jobs: int | None = None) -> np.ndarray:
        """Return the scores of all members, shape (n_samples, n_members, n_games)."""
        X = X if self.prepare is None else self.prepare(X)
        kinds = self.n_classes, self.labels
        calls = [(model, X, *kinds, name) for name, model in self.members.items()]
        return np.stack(list(run_jobs(member_scores, calls, n_jobs, prefer="threads")), axis=1)

    def log_odds(self, scores: np.ndarray) -> np.ndarray:
        """Return the log-odds for scores of shape (n_samples, n_members, n_games)."""
        return np.column_stack(
            [game.log_odds(scores[:, :, k]) for k, game in enumerate(self.games)]
        )

    def log_odds_of(self, raw: np.ndarray) -> np.ndarray:
        """Return the raw predictions as they are."""
        return raw

    def raw_at(self, probability: float) -> float:
        """Return the log-odds of a probability."""
        return float(logit(probability))

    def game_probabilities(self, raw: np.ndarray) -> np.ndarray:
        """Return the probability of each game's class, shape (n_samples, n_games)."""
        return expit(raw)


@dataclass(frozen=True)
class NamedColumns:
    """Makes frames of rows without names, those of files for instance; others stay as they are.

    Members that were named may pick columns by name, as in scikit-learn.
    """

    names: Sequence[Any]

    def __call__(self, X: Any) -> Any:
        """Return the rows with names."""
        if not isinstance(X, np.ndarray):
            return X
        return import_extra("pandas", "io", "A frame").DataFrame(X, columns=self.names)
