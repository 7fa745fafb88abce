"""Sums over votes against dense tables of them."""

import tracemalloc

import numpy as np
import pytest

from hedgeclipper.votes.matrix import VoteKernel, Votes, split_weights
from tests.votes.vote_instances import some_votes, votes_of


@pytest.mark.parametrize("order", ["C", "F"])
def test_sums_by_row_and_by_voter_are_those_of_the_votes(order):
    rng = np.random.default_rng(0)
    _, table = some_votes(rng, 30, 4, 3)
    kernel, said = VoteKernel(votes_of(table, 3)), table[:, :, None] == np.arange(3)
    weights, z = rng.normal(size=(4, 3, 3)), np.asarray(rng.random((30, 3)), order=order)
    assert kernel.scores(weights) == pytest.approx(np.einsum("jiv,ivk->jk", said, weights))
    assert kernel.sums(z) == pytest.approx(np.einsum("jiv,jk->ivk", said, z))
    theta = rng.normal(size=4 + 12 + 3)
    voters, votes, classes = split_weights(theta, 4, 3)
    own = np.einsum("jiv,iv->jv", said, voters[:, None] + votes) + classes
    assert kernel.weighted(theta) == pytest.approx(own)
    right = np.einsum("jiv,jv->iv", said, z)
    theirs = np.concatenate([right.sum(axis=1), right.ravel(), z.sum(axis=0)])
    assert kernel.agreement(z) == pytest.approx(theirs)


def test_a_pass_of_the_game_has_no_table_of_classes_by_classes():
    """20 voters and 1,000 classes: such a table would take 160 MB, votes and scores take 2."""
    rng = np.random.default_rng(0)
    kernel = VoteKernel(votes_of(rng.integers(0, 1000, (200, 20)), 1000))
    theta, z = rng.normal(size=20 + 20_000 + 1000), rng.random((200, 1000))
    kernel.weighted(theta[:]), kernel.agreement(z)  # with what is kept of the votes
    tracemalloc.start()
    kernel.weighted(theta), kernel.agreement(z)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6


def test_votes_are_counted_by_voter_and_class():
    kernel = VoteKernel(Votes.of([[0, -1, 1], [0, -1, -1], [1, -1, -1]]))
    assert kernel.votes_cast.tolist() == [[2, 1], [0, 0], [0, 1]]


def test_a_vector_is_of_voters_votes_and_classes():
    """Labels 0, 1, 1: the first voter is right twice, the second once, on the last row."""
    kernel, z = VoteKernel(Votes.of([[0, 1], [1, 0], [-1, 1]])), np.eye(2)[[0, 1, 1]]
    voters, votes, classes = split_weights(kernel.agreement(z), 2, 2)
    assert (voters.tolist(), votes.tolist()) == ([2, 1], [[1, 1], [0, 1]])
    assert classes.tolist() == [1, 2]
    assert kernel.rows_about.tolist() == [2, 3, 1, 1, 1, 2, 3, 3]
