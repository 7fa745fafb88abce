"""The comparison with AutoGluon, on results that are made up."""

from benchmarks.figures import OURS
from benchmarks.results_file import Result
from benchmarks.rivals import compare

FIGURES = {OURS: (0.86, 15.0), compare.AUTOGLUON: (0.85, 60.0)}


def test_each_draw_of_each_row_is_run_by_both_and_once():
    whole = compare.plan(set())
    assert len(whole) == len(set(whole)) == 2 * len(compare.ROWS) * compare.N_DRAWS
    assert compare.plan(set(whole[1:])) == whole[:1]


def test_gain_and_time_are_those_on_draws_that_both_have():
    results = [
        Result(*key, auc, auc, 0.4, 0.8, 8_000, 4_000, seconds, "2026-01-01", "none")
        for key in compare.plan(set())
        for auc, seconds in [FIGURES[key.method]]
    ]
    results = [r for r in results if r.method == OURS or r.draw < 2]
    text = compare.describe(results)
    assert "+0.0100 ± 0.0000" in text
    assert "| HedgeClipper | 15.000 |" in text
