"""AUC by scores on data that is not the paper's: HedgeClipper, its own forest, both controls.

    python -m benchmarks.other_data [n_draws]

No setting was chosen with these in view, but for adult and weather.
"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.draws import MAX_UNLABELED
from benchmarks.figures import OURS
from benchmarks.real_data import data_folder
from benchmarks.run_table import Task, run_task
from benchmarks.table_text import FOREST, LEAF_CONTROLS
from benchmarks.timing import print_rows

CASES = [
    ("adult", 100),
    ("weather", 100),
    ("german_numer_scale", 100),
    ("mushroom_sas", 100),
    ("agnostic_ada", 100),
    ("agnostic_ada", 1000),
    ("bace_morgan1024", 100),
    ("higgs_lgbm7k", 1000),
    ("ssl_g241n", 100),
    ("ssl_coil2", 100),
]
METHODS = (FOREST, OURS, *LEAF_CONTROLS)


def aucs(name: str, n_labels: int, n_draws: int) -> np.ndarray:
    """Return AUCs by draw and method."""
    tasks = [Task(name, n_labels, draw, METHODS, MAX_UNLABELED) for draw in range(n_draws)]
    return np.array([[result.auc for result in run_task(task)] for task in tasks])


def main(n_draws: int = 10) -> None:
    print(__doc__)
    if data_folder() is None:
        print("skipped: no data folder; set HEDGECLIPPER_DATA to where the archives are")
        return
    rows = [("data", "forest", "HedgeClipper - forest", "s.e.", "count - forest", "vote - forest")]
    means = []
    for name, n_labels in CASES:
        values = aucs(name, n_labels, n_draws)
        differences = values[:, 1:] - values[:, :1]
        means.append(differences.mean(axis=0))
        error = differences[:, 0].std(ddof=1) / np.sqrt(n_draws)
        cells = [f"{values[:, 0].mean():.4f}", f"{means[-1][0]:+.4f}", f"{error:.4f}"]
        rows.append((f"{name} {n_labels}", *cells, *[f"{gain:+.4f}" for gain in means[-1][1:]]))
    mean = np.mean(means, axis=0)
    rows.append(("mean", "", f"{mean[0]:+.4f}", "", *[f"{gain:+.4f}" for gain in mean[1:]]))
    print_rows(rows)


if __name__ == "__main__":
    main(*[int(argument) for argument in sys.argv[1:]])
