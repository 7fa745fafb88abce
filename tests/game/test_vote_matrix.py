import numpy as np
import pytest
from scipy import sparse

from hedgeclipper.game.solve import VoteMatrix, set_up_game

NAN = np.nan
VOTES = np.array([[1.0, NAN, 0.5], [-1.0, NAN, NAN], [1.0, -0.5, 0.0], [1.0, 1.0, NAN]])


def stacked(matrix):
    blocks = [block.toarray() if sparse.issparse(block) else block for block in matrix.blocks()]
    return np.vstack(blocks)


def as_sparse(votes):
    rows, columns = np.nonzero(~np.isnan(votes))
    return sparse.csr_array((votes[rows, columns], (rows, columns)), shape=votes.shape)


@pytest.mark.parametrize("votes", [VOTES, as_sparse(VOTES)])
def test_coverage_counts_awake_rows_and_sleep_counts_as_zero(votes):
    matrix = VoteMatrix.of(votes)
    assert matrix.n_samples == 4
    np.testing.assert_allclose(matrix.coverage, [1.0, 0.5, 0.5])
    np.testing.assert_allclose(stacked(matrix), np.nan_to_num(VOTES))


@pytest.mark.parametrize("sparse_votes", [False, True])
@pytest.mark.parametrize("sparse_participation", [False, True])
def test_participation_multiplies_votes_and_coverage(sparse_votes, sparse_participation):
    participation = np.array([[1, 0.5, 0.5], [0.5, 1, 1], [0, 0.5, 1.0], [1, 1, 1]])
    votes = as_sparse(VOTES) if sparse_votes else VOTES
    given_as = sparse.csr_array(participation) if sparse_participation else participation
    matrix = VoteMatrix.of(votes, given_as)
    awake = participation * ~np.isnan(VOTES)
    np.testing.assert_allclose(matrix.coverage, awake.mean(axis=0))
    np.testing.assert_allclose(stacked(matrix), awake * np.nan_to_num(VOTES))


def test_a_large_array_is_cut():
    votes = np.ones((200_000, 20), dtype=np.int8)
    assert max(block.shape[0] for block in VoteMatrix.of(votes).blocks()) < 50_000


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.bool_])
def test_coverage_is_added_up_in_double_precision(dtype):
    participation = np.ones((100_000, 1), dtype=dtype)
    assert VoteMatrix.of(np.ones((100_000, 1)), participation).coverage[0] == 1.0


def test_float64_rows_are_not_copied():
    votes = np.ones((10, 2))
    assert np.shares_memory(next(VoteMatrix.of(votes).blocks()), votes)


@pytest.mark.parametrize("value", [1.5, -1.0001, np.inf, -np.inf])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_vote_out_of_range_is_found(value, make):
    votes = np.ones((5, 3))
    votes[3, 2] = value
    with pytest.raises(ValueError, match=r"votes must lie in \[-1, 1\].*row 3, voter 2"):
        VoteMatrix.of(make(votes))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_votes_that_rounding_puts_outside_are_accepted(make):
    votes = np.array([[1.0 + 1e-12, -1.0], [-1.0 - 1e-12, np.float32(1.0) + np.float32(1.2e-7)]])
    assert VoteMatrix.of(make(votes)).n_samples == 2


def test_a_vote_just_outside_is_shown_with_enough_digits():
    with pytest.raises(ValueError, match=r"Got 1\.00001 in row 0, voter 1"):
        VoteMatrix.of(np.array([[1.0, 1.00001]]))


@pytest.mark.parametrize("value", [-0.1, 1.1])
def test_participation_out_of_range(value):
    with pytest.raises(ValueError, match=r"participation must lie in \[0, 1\]"):
        VoteMatrix.of(np.ones((2, 1)), np.array([[1.0], [value]]))


def test_nan_where_it_means_nothing():
    with pytest.raises(ValueError, match="Sparse votes contain NaN"):
        VoteMatrix.of(sparse.csr_array(np.array([[np.nan, 1.0]])))
    with pytest.raises(ValueError, match="participation contains NaN"):
        VoteMatrix.of(np.ones((1, 1)), np.array([[np.nan]]))


@pytest.mark.parametrize(
    "votes", [np.array([["a", "b"]]), np.array([[True, False]]), np.array([[1j]])]
)
def test_votes_must_be_numbers(votes):
    with pytest.raises(TypeError, match="must be numbers"):
        VoteMatrix.of(votes)


def test_voters_that_never_vote_are_named():
    with pytest.raises(ValueError, match="2 of 3 voters never vote on these rows: 0, 2"):
        set_up_game(np.array([[NAN, 1.0, NAN]]), [0.1, 0.1, 0.1])


@pytest.mark.parametrize(
    ("votes", "message"),
    [(np.ones((0, 3)), "no rows"), (np.ones((3, 0)), "no voters"), ([], "two-dimensional")],
)
def test_empty_votes(votes, message):
    with pytest.raises(ValueError, match=message):
        set_up_game(votes, [])


def test_shapes_that_do_not_match():
    with pytest.raises(ValueError, match="participation must have the shape of votes"):
        VoteMatrix.of(np.ones((2, 2)), np.ones((2, 3)))
