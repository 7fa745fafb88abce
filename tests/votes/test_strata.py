import warnings

import numpy as np
import pytest

from hedgeclipper import ShiftWarning, VoteAggregator
from hedgeclipper.bounds.intervals import wilson_bounds
from hedgeclipper.votes.strata import Strata, weighted_estimate


def some_votes(seed, n_rows=400, n_voters=5, accuracy=0.8, coverage=0.5):
    """Votes of voters that are right and awake that often, -1 abstains, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n_rows)
    right = rng.random((n_rows, n_voters)) < accuracy
    awake = rng.random((n_rows, n_voters)) < coverage
    return np.where(awake, np.where(right, truth[:, None], 1 - truth[:, None]), -1), truth


def fit_to(votes, truth, rows, **settings):
    """A model with labels of these rows, and its error on the others."""
    is_labeled = np.isin(np.arange(truth.size), rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShiftWarning)
        model = VoteAggregator(random_state=0, **settings)
        model.fit(votes, np.where(is_labeled, truth, -1))
    return model, np.mean((model.transduction_ != truth)[~is_labeled])


def bought(model, k, n_first=50):
    """The first rows, and those that are suggested."""
    return np.r_[:n_first, model.suggest_labels(k)]


def is_significant(gains):
    return np.mean(gains) > 2 * np.std(gains) / np.sqrt(len(gains))


# Labels that are chosen, against random ones.


def test_suggested_labels_beat_random_ones_in_bound_and_error():
    bounds, errors = [], []
    for seed in range(10):
        votes, truth = some_votes(seed)
        first, _ = fit_to(votes, truth, np.arange(50))
        ours, error = fit_to(votes, truth, bought(first, 100))
        theirs, other = fit_to(votes, truth, np.arange(150))
        assert ours.certificate_.kind == "estimate"
        assert ours.certificate_.error_lower <= error <= ours.certificate_.error_upper
        bounds.append(theirs.worst_case_error_ - ours.worst_case_error_)
        errors.append(other - error)
    assert is_significant(bounds)
    assert is_significant(errors)


def test_chosen_labels_say_of_voters_what_is_true_of_the_other_rows():
    """By themselves labels that are mostly of unsure rows make voters look bad, and bounds void."""
    votes, truth = some_votes(0, n_rows=8000)
    first, _ = fit_to(votes, truth, np.arange(1000))
    rows = bought(first, 1000, 1000)
    model, _ = fit_to(votes, truth, rows)
    rest = np.setdiff1d(np.arange(8000), rows)
    chosen, other = (
        np.mean((votes == truth[:, None])[part][votes[part] >= 0]) for part in (rows, rest)
    )
    assert chosen < other - 0.05
    assert np.mean(model._constraints.each.voters.estimate) == pytest.approx(other, abs=0.015)
    assert model.class_balance_ == pytest.approx(0.5, abs=0.03)


def test_suggestions_are_different_rows_with_the_same_first_ones():
    votes, truth = some_votes(0)
    model, _ = fit_to(votes, truth, np.arange(50))
    rows = model.suggest_labels(350)
    np.testing.assert_array_equal(np.sort(rows), np.arange(50, 400))
    np.testing.assert_array_equal(model.suggest_labels(20), rows[:20])


def test_suggestions_prefer_rows_that_voters_disagree_on():
    votes, truth = some_votes(1, n_rows=1000)
    model, _ = fit_to(votes, truth, np.arange(100))
    sure = model.predict_proba(votes).max(axis=1)
    assert sure[model.suggest_labels(100)].mean() < sure[100:].mean() - 0.02


def test_a_guarantee_is_kept_by_a_simple_random_sample():
    votes, truth = some_votes(2, n_rows=4000)
    model, _ = fit_to(votes, truth, np.arange(50), confidence_level=0.95)
    sure = model.predict_proba(votes[50:]).max(axis=1)
    rows = model.suggest_labels(2000)
    assert sure[rows - 50].mean() == pytest.approx(sure.mean(), abs=0.01)
    assert model._strata.n_strata == 1


# Labels by stratum.


def test_one_stratum_weighs_nothing():
    right, about = np.array([[3.0, 0.0, 5.0, 0.0]]), np.array([[4.0, 2.0, 5.0, 0.0]])
    found = weighted_estimate(right, about, np.ones(1), 0.0)
    np.testing.assert_allclose(found.estimate, [0.75, 0.0, 1.0, np.nan])
    np.testing.assert_allclose(found.n_labeled, about[0])
    np.testing.assert_array_equal(found.variance_parts, [[1.0, 1.0, 1.0, 0.0]])


def test_labels_count_by_the_rows_they_stand_for():
    strata = Strata(np.repeat([0, 1], [80, 20]), np.repeat([0, 1], [200, 800]))
    np.testing.assert_allclose(strata.weights, [0.25, 4.0], rtol=0.02)
    right, about = np.array([[40.0], [20.0]]), np.array([[80.0], [20.0]])
    found = weighted_estimate(right, about, strata.weights, strata.selection)
    np.testing.assert_allclose(found.estimate, 0.2 * 0.5 + 0.8 * 1.0, rtol=0.02)
    # mostly certain rows: as much as a random sample of more than the 20 labels there, not of all
    assert 20 < found.n_labeled[0] < 100


def test_labels_spread_like_a_simple_random_sample_count_as_they_are():
    near = Strata(np.repeat([0, 1], [22, 78]), np.repeat([0, 1], [200, 800]))
    assert near.selection == 0.0
    np.testing.assert_array_equal(near.weights, [1.0, 1.0])
    gone = Strata(np.repeat([0, 1], [22, 78]), np.repeat([0, 1], [0, 800]))
    assert gone.selection > 0.99


def test_labels_that_stand_for_few_rows_say_little():
    right, about = np.array([[2.0, 2.0], [0.0, 2.0]]), np.array([[2.0, 2.0], [0.0, 2.0]])
    alone, both = weighted_estimate(right, about, np.array([0.2, 1.8]), 1.0).n_labeled
    assert alone == pytest.approx(0.4)
    assert both > 1.0


@pytest.mark.parametrize("n_labeled", [[90, 30, 30], [40, 40, 70]])
def test_bounds_by_stratum_hold_as_often_as_they_say(n_labeled):
    shares, weights = np.array([0.7, 0.9, 0.97]), np.array([0.3, 0.3, 0.4])
    rng = np.random.default_rng(0)
    about = np.repeat(np.array(n_labeled, dtype=float)[:, None], 2000, axis=1)
    right = rng.binomial(about.astype(int), shares[:, None])
    found = weighted_estimate(right * 1.0, about, weights * about[:, 0].sum() / about[:, 0], 1.0)
    lower, upper = wilson_bounds(2 * found.estimate - 1, found.n_labeled, 0.025)
    truth = 2 * weights @ shares - 1
    assert np.mean((lower <= truth) & (truth <= upper)) > 0.94


def test_strata_have_labels_enough_and_uncovered_rows_are_apart():
    votes, truth = some_votes(3, n_rows=1000, coverage=0.3)
    model, _ = fit_to(votes, truth, np.arange(100))
    strata = model._strata
    assert strata.n_labeled.min() >= 5
    np.testing.assert_array_equal(strata.unlabeled == 0, model.uncovered_)
    few, _ = fit_to(votes, truth, np.arange(9))
    assert few._strata.n_strata == 1
