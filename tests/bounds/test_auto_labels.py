import numpy as np
import pytest

from hedgeclipper.bounds.intervals import proportion_bounds
from hedgeclipper.bounds.tested_predictions import AutoLabels, TestedPredictions


def make_rule(rng, n_tested=400, n_unlabeled=3000, scale=1.0):
    """Return a rule whose uncertainties are error probabilities, and the errors there are."""
    uncertainties = 0.6 * rng.beta(0.4, 2.0, n_tested + n_unlabeled)
    wrong = rng.random(uncertainties.size) < np.minimum(scale * uncertainties, 1.0)
    tested, rest = slice(n_tested), slice(n_tested, None)
    return TestedPredictions(
        wrong[tested], uncertainties[tested], uncertainties[rest], n_unlabeled, 0.5
    ), wrong[rest]


@pytest.mark.parametrize("max_error", [0.05, 0.1])
@pytest.mark.parametrize("scale", [0.8, 1.5])
def test_more_errors_than_allowed_are_as_rare_as_it_says(max_error, scale):
    rng = np.random.default_rng(0)
    violations, coverage = 0, []
    for _ in range(200):
        rule, wrong = make_rule(rng, scale=scale)
        sure = rule.unlabeled_uncertainties <= rule.surest(max_error, 0.9).threshold
        violations += bool(sure.any()) and wrong[sure].mean() > max_error
        coverage.append(sure.mean())
    assert violations <= 20 + 3 * np.sqrt(200 * 0.1 * 0.9)
    assert np.mean(coverage) > 0.3


def test_what_is_said_of_the_sure_rows_is_the_exact_test_of_them():
    rule, _ = make_rule(np.random.default_rng(1))
    found = rule.surest(0.05, 0.95)
    below = rule.uncertainties <= found.threshold
    n_sure = int((rule.unlabeled_uncertainties <= found.threshold).sum())
    _, upper = proportion_bounds(rule.wrong[below].sum(), below.sum(), n_sure, 0.05)
    assert found.error_upper == upper <= 0.05
    assert (found.n_errors, found.n_tested) == (rule.wrong[below].sum(), below.sum())
    assert found.coverage == n_sure / 3000


@pytest.mark.parametrize("n_unlabeled", [1, 5, 30])
def test_a_few_rows_are_all_labeled_if_no_label_is_wrong(n_unlabeled):
    """Thresholds below all of the few rows used to fail, and to end the sequence."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        own = rng.random(1000), rng.random(n_unlabeled)
        rule = TestedPredictions(np.zeros(1000, bool), *own, n_unlabeled, 0.5)
        assert rule.surest(0.05, 0.95).coverage == 1.0


def test_too_few_labels_say_how_many_are_needed():
    rule, _ = make_rule(np.random.default_rng(0), n_tested=50)
    found = rule.surest(0.01, 0.95)
    assert found.coverage == 0.0
    assert found.n_needed == np.ceil(1.3 * np.log(20) / -np.log(0.99))


def test_rows_of_equal_uncertainty_are_taken_together_or_not_at_all():
    """77 labels are enough for 5 %; the first rank is at half of them, among the uncertain rows."""
    wrong = np.arange(400) >= 300
    for n_sure in (80, 150, 200, 250):
        counts = np.array([n_sure, 400 - n_sure])
        uncertainties, others = (np.repeat([0.01, 0.4], counts * times) for times in (1, 10))
        found = TestedPredictions(wrong, uncertainties, others, 4000, 0.5).surest(0.05, 0.95)
        assert (found.threshold, found.coverage) == (0.01, n_sure / 400)
        assert (found.n_errors, found.n_tested) == (0, n_sure)
    uncertainties, others = (
        np.repeat([0.01, 0.4], np.array([70, 330]) * times) for times in (1, 10)
    )
    assert (
        TestedPredictions(wrong, uncertainties, others, 4000, 0.5).surest(0.05, 0.95).coverage
        == 0.0
    )


def test_without_a_label_nothing_is_sure_nor_known():
    rule, _ = make_rule(np.random.default_rng(0), n_tested=0)
    assert rule.surest(0.9, 0.5).coverage == 0.0
    assert rule.surest(0.9, 0.5).n_needed == 1


def test_a_sentence_says_what_it_is_worth():
    known = {"labels": np.zeros(10), "max_error": 0.05, "confidence_level": 0.95, "reason": ""}
    counts = {"error_upper": 0.04, "n_errors": 1, "n_tested": 120}
    some = AutoLabels(**known, is_sure=np.arange(10) < 4, kind="guarantee", **counts, n_needed=0)
    assert str(some) == (
        "4 of 10 rows (40.0%) can be labeled automatically with at most 5% of them wrong: "
        "guaranteed with 95% confidence (1 error on 120 tested labels)"
    )
    counts |= {"n_tested": 20}
    none = AutoLabels(**known, is_sure=np.zeros(10, bool), kind="estimate", **counts, n_needed=76)
    assert "at least 76 labels are needed to test it, there are 20" in str(none)
