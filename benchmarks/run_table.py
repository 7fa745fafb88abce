"""Real data, few labels: every method on the same random draws of the labels.

    python -m benchmarks.run_table paper    # the paper's 18 rows: about four hours on two cores
    python -m benchmarks.run_table other    # 16 rows of data that is not the paper's
    python -m benchmarks.run_table rare     # 48 rows in which 2 to 20% are of one of the classes
    python -m benchmarks.run_table quick    # two rows, three draws, 4,000 unlabeled rows
    python -m benchmarks.run_table paper --methods hedgeclipper --draws 5

A row is a data set with a number of labels. What is in the results file already is not run again.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
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

from benchmarks.data.sources import DATASETS, fetch_all
from benchmarks.draws import Draw, make_draw
from benchmarks.methods import METHODS
from benchmarks.methods.method import Member
from benchmarks.methods.supervised import EQUAL_FOREST
from benchmarks.results_file import (
    FOLDER,
    Key,
    Result,
    read_results,
    today,
    versions,
    write_results,
)
from hedgeclipper import ShiftWarning

OURS = ("hedgeclipper", "hedgeclipper-trees", "hedgeclipper-mean")
MEMBERS = tuple(name for name, method in METHODS.items() if method.is_member)
OTHER_DATA = {
    "ssl_g241n": (100, 1000),
    "ssl_coil2": (100, 1000),
    "adult": (100, 1000),
    "weather": (100, 1000),
    "german_numer_scale": (100,),
    "mushroom_sas": (100, 1000),
    "agnostic_ada": (100, 1000),
    "bace_morgan1024": (100, 1000),
    "higgs_lgbm7k": (1000,),
}
RARE_DATA = ("adult", "covtype", "weather", "kagg-cred")
RARE_PERCENTS, RARE_LABELS = (2, 5, 10, 20), (30, 100, 300)


@dataclass(frozen=True)
class Comparison:
    """Methods on draws of some rows, with at most so many unlabeled ones, and their results.

    A data set is named as in `draws.make_draw`.
    """

    rows: list[tuple[str, int]]
    methods: tuple[str, ...]
    n_draws: int
    n_unlabeled: int
    results: Path


COMPARISONS = {
    "paper": Comparison(
        [(data.name, n_labels) for data in DATASETS.values() for n_labels in data.budgets],
        tuple(METHODS),
        10,
        50_000,
        FOLDER / "table.csv",
    ),
    "other": Comparison(
        [(name, n_labels) for name, budgets in OTHER_DATA.items() for n_labels in budgets],
        (*OURS, EQUAL_FOREST, *MEMBERS),
        10,
        20_000,
        FOLDER / "other_data.csv",
    ),
    "rare": Comparison(
        [
            (f"{data} {percent} %", n_labels)
            for percent in RARE_PERCENTS
            for n_labels in RARE_LABELS
            for data in RARE_DATA
        ],
        (*OURS, "random-forest"),
        4,
        3_000,
        FOLDER / "rare_classes.csv",
    ),
    "quick": Comparison(
        [("a1a", 100), ("a1a", 1000)], tuple(METHODS), 3, 4_000, FOLDER / "quick.csv"
    ),
}


class Task(NamedTuple):
    """One draw of one row of the table, and the methods to run on it."""

    data: str
    n_labels: int
    draw: int
    methods: tuple[str, ...]
    n_unlabeled: int


def plan(
    comparison: Comparison, done: set[Key], methods: Iterable[str] = (), n_draws: int | None = None
) -> list[Task]:
    """Return the draws that are still to run, in an order that makes the time left honest."""
    names, tasks = list(methods) or comparison.methods, []
    for row in comparison.rows:
        for draw in range(n_draws or comparison.n_draws):
            missing = tuple(name for name in names if Key(*row, draw, name) not in done)
            tasks += [Task(*row, draw, missing, comparison.n_unlabeled)] if missing else []
    order = np.random.default_rng(0).permutation(len(tasks))
    return [tasks[number] for number in order]


def run_task(task: Task) -> list[Result]:
    """Return the results of the methods on one draw."""
    draw = make_draw(task.data, task.n_labels, task.draw, max_unlabeled=task.n_unlabeled)
    with warnings.catch_warnings():
        # a1a and w1a come with test rows of another mix; that is part of the comparison.
        warnings.simplefilter("ignore", ShiftWarning)
        scored = _Scored(draw)
        runs = [(name, *scored.run(name)) for name in task.methods]
    return [
        Result(
            *task[:3], name, *measure(draw.y_scored, scores),
            len(draw.X_unlabeled), draw.n_scored, round(seconds, 3), today(), versions(),
            calibration_error(draw.y_scored, np.column_stack([1.0 - scores, scores])),
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


def calibration_error(y: np.ndarray, probabilities: np.ndarray) -> float:
    """Return the expected calibration error of the predicted classes, in ten bins of equal size.

    It is the mean distance between the probability of the predicted class and how often that class
    is right, over bins of rows with similar probabilities.
    """
    if np.isnan(probabilities).any():
        return np.nan
    sure, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == y
    bins = np.array_split(np.argsort(sure, kind="stable"), 10)
    gaps = [own.size * abs(sure[own].mean() - right[own].mean()) for own in bins if own.size]
    return round(float(sum(gaps) / y.size), 6)


class _Scored:
    """Scores of the methods on a draw, each computed once."""

    def __init__(self, draw: Draw):
        self.draw = draw
        self.known: dict[str, tuple[np.ndarray, float]] = {}

    def can_run(self, name: str) -> bool:
        limit = METHODS[name].max_rows
        return limit is None or len(self.draw.X_unlabeled) <= limit

    def run(self, name: str) -> tuple[np.ndarray, float]:
        """Return scores and seconds, those of the members included; NaN if it cannot run."""
        if not self.can_run(name):
            return np.full(self.draw.n_scored, np.nan), np.nan
        if name not in self.known:
            method, members, others = METHODS[name], [], 0.0
            for other in filter(self.can_run, MEMBERS if method.combines else ()):
                scores, seconds = self.run(other)
                members.append(Member(METHODS[other], scores))
                others += seconds
            started = time.perf_counter()
            scores = method.scores(self.draw, *([members] if members else []))
            self.known[name] = scores, time.perf_counter() - started + others
        return self.known[name]


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
    parser.add_argument("rows", nargs="?", choices=list(COMPARISONS), default="paper")
    parser.add_argument("--methods", nargs="*", choices=list(METHODS), default=[])
    parser.add_argument("--draws", type=int, default=None, help="label draws of each row")
    parser.add_argument("--results", type=Path, default=None, help="CSV file of the results")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    options = parser.parse_args(arguments)
    comparison = COMPARISONS[options.rows]
    path = options.results or comparison.results
    fetch_all({name.split()[0] for name, _ in comparison.rows})
    done = {result.key for result in read_results(path)}
    tasks = plan(comparison, done, options.methods, options.draws)
    print(f"{len(tasks)} draws to run on {options.jobs} processes, results in {path}")
    run_all(run_task, tasks, path, options.jobs)


if __name__ == "__main__":
    main()
