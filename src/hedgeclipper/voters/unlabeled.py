"""Scores of the unlabeled rows, which are read once, batch by batch or on the workers of a cluster.

The game is solved on a random sample of the rows. Of rows that are not in memory nothing else is
kept, so that memory does not grow with their number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from hedgeclipper.base.semi_supervised import BatchCheck, RowBatches, RowSlices, is_dask
from hedgeclipper.io.arrays import Draw, merge_draws, tag_rows
from hedgeclipper.io.digests import MODULUS, digest_rows
from hedgeclipper.io.progress import row_reporter
from hedgeclipper.voters.voters import VoterScorer

ROWS_IN_GAME = 50_000


@dataclass(frozen=True, eq=False)
class UnlabeledScores:
    """Scores of a random sample of rows, and of all of them where these are in memory."""

    n_rows: int
    positions: np.ndarray  # (n_sampled,): of the sampled rows among all, in ascending order
    sample: np.ndarray  # (n_sampled, n_voters, n_games)
    digest: int  # of all rows (`digests.digest_rows`)
    of_all: np.ndarray | None = None  # (n_rows, n_voters, n_games)


def score_unlabeled(
    scorer: VoterScorer,
    X: Any,
    check: BatchCheck,
    seed: int,
    *,
    prepare: Callable[[Any], Any] | None = None,
    names: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> UnlabeledScores:
    """Return the scores of unlabeled rows.

    The sample is the same whether rows are in memory, in files or in a Dask collection, whose
    columns have these ``names``, and whose partitions are checked on the workers. Rows are scored
    as ``prepare`` makes them.
    """
    if is_dask(X):
        from hedgeclipper.io.distributed import score_and_draw

        score = partial(_score_part, check, prepare, scorer)
        n_rows, digest, (_, positions, sample) = score_and_draw(X, names, score, ROWS_IN_GAME, seed)
        return UnlabeledScores(n_rows, positions, sample, digest)
    rows = X if isinstance(X, RowBatches) else RowSlices(X)
    n_rows, digest, parts = 0, 0, []
    drawn: Draw | None = None
    with row_reporter(verbose, "scoring rows", rows.n_rows) as report:
        for batch in rows:
            scores = scorer.score(batch if prepare is None else prepare(batch), n_jobs)
            drawn = merge_draws(drawn, tag_rows(seed, n_rows, scores), ROWS_IN_GAME)
            n_rows += scores.shape[0]
            digest = (digest + digest_rows(batch)) % MODULUS
            if rows is not X:
                parts.append(scores)
            report(n_rows)
    assert drawn is not None
    _, positions, sample = drawn
    of_all = np.concatenate(parts) if parts else None
    return UnlabeledScores(n_rows, positions, sample, digest, of_all)


def _score_part(
    check: BatchCheck, prepare: Callable[[Any], Any] | None, scorer: VoterScorer, part: Any
) -> tuple[int, np.ndarray]:
    rows = check(part)
    return digest_rows(rows), scorer.score(rows if prepare is None else prepare(rows))
