import numpy as np
import pytest

from hedgeclipper.panel.panel_certificate import HardVotes, certify_panel


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


@pytest.mark.parametrize("level", [None, 0.95])
@pytest.mark.parametrize("prior", [0.5, 0.9])
def test_bounds_hold_on_generated_rows(level, prior):
    inside = []
    for seed in range(20):
        votes, error = generated(seed, prior=prior)
        found = certify_panel(votes, level, True)
        inside.append(found.error_lower <= error <= found.error_upper)
        assert found.error_upper < 0.5
    assert np.mean(inside) >= (1 if level else 0.85)


def test_it_is_a_guarantee_only_with_confidence_level_and_labels_that_fitted_nobody():
    votes, _ = generated(0)
    assert certify_panel(votes, 0.95, True).kind == "guarantee"
    assert certify_panel(votes, 0.95, True).confidence_level == 0.95
    assert certify_panel(votes, 0.95, False).kind == "estimate"
    assert certify_panel(votes, None, True).kind == "estimate"
    assert certify_panel(votes, None, False).kind == "estimate"


def test_a_guarantee_does_not_use_the_labels_to_score_the_panel():
    votes, _ = generated(0)
    some = np.where(np.arange(500) < 250, votes.signs, votes.panel_labeled)
    flattered = HardVotes(votes.labeled, votes.signs, votes.unlabeled, some, votes.panel_unlabeled)
    ours, theirs = (certify_panel(one, 0.95, True) for one in (flattered, votes))
    assert ours.error_upper == theirs.error_upper
    estimates = [certify_panel(one, None, True).error_upper for one in (flattered, votes)]
    assert estimates[0] < estimates[1]


def test_it_speaks_of_the_unlabeled_rows():
    votes, _ = generated(0, n_rows=300)
    found = certify_panel(votes, None, True)
    assert found.n_unlabeled == 300
    assert found.rule == "hard"


def test_more_labels_tell_more():
    bounds = [certify_panel(generated(0, n)[0], 0.95, True).error_upper for n in (50, 500, 5_000)]
    assert bounds[0] > bounds[1] > bounds[2]


def test_without_labels_nothing_is_known():
    found = certify_panel(generated(0, n_labels=0)[0], None, False)
    assert found.kind == "estimate"
    assert found.error_upper == pytest.approx(1, abs=0.01)
