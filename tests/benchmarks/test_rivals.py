"""The comparison with other methods, on results that are made up and by methods that are fakes."""

from dataclasses import replace

from benchmarks.draws import make_draw
from benchmarks.figures import OURS
from benchmarks.results_file import Result, read_results
from benchmarks.rivals import page
from benchmarks.run_table import COMPARISONS, METHODS, main

ROWS = [("a1a", 100), ("covtype", 1_000)]
RIVALS = COMPARISONS["rivals"]
TABPFN, AUTOGLUON = "tabpfn", "autogluon"
MADE_UP = Result("", 0, 0, "", 0.8, 0.7, 0.4, 0.8, 800, 400, 10.0, "2026-01-01", "none")


def made_up(method, draws=3, rows=ROWS, **figures):
    return [
        replace(MADE_UP, data=row[0], n_labels=row[1], draw=draw, method=method, **figures)
        for row in rows
        for draw in range(draws)
    ]


def test_one_draw_of_all_rows_comes_first():
    keys = list(RIVALS.keys(RIVALS.methods, RIVALS.n_draws))
    assert len(keys) == len(set(keys)) == 36 * len(RIVALS.methods) * RIVALS.n_draws
    assert [key.draw for key in keys] == sorted(key.draw for key in keys)


def test_results_that_are_stored_belong_to_settings():
    stored = read_results(RIVALS.results)
    assert {result.key[:2] for result in stored} <= set(RIVALS.rows)
    assert {result.method for result in stored} <= set(RIVALS.methods)
    assert len({result.key for result in stored}) == len(stored)


def test_tabpfn_is_left_out_where_there_are_too_many_columns_or_labels():
    draw = make_draw("a1a", 100, 0, max_unlabeled=100)
    assert METHODS[TABPFN].why_not(draw) == "123 columns, and it takes at most 100"
    narrow = replace(draw, X=draw.X[:, :50])
    assert METHODS[TABPFN].why_not(narrow) == METHODS[OURS].why_not(draw) == ""
    many = replace(narrow, y=draw.y.repeat(20))
    assert METHODS[TABPFN].why_not(many) == "2,000 labels, and it takes at most 1,000"


def test_absent_environments_are_skipped_with_what_builds_them(tmp_path, monkeypatch, capsys):
    for name in (AUTOGLUON, TABPFN):
        monkeypatch.setenv(METHODS[name].environment.variable, str(tmp_path / "python"))
    monkeypatch.setattr("benchmarks.run_table.fetch_all", lambda names: None)
    main(["rivals", "--methods", AUTOGLUON, TABPFN, "--results", str(tmp_path / "r.csv")])
    told = capsys.readouterr().out
    assert "make .venv-rivals/.ready" in told
    assert "make .venv-tabpfn/.ready" in told
    assert not (tmp_path / "r.csv").exists()


def test_differences_are_those_on_draws_that_both_have():
    results = made_up(OURS, auc=0.86, log_loss=0.3) + made_up(AUTOGLUON, draws=2, log_loss=0.35)
    results += made_up(TABPFN, rows=ROWS[1:], auc=0.87)
    results += [replace(r, draw=3, auc=0.1) for r in made_up(OURS, draws=1)]
    auc, loss = page.figure_table(results, "auc"), page.figure_table(results, "log_loss")
    assert "| AutoGluon, 60 seconds | 2 | 0.800 | 0.860 | +0.060 | +0.060 | 2 of 2 |" in auc
    assert "| TabPFN v1 | 1 | 0.870 | 0.860 | -0.010 | -0.010 | 0 of 1 |" in auc
    assert "| AutoGluon, 60 seconds | 2 | 0.350 | 0.300 | -0.050 | -0.050 | 2 of 2 |" in loss
