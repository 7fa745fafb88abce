"""Exact bounds on precision, recall and errors of segments."""

import itertools

import numpy as np
import pytest

from hedgeclipper.bounds.agreement import (
    cohen_kappa,
    precision_recall,
    segment_errors,
    settle_labels,
)
from hedgeclipper.bounds.intervals import count_bounds


@pytest.mark.parametrize("delta", [0.4, 0.1])
def test_bounds_fail_with_probability_delta_at_most(delta):
    """All samples of 5 of 9 rows, for each number of right and of missed rows."""
    n_rows, n_checked = 9, 5
    samples = [np.array(rows) for rows in itertools.combinations(range(n_rows), n_checked)]
    for n_claims, tp, fn in [(4, 3, 1), (4, 1, 2), (3, 3, 0), (6, 4, 3), (2, 0, 2), (9, 5, 0)]:
        predicted = np.arange(n_rows) < n_claims
        truth = np.arange(n_rows) < tp
        truth[n_claims : n_claims + fn] = True
        recall, precision = tp / (tp + fn), tp / n_claims
        failures = np.zeros(4)
        for rows in samples:
            found = precision_recall(predicted, rows, truth[rows], delta=delta)
            failures += [
                found.recall_lower > recall + 1e-12,
                found.recall_upper < recall - 1e-12,
                found.precision_lower > precision + 1e-12,
                found.precision_upper < precision - 1e-12,
            ]
            assert found.recall_lower <= found.recall_upper
        assert np.all(failures / len(samples) <= delta)


def test_recall_is_that_of_two_exact_bounds():
    rng = np.random.default_rng(0)
    predicted, truth = rng.random((2, 2000)) < [[0.2], [0.15]]
    truth |= predicted & (rng.random(2000) < 0.8)
    rows = rng.permutation(2000)[:600]
    found = precision_recall(predicted, rows, truth[rows], delta=0.1)
    counts = []
    for part in (predicted, ~predicted):
        inside = rows[part[rows]]
        n_right = truth[inside].sum()
        bounds = count_bounds(n_right, inside.size, part.sum() - inside.size, 0.05)
        counts.append([n_right + int(bound) for bound in bounds])
    (tp_low, tp_high), (fn_low, fn_high) = counts
    assert found.recall_lower == pytest.approx(tp_low / (tp_low + fn_high))
    assert found.recall_upper == pytest.approx(tp_high / (tp_high + fn_low))
    checked, n_predicted = rows[predicted[rows]], predicted.sum()
    n_right = truth[checked].sum()
    bounds = count_bounds(n_right, checked.size, n_predicted - checked.size, 0.1)
    assert found.precision_lower == pytest.approx((n_right + bounds[0]) / n_predicted)
    assert found.precision_upper == pytest.approx((n_right + bounds[1]) / n_predicted)
    assert found.precision == pytest.approx(n_right / checked.size)
    assert found.recall == pytest.approx(predicted[truth].mean(), abs=0.1)


def test_with_every_row_checked_nothing_is_uncertain():
    predicted, truth = np.array([1, 1, 1, 0, 0], bool), np.array([1, 1, 0, 1, 0], bool)
    found = precision_recall(predicted, np.arange(5), truth, delta=0.05)
    assert found.precision == found.precision_lower == found.precision_upper == 2 / 3
    assert found.recall == found.recall_lower == found.recall_upper == 2 / 3


def test_skipped_rows_widen_both_bounds():
    rng = np.random.default_rng(1)
    predicted, rows = rng.random(1000) < 0.3, rng.permutation(1000)[:300]
    truth, skipped = predicted[rows] ^ (rng.random(300) < 0.1), rng.random(300) < 0.1
    found = precision_recall(predicted, rows, truth, delta=0.05, skipped=skipped)
    for guess in (truth & ~skipped, truth | skipped, np.where(skipped, predicted[rows], truth)):
        known = precision_recall(predicted, rows, guess, delta=0.05)
        for name in ("precision", "recall"):
            lower, upper = (f"{name}_{end}" for end in ("lower", "upper"))
            assert getattr(found, lower) <= getattr(known, lower)
            assert getattr(found, upper) >= getattr(known, upper)


def test_where_nothing_was_checked_nothing_is_claimed():
    none = np.zeros(0, int)
    nothing = precision_recall(np.array([True, False]), none, none == 1, delta=0.05)
    assert (nothing.precision_lower, nothing.precision_upper) == (0.0, 1.0)
    assert (nothing.recall_lower, nothing.recall_upper) == (0.0, 1.0)
    assert np.isnan(nothing.precision)
    assert np.isnan(nothing.recall)
    never = precision_recall(np.zeros(10, bool), np.arange(10), np.zeros(10, bool), delta=0.05)
    assert np.isnan(never.recall)
    assert (never.recall_lower, never.recall_upper) == (0.0, 1.0)


@pytest.mark.parametrize("delta", [0.4, 0.1])
def test_bounds_of_all_segments_hold_together(delta):
    segments, wrong = (
        np.repeat(["a", "b", "c"], [3, 4, 2]),
        np.array([1, 0, 0, 1, 1, 0, 0, 1, 0], bool),
    )
    truth = np.array([wrong[segments == name].mean() for name in "abc"])
    samples = [np.array(rows) for rows in itertools.combinations(range(9), 4)]
    low = high = 0
    for rows in samples:
        found = segment_errors(segments, rows, wrong[rows], delta=delta)
        low += np.any(found.lower > truth + 1e-12)
        high += np.any(found.upper < truth - 1e-12)
    assert max(low, high) / len(samples) <= delta


def test_a_segment_is_tested_by_its_own_rows_at_a_shared_level():
    segments, rows = np.repeat(["x", "y", "z"], [100, 50, 3]), np.arange(0, 150, 3)
    wrong, skipped = rows % 2 == 0, rows == 75
    found = segment_errors(segments, rows, wrong, delta=0.1, skipped=skipped)
    assert found.n_rows.tolist() == [100, 50, 3]
    assert found.n_checked.tolist() == [34, 16, 0]
    assert (found.lower[2], found.upper[2]) == (0.0, 1.0)
    n_wrong = np.sum(wrong[:34])
    assert found.n_wrong.tolist() == [n_wrong + 1, 8, 0]
    least, most = (count_bounds(n_wrong + extra, 34, 66, 0.05)[extra] for extra in (0, 1))
    assert found.lower[0] * 100 == pytest.approx(n_wrong + least)
    assert found.upper[0] * 100 == pytest.approx(n_wrong + 1 + most)


# People.


def test_kappa_is_unknown_where_all_labels_are_of_one_class():
    assert np.isnan(cohen_kappa(np.array(["a"]), np.array(["a"])))
    assert np.isnan(cohen_kappa(np.array([]), np.array([])))


def test_a_third_settles_only_where_two_differ():
    found = settle_labels(
        ["a", "a", "b", None, None], ["a", "b", "a", "b", None], ["b", "c", None, "a", "a"]
    )
    assert found.labels.tolist() == ["a", "c", None, "b", None]
    assert (found.n_both, found.n_agreed, found.n_settled, found.n_open) == (3, 1, 1, 1)
    assert "agree on 1 of 3 rows" in found.describe()
    assert "1 row stays open" in found.describe()


def test_nobody_in_common():
    assert settle_labels(["a", None], [None, "b"]).describe().startswith("No row was labeled")


def test_other_rows():
    with pytest.raises(ValueError, match="same rows"):
        settle_labels(["a"], ["a", "b"])
