import numpy as np
from scipy import sparse

from hedgeclipper.game.extended import ExtendedSpecialists, with_constant_voter
from hedgeclipper.game.vote_matrix import as_vote_matrix

VOTES = np.array([[1.0, -0.5], [0.0, 1.0], [-1.0, 0.25]])
EXTENDED = np.column_stack([VOTES, np.ones(3)])


def test_constant_voter_acts_like_a_column_of_ones():
    for votes in (VOTES, sparse.csr_array(VOTES)):
        extended = with_constant_voter(as_vote_matrix(votes))
        block = next(extended.blocks())
        weights, signs = np.array([0.3, -2.0, 0.7]), np.array([1.0, -1.0, 0.5])
        np.testing.assert_allclose(block @ weights, EXTENDED @ weights)
        np.testing.assert_allclose(signs @ block, signs @ EXTENDED)
        np.testing.assert_allclose(block[1:3] @ weights, EXTENDED[1:3] @ weights)
        np.testing.assert_allclose(block.tocsr().toarray(), EXTENDED)
        assert block.shape == (3, 3)


def test_extended_specialists_count_the_extra_voter():
    extended = with_constant_voter(as_vote_matrix(VOTES))
    assert (extended.n_samples, extended.n_voters) == (3, 3)
    np.testing.assert_allclose(extended.coverage, [1, 1, 1])
    thin = extended.thinned(2)
    assert thin is not None
    assert thin.n_samples == 2


def test_batches_have_no_thinned_extension():
    assert with_constant_voter(as_vote_matrix([VOTES])).thinned(2) is None


def test_column_may_depend_on_the_block():
    doubled = ExtendedSpecialists(as_vote_matrix(VOTES), lambda block: block @ np.array([1.0, 1.0]))
    block = next(doubled.blocks())
    np.testing.assert_allclose(block.column, VOTES.sum(axis=1))
