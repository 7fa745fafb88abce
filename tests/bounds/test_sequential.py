"""Sequential test of a whole file: valid under the worst stopping time."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from hedgeclipper.bounds.intervals import count_bounds
from hedgeclipper.bounds.sequential import (
    FRACTIONS,
    WEIGHTS,
    accept_rows_so_far,
    allowed_errors_at,
    count_bounds_so_far,
    least_drawn,
)
from hedgeclipper.bounds.whole_file import (
    allowed_errors,
    error_limit,
    least_tested,
)
from tests.bounds.small_pools import accepted_first, all_masks

LEVELS = (0.6, 0.35, 0.15, 0.05)


def probability(n_drawn, n_wrong, n_pool, errors):
    """Return P(t, k | E) up to a factor without E, as a fraction."""
    return Fraction(
        math.comb(errors, n_wrong) * math.comb(n_pool - errors, n_drawn - n_wrong),
        math.comb(n_pool, n_drawn),
    )


def martingale(n_drawn, n_wrong, n_pool, limit):
    """Return M(t, k), exactly, by its definition and its edges."""
    base, mean = probability(n_drawn, n_wrong, n_pool, limit + 1) if limit < n_pool else 0, 0
    if n_drawn - n_wrong > n_pool - limit - 1:
        return math.inf
    if base == 0:
        return 0
    for fraction, weight in zip(FRACTIONS, WEIGHTS, strict=True):
        errors = math.floor(fraction * (limit + 1))
        top = probability(n_drawn, n_wrong, n_pool, errors)
        mean += Fraction(weight).limit_denominator(1000) * top / base
    return mean


@pytest.mark.parametrize("n_pool", [1, 4, 7, 10])
def test_it_is_a_martingale_at_the_limit_and_falls_above(n_pool):
    """The next row is wrong with probability (E - k) / (N - t). The mean of M after it is M itself
    with E = L + 1 errors, as long as right rows are left, and otherwise not more."""
    for limit in range(n_pool):
        assert martingale(0, 0, n_pool, limit) == 1
        for errors in range(limit + 1, n_pool + 1):
            for t in range(n_pool):
                for k in range(max(0, t - n_pool + errors), min(t, errors) + 1):
                    now = martingale(t, k, n_pool, limit)
                    if math.isinf(now) or now == 0:
                        continue
                    wrong = Fraction(errors - k, n_pool - t)
                    mean = 0
                    if wrong > 0:
                        mean += wrong * martingale(t + 1, k + 1, n_pool, limit)
                    if wrong < 1:
                        mean += (1 - wrong) * martingale(t + 1, k, n_pool, limit)
                    assert mean <= now
                    assert mean == now or errors > limit + 1 or wrong == 1


@pytest.mark.parametrize("n_pool", [1, 2, 5, 13, 30])
def test_allowed_errors_are_those_of_the_definition(n_pool):
    looks = np.arange(n_pool + 1)
    for limit in {0, 1, 2, n_pool // 3, n_pool - 1, n_pool, n_pool + 1}:
        for delta in (0.6, 0.21, 0.05, 1e-9):
            ours = allowed_errors_at(looks, n_pool, limit, delta)
            for t in looks.tolist():
                values = [martingale(t, k, n_pool, limit) for k in range(t + 1)]
                assert all(a >= b for a, b in itertools.pairwise(values))
                assert ours[t] == sum(value >= 1.000001 / delta for value in values) - 1
            assert np.all(np.diff(ours) >= 0)


@pytest.mark.parametrize("delta", LEVELS)
@pytest.mark.parametrize("n_pool", range(1, 8))
def test_it_is_ever_broken_with_probability_delta_at_most(n_pool, delta):
    """The worst stopping time stops as soon as it is broken. Rows are drawn one after the other, so
    the probability that a set of drawn rows is reached unbroken is the mean over its last row, and
    what is broken at a set adds up, for each pattern of errors."""
    patterns, drawn_sets = all_masks(n_pool), all_masks(n_pool)
    sizes, powers = drawn_sets.sum(axis=1), 2 ** np.arange(n_pool)[::-1]
    for limit in range(n_pool + 1):
        allowed = allowed_errors_at(sizes, n_pool, limit, delta)
        unbroken = np.zeros((len(drawn_sets), len(patterns)))
        broken = np.zeros(len(patterns))
        for number in np.argsort(sizes, kind="stable"):
            drawn, t = drawn_sets[number], sizes[number]
            reached = 1.0 if t == 0 else 0.0
            for row in np.flatnonzero(drawn):
                reached = reached + unbroken[number - powers[row]] / (n_pool - t + 1)
            accepted = accepted_first(patterns & drawn, allowed[number])
            too_many = np.sum(accepted & patterns, axis=1) > limit
            broken += reached * too_many
            unbroken[number] = reached * ~too_many
        assert broken.max() <= delta


def ever_accepted(n_pool, limit, errors, delta, n_looks=None):
    """Return the probability that rows with so many errors are accepted at each first look.

    The wrong ones among t drawn rows make a Markov chain; those at most c_t are accepted.
    """
    n_looks = n_pool if n_looks is None else n_looks
    allowed = allowed_errors_at(np.arange(n_looks + 1), n_pool, limit, delta)
    waiting, accepted = np.zeros(errors + 1), np.zeros(n_looks + 1)
    waiting[0] = 1.0
    k = np.arange(errors + 1)
    for t in range(1, n_looks + 1):
        wrong = waiting * (errors - k) / (n_pool - t + 1)
        waiting -= wrong
        waiting[1:] += wrong[:-1]
        accepted[t] = waiting[: allowed[t] + 1].sum()
        waiting[: allowed[t] + 1] = 0.0
        if waiting.sum() < 1e-12:
            break
    return accepted


def expected_labels(n_pool, limit, errors, delta):
    """Return the mean number of labels until rows with so many errors are accepted."""
    accepted = ever_accepted(n_pool, limit, errors, delta)
    assert accepted.sum() == pytest.approx(1.0)
    return float(accepted @ np.arange(n_pool + 1))


@pytest.mark.parametrize(
    ("n_pool", "limit", "n_looks"),
    [(10**6, 10_000, 3000), (5000, 250, 600), (2000, 20, 2000), (500, 50, 500), (30, 5, 30)],
)
def test_larger_pools_are_broken_with_probability_delta_at_most(n_pool, limit, n_looks):
    """Exactly: the rows with L + 1 errors are accepted at any look of so many."""
    broken = ever_accepted(n_pool, limit, limit + 1, 0.05, n_looks).sum()
    assert 0.03 < broken <= 0.05


@pytest.mark.slow
def test_the_mixture_needs_fewer_labels_than_others(monkeypatch):
    """On average over cases with few and with many errors, relative to the mixture that is kept."""
    module = "hedgeclipper.bounds.sequential"
    cases = [(5000, 0.05, 0.0), (5000, 0.05, 0.4), (5000, 0.05, 0.8), (500, 0.1, 0.2)]
    cases += [(500, 0.01, 0.0), (20_000, 0.1, 0.8), (20_000, 0.05, 0.6)]
    mixtures = {
        "kept": (FRACTIONS, WEIGHTS),
        "first": ((0.0, 0.1, 0.25, 0.45, 0.7), (0.2,) * 5),
        "none wrong or half": ((0.0, 0.5), (0.5, 0.5)),
        "many": (tuple(np.arange(16) / 16), (1 / 16,) * 16),
    }
    labels = {}
    for name, (fractions, weights) in mixtures.items():
        monkeypatch.setattr(f"{module}.FRACTIONS", fractions)
        monkeypatch.setattr(f"{module}.WEIGHTS", weights)
        labels[name] = np.array(
            [
                expected_labels(n, error_limit(part, n), int(share * part * n), 0.05)
                for n, part, share in cases
            ]
        )
    kept = labels.pop("kept")
    for name, others in labels.items():
        assert np.mean(kept / others) < 1.0, name


def test_published_numbers():
    assert allowed_errors_at([80, 200, 400, 600], 5000, 250, 0.05).tolist() == [0, 2, 9, 16]


@pytest.mark.parametrize(("n_pool", "limit"), [(10**6, 50_000), (5000, 50), (40, 2), (7, 0)])
def test_the_first_look_at_which_anything_can_be_accepted(n_pool, limit):
    first = least_drawn(n_pool, limit, 0.05)
    assert allowed_errors_at([first - 1, first], n_pool, limit, 0.05).tolist() == [-1, 0]
    assert first >= least_tested(n_pool, limit, 0.05)


def test_looks_may_come_in_any_order_and_shape():
    looks = np.array([[600, 80], [400, 80]])
    every = allowed_errors_at(np.arange(601), 5000, 250, 0.05)
    np.testing.assert_array_equal(allowed_errors_at(looks, 5000, 250, 0.05), every[looks])
    assert allowed_errors_at([], 10, 1, 0.05).size == 0


def test_a_million_rows_and_looks_at_all_of_them():
    n_pool, limit = 10**6, 50_000
    looks = np.linspace(1, n_pool, 2000).astype(int)
    allowed = allowed_errors_at(looks, n_pool, limit, 0.05)
    assert np.all(np.diff(allowed) >= 0)
    fixed = [allowed_errors(n_pool, int(t), limit, 0.05) for t in looks[1:40:13]]
    assert np.all(allowed[1:40:13] <= fixed)
    assert allowed[-1] == limit  # all errors are known


@pytest.mark.parametrize("n_drawn", [70, 2000, 30_000])
def test_rounding_does_not_matter_with_a_million_rows(n_drawn):
    """M as a product of small ratios, whose logarithms are added without rounding."""
    n_pool, limit, delta = 10**6, 50_000, 0.05

    def log_martingale(k):
        terms = []
        for fraction, weight in zip(FRACTIONS, WEIGHTS, strict=True):
            fewer = limit + 1 - math.floor(fraction * (limit + 1))
            if limit + 1 - fewer >= k:
                wrong, right = np.arange(k), np.arange(n_drawn - k)
                logs = np.log1p(-fewer / (limit + 1 - wrong)).tolist()
                logs += np.log1p(fewer / (n_pool - limit - 1 - right)).tolist()
                terms.append(math.log(weight) + math.fsum(logs))
        return np.logaddexp.reduce(terms)

    allowed = int(allowed_errors_at(n_drawn, n_pool, limit, delta))
    assert allowed < 0 or log_martingale(allowed) >= math.log(1 / delta)
    assert log_martingale(allowed + 1) < math.log(1 / delta) + 1e-5


@pytest.mark.parametrize(
    ("n_pool", "n_drawn", "limit", "expected"),
    [(10, 0, 10, 0), (10, 4, 11, 4), (10, 0, 9, -1), (10, 10, 0, 0), (10, 9, 0, -1), (0, 0, 0, 0)],
)
def test_edges(n_pool, n_drawn, limit, expected):
    assert allowed_errors_at(n_drawn, n_pool, limit, 0.05) == expected


def test_accepted_rows_are_the_most_of_any_look_so_far():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n_pool = int(rng.integers(1, 40))
        order, drawn = rng.permutation(n_pool), rng.permutation(n_pool)
        drawn = drawn[: rng.integers(0, n_pool + 1)]
        wrong, skipped = rng.random((2, drawn.size)) < rng.choice([0.0, 0.1, 0.4], (2, 1))
        limit, delta = int(rng.integers(0, n_pool // 2 + 1)), rng.choice([0.5, 0.1])
        ours = accept_rows_so_far(order, drawn, wrong, limit=limit, delta=delta, skipped=skipped)
        ranks, first = np.argsort(order), np.zeros(n_pool, bool)
        for t in range(drawn.size + 1):
            found = np.zeros(n_pool, bool)
            found[ranks[drawn[:t]]] = (wrong | skipped)[:t]
            first |= accepted_first(found, allowed_errors_at(t, n_pool, limit, delta))
        theirs = first[ranks]
        n_wrong = int(np.sum((wrong & ~skipped)[theirs[drawn]]))
        assert ours.n_tested == theirs[drawn].sum()
        theirs[drawn] = False
        np.testing.assert_array_equal(ours.is_accepted, theirs)
        assert ours.errors_left == min(max(limit - n_wrong, 0), theirs.sum())


@pytest.mark.parametrize("n_pool", [1, 4, 7])
@pytest.mark.parametrize("delta", [0.05, 0.3])
def test_bounds_on_counts_fail_at_any_look_as_rarely_as_they_say(n_pool, delta):
    """All orders of the draw are as likely, so the share of them is the probability."""
    for n_errors in range(n_pool + 1):
        orders = all_masks(n_pool, n_errors)
        bounds = [
            [count_bounds_so_far(order[:t], n_pool, delta) for t in range(n_pool + 1)]
            for order in orders
        ]
        least, most = np.moveaxis(np.array(bounds), -1, 0)
        assert np.mean(np.any(least > n_errors, axis=1)) <= delta
        assert np.mean(np.any(most < n_errors, axis=1)) <= delta
        assert np.all(least[:, -1] == n_errors)
        assert np.all(most[:, -1] == n_errors)


def test_bounds_on_counts_of_many_rows():
    """Not much wider than those for one look, and skipped rows count for neither bound."""
    rng, n_pool, n_errors = np.random.default_rng(0), 5000, 400
    wrong = np.zeros(n_pool, bool)
    wrong[rng.choice(n_pool, n_errors, replace=False)] = True
    drawn = wrong[rng.permutation(n_pool)[:500]]
    least, most = count_bounds_so_far(drawn, n_pool, 0.05)
    one_look = count_bounds(drawn.sum(), 500, n_pool - 500, 0.05)
    assert least <= drawn.sum() + one_look[0] <= n_errors <= drawn.sum() + one_look[1] <= most
    assert most - least < 2 * (one_look[1] - one_look[0])
    skipped = np.zeros(500, bool)
    skipped[:5] = True
    fewer, more = count_bounds_so_far(drawn, n_pool, 0.05, skipped)
    assert fewer <= least
    assert most <= more
