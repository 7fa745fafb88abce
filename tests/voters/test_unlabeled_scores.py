"""Scores of unlabeled rows: of all rows in memory, and of the same sample of any."""

import numpy as np
import pytest

from hedgeclipper.base.row_reader import RowBatches
from hedgeclipper.io import as_source
from hedgeclipper.voters.voters import ROWS_IN_GAME, score_unlabeled

X = np.random.default_rng(0).normal(size=(140_000, 2)).astype(np.float32)


class Scorer:
    """Scores rows by their first column."""

    def score(self, X, n_jobs=None):
        return X[:, :1, None]


def scored(rows, seed=3):
    return score_unlabeled(Scorer(), rows, seed)


def batches(*ends):
    cut = [X[start:stop] for start, stop in zip((0, *ends), (*ends, len(X)), strict=True)]
    return RowBatches(as_source(cut, name="rows"), np.asarray)


def test_of_rows_in_memory_all_are_scored_and_some_drawn():
    found = scored(X)
    np.testing.assert_array_equal(found.of_all, X[:, :1, None])
    assert found.n_rows == 140_000
    assert found.positions.size == np.unique(found.positions).size == ROWS_IN_GAME
    np.testing.assert_array_equal(found.sample, found.of_all[found.positions])
    # the last rows, which may be held out, are drawn no more often than others
    expected, spread = 2_000 * 50 / 140, np.sqrt(2_000 * 50 / 140 * 90 / 140)
    assert abs(np.sum(found.positions >= 138_000) - expected) < 4 * spread


@pytest.mark.parametrize("ends", [(100_000,), (1, 1, 30_000, 90_000)])
def test_the_sample_of_batches_is_that_of_memory_and_nothing_else_is_kept(ends):
    ours, theirs = scored(batches(*ends)), scored(X)
    assert ours.of_all is None
    assert ours.n_rows == theirs.n_rows
    np.testing.assert_array_equal(ours.positions, theirs.positions)
    np.testing.assert_array_equal(ours.sample, theirs.sample)


def test_few_rows_are_all_in_the_sample():
    found = scored(X[:500])
    np.testing.assert_array_equal(found.positions, np.arange(500))
    np.testing.assert_array_equal(found.sample, found.of_all)
