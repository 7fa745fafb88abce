"""Generated crowds: sparse votes of voters that are hard for some method.

    python -m benchmarks.votes.crowds    # part of make votes-table

Ten draws of each: 2,000 rows of two classes, of which 20 or 100 have gold labels, drawn at
random. The 70 workers of a crowd differ in how many rows they vote on, by a factor of about ten,
and a little in their bias to a class. On average 3, 7 or 20 of them vote on a row. "narrow" workers
are right on 65% to 75% of the rows, "wide" ones on 40% to 97%, "weak" ones on 50% to 70%. Of
"spammers" every second votes at random, and of "adversaries" every fifth is wrong more often than
right. On "hard rows", a third of all, every worker is nearly guessing. "teams" of seven share two
thirds of their errors. The frequency of the first class is 0.5, 0.65 or 0.8. Of 30 labeling
functions each votes for one class only, on 2% to 30% of the rows; "few of one" has five of them for
one of the classes, and "teams" of five mostly vote on the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from benchmarks.figures import OURS
from benchmarks.results_file import FOLDER, Key, Line, read_options, run_missing, today
from benchmarks.votes.methods import METHODS
from benchmarks.votes.peers.peer import Setting
from benchmarks.votes.run_votes import accuracy_and_loss
from hedgeclipper import __version__

RESULTS = FOLDER / "votes_crowds.csv"
N_DRAWS, LABELS = 10, (20, 100)
# lowest and highest accuracy of a worker
ABILITIES = {
    "narrow": (0.65, 0.75), "wide": (0.4, 0.97), "weak": (0.5, 0.7), "spammers": (0.7, 0.9),
    "adversaries": (0.6, 0.85),
}  # fmt: skip
RELATIONS, VOTES_PER_ROW = ("independent", "hard rows", "teams"), (3, 7, 20)
BALANCES = (0.5, 0.65, 0.8)
N_WORKERS, N_FUNCTIONS, N_ROWS = 70, 30, 2_000
PLAIN = ("majority", "naive_bayes", "accuracy_weights", "ridge", "best_voter")
COMPARED = (OURS, *PLAIN)


class Crowd(NamedTuple):
    """What is generated; ``n_votes`` on a row is 0 for labeling functions."""

    kind: str
    relation: str
    n_votes: int
    balance: float

    @property
    def name(self) -> str:
        """Return a name for results and tables."""
        votes = f", {self.n_votes} votes a row" if self.n_votes else ""
        return f"{self.kind}, {self.relation}{votes}, {self.balance:g}"

    def generate(self, n_labels: int, draw: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return votes, classes and gold labels, with one of each class."""
        rng = np.random.default_rng([CROWDS.index(self), draw])
        truth = (rng.random(N_ROWS) >= self.balance).astype(int)
        votes = (self._workers if self.n_votes else self._functions)(truth, rng)
        rng, gold = np.random.default_rng([n_labels, draw]), np.full(truth.size, -1)
        while True:
            rows = rng.choice(truth.size, n_labels, replace=False)
            if np.unique(truth[rows]).size == 2:
                gold[rows] = truth[rows]
                return votes, truth, gold

    def _workers(self, truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        activity = np.exp(0.7 * rng.normal(size=N_WORKERS))
        rate = np.clip(self.n_votes * activity / activity.sum(), 0.0, 1.0)
        accuracy = rng.uniform(*ABILITIES[self.kind], N_WORKERS)
        if self.kind == "spammers":
            accuracy[::2] = 0.5
        if self.kind == "adversaries":
            accuracy[::5] = 1.0 - accuracy[::5]
        # log-odds of a right vote in each class: biased workers are better in one of them
        bias = 0.4 * rng.normal(size=N_WORKERS)
        skill = logit(accuracy) + np.array([bias, -bias])[truth]
        if self.relation == "hard rows":
            skill = skill * np.where(rng.random(N_ROWS) < 1 / 3, 0.1, 1.5)[:, None]
        noise = rng.random((N_ROWS, N_WORKERS))
        if self.relation == "teams":
            noise = _shared(noise, 7, 2 / 3, rng)
        votes = np.where(noise < expit(skill), truth[:, None], 1 - truth[:, None])
        return np.where(rng.random(votes.shape) < rate, votes, -1)

    def _functions(self, truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        own = np.arange(N_FUNCTIONS) % (2 if self.kind == "one class each" else 6) == 0
        own = rng.permutation(own.astype(int))
        coverage = np.exp(rng.uniform(np.log(0.02), np.log(0.3), N_FUNCTIONS))
        # on how many times as many rows of its own class as of the other, if these were as frequent
        lift = np.exp(rng.uniform(np.log(1.2), np.log(12.0), N_FUNCTIONS))
        rate = np.array([self.balance, 1.0 - self.balance])[own]
        elsewhere = coverage / (lift * rate + 1.0 - rate)
        chance = np.where(own == truth[:, None], np.minimum(lift * elsewhere, 0.95), elsewhere)
        noise = rng.random((N_ROWS, N_FUNCTIONS))
        if self.relation == "teams":
            noise = _shared(noise, 5, 2 / 3, rng)
        return np.where(noise < chance, own, -1)


def _shared(noise: np.ndarray, size: int, part: float, rng: np.random.Generator) -> np.ndarray:
    """Return noise of which columns in teams of that size have a part in common."""
    n_rows, n_columns = noise.shape
    common = np.repeat(rng.random((n_rows, n_columns // size)), size, axis=1)
    return np.where(rng.random(noise.shape) < part, common, noise)


# each balance beside each ability, each relation and each number of votes
CROWDS = [
    *(
        Crowd(kind, relation, n_votes, BALANCES[(i + j + k) % 3])
        for (i, kind), (j, relation), (k, n_votes) in product(
            enumerate(ABILITIES), enumerate(RELATIONS), enumerate(VOTES_PER_ROW)
        )
    ),
    *(
        Crowd(kind, relation, 0, balance)
        for kind in ("one class each", "few of one")
        for relation in ("independent", "teams")
        for balance in BALANCES
    ),
]
CELLS = {cell.name: cell for cell in CROWDS}


@dataclass(frozen=True)
class CrowdResult(Line):
    """Accuracy and log loss of a method on the rows without gold labels of one draw.

    The log loss is NaN in results that are older than it.
    """

    accuracy: float
    log_loss: float
    date: str
    version: str


def run_draw(keys: Sequence[Key]) -> list[CrowdResult]:
    """Return what methods make of a draw."""
    cell, n_labels, draw, _ = keys[0]
    L, truth, gold = CELLS[cell].generate(n_labels, draw)
    setting, hidden, results = Setting(gold, int(truth.max()) + 1, draw), gold < 0, []
    for key in keys:
        found = METHODS[key.method].run(L, setting)
        parts = truth[hidden], found.probabilities[hidden], found.labels[hidden]
        results.append(CrowdResult(*key, *accuracy_and_loss(*parts), today(), __version__))
    return results


def main() -> None:
    options = read_options(__doc__, COMPARED)
    draws = range(options.draws or N_DRAWS)
    keys = [Key(*own) for own in product(CELLS, LABELS, draws, options.methods)]
    run_missing(
        keys, run_draw, options.results or RESULTS, CrowdResult,
        together=itemgetter(slice(3)), n_jobs=options.jobs, again=options.again,
    )  # fmt: skip


if __name__ == "__main__":
    main()
