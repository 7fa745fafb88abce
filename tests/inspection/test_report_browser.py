"""The report in a real browser; without one these tests are skipped, and say so."""

import os
import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from hedgeclipper import (
    HedgeClipperClassifier,
    HedgedVotingClassifier,
    VoteAggregator,
    write_report,
)

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = os.environ.get("HEDGECLIPPER_CHROMIUM") or next(
    filter(None, map(shutil.which, NAMES)), None
)
pytestmark = pytest.mark.skipif(
    BROWSER is None,
    reason=f"no browser: none of {NAMES} is on the PATH, nor HEDGECLIPPER_CHROMIUM set",
)
RATES = "Class rates, and how many voters are needed"
COLUMNS, GAIN = "Columns that matter", "What unlabeled rows bring"
TITLES = [
    "How often it is right, class by class",
    "Predicted class proportions",
    RATES,
    COLUMNS,
    GAIN,
    "Compared with simpler methods",
    "Rows that can be labeled automatically",
    "Rows to label next, and what else would help",
    "How the error was measured",
    "Where it hedges and where it clips",
    "Which {} contribute most",
    "Contradictions",
    "How the game was solved",
    "Data and settings",
]
VOTERS = {"forest": "groups", "panel": "members", "votes": "voters"}


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    X, y = make_classification(500, n_informative=4, random_state=0)
    rows = pd.DataFrame(X, columns=[f"a_rather_long_name_of_a_column_{k}" for k in range(20)])
    given = {"X": rows[:100], "y": y[:100], "X_unlabeled": rows[100:]}
    model = HedgeClipperClassifier(n_estimators=40, random_state=0).fit(**given)
    members = [("linear", LogisticRegression()), ("bayes", GaussianNB())]
    panel = HedgedVotingClassifier(members, random_state=0).fit(**given)
    names = [f"a_rather_long_name_of_a_file.csv, line {k}" for k in range(102, 502)]
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 200)
    votes = np.where(rng.random((200, 6)) < 0.7, truth[:, None], (truth[:, None] + 1) % 3)
    gold = np.where(np.arange(200) < 60, truth, -1)
    return {
        "forest": write_report(model, folder / "forest.html", **given),
        "panel": write_report(
            panel, folder / "panel.html", **given, row_names=names, about={"file": "rows.csv"}
        ),
        "votes": write_report(VoteAggregator().fit(votes, gold), folder / "votes.html"),
    }


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


class Visit:
    """A page that was opened, what it asked for, and what it complained of."""

    def __init__(self, browser, path, width=1280, scheme="light"):
        self.context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=scheme
        )
        self.page = self.context.new_page()
        self.asked, self.complaints = [], []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(path.as_uri())

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.context.close()

    def color(self, what, selector="body"):
        script = f"e => getComputedStyle(e).{what}"
        return self.page.eval_on_selector(selector, script)


@pytest.mark.parametrize("name", VOTERS)
@pytest.mark.parametrize("width", [360, pytest.param(1280, marks=pytest.mark.slow)])
@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_it_opens_alone_without_a_complaint_and_fits(browser, reports, name, width, scheme):
    with Visit(browser, reports[name], width, scheme) as visit:
        titles = visit.page.locator("h2").all_inner_texts()
        widths = visit.page.evaluate("[document.scrollingElement.scrollWidth, innerWidth]")
        assert visit.complaints == []
        assert [url for url in visit.asked if not url.startswith(("file:", "data:"))] == []
        own = {COLUMNS: "forest", GAIN: "forest", RATES: "votes"}
        expected = [title for title in TITLES if own.get(title, name) == name]
        assert titles == [title.format(VOTERS[name]) for title in expected]
        assert widths[0] <= widths[1] == width


@pytest.mark.parametrize("name", ["forest", "panel"])
@pytest.mark.parametrize("width", [360, pytest.param(1280, marks=pytest.mark.slow)])
def test_no_picture_is_wider_than_the_screen(browser, reports, name, width):
    with Visit(browser, reports[name], width) as visit:
        right = visit.page.eval_on_selector_all(
            "svg, .bar, .box, .scroll", "es => es.map(e => e.getBoundingClientRect().right)"
        )
        assert len(right) > 8
        assert max(right) <= width


def brightness(color):
    return sum(int(part) for part in color[color.index("(") + 1 : -1].split(",")[:3]) / 3


def test_dark_is_dark_and_pictures_follow(browser, reports):
    found = {}
    for scheme in ("light", "dark"):
        with Visit(browser, reports["forest"], scheme=scheme) as visit:
            found[scheme] = (
                brightness(visit.color("backgroundColor")),
                brightness(visit.color("fill", "svg text")),
            )
    assert found["light"][0] > 230
    assert found["light"][1] < 60
    assert found["dark"][0] < 40
    assert found["dark"][1] > 200


def test_a_click_on_a_head_sorts_and_a_second_one_turns_it_round(browser, reports):
    with Visit(browser, reports["votes"]) as visit:
        table = visit.page.locator("#voters table.sortable")
        head = table.locator("th", has_text="correlation")
        column = head.evaluate("e => e.cellIndex")
        cells = table.locator(f"tbody td:nth-child({column + 1})")

        def values():
            return [float(v) for v in cells.evaluate_all("es => es.map(e => e.dataset.value)")]

        before = values()
        head.locator("button").click()
        assert values() == sorted(before, reverse=True) != before
        assert head.get_attribute("aria-sort") == "descending"
        head.locator("button").click()
        assert values() == sorted(before)
        assert head.get_attribute("aria-sort") == "ascending"


def test_text_sorts_from_a_and_by_the_numbers_in_them(browser, reports):
    with Visit(browser, reports["panel"]) as visit:
        table = visit.page.locator("#next table.sortable")
        table.locator("th button").first.focus()
        visit.page.keyboard.press("Enter")
        names = table.locator("tbody td:first-child").all_inner_texts()
        numbers = [int(name.rsplit(" ", 1)[1]) for name in names]
        assert len(numbers) > 10
        assert numbers == sorted(numbers)


def test_what_is_not_known_goes_last(browser, tmp_path):
    votes = np.array([[0, 0, -1], [1, 1, -1], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 1, 1]])
    model = VoteAggregator().fit(votes, [0, 1, -1, -1, -1, -1])
    with Visit(browser, write_report(model, tmp_path / "report.html")) as visit:
        table = visit.page.locator("#voters table.sortable")
        table.locator("th button", has_text="correlation").click()
        assert table.locator("tbody tr").last.inner_text().count("n/a") >= 1


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_it_prints_in_light_without_links_and_nothing_cut_off(browser, reports, scheme):
    with Visit(browser, reports["forest"], scheme=scheme) as visit:
        visit.page.emulate_media(media="print")
        assert brightness(visit.color("backgroundColor")) > 250
        assert not visit.page.locator("nav").is_visible()
        assert visit.color("overflowX", ".scroll") == "visible"
        assert len(visit.page.pdf(format="A4")) > 10_000
