"""Every kernel against its NumPy twin."""

import tracemalloc

import numpy as np
import pytest

from hedgeclipper.votes.matrix import Votes
from hedgeclipper.votes.vote_kernel import (
    VoteKernel,
    add_own_sums,
    add_own_weights,
    add_vote_sums,
    split_weights,
    sum_vote_scores,
)
from tests.votes.vote_instances import some_votes, votes_of


@pytest.mark.parametrize("n_columns", [1, 2, 3, 6])
@pytest.mark.parametrize("order", ["C", "F"])
def test_vote_scores_are_the_sums(order, n_columns):
    rng = np.random.default_rng(0)
    _, table = some_votes(rng, 30, 4, 3)
    matrix = votes_of(table, 3).matrix
    weights, scores = rng.normal(size=(4, 3, n_columns)), np.empty((30, n_columns), order=order)
    sum_vote_scores(matrix.indptr, matrix.indices, matrix.data, weights, scores)
    said = table[:, :, None] == np.arange(3)  # rows, voters, votes
    assert scores == pytest.approx(np.einsum("jiv,ivk->jk", said, weights))


@pytest.mark.parametrize("order", ["C", "F"])
def test_vote_sums_are_the_sums(order):
    rng = np.random.default_rng(0)
    _, table = some_votes(rng, 30, 4, 3)
    matrix = votes_of(table, 3).matrix
    shares, sums = np.asarray(rng.random((30, 3)), order=order), np.zeros((4, 3, 3))
    add_vote_sums(matrix.indptr, matrix.indices, matrix.data, shares, sums)
    said = table[:, :, None] == np.arange(3)
    assert sums == pytest.approx(np.einsum("jiv,jk->ivk", said, shares))


@pytest.mark.parametrize("order", ["C", "F"])
def test_own_weights_and_sums_are_those_of_the_class_voted_for(order):
    rng = np.random.default_rng(0)
    _, table = some_votes(rng, 30, 4, 3)
    matrix = votes_of(table, 3).matrix
    entries = matrix.indptr, matrix.indices, matrix.data
    said = table[:, :, None] == np.arange(3)  # rows, voters, votes
    weights, scores = rng.normal(size=(4, 3)), np.ones((30, 3), order=order)
    add_own_weights(*entries, weights, scores)
    assert scores == pytest.approx(1.0 + np.einsum("jiv,iv->jv", said, weights))
    z, sums = np.asarray(rng.random((30, 3)), order=order), np.zeros((4, 3))
    add_own_sums(*entries, z, sums)
    assert sums == pytest.approx(np.einsum("jiv,jv->iv", said, z))


def test_a_pass_of_the_game_has_no_table_of_classes_by_classes():
    """20 voters and 1,000 classes: such a table would take 160 MB, votes and scores take 2."""
    rng = np.random.default_rng(0)
    kernel = VoteKernel(votes_of(rng.integers(0, 1000, (200, 20)), 1000))
    theta, z = rng.normal(size=20 + 20_000 + 1000), rng.random((200, 1000))
    kernel.weighted(theta[:]), kernel.agreement(z)  # compiled, if they were not
    tracemalloc.start()
    kernel.weighted(theta), kernel.agreement(z)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6


def test_votes_are_counted_by_voter_and_class():
    kernel = VoteKernel(Votes.of([[0, -1, 1], [0, -1, -1], [1, -1, -1]]))
    assert kernel.votes_cast.tolist() == [[2, 1], [0, 0], [0, 1]]


def test_arrays_that_do_not_fit_are_refused_before_a_kernel_reads_them():
    kernel = VoteKernel(Votes.of([[0, 1, -1], [1, 1, 0]]))
    with pytest.raises(ValueError, match=r"must have the shape \(3, 2\). Got \(2, 2\)"):
        kernel.scores(np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match=r"must have the shape \(2, 2\). Got \(1, 2\)"):
        kernel.sums(np.zeros((1, 2)))


def test_a_vector_is_of_voters_votes_and_classes():
    """Labels 0, 1, 1: the first voter is right twice, the second once, on the last row."""
    kernel, z = VoteKernel(Votes.of([[0, 1], [1, 0], [-1, 1]])), np.eye(2)[[0, 1, 1]]
    voters, votes, classes = split_weights(kernel.agreement(z), 2, 2)
    assert (voters.tolist(), votes.tolist()) == ([2, 1], [[1, 1], [0, 1]])
    assert classes.tolist() == [1, 2]
    assert kernel.rows_about.tolist() == [2, 3, 1, 1, 1, 2, 3, 3]
