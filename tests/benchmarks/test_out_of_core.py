"""What the benchmark of files writes on pages, from made-up numbers."""

import pytest

pytest.importorskip("pyarrow")

from benchmarks.generated import ROWS_PER_BLOCK
from benchmarks.out_of_core import DEFAULT, PAPER, PEER, SORTED, TREES, Result, render, render_paper


def run(kind, millions, seconds=1.0, megabytes=100.0, auc=float("nan"), draw=0):
    """Return a run of which one second is that of growing trees."""
    growing = 1.0 if kind in (DEFAULT, TREES) else float("nan")
    n_rows = int(millions * ROWS_PER_BLOCK)
    rest = growing, megabytes, -0.25, auc, "2026-01-01", "hedgeclipper 0.0"
    return Result(f"{n_rows} rows", 10_000, draw, kind, seconds, *rest)


def test_growth_is_that_of_fits_from_files_without_growing():
    runs = [run(TREES, 1, 2.0), run(TREES, 5, 6.0, 120.0), run(TREES, 20, 61.0, 200.0)]
    assert "Trees from files, largest over smallest: memory 2.00, time a row 3.00" in render(runs)


def test_seconds_are_medians_of_rounds():
    runs = [run(TREES, 5, seconds, draw=k) for k, seconds in enumerate((3.0, 90.0, 4.0))]
    text = render([*runs, run(PEER, 5, 8.0)])
    assert "5 million rows: 0.50" in text


def test_the_paper_is_by_size_and_its_auc_by_order():
    runs = [run(PAPER, 20, 160.0), run(PAPER, 5, 20.0)]
    runs += [run(kind, 0.5, auc=auc) for kind, auc in zip(SORTED, (0.9, 0.7), strict=True)]
    text = render_paper(runs)
    assert text.index("| 5 | 100 MB | 20 | 1.0 |") < text.index("| 20 | 100 MB | 160 | 2.0 |")
    assert "AUC 0.9000 shuffled, 0.7000 sorted by label." in text
