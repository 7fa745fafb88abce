from dataclasses import replace

import numpy as np
import pytest

from hedgeclipper.bounds.auto_labels import (
    AutoLabels,
    accept_in_file,
    auto_labels,
    surest_rows,
)
from hedgeclipper.bounds.finishing import make_plan
from hedgeclipper.bounds.intervals import proportion_bounds
from hedgeclipper.bounds.tested_predictions import TestedPredictions
from hedgeclipper.io.arrays import digest_rows


def make_rule(rng, n_tested=400, n_unlabeled=3000, scale=1.0):
    """Return a rule whose uncertainties are error probabilities, and the errors there are."""
    uncertainties = 0.6 * rng.beta(0.4, 2.0, n_tested + n_unlabeled)
    wrong = rng.random(uncertainties.size) < np.minimum(scale * uncertainties, 1.0)
    tested, rest = slice(n_tested), slice(n_tested, None)
    return TestedPredictions(
        wrong[tested], uncertainties[tested], uncertainties[rest], n_unlabeled, 0.5
    ), wrong[rest]


def sure_ones(rule, max_error, confidence_level):
    """Return which of the unlabeled rows are certain enough; tested ones come first in the pool."""
    return surest_rows(rule, max_error, confidence_level).is_accepted[rule.wrong.size :]


@pytest.mark.parametrize("max_error", [0.05, 0.1])
@pytest.mark.parametrize("scale", [0.8, 1.5])
def test_more_errors_than_allowed_are_as_rare_as_it_says(max_error, scale):
    rng = np.random.default_rng(0)
    violations, coverage = 0, []
    for _ in range(200):
        rule, wrong = make_rule(rng, scale=scale)
        sure = sure_ones(rule, max_error, 0.9)
        violations += bool(sure.any()) and wrong[sure].mean() > max_error
        coverage.append(sure.mean())
    assert violations <= 20 + 3 * np.sqrt(200 * 0.1 * 0.9)
    assert np.mean(coverage) > 0.3


def test_what_is_said_of_the_sure_rows_is_the_exact_test_of_them():
    rule, _ = make_rule(np.random.default_rng(1))
    found = surest_rows(rule, 0.05, 0.95)
    largest = rule.unlabeled_uncertainties[sure_ones(rule, 0.05, 0.95)].max()
    below, n_sure = rule.uncertainties <= largest, found.n_accepted
    _, upper = proportion_bounds(rule.wrong[below].sum(), below.sum(), n_sure, 0.05)
    n_errors, n_below = rule.wrong[below].sum(), below.sum()
    together = (n_errors + upper * n_sure) / (n_below + n_sure)
    assert together <= 0.05
    assert (found.n_wrong, found.n_tested) == (rule.wrong[below].sum(), below.sum())


def test_of_the_automatic_labels_alone_no_less_is_said_than_is_proved():
    """5% of 1,100 rows are 55, and all may be among the 1,000 that nobody tested."""
    rule = TestedPredictions(np.zeros(100, bool), np.zeros(100), np.zeros(1000), 1000, 0.5)
    found = auto_labels(rule, np.zeros(1000), max_error=0.05, among="automatic")
    assert (found.kind, found.n_automatic) == ("guarantee", 1000)
    assert found.automatic_error_upper == 0.055
    assert "At most 5% of these and the 100 tested rows that are as certain" in found.describe()
    assert "Among the 1,000 at most 5.5%" in found.describe()


def test_errors_that_tests_have_found_are_not_among_the_automatic_labels():
    wrong = np.arange(400) < 6
    rule = TestedPredictions(wrong, np.zeros(400), np.zeros(1000), 1000, 0.5, n_labeled=500)
    found = auto_labels(rule, np.zeros(1000), max_error=0.05, among="automatic")
    assert found.automatic_error_upper == (70 - 6) / 1000
    assert found.error_upper == (70 - 6) / 1500


@pytest.mark.parametrize("n_unlabeled", [1, 5, 30])
def test_a_few_rows_are_all_labeled_if_no_label_is_wrong(n_unlabeled):
    """Thresholds below all of the few rows used to fail, and to end the sequence."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        own = rng.random(1000), rng.random(n_unlabeled)
        rule = TestedPredictions(np.zeros(1000, bool), *own, n_unlabeled, 0.5)
        assert sure_ones(rule, 0.05, 0.95).all()


def test_where_no_row_is_automatic_no_automatic_label_is_wrong():
    rule = TestedPredictions(np.ones(400, bool), np.zeros(400), np.zeros(1000), 1000, 0.5)
    found = auto_labels(rule, np.zeros(1000), max_error=0.05, among="automatic")
    assert (found.n_automatic, found.error_upper, found.automatic_error_upper) == (0, 0.0, 0.0)


def test_too_few_labels_say_how_many_are_needed():
    rule, _ = make_rule(np.random.default_rng(0), n_tested=50)
    found = auto_labels(rule, np.zeros(3000), max_error=0.01, among="automatic")
    assert found.needs_review.all()
    assert found.n_needed == np.ceil(1.3 * np.log(20) / -np.log(0.99))


def test_rows_of_equal_uncertainty_are_taken_together_or_not_at_all():
    """77 labels are enough for 5 %; the first rank is at half of them, among the uncertain rows."""
    wrong = np.arange(400) >= 300
    for n_sure in (80, 150, 200, 250):
        counts = np.array([n_sure, 400 - n_sure])
        uncertainties, others = (np.repeat([0.01, 0.4], counts * times) for times in (1, 10))
        found = surest_rows(TestedPredictions(wrong, uncertainties, others, 4000, 0.5), 0.05, 0.95)
        np.testing.assert_array_equal(found.is_accepted[400:], others == 0.01)
        assert (found.n_wrong, found.n_tested) == (0, n_sure)
    uncertainties, others = (
        np.repeat([0.01, 0.4], np.array([70, 330]) * times) for times in (1, 10)
    )
    rule = TestedPredictions(wrong, uncertainties, others, 4000, 0.5)
    assert not sure_ones(rule, 0.05, 0.95).any()


@pytest.mark.parametrize("n_rows", [300, 500])
def test_an_order_of_the_file_that_tells_errors_does_not_show_in_ties(n_rows):
    """All rows are as uncertain, tested ones come first, and both are in the order of the file."""
    delta, n_repeats, n_tested = 0.1, 300, n_rows // 4
    rng, rows = np.random.default_rng(0), np.arange(n_rows)
    for n_errors in (n_rows // 9, n_rows // 7, n_rows // 5):
        errors, n_broken = rows >= n_rows - n_errors, 0
        for _ in range(n_repeats):
            tested = np.isin(rows, rng.choice(n_rows, n_tested, replace=False))
            rest = n_rows - n_tested
            rule = TestedPredictions(
                errors[tested], np.zeros(n_tested), np.zeros(rest), rest, 0.5, n_labeled=n_tested,
                digest=digest_rows(rows[~tested, None]),
            )  # fmt: skip
            accepted = accept_in_file(rule, 0.1, 1 - delta).is_accepted[n_tested:]
            n_broken += np.sum(errors[~tested] & accepted) > 0.1 * n_rows
        assert n_broken <= delta * n_repeats + 3 * np.sqrt(n_repeats * delta * (1 - delta))


def test_without_a_label_nothing_is_sure_nor_known():
    rule, _ = make_rule(np.random.default_rng(0), n_tested=0)
    options = {"max_error": 0.9, "among": "automatic", "confidence_level": 0.5}
    found = auto_labels(rule, np.zeros(3000), **options)
    assert (found.n_automatic, found.n_needed) == (0, 1)


@pytest.mark.filterwarnings("error")
def test_where_nobody_could_decide_any_open_row_all_need_review():
    known = {"n_labeled": 200, "places": np.arange(200), "skipped": np.arange(3)}
    rule = TestedPredictions(np.zeros(200, bool), np.zeros(200), np.zeros(3), 3, 0.3, **known)
    assert auto_labels(rule, np.zeros(3), max_error=0.1, among="automatic").needs_review.all()


def some_labels(n_review=6, **changes):
    known = {
        "labels": np.zeros(10),
        "needs_review": np.arange(10) < n_review,
        "review_order": np.arange(n_review),
        "max_error": 0.05,
        "among": "file",
        "confidence_level": 0.95,
        "kind": "guarantee",
        "reason": "",
        "n_rows": 30,
        "error_upper": 0.04,
        "automatic_error_upper": 0.3,
        "baseline": 0.24,
        "majority_class": "no",
        "n_errors": 1,
        "n_tested": 120,
        "n_needed": 0,
        "is_recorded": True,
    }
    return AutoLabels(**(known | changes))


def test_sentences_say_what_is_known_of_the_file():
    usual = str(some_labels())
    for said in ("4 of 10", "other 6", "5% of all 30", "guaranteed with 95%", "30.0%", "no: 24.0%"):
        assert said in usual
    assert "other" not in some_labels(0).describe()
    assert "At most 5% of those predicted YES" in str(some_labels(0, max_error={"YES": 0.05}))
    guess = some_labels(kind="estimate", reason="rows differ", among="automatic").describe()
    assert "5% of these and the 120 tested rows" in guess
    assert "guaranteed" not in guess
    assert guess.endswith("since rows differ.")
    stated = some_labels(is_recorded=False, n_skipped=3).describe()
    assert "Skipped rows (3)" in stated
    assert "assumes that the labels are a random sample" in stated
    assert "at least 59 random test labels" in str(some_labels(10, n_needed=59, n_tested=20))
    assert "1 error among the 120 least uncertain" in some_labels(10).describe()
    none = {"labels": np.zeros(0), "needs_review": np.zeros(0, bool), "n_needed": 59}
    assert "no unlabeled rows" in some_labels(0, **none).describe()


def test_labels_that_are_needed_for_limits_per_class_count_those_on_other_classes():
    """Half of the rows are predicted to be of each class, and half of the labels test each."""
    n_rows, limits = 5000, {"yes": 0.01, "no": 0.01}
    labels = np.where(np.arange(n_rows) % 2, "yes", "no")
    rng, answers = np.random.default_rng(0), {}
    for n in (400, 800):
        known = {"n_labeled": n, "predicted": labels[:n], "majority_class": "no"}
        own = np.zeros(n, bool), rng.random(n), rng.random(n_rows)
        rule = TestedPredictions(*own, n_rows, 0.5, **known)
        answers[n] = auto_labels(rule, labels, max_error=limits)
    assert answers[400].n_automatic == 0
    assert 400 < answers[400].n_needed < 800
    assert (answers[800].n_automatic, answers[800].n_needed) == (n_rows, 0)


def test_the_limit_of_the_file_is_for_all_classes():
    """Beside a limit that allows everything it is the test of the file at half the level."""
    rule, _ = make_rule(np.random.default_rng(3))
    rule = replace(rule, predicted=np.arange(400) % 2)
    both = accept_in_file(rule, {0: 0.999, None: 0.05}, 0.9, np.arange(3000) % 2)
    alone = accept_in_file(rule, 0.05, 0.95)
    np.testing.assert_array_equal(both.is_accepted, alone.is_accepted)
    assert 0 < alone.n_accepted < 3000


def test_a_class_without_a_limit():
    predicted = np.array(["yes", "no"] * 50)
    own = np.zeros(100, bool), np.zeros(100), np.zeros(100)
    rule = TestedPredictions(*own, 100, 0.5, n_labeled=100, predicted=predicted)
    with pytest.raises(ValueError, match=r"no limit for rows predicted to be of \['no'\]"):
        auto_labels(rule, predicted, max_error={"yes": 0.1})
    assert auto_labels(rule, predicted, max_error={"yes": 0.1, None: 0.2}).n_automatic > 0


def test_an_error_that_the_most_frequent_class_keeps_is_noted():
    assert some_labels(max_error=0.24).is_trivial
    assert "always guessing no would be allowed, too" in some_labels(max_error=0.3).describe()
    assert not some_labels(max_error={"yes": 0.3}).is_trivial
    assert "allowed, too" not in some_labels().describe()


def test_a_plan_counts_the_rows_that_auto_label_leaves():
    rule, _ = make_rule(np.random.default_rng(1))
    plan = make_plan(rule, 0.9, [0.01, 0.05, 0.1, 0.9], more=[200])
    by_hand = [3000 - accept_in_file(rule, one, 0.9).n_accepted for one in plan.max_errors]
    assert plan.n_by_hand.tolist() == by_hand
    assert plan.n_by_hand[-1] == 0
    assert plan.n_by_hand_with_more[200][-1] == 200
    # twice the labels prove more: what they cost is less than what they save where much is left
    assert plan.n_by_hand_with_more[200][1] < plan.n_by_hand[1] + 200
    assert plan.rows()[0] == (0.01, by_hand[0], plan.n_by_hand_with_more[200][0])


def test_a_plan_for_no_rows_has_none_by_hand():
    nothing = np.zeros(0)
    rule = TestedPredictions(nothing.astype(bool), nothing, nothing, 0, 0.3)
    assert make_plan(rule, 0.9, [0.05]).n_by_hand.tolist() == [0]
