import pickle
import re
import sys
import warnings
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hedgeclipper import (
    ContradictionWarning,
    HedgeClipperClassifier,
    NeverPredictedWarning,
    SemiSupervisedSplit,
    VoteAggregator,
    write_report,
)
from hedgeclipper.bounds.finishing import make_plan
from hedgeclipper.report import page as page_module
from tests.report.conftest import MEMBERS, X, Y

SECTIONS = ["plan", "next"]
DETAILS = ["classes", "voters", "calibration", "settings"]
HOSTILE = '<script>alert("1")</script>'


class Text(HTMLParser):
    """Collects the text of a page, its ids and its tags."""

    def __init__(self, page):
        super().__init__()
        self.words, self.ids, self.tags = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def some_votes(n_classes=2, names=None, n_rows=300):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, n_classes, n_rows)
    votes = np.where(
        rng.random((n_rows, 5)) < 0.7, truth[:, None], (truth[:, None] + 1) % n_classes
    )
    votes[rng.random(votes.shape) < 0.4] = -1
    gold = np.where(np.arange(n_rows) < 60, truth, -1)
    return votes if names is None else pd.DataFrame(votes, columns=names), gold


def sure_votes(n_labels=400):
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 2_000)
    votes = np.where(rng.random((2_000, 7)) < 0.8, truth[:, None], 1 - truth[:, None])
    return votes, np.where(np.arange(2_000) < n_labels, truth, -1)


def mixed_votes(n_labels):
    """Votes of which one in three rows is hard."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 6_000)
    skill = np.where(np.arange(6_000) % 3 == 0, 0.6, 0.95)[:, None]
    votes = np.where(rng.random((6_000, 3)) < skill, truth[:, None], 1 - truth[:, None])
    return votes, np.where(np.arange(6_000) < n_labels, truth, -1)


def part_of(page, section):
    return re.search(rf'<(section|details) id="{section}">.*?</\1>', page, re.DOTALL).group(0)


ROWS = {"X_unlabeled": X[100:]}


def page_of(model, tmp_path, **options):
    path = write_report(model, tmp_path / "report.html", **options)
    return path.read_text(encoding="utf-8")


@pytest.fixture
def whole_page():
    """Pages with their pictures, which others are made without."""


@pytest.fixture(autouse=True)
def _parts_of_pages(request):
    if "whole_page" not in request.fixturenames:
        request.getfixturevalue("other_sections")


@pytest.fixture
def fitted_forest(models):
    return models["forest"]


@pytest.fixture
def fitted_panel(models):
    return models["panel"]


@pytest.fixture(scope="module")
def fitted_votes():
    return VoteAggregator(random_state=0).fit(*some_votes())


@pytest.fixture(scope="module")
def pages(models, fitted_votes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    (folder / "a").mkdir()
    (folder / "b").mkdir()
    return {
        "forest": page_of(models["forest"], folder, **ROWS),
        "panel": page_of(models["panel"], folder / "a", **ROWS),
        "votes": page_of(fitted_votes, folder / "b"),
    }


@pytest.mark.parametrize("kind", ["forest", "panel", "votes"])
def test_a_page_is_whole_and_nothing_comes_from_elsewhere(pages, kind):
    page = pages[kind]
    ids = Text(page).ids
    assert len(ids) == len(set(ids))
    assert [name for name in ids if name in SECTIONS + DETAILS] == SECTIONS + DETAILS
    for section in SECTIONS + DETAILS:
        assert len(Text(part_of(page, section)).text) > 40
    assert page.count("<svg ") == page.count('<svg role="img" aria-label="') > 0
    assert "default-src 'none'" in page
    assert not re.search(r'(?:src|href)="(?!#|data:)', page.replace("xlink:", ""))
    assert "url(http" not in page
    assert "@import" not in page


def test_data_settings_and_proportions_are_listed(fitted_forest, pages):
    words = Text(pages["forest"]).text
    assert "vote of 3 voters" in words
    assert "labeled rows 100" in words
    assert "unlabeled rows 400" in words
    assert "n_estimators 12" in words
    assert f"{100 * np.mean(fitted_forest.predict(X[100:]) == 1):.1f}%" in words


@pytest.mark.parametrize("kind", ["forest", "panel", "votes"])
def test_it_begins_with_error_interval_and_baseline(request, pages, kind):
    model, words = request.getfixturevalue(f"fitted_{kind}"), Text(pages[kind]).text
    bound = model.certificate_
    low, high = (f"{100 * end:.1f}%" for end in (bound.error_lower, bound.error_upper))
    error, baseline = f"{100 * bound.error:.1f}%", f"{100 * bound.baseline:.1f}%"
    lead = rf"About {error} of the predictions .* to be wrong \(95% interval: {low} to {high}\)"
    assert re.search(f"{lead}.*Always guessing . errs on {baseline}: the model is", words)
    text = bound.describe()
    assert f"Estimate. E{text[1:]}. It is not a guarantee: the fit used the labels" in words


@pytest.mark.parametrize("kind", ["forest", "panel", "votes"])
def test_recall_and_confusion_are_those_of_predictions_without_the_label(request, pages, kind):
    y, probabilities = request.getfixturevalue(f"fitted_{kind}").tested_probabilities()
    predicted = probabilities.argmax(axis=1)
    part = part_of(pages[kind], "classes")
    for k in (0, 1):
        of_class = predicted[y == k]
        recall = f"{100 * np.mean(of_class == k):.1f}%"
        assert re.search(rf'aria-label="{k}: {recall}, interval', part)
        row = re.search(rf'<th scope="row">{k}</th>(.*?)</tr>', part)[1]
        numbers = [int(number) for number in re.findall(r">(\d+)</td>", row)]
        order = np.argsort(-np.bincount(y), kind="stable")
        assert numbers == [of_class.size, *(np.sum(of_class == other) for other in order)]


def test_classes_that_are_never_predicted_are_named(tmp_path):
    rows = np.random.default_rng(0).normal(size=(600, 3))
    y = np.array(["often"] * 190 + ["rare"] * 10)
    model = HedgeClipperClassifier([("linear", LogisticRegression(C=1e-6))], random_state=0)
    with pytest.warns(NeverPredictedWarning):
        model.fit(rows[:200], y, X_unlabeled=rows[200:])
    words = Text(page_of(model, tmp_path, X_unlabeled=rows[200:])).text
    assert "Never predicted: rare, which 10 labels have." in words


def test_a_guarantee_is_stated_with_its_confidence(tmp_path):
    model = HedgeClipperClassifier(MEMBERS, random_state=0, confidence_level=0.9)
    model.fit(X[:100], Y[:100], **ROWS)
    assert model.certificate_.is_guarantee
    words = Text(page_of(model, tmp_path, X_unlabeled=X[100:])).text
    assert "guaranteed with 90% confidence" in words
    assert words.count(model.certificate_.describe()[1:]) == 1
    highest = f"{100 * model.certificate_.error_upper:.1f}%"
    assert f"At most {highest} of the predictions for the 400 unlabeled rows are wrong" in words
    assert "There is no guarantee" not in words
    assert "It is not a guarantee" not in words


def test_rows_to_label_by_hand_are_those_of_auto_label(tmp_path):
    votes, gold = sure_votes()
    model = VoteAggregator(confidence_level=0.95, random_state=0).fit(votes, gold)
    page = page_of(model, tmp_path)
    words = Text(part_of(page, "plan")).text
    for allowed in (0.05, 0.1):
        found = model.auto_label(allowed)
        assert found.coverage > 0
        assert f"{100 * allowed:g}% {found.review_order.size:,}" in words
    assert "the guarantee is for one error that was chosen before" in words
    assert "<svg" in part_of(page, "plan")


def test_it_begins_with_a_verdict(tmp_path):
    model = VoteAggregator(confidence_level=0.95, random_state=0).fit(*mixed_votes(600))
    estimate = Text(page_of(model, tmp_path)).text
    found = model.auto_label(0.05)
    assert found.kind == "guarantee"  # the report has not asked
    n_review = found.review_order.size
    assert 0 < n_review < 5400
    verdict = f"Good enough to label {5400 - n_review:,} of 5,400 rows without review, if at most"
    rest = f"Review the other {n_review:,}, the most uncertain first."
    for words, sure in (
        (estimate, "an estimate"),
        (Text(page_of(model, tmp_path, force=True)).text, "guaranteed with 95% confidence"),
        (Text(page_of(model, tmp_path, force=True, max_error=0.05)).text, "guaranteed"),
    ):
        assert re.search(f"{verdict} 5% .* in the end: {sure}.*{rest}", words)
    other = Text(page_of(model, tmp_path, force=True, max_error=0.4)).text
    assert "Good enough to label all 5,400 rows without review, if at most 40%" in other
    assert "in the end: an estimate." in other
    # one error, besides that of the majority class
    head = estimate[estimate.index("Good enough") : estimate.index("labeled rows 600")]
    assert len(re.findall(r"[0-9.]+%", head.replace("5% of all", "").replace("95%", ""))) == 2


def test_the_verdict_says_what_more_labels_would_bring(tmp_path):
    model = VoteAggregator(confidence_level=0.95, random_state=0).fit(*mixed_votes(130))
    words = Text(page_of(model, tmp_path, max_error=0.05)).text
    advice = re.search(r"abel about ([\d,]+) more rows .*: about ([\d,]+) would", words)
    n_more, left = (int(number.replace(",", "")) for number in advice.groups())
    plan = make_plan(model.tested_predictions_, 0.95, [0.05], more=[n_more])
    total = plan.n_by_hand_with_more[n_more][0]
    assert left == total - n_more
    assert total < 0.95 * plan.n_by_hand[0]


def test_too_few_labels_to_prove_anything_are_said(pages, tmp_path):
    words = Text(part_of(pages["forest"], "plan")).text
    assert "An estimate at 95% confidence, not a guarantee: the fit used the labels" in words
    votes, gold = sure_votes(n_labels=40)
    model = VoteAggregator(confidence_level=0.95, random_state=0).fit(votes, gold)
    needed = model.auto_label(0.05).n_needed
    assert needed > 20
    assert f"at least {needed}" in Text(part_of(page_of(model, tmp_path), "plan")).text


@pytest.mark.usefixtures("whole_page")
def test_without_rows_sections_say_what_is_missing(fitted_forest, tmp_path):
    found = Text(page_of(pickle.loads(pickle.dumps(fitted_forest)), tmp_path))
    assert set(SECTIONS + DETAILS) <= set(found.ids)
    assert "pass X_unlabeled" in found.text


def test_of_many_rows_some_are_drawn(fitted_panel, monkeypatch, tmp_path):
    monkeypatch.setattr(page_module, "MOST_ROWS", 50)
    names = [f"row {k}" for k in range(400)]
    page = page_of(fitted_panel, tmp_path, **ROWS, row_names=names)
    words = Text(page).text
    assert "50 unlabeled rows drawn at random from 400" in words
    probabilities = fitted_panel.predict_proba(X[100:]).max(axis=1)
    for name, cells in re.findall(r"<tr><td>row (\d+)</td>(.*?)</tr>", part_of(page, "next")):
        assert f"<td>{100 * probabilities[int(name)]:.1f}%</td>" in cells


def first_column(page, section):
    """Return the first cell of each row of the table in a section."""
    cells = re.findall(r"<tr>(<td.*?</td>)", part_of(page, section))
    return [Text(cell).text for cell in cells]


def most_uncertain(model, rows):
    return np.argsort(np.abs(model.predict_proba(rows)[:, 1] - 0.5), kind="stable")[:15]


def test_rows_have_the_names_they_are_given(fitted_forest, pages, tmp_path):
    names = [f"more.csv, line {k + 2}" for k in range(400)]
    page = page_of(fitted_forest, tmp_path, **ROWS, row_names=names)
    numbers = [int(row) for row in first_column(pages["forest"], "next")]
    assert set(numbers) == set(most_uncertain(fitted_forest, X[100:]).tolist())
    assert first_column(page, "next") == [names[number] for number in numbers]


def test_votes_are_called_by_their_keys(tmp_path):
    votes, gold = some_votes(names=list("abcde"))
    votes.index = [f"key-{k}" for k in range(len(votes))]
    model = VoteAggregator(random_state=0).fit(votes, gold)
    page = page_of(model, tmp_path)
    unlabeled = votes.index[gold < 0]
    assert set(first_column(page, "next")) <= set(unlabeled)


@pytest.mark.usefixtures("whole_page")
def test_more_than_two_classes(tmp_path):
    rows, y = make_classification(500, n_informative=5, n_classes=3, flip_y=0.05, random_state=1)
    model = HedgeClipperClassifier(MEMBERS, random_state=0)
    model.fit(rows[:120], y[:120], X_unlabeled=rows[120:])
    words = Text(page_of(model, tmp_path, X_unlabeled=rows[120:])).text
    assert model.certificate_.describe()[1:] in words


def test_contradicting_voters_are_named(tmp_path):
    votes = np.column_stack([np.zeros(400, int), np.ones(400, int)])
    gold = np.full(400, -1)
    gold[:100] = 0
    votes[:100, 1] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.warns(ContradictionWarning):
            model = VoteAggregator().fit(votes, gold)
        words = Text(page_of(model, tmp_path)).text
    assert "had to be relaxed" in words


def test_a_pipeline_and_a_search_are_opened(tmp_path):
    marked = np.where(np.arange(Y.size) < 100, Y, -1)
    inner = HedgeClipperClassifier("trees", n_estimators=20, random_state=0)
    whole = make_pipeline(StandardScaler(), inner)
    search = GridSearchCV(
        whole,
        {"hedgeclipperclassifier__n_estimators": [12]},
        cv=SemiSupervisedSplit(2, random_state=0),
    ).fit(X, marked)
    page = page_of(search, tmp_path, X_unlabeled=X[100:])
    proportion_of_one = np.mean(search.predict(X[100:]) == 1)
    assert f"{100 * proportion_of_one:.1f}%" in page


@pytest.fixture(scope="module")
def named():
    """A forest on rows whose columns have names, itself as it is loaded, and the unlabeled rows."""
    rows = pd.DataFrame(X, columns=[f"column {k}" for k in range(X.shape[1])])
    model = HedgeClipperClassifier("trees", n_estimators=20, random_state=0)
    model.fit(rows[:100], Y[:100], rows[100:])
    return model, pickle.loads(pickle.dumps(model)), rows[100:]


def test_columns_are_called_as_in_the_file_and_matched_by_name(named, fitted_forest, tmp_path):
    model, elsewhere, rows = named
    page = page_of(model, tmp_path, X_unlabeled=rows)
    mixed = rows[rows.columns[::-1]].assign(more=1)
    assert page_of(model, tmp_path, force=True, X_unlabeled=mixed) == page
    plain = Text(part_of(page_of(fitted_forest, tmp_path, force=True), "columns")).text
    assert f"column {np.argmax(fitted_forest.feature_importances_)}" in plain
    assert not re.search(r"\bx\d", plain)
    gain = model.unlabeled_gain_.describe()
    assert gain[0].upper() + gain[1:] in Text(page).text
    most = int(np.argmax(model.feature_importances_))
    assert f'aria-label="column {most}: {model.feature_importances_[most]:.3f}"' in page
    page = page_of(elsewhere, tmp_path, force=True, X_unlabeled=rows)
    assert "Which columns matter was not measured" in Text(part_of(page, "columns")).text


def test_the_encoding_of_columns_is_told(tmp_path):
    words = np.where(X[:, 0] > 0, "red", "blue")
    rows = pd.DataFrame(X[:, :3], columns=list("abc")).assign(word=words, same="no")
    model = HedgeClipperClassifier("trees", n_estimators=20, random_state=0)
    model.fit(rows[:100], Y[:100], X_unlabeled=rows[100:])
    page = page_of(model, tmp_path, X_unlabeled=rows[100:])
    assert "categories: 2 values, a column of 0 and 1 for each" in page
    assert "left out: it has the same value everywhere" in page
    assert {*re.findall(r'aria-label="(\w+): -?\d\.\d{3}"', page)} == {"a", "b", "c", "word"}


@pytest.mark.usefixtures("whole_page")
def test_what_comes_from_data_is_escaped(tmp_path):
    labels = np.array([HOSTILE, "no"])[Y]
    rows = pd.DataFrame(X, columns=[f"{HOSTILE}{k}" for k in range(X.shape[1])])
    model = HedgeClipperClassifier([(f"<b>{HOSTILE}", GaussianNB())], random_state=0)
    given = {"X_unlabeled": rows[100:]}
    model.fit(rows[:100], labels[:100], **given)
    about = {"file": "rows.csv", "target": f"income {HOSTILE}"}
    page = page_of(model, tmp_path, title=f"<i>{HOSTILE}", about=about, **given)
    votes, gold = some_votes(names=[HOSTILE, "$x^$", "c & d", "${title}", "$"])
    other = page_of(VoteAggregator().fit(votes, gold), tmp_path, force=True)
    for tag in ("<script", "<i>", "<b>"):
        assert tag not in page + other
    assert "&lt;script&gt;" in page
    assert "file rows.csv target income" in Text(page).text
    assert "$x^$" in other
    assert "${title}" in other


def test_a_file_that_exists_stays(fitted_votes, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("mine")
    with pytest.raises(FileExistsError, match=r"exists already. Pass force=True"):
        write_report(fitted_votes, path)
    assert path.read_text() == "mine"
    assert write_report(fitted_votes, path, force=True) == path
    assert path.read_text() != "mine"


def test_wrong_arguments_say_what_to_pass(fitted_votes, fitted_forest, tmp_path):
    path = tmp_path / "report.html"
    with pytest.raises(ValueError, match=r"about the votes of its fit, which it knows. Got X_unl"):
        write_report(fitted_votes, path, X_unlabeled=X)
    with pytest.raises(TypeError, match=r"HedgeClipperClassifier.*Got LogisticRegression"):
        write_report(LogisticRegression(), path)
    with pytest.raises(ValueError, match="not fitted"):
        write_report(HedgeClipperClassifier(), path)
    with pytest.raises(ValueError, match=r"each of the 400 unlabeled rows.*Got 2 names"):
        write_report(fitted_forest, path, **ROWS, row_names=["a", "b"])
    with pytest.raises(ValueError, match=r"each of the 240 unlabeled rows.*Got 1 names"):
        write_report(fitted_votes, path, row_names=["a"])
    with pytest.raises(ValueError, match="X_unlabeled must be in memory for a report"):
        write_report(fitted_forest, path, X_unlabeled=[X[100:]])
    assert not path.exists()


@pytest.mark.usefixtures("whole_page")
def test_reports_are_the_same_from_run_to_run(fitted_votes, pages, tmp_path):
    assert page_of(fitted_votes, tmp_path) == pages["votes"]


@pytest.mark.usefixtures("whole_page")
@pytest.mark.parametrize("module", ["jinja2", "matplotlib"])
def test_without_a_library_the_message_says_what_to_install(
    fitted_votes, tmp_path, monkeypatch, module
):
    monkeypatch.setitem(sys.modules, module, None)
    message = rf"write_report needs {module}.*pip install 'hedgeclipper\[report\]'"
    with pytest.raises(ImportError, match=message):
        write_report(fitted_votes, tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []
