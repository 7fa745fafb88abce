"""How the figures of HedgeClipper and its controls become findings and ablations."""

import numpy as np
import pytest

from benchmarks.draws import make_draw
from benchmarks.figures import OURS
from benchmarks.forest_text import (
    COLUMNS,
    FOREST,
    LABELED_VIEWS,
    N_TREES,
    ForestFigures,
    describe_forest,
)
from benchmarks.methods import CONTROLS, METHODS, hedgeclipper
from benchmarks.other_data import COMPARISONS
from benchmarks.pages import with_section
from benchmarks.render_ablations import PAGE, PARTS, describe_parts, figures, sections, table
from benchmarks.results_file import Result, read_results

ROWS = [("a1a", 100), ("covtype", 1000)]
USUAL = np.array([0.80, 0.81, 0.82])
NOISE = np.array([-0.001, 0.0, 0.001])


def made_up(rows=ROWS, **changes):
    """Results in which all methods have the same figures, except for the changes, all by measure.

    A change is a mapping of methods to one figure for each draw, in the first row.
    """
    results = []
    for row in rows:
        for name in dict.fromkeys([*COLUMNS, *CONTROLS]):
            for draw in range(3):
                found = {"auc": USUAL, "log_loss": USUAL - 0.3, "accuracy": USUAL}
                if row == rows[0]:
                    found |= {measure: own[name] for measure, own in changes.items() if name in own}
                auc, loss, accuracy = (float(values[draw]) for values in found.values())
                rest = (100, 100, 1.0, "2026-01-01", "v")
                results.append(Result(*row, draw, name, auc, 0.7, loss, accuracy, *rest))
    return ForestFigures(results, rows)


def ours(gain):
    """AUCs of HedgeClipper that are above all others by the gain."""
    return {OURS: USUAL + gain + NOISE}


@pytest.fixture(scope="module")
def draw():
    return make_draw("a1a", 100, 0, max_unlabeled=300)


@pytest.fixture(scope="module")
def usual(draw):
    return METHODS[OURS].scores(draw)


def test_a_forest_of_as_many_trees_has_as_many_trees(draw):
    model = hedgeclipper.fitted(draw)
    assert model._predictor.finder.n_trees == N_TREES
    assert METHODS[FOREST].name == f"random-forest-{N_TREES}"


@pytest.mark.parametrize("name", CONTROLS)
def test_a_control_differs_from_hedgeclipper_and_has_as_many_trees(name, draw, usual, monkeypatch):
    fits = []
    hedgeclipper.fitted.cache_clear()
    fit = hedgeclipper.HedgeClipperClassifier.fit
    monkeypatch.setattr(
        hedgeclipper.HedgeClipperClassifier,
        "fit",
        lambda self, *args, **named: fits.append(self) or fit(self, *args, **named),
    )
    assert np.abs(usual - METHODS[name].scores(draw)).max() > 1e-3
    assert {model._predictor.finder.n_trees for model in fits} == {N_TREES}


def test_views_from_labeled_rows_see_no_unlabeled_row(draw):
    """The control's components are those of the labeled rows, whatever the unlabeled ones are."""
    seen = []

    class Spy(hedgeclipper.HedgeClipperClassifier):
        def fit(self, *args, **named):
            seen.append(self.views.estimator.directions_)
            return super().fit(*args, **named)

    from benchmarks.methods import hedgeclipper_labeled_views as control

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(control, "HedgeClipperClassifier", Spy)
        control.scores(draw)
    theirs = control.Components(random_state=draw.seed).fit(draw.X).directions_
    np.testing.assert_array_equal(seen[0], theirs)


def test_without_the_game_trees_have_equal_weights(draw):
    model = hedgeclipper.fitted(draw)
    scores = model._predictor.scorer.score(draw.X_scored)[:, :, 0]
    assert scores.shape == (draw.n_scored, 3)
    mean = scores @ [0.5, 0.25, 0.25]
    np.testing.assert_allclose(METHODS["hedgeclipper-mean"].scores(draw), mean, rtol=1e-6)


def test_the_lowest_difference_is_that_with_many_labels():
    text = describe_forest(made_up([("a1a", 10), ("covtype", 1000)], auc=ours(-0.1)))
    assert "+0.0000 (covtype, 1K)" in text


def test_a_gain_that_the_control_has_too_is_not_credited_to_unlabeled_rows():
    same = {**ours(0.05), LABELED_VIEWS: USUAL + 0.05 + NOISE[::-1]}
    text = describe_forest(made_up(auc=same))
    assert "+0.0250 ± 0.0003, significant" in text
    assert "+0.0000 ± 0.0006, not significant" in text


def test_each_part_has_a_line_and_its_sign():
    text = table(made_up(auc=ours(0.05), log_loss={OURS: USUAL - 0.4 + NOISE}))
    lines = text.splitlines()[2:]
    for part, line in zip(PARTS, lines, strict=True):
        assert line.startswith(f"| {part.title} | 3 | +0.0250 ± 0.0003 | 1, 0 |")


def test_parts_are_compared_with_their_standard_error():
    text = describe_parts(made_up(auc=ours(0.05)))
    assert "- shrinkage, chosen out of bag: more than its standard error (+0.0250" in text
    worse = describe_parts(made_up(auc=ours(-0.05)))
    assert "- shrinkage, chosen out of bag: worse than without it (-0.0250" in worse
    assert "the lowest difference is -0.0500 (a1a, 100)" in worse


def test_the_controls_cover_all_parts():
    assert {name for part in PARTS for name in (part.with_it, part.without)} == {OURS, *CONTROLS}


@pytest.fixture
def committed():
    """The committed results; skipped while they are being measured."""
    try:
        return figures()
    except SystemExit as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("name", ["forest", "ablations"])
def test_committed_results_of_other_data_are_whole(committed, name):
    comparison = COMPARISONS[name]
    keys = {result.key for result in read_results(comparison.results)}
    assert keys == set(comparison.keys())


def test_the_committed_page_is_what_the_committed_results_say(committed):
    text = PAGE.read_text(encoding="utf-8")
    for name, part in sections(*committed).items():
        assert with_section(text, name, part) == text, f"run benchmarks.render_ablations: {name}"
