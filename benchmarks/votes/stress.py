"""Generated panels that are hard for one method or another: 30 draws of each cell.

    python -m benchmarks.votes.stress    # part of make votes-table

300 unlabeled rows. "independent" voters err independently of each other. Of "near-copies" each
second voter repeats one weak voter on 95 % of the rows. Three in ten "adversaries" are right less
often than by chance. In "two blocs" each second voter follows something that is wrong more often
than by chance, and the others make the same errors. What is in the results file is not run again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.figures import OURS
from benchmarks.results_file import Key, read_results, today, write_results
from benchmarks.votes.here import run_here
from benchmarks.votes.results import STRESS
from hedgeclipper import __version__

KINDS = ("independent", "near-copies", "adversaries", "two blocs")
VOTERS, CLASSES, LABELS = (3, 30, 100), (2, 5), (10, 50, 200)
N_ROWS, N_DRAWS = 300, 30
METHODS = (OURS, "naive_bayes", "majority")


@dataclass(frozen=True)
class StressResult:
    """The accuracy of a method on one draw of a cell."""

    kind: str
    n_voters: int
    n_classes: int
    n_labels: int
    draw: int
    method: str
    accuracy: float
    date: str
    version: str

    @property
    def cell(self) -> tuple[str, int, int, int]:
        """Return what was generated."""
        return self.kind, self.n_voters, self.n_classes, self.n_labels

    @property
    def key(self) -> Key:
        """Return what was run."""
        return Key("-".join(map(str, self.cell[:3])), self.n_labels, self.draw, self.method)


def generate(
    kind: str, n_voters: int, n_classes: int, n_labels: int, draw: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return votes and classes, the labeled rows first, with a label of each class."""
    rng = np.random.default_rng([KINDS.index(kind), n_voters, n_classes, n_labels, draw])
    n_rows, chance = N_ROWS + n_labels, 1.0 / n_classes
    truth = rng.choice(n_classes, n_rows, p=rng.dirichlet(np.full(n_classes, 8.0)))
    truth[:n_classes] = np.arange(n_classes)

    def votes(accuracy: float) -> np.ndarray:
        wrong = (truth + rng.integers(1, n_classes, n_rows)) % n_classes
        return np.where(rng.random(n_rows) < accuracy, truth, wrong)

    def better(low: float, high: float) -> float:
        return chance + (1.0 - chance) * rng.uniform(low, high)

    columns = [votes(better(0.1, 0.75)) for _ in range(n_voters)]
    if kind == "near-copies":
        weak = votes(better(0.15, 0.15))
        for k in range(1, n_voters, 2):
            columns[k] = np.where(rng.random(n_rows) < 0.95, weak, columns[k])
    if kind == "adversaries":
        for k in np.flatnonzero(rng.random(n_voters) < 0.3):
            columns[k] = votes(chance * rng.uniform(0.2, 0.8))
    if kind == "two blocs":
        blocs = votes(0.8), votes(0.85 * chance)
        for k in range(n_voters):
            follows = rng.random(n_rows) < rng.uniform(0.6, 0.95)
            columns[k] = np.where(follows, blocs[k % 2], rng.integers(0, n_classes, n_rows))
    return np.array(columns).T, truth


def run_draw(
    cell: tuple[str, int, int, int], draw: int, methods: Iterable[str]
) -> list[StressResult]:
    """Return the accuracy of each method on the unlabeled rows."""
    n_classes, n_labels = cell[2:]
    L, truth = generate(*cell, draw)
    gold, results = np.where(np.arange(truth.size) < n_labels, truth, -1), []
    for method in methods:
        found = run_here(method, L, gold, n_classes, draw)
        accuracy = round(float(np.mean(found.labels[n_labels:] == truth[n_labels:])), 6)
        results.append(StressResult(*cell, draw, method, accuracy, today(), __version__))
    return results


def main(path: Path = STRESS) -> None:
    results = read_results(path, StressResult)
    done = {(result.cell, result.draw, result.method) for result in results}
    for cell in product(KINDS, VOTERS, CLASSES, LABELS):
        n_before = len(results)
        for draw in range(N_DRAWS):
            missing = [method for method in METHODS if (cell, draw, method) not in done]
            results += run_draw(cell, draw, missing) if missing else []
        if len(results) > n_before:
            write_results(path, results, StressResult)
            print(cell, flush=True)


if __name__ == "__main__":
    main()
