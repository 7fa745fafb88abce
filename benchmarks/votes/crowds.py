"""Generated crowds: sparse panels of workers, and labeling functions that vote for one class each.

    python -m benchmarks.votes.crowds    # part of make votes-table

2,000 rows of two classes, of which 20 or 100 have gold labels, drawn at random. The 70 workers of a
crowd differ in how many rows they vote on, by a factor of about ten, and a little in their bias to
a class. On average 3, 7 or 20 of them vote on a row. "narrow" workers are right on 65% to 75% of
the rows, "wide" ones on 40% to 97%, "weak" ones on 50% to 70%. Of "spammers" every second votes at
random, and of "adversaries" every fifth is wrong more often than right. On "hard rows", a third of
all, every worker is nearly guessing. "teams" of seven share two thirds of their errors. The
frequency of the first class is 0.5, 0.65 or 0.8. Of 30 labeling functions each votes for one class
only, on 2% to 30% of the rows; "few of one" has five of them for one of the classes, and "teams" of
five mostly vote on the same rows. What is in the results file is not run again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from benchmarks.figures import OURS
from benchmarks.results_file import Key, read_results, today, write_results
from benchmarks.votes.here import run_here
from benchmarks.votes.results import CROWDS
from benchmarks.votes.run_votes import accuracy_and_loss
from hedgeclipper import __version__

# lowest and highest accuracy of a worker
ABILITIES = {
    "narrow": (0.65, 0.75), "wide": (0.4, 0.97), "weak": (0.5, 0.7), "spammers": (0.7, 0.9),
    "adversaries": (0.6, 0.85),
}  # fmt: skip
RELATIONS, VOTES_PER_ROW = ("independent", "hard rows", "teams"), (3, 7, 20)
BALANCES, LABELS = (0.5, 0.65, 0.8), (20, 100)
N_WORKERS, N_FUNCTIONS, N_ROWS, N_DRAWS = 70, 30, 2_000, 10
PLAIN = ("majority", "naive_bayes", "accuracy_weights", "ridge", "best_voter")


class Cell(NamedTuple):
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


# each balance beside each ability, each relation and each number of votes
CELLS = [
    *(
        Cell(kind, relation, n_votes, BALANCES[(i + j + k) % 3])
        for (i, kind), (j, relation), (k, n_votes) in product(
            enumerate(ABILITIES), enumerate(RELATIONS), enumerate(VOTES_PER_ROW)
        )
    ),
    *(
        Cell(kind, relation, 0, balance)
        for kind in ("one class each", "few of one")
        for relation in ("independent", "teams")
        for balance in BALANCES
    ),
]


def generate(cell: Cell, draw: int) -> tuple[np.ndarray, np.ndarray]:
    """Return votes and classes."""
    rng = np.random.default_rng([CELLS.index(cell), draw])
    truth = (rng.random(N_ROWS) >= cell.balance).astype(int)
    return (_crowd if cell.n_votes else _functions)(cell, truth, rng), truth


def _crowd(cell: Cell, truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the votes of workers."""
    activity = np.exp(0.7 * rng.normal(size=N_WORKERS))
    rate = np.clip(cell.n_votes * activity / activity.sum(), 0.0, 1.0)
    accuracy = rng.uniform(*ABILITIES[cell.kind], N_WORKERS)
    if cell.kind == "spammers":
        accuracy[::2] = 0.5
    if cell.kind == "adversaries":
        accuracy[::5] = 1.0 - accuracy[::5]
    # log-odds of a right vote in each class: biased workers are better in one of them
    bias = 0.4 * rng.normal(size=N_WORKERS)
    skill = logit(accuracy) + np.array([bias, -bias])[truth]
    if cell.relation == "hard rows":
        skill = skill * np.where(rng.random(N_ROWS) < 1 / 3, 0.1, 1.5)[:, None]
    noise = rng.random((N_ROWS, N_WORKERS))
    if cell.relation == "teams":
        noise = _shared(noise, 7, 2 / 3, rng)
    votes = np.where(noise < expit(skill), truth[:, None], 1 - truth[:, None])
    return np.where(rng.random(votes.shape) < rate, votes, -1)


def _functions(cell: Cell, truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the votes of labeling functions for one class each."""
    own = np.arange(N_FUNCTIONS) % (2 if cell.kind == "one class each" else 6) == 0
    own = rng.permutation(own.astype(int))
    coverage = np.exp(rng.uniform(np.log(0.02), np.log(0.3), N_FUNCTIONS))
    # on how many times as many rows of its own class as of the other, if these were as frequent
    lift = np.exp(rng.uniform(np.log(1.2), np.log(12.0), N_FUNCTIONS))
    rate = np.array([cell.balance, 1.0 - cell.balance])[own]
    elsewhere = coverage / (lift * rate + 1.0 - rate)
    chance = np.where(own == truth[:, None], np.minimum(lift * elsewhere, 0.95), elsewhere)
    noise = rng.random((N_ROWS, N_FUNCTIONS))
    if cell.relation == "teams":
        noise = _shared(noise, 5, 2 / 3, rng)
    return np.where(noise < chance, own, -1)


def _shared(noise: np.ndarray, size: int, part: float, rng: np.random.Generator) -> np.ndarray:
    """Return noise of which columns in teams of that size have a part in common."""
    n_rows, n_columns = noise.shape
    common = np.repeat(rng.random((n_rows, n_columns // size)), size, axis=1)
    return np.where(rng.random(noise.shape) < part, common, noise)


@dataclass(frozen=True)
class CrowdResult:
    """Accuracy and log loss of a method on the rows without gold labels of one draw."""

    cell: str
    n_labels: int
    draw: int
    method: str
    accuracy: float
    log_loss: float
    date: str
    version: str

    @property
    def key(self) -> Key:
        """Return what was run."""
        return Key(self.cell, self.n_labels, self.draw, self.method)


def labeled_rows(truth: np.ndarray, n_labels: int, draw: int) -> np.ndarray:
    """Return the gold labels of a draw, -1 for the other rows; both classes have one."""
    rng = np.random.default_rng([n_labels, draw])
    while True:
        rows = rng.choice(truth.size, n_labels, replace=False)
        if np.unique(truth[rows]).size == 2:
            gold = np.full(truth.size, -1)
            gold[rows] = truth[rows]
            return gold


def run_draw(cell: Cell, n_labels: int, draw: int, methods: Iterable[str]) -> list[CrowdResult]:
    """Return what methods make of a draw."""
    L, truth = generate(cell, draw)
    gold, results = labeled_rows(truth, n_labels, draw), []
    hidden = gold < 0
    for method in methods:
        found = run_here(method, L, gold, 2, draw)
        figures = accuracy_and_loss(
            truth[hidden], found.probabilities[hidden], found.labels[hidden]
        )
        results.append(
            CrowdResult(cell.name, n_labels, draw, method, *figures, today(), __version__)
        )
    return results


def main(path: Path = CROWDS) -> None:
    results = read_results(path, CrowdResult)
    done = {result.key for result in results}
    for cell, n_labels in product(CELLS, LABELS):
        for draw in range(N_DRAWS):
            keys = {m: Key(cell.name, n_labels, draw, m) for m in (OURS, *PLAIN)}
            missing = [method for method, key in keys.items() if key not in done]
            results += run_draw(cell, n_labels, draw, missing) if missing else []
        write_results(path, results, CrowdResult)
        print(cell.name, n_labels, flush=True)


if __name__ == "__main__":
    main()
