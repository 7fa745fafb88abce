"""Every kernel against its NumPy twin."""

import numpy as np
import pytest

from hedgeclipper.votes.matrix import Votes
from hedgeclipper.votes.vote_kernel import (
    VoteKernel,
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
