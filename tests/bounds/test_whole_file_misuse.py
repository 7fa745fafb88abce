"""Ways to break the test of a whole file: broken if misused, not if used as intended.

Each simulation counts how often more errors are left than allowed. Misuse breaks the limit
clearly more often than delta; the intended use at most as often, up to three standard errors.
"""

import numpy as np
import pytest

from hedgeclipper.bounds.whole_file import (
    accept_rows,
    error_limit,
    order_by_uncertainty,
)

pytestmark = pytest.mark.slow

DELTA, N_ROWS = 0.05, 2000
LIMIT = error_limit(0.05, N_ROWS)


def share_broken(experiment, n_repeats=300):
    """Return how often the limit is broken by misuse, and by the intended use."""
    rng = np.random.default_rng(0)
    return np.mean([experiment(rng) for _ in range(n_repeats)], axis=0)


def assert_only_misuse_breaks(experiment, at_least, n_repeats=300):
    misused, intended = share_broken(experiment, n_repeats)
    assert misused > at_least
    assert intended <= DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / n_repeats)


def place_errors(rng, n_errors, n_rows=N_ROWS):
    errors = np.zeros(n_rows, bool)
    errors[rng.choice(n_rows, n_errors, replace=False)] = True
    return errors


def left_by(test, order, tested, errors, limit=LIMIT, delta=DELTA):
    """Return how many errors the test leaves."""
    found = test(order, tested, errors[tested], limit=limit, delta=delta)
    return np.sum(found.is_accepted & errors)


def test_choosing_after_the_draw():
    """Easy rows that are labeled after the draw leave the pool, but the sample keeps its share."""

    def experiment(rng):
        easy = np.arange(N_ROWS) < N_ROWS // 2
        errors = np.zeros(N_ROWS, bool)
        errors[rng.choice(np.flatnonzero(~easy), LIMIT + 60, replace=False)] = True

        def broken(pool, tested):
            inside = np.flatnonzero(np.isin(pool, tested))
            order = order_by_uncertainty(np.zeros(pool.size), seed=1)
            return left_by(accept_rows, order, inside, errors[pool]) > LIMIT

        first = rng.choice(N_ROWS, 200, replace=False)
        is_tested = np.isin(np.arange(N_ROWS), first)
        rest = np.flatnonzero(~easy)
        return (
            broken(np.flatnonzero(~easy | is_tested), first),
            broken(rest, rng.choice(rest, 200, replace=False)),
        )

    assert_only_misuse_breaks(experiment, at_least=0.5)


def test_skipped_rows():
    """Half of the wrong test rows are too hard for people: dropped, or counted as wrong."""

    def experiment(rng):
        errors, order = place_errors(rng, 2 * LIMIT - 20), np.arange(N_ROWS)
        tested = rng.choice(N_ROWS, 300, replace=False)
        skipped = errors[tested] & (rng.random(tested.size) < 0.5)
        return (
            left_by(accept_rows, order, tested[~skipped], errors) > LIMIT,
            left_by(accept_rows, order, tested, errors) > LIMIT,
        )

    assert_only_misuse_breaks(experiment, at_least=0.3)


@pytest.mark.parametrize("misuse", ["sorted by test labels", "test rows last"])
def test_an_order_that_knows(misuse):
    """Equal uncertainties: an order that depends on the test rows, and one that does not."""

    def experiment(rng):
        errors = place_errors(rng, 2 * LIMIT)
        tested = rng.choice(N_ROWS, 200, replace=False)
        if misuse == "test rows last":
            knowing = np.append(np.setdiff1d(np.arange(N_ROWS), tested), tested)
        else:
            bad = np.isin(np.arange(N_ROWS), tested[errors[tested]])
            knowing = np.argsort(bad, kind="stable")
        fair = order_by_uncertainty(np.zeros(N_ROWS), seed=int(rng.integers(1000)))
        return [left_by(accept_rows, order, tested, errors) > LIMIT for order in (knowing, fair)]

    assert_only_misuse_breaks(experiment, at_least=0.8)
