"""How often the certificate holds: 200 draws of 100 labels of every set, at 95 %.

    python -m benchmarks.votes.coverage [n_draws]       # part of make votes-table

Labels are a simple random sample of the rows that are scored, at most 5,000, redrawn each time:
the training rows of sets with a split, the rows with gold labels of crowds. What is in the results
file already is not run again.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.results_file import Key, read_results
from benchmarks.run_table import run_all
from benchmarks.votes.bounds import bound_result, fit_labeled, shuffled_rows
from benchmarks.votes.data import SETS
from benchmarks.votes.results import COVERAGE, BoundResult
from benchmarks.votes.run_votes import check_ready

N_DRAWS, N_LABELS, DELTA = 200, 100, 0.05
DRAWS_AT_ONCE = 10


class Task(NamedTuple):
    """Some draws of a set."""

    data: str
    draws: tuple[int, ...]


def plan(n_draws: int, done: set[Key]) -> list[Task]:
    """Return the draws that are still to run, some at a time."""
    tasks = []
    for name in SETS:
        draws = [d for d in range(n_draws) if Key(name, N_LABELS, d, "random") not in done]
        parts = [draws[i : i + DRAWS_AT_ONCE] for i in range(0, len(draws), DRAWS_AT_ONCE)]
        tasks += [Task(name, tuple(part)) for part in parts]
    order = np.random.default_rng(0).permutation(len(tasks))
    return [tasks[number] for number in order]


def run_task(task: Task) -> list[BoundResult]:
    """Return a certificate for each of the draws."""
    return [certify(task.data, draw) for draw in task.draws]


def certify(name: str, draw: int) -> BoundResult:
    """Return the certificate of one draw, beside the truth."""
    L, y = shuffled_rows(name, draw)
    is_labeled = np.arange(y.size) < N_LABELS
    model = fit_labeled(L, y, is_labeled, confidence_level=1 - DELTA)
    return bound_result(model, y, is_labeled, name, draw, "random")


def main(n_draws: int = N_DRAWS, path: Path = COVERAGE) -> None:
    check_ready(SETS, ())
    done = {result.key for result in read_results(path, BoundResult)}
    tasks = plan(n_draws, done)
    print(f"{sum(len(task.draws) for task in tasks)} draws to run, results in {path}")
    run_all(run_task, tasks, path, os.cpu_count() or 1, BoundResult)


if __name__ == "__main__":
    main(*[int(argument) for argument in sys.argv[1:]])
