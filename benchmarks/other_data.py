"""AUC by scores on data that is not the paper's: HedgeClipper, the hedged panel, comparators.

    python -m benchmarks.other_data

Three draws of each row, at most 5,000 unlabeled rows; what is in ``results/other_data.csv``
already is not run again. HedgeClipper's constants were chosen while looking at adult and weather,
the panel's while looking at some draws of most rows; none depends on the data set.
"""

from __future__ import annotations

import os

import numpy as np

from benchmarks.figures import OURS
from benchmarks.panel_text import COMPARATORS, MEAN, PANEL, STACKING
from benchmarks.real_data import data_folder
from benchmarks.results_file import FOLDER, Key, read_results
from benchmarks.run_table import Task, run_table
from benchmarks.table_text import FOREST, LEAF_CONTROLS, Figures
from benchmarks.timing import print_rows

CASES = [
    ("ssl_g241n", 100),
    ("ssl_g241n", 1000),
    ("ssl_coil2", 100),
    ("ssl_coil2", 1000),
    ("adult", 100),
    ("adult", 1000),
    ("weather", 100),
    ("weather", 1000),
    ("german_numer_scale", 100),
    ("mushroom_sas", 100),
    ("mushroom_sas", 1000),
    ("agnostic_ada", 100),
    ("agnostic_ada", 1000),
    ("bace_morgan1024", 100),
    ("bace_morgan1024", 1000),
    ("higgs_lgbm7k", 1000),
]
METHODS = (*COMPARATORS, OURS, *LEAF_CONTROLS, PANEL, MEAN, STACKING)
N_DRAWS, N_UNLABELED = 3, 5_000
RESULTS = FOLDER / "other_data.csv"


def plan() -> list[Task]:
    """Return the draws that are still to run."""
    done = {result.key for result in read_results(RESULTS)}
    tasks = []
    for draw in range(N_DRAWS):
        for name, n_labels in CASES:
            missing = tuple(m for m in METHODS if Key(name, n_labels, draw, m) not in done)
            if missing:
                tasks.append(Task(name, n_labels, draw, missing, N_UNLABELED))
    return tasks


def print_forest(figures: Figures) -> None:
    """Print what HedgeClipper gains over its own forest, beside its controls."""
    rows = [("data", "forest", "HedgeClipper - forest", "s.e.", "count - forest", "vote - forest")]
    means = []
    for row in figures.rows:
        forest = figures.values(row, FOREST, "auc")
        own = figures.values(row, OURS, "auc") - forest
        controls = [(figures.values(row, c, "auc") - forest).mean() for c in LEAF_CONTROLS]
        means.append([own.mean(), *controls])
        error = own.std(ddof=1) / np.sqrt(own.size)
        cells = [f"{forest.mean():.4f}", f"{own.mean():+.4f}", f"{error:.4f}"]
        rows.append((f"{row[0]} {row[1]}", *cells, *[f"{gain:+.4f}" for gain in controls]))
    mean = np.mean(means, axis=0)
    rows.append(("mean", "", f"{mean[0]:+.4f}", "", *[f"{gain:+.4f}" for gain in mean[1:]]))
    print_rows(rows)


def main() -> None:
    print(__doc__)
    if data_folder() is None:
        print("skipped: no data folder; set HEDGECLIPPER_DATA to where the archives are")
        return
    run_table(plan(), RESULTS, os.cpu_count() or 1)
    print_forest(Figures(read_results(RESULTS), CASES))


if __name__ == "__main__":
    main()
