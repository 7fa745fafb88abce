"""The ablations: what each part of HedgeClipper is worth, on four rows of the paper's table.

    python -m benchmarks.run_ablations                  # about 12 minutes on two cores
    python -m benchmarks.run_ablations --quick          # bundled and generated data, few rows
    python -m benchmarks.run_ablations --study box      # some studies only

What is in the results file already is not run again; remove the file to start over.
`python -m benchmarks.render_ablations` makes the page of it.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.ablations import STUDIES
from benchmarks.ablations.results import AblationKey, AblationResult
from benchmarks.ablations.study import MAX_UNLABELED, N_DRAWS, ROWS, Outcome, Setting
from benchmarks.draws import Draw
from benchmarks.real_data import fetch_all
from benchmarks.results_file import FOLDER, read_results, today, versions
from benchmarks.run_table import run_all
from hedgeclipper import NoUnlabeledRowsWarning, ShiftWarning, UnboundedGameWarning

QUICK_DATA, QUICK_DRAWS, QUICK_UNLABELED = "a1a", 2, 2_000
# Some settings are expected to cause these warnings.
EXPECTED = (NoUnlabeledRowsWarning, ShiftWarning, UnboundedGameWarning)


class Task(NamedTuple):
    """One draw of one row, and what is to run on it: pairs of study and setting."""

    data: str
    n_labels: int
    draw: int
    settings: tuple[tuple[str, str], ...]
    max_unlabeled: int


def plan(
    names: Iterable[str], n_draws: int, max_unlabeled: int, done: set[AblationKey], *, quick: bool
) -> list[Task]:
    """Return the draws to run, in random order for a good estimate of the time left."""
    missing: dict[tuple[str, int, int], list[tuple[str, str]]] = {}
    for key in _keys(names, n_draws):
        left_out = quick and key.data in {row.data for row in ROWS} - {QUICK_DATA}
        if key not in done and not left_out:
            missing.setdefault(key[1:4], []).append((key.study, key.setting))
    tasks = [Task(*row, tuple(settings), max_unlabeled) for row, settings in missing.items()]
    order = np.random.default_rng(0).permutation(len(tasks))
    return [tasks[number] for number in order]


def _keys(names: Iterable[str], n_draws: int) -> Iterable[AblationKey]:
    for study in (STUDIES[name] for name in names):
        for row in study.rows:
            for draw in range(n_draws):
                for setting in study.settings:
                    yield AblationKey(study.name, row.data, row.n_labels, draw, setting)


def run_task(task: Task) -> list[AblationResult]:
    """Return the results on one draw; what studies have in common is run once."""
    make = STUDIES[task.settings[0][0]].draw
    draw = make(task.data, task.n_labels, task.draw, max_unlabeled=task.max_unlabeled)
    known: dict[Setting, tuple[float, ...]] = {}
    results = []
    for study, name in task.settings:
        setting = STUDIES[study].settings[name]
        if setting not in known:
            known[setting] = measure(setting, draw)
        auc, slack, gap, seconds = known[setting]
        results.append(
            AblationResult(
                study, *task[:3], name, auc, slack, gap,
                len(draw.X_unlabeled), draw.n_scored, seconds, today(), versions(),
            )
        )  # fmt: skip
    return results


def measure(setting: Setting, draw: Draw) -> tuple[float, float, float, float]:
    """Return AUC by scores, slack and gap reached, and seconds."""
    started = time.perf_counter()
    outcome = run_quietly(setting, draw)
    seconds = time.perf_counter() - started
    auc = round(float(roc_auc_score(draw.y_scored, outcome.scores)), 6)
    slack, gap = (float(f"{value:.6g}") for value in (outcome.slack, outcome.gap))
    return auc, slack, gap, round(seconds, 3)


def run_quietly(setting: Setting, draw: Draw) -> Outcome:
    """Return what a setting gives, without the warnings that are part of the comparison."""
    with warnings.catch_warnings():
        for category in EXPECTED:
            warnings.simplefilter("ignore", category)
        return setting(draw)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="no archives, two draws, few rows")
    parser.add_argument("--study", nargs="+", choices=list(STUDIES), default=list(STUDIES))
    parser.add_argument("--draws", type=int, default=None, help="label draws of each row")
    parser.add_argument("--results", type=Path, default=None, help="CSV file of the results")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    options = parser.parse_args(arguments)
    n_draws = options.draws or (QUICK_DRAWS if options.quick else N_DRAWS)
    limit = QUICK_UNLABELED if options.quick else MAX_UNLABELED
    path = options.results or FOLDER / ("ablations_quick.csv" if options.quick else "ablations.csv")
    fetch_all({QUICK_DATA} if options.quick else {row.data for row in ROWS})
    done = {result.key for result in read_results(path, AblationResult)}
    tasks = plan(options.study, n_draws, limit, done, quick=options.quick)
    print(f"{len(tasks)} draws to run on {options.jobs} processes, results in {path}")
    run_all(run_task, tasks, path, options.jobs, AblationResult)


if __name__ == "__main__":
    main()
