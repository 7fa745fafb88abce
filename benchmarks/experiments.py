"""Writes the table of docs/ablations.md on experiments that are not run again.

    python -m benchmarks.experiments

benchmarks/results/experiments.csv has one line for each experiment, variant and measure. Its
figures were copied by hand from earlier pages: single runs were not kept, and no script makes it.
"""

from __future__ import annotations

import csv

from benchmarks.pages import markdown_table, write_pages
from benchmarks.results_file import FOLDER

RESULTS = FOLDER / "experiments.csv"
MIXED = "mixed columns: AUC and log loss"


def pages() -> dict[str, dict[str, str]]:
    """Return the changes that were taken, a column for each group of tables, by page."""
    with RESULTS.open(newline="", encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if line["experiment"] == MIXED]
    measures = list(dict.fromkeys(line["measure"] for line in lines))[:-1]
    values = {(line["variant"], line["measure"]): line["value"] for line in lines}
    taken = [variant for variant, name in values if values[variant, name] == "yes"]
    rows = [[variant, *(values[variant, one] for one in measures)] for variant in taken]
    table = markdown_table([["change that was taken", *measures], *rows])
    return {"docs/ablations.md": {"mixed columns": table}}


if __name__ == "__main__":
    write_pages(pages())
