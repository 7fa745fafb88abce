"""The comparison with other methods, on results that are made up and by methods that are fakes."""

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks.draws import Draw
from benchmarks.figures import OURS
from benchmarks.pages import DOCS, NOT_RUN, with_section
from benchmarks.results_file import Result, read_results, write_results
from benchmarks.rivals import compare, methods, page, settings
from benchmarks.rivals.exchange import read_answer, read_task, write_answer, write_task

ROWS = [("a1a", 100), ("covtype", 1_000)]
TABPFN, AUTOGLUON = "tabpfn", "autogluon"
MADE_UP = Result("", 0, 0, "", 0.8, 0.7, 0.4, 0.8, 800, 400, 10.0, "2026-01-01", "none")


def made_up(method, draws=3, rows=ROWS, **figures):
    return [
        replace(MADE_UP, data=row[0], n_labels=row[1], draw=draw, method=method, **figures)
        for row in rows
        for draw in range(draws)
    ]


@pytest.fixture
def frames():
    """A draw of frames with strings, missing values and dates."""
    rows = pd.DataFrame(
        {
            "color": ["red", "blue", None, "red", "green"],
            "size": [1.0, np.nan, 3.0, 4.0, 5.0],
            "day": pd.to_datetime(["2024-01-01"] * 4 + ["2025-03-02"]),
        }
    )
    X, more = rows[:3], rows[3:].reset_index(drop=True)
    return Draw(X, np.array([0, 1, 0]), more, np.array([0, 1]), seed=0, is_sparse=False)


@pytest.fixture
def arrays():
    rows = np.arange(12.0).reshape(6, 2)
    return Draw(rows[:2], np.array([0, 1]), rows[2:], np.array([0, 1, 1]), 5, is_sparse=False)


def test_each_draw_of_each_setting_is_planned_once_and_one_draw_of_all_first():
    whole = compare.plan(set(), ROWS, [OURS, AUTOGLUON])
    assert len(whole) == len(set(whole)) == 2 * len(ROWS) * compare.N_DRAWS
    assert [key.draw for key in whole] == sorted(key.draw for key in whole)
    assert compare.plan(set(whole[1:]), ROWS, [OURS, AUTOGLUON]) == whole[:1]


def test_results_that_are_stored_belong_to_settings():
    stored = read_results(compare.RESULTS)
    assert {result.key[:2] for result in stored} <= set(settings.SETTINGS)
    assert {result.method for result in stored} <= set(methods.RIVALS)
    assert len({result.key for result in stored}) == len(stored)


def test_tabpfn_is_left_out_where_there_are_too_many_columns_or_labels():
    assert {key[:2] for key in compare.plan(set(), ROWS, [TABPFN])} == {("covtype", 1_000)}
    reasons = compare.describe_skipped([*ROWS, ("covtype", 10_000)], [OURS, TABPFN])
    assert reasons == [
        "skipped: TabPFN v1 on a1a, 100: 123 columns, and it takes at most 100",
        "skipped: TabPFN v1 on covtype, 10K: 10,000 labels, and it takes at most 1,000",
    ]


def test_run_appends_what_is_missing_and_leaves_the_other_lines_alone(
    tmp_path, monkeypatch, arrays, capsys
):
    path = tmp_path / "rivals.csv"
    write_results(path, made_up(AUTOGLUON, rows=[("a1a", 100)]))
    before = path.read_text()
    fake = replace(methods.RIVALS[OURS], run=lambda draw, n_jobs: (np.eye(2)[[0, 1, 1]], 2.0, "v"))
    monkeypatch.setitem(methods.RIVALS, OURS, fake)
    monkeypatch.setitem(settings.KINDS, "paper", [("a1a", 100)])
    monkeypatch.setattr(compare, "draw_setting", lambda *key: arrays)
    monkeypatch.setattr(compare, "fetch_all", lambda names: None)
    options = ["--kinds", "paper", "--methods", OURS, "--results", str(path)]
    compare.main([*options, "--draws", "2", "--busy"])
    compare.main(options)
    assert path.read_text().startswith(before)
    found = [result for result in read_results(path) if result.method == OURS]
    assert [result.draw for result in found] == [0, 1, 2]
    assert {result.auc for result in found} == {1.0}
    assert [result.versions for result in found] == ["v" + compare.BUSY] * 2 + ["v"]
    compare.main([*options, "--again"])
    found = read_results(path)
    assert [r.versions for r in found if r.method == OURS] == ["v"] * 3
    assert sum(r.method == AUTOGLUON for r in found) == 3


def test_absent_environments_are_skipped_with_what_builds_them(tmp_path, monkeypatch, capsys):
    for environment in (methods.AUTOGLUON, methods.TABPFN):
        monkeypatch.setenv(environment.variable, str(tmp_path / "python"))
    monkeypatch.setattr(compare, "fetch_all", lambda names: None)
    compare.main(
        ["--kinds", "paper", "--methods", AUTOGLUON, TABPFN, "--results", str(tmp_path / "r.csv")]
    )
    told = capsys.readouterr().out
    assert "make .venv-rivals/.ready" in told
    assert "make .venv-tabpfn/.ready" in told
    assert not (tmp_path / "r.csv").exists()


def test_figures_of_three_classes():
    y = np.array([0, 0, 1, 2, 2])
    probabilities = np.array(
        [[0.6, 0.3, 0.1], [0.3, 0.5, 0.2], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8], [0.4, 0.5, 0.1]]
    )
    auc, auc_hard, log_loss, accuracy = compare.measure_classes(y, probabilities)
    assert auc == pytest.approx(roc_auc_score(y, probabilities, multi_class="ovr"), abs=1e-6)
    assert auc_hard == pytest.approx((0.75 + 0.75 + 0.75) / 3, abs=1e-6)
    assert log_loss == pytest.approx(-np.log([0.6, 0.3, 0.7, 0.8, 0.1]).mean(), abs=1e-5)
    assert accuracy == 0.6


def test_frames_are_encoded_by_columns_or_codes(frames):
    codes = settings.ordinal(frames)
    # three colors in their order, then size, year, month, day and weekday
    expected = [[2, 1, 2024, 1, 1, 0], [0, np.nan, 2024, 1, 1, 0], [np.nan, 3, 2024, 1, 1, 0]]
    np.testing.assert_array_equal(codes.X, expected)
    np.testing.assert_array_equal(codes.X_scored, [[2, 4, 2024, 1, 1, 0], [1, 5, 2025, 3, 2, 6]])
    columns = settings.one_hot(frames)
    colors = columns.X[:, -4:]  # blue, green, missing, red
    np.testing.assert_array_equal(colors, [[0, 0, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0]])
    assert np.isfinite(columns.X_unlabeled).all()


def test_draw_of_a_file_has_codes_of_its_labels(monkeypatch):
    frame = pd.DataFrame({"x": np.arange(1_000)})
    y = np.where(frame["x"] % 3 == 0, "three", "no")
    monkeypatch.setitem(settings.FILES, "file", lambda: (frame, y))
    draw = settings.draw_setting("file", 200, 0)
    assert draw.y.size == 200
    np.testing.assert_array_equal(draw.y, draw.X["x"] % 3 == 0)
    np.testing.assert_array_equal(draw.y_scored, draw.X_scored["x"] % 3 == 0)
    assert not set(draw.X["x"]) & set(draw.X_unlabeled["x"])


def test_task_and_answer_arrive_as_they_were(tmp_path, frames, arrays):
    for number, draw in enumerate((frames, arrays)):
        folder = tmp_path / str(number)
        folder.mkdir()
        write_task(folder, {"X": draw.X, "X_unlabeled": draw.X_unlabeled}, y=draw.y, n_jobs=-1)
        task = read_task(folder)
        for name in ("X", "X_unlabeled"):
            same = pd.testing.assert_frame_equal if number == 0 else np.testing.assert_array_equal
            same(task[name], getattr(draw, name))
        np.testing.assert_array_equal(task["y"], draw.y)
        assert task["n_jobs"] == -1
        write_answer(folder, np.eye(2), 1.5, "numpy")
        probabilities, seconds, used = read_answer(folder)
        np.testing.assert_array_equal(probabilities, np.eye(2))
        assert seconds == 1.5
        assert f"numpy {np.__version__}" in used


FAKE = """
import os, sys
from pathlib import Path
from benchmarks.rivals.exchange import read_task, write_answer
task = read_task(Path(sys.argv[1]))
assert task["seed"] == 5, "another seed"
scored = task["X_unlabeled"][: task["n_scored"]] * task["factor"]
write_answer(Path(sys.argv[1]), scored, float(os.environ.get("OMP_NUM_THREADS", 0)), "numpy")
"""


@pytest.fixture
def fake_environment(tmp_path, monkeypatch):
    """An interpreter that runs the fake, whatever module it is told to run."""
    (tmp_path / "fake.py").write_text(FAKE)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{tmp_path}/fake.py" "$3"\n')
    python.chmod(0o755)
    monkeypatch.setenv(methods.TABPFN.variable, str(python))
    return methods.TABPFN


@pytest.mark.skipif(sys.platform == "win32", reason="the fake interpreter is a shell script")
def test_another_environment_gets_the_draw_and_the_cores(fake_environment, arrays):
    answer = [methods.elsewhere(fake_environment, "m", arrays, n, factor=2.0) for n in (1, -1)]
    for probabilities, _, used in answer:
        np.testing.assert_array_equal(probabilities, 2.0 * arrays.X_scored)
        assert "numpy" in used
    assert [seconds for _, seconds, _ in answer] == [1.0, 0.0]


@pytest.mark.skipif(sys.platform == "win32", reason="the fake interpreter is a shell script")
def test_error_in_another_environment_is_told(fake_environment, arrays):
    with pytest.raises(RuntimeError, match=r"m: exit code 1[\s\S]*another seed"):
        methods.elsewhere(fake_environment, "m", replace(arrays, seed=6), 1, factor=2.0)


def test_differences_are_those_on_draws_that_both_have():
    results = made_up(OURS, auc=0.86, log_loss=0.3) + made_up(AUTOGLUON, draws=2, log_loss=0.35)
    results += made_up(TABPFN, rows=ROWS[1:], auc=0.87)
    results += [replace(r, draw=3, auc=0.1) for r in made_up(OURS, draws=1)]
    auc, loss = page.figure_table(results, "auc"), page.figure_table(results, "log_loss")
    assert "| AutoGluon, 60 seconds | 2 | 0.8000 | 0.8600 | +0.0600 | +0.0600 | 2 of 2 |" in auc
    assert "| TabPFN v1 | 1 | 0.8700 | 0.8600 | -0.0100 | -0.0100 | 0 of 1 |" in auc
    assert "| AutoGluon, 60 seconds | 2 | 0.3500 | 0.3000 | -0.0500 | -0.0500 | 2 of 2 |" in loss


def test_times_beside_other_load_are_left_out():
    results = made_up(OURS, seconds=5.0) + made_up(AUTOGLUON, seconds=60.0)
    results += made_up(TABPFN, seconds=99.0, versions="none" + compare.BUSY)
    table = page.time_table(results)
    assert "| AutoGluon, 60 seconds | 2 | 60.0 | 5.0 | 12.00 |" in table
    assert "TabPFN" not in table
    assert "left out" in page.findings([r for r in results if r.method != AUTOGLUON])


def test_every_setting_is_a_dot():
    results = made_up(OURS, auc=0.86) + made_up(AUTOGLUON) + made_up(TABPFN, rows=ROWS[1:])
    figure = page.draw_differences(results)
    for ax in figure.axes:
        assert sum(len(dots.get_offsets()) for dots in ax.collections) == 3
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == [
        "AutoGluon, 60 seconds",
        "TabPFN v1",
    ]


def test_without_results_of_ours_the_section_says_so():
    assert page.findings(made_up(AUTOGLUON)) == NOT_RUN


def test_page_is_written_from_the_results():
    written = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    section = page.findings(read_results(compare.RESULTS))
    assert with_section(written, "rivals", section) == written
