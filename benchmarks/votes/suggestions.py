"""Labels chosen by `suggest_labels`, compared with labels chosen at random.

    python -m benchmarks.votes.suggestions [n_draws]    # part of make votes-table

From 50 random labels to 150 in two steps, on rows that are drawn as in bounds.py; the bound is
that of the worst case, an estimate. Bound and error are those on the rows without a label. What is
in the results file already is not run again.
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
from benchmarks.votes.results import SUGGESTIONS, BoundResult
from benchmarks.votes.run_votes import check_ready
from hedgeclipper import VoteAggregator

DATA = tuple(name for name in SETS if name != "crowd_bluebird")  # it has 108 rows
CHOICES = ("random", "suggested")
N_DRAWS, STEPS = 20, (50, 100, 150)


class Task(NamedTuple):
    """One draw of a set, and how labels are chosen."""

    data: str
    draw: int
    choice: str


def plan(n_draws: int, done: set[Key]) -> list[Task]:
    """Return the draws that are still to run."""
    tasks = [Task(name, draw, how) for draw in range(n_draws) for name in DATA for how in CHOICES]
    return [task for task in tasks if Key(task.data, STEPS[-1], task.draw, task.choice) not in done]


def run_task(task: Task) -> list[BoundResult]:
    """Return the bound after each step."""
    L, y = shuffled_rows(task.data, task.draw)
    is_labeled, results = np.zeros(y.size, dtype=bool), []
    new = np.arange(STEPS[0])
    for purchase in (*np.diff(STEPS), 0):
        is_labeled[new] = True
        model = fit_labeled(L, y, is_labeled)
        results.append(bound_result(model, y, is_labeled, task.data, task.draw, task.choice))
        if purchase:
            new = next_rows(model, is_labeled, purchase, task.choice)
    return results


def next_rows(model: VoteAggregator, is_labeled: np.ndarray, k: int, choice: str) -> np.ndarray:
    """Return the rows to label next; rows are shuffled, so that the first ones are random."""
    if choice == "suggested":
        return model.suggest_labels(int(k))
    return np.flatnonzero(~is_labeled)[:k]


def main(n_draws: int = N_DRAWS, path: Path = SUGGESTIONS) -> None:
    check_ready(DATA, ())
    done = {result.key for result in read_results(path, BoundResult)}
    tasks = plan(n_draws, done)
    print(f"{len(tasks)} draws to run, results in {path}")
    run_all(run_task, tasks, path, os.cpu_count() or 1, BoundResult)


if __name__ == "__main__":
    main(*[int(argument) for argument in sys.argv[1:]])
