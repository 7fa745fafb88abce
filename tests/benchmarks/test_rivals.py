"""The comparison with AutoGluon, on results that are made up."""

from benchmarks.results_file import Key, Result
from benchmarks.rivals import compare


def result(key: Key, auc: float, seconds: float) -> Result:
    return Result(*key, auc, auc, 0.4, 0.8, 8_000, 4_000, seconds, "2026-01-01", "none")


def results(panel: float, seconds: float) -> list[Result]:
    figures = {compare.PANEL: (panel, seconds), compare.AUTOGLUON: (0.85, 60.0)}
    return [result(key, *figures[key.method]) for key in compare.plan(set())]


def test_each_draw_of_each_row_is_run_by_both_and_once():
    whole = compare.plan(set())
    n_rows = len(compare.SETS) * len(compare.BUDGETS)
    assert len(whole) == len(set(whole)) == 2 * n_rows * compare.N_DRAWS
    assert compare.plan(set(whole[1:])) == whole[:1]


def test_gain_and_time_are_those_of_the_panel():
    text = compare.describe(results(0.86, 15.0))
    assert "+0.0100 on average" in text
    assert "0.25 of its time" in text


def test_draws_that_one_of_the_two_has_not_run_are_left_out():
    whole = results(0.86, 15.0)
    alone = [found for found in whole if found.method == compare.PANEL or found.draw == 0]
    lines = compare.describe(alone).splitlines()
    assert lines[2].endswith("| 1 |")
    assert lines[2].startswith("| a1a, 100 | 0.8600 | 0.8500 |")
