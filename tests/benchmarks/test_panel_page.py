"""How the hedged panel's figures become its page."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.figures import OURS
from benchmarks.other_data import COMPARISONS
from benchmarks.pages import with_section
from benchmarks.panel_study import WAYS, RankScale, StudyResult, game, with_scale
from benchmarks.panel_text import (
    COMPARATORS,
    MEAN,
    PANEL,
    STACKING,
    panel_gains,
    table_of_gains,
    verdicts,
)
from benchmarks.render_panel import (
    PAGE,
    describe_best_member,
    sections,
    table_of_members,
    table_of_ways,
)
from benchmarks.results_file import Result, read_results
from benchmarks.table_text import Figures
from hedgeclipper.base.weighing import PanelScores, aggregate

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
    text = verdicts(gains, 1, 0.0)
    assert "Aim not met: significantly below the best comparator in a1a, 100." in text
    assert "Aim not met: more than 0.01 below it with 100 labels or more in a1a, 100." in text
    assert "Aim not met: above all of them in 0 of 2 rows (aim 1)." in text
    assert "(significant)" in table_of_gains(gains)


def test_aims_that_are_met_are_reported():
    text = verdicts(panel_gains(figures(hedged_voting=USUAL + 0.05 + NOISE)), 1, 0.02)
    assert "Aim not met" not in text
    assert "Aim met: mean gain over the random forest +0.0250 (aim +0.020)." in text


def test_ways_are_compared_with_the_panel_as_it_is():
    results = [
        StudyResult(*row, 0, way, 0.8 if number == 0 else 0.79)
        for row in ROWS
        for number, way in enumerate(WAYS)
    ]
    table = table_of_ways(results)
    assert table.count("-0.0100") == (len(WAYS) - 1) * 4
    assert "the panel as it is" not in table


def studied(method, aucs):
    """Results of a way on draws of a row of the paper's data and of one of other data."""
    whole = StudyResult("a1a", 100, 0, "the panel as it is", 0.8)
    results = []
    for row in (("a1a", 100), ("adult", 100)):
        for draw, auc in enumerate(aucs):
            results += [replace(whole, data=row[0], draw=draw),
                        StudyResult(*row, draw, method, auc)]  # fmt: skip
    return results


def test_members_are_worth_what_the_panel_loses_without_them():
    table = table_of_members(studied("without linear", [0.79, 0.77]))
    loss = "+0.0200 ± 0.0100"
    assert table.splitlines()[-1] == f"| linear | {loss} | {loss} | +0.0200 (a1a, 100) |"


@pytest.mark.parametrize(("auc", "is_met"), [(0.804, True), (0.806, False)])
def test_rows_far_below_the_best_member_are_named(auc, is_met):
    text = describe_best_member(studied("the best member by out-of-fold labels", [auc, auc]))
    assert ("in no row" in text) == ("Aim met" in text) == is_met
    assert ("adult, 100 (-0.0060)" in text) == (not is_met)


def test_other_votes_and_constants_change_the_game_and_nothing_else():
    rng = np.random.default_rng(0)
    y = rng.random(60) < 0.5
    members = [y + rng.normal(size=60) * noise for noise in (0.8, 1.5, 3.0)]
    scores = 1 / (1 + np.exp(-np.column_stack(members)))
    said = PanelScores(scores, y, np.ones(60), scores)
    as_it_is = aggregate(said).game.log_odds(scores)
    np.testing.assert_allclose(game()(said, scores), as_it_is)
    for way in (with_scale(RankScale), game(options={"ridge": 1.0})):
        assert np.abs(way(said, scores) - as_it_is).max() > 1e-3
    np.testing.assert_allclose(aggregate(said).game.log_odds(scores), as_it_is)


def test_committed_results_of_other_data_are_whole():
    comparison = COMPARISONS["panel"]
    keys = {result.key for result in read_results(comparison.results)}
    assert keys == set(comparison.keys())


def test_the_committed_page_is_what_the_committed_results_say():
    text = PAGE.read_text(encoding="utf-8")
    for name, part in sections().items():
        assert with_section(text, name, part) == text, f"run benchmarks.render_panel: {name}"
