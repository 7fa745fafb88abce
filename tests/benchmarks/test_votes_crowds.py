"""Generated crowds have the votes that they are said to have, and their table the right numbers."""

import numpy as np
import pytest

from benchmarks.votes.crowds import CROWDS, N_ROWS


@pytest.mark.parametrize("cell", CROWDS[::7], ids=lambda cell: cell.name)
def test_votes_and_classes_are_as_frequent_as_said(cell):
    L, truth, _ = cell.generate(20, 0)
    assert L.shape == (N_ROWS, 70 if cell.n_votes else 30)
    assert np.mean(truth == 0) == pytest.approx(cell.balance, abs=0.04)
    if cell.n_votes:
        assert np.mean(np.sum(L >= 0, axis=1)) == pytest.approx(cell.n_votes, rel=0.15)
    else:
        assert all(np.unique(column[column >= 0]).size == 1 for column in L.T)


def test_labels_are_true_and_have_all_classes():
    _, truth, gold = CROWDS[0].generate(20, 3)
    assert np.sum(gold >= 0) == 20
    assert np.array_equal(gold[gold >= 0], truth[gold >= 0])
    assert np.unique(gold).tolist() == [-1, 0, 1]
