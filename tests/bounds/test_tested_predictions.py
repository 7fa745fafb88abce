import numpy as np
import pytest

from hedgeclipper.bounds.tested_predictions import TestedPredictions


def make_rule(rng, n_tested, n_unlabeled, caveat=""):
    """Return a rule with calibrated uncertainties, and its true error on the unlabeled rows."""
    uncertainties = rng.beta(0.3, 1.2, n_tested + n_unlabeled)
    wrong = rng.random(uncertainties.size) < uncertainties
    parts = wrong[:n_tested], uncertainties[:n_tested], uncertainties[n_tested:]
    return TestedPredictions(*parts, n_unlabeled, 0.5, caveat=caveat), wrong[n_tested:].mean()


def test_the_interval_of_an_estimate_covers_and_is_narrower_than_that_of_labels_alone():
    rng, covered, errors, plain, widths = np.random.default_rng(0), 0, [], [], []
    for _ in range(300):
        rule, truth = make_rule(rng, 150, 5000, caveat="in this test")
        found = rule.certificate(None)
        covered += found.error_lower <= truth <= found.error_upper
        errors.append(found.error - truth)
        plain.append(rule.wrong.mean() - truth)
        widths.append(found.error_upper - found.error_lower)
        assert found.kind == "estimate"
    assert covered >= 0.94 * 300
    assert np.std(errors) < 0.9 * np.std(plain)
    # calibrated uncertainties leave Var(wrong | uncertainty) of Var(wrong); the interval is 1.2
    # times as wide
    assert np.mean(widths) < 1.2 * 2 * 1.96 * np.std(plain)


def test_the_estimate_is_the_formula():
    rng = np.random.default_rng(1)
    rule, _ = make_rule(rng, 60, 500, caveat="in this test")
    e, q = rule.wrong.astype(float), rule.uncertainties
    fold = np.random.default_rng(0).permutation(60) % 5
    total = 0.0
    for k in range(5):
        others, own = fold != k, fold == k
        slope = np.cov(e[others], q[others])[0, 1] / np.var(q[others], ddof=1)
        total += np.sum(e[own] - slope * (q[own] - rule.unlabeled_uncertainties.mean()))
    assert rule.certificate(None).error == pytest.approx(total / 60)


def test_uncertainties_that_are_all_alike_leave_the_plain_mean():
    wrong = np.arange(40) < 8
    rule = TestedPredictions(
        wrong, np.full(40, 0.3), np.full(100, 0.1), 100, 0.5, caveat="in this test"
    )
    assert rule.certificate(None).error == 0.2
