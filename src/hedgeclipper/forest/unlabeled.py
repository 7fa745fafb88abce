"""Scores of the unlabeled rows, which are read once, batch by batch or on the workers of a cluster.

The game is solved on a random sample of the rows. Of rows that are not in memory nothing else is
kept, so that memory does not grow with their number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from hedgeclipper.base.semi_supervised import BatchCheck, RowBatches, RowSlices, is_dask
from hedgeclipper.forest.groups import GroupScorer
from hedgeclipper.io.arrays import Draw, merge_draws, tag_rows
from hedgeclipper.io.progress import row_reporter

ROWS_IN_GAME = 50_000


@dataclass(frozen=True, eq=False)
class UnlabeledScores:
    """Scores of a random sample of rows, and of all of them where these are in memory."""

    n_rows: int
    positions: np.ndarray  # (n_sampled,): of the sampled rows among all, in ascending order
    sample: np.ndarray  # (n_sampled, n_groups, n_games)
    of_all: np.ndarray | None = None  # (n_rows, n_groups, n_games)

    def first(self, n_rows: int) -> tuple[np.ndarray, np.ndarray | None]:
        """Return scores of the first n rows, and their positions if only a sample is known."""
        if self.of_all is not None:
            return self.of_all[:n_rows], None
        n_sampled = int(np.searchsorted(self.positions, n_rows))
        return self.sample[:n_sampled], self.positions[:n_sampled]


def score_unlabeled(model: Any, scorer: GroupScorer, X: Any, seed: int) -> UnlabeledScores:
    """Return the scores of the unlabeled rows X of a `HedgeClipperClassifier`.

    The sample is the same whether rows are in memory, in files or in a Dask collection.
    """
    if is_dask(X):
        return _score_collection(model, scorer, X, seed)
    rows = X if isinstance(X, RowBatches) else RowSlices(X)
    n_rows, parts = 0, []
    drawn: Draw | None = None
    with row_reporter(model.verbose, "scoring rows", rows.n_rows) as report:
        for batch in rows:
            scores = scorer.score(batch, model.n_jobs)
            drawn = merge_draws(drawn, tag_rows(seed, n_rows, scores), ROWS_IN_GAME)
            n_rows += scores.shape[0]
            if rows is not X:
                parts.append(scores)
            report(n_rows)
    assert drawn is not None
    _, positions, sample = drawn
    return UnlabeledScores(n_rows, positions, sample, np.concatenate(parts) if parts else None)


def _score_collection(model: Any, scorer: GroupScorer, X: Any, seed: int) -> UnlabeledScores:
    from hedgeclipper.io.distributed import score_and_draw

    check = BatchCheck("X_unlabeled", model.n_features_in_, model._row_checks)
    score, names = partial(_score_part, check, scorer), getattr(model, "feature_names_in_", None)
    n_rows, drawn = score_and_draw(X, names, score, ROWS_IN_GAME, seed)
    _, positions, sample = drawn
    return UnlabeledScores(n_rows, positions, sample)


def _score_part(check: BatchCheck, scorer: GroupScorer, part: Any) -> np.ndarray:
    return scorer.score(check(part))
