"""The model of Dawid and Skene, and auxiliary voters, against likelihood, recount and counts."""

import numpy as np
import pytest
from scipy.special import logsumexp

from hedgeclipper.votes import dawid_skene
from hedgeclipper.votes.dawid_skene import AuxiliaryVoters, fit_dawid_skene, prior_votes
from tests.votes.vote_instances import ballots_of, some_votes


def penalized_likelihood(model, unlabeled, labeled, codes):
    weights, n_classes = model.weights, model.log_balance.size
    unknown = logsumexp(model.scores(unlabeled), axis=1).sum()
    known = model.scores(labeled)[np.arange(codes.size), codes].sum()
    return unknown + known + np.sum(prior_votes(n_classes) * weights)


def test_rounds_do_not_lower_the_penalized_likelihood(monkeypatch):
    rng = np.random.default_rng(0)
    truth, table = some_votes(rng, 80, 4, 3)
    both = ballots_of(table, 3)
    unlabeled, labeled = both.take(np.arange(20, 80)), both.take(np.arange(20))
    monkeypatch.setattr(dawid_skene, "TOL", 0.0)
    found = []
    for rounds in range(1, 12):
        monkeypatch.setattr(dawid_skene, "MAX_ITER", rounds)
        model = fit_dawid_skene(unlabeled, labeled, truth[:20], np.full(3, 1 / 3))
        found.append(penalized_likelihood(model, unlabeled, labeled, truth[:20]))
    assert np.all(np.diff(found) >= -1e-9)
    assert found[-1] > found[0] + 0.1


def test_scores_without_the_own_label_are_those_of_a_recount_without_it():
    rng = np.random.default_rng(1)
    truth, table = some_votes(rng, 40, 3, 3)
    both = ballots_of(table, 3)
    unlabeled, labeled, codes = both.take(np.arange(10, 40)), both.take(np.arange(10)), truth[:10]
    model = fit_dawid_skene(unlabeled, labeled, codes, np.array([0.2, 0.3, 0.5]))
    ours = model.scores_without_own(labeled, codes)
    for row in range(10):
        own = labeled.take(np.array([row]))
        counts = model.counts - own.sums(np.eye(3)[codes[[row]]])
        theirs = dawid_skene.DawidSkene(counts, model.log_balance).scores(own)
        assert ours[[row]] == pytest.approx(theirs)


def test_agreement_tells_good_voters_from_bad_ones_without_a_label():
    rng = np.random.default_rng(2)
    truth, good = some_votes(rng, 500, 3, 2, accuracy=0.9)
    _, bad = some_votes(rng, 500, 2, 2, accuracy=0.5, truth=truth)
    ballots = ballots_of(np.hstack([good, bad]), 2)
    nobody = ballots.take(np.arange(0))
    model = fit_dawid_skene(ballots, nobody, np.empty(0, dtype=int), np.full(2, 0.5))
    accuracy = np.exp(np.diagonal(model.weights, axis1=1, axis2=2)).mean(axis=1)
    assert accuracy == pytest.approx([0.9] * 3 + [0.5] * 2, abs=0.08)


def test_auxiliary_voters_vote_where_one_class_is_ahead_and_nowhere_else():
    table = np.array([[0, 0, 1], [0, 1, -1], [-1, -1, -1], [2, -1, -1], [2, 1, 0]])
    ballots = ballots_of(table, 3)
    auxiliary = AuxiliaryVoters.fit(ballots)
    extended, lead = auxiliary.join(ballots), auxiliary.leads(ballots)
    votes = extended.votes.matrix.toarray()[:, 3:]
    assert votes[:, 0].tolist() == [1, 0, 0, 3, 0]
    scores = np.sort(auxiliary.model.scores(ballots), axis=1)
    voted = np.array([True, True, False, True, True])
    assert lead[voted] == pytest.approx(scores[voted, 2] - scores[voted, 1])
    assert lead.tolist()[2] == -1.0
    assert votes.tolist()[2] == [0, 0]
    best = auxiliary.model.scores(ballots).argmax(axis=1) + 1
    assert votes[[0, 3], 1].tolist() == best[[0, 3]].tolist()


def test_auxiliary_voters_are_the_last_columns():
    table = np.array([[0, -1], [-1, -1], [1, 0]])
    ballots = ballots_of(table, 2)
    both = AuxiliaryVoters.fit(ballots).join(ballots).votes
    assert both.matrix.toarray()[:, :2].tolist() == (table + 1).tolist()
    assert both.matrix.toarray()[:, 2].tolist() == [1, 0, 0]  # two votes of different voters tie
    assert both.matrix.dtype == ballots.votes.matrix.dtype
    assert both.voters.tolist() == [0, 1, "majority vote", "Dawid-Skene"]
