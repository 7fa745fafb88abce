import numpy as np
import pytest

from hedgeclipper.forest.leaf_predictor import LeafPredictor
from hedgeclipper.game.losses import resolve_loss


def predictor(offsets, priors, loss="square"):
    none = np.zeros((0, len(offsets)))
    return LeafPredictor(None, none, np.array(offsets), np.array(priors), resolve_loss(loss))


@pytest.mark.parametrize("loss", ["square", "log"])
@pytest.mark.parametrize("prior", [0.5, 0.1, 0.01])
def test_sign_probability_and_class_agree_for_one_game(loss, prior):
    offset = -resolve_loss(loss).awake_at(1 - 2 * prior)
    one = predictor([offset], [prior], loss)
    awake = np.linspace(-3, 3, 601)[:, None] + offset
    share = one.probabilities(awake)[:, 1]
    np.testing.assert_array_equal(one.classes(awake), (awake[:, 0] > 0).astype(int))
    clear = np.abs(awake[:, 0]) > 1e-9
    np.testing.assert_array_equal((share > 0.5)[clear], (awake[:, 0] > 0)[clear])
    assert np.all(np.diff(share) >= 0)
    np.testing.assert_array_equal(one.decision(awake), awake[:, 0])


def test_bayes_rule_brings_the_prior_back():
    one = predictor([0.0], [0.2])
    assert one.probabilities(np.zeros((1, 1)))[0, 1] == pytest.approx(0.2)


def test_several_games_are_normalized_and_the_largest_wins():
    three = predictor([0.0, 0.0, 0.0], [1 / 3] * 3)
    awake = np.array([[0.5, -0.2, 0.1], [-0.9, -0.8, 0.2]])
    shares = three.probabilities(awake)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert three.classes(awake).tolist() == shares.argmax(axis=1).tolist() == [0, 2]
    assert three.decision(awake).argmax(axis=1).tolist() == [0, 2]
