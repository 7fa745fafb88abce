"""Paired tests: Holm's procedure, ties with the best, claims against several others."""

import numpy as np
import pytest
from scipy import stats

from benchmarks.comparison import LEVEL, Difference, best_and_ties, holm, paired_p_value

DRAWS = np.random.default_rng(0).normal(0.8, 0.05, 10)
NOISE = np.random.default_rng(1).normal(0.0, 0.001, 10)


def test_holm_stops_at_the_first_that_fails():
    # thresholds 0.05/4, 0.05/3, 0.05/2, 0.05: the third smallest fails, so the largest does too
    assert holm(np.array([0.03, 0.01, 0.045, 0.015])).tolist() == [False, True, False, True]


def test_holm_of_one_test_is_the_test():
    assert holm(np.array([0.049])).tolist() == [True]
    assert holm(np.array([0.051])).tolist() == [False]


def test_pairing_finds_what_an_unpaired_test_would_miss():
    better = DRAWS + 0.002 + NOISE
    assert stats.ttest_ind(better, DRAWS).pvalue > 0.5
    assert best_and_ties({"better": better, "worse": DRAWS}) == ["better"]


def test_a_constant_difference_has_no_spread():
    assert paired_p_value(DRAWS + 0.25, DRAWS) == pytest.approx(0.0, abs=1e-12)


def test_a_method_with_fewer_draws_is_not_the_best():
    whole, part = np.array([0.5, 0.6, 0.7, 0.8]), np.array([np.nan, np.nan, 0.72, 0.81])
    assert best_and_ties({"part": part, "whole": whole})[0] == "whole"


def test_one_draw_tells_nothing():
    assert paired_p_value(np.array([0.9, np.nan]), np.array([0.1, 0.2])) == 1.0


def test_the_error_of_a_mean_over_rows_is_that_of_independent_rows():
    rng = np.random.default_rng(0)
    first, second = rng.normal(0.1, 0.01, 10), rng.normal(0.0, 0.02, 10)
    both = Difference({("a", 1): first, ("b", 1): second})
    errors = [stats.sem(values) for values in (first, second)]
    assert both.mean == pytest.approx((first.mean() + second.mean()) / 2)
    assert both.error == pytest.approx(np.hypot(*errors) / 2)


def test_rows_are_corrected_for_their_number():
    # p = 0.03 alone, which three rows of noise turn into no claim
    values = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.1, 0.0])
    assert 0.01 < paired_p_value(values, np.zeros(7)) < LEVEL
    noise = np.array([-1.0, 1.0, -0.5, 0.5, -0.2, 0.2, 0.1])
    rows = {("a", n): values if n == 0 else noise for n in range(4)}
    assert Difference(rows).rows_of_sign(1) == []
    assert Difference({("a", 0): values}).rows_of_sign(1) == [("a", 0)]
