"""Leaf numbers in memory, in a file, found again: the same numbers, wherever they are."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from hedgeclipper.forest import leaf_rows
from hedgeclipper.forest.leaf_rows import (
    LeafBlocks,
    LeafFile,
    LeafStorage,
    RecomputedLeaves,
    Reservoir,
    RowSlices,
    keep_leaves,
)
from hedgeclipper.forest.trees import ROWS_PER_BLOCK, leaf_finder

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40_000, 3)).astype(np.float32)
FINDER = leaf_finder(
    RandomForestClassifier(4, max_depth=4, random_state=0).fit(X[:500], X[:500, 0] > 0)
)
LEAVES = FINDER.find(X)


class Batches:
    """Uneven batches, and a count of how often they were read."""

    n_rows = None

    def __init__(self, sizes=(1, 30_000, 0, 9_999)):
        self.sizes, self.n_iter = sizes, 0

    def __iter__(self):
        self.n_iter += 1
        start = 0
        for size in self.sizes:
            yield X[start : start + size]
            start += size


def kept(storage="auto", limit=0, batches=None, **options):
    batches = Batches() if batches is None else batches
    place = LeafStorage(storage, memory_limit=limit)
    return keep_leaves(batches, FINDER, place, n_jobs=1, **options)


def whole(rows):
    return np.concatenate(list(rows.blocks()), axis=1)


@pytest.mark.parametrize(
    ("storage", "limit", "kind"),
    [
        ("memory", 0, LeafBlocks),
        ("disk", 10**9, LeafFile),
        ("recompute", 10**9, RecomputedLeaves),
        ("auto", 10**9, LeafBlocks),
        ("auto", 40_000, LeafFile),
    ],
)
def test_all_storages_give_the_same_leaves(storage, limit, kind):
    rows = kept(storage, limit)
    assert type(rows) is kind
    assert rows.n_samples == 40_000
    for _ in range(2):
        np.testing.assert_array_equal(whole(rows), LEAVES)
    rows.close()


def test_kept_leaves_are_read_once_and_recomputed_ones_on_every_pass():
    batches = Batches()
    rows = kept("disk", batches=batches)
    whole(rows)
    rows.close()
    assert batches.n_iter == 1
    batches = Batches()
    rows = kept("recompute", batches=batches)
    whole(rows)
    assert batches.n_iter == 2  # the first one counts the rows


def test_small_batches_become_even_blocks():
    rows = kept("disk", batches=Batches([100] * 400))
    assert [block.shape[1] for block in rows.blocks()] == [ROWS_PER_BLOCK, ROWS_PER_BLOCK, 7232]
    rows.close()


def test_auto_recomputes_where_the_disk_has_no_room(monkeypatch):
    usage = type("Usage", (), {"free": 100_000})
    monkeypatch.setattr(leaf_rows.shutil, "disk_usage", lambda folder: usage)
    assert type(kept("auto", 0)) is RecomputedLeaves
    known = RowSlices(X)
    assert type(kept("auto", 0, known)) is RecomputedLeaves
    rows = kept("disk")
    assert type(rows) is LeafFile
    rows.close()


@pytest.mark.parametrize("batches", [Batches(), RowSlices(X)])
def test_memory_needs_no_temporary_folder_and_none_is_no_room(monkeypatch, batches):
    monkeypatch.setattr(leaf_rows.tempfile, "tempdir", "/nowhere/at/all")
    for storage, limit in (("memory", 0), ("auto", 10**9)):
        np.testing.assert_array_equal(whole(kept(storage, limit, batches)), LEAVES)
    assert type(kept("auto", 0, batches)) is RecomputedLeaves


@pytest.mark.parametrize("storage", ["memory", "disk", "recompute"])
def test_rows_are_reported_as_they_are_read(storage):
    done = []
    kept(storage, report=done.append).close()
    assert done == [1, 30_001, 30_001, 40_000]


def test_rows_that_change_between_passes_are_noticed():
    batches = Batches()
    rows = kept("recompute", batches=batches)
    batches.sizes = (5, 6)
    with pytest.raises(ValueError, match=r"changed between passes: 40,000 at first, then 11"):
        whole(rows)


def test_the_file_has_no_name(tmp_path, monkeypatch):
    monkeypatch.setattr(leaf_rows.tempfile, "tempdir", str(tmp_path))
    rows = kept("disk")
    assert list(tmp_path.iterdir()) == []
    np.testing.assert_array_equal(whole(rows), LEAVES)
    rows.close()


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(leaf_rows.tempfile, "tempdir", str(tmp_path))
    written = []

    def append(self, block):
        if written:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(block)

    monkeypatch.setattr(LeafFile, "_write", append)
    with pytest.raises(OSError, match=r"No space left.*LeafStorage\('recompute'\)") as caught:
        kept("disk")
    assert caught.value.errno == errno.ENOSPC
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="limits on files need a Unix")
def test_a_limit_on_file_sizes_is_told():
    code = f"""
import resource, signal, sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
import tests.forest.test_leaf_rows as t
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    t.kept("disk")
except OSError as error:
    print("told:", error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert "told:" in done.stdout, done.stderr
    assert "storage=LeafStorage('recompute')" in done.stdout


def test_thinned_rows_come_from_everywhere():
    numbers = np.arange(40_000, dtype=np.uint32)[None, :]
    parts = [numbers[:, start : start + 4_000] for start in range(0, 40_000, 4_000)]
    file = LeafFile(1, numbers.dtype)
    for part in parts:
        file.append(part)
    expected = whole(LeafBlocks([numbers]).thinned(10))[0]
    for rows in (LeafBlocks([numbers]), LeafBlocks(parts), file):
        sample = rows.thinned(10)
        found = whole(sample)[0]
        assert np.array_equal(found, expected)
        assert 3_900 <= sample.n_samples == found.size <= 4_100
        assert np.unique(found).size == found.size
        assert np.bincount(found // 4_000, minlength=10).min() >= 300
    file.close()
    assert kept("recompute").thinned(2) is None


@pytest.mark.parametrize("stride", [1, 2, 3, 4, 5, 7, 9, 16, 31])
def test_as_many_rows_are_left_as_the_stride_says(stride):
    n_rows = 80 * ROWS_PER_BLOCK + 777
    numbers = np.arange(n_rows, dtype=np.uint32)[None, :]
    rows = LeafBlocks([numbers])
    found = whole(rows.thinned(stride))[0]
    assert found.size == pytest.approx(n_rows / stride, rel=0.1)
    assert np.unique(found).size == found.size
    assert np.bincount(found * 5 // n_rows).min() >= found.size / 10


def test_a_reservoir_of_many_rows_is_full():
    numbers = np.arange(140_000, dtype=np.uint32)[None, :]
    rows = LeafBlocks([numbers])
    reservoir = Reservoir(np.random.default_rng(0))
    drawn = reservoir.draw(rows)
    assert reservoir.leaves.n_samples == leaf_rows.ROWS_IN_RESERVOIR
    assert reservoir.n_seen == 140_000
    np.testing.assert_array_equal(whole(reservoir.leaves)[0], drawn)
    # the last rows, which may be held out, are drawn no more often than others
    expected, spread = 2_000 * 50 / 140, np.sqrt(2_000 * 50 / 140 * 90 / 140)
    assert abs(np.sum(drawn >= 138_000) - expected) < 4 * spread


def test_rows_are_taken_by_their_positions_wherever_they_are():
    numbers = np.arange(200, dtype=np.uint16).reshape(2, 100)
    parts = [numbers[:, :30], numbers[:, 30:30], numbers[:, 30:]]
    file = LeafFile(2, numbers.dtype)
    for part in parts:
        file.append(part)
    rows = np.array([0, 29, 30, 31, 99])
    for place in (LeafBlocks([numbers]), LeafBlocks(parts), file):
        np.testing.assert_array_equal(place.take(rows), numbers[:, rows])
    file.close()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_sums_over_blocks(n_jobs):
    rows = kept("disk")
    total = rows.sum_blocks(lambda leaves: leaves, lambda leaves: leaves.sum(axis=1), n_jobs)
    np.testing.assert_array_equal(total, LEAVES.sum(axis=1))
    rows.close()


def test_a_reservoir_holds_every_row_with_the_same_probability(monkeypatch):
    monkeypatch.setattr(leaf_rows, "ROWS_IN_RESERVOIR", 50)
    numbers = np.arange(400, dtype=np.uint16)[None, :]
    found = np.zeros(400)
    for seed in range(1000):
        reservoir = Reservoir(np.random.default_rng(seed))
        reservoir.draw(LeafBlocks([numbers[:, :30]]))
        for start in range(30, 400, 37):
            reservoir.add(numbers[:, start : start + 37])
        sample = whole(reservoir.leaves)[0]
        assert sample.size == 50
        assert reservoir.n_seen == 400
        found[sample] += 1
    expected, spread = 1000 * 50 / 400, np.sqrt(1000 * 50 / 400 * 350 / 400)
    assert abs(found[:30].mean() - expected) < 4 * spread / np.sqrt(30)
    assert abs(found[-100:].mean() - expected) < 4 * spread / np.sqrt(100)
    assert found.max() < expected + 5 * spread
