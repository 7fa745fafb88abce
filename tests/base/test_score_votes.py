import numpy as np
import pytest
from scipy.special import expit

from hedgeclipper.base.score_votes import (
    LEAST_PROBABILITY,
    MOST_VALUES,
    Calibration,
    PanelGame,
    ProbabilityScale,
    VoteScale,
    make_votes,
)

RNG = np.random.default_rng(0)
SCORES = expit(RNG.normal(size=500))


def test_votes_rise_with_the_scores_and_stay_within_bounds():
    votes = VoteScale.of(SCORES)(np.linspace(0, 1, 1001))
    assert np.all(np.diff(votes) >= 0)
    assert votes.min() >= -1
    assert votes.max() <= 1


def test_a_vote_is_the_mean_of_rank_and_standardized_log_odds():
    scale = VoteScale.of(np.array([0.2, 0.2, 0.5, 0.8]))
    log_odds = np.log([0.25, 0.25, 1, 4])
    deviation = (np.log(4) - log_odds.mean()) / log_odds.std()
    rank = 2 * 3.5 / 4 - 1
    assert scale(np.array([0.8])) == pytest.approx((rank + deviation / 2) / 2)


def test_equal_scores_share_a_rank_and_ranks_add_up_to_nothing():
    scores = np.repeat([0.1, 0.4, 0.9], [5, 2, 3])
    scale = VoteScale.of(scores)
    np.testing.assert_allclose(scale.ranks, [-0.5, 0.2, 0.7])
    assert np.repeat(scale.ranks, [5, 2, 3]).sum() == pytest.approx(0)


def test_ranks_do_not_depend_on_the_scale_of_the_scores():
    np.testing.assert_allclose(VoteScale.of(SCORES).ranks, VoteScale.of(SCORES**3).ranks)


@pytest.mark.parametrize("score", [0.0, 0.3, 1.0])
def test_one_who_always_says_the_same_has_no_vote(score):
    scale = VoteScale.of(np.full(10, score))
    np.testing.assert_allclose(scale(np.full(3, score)), 0, atol=1e-12)
    assert np.isfinite(scale(np.array([0.0, 1.0]))).all()


def test_certainty_is_cut_off():
    scale = VoteScale.of(SCORES)
    assert scale(np.array([1.0])) == scale(np.array([1.0 - LEAST_PROBABILITY / 2]))


def test_many_values_are_thinned_and_ends_kept():
    scores = RNG.random(3 * MOST_VALUES)
    scale = VoteScale.of(scores)
    assert scale.values.size == scale.ranks.size == MOST_VALUES
    assert (scale.values[0], scale.values[-1]) == (scores.min(), scores.max())
    exact = 2 * (np.argsort(np.argsort(scores)) + 0.5) / scores.size - 1
    np.testing.assert_allclose(np.interp(scores, scale.values, scale.ranks), exact, atol=1e-3)


# Log-odds.


def test_log_odds_are_a_line():
    np.testing.assert_array_equal(Calibration(2.0, -1.0).log_odds(np.array([0.0, 3.0])), [-1, 5])


# Votes that are probabilities.


def test_equal_weights_of_probability_votes_are_the_mean_probability():
    probabilities = RNG.random((50, 3))
    scale = ProbabilityScale(0.3)
    vote = make_votes([scale] * 3, probabilities) @ np.full(3, 1 / 3)
    np.testing.assert_allclose(vote, scale(probabilities.mean(axis=1)))
    np.testing.assert_allclose(vote * 0.7 + 0.3, probabilities.mean(axis=1))


@pytest.mark.parametrize("center", [0.0, 0.2, 0.5, 0.9, 1.0])
def test_probability_votes_reach_one_at_the_farther_end_and_none_at_the_center(center):
    votes = ProbabilityScale(center)(np.array([0.0, center, 1.0]))
    assert votes[1] == 0
    assert np.abs(votes).max() == 1
    np.testing.assert_allclose(votes[2] - votes[0], 1 / max(center, 1 - center))


def test_rounding_does_not_take_probability_votes_beyond_their_bounds():
    above = np.nextafter(np.float32(1), np.float32(2))
    assert ProbabilityScale(0.25)(np.array([above]))[0] == 1.0


def test_log_odds_of_a_game_are_a_line_through_the_weighted_vote():
    scales, weights = [ProbabilityScale(0.5)] * 2, np.array([0.2, 0.6])
    game = PanelGame(scales, weights, Calibration(3.0, -1.0))
    probabilities = RNG.random((20, 2))
    theirs = 3.0 * ((2 * probabilities - 1) @ weights) - 1.0
    np.testing.assert_allclose(game.log_odds(probabilities), theirs)
