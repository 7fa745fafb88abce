import numpy as np
import pytest

from benchmarks.bounds_table import is_broken, split_again
from benchmarks.finishing import MAX_ERRORS, PROCEDURES, before, bet_is_won, pac_labels
from hedgeclipper.bounds.tested_predictions import TestedPredictions


def make_rule(wrong, uncertainties, others):
    rest = {"n_labeled": 2 * len(wrong), "digest": 1}
    return TestedPredictions(
        np.asarray(wrong, bool), np.asarray(uncertainties), others, len(others), 0.5, **rest
    )


@pytest.fixture
def pool():
    """Return a rule whose uncertainties are error probabilities, and what is wrong."""
    rng = np.random.default_rng(0)
    uncertainties = 0.5 * rng.beta(0.4, 1.5, 3500)
    wrong = rng.random(3500) < uncertainties
    return make_rule(wrong[:500], uncertainties[:500], uncertainties[500:]), wrong[500:]


def test_promises_are_kept_as_often_as_they_say_but_by_a_tuned_threshold(pool):
    """Test and other rows are split 40 times; the normal approximation is asymptotic."""
    for (among, name), accept in PROCEDURES.items():
        broken = np.zeros(len(MAX_ERRORS))
        for seed in range(40):
            rule, wrong = split_again(*pool, seed)
            kept = [wrong[accept(rule, most)] for most in MAX_ERRORS]
            pairs = zip(kept, MAX_ERRORS, strict=True)
            broken += [is_broken(among, part, rule.n_rows, most) for part, most in pairs]
        if name == "tuned":
            assert broken.max() > 12
        elif "normal" not in name:
            assert broken.max() <= 2 + 3 * np.sqrt(40 * 0.05 * 0.95)


@pytest.mark.parametrize(("most", "n_kept"), [(0.0, 2), (0.25, 4), (0.01, 2)])
def test_a_tuned_threshold_has_as_few_errors_among_its_own_labels(most, n_kept):
    values = np.array([0.1, 0.2, 0.3, 0.4])
    rule = make_rule([False, False, True, False], values, values)
    assert PROCEDURES["automatic", "tuned"](rule, most).sum() == n_kept


@pytest.mark.parametrize(("allowed", "n_kept"), [(-1, 0), (0, 1), (1, 3), (2, 4)])
def test_rows_before_the_first_error_too_many(allowed, n_kept):
    values = np.array([0.1, 0.2, 0.3, 0.4])
    assert before(make_rule([False, True, False, True], values, values), allowed).sum() == n_kept


def test_a_bet_against_the_true_mean_is_won_as_rarely_as_it_says():
    rng = np.random.default_rng(0)
    won = [bet_is_won((rng.random(200) < 0.1).astype(float), 0.1, 0.05) for _ in range(400)]
    assert np.mean(won) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)
    assert bet_is_won(np.zeros(100), 0.05, 0.05)
    assert not bet_is_won(np.zeros(30), 0.05, 0.05)


def test_pac_labels_end_at_the_first_uncertainty_whose_bound_is_above_the_limit():
    """A bound that allows two errors, whatever the limit."""
    values = np.linspace(0, 1, 50)
    rule = make_rule(np.arange(50) % 10 == 9, values, values)
    kept = pac_labels(lambda losses, *_: losses.sum() <= 2, rule, 0.05)
    np.testing.assert_array_equal(kept, values < values[29])
    assert pac_labels(lambda *_: True, rule, 0.05).all()
    assert not pac_labels(lambda *_: False, rule, 0.05).any()
