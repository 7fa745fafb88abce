import warnings

import numpy as np
import pytest
from scipy.optimize import linprog

from hedgeclipper import ShiftWarning, VoteAggregator
from hedgeclipper.votes.bound_methods import largest_mean
from hedgeclipper.votes.voter_bounds import bound_by_weights
from tests.votes.test_aggregator import L, Y, some
from tests.votes.vote_instances import constraints, instance


def test_without_held_out_labels_a_row_is_predicted_without_its_own():
    """Where one label is flipped, the prediction of its row stays, and is wrong or right."""
    votes, y, _ = some(300, 40)
    model = VoteAggregator(random_state=0).fit(votes, y)
    checked = model._checked
    assert checked.wrong.shape == checked.doubts.shape == (40,)
    assert checked.unlabeled_doubts.shape == (260,)
    np.testing.assert_allclose(
        checked.unlabeled_doubts, 1 - model.predict_proba(votes[40:]).max(axis=1)
    )
    flipped = y.copy()
    flipped[7] = 1 - flipped[7]
    other = VoteAggregator(random_state=0).fit(votes, flipped)._checked
    assert other.wrong[7] != checked.wrong[7]
    assert checked.baseline == pytest.approx(1 - np.bincount(y[:40]).max() / 40)


@pytest.mark.parametrize("loss", ["log", "square", "zero_one"])
def test_held_out_rows_are_predicted_by_the_final_model(loss):
    model = VoteAggregator(loss=loss, confidence_level=0.9, random_state=0).fit(L, Y)
    held = np.sort(np.random.RandomState(0).choice(60, 30, replace=False))
    probabilities = model.predict_proba(L[held])
    np.testing.assert_allclose(model._checked.doubts, 1 - probabilities.max(axis=1))
    np.testing.assert_array_equal(model._checked.wrong, model.predict(L[held]) != Y[held])


def test_an_abstention_counts_as_its_most_probable_class():
    options = {"confidence_level": 0.9, "random_state": 0}
    plain = VoteAggregator(**options).fit(L, Y)
    careful = VoteAggregator(abstain_cost=0.1, **options).fit(L, Y)
    assert (careful.predict(L) == -1).any()
    assert careful.certificate_ == plain.certificate_
    found = careful.auto_label(max_error=0.3)
    np.testing.assert_array_equal(found.labels, plain.auto_label(max_error=0.3).labels)


def test_labels_that_were_chosen_guarantee_nothing():
    """Rows that voters disagree on are labeled more often; single votes differ little."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=2000)
    votes = np.where(rng.random((2000, 7)) < 0.75, y[:, None], 1 - y[:, None])
    doubt = np.abs(votes.mean(axis=1) - 0.5)
    chosen = np.argsort(doubt + 0.05 * rng.random(2000))[:120]
    drawn = rng.permutation(2000)[:120]
    kinds = []
    for labeled in (drawn, chosen):
        gold = np.full(2000, -1)
        gold[labeled] = y[labeled]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = VoteAggregator(confidence_level=0.9, random_state=0).fit(votes, gold)
        kinds.append(model.certificate_.kind)
    assert kinds == ["guarantee", "estimate"]


# Worst cases, against linear programs.


def by_linear_program(gains, ballots, bounds):
    A, b, simplex = constraints(ballots, bounds)
    found = linprog(
        -gains.ravel() / ballots.n_rows, A_ub=A, b_ub=b, A_eq=simplex, b_eq=np.ones(len(gains))
    )
    return -found.fun


@pytest.mark.parametrize("seed", range(8))
def test_the_largest_mean_is_never_below_the_linear_program_and_close_to_it(seed):
    unlabeled, _, bounds = instance(seed, n_rows=30, n_labeled=20)
    gains = np.random.default_rng(seed).random((30, 3))
    rows = np.arange(30)
    for sign in (1, -1):
        ours = largest_mean(sign * gains, unlabeled, rows, unlabeled, bounds).bound
        theirs = by_linear_program(sign * gains, unlabeled, bounds)
        assert theirs - 1e-9 <= ours <= theirs + 0.01


def test_weights_sought_on_a_part_prove_a_bound_on_all_rows():
    unlabeled, _, bounds = instance(0, n_rows=60, n_labeled=30)
    gains = np.random.default_rng(0).random((60, 3))
    part = np.arange(0, 60, 2)
    found = largest_mean(gains, unlabeled.take(part), part, unlabeled, bounds)
    assert found.bound >= by_linear_program(gains, unlabeled, bounds) - 1e-9
    assert found.bound == bound_by_weights(gains, unlabeled, bounds, found.weights)


# Labels that are chosen by stratum, against random ones.


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
    assert np.mean(model._constraints.each.estimate[:5]) == pytest.approx(other, abs=0.015)
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
    assert model._strata.n_labeled.size == 1


def test_strata_have_labels_enough_and_uncovered_rows_are_apart():
    votes, truth = some_votes(3, n_rows=1000, coverage=0.3)
    model, _ = fit_to(votes, truth, np.arange(100))
    strata = model._strata
    assert strata.n_labeled.min() >= 5
    np.testing.assert_array_equal(strata.unlabeled == 0, model.uncovered_)
    few, _ = fit_to(votes, truth, np.arange(9))
    assert few._strata.n_labeled.size == 1
