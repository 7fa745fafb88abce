"""Fixed test of a whole file: equal to enumeration, and broken as rarely as it says."""

import numpy as np
import pytest
from scipy.stats import hypergeom

from hedgeclipper.bounds.intervals import CAUTION
from hedgeclipper.bounds.whole_file import (
    accept_rows,
    accept_rows_of_parts,
    allowed_errors,
    error_limit,
    errors_left,
    least_tested,
    order_by_uncertainty,
)
from tests.bounds.small_pools import accepted_first, all_masks

LEVELS = (0.6, 0.35, 0.15, 0.05)


def upper_by_scipy(n_wrong, n_pool, n_tested, delta):
    """Return U(k): the largest E with P(Hyp(N, E, v) <= k) > delta, for an array of k."""
    errors = np.arange(n_pool + 1)
    cdf = hypergeom.cdf(np.asarray(n_wrong)[:, None], n_pool, errors, n_tested)
    return n_pool - np.argmax((cdf > delta * (1 - CAUTION))[:, ::-1], axis=1)


def allowed_by_scipy(n_pool, n_tested, limit, delta):
    """Return the largest k with U(k) - k <= L, -1 if there is none."""
    k = np.arange(n_tested + 1)
    return int(np.sum(upper_by_scipy(k, n_pool, n_tested, delta) - k <= limit)) - 1


# Validity, without any simulation.


@pytest.mark.parametrize("delta", LEVELS)
@pytest.mark.parametrize("n_pool", range(1, 8))
def test_more_errors_than_allowed_are_left_with_probability_delta_at_most(n_pool, delta):
    """For each pattern of errors in the order of the pool, all samples are equally probable. So the
    probability that more than L errors are left is a mean over samples, and the worst pattern is
    the largest of these. The same holds for the bound that is reported, U(k) - k."""
    patterns = all_masks(n_pool)
    for n_tested in range(n_pool + 1):
        samples = all_masks(n_pool, n_tested)
        found = patterns[:, None] & samples
        untested_errors = patterns[:, None] & ~samples
        bounds = np.array([errors_left(k, n_pool, n_tested, delta) for k in range(n_tested + 1)])
        for limit in range(n_pool + 1):
            allowed = allowed_errors(n_pool, n_tested, limit, delta)
            accepted = accepted_first(found, allowed)
            left, n_wrong = (np.sum(accepted & e, axis=-1) for e in (untested_errors, found))
            assert (left > limit).mean(axis=1).max() <= delta
            assert (left > bounds[n_wrong]).mean(axis=1).max() <= delta
            assert np.all(bounds[n_wrong][accepted.any(axis=-1)] <= limit)
            if allowed < n_tested:  # one more allowed error breaks it
                more = np.sum(accepted_first(found, allowed + 1) & untested_errors, axis=-1)
                assert (more > limit).mean(axis=1).max() > delta * (1 - 1e-5)


@pytest.mark.parametrize("delta", [0.35, 0.05])
def test_skips_that_know_everything_break_nothing(delta):
    """Whatever test rows are skipped, with the truth in view: the worst choice for each sample."""
    n_pool, patterns = 6, all_masks(6)
    for n_tested in range(n_pool + 1):
        samples = all_masks(n_pool, n_tested)
        for limit in range(n_pool + 1):
            allowed = allowed_errors(n_pool, n_tested, limit, delta)
            most = np.zeros((len(patterns), len(samples)), int)
            for skips in all_masks(n_pool):
                counted = (patterns[:, None] | skips) & samples
                accepted = accepted_first(counted, allowed)
                left = (accepted & patterns[:, None] & ~samples).sum(axis=-1)
                most = np.maximum(most, left)
            assert (most > limit).mean(axis=1).max() <= delta


def test_accepted_rows_are_those_before_the_first_wrong_row_too_many():
    rng = np.random.default_rng(0)
    for _ in range(500):
        n_pool = int(rng.integers(1, 40))
        order = rng.permutation(n_pool)
        tested = rng.permutation(n_pool)[: rng.integers(0, n_pool + 1)]
        wrong = rng.random(tested.size) < rng.choice([0.0, 0.1, 0.5])
        limit, delta = int(rng.integers(0, n_pool + 1)), rng.choice([0.5, 0.1])
        ours = accept_rows(order, tested, wrong, limit=limit, delta=delta)
        bad = dict(zip(tested.tolist(), wrong.tolist(), strict=True))
        allowed, n_bad, n_seen, theirs = (
            allowed_errors(n_pool, tested.size, limit, delta),
            0,
            0,
            np.zeros(n_pool, bool),
        )
        for row in order.tolist() if allowed >= 0 else []:
            if bad.get(row, False) and n_bad == allowed:
                break
            n_bad += bad.get(row, False)
            n_seen += row in bad
            theirs[row] = row not in bad
        np.testing.assert_array_equal(ours.is_accepted, theirs)
        assert (ours.n_allowed, ours.n_tested, ours.n_wrong) == (allowed, n_seen, n_bad)
        expected = errors_left(n_bad, n_pool, tested.size, delta)
        assert ours.errors_left == min(expected, theirs.sum())
        assert ours.errors_left <= limit


# Numbers.


def test_bounds_and_allowed_errors_are_those_of_scipy():
    rng = np.random.default_rng(1)
    for _ in range(60):
        n_pool = int(rng.integers(1, 150))
        n_tested, limit = int(rng.integers(0, n_pool + 1)), int(rng.integers(0, n_pool // 3 + 1))
        delta = rng.choice([0.2, 0.05, 0.01, 1e-6])
        k = int(rng.integers(0, n_tested + 1))
        ours = errors_left(k, n_pool, n_tested, delta)
        assert ours == upper_by_scipy([k], n_pool, n_tested, delta)[0] - k
        expected = allowed_by_scipy(n_pool, n_tested, limit, delta)
        assert allowed_errors(n_pool, n_tested, limit, delta) == expected


def test_published_numbers():
    assert [allowed_errors(5000, v, 250, 0.05) for v in (100, 200, 400, 600)] == [1, 4, 13, 24]


@pytest.mark.parametrize(("n_pool", "limit"), [(10**6, 50_000), (10**6, 10_000), (40, 2), (7, 0)])
@pytest.mark.parametrize("delta", [0.05, 1e-3])
def test_the_smallest_test_that_can_prove_anything(n_pool, limit, delta):
    n_tested = least_tested(n_pool, limit, delta)
    assert allowed_errors(n_pool, n_tested, limit, delta) >= 0
    assert allowed_errors(n_pool, n_tested - 1, limit, delta) == -1
    if n_pool == 10**6:  # then nearly as with replacement
        expected = np.log(1 / delta) / -np.log1p(-limit / n_pool)
        assert abs(n_tested - expected) <= 1 + 0.001 * expected


@pytest.mark.parametrize(
    ("n_pool", "n_tested", "limit", "expected"),
    [
        (10, 4, 10, 4),  # all rows may be wrong
        (10, 4, 12, 4),
        (10, 4, 6, 4),  # all rows that are not tested may be wrong
        (10, 10, 0, 10),  # every error is found and corrected
        (10, 9, 0, -1),  # the last row is wrong with probability 1/10 > delta, and nothing shows it
        (10, 0, 9, -1),
        (10, 0, 10, 0),
        (0, 0, 0, 0),
        (1, 0, 0, -1),
        (100, 96, 0, 0),  # 96 > 95: the error is among the others with probability 4%
    ],
)
def test_edges(n_pool, n_tested, limit, expected):
    assert allowed_errors(n_pool, n_tested, limit, 0.05) == expected


@pytest.mark.parametrize("delta", [1e-12, 1e-60, 0.999])
def test_levels_close_to_zero_and_one(delta):
    for limit in (0, 40, 200):
        expected = allowed_by_scipy(400, 150, limit, delta)
        assert allowed_errors(400, 150, limit, delta) == expected


def test_all_test_rows_wrong():
    order, tested = np.arange(100), np.arange(0, 100, 2)
    found = accept_rows(order, tested, np.ones(50, bool), limit=10, delta=0.05)
    assert (found.n_accepted, found.errors_left, found.error_upper) == (4, 4, 1.0)
    everything = accept_rows(order, tested, np.ones(50, bool), limit=50, delta=0.05)
    assert everything.is_accepted.tolist() == [False, True] * 50
    assert everything.errors_left == 50


@pytest.mark.parametrize(
    ("max_error", "n_rows", "limit"),
    [(0.05, 8000, 400), (0.29, 100, 29), (0.07, 100, 7), (0.05, 19, 0), (0.0, 5, 0), (1.0, 5, 5)],
)
def test_the_limit_is_the_largest_number_within_the_proportion(max_error, n_rows, limit):
    assert error_limit(max_error, n_rows) == limit
    assert error_limit(max_error, 0) == 0


def test_equal_uncertainties_are_in_a_random_order_that_the_seed_fixes():
    values = np.repeat([2.0, -1.0, 0.0, -0.0], 300)
    order = order_by_uncertainty(values, seed=3)
    assert np.all(np.diff(values[order]) >= 0)
    np.testing.assert_array_equal(order, order_by_uncertainty(values, seed=3))
    assert np.any(order != order_by_uncertainty(values, seed=4))
    first = order[:300] - 300  # the rows of -1, in random order
    assert abs(np.corrcoef(first, np.arange(300))[0, 1]) < 0.2
    same = np.random.default_rng(3).permutation(1200)  # what a sample with this seed may use
    assert np.any(order_by_uncertainty(np.zeros(1200), seed=3) != same)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tested": [0, 10]}, "rows of the pool, 0 to 9. Got row 10"),
        ({"tested": [-1, 3]}, "Got row -1"),
        ({"tested": [3, 3]}, "Got row 3 more than once"),
        ({"tested": [0.0, 1.0]}, "whole numbers. Got dtype float64"),
        ({"tested": np.array([True, False])}, "np.flatnonzero"),
        ({"wrong": [True]}, "one entry for each of the 2 test rows"),
        ({"order": np.zeros(10, int)}, "each of the 10 rows of the pool once"),
    ],
)
def test_bad_input(arguments, message):
    known = {"order": np.arange(10), "tested": [0, 1], "wrong": [True, False], "limit": 3}
    known = known | {"delta": 0.05} | arguments
    with pytest.raises(ValueError, match=message):
        accept_rows(known.pop("order"), known.pop("tested"), known.pop("wrong"), **known)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_uncertainties_that_are_no_numbers(value):
    with pytest.raises(ValueError, match=f"Got {value} in row 1"):
        order_by_uncertainty([0.0, value], seed=0)
    with pytest.raises(ValueError, match="shape"):
        order_by_uncertainty([[0.0]], seed=0)


# Classes.


def test_a_limit_of_a_class_is_the_test_of_its_rows_alone():
    rng = np.random.default_rng(2)
    order, predicted = rng.permutation(600), rng.choice(["a", "b", "c"], 600)
    tested = rng.permutation(600)[:300]
    wrong = rng.random(300) < 0.12
    limits = {"a": (predicted == "a", 30), "b": (predicted == "b", 20), None: (order >= 0, 90)}
    tests = accept_rows_of_parts(order, tested, wrong, limits=limits, delta=0.3)
    bad = np.zeros(600, bool)
    bad[tested] = wrong
    whole = accept_rows(order, tested, bad[tested], limit=90, delta=0.1)
    expected = whole.is_accepted.copy()
    for name, limit in (("a", 30), ("b", 20)):
        rows = np.flatnonzero(predicted == name)
        by_rank = np.argsort(np.argsort(order)[rows])
        inside = np.flatnonzero(np.isin(rows, tested))
        part = accept_rows(by_rank, inside, bad[rows[inside]], limit=limit, delta=0.1)
        expected[rows] &= part.is_accepted
        assert tests[name].errors_left <= min(part.errors_left, limit)
        assert (tests[name].n_tested, tests[name].n_wrong) == (part.n_tested, part.n_wrong)
        assert not tests[name].is_accepted[predicted != name].any()
    np.testing.assert_array_equal(tests[None].is_accepted, expected)
    assert 0 < expected.sum() < whole.n_accepted


def test_a_part_without_rows():
    limits = {"none": (np.zeros(4, bool), 0), "all": (np.ones(4, bool), 4)}
    tests = accept_rows_of_parts(np.arange(4), [0], [False], limits=limits, delta=0.1)
    assert tests["all"].is_accepted.tolist() == [False, True, True, True]
    assert tests["none"].n_accepted == 0


@pytest.mark.parametrize("n_pool", [30, 1000, 20_000, 10**6])
@pytest.mark.parametrize("delta", [0.05, 0.01])
def test_pools_of_any_size_are_broken_with_probability_delta_at_most(n_pool, delta):
    """Exactly: at worst the errors come first, or all are tied, and are one more than can be left
    and found. Then they all stay if at most c of them test. One more allowed error breaks it."""
    for max_error, part in ((0.01, 0.3), (0.05, 0.01), (0.05, 0.2), (0.3, 0.001), (0.3, 0.5)):
        limit = error_limit(max_error, n_pool)
        n_tested = max(int(part * n_pool), least_tested(n_pool, limit, delta))
        c = allowed_errors(n_pool, n_tested, limit, delta)
        if c < n_tested:  # else all rows are tested
            assert hypergeom.cdf(c, n_pool, limit + c + 1, n_tested) <= delta
            assert hypergeom.cdf(c + 1, n_pool, limit + c + 2, n_tested) > delta * (1 - 1e-5)
