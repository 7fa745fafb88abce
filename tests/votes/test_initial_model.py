"""The initial model against its own definition."""

import numpy as np
import pytest
from scipy.special import log_softmax

from hedgeclipper.votes.component_models import ComponentModel
from hedgeclipper.votes.initial_model import (
    MEAN_SIZE,
    PRIOR_VARIANCE,
    _fit_components,
    _fit_weights,
    _prior_weights,
    fit_initial_model,
)
from hedgeclipper.votes.labeled_votes import LabeledVotes, gather_evidence
from tests.votes.vote_instances import kernel_of, some_votes, votes_of

N_LABELED = 60


FOLD = np.random.default_rng(0).permutation(N_LABELED) % 10


def evidence_of(class_balance="labeled", flipped=()):
    """Votes of four voters on 200 rows, two of them without a vote."""
    rng = np.random.default_rng(0)
    truth, table = some_votes(rng, 200, 4, 3)
    table[[5, 150]] = -1
    y = np.where(np.arange(200) < N_LABELED, truth, -1)
    y[list(flipped)] = (y[list(flipped)] + 1) % 3
    rows = LabeledVotes.of(votes_of(table, 3), y, None, -1)
    return gather_evidence(rows, class_balance, random_state=0)


def test_rows_without_votes_get_the_class_frequencies():
    """Those of labeled rows are without the labels of their fold."""
    found = evidence_of()
    model, on_labeled = fit_initial_model(found)
    assert np.exp(model.log_probabilities(found.unlabeled)[90]) == pytest.approx(found.balance)
    others = np.bincount(found.codes[FOLD[5] != FOLD], minlength=3) + 1
    assert np.exp(on_labeled[5]) == pytest.approx(others / others.sum())


def test_labels_of_a_fold_change_the_prediction_of_other_folds_alone():
    """But for the ridge, which is a step from the regression with all labels."""
    own = np.flatnonzero(FOLD[0] == FOLD)
    _, before = fit_initial_model(evidence_of("uniform"))
    _, after = fit_initial_model(evidence_of("uniform", flipped=own))
    changes = np.abs(np.exp(after) - np.exp(before)).max(axis=1)
    assert changes[own].max() < 0.1 < changes[FOLD[0] != FOLD].max()


def test_log_odds_of_a_component_are_centered_and_their_mean_size_is_limited():
    rng = np.random.default_rng(1)
    _, table = some_votes(rng, 50, 4, 3)
    kernel = kernel_of(table, 3)
    large = ComponentModel(rng.normal(size=3), 9 * rng.normal(size=(4, 3, 3)), rng.random((2, 3)))
    ours = large.scaled(kernel, MEAN_SIZE)
    odds = ours.classes + kernel.scores(ours.votes)
    assert odds.mean(axis=1) == pytest.approx(np.zeros(50), abs=1e-12)
    assert np.sqrt(np.mean(odds**2)) == pytest.approx(MEAN_SIZE)
    theirs = large.classes + kernel.scores(large.votes)
    ratio = odds[0] / (theirs[0] - theirs[0].mean())
    assert ratio == pytest.approx(np.full(3, ratio[0]))
    small = ComponentModel(0.01 * large.classes, 0.001 * large.votes, large.without_own)
    same = 0.001 * (large.votes - large.votes.mean(axis=2, keepdims=True))
    assert small.scaled(kernel, MEAN_SIZE).votes == pytest.approx(same)


@pytest.mark.parametrize("n_labeled", [4, 40])
def test_mixture_weights_have_the_largest_posterior(n_labeled):
    """No step within the limits raises likelihood times prior, as finite differences tell."""
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, n_labeled)
    parts = rng.normal(size=(4, n_labeled, 3))
    parts[0] += 2 * np.eye(3)[codes]
    parts[1] -= np.eye(3)[codes]
    start = np.array([0.5, 0.0, 0.25, 0.25])
    weights, classes = _fit_weights(parts, codes, start, is_balance_known=False)

    def posterior(values):
        mixed = np.tensordot(values[:4], parts, axes=1) + values[4:]
        likelihood = log_softmax(mixed, axis=1)[np.arange(codes.size), codes].sum()
        squares = np.sum((values[:4] - start) ** 2) + np.sum(values[4:] ** 2)
        return likelihood - squares / (2 * PRIOR_VARIANCE)

    found, steps = np.append(weights, classes), np.eye(7) * 1e-5
    slopes = [(posterior(found + step) - posterior(found - step)) / 2e-5 for step in steps]
    slopes, at_limit = np.array(slopes), found == 0
    assert slopes[~at_limit] == pytest.approx(np.zeros((~at_limit).sum()), abs=1e-3)
    assert np.all(slopes[at_limit] <= 1e-3)
    assert weights.min() >= 0
    assert weights[0] > start[0]
    assert not _fit_weights(parts, codes, start, is_balance_known=True)[1].any()


def test_a_mixture_is_the_weighted_sum_of_its_components():
    found = evidence_of("uniform")
    model, _ = fit_initial_model(found)
    parts = [part.scaled(found.unlabeled, MEAN_SIZE) for part in _fit_components(found, FOLD)]
    votes = np.array([part.votes.ravel() for part in parts])
    weights, left, *_ = np.linalg.lstsq(votes.T, model.votes.ravel(), rcond=None)
    assert left == pytest.approx(0, abs=1e-12)
    assert model.classes == pytest.approx(weights @ [part.classes for part in parts])
    theirs = log_softmax(model.classes + found.unlabeled.scores(model.votes), axis=1)
    voted = found.unlabeled.n_votes > 0
    assert model.log_probabilities(found.unlabeled)[voted] == pytest.approx(theirs[voted])


def test_the_prior_trusts_labels_as_far_as_voters_have_labels():
    """With ten labels of each voter half of it, divided among the models of labels."""
    assert _prior_weights(0.0, MEAN_SIZE).tolist() == [1, 0, 0, 0]
    assert _prior_weights(10.0, MEAN_SIZE).tolist() == [0.5, 0, 0.25, 0.25]


def test_the_prior_trusts_the_majority_vote_where_dawid_skene_says_little():
    assert _prior_weights(10.0, 0.25 * MEAN_SIZE).tolist() == [0.5, 0.375, 0.25, 0.25]
    assert _prior_weights(10.0, 9 * MEAN_SIZE).tolist() == [0.5, 0, 0.25, 0.25]


def test_of_voters_for_one_class_each_dawid_skene_says_little():
    """Such a voter casts the same vote in all classes, so that its table tells them not apart."""
    rng = np.random.default_rng(4)
    truth, kinds = rng.integers(0, 2, 4_000), np.array([0, 0, 0, 1, 1, 1])
    is_awake = rng.random((4_000, 6)) < np.where(kinds == truth[:, None], 0.5, 0.1)
    y = np.where(np.arange(4_000) < 20, truth, -1)
    votes = votes_of(np.where(is_awake, kinds, -1), 2)
    found = gather_evidence(LabeledVotes.of(votes, y, None, -1), "labeled", random_state=0)
    dawid_skene, majority, *_ = _fit_components(found, np.arange(20) % 10)
    assert dawid_skene.mean_size(found.unlabeled) < 0.3 * majority.mean_size(found.unlabeled)
