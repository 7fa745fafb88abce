"""How often intervals of class rates hold on real votes: 200 draws of gold labels of each set.

    python -m benchmarks.votes.rates    # part of make votes-table

Labels are a simple random sample of the rows with gold labels, and the rates are those of these
rows. What is in the results file is not run again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from benchmarks.results_file import FOLDER, Key, Line, read_options, run_missing, today
from benchmarks.votes.data import JUDGES, vote_set
from benchmarks.votes.ours import fit_quietly
from hedgeclipper import VoteAggregator

RATES = FOLDER / "votes_rates.csv"
CASES = ((JUDGES, 50), ("crowd_rte", 50), ("bf_cardio", 50), ("crowd_bluebird", 30))
KINDS = {"estimate": None, "guarantee": 0.95}
LEVEL, N_DRAWS = 0.95, 200


@dataclass(frozen=True)
class RateResult(Line):
    """The interval of the last class, and its true rate; ``method`` is its kind."""

    rate: float
    estimate: float
    lower: float
    upper: float
    date: str

    @property
    def holds(self) -> bool:
        """Return whether the rate is in the interval, which has six digits."""
        return self.lower - 1e-6 <= self.rate <= self.upper + 1e-6


def run_keys(keys: Sequence[Key]) -> list[RateResult]:
    """Return the interval as an estimate, or with a guarantee."""
    data, n_labels, draw, _ = keys[0]
    votes = vote_set(data)
    L, y = votes.L[votes.y >= 0], votes.y[votes.y >= 0]
    chosen = np.random.default_rng([draw, n_labels]).choice(y.size, n_labels, replace=False)
    gold = np.full(y.size, -1)
    gold[chosen] = y[chosen]
    results, last = [], int(y.max())
    for key in keys:
        model = VoteAggregator(confidence_level=KINDS[key.method], random_state=draw)
        found = fit_quietly(model, L, gold).class_rates(LEVEL)
        own = np.array([found.rates[last], found.lower[last], found.upper[last]]).round(6).tolist()
        rate = round(float(np.mean(y == last)), 6)
        results.append(RateResult(*key[:3], found.kind, rate, *own, today()))
    return results


def main() -> None:
    options = read_options(__doc__)
    draws = range(options.draws or N_DRAWS)
    keys = [Key(*case, draw, kind) for case in CASES for draw in draws for kind in KINDS]
    run_missing(
        keys, run_keys, options.results or RATES, RateResult,
        together=itemgetter(slice(3)), n_jobs=options.jobs, again=options.again,
    )  # fmt: skip


if __name__ == "__main__":
    main()
