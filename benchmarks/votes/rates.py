"""How often intervals of class rates hold on real votes: 200 draws of gold labels of each set.

    python -m benchmarks.votes.rates    # part of make votes-table

Labels are a simple random sample of the rows with gold labels, and the rates are those of these
rows. What is in the results file is not run again.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.results_file import Key, read_results, today, write_results
from benchmarks.votes.data import JUDGES, vote_set
from benchmarks.votes.own.aggregator import fit_quietly
from benchmarks.votes.results import RATES
from hedgeclipper import VoteAggregator

CASES = ((JUDGES, 50), ("crowd_rte", 50), ("bf_cardio", 50), ("crowd_bluebird", 30))
LEVEL, N_DRAWS = 0.95, 200


@dataclass(frozen=True)
class RateResult:
    """The interval of the last class, and its true rate."""

    data: str
    n_labels: int
    draw: int
    kind: str
    rate: float
    estimate: float
    lower: float
    upper: float
    date: str

    @property
    def key(self) -> Key:
        """Return what was run."""
        return Key(self.data, self.n_labels, self.draw, self.kind)

    @property
    def holds(self) -> bool:
        """Return whether the rate is in the interval, which has six digits."""
        return self.lower - 1e-6 <= self.rate <= self.upper + 1e-6


def run_draw(data: str, n_labels: int, draw: int) -> list[RateResult]:
    """Return the interval as an estimate, and with a guarantee."""
    votes = vote_set(data)
    L, y = votes.L[votes.y >= 0], votes.y[votes.y >= 0]
    chosen = np.random.default_rng([draw, n_labels]).choice(y.size, n_labels, replace=False)
    gold = np.full(y.size, -1)
    gold[chosen] = y[chosen]
    results, last = [], int(y.max())
    for level in (None, LEVEL):
        model = VoteAggregator(confidence_level=level, random_state=draw)
        found = fit_quietly(model, L, gold).class_rates(LEVEL)
        own = np.array([found.rates[last], found.lower[last], found.upper[last]]).round(6).tolist()
        rate = round(float(np.mean(y == last)), 6)
        results.append(RateResult(data, n_labels, draw, found.kind, rate, *own, today()))
    return results


def main(path: Path = RATES) -> None:
    results = read_results(path, RateResult)
    done = {(result.data, result.n_labels, result.draw) for result in results}
    for data, n_labels in CASES:
        for draw in range(N_DRAWS):
            if (data, n_labels, draw) not in done:
                results += run_draw(data, n_labels, draw)
        write_results(path, results, RateResult)
        print(data, flush=True)


if __name__ == "__main__":
    main()
