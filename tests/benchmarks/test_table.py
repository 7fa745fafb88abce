"""The runner of the tables, its results file, and the pages that are written from it."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks import paper_table, run_table, table_page
from benchmarks.data.sources import DATASETS, PUBLISHED_COLUMNS, fetch_all
from benchmarks.figures import (
    OURS,
    on_common_draws,
)
from benchmarks.methods import METHODS
from benchmarks.methods.hedgeclipper import fitted
from benchmarks.methods.method import Member, two_classes
from benchmarks.methods.supervised import EQUAL_FOREST
from benchmarks.pages import NOT_RUN, ROOT, markdown_table, with_section
from benchmarks.paper_table import Figures, distances
from benchmarks.results_file import FOLDER, Key, Result, read_results, write_results
from benchmarks.run_table import COMPARISONS
from hedgeclipper import HedgeClipperClassifier

ROW = ("a1a", 100)
QUICK = COMPARISONS["quick"]


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """The results file of the quick comparison."""
    path = tmp_path_factory.mktemp("table") / "quick.csv"
    run_table.main(["quick", "--jobs", "1", "--results", str(path)])
    return path


def made_up(rows=(ROW,), draws=3, methods=METHODS, **changes):
    """Results in which every method has AUC 0.8 on every draw, except for the changes."""
    one = Result(*ROW, 0, "", 0.8, 0.7, 0.5, 0.8, 100, 50, 1.0, "2020-01-01", "python 3", 0.1)
    return [
        replace(one, data=row[0], n_labels=row[1], draw=d, method=m,
                **{k: float(v[m][d]) for k, v in changes.items() if m in v})
        for row in rows for m in methods for d in range(draws)
    ]  # fmt: skip


def test_rows_are_those_of_the_paper_that_can_be_had():
    rows = COMPARISONS["paper"].rows
    assert len(rows) == len(set(rows)) == 18
    values = [found for data in DATASETS.values() for found in data.published.values()]
    assert len(values) == 17
    assert all(len(found) == len(PUBLISHED_COLUMNS) for found in values)


@pytest.mark.slow
def test_quick_run_has_every_method_on_every_draw(quick):
    results = read_results(quick)
    draws = range(QUICK.n_draws)
    expected = {Key(*row, draw, m) for row in QUICK.rows for draw in draws for m in METHODS}
    assert {result.key for result in results} == expected
    assert all(0.6 < result.auc < 0.95 for result in results)
    assert all(0.3 < result.log_loss < 5 for result in results)


@pytest.mark.slow
def test_quick_run_resumes_where_it_stopped(quick, monkeypatch, tmp_path):
    results = read_results(quick)
    path = tmp_path / "half.csv"
    write_results(path, [r for r in results if not (r.draw == 1 and r.method == "lightgbm")])
    ran, work = [], run_table.run_draw
    monkeypatch.setattr(
        run_table, "run_draw", lambda keys, **o: ran.append(keys) or work(keys, **o)
    )
    run_table.main(["quick", "--jobs", "1", "--results", str(path)])
    assert ran == [[Key(*row, 1, "lightgbm")] for row in QUICK.rows]
    assert {r.key: r.auc for r in read_results(path)} == {r.key: r.auc for r in results}


def test_all_methods_of_a_task_get_the_same_draw(monkeypatch):
    handed = {}

    def spy(name):
        def probabilities(draw, n_jobs, *members):
            handed[name] = draw
            return two_classes(np.linspace(0, 1, draw.n_scored))

        return replace(METHODS[name], probabilities=probabilities)

    spies = replace(QUICK, methods={name: spy(name) for name in METHODS})
    monkeypatch.setitem(COMPARISONS, "quick", spies)
    names = (OURS, "mart", "mean")
    keys = [Key("a1a", 100, 4, name) for name in names]
    results = run_table.run_draw(keys, "quick")
    assert [result.key for result in results] == keys
    assert handed[OURS] is handed["mart"] is handed["mean"]
    theirs = run_table.make_draw("a1a", 100, 4, max_unlabeled=QUICK.n_unlabeled)
    np.testing.assert_array_equal(handed["mart"].X, theirs.X)


@pytest.fixture
def few_trees(monkeypatch):
    monkeypatch.setitem(HedgeClipperClassifier.__init__.__kwdefaults__, "n_estimators", 12)


@pytest.mark.parametrize("name", METHODS)
def test_hidden_labels_are_not_looked_at(name, few_trees):
    draw = run_table.make_draw("a1a", 40, 0, max_unlabeled=300)
    blind = replace(draw, y_scored=np.zeros_like(draw.y_scored))
    method = METHODS[name]
    members = [Member(METHODS["mart"], np.linspace(0, 1, draw.n_scored))]
    given = [members] * method.combines
    ours, theirs = (method.run(d, 1, *given).probabilities for d in (draw, blind))
    np.testing.assert_array_equal(ours, theirs)
    assert ours.shape == (draw.n_scored, 2)
    np.testing.assert_allclose(ours.sum(axis=1), 1)
    assert ours.min() >= 0


def test_the_mean_of_voters_is_that_of_all_voters_of_one_fit(few_trees):
    draw = run_table.make_draw("a1a", 40, 0, max_unlabeled=300)
    model = fitted(draw, 1)
    scores = model._predictor.scorer.score(draw.X_scored)[:, :, 0]
    assert scores.shape[1] == model.voter_names_.size > 3
    mean = METHODS["hedgeclipper-mean"].probabilities(draw, 1)[:, 1]
    np.testing.assert_allclose(mean, scores.mean(axis=1))


def test_measures_on_four_rows():
    y, scores = np.array([0, 0, 1, 1]), np.array([0.1, 0.6, 0.55, 0.9])
    auc, auc_hard, log_loss, accuracy = run_table.measure(y, two_classes(scores))
    assert (auc, auc_hard, accuracy) == (0.75, 0.75, 0.75)
    assert log_loss == pytest.approx(-np.log([0.9, 0.4, 0.55, 0.9]).mean(), abs=1e-6)


def test_calibration_error_is_the_mean_distance_of_probabilities_from_frequencies():
    """Ten bins of 100 rows: the class of 0.9 is right in 70% of half the rows, in 90% of others."""
    right = np.tile(np.arange(100) % 10, 10) < np.repeat([7, 9], 500)
    first = np.repeat([0.9, 0.91], 500)
    found = run_table.calibration_error(1 - right, np.column_stack([first, 1.0 - first]))
    assert found == pytest.approx((0.9 - 0.7 + 0.91 - 0.9) / 2, abs=1e-6)


def test_figures_of_three_classes():
    y = np.array([0, 0, 1, 2, 2])
    probabilities = np.array(
        [[0.6, 0.3, 0.1], [0.3, 0.5, 0.2], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8], [0.4, 0.5, 0.1]]
    )
    auc, auc_hard, log_loss, accuracy = run_table.measure(y, probabilities)
    assert auc == pytest.approx(roc_auc_score(y, probabilities, multi_class="ovr"), abs=1e-6)
    assert auc_hard == pytest.approx((0.75 + 0.75 + 0.75) / 3, abs=1e-6)
    assert log_loss == pytest.approx(-np.log([0.6, 0.3, 0.7, 0.8, 0.1]).mean(), abs=1e-5)
    assert accuracy == 0.6


def test_figures_are_those_on_draws_that_all_methods_have():
    others = made_up([ROW, ("a1a", 1000)], 5, ["mart", "adaboost"])
    ours = [*made_up([ROW], 3, [OURS]), *made_up([("a1a", 1000)], 2, [OURS])]
    found = on_common_draws(others + ours, [OURS, "mart"])
    assert {r.key for r in found} == {r.key for r in made_up([ROW], 3, [OURS, "mart"])}
    assert on_common_draws(others, [OURS, "mart"]) == []


def test_results_with_a_draw_missing_are_refused():
    results = [r for r in made_up() if not (r.method == "mart" and r.draw == 1)]
    with pytest.raises(ValueError, match="no result of mart for draw 1"):
        Figures(results).values(ROW, "mart", "auc")


def test_data_that_cannot_be_had_are_named(monkeypatch, tmp_path):
    monkeypatch.setenv("HEDGECLIPPER_DATA", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(SystemExit, match=r"(?s)kagg-cred: .*ssl-secstr: "):
        fetch_all(["a1a", "kagg-cred", "ssl-secstr"])


def test_sections_are_replaced_between_their_marks():
    page = "head\n<!-- begin x -->\nold\n<!-- end x -->\ntail\n"
    assert with_section(page, "x", "new") == (
        "head\n<!-- begin x -->\n\nnew\n\n<!-- end x -->\ntail\n"
    )
    with pytest.raises(ValueError, match="once each"):
        with_section(page, "y", "new")
    assert markdown_table([["a", "b"], ["1", "2"]]) == "| a | b |\n| :--- | ---: |\n| 1 | 2 |"


def test_rendering_writes_pages_and_pictures(tmp_path):
    docs, readme = tmp_path / "docs", tmp_path / "README.md"
    docs.mkdir()
    for name in table_page.pages():
        shutil.copy(ROOT / name, tmp_path / name)
    better = {OURS: [0.9, 0.91, 0.92]}
    write_results(tmp_path / "table.csv", made_up(auc=better))
    table_page.render(tmp_path, tmp_path)
    assert NOT_RUN in (docs / "benchmarks.md").read_text(encoding="utf-8")
    assert "+0.1100 ± 0.0058" in (docs / "ablations.md").read_text(encoding="utf-8")
    assert "| `HedgeClipperClassifier` | 0.910 |  | 1 |" in readme.read_text(encoding="utf-8")
    for name in ("table.png", "gains.png"):
        assert (docs / "figures" / name).stat().st_size > 10_000


@pytest.mark.parametrize("name", ["paper", "other", "rare"])
def test_committed_results_are_whole(name):
    """Comparators have all draws; ours has the same draws of all rows, or is to be measured."""
    comparison = COMPARISONS[name]
    keys = {result.key for result in read_results(comparison.results)}
    others = set(comparison.methods) - set(run_table.OURS)
    draws = range(comparison.n_draws)
    assert {key for key in keys if key.method in others} == {
        Key(*row, draw, m) for row in comparison.rows for draw in draws for m in others
    }
    for key in (key for key in keys if key.method not in others):
        assert all(key._replace(data=row[0], n_labels=row[1]) in keys for row in comparison.rows)


def test_committed_figures_are_near_published():
    figures = table_page.read_figures("paper", FOLDER, paper_table.COLUMNS_A[1:])
    assert all(distance < 0.05 for distance in distances(figures).values())
    assert EQUAL_FOREST in METHODS
