"""Draws with a rare class, and what is said of them."""

import numpy as np
from sklearn.utils import Bunch

from benchmarks import panel_rare
from benchmarks.panel_rare import METHODS, PANEL, SETS, describe, name_of, plan
from benchmarks.results_file import Result


def results(gain, percent=5, n_labels=30):
    """All methods alike, but for the panel's gain in the first data set, on two draws."""
    found = []
    for data in SETS:
        for method in METHODS:
            auc = 0.8 + (gain if (data, method) == (SETS[0], PANEL) else 0.0)
            for draw in range(2):
                figures = (auc, 0.7, 0.4, 0.7, 100, 100, 1.0, "2026-01-01", "v")
                found.append(Result(name_of(data, percent), n_labels, draw, method, *figures))
    return found


def test_the_positive_class_has_its_percentage_of_the_rows(monkeypatch):
    data = Bunch(data=np.arange(8000.0)[:, None], target=(np.arange(8000) % 2))
    monkeypatch.setattr(panel_rare, "whole", lambda name: data)
    draw = panel_rare.rare_draw("any", 5, 300, seed=0)
    labels = np.append(draw.y, draw.y_scored)
    assert (draw.y.size, labels.size, labels.sum()) == (300, 3300, 165)
    rows = np.vstack([draw.X, draw.X_unlabeled])[:, 0]
    np.testing.assert_array_equal(rows % 2, labels)
    assert np.unique(rows).size == rows.size


def test_what_has_been_run_is_not_run_again():
    everything = plan(2, set())
    assert len(everything) == 2 * 48
    done = {result.key for result in results(0.0)}
    assert len(plan(2, done)) == 2 * 48 - 8
    (left,) = [task for *_, task in plan(2, done - {next(iter(done))}) if len(task.methods) == 1]
    assert left.methods[0] in METHODS


def test_cells_are_means_over_the_data_sets():
    text = describe(results(-0.08))
    assert "| 5 % | 30 | 0.8000 | +0.0000 | -0.0200 | +0.0000 | -0.0800 | 2 |" in text


def test_cells_that_lack_a_data_set_are_left_out():
    part = [result for result in results(0.0) if not result.data.startswith(SETS[-1])]
    whole = results(0.0, percent=20)
    assert describe(part + whole) == describe(whole)
