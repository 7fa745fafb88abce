"""The ablations: every study varies something, and says what its results say."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from sklearn.base import clone

from benchmarks import render_ablations, run_ablations
from benchmarks.ablations import STUDIES
from benchmarks.ablations.dimension import draw_gaussians
from benchmarks.ablations.effects import effect, effect_by_row
from benchmarks.ablations.label_noise import flipped
from benchmarks.ablations.results import AblationResult
from benchmarks.ablations.study import Row
from benchmarks.ablations.summary import Difference, Summary
from benchmarks.comparison import LEVEL, paired_p_value
from benchmarks.draws import make_draw
from benchmarks.methods import base_forest
from benchmarks.pages import DOCS
from benchmarks.results_file import read_results, write_results

ASKED_FOR = {
    "box",
    "specialists",
    "together",
    "held_out",
    "bounds",
    "small_leaves",
    "solvers",
    "n_trees",
    "diversity",
    "label_noise",
    "dimension",
    "n_unlabeled",
}
A_FEW_TREES = 15
LARGEST_PICTURE = 60_000


def made_up(study, auc, n_draws=3):
    """Return results whose AUC is a function of row, setting's number and draw."""
    return [
        AblationResult(
            study.name, *row, draw, setting, auc(i, j, draw), -1.0 - j, 0.5, 10, 10, 1.0,
            "2000-01-01", "made up",
        )
        for i, row in enumerate(study.rows)
        for j, setting in enumerate(study.settings)
        for draw in range(n_draws)
    ]  # fmt: skip


def sentence(study, auc):
    return study.sentence(Summary(made_up(study, auc), study.rows))


def steps(i, j, draw):
    """Later settings are better, by far more than draws vary."""
    return 0.5 + 0.01 * j + 0.0001 * ((i + j) * draw % 3)


@pytest.fixture(scope="module")
def tiny_draws():
    # Small enough to be quick, yet no solver reaches the minimum of the larger one at once.
    return {
        "usual": make_draw("a1a", 300, 0, max_unlabeled=2_000),
        "n_trees": make_draw("a1a", 40, 0, max_unlabeled=300),
        "dimension": draw_gaussians("gaussians-3", 100, 0, max_unlabeled=600),
    }


@pytest.fixture(params=STUDIES.values(), ids=list(STUDIES))
def study(request):
    return request.param


def test_every_study_that_was_asked_for_is_there():
    assert set(STUDIES) == ASKED_FOR


@pytest.mark.slow
def test_settings_differ(study, tiny_draws, monkeypatch):
    draw = tiny_draws.get(study.name, tiny_draws["usual"])
    few = base_forest.forest(draw).set_params(n_estimators=A_FEW_TREES)
    monkeypatch.setattr(base_forest, "forest", lambda _: clone(few))
    outcomes = {
        name: run_ablations.run_quietly(setting, draw).scores
        for name, setting in study.settings.items()
    }
    alike = {
        frozenset(pair)
        for pair in combinations(outcomes, 2)
        if np.array_equal(*[outcomes[name] for name in pair])
    }
    assert alike <= study.same


def test_text_is_at_most_three_whole_sentences(study):
    text = sentence(study, steps)
    assert text.endswith(".")
    assert text[0].isupper()
    assert text.count(". ") <= 2


def test_claims_follow_the_sign(study):
    swapped = {"gains": "loses", "loses": "gains"}
    claims = [word for word in sentence(study, steps).split() if word in swapped]
    opposite = sentence(study, lambda i, j, draw: 1.0 - steps(i, j, draw)).split()
    assert claims
    assert [word for word in opposite if word in swapped] == [swapped[word] for word in claims]


def test_nothing_is_claimed_where_draws_vary_more_than_settings(study):
    text = sentence(study, lambda i, j, draw: 0.5 + 0.001 * j * (1 + 5 * (draw - 1)))
    assert not {"gains", "loses"} & set(text.split())
    assert "no significant difference" in text


def test_figures_come_from_the_results(study):
    twice = sentence(study, lambda i, j, draw: 0.5 + 2 * (steps(i, j, draw) - 0.5))
    assert twice != sentence(study, steps)


def test_rows_are_named_where_they_differ():
    up, down = Row("a1a", 1000), Row("covtype", 1000)
    values = np.array([0.02, 0.021, 0.022])
    text = effect_by_row(Difference({up: values, down: -values / 4}))
    assert text == "gains 0.0079 ± 0.0003 (up on a1a, down on covtype)"


@pytest.mark.parametrize("shift", [0.0, 0.02, 0.05])
def test_one_row_is_tested_by_the_paired_t_test(shift):
    ours, theirs = np.array([0.80, 0.83, 0.78, 0.81]) + shift, np.array([0.79, 0.81, 0.80, 0.80])
    difference = Difference({Row("a1a", 100): ours - theirs})
    assert bool(difference.sign) == (paired_p_value(ours, theirs) < LEVEL)


def test_differences_are_paired_by_draw():
    study = STUDIES["specialists"]
    results = made_up(study, lambda i, j, draw: 0.5 + 0.1 * draw + 0.01 * j)
    one_missing = [r for r in results if (r.setting, r.draw) != ("leaves", 1)]
    gain = Summary(one_missing, study.rows).difference("nodes", "leaves")
    assert gain.mean == pytest.approx(0.01)
    assert {values.size for values in gain.by_row.values()} == {2}


def test_effect_of_nothing():
    zeros = Difference({Row("a1a", 100): np.zeros(3)})
    assert effect(zeros) == "makes no significant difference (+0.0000 ± 0.0000)"


def test_labels_are_flipped_as_often_as_alpha_says(tiny_draws):
    draw = replace(tiny_draws["usual"], y=np.zeros(10_000, dtype=int))
    assert flipped(draw, 0.4).y.mean() == pytest.approx(0.3, abs=0.02)
    np.testing.assert_array_equal(flipped(draw, 1.0).y, draw.y)


def test_generated_rows_are_as_hard_in_any_dimension():
    for name in ("gaussians-1", "gaussians-20"):
        draw = draw_gaussians(name, 10, 0, max_unlabeled=20_000)
        along = draw.X_scored.sum(axis=1) / np.sqrt(draw.X_scored.shape[1])
        means = [along[draw.y_scored == label].mean() for label in (0, 1)]
        assert np.diff(means) == pytest.approx(2.0, abs=0.1)
        assert along[draw.y_scored == 1].std() == pytest.approx(1.0, abs=0.05)


def test_what_is_done_is_not_run_again():
    tasks = run_ablations.plan(["box", "held_out"], 2, 500, set(), quick=True)
    done = {
        run_ablations.AblationKey(study, task.data, task.n_labels, task.draw, name)
        for task in tasks
        for study, name in task.settings[1:]
    }
    left = run_ablations.plan(["box", "held_out"], 2, 500, done, quick=True)
    assert [task.data for task in tasks] == ["a1a", "a1a"]
    assert [task.settings for task in left] == [task.settings[:1] for task in tasks]


def test_a_task_gives_a_result_for_each_setting_and_the_file_keeps_them(tmp_path):
    settings = (("specialists", "base forest"), ("specialists", "leaves"), ("together", "leaves"))
    results = run_ablations.run_task(run_ablations.Task("a1a", 100, 0, settings, 500))
    forest, leaves, same = results
    assert (same.auc, same.seconds) == (leaves.auc, leaves.seconds)
    assert forest.auc != leaves.auc
    assert np.isnan(forest.slack)
    assert leaves.slack < 0
    write_results(tmp_path / "some.csv", results[1:], AblationResult)
    assert read_results(tmp_path / "some.csv", AblationResult) == results[1:]


@pytest.mark.slow
def test_rendering_writes_the_page_and_small_pictures(tmp_path):
    render_ablations.render(render_ablations.RESULTS, tmp_path)
    pictures = sorted((tmp_path / "figures").iterdir())
    assert {p.name for p in pictures} == {f"ablation_{name}.png" for name in STUDIES}
    assert all(picture.stat().st_size < LARGEST_PICTURE for picture in pictures)
    text = (tmp_path / "ablations.md").read_text(encoding="utf-8")
    assert text == (DOCS / "ablations.md").read_text(encoding="utf-8"), "run render_ablations"


def test_all_results_are_there():
    known = {r.key for r in read_results(render_ablations.RESULTS, AblationResult)}
    tasks = run_ablations.plan(STUDIES, run_ablations.N_DRAWS, 0, known, quick=False)
    assert tasks == []
