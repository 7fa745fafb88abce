"""The paper's table: a quick run of it, its results file, its pages."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks import run_table, table_findings
from benchmarks.data import DATA, a1a
from benchmarks.data.fetching import fetch_all
from benchmarks.data.paper import PUBLISHED_COLUMNS
from benchmarks.figures import OURS, figure_table, first_counts, summary_table
from benchmarks.forest_text import ForestFigures
from benchmarks.methods import ABLATIONS, METHODS
from benchmarks.methods.method import Member
from benchmarks.other_data import CASES
from benchmarks.pages import markdown_table, with_section
from benchmarks.render_table import (
    OTHER,
    PAGE,
    README,
    other_sections,
    readme_sections,
    render,
    sections,
)
from benchmarks.results_file import FOLDER, Key, Result, read_results, write_results
from benchmarks.table_findings import describe_protocol
from benchmarks.table_text import HELD_OUT, SMALL_ALPHA, Figures, distances, far_off, published

COMMITTED = FOLDER / "table.csv"


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """The results file of the quick variant."""
    path = tmp_path_factory.mktemp("table") / "quick.csv"
    run_table.main(["--quick", "--jobs", "1", "--results", str(path)])
    return path


def made_up(row=("a1a", 100), draws=3, **changes):
    """Results in which every method has AUC 0.8 on every draw, except for the changes."""
    one = Result(*row, 0, "", 0.8, 0.7, 0.5, 0.8, 100, 50, 1.0, "2020-01-01", "python 3")
    return [
        replace(one, draw=d, method=m, **{k: float(v[m][d]) for k, v in changes.items() if m in v})
        for m in METHODS
        for d in range(draws)
    ]


def test_rows_are_those_of_the_paper_that_can_be_had():
    rows = run_table.table_rows()
    assert len(rows) == len(set(rows)) == 18
    assert all(len(p) == len(PUBLISHED_COLUMNS) for data in DATA for p in data.published.values())
    assert sum(len(data.published) for data in DATA) == 17


@pytest.mark.slow
def test_quick_run_has_every_method_on_every_draw(quick):
    keys = {result.key for result in read_results(quick)}
    rows, draws = run_table.QUICK_ROWS, range(run_table.QUICK_DRAWS)
    methods = [name for name in METHODS if name not in ABLATIONS]
    assert keys == {Key(*row, draw, m) for row in rows for draw in draws for m in methods}


@pytest.mark.slow
def test_quick_figures_have_the_right_order_of_magnitude(quick):
    results = read_results(quick)
    assert all(0.6 < result.auc < 0.95 for result in results)
    assert all(0.5 <= result.auc_hard < result.auc for result in results)
    assert all(0.65 < result.accuracy < 0.9 for result in results)
    assert all(0.3 < result.log_loss < 5 for result in results)
    figures = Figures(results)
    few, many = figures.rows
    means = {row: figures.mean(row, "hedgeclipper", "auc") for row in figures.rows}
    assert means[many] > means[few]


def test_all_methods_of_a_task_get_the_same_draw(monkeypatch):
    handed = {}

    def spy(name):
        def scores(draw, *members):
            handed[name] = draw
            return np.linspace(0, 1, draw.n_scored)

        return replace(METHODS[name], scores=scores)

    names = ("hedgeclipper", "mart", "mean")
    monkeypatch.setattr(run_table, "METHODS", {name: spy(name) for name in names})
    results = run_table.run_task(run_table.Task("a1a", 100, 4, names, 500))
    assert [result.key for result in results] == [Key("a1a", 100, 4, name) for name in names]
    assert handed["hedgeclipper"] is handed["mart"] is handed["mean"]
    theirs = run_table.make_draw("a1a", 100, 4, max_unlabeled=500)
    np.testing.assert_array_equal(handed["mart"].X, theirs.X)


@pytest.mark.slow
def test_quick_figures_are_paired(quick):
    """The draws that are hard for the forest are hard for HedgeClipper, too."""
    figures = Figures(read_results(quick))
    for row in figures.rows:
        ours, forest = (figures.values(row, m, "auc") for m in ("hedgeclipper", "base-forest"))
        unpaired = np.abs(ours[:, None] - forest)[~np.eye(ours.size, dtype=bool)]
        assert np.abs(ours - forest).mean() < unpaired.mean()


MANY_FITS = {"hedged-voting", "panel-mean", "panel-stacking", *ABLATIONS}


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow if n in MANY_FITS else ()) for n in METHODS],
)
def test_hidden_labels_are_not_looked_at(name):
    draw = run_table.make_draw("a1a", 40, 0, max_unlabeled=300)
    blind = replace(draw, y_scored=np.zeros_like(draw.y_scored))
    method = METHODS[name]
    members = [Member(METHODS["mart"], np.linspace(0, 1, draw.n_scored))]
    arguments = [members] if method.combines else []
    ours, theirs = (method.scores(d, *arguments) for d in (draw, blind))
    np.testing.assert_array_equal(ours, theirs)
    assert ours.shape == (draw.n_scored,)
    assert np.all((ours >= 0) & (ours <= 1))


def test_a_method_that_cannot_take_so_many_rows_is_left_out(monkeypatch):
    small = replace(METHODS["label-spreading"], max_rows=100)
    monkeypatch.setattr(run_table, "METHODS", {**METHODS, "label-spreading": small})
    task = run_table.Task("a1a", 100, 0, ("label-spreading", "random-forest"), 200)
    left_out, other = run_table.run_task(task)
    assert np.isnan(left_out.auc)
    draw = run_table.make_draw("a1a", 100, 0, max_unlabeled=200)
    scores = METHODS["random-forest"].scores(draw)
    assert other.auc == pytest.approx(roc_auc_score(draw.y_scored, scores))


@pytest.mark.slow
def test_quick_run_resumes_where_it_stopped(quick, monkeypatch, tmp_path):
    results = read_results(quick)
    path = tmp_path / "half.csv"
    write_results(path, [r for r in results if not (r.draw == 1 and r.method == "lightgbm")])
    ran = []
    work = run_table.run_task
    monkeypatch.setattr(run_table, "run_task", lambda task: ran.append(task) or work(task))
    run_table.main(["--quick", "--jobs", "1", "--results", str(path)])
    assert {task[:4] for task in ran} == {(*r, 1, ("lightgbm",)) for r in run_table.QUICK_ROWS}
    again = {r.key: r.auc for r in read_results(path)}
    assert again == {r.key: r.auc for r in results}


@pytest.mark.slow
def test_nothing_is_left_to_run_when_all_is_there(quick):
    done = {result.key for result in read_results(quick)}
    assert run_table.plan(run_table.QUICK_ROWS, run_table.QUICK_DRAWS, 4_000, done) == []


def test_hedgeclipper_is_run_once_with_every_row():
    tasks = run_table.plan([("covtype", 100)], 2, run_table.MAX_UNLABELED, set())
    every = [task for task in tasks if task.methods == (run_table.EVERY_ROW,)]
    assert [(task.draw, task.max_unlabeled) for task in every] == [(0, None)]
    assert len(tasks) == 3


def test_measures_on_four_rows():
    y, scores = np.array([0, 0, 1, 1]), np.array([0.1, 0.6, 0.55, 0.9])
    auc, auc_hard, log_loss, accuracy = run_table.measure(y, scores)
    assert (auc, auc_hard, accuracy) == (0.75, 0.75, 0.75)
    assert log_loss == pytest.approx(-np.log([0.9, 0.4, 0.55, 0.9]).mean(), abs=1e-6)


def test_the_mean_is_the_mean_of_its_members():
    members = [Member(METHODS["mart"], np.array([0.2, 0.4])), Member(METHODS["mart"], np.ones(2))]
    np.testing.assert_allclose(METHODS["mean"].scores(None, members), [0.6, 0.7])


def test_results_survive_the_file(tmp_path):
    results = made_up()
    write_results(tmp_path / "r.csv", results[::-1])
    assert read_results(tmp_path / "r.csv") == sorted(results, key=lambda r: r.key)
    assert [p.name for p in tmp_path.iterdir()] == ["r.csv"]


def test_a_failed_write_leaves_the_old_results(tmp_path):
    path = tmp_path / "r.csv"
    write_results(path, made_up())
    before = path.read_bytes()
    with pytest.raises(AttributeError):
        write_results(path, ["not a result"])
    assert path.read_bytes() == before


def test_the_summary_has_the_best_mean_first_and_what_was_not_run_last():
    changes = {"label-spreading": [np.nan] * 3, "mart": [0.9, 0.91, 0.92]}
    shown = ["label-spreading", "mean", "mart"]
    _, _, *lines = summary_table(
        Figures(made_up(auc=changes)), "auc", shown, {"mean": "the mean"}
    ).splitlines()
    assert lines == [
        f"| {METHODS['mart'].title} | 0.910 | 1 |",
        "| the mean | 0.800 | 0 |",
        f"| {METHODS['label-spreading'].title} | - | 0 |",
    ]


def near_published(**changes):
    """Results 0.02 off the published values of a1a with 100 labels, except for the changes."""
    theirs = published(("a1a", 100))
    hard = {name: [value + 0.02] * 3 for name, value in theirs.items()}
    by_scores = {name: [theirs[name]] * 3 for name in ("hedgeclipper-paper", SMALL_ALPHA, HELD_OUT)}
    return Figures(made_up(auc_hard={**hard, **changes}, auc=by_scores))


def test_distances_are_from_the_published_values():
    near = near_published()
    assert distances(near) == pytest.approx(dict.fromkeys(distances(near), 0.02))
    assert far_off(near) == []
    assert "for HedgeClipper with the paper's settings: 0.000 by scores" in describe_protocol(near)


def test_far_rows_need_a_remark(monkeypatch):
    far = near_published(mart=[0.682 + 0.11] * 3)
    assert far_off(far) == [(("a1a", 100), ["mart"])]
    monkeypatch.setattr(table_findings, "DATA", [replace(a1a.DATA, remarks={})])
    with pytest.raises(ValueError, match=r"a1a, 100 .*MART: write a remark .*a1a\.py"):
        describe_protocol(far)
    monkeypatch.setattr(table_findings, "DATA", [replace(a1a.DATA, remarks={100: "because"})])
    assert "- a1a, 100 (MART): because." in describe_protocol(far)


def test_results_with_a_draw_missing_are_refused():
    results = [r for r in made_up() if not (r.method == "mart" and r.draw == 1)]
    with pytest.raises(ValueError, match="no result of mart for draw 1"):
        Figures(results).values(("a1a", 100), "mart", "auc")


def test_left_out_methods_are_shown_as_such():
    nothing = [np.nan] * 3
    figures = Figures(made_up(auc={"label-spreading": nothing, "mart": [0.9, 0.91, 0.92]}))
    assert figures.ties(("a1a", 100), "auc") == ["mart"]
    first, alone = first_counts(figures, "auc")
    assert (first["mart"], alone["mart"], first["label-spreading"]) == (1, 1, 0)
    assert "| - |" in figure_table(figures, "auc", ["mart", "label-spreading", "mean"])


def test_ties_do_not_depend_on_what_is_shown():
    figures = Figures(made_up(auc={"lightgbm": [0.9, 0.91, 0.92]}))
    assert "**" not in figure_table(figures, "auc", ["hedgeclipper", "mart"])


def test_data_that_cannot_be_had_are_named(monkeypatch, tmp_path):
    monkeypatch.setenv("HEDGECLIPPER_DATA", str(tmp_path))
    with pytest.raises(SystemExit, match=r"(?s)kagg-cred: .*ssl-secstr: "):
        fetch_all(["a1a", "kagg-cred", "ssl-secstr"])


def test_sections_are_replaced_between_their_marks():
    page = "head\n<!-- begin x -->\nold\n<!-- end x -->\ntail\n"
    assert with_section(page, "x", "new") == (
        "head\n<!-- begin x -->\n\nnew\n\n<!-- end x -->\ntail\n"
    )
    with pytest.raises(ValueError, match="once each"):
        with_section(page, "y", "new")


def test_markdown_tables_have_a_rule():
    assert markdown_table([["a", "b"], ["1", "2"]]) == "| a | b |\n| :--- | ---: |\n| 1 | 2 |"


@pytest.mark.slow
def test_rendering_writes_pages_and_picture(quick, tmp_path):
    page, readme = tmp_path / "docs" / "table.md", tmp_path / "README.md"
    page.parent.mkdir()
    shutil.copy(PAGE, page)
    shutil.copy(README, readme)
    results = [r for r in read_results(quick) if r.n_labels == 1000]
    write_results(tmp_path / "r.csv", results)
    write_results(tmp_path / "other.csv", [replace(r, data="adult") for r in results])
    render(tmp_path / "r.csv", tmp_path / "other.csv", page, readme)
    figures = Figures(results)
    for part in sections(figures).values():
        assert part.strip() in page.read_text(encoding="utf-8")
    best, *_ = figures.ties(("a1a", 1000), "auc")
    bold = f"**{figures.mean(('a1a', 1000), best, 'auc'):.3f}**"
    assert bold in page.read_text(encoding="utf-8")
    for name in ("table.png", "gains.png"):
        assert (page.parent / "figures" / name).stat().st_size > 10_000
    assert sorted(p.name for p in tmp_path.iterdir()) == ["README.md", "docs", "other.csv", "r.csv"]


@pytest.fixture
def committed():
    """The committed results; skipped while HedgeClipper is being measured again."""
    results = read_results(COMMITTED)
    if not any(result.method == OURS for result in results):
        pytest.skip("HedgeClipper is to be measured: run `make table`")
    return results


def test_committed_results_are_whole(committed):
    """Ablations may be there of some draws of all rows, all else of all draws."""
    keys, rows = {result.key for result in committed}, run_table.table_rows()
    methods = [name for name in METHODS if name not in ABLATIONS]
    draws = range(run_table.N_DRAWS)
    whole = {Key(*row, draw, m) for row in rows for draw in draws for m in methods}
    assert {key for key in keys if key.method not in ABLATIONS} == whole
    for key in keys - whole:
        assert {key._replace(data=row[0], n_labels=row[1]) for row in rows} <= keys


def test_committed_pages_are_what_the_committed_results_say(committed):
    figures, others = Figures(committed), ForestFigures(read_results(OTHER.results), CASES)
    page = {**sections(figures), **other_sections(others)}
    for path, parts in ((PAGE, page), (README, readme_sections(figures))):
        text = path.read_text(encoding="utf-8")
        for name, part in parts.items():
            assert with_section(text, name, part) == text, f"run benchmarks.render_table: {name}"


def test_committed_figures_are_near_published(committed):
    figures = Figures(committed)
    assert all(distance < 0.05 for distance in distances(figures).values())
    assert describe_protocol(figures)
