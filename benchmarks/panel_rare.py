"""AUC by scores where one class is rare and labels are few: the panel beside forests.

    python -m benchmarks.panel_rare    # what is missing

Rows of four data sets are drawn so that 2 to 20 % are positive. What is in the results file already
is not run again.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

import numpy as np

from benchmarks.draws import Draw, draw_labels, to_dense, whole
from benchmarks.figures import OURS
from benchmarks.pages import markdown_table
from benchmarks.panel_text import MEAN, PANEL, REFERENCE
from benchmarks.results_file import FOLDER, Key, Result, read_results
from benchmarks.run_table import Task, run_all, run_draw

RESULTS = FOLDER / "panel_rare.csv"
SETS = ("adult", "covtype", "weather", "kagg-cred")
PERCENTS = (2, 5, 10, 20)
BUDGETS = (30, 100, 300)
METHODS = (REFERENCE, OURS, PANEL, MEAN)
N_DRAWS, N_UNLABELED = 10, 3_000
HEADS = ["positives", "labels", "Random Forest", "HedgeClipper", "panel", "mean of the panel",
         "panel, lowest of the data sets", "draws"]  # fmt: skip


def rare_draw(data: str, percent: int, n_labels: int, seed: int) -> Draw:
    """Return a draw of rows of which that percentage is positive; all unlabeled ones are scored."""
    bunch = whole(data)
    rng = np.random.default_rng([seed, n_labels, percent])
    n_rows = n_labels + N_UNLABELED
    n_positive = round(n_rows * percent / 100)
    parts = [
        rng.permutation(np.flatnonzero(bunch.target == label))[:size]
        for label, size in ((1, n_positive), (0, n_rows - n_positive))
    ]
    rows = rng.permutation(np.concatenate(parts))
    labeled, others = (rows[own] for own in draw_labels(bunch.target[rows], n_labels, rng))
    return Draw(
        X=to_dense(bunch.data[labeled]),
        y=bunch.target[labeled],
        X_unlabeled=to_dense(bunch.data[others]),
        y_scored=bunch.target[others],
        seed=seed,
        is_sparse=False,
    )


def name_of(data: str, percent: int) -> str:
    """Return what rows with that percentage of positives are called in the results."""
    return f"{data} {percent} %"


def run_rare(task: tuple[str, int, Task]) -> list[Result]:
    """Return the results of the methods on one draw."""
    data, percent, named = task
    return run_draw(rare_draw(data, percent, named.n_labels, named.draw), named)


def plan(n_draws: int, done: set[Key]) -> list[tuple[str, int, Task]]:
    """Return what is still to run, whole draws first."""
    tasks = []
    for draw in range(n_draws):
        for n_labels in BUDGETS:
            for percent in PERCENTS:
                for data in SETS:
                    name = name_of(data, percent)
                    missing = [m for m in METHODS if Key(name, n_labels, draw, m) not in done]
                    task = Task(name, n_labels, draw, tuple(missing), None)
                    tasks += [(data, percent, task)] if missing else []
    return tasks


def describe(results: Sequence[Result]) -> str:
    """Return a table of mean differences from the random forest."""
    known = {result.key: result.auc for result in results}
    cells = {key[:3] for key in known}
    rows = [HEADS]
    for percent in PERCENTS:
        names = [name_of(data, percent) for data in SETS]
        for n_labels in BUDGETS:
            draws = sorted({cell[2] for cell in cells if cell[:2] == (names[0], n_labels)})
            whole_draws = [d for d in draws if all((n, n_labels, d) in cells for n in names)]
            if not whole_draws:
                continue
            auc = {
                method: np.array(
                    [[known[(name, n_labels, d, method)] for d in whole_draws] for name in names]
                )
                for method in METHODS
            }
            gains = [float((auc[m] - auc[REFERENCE]).mean()) for m in (OURS, PANEL, MEAN)]
            lowest = float((auc[PANEL] - auc[REFERENCE]).mean(axis=1).min())
            rows.append(
                [f"{percent} %", str(n_labels), f"{auc[REFERENCE].mean():.4f}"]
                + [f"{gain:+.4f}" for gain in (*gains, lowest)]
                + [str(len(whole_draws))]
            )
    return markdown_table(rows)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=N_DRAWS, help="draws of each cell")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    options = parser.parse_args(arguments)
    done = {result.key for result in read_results(RESULTS)}
    run_all(run_rare, plan(options.draws, done), RESULTS, options.jobs)
    print(describe(read_results(RESULTS)))


if __name__ == "__main__":
    main()
