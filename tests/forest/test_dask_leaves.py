import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from hedgeclipper import HedgeClipperClassifier, LeafGame
from hedgeclipper.base.semi_supervised import BatchCheck
from hedgeclipper.forest.leaf_rows import LeafBlocks
from hedgeclipper.forest.trees import leaf_finder

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")

from hedgeclipper.forest.dask_leaves import DaskLeaves, find_leaves  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12_000, 4)).astype(np.float32)
Y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
LABELED, UNLABELED = X[:300], X[300:]
FINDER = leaf_finder(RandomForestClassifier(5, random_state=0).fit(LABELED, Y[:300]))
HERE = LeafBlocks([FINDER.find(UNLABELED)])


@pytest.fixture(autouse=True)
def threads():
    with dask.config.set(scheduler="threads"):
        yield


def found_leaves(rows):
    return find_leaves(FINDER, rows, None, BatchCheck("rows", 4, {"dtype": np.float32}))


def whole(leaves):
    return np.concatenate(list(leaves.blocks()), axis=1)


@pytest.mark.parametrize("size", [2_500, 12_000])
def test_leaves_samples_and_sums_are_those_of_rows_in_memory(size):
    leaves = found_leaves(da.from_array(UNLABELED, chunks=(size, 4)))
    assert leaves.n_samples == HERE.n_samples
    np.testing.assert_array_equal(whole(leaves), whole(HERE))
    np.testing.assert_array_equal(whole(leaves.thinned(7)), whole(HERE.thinned(7)))
    add_up = (np.asarray, lambda block: block.sum(axis=1, dtype=float), 1)
    np.testing.assert_array_equal(leaves.sum_blocks(*add_up), HERE.sum_blocks(*add_up))


def test_a_view_is_sent_once():
    leaves = found_leaves(da.from_array(UNLABELED, chunks=(6_000, 4)))
    for _ in range(2):
        leaves.sum_blocks(np.asarray, np.sum, 1)
    assert len(leaves._views) == 1
    leaves.forget_views()
    assert not leaves._views


def test_what_is_sent_for_a_class_is_forgotten_after_its_game(monkeypatch):
    held, original = [], DaskLeaves.sum_blocks

    def sum_blocks(self, *arguments):
        found = original(self, *arguments)
        held.append(len(self._views))
        return found

    monkeypatch.setattr(DaskLeaves, "sum_blocks", sum_blocks)
    most = {}
    for n_classes in (2, 5):
        classes = np.digitize(LABELED[:, 0], np.linspace(-1, 1, n_classes - 1))
        model = HedgeClipperClassifier(n_estimators=12, game=LeafGame(), random_state=0)
        model.fit(LABELED, classes, X_unlabeled=da.from_array(UNLABELED, chunks=(6_000, 4)))
        most[n_classes] = max(held)
        held.clear()
    assert most[5] == most[2]


def test_no_rows_are_told():
    with pytest.raises(ValueError, match="no rows"):
        found_leaves(da.from_array(UNLABELED[:0], chunks=(10, 4)))
