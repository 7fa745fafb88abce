"""Labeled rows that test predictions of votes: held out, or predicted without their own label."""

import numpy as np
import pytest

from hedgeclipper import VoteAggregator
from tests.votes.test_aggregator import some


def test_without_held_out_labels_a_row_is_predicted_without_its_own():
    """Where one label is flipped, the prediction of its row stays, and is wrong or right."""
    votes, y, _ = some(300, 40)
    model = VoteAggregator(random_state=0).fit(votes, y)
    checked = model._tested
    assert checked.wrong.shape == checked.uncertainties.shape == (40,)
    assert checked.unlabeled_uncertainties.shape == (260,)
    np.testing.assert_allclose(
        checked.unlabeled_uncertainties, 1 - model.predict_proba(votes[40:]).max(axis=1)
    )
    flipped = y.copy()
    flipped[7] = 1 - flipped[7]
    other = VoteAggregator(random_state=0).fit(votes, flipped)._tested
    assert other.wrong[7] != checked.wrong[7]
    assert checked.baseline == pytest.approx(1 - np.bincount(y[:40]).max() / 40)


def test_the_estimate_of_labels_at_random_is_that_of_a_coin():
    """40 sparse voters that know nothing: 80 labels that are fitted must not flatter them."""
    rng = np.random.default_rng(5)
    errors = []
    for _ in range(10):
        y = np.where(np.arange(500) < 80, rng.integers(0, 2, 500), -1)
        votes = np.where(rng.random((500, 40)) < 0.08, rng.integers(0, 2, (500, 40)), -1)
        errors.append(VoteAggregator(random_state=0).fit(votes, y).certificate_.error)
    assert np.mean(errors) == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(10 * 80))
