import numpy as np
import pytest
from scipy.optimize import linprog

from hedgeclipper.base.weighing import PanelScores
from hedgeclipper.base.worst_case import worst_case_error
from hedgeclipper.bounds.intervals import lower_bounds


def generated(seed, n_labels=500, n_rows=4_000, prior=0.5):
    """Members who are right 80 % of the time on their own, and their majority."""
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random(n_labels + n_rows) < prior, 1.0, -1.0)
    is_right = rng.random((labels.size, 5)) < 0.8
    votes = np.where(is_right, labels[:, None], -labels[:, None])
    scores, is_positive = (1.0 + votes) / 2.0, labels > 0
    known = is_positive[:n_labels], np.ones(n_labels)
    error = np.mean((majority(scores[n_labels:]) > 0) != is_positive[n_labels:])
    return PanelScores(scores[:n_labels], *known, scores[n_labels:]), float(error)


def majority(scores):
    return (scores - 0.5).sum(axis=1)


@pytest.mark.parametrize("prior", [0.5, 0.9])
def test_it_is_the_largest_error_that_the_bounds_allow(prior):
    """A linear program over all labels z in [-1, 1] whose means obey Wilson's bounds."""
    scores, _ = generated(0, n_labels=300, n_rows=80, prior=prior)
    everyone, rows = (
        np.column_stack([2 * own - 1, np.sign(majority(own)), np.ones(len(own))])
        for own in (scores.labeled, scores.unlabeled)
    )
    signs = np.where(scores.is_positive, 1, -1)
    known = lower_bounds(everyone, signs, method="wilson", two_sided=True)
    rows = rows / 80
    lower = known.lower.copy()
    above = [-rows.T, rows[:, -1:].T]  # all have a lower bound, the class prior has an upper one
    limits = np.append(-lower, known.upper[-1])
    worst = linprog(rows[:, -2], np.vstack(above), limits, bounds=(-1, 1))
    theirs = (1 - worst.fun) / 2
    assert theirs - 1e-6 <= worst_case_error(scores, majority) <= theirs + 0.02


@pytest.mark.parametrize("prior", [0.5, 0.9])
def test_bounds_hold_on_generated_rows(prior):
    found = [generated(seed, prior=prior) for seed in range(20)]
    bounds = [worst_case_error(scores, majority) for scores, _ in found]
    assert max(bounds) < 0.5
    assert np.mean([error <= bound for (_, error), bound in zip(found, bounds, strict=True)]) > 0.85


def test_the_panels_own_score_counts():
    scores, _ = generated(0)

    def flattered(own):
        if own is scores.unlabeled:
            return majority(own)
        return np.where(np.arange(500) < 250, scores.is_positive - 0.5, majority(own))

    assert worst_case_error(scores, flattered) < worst_case_error(scores, majority)


def test_more_labels_tell_more():
    bounds = [worst_case_error(generated(0, n)[0], majority) for n in (50, 500, 5_000)]
    assert bounds[0] > bounds[1] > bounds[2]


def test_without_labels_nothing_is_known():
    assert worst_case_error(generated(0, n_labels=0)[0], majority) == pytest.approx(1, abs=0.01)
