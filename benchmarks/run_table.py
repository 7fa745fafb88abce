"""The paper's table: 18 rows, ten label draws each, every method on the same draws.

    python -m benchmarks.run_table              # make table: about four hours on two cores
    python -m benchmarks.run_table --quick      # two rows, three draws, 4,000 unlabeled rows
    python -m benchmarks.run_table --all        # every unlabeled row instead of 50,000
    python -m benchmarks.run_table --only hedgeclipper-unshrunk --draws 3   # a control, few draws

What is in the results file already is not run again; remove the file to start over.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

from benchmarks.data import DATA
from benchmarks.data.fetching import fetch_all
from benchmarks.draws import MAX_UNLABELED, Draw, make_draw
from benchmarks.methods import METHODS
from benchmarks.methods.method import Member, Method
from benchmarks.results_file import (
    EVERY_ROW,
    FOLDER,
    Key,
    Result,
    read_results,
    today,
    versions,
    write_results,
)
from hedgeclipper import ShiftWarning

N_DRAWS = 10
QUICK_ROWS, QUICK_DRAWS, QUICK_UNLABELED = [("a1a", 100), ("a1a", 1000)], 3, 4_000


class Task(NamedTuple):
    """One draw of one row of the table, and the methods to run on it."""

    data: str
    n_labels: int
    draw: int
    methods: tuple[str, ...]
    max_unlabeled: int | None


def table_rows() -> list[tuple[str, int]]:
    """Return data set and number of labels of each row, in the paper's order."""
    return [(data.name, n_labels) for data in DATA for n_labels in data.budgets]


def plan(
    rows: Iterable[tuple[str, int]],
    n_draws: int,
    max_unlabeled: int | None,
    done: set[Key],
    only: Iterable[str] = (),
) -> list[Task]:
    """Return the draws that are still to run, in an order that makes the time left honest.

    All methods but the ablations are run, or ``only`` those named.
    """
    tasks, methods = [], list(only) or [m for m in METHODS if not METHODS[m].is_ablation]
    for data, n_labels in rows:
        for draw in range(n_draws):
            missing = [m for m in methods if Key(data, n_labels, draw, m) not in done]
            tasks.append(Task(data, n_labels, draw, tuple(missing), max_unlabeled))
        is_whole = max_unlabeled == MAX_UNLABELED and not only
        if is_whole and Key(data, n_labels, 0, EVERY_ROW) not in done:
            tasks.append(Task(data, n_labels, 0, (EVERY_ROW,), None))
    tasks = [task for task in tasks if task.methods]
    order = np.random.default_rng(0).permutation(len(tasks))
    return [tasks[number] for number in order]


def run_task(task: Task) -> list[Result]:
    """Return the results of the methods on one draw."""
    draw = make_draw(task.data, task.n_labels, task.draw, max_unlabeled=task.max_unlabeled)
    return run_draw(draw, task)


def run_draw(draw: Draw, task: Task) -> list[Result]:
    """Return the results of the task's methods on a draw."""
    with warnings.catch_warnings():
        # a1a and w1a come with test rows of another mix; that is part of the comparison.
        warnings.simplefilter("ignore", ShiftWarning)
        scored = _Scored(draw)
        runs = [(name, *scored.run(name)) for name in task.methods]
    return [
        Result(
            *task[:3], name, *measure(draw.y_scored, scores),
            len(draw.X_unlabeled), draw.n_scored, round(seconds, 3), today(), versions(),
        )
        for name, scores, seconds in runs
    ]  # fmt: skip


def measure(y: np.ndarray, scores: np.ndarray) -> tuple[float, float, float, float]:
    """Return AUC by scores, AUC by predicted classes, log loss and accuracy."""
    if np.isnan(scores).all():
        return (np.nan,) * 4
    hard = scores > 0.5
    figures = (
        roc_auc_score(y, scores),
        roc_auc_score(y, hard),
        log_loss(y, np.clip(scores, 1e-6, 1 - 1e-6)),
        accuracy_score(y, hard),
    )
    return tuple(round(float(figure), 6) for figure in figures)


class _Scored:
    """Scores of the methods on a draw, each computed once."""

    def __init__(self, draw: Draw):
        self.draw = draw
        self.known: dict[str, tuple[np.ndarray, float]] = {}

    def can_run(self, name: str) -> bool:
        limit = _method(name).max_rows
        return limit is None or len(self.draw.X_unlabeled) <= limit

    def run(self, name: str) -> tuple[np.ndarray, float]:
        """Return scores and seconds, those of the members included; NaN if it cannot run."""
        if not self.can_run(name):
            return np.full(self.draw.n_scored, np.nan), np.nan
        if name not in self.known:
            method, members = _method(name), self._members() if _method(name).combines else []
            started = time.perf_counter()
            arguments = [[Member(METHODS[m], self.run(m)[0]) for m in members]] if members else []
            scores = method.scores(self.draw, *arguments)
            seconds = time.perf_counter() - started + sum(self.run(m)[1] for m in members)
            self.known[name] = scores, seconds
        return self.known[name]

    def _members(self) -> list[str]:
        names = [name for name in METHODS if METHODS[name].is_member and self.can_run(name)]
        for name in names:
            self.run(name)
        return names


def _method(name: str) -> Method:
    return METHODS["hedgeclipper" if name == EVERY_ROW else name]


def run_table(tasks: list[Task], path: Path, n_jobs: int) -> None:
    """Run the tasks on all cores and add what they give to the results file."""
    run_all(run_task, tasks, path, n_jobs)


def run_all(
    work: Callable[[Any], list[Any]], tasks: list[Any], path: Path, n_jobs: int, kind: type = Result
) -> None:
    """Do the work on each task and add the results, of that kind, to the file, one by one."""
    results = read_results(path, kind)
    for new in _with_progress(_map(work, tasks, n_jobs), len(tasks)):
        results += new
        write_results(path, results, kind)


def _map(work: Callable[[Any], list[Any]], tasks: list[Any], n_jobs: int) -> Iterator[list[Any]]:
    if n_jobs == 1:
        return map(work, tasks)
    workers = Parallel(n_jobs, return_as="generator_unordered", batch_size=1, pre_dispatch=n_jobs)
    return workers(delayed(work)(task) for task in tasks)


def _with_progress(runs: Iterator[list[Any]], total: int) -> Iterator[list[Any]]:
    columns = [
        TextColumn("draws"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("left:"), TimeRemainingColumn(), TextColumn("{task.description}"),
    ]  # fmt: skip
    # The speed is averaged over the whole run, since draws differ much in cost.
    with Progress(*columns, speed_estimate_period=10**6) as progress:
        bar = progress.add_task("", total=total)
        for new in runs:
            last = f"{new[0].data} {new[0].n_labels}" if new else ""
            progress.update(bar, advance=1, description=last)
            yield new


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument("--quick", action="store_true", help="two rows, three draws, few rows")
    scope.add_argument("--all", action="store_true", help="every unlabeled row")
    parser.add_argument("--only", nargs="*", choices=list(METHODS), default=[], help="methods")
    parser.add_argument("--draws", type=int, default=None, help="label draws of each row")
    parser.add_argument("--results", type=Path, default=None, help="CSV file of the results")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    options = parser.parse_args(arguments)
    rows = QUICK_ROWS if options.quick else table_rows()
    limit = QUICK_UNLABELED if options.quick else None if options.all else MAX_UNLABELED
    n_draws = options.draws or (QUICK_DRAWS if options.quick else N_DRAWS)
    name = "quick.csv" if options.quick else "table_all.csv" if options.all else "table.csv"
    path = options.results or FOLDER / name
    fetch_all({name for name, _ in rows})
    done = {result.key for result in read_results(path)}
    tasks = plan(rows, n_draws, limit, done, options.only)
    print(f"{len(tasks)} draws to run on {options.jobs} processes, results in {path}")
    run_table(tasks, path, options.jobs)


if __name__ == "__main__":
    main()
