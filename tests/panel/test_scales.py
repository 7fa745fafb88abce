import numpy as np
import pytest
from scipy.special import expit

from hedgeclipper.panel.scales import LEAST_SHARE, MOST_VALUES, VoteScale

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
    assert scale(np.array([1.0])) == scale(np.array([1.0 - LEAST_SHARE / 2]))


def test_many_values_are_thinned_and_ends_kept():
    scores = RNG.random(3 * MOST_VALUES)
    scale = VoteScale.of(scores)
    assert scale.values.size == scale.ranks.size == MOST_VALUES
    assert (scale.values[0], scale.values[-1]) == (scores.min(), scores.max())
    exact = 2 * (np.argsort(np.argsort(scores)) + 0.5) / scores.size - 1
    np.testing.assert_allclose(np.interp(scores, scale.values, scale.ranks), exact, atol=1e-3)
