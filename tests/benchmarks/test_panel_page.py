"""How the hedged panel's figures become its page."""

import numpy as np
import pytest

from benchmarks.figures import OURS
from benchmarks.other_data import COMPARISONS
from benchmarks.pages import with_section
from benchmarks.panel_text import (
    COMPARATORS,
    MEAN,
    PANEL,
    STACKING,
    panel_gains,
    table_of_gains,
)
from benchmarks.render_panel import PAGE, sections
from benchmarks.results_file import Result, read_results
from benchmarks.table_text import Figures

ROWS = [("a1a", 100), ("covtype", 1000)]
USUAL = np.array([0.80, 0.81, 0.82])
NOISE = np.array([-0.001, 0.0, 0.001])


def figures(**changes):
    """Results in which all methods have the same AUCs, except for the changes in the first row."""
    results = []
    for row in ROWS:
        for name in (*COMPARATORS, OURS, PANEL, MEAN, STACKING):
            aucs = changes.get(name.replace("-", "_"), USUAL) if row == ROWS[0] else USUAL
            for draw, auc in enumerate(aucs):
                figures = (float(auc), 0.7, 0.4, 0.7, 100, 100, 1.0, "2026-01-01", "v")
                results.append(Result(*row, draw, name, *figures))
    return Figures(results, ROWS)


def test_gains_are_over_the_best_comparator_of_the_row():
    (first, second) = panel_gains(figures(mart=USUAL + 0.02, hedged_voting=USUAL + 0.03 + NOISE))
    assert (first.best, second.over_best) == ("mart", 0.0)
    assert first.over_best == pytest.approx(0.01)
    assert first.over_reference == pytest.approx(0.03)
    assert first.over_mean == pytest.approx(0.03)
    assert not first.is_below


def test_a_panel_significantly_below_is_reported():
    gains = panel_gains(figures(mart=USUAL + 0.02 + NOISE))
    assert [gain.is_below for gain in gains] == [True, False]
    assert "(significant)" in table_of_gains(gains)


def test_committed_results_of_other_data_are_whole():
    comparison = COMPARISONS["panel"]
    keys = {result.key for result in read_results(comparison.results)}
    assert keys == set(comparison.keys())


def test_the_committed_page_is_what_the_committed_results_say():
    text = PAGE.read_text(encoding="utf-8")
    for name, part in sections().items():
        assert with_section(text, name, part) == text, f"run benchmarks.render_panel: {name}"
