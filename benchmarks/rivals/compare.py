"""HedgeClipperClassifier beside other methods: AUC, accuracy, log loss and time on 36 settings.

    python -m benchmarks.rivals.compare                        # make rivals: what is missing
    python -m benchmarks.rivals.compare --methods tabpfn --draws 1
    python -m benchmarks.rivals.compare --methods hedgeclipper --again    # after a change of ours

All methods get the same labels, are scored on the same rows, and use all cores, one after the
other; seconds are those of fitting and of predicting, without imports. Nothing else should run
beside it: AutoGluon has a limit of time. Where something does, ``--busy`` runs methods on one core
and marks their times, which the page then leaves out.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

from benchmarks.data.sources import fetch_all
from benchmarks.figures import OURS, row_name
from benchmarks.results_file import FOLDER, Key, Result, read_results, today, write_results
from benchmarks.rivals.methods import RIVALS
from benchmarks.rivals.settings import KINDS, SETTINGS, draw_setting, why_absent
from benchmarks.run_table import calibration_error, measure

RESULTS = FOLDER / "rivals.csv"
N_DRAWS = 3
BUSY = "; beside other load"


def plan(
    done: set[Key],
    settings: Sequence[tuple[str, int]] = SETTINGS,
    methods: Iterable[str] = RIVALS,
    n_draws: int = N_DRAWS,
) -> list[Key]:
    """Return what is still to run and can be, one draw of all settings after the other."""
    return [
        key
        for draw in range(n_draws)
        for row in settings
        for name in methods
        for key in [Key(*row, draw, name)]
        if key not in done and not RIVALS[name].why_not(*row)
    ]


def describe_skipped(settings: Sequence[tuple[str, int]], methods: Iterable[str]) -> list[str]:
    """Return which methods cannot be run on which settings, and why."""
    reasons = [
        (RIVALS[name], row, RIVALS[name].why_not(*row)) for name in methods for row in settings
    ]
    return [
        f"skipped: {rival.title} on {row_name(row)}: {why}" for rival, row, why in reasons if why
    ]


def run_key(key: Key, n_jobs: int = -1) -> Result:
    """Return the result of one method on one draw."""
    draw = draw_setting(key.data, key.n_labels, key.draw)
    probabilities, seconds, used = RIVALS[key.method].run(draw, n_jobs)
    figures = measure_classes(draw.y_scored, probabilities)
    sizes = len(draw.X_unlabeled), draw.n_scored
    calibration = calibration_error(draw.y_scored, probabilities)
    return Result(*key, *figures, *sizes, round(seconds, 1), today(), used, calibration)


def measure_classes(y: np.ndarray, probabilities: np.ndarray) -> tuple[float, float, float, float]:
    """Return AUC, AUC by predicted classes, log loss and accuracy, of two classes or more.

    AUCs of more than two classes are the mean over classes, each against the rest.
    """
    if probabilities.shape[1] == 2:
        return measure(y, probabilities[:, 1])
    classes = np.arange(probabilities.shape[1])
    hard = probabilities.argmax(axis=1)
    clipped = np.clip(probabilities, 1e-6, 1.0)
    figures = (
        np.mean([roc_auc_score(y == k, probabilities[:, k]) for k in np.unique(y)]),
        np.mean([roc_auc_score(y == k, hard == k) for k in np.unique(y)]),
        log_loss(y, clipped / clipped.sum(axis=1, keepdims=True), labels=classes),
        accuracy_score(y, hard),
    )
    return tuple(round(float(figure), 6) for figure in figures)


def append_result(path: Path, result: Result) -> None:
    """Add a line to the results, of which no other line changes."""
    line = asdict(result)
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(line))
        if is_new:
            writer.writeheader()
        writer.writerow(line)


def available(items: Iterable[Any], why_absent: Callable[[Any], str]) -> list[Any]:
    """Return the items that can be had, and print why the others cannot."""
    reasons = {item: why_absent(item) for item in items}
    for item, reason in reasons.items():
        if reason:
            print(f"skipped: {item}: {reason}")
    return [item for item, reason in reasons.items() if not reason]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinds", nargs="*", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--methods", nargs="*", choices=list(RIVALS), default=list(RIVALS))
    parser.add_argument("--draws", type=int, default=N_DRAWS)
    parser.add_argument("--again", action="store_true", help="forget results of these methods")
    parser.add_argument("--busy", action="store_true", help="one core, times marked")
    parser.add_argument("--results", type=Path, default=RESULTS, help="CSV file of the results")
    options = parser.parse_args(arguments)
    methods = available(options.methods, lambda name: RIVALS[name].why_absent())
    rows = [row for kind in options.kinds for row in KINDS[kind]]
    settings = available(rows, lambda row: why_absent(row[0]))
    fetch_all({row[0] for row in settings if row not in KINDS["csv"]})
    for line in describe_skipped(settings, methods):
        print(line)
    results = read_results(options.results)
    if options.again:
        results = [r for r in results if r.method not in methods or r.key[:2] not in settings]
        write_results(options.results, results)
    todo = plan({result.key for result in results}, settings, methods, options.draws)
    if any(key.method == OURS for key in todo):
        run_key(Key("a1a", 100, N_DRAWS, OURS))  # kernels are compiled before the clock starts
    for number, key in enumerate(todo, start=1):
        result = run_key(key, 1 if options.busy else -1)
        if options.busy:
            result = replace(result, versions=result.versions + BUSY)
        append_result(options.results, result)
        print(f"{number} of {len(todo)}: {row_name(key[:2])}, draw {key.draw}, {key.method}:")
        found = f"AUC {result.auc:.4f}, log loss {result.log_loss:.4f}, {result.seconds:.1f} s"
        print(f"    {found}", flush=True)


if __name__ == "__main__":
    main()
