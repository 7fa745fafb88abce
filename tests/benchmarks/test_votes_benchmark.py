"""Draws of labels from the sets of votes, and the peers in their own environment."""

import numpy as np
import pytest
from scipy import sparse

from benchmarks.votes.data import (
    CROWDS,
    SETS,
    SPLIT_SETS,
    has_labels,
    make_draw,
    vote_set,
    why_absent,
)
from benchmarks.votes.methods import ENVIRONMENT, METHODS
from benchmarks.votes.peers.peer import Setting

REASON = next(filter(None, map(why_absent, SETS)), "")
needs_data = pytest.mark.skipif(bool(REASON), reason=REASON)
needs_peers = pytest.mark.skipif(bool(ENVIRONMENT.why_absent()), reason=ENVIRONMENT.why_absent())

VOTES = np.array([[0, 0, 1], [1, 1, -1], [-1, 0, 1], [-1, -1, -1]])
SETTING = Setting(np.array([0, 1, 1, -1]), 2, 0)


@needs_data
@pytest.mark.parametrize("name", SETS)
def test_a_draw_has_a_label_of_each_class_and_matching_shapes(name):
    draw = make_draw(name, 20, 0)
    n_voters = vote_set(name).L.shape[1]
    assert draw.L_labeled.shape == (20, n_voters)
    assert draw.L_unlabeled.shape == (draw.y_scored.size, n_voters)
    assert set(draw.y_labeled) == set(range(draw.n_classes))


@needs_data
@pytest.mark.parametrize("name", CROWDS)
def test_labeled_rows_of_a_crowd_are_not_scored_and_the_others_with_gold_are(name):
    draw = make_draw(name, 100, 0)
    assert (draw.y_scored[draw.labeled_rows] == -1).all()
    assert draw.n_scored == (vote_set(name).y >= 0).sum() - 100
    votes, gold = draw.every_row_once()
    assert votes is draw.L_unlabeled
    np.testing.assert_array_equal(votes[gold >= 0], draw.L_labeled[np.argsort(draw.labeled_rows)])
    assert not ((gold >= 0) & (draw.y_scored >= 0)).any()


@needs_data
@pytest.mark.parametrize("name", SPLIT_SETS)
def test_all_training_rows_of_a_split_set_are_scored_and_come_last(name):
    draw = make_draw(name, 20, 0)
    assert draw.n_scored == draw.L_unlabeled.shape[0]
    votes, gold = draw.every_row_once()
    np.testing.assert_array_equal(votes[-draw.n_scored :], draw.L_unlabeled)
    np.testing.assert_array_equal(gold[:20], draw.y_labeled)
    assert (gold[20:] == -1).all()


@needs_data
def test_a_draw_larger_than_the_set_is_refused():
    assert has_labels("bf_youtube", 100)
    assert not has_labels("bf_youtube", 500)
    with pytest.raises(ValueError, match="120 labels, too few to draw 500"):
        make_draw("bf_youtube", 500, 0)


def test_majority_gives_vote_proportions_and_the_class_prior_without_votes():
    result = METHODS["majority"].run(VOTES, SETTING)
    expected = [[2 / 3, 1 / 3], [0, 1], [1 / 2, 1 / 2], [2 / 5, 3 / 5]]
    np.testing.assert_allclose(result.probabilities, expected, atol=1e-12)
    np.testing.assert_array_equal(result.labels, [0, 1, 0, 1])


def test_a_method_finds_the_same_in_a_process_of_its_own():
    method = METHODS["hedgeclipper"]
    here = method.run(VOTES, SETTING)
    apart = method.run_apart(sparse.csr_array(VOTES + 1), SETTING)
    np.testing.assert_allclose(here.probabilities, apart.probabilities)
    np.testing.assert_array_equal(here.labels, apart.labels)
    assert apart.seconds > 0
    assert apart.reason == ""


def test_a_method_that_takes_too_long_has_no_result():
    result = METHODS["hedgeclipper"].run_apart(VOTES, SETTING, timeout=0.001)
    assert np.isnan(result.probabilities).all()
    assert "longer than" in result.reason


@needs_peers
def test_peers_are_run_in_their_environment_and_say_what_they_cannot_take():
    result = METHODS["label_model"].run_apart(VOTES[:, :2], SETTING)
    assert np.isnan(result.seconds)
    assert "3 voters" in result.reason
