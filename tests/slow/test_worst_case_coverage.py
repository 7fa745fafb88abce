"""Does the worst case under exact bounds hold as often as these say, and does it say anything?"""

import numpy as np
import pytest

from hedgeclipper import solve_game
from hedgeclipper.bounds.intervals import proportion_bounds

DELTA, N_DRAWS = 0.05, 1000
pytestmark = pytest.mark.slow


def population(rng, n, p, abstain):
    """Rows of one population: voters right with their own probability, asleep at random."""
    z = rng.choice([-1.0, 1.0], n, p=[0.4, 0.6])
    accuracies = np.linspace(0.55, 0.95, p)
    votes = np.where(rng.random((n, p)) < accuracies, z[:, None], -z[:, None])
    votes[rng.random((n, p)) < abstain] = np.nan
    return votes, z


def one_draw(rng, m, n, p, abstain):
    """Return the error of the randomized prediction, and its worst case."""
    votes, z = population(rng, m + n, p, abstain)
    known, rest, truth = votes[:m], votes[m:], z[m:]
    labeled, awake = (np.sum(~np.isnan(part), axis=0) for part in (known, rest))
    right = np.sum(known == z[:m, None], axis=0)
    accuracy, _ = proportion_bounds(right, labeled, awake, DELTA / p)
    solution = solve_game(rest, 2 * accuracy - 1, tol=1e-2)
    return np.mean((1 - truth * solution.predictions(rest)) / 2), solution.worst_case_error


@pytest.mark.parametrize(
    ("m", "n", "p", "abstain", "informative"),
    [(60, 300, 4, 0.0, False), (200, 500, 6, 0.3, False), (2000, 4000, 6, 0.2, True)],
)
@pytest.mark.parametrize("seed", [0, 2026])
def test_the_worst_case_is_violated_no_more_often_than_delta(m, n, p, abstain, informative, seed):
    rng = np.random.default_rng(seed)
    draws = [one_draw(rng, m, n, p, abstain) for _ in range(N_DRAWS)]
    error, upper = np.array(draws).T
    assert np.mean(error > upper + 1e-9) <= DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / N_DRAWS)
    if informative:
        assert np.median(upper) < 0.3
