"""The initial model against its own definition."""

import numpy as np
import pytest
from scipy.special import log_softmax

from hedgeclipper.votes.evidence import gather_evidence
from hedgeclipper.votes.gold import GoldRows, split_votes
from hedgeclipper.votes.initial_model import (
    BIAS_VARIANCE,
    MAX_LOG_ODDS,
    PRIOR_VARIANCES,
    PRIOR_WEIGHTS,
    fit_initial_model,
    log_odds,
)
from hedgeclipper.votes.matrix import Votes
from hedgeclipper.votes.voter_bounds import bound_voters
from tests.votes.vote_instances import some_votes

N_LABELED = 60


def fitted(kind, n_classes=3):
    """The model, the evidence it is fitted to, and the table of votes."""
    rng = np.random.default_rng(0)
    truth, table = some_votes(rng, 200, 4, n_classes)
    table[[5, 150]] = -1
    y = np.where(np.arange(200) < N_LABELED, truth, -1)
    gold = GoldRows.of(split_votes(Votes.of(table, classes=np.arange(n_classes)), y))
    options = {"class_balance": "labeled", "is_random_sample": True, "random_state": 0}
    found = gather_evidence(gold, **options)
    settings = {"bound": "wilson", "delta": 0.05, "constraints": "both"}
    bounds = bound_voters(found.labeled, found.codes, found.unlabeled, **settings)
    return fit_initial_model(kind, found, bounds)[0], found, table


def test_log_odds_have_mean_zero_and_are_cut_off():
    assert log_odds(np.array([[1.0, 3.0, 5.0]])).tolist() == [[-2.0, 0.0, 2.0]]
    assert log_odds(np.array([[0.0, 100.0]])).tolist() == [[-MAX_LOG_ODDS, MAX_LOG_ODDS]]


def test_from_nothing_all_classes_are_as_probable():
    model, found, _ = fitted(None)
    assert np.exp(model.log_probabilities(found.unlabeled)) == pytest.approx(
        np.full((140, 3), 1 / 3)
    )
    assert model.class_scores().tolist() == [0, 0, 0]


@pytest.mark.parametrize("kind", ["majority", "mixture"])
def test_rows_without_votes_get_the_class_frequencies(kind):
    model, found, _ = fitted(kind)
    assert np.exp(model.log_probabilities(found.unlabeled)[90]) == pytest.approx(found.balance)


def test_the_majority_vote_is_scaled_and_shifted():
    """All votes are right with probability 0.7, so that each counts log(0.7 / 0.15)."""
    model, found, table = fitted("majority")
    votes = (table[N_LABELED:, :, None] == np.arange(3)).sum(axis=1)
    scores = np.log(found.balance) + votes * np.log(0.7 / 0.15)
    odds = np.clip(scores - scores.mean(axis=1, keepdims=True), -MAX_LOG_ODDS, MAX_LOG_ODDS)
    theirs = log_softmax(model.weights[0] * odds + model.bias, axis=1)
    voted = table[N_LABELED:].max(axis=1) >= 0
    assert model.log_probabilities(found.unlabeled)[voted] == pytest.approx(theirs[voted])


def test_weights_of_the_majority_vote_have_the_largest_posterior():
    """No step from the weight and the bias raises likelihood times prior."""
    model, found, table = fitted("majority")
    voted = table[:N_LABELED].max(axis=1) >= 0
    codes = found.codes[voted]
    odds = log_odds(model.components[0].scores(found.labeled)[voted])

    def posterior(values):
        log_probabilities = log_softmax(values[0] * odds + values[1:], axis=1)
        likelihood = log_probabilities[np.arange(codes.size), codes].sum()
        prior = (values[0] - 1) ** 2 / PRIOR_VARIANCES[0] + values[1:] @ values[1:] / BIAS_VARIANCE
        return likelihood - prior / 2

    best = np.array([model.weights[0], *model.bias])
    slopes = [(posterior(best + step) - posterior(best - step)) / 2e-5 for step in np.eye(4) * 1e-5]
    assert slopes == pytest.approx(np.zeros(4), abs=0.02)


def test_a_mixture_has_three_components_with_weights_that_are_not_negative():
    model, found, _ = fitted("mixture")
    assert len(model.components) == len(model.weights) == len(PRIOR_WEIGHTS)
    assert min(model.weights) >= 0
    parts = [log_odds(component.scores(found.unlabeled)) for component in model.components]
    mixed = model.bias + np.tensordot(model.weights, parts, axes=1)
    voted = found.unlabeled.n_votes > 0
    theirs = log_softmax(mixed, axis=1)[voted]
    assert model.log_probabilities(found.unlabeled)[voted] == pytest.approx(theirs)


def test_class_scores_are_those_of_a_row_whose_votes_add_nothing():
    model, found, _ = fitted("mixture")
    parts = [log_odds(component.classes[None, :])[0] for component in model.components]
    assert model.class_scores() == pytest.approx(model.bias + np.array(model.weights) @ parts)
    table = sum(w * c.votes for w, c in zip(model.weights, model.components, strict=True))
    assert model.vote_weights(found.unlabeled.shape) == pytest.approx(table)
