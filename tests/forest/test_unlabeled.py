"""Scores of unlabeled rows: of all rows in memory, and of the same sample of any."""

from types import SimpleNamespace

import numpy as np
import pytest
from hedgeclipper.forest.unlabeled import ROWS_IN_GAME, score_unlabeled
from sklearn.ensemble import RandomForestClassifier

from hedgeclipper.base.semi_supervised import RowBatches
from hedgeclipper.io import as_source
from tests.forest.grown import grow, scored

RNG = np.random.default_rng(0)
X = RNG.normal(size=(140_000, 2)).astype(np.float32)
Y = (X[:200, 0] > 0).astype(int)
FOREST = RandomForestClassifier(3, max_depth=3, random_state=0)
SCORER = scored(grow(FOREST, X[:200], Y), Y).scorer
MODEL = SimpleNamespace(verbose=0, n_jobs=1)


def batches(*ends):
    cut = [X[start:stop] for start, stop in zip((0, *ends), (*ends, len(X)), strict=True)]
    return RowBatches(as_source(cut, name="rows"), np.asarray)


def test_of_rows_in_memory_all_are_scored_and_some_drawn():
    found = score_unlabeled(MODEL, SCORER, X, seed=3)
    np.testing.assert_array_equal(found.of_all, SCORER.score(X))
    assert found.n_rows == 140_000
    assert found.positions.size == np.unique(found.positions).size == ROWS_IN_GAME
    np.testing.assert_array_equal(found.sample, found.of_all[found.positions])
    # the last rows, which may be held out, are drawn no more often than others
    expected, spread = 2_000 * 50 / 140, np.sqrt(2_000 * 50 / 140 * 90 / 140)
    assert abs(np.sum(found.positions >= 138_000) - expected) < 4 * spread


@pytest.mark.parametrize("ends", [(100_000,), (1, 1, 30_000, 90_000)])
def test_the_sample_of_batches_is_that_of_memory_and_nothing_else_is_kept(ends):
    ours, theirs = (score_unlabeled(MODEL, SCORER, rows, 3) for rows in (batches(*ends), X))
    assert ours.of_all is None
    assert ours.n_rows == theirs.n_rows
    np.testing.assert_array_equal(ours.positions, theirs.positions)
    np.testing.assert_array_equal(ours.sample, theirs.sample)


def test_first_rows_are_all_of_these_or_those_in_the_sample():
    whole, some = (score_unlabeled(MODEL, SCORER, rows, 3) for rows in (X, batches(50_000)))
    scores, positions = whole.first(10_000)
    assert positions is None
    np.testing.assert_array_equal(scores, whole.of_all[:10_000])
    sampled, positions = some.first(10_000)
    assert 0 < positions.size == np.sum(some.positions < 10_000)
    np.testing.assert_array_equal(sampled, scores[positions])


def test_few_rows_are_all_in_the_sample():
    found = score_unlabeled(MODEL, SCORER, X[:500], seed=0)
    np.testing.assert_array_equal(found.positions, np.arange(500))
    np.testing.assert_array_equal(found.sample, found.of_all)
