"""AUC by scores on data that is not the paper's: HedgeClipper and its controls, and the panel.

    python -m benchmarks.other_data                # all, what is missing
    python -m benchmarks.other_data --only forest  # HedgeClipper, its controls and two forests
    python -m benchmarks.other_data --only ablations  # each part of HedgeClipper, on a few draws

What is in the results file of a comparison already is not run again. Constants of the panel and of
HedgeClipper's game of groups were chosen while looking at some draws of these rows; none depends on
the data set.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

from benchmarks.data.sources import data_folder
from benchmarks.figures import OURS
from benchmarks.forest_text import COLUMNS, ForestFigures, describe_forest
from benchmarks.methods import CONTROLS
from benchmarks.panel_text import COMPARATORS, MEAN, PANEL, STACKING
from benchmarks.results_file import FOLDER, Key, read_results
from benchmarks.run_table import Task, run_table

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


@dataclass(frozen=True)
class Comparison:
    """Methods on draws of all rows, with at most so many unlabeled rows, and their results."""

    methods: tuple[str, ...]
    n_draws: int
    n_unlabeled: int
    results: Path

    def keys(self) -> list[Key]:
        """Return all that is run."""
        return [
            Key(*row, draw, name)
            for draw in range(self.n_draws)
            for row in CASES
            for name in self.methods
        ]

    def plan(self) -> list[Task]:
        """Return the draws that are still to run."""
        done = {result.key for result in read_results(self.results)}
        missing: dict[tuple[str, int, int], list[str]] = {}
        for key in self.keys():
            if key not in done:
                missing.setdefault(key[:3], []).append(key.method)
        return [Task(*draw, tuple(names), self.n_unlabeled) for draw, names in missing.items()]


COMPARISONS = {
    "forest": Comparison(COLUMNS, 10, 20_000, FOLDER / "forest_other.csv"),
    "ablations": Comparison((OURS, *CONTROLS), 4, 20_000, FOLDER / "ablations.csv"),
    "panel": Comparison(
        (*COMPARATORS, PANEL, MEAN, STACKING), 10, 20_000, FOLDER / "other_data.csv"
    ),
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=list(COMPARISONS), help="one comparison")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    options = parser.parse_args(arguments)
    if data_folder() is None:
        print("skipped: no data folder; set HEDGECLIPPER_DATA to where the archives are")
        return
    for name, comparison in COMPARISONS.items():
        if options.only in (None, name):
            run_table(comparison.plan(), comparison.results, options.jobs)
    results = read_results(COMPARISONS["forest"].results)
    if results:
        print(describe_forest(ForestFigures(results, CASES)))


if __name__ == "__main__":
    main()
