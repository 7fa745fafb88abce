import numpy as np
import pytest
from scipy.optimize import linprog

from hedgeclipper.base.worst_case import HardVotes, worst_case_error
from hedgeclipper.bounds.intervals import lower_bounds


def generated(seed, n_labels=500, n_rows=4_000, prior=0.5):
    """Members who are right 80 % of the time on their own, and their majority."""
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random(n_labels + n_rows) < prior, 1.0, -1.0)
    is_right = rng.random((labels.size, 5)) < 0.8
    votes = np.where(is_right, labels[:, None], -labels[:, None])
    panel = np.sign(votes.sum(axis=1))
    hard = HardVotes(
        votes[:n_labels], labels[:n_labels], votes[n_labels:], panel[:n_labels], panel[n_labels:]
    )
    return hard, float(np.mean(panel[n_labels:] != labels[n_labels:]))


@pytest.mark.parametrize("prior", [0.5, 0.9])
def test_it_is_the_largest_error_that_the_bounds_allow(prior):
    """A linear program over all labels z in [-1, 1] whose means obey Wilson's bounds."""
    votes, _ = generated(0, n_labels=300, n_rows=80, prior=prior)
    everyone = np.column_stack([votes.labeled, votes.panel_labeled, np.ones(300)])
    known = lower_bounds(everyone, votes.signs, method="wilson", two_sided=True)
    rows = np.column_stack([votes.unlabeled, votes.panel_unlabeled, np.ones(80)]) / 80
    lower = known.lower.copy()
    above = [-rows.T, rows[:, -1:].T]  # all have a lower bound, the class prior has an upper one
    limits = np.append(-lower, known.upper[-1])
    worst = linprog(votes.panel_unlabeled / 80, np.vstack(above), limits, bounds=(-1, 1))
    theirs = (1 - worst.fun) / 2
    assert theirs - 1e-6 <= worst_case_error(votes) <= theirs + 0.02


@pytest.mark.parametrize("prior", [0.5, 0.9])
def test_bounds_hold_on_generated_rows(prior):
    found = [generated(seed, prior=prior) for seed in range(20)]
    bounds = [worst_case_error(votes) for votes, _ in found]
    assert max(bounds) < 0.5
    assert np.mean([error <= bound for (_, error), bound in zip(found, bounds, strict=True)]) > 0.85


def test_the_panels_own_score_counts():
    votes, _ = generated(0)
    some = np.where(np.arange(500) < 250, votes.signs, votes.panel_labeled)
    flattered = HardVotes(votes.labeled, votes.signs, votes.unlabeled, some, votes.panel_unlabeled)
    assert worst_case_error(flattered) < worst_case_error(votes)


def test_more_labels_tell_more():
    bounds = [worst_case_error(generated(0, n)[0]) for n in (50, 500, 5_000)]
    assert bounds[0] > bounds[1] > bounds[2]


def test_without_labels_nothing_is_known():
    assert worst_case_error(generated(0, n_labels=0)[0]) == pytest.approx(1, abs=0.01)
