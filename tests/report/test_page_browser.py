"""The report in a real browser; without one these tests are skipped, and say so."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from hedgeclipper import (
    HedgeClipperClassifier,
    VoteAggregator,
    write_report,
)
from tests.browser import needs_browser

pytestmark = needs_browser
KINDS = ["forest", "panel", "votes"]


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    X, y = make_classification(500, n_informative=4, random_state=0)
    rows = pd.DataFrame(X, columns=[f"a_rather_long_name_of_a_column_{k}" for k in range(20)])
    given = {"X": rows[:100], "y": y[:100], "X_unlabeled": rows[100:]}
    model = HedgeClipperClassifier("trees", n_estimators=12, random_state=0).fit(**given)
    members = [("linear", LogisticRegression()), ("bayes", GaussianNB())]
    panel = HedgeClipperClassifier(members, random_state=0).fit(**given)
    names = [f"a_rather_long_name_of_a_file.csv, line {k}" for k in range(102, 502)]
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 200)
    votes = np.where(rng.random((200, 6)) < 0.7, truth[:, None], (truth[:, None] + 1) % 3)
    gold = np.where(np.arange(200) < 60, truth, -1)
    return {
        "forest": write_report(model, folder / "forest.html", X_unlabeled=rows[100:]),
        "panel": write_report(
            panel,
            folder / "panel.html",
            X_unlabeled=rows[100:],
            row_names=names,
            about={"file": "rows.csv"},
        ),
        "votes": write_report(VoteAggregator().fit(votes, gold), folder / "votes.html"),
    }


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

    def open_details(self):
        for summary in self.page.locator("summary").all():
            summary.click()

    def color(self, what, selector="body"):
        script = f"e => getComputedStyle(e).{what}"
        return self.page.eval_on_selector(selector, script)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("width", [360, pytest.param(1280, marks=pytest.mark.slow)])
@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_it_opens_alone_without_a_complaint_and_fits(browser, reports, name, width, scheme):
    with Visit(browser, reports[name], width, scheme) as visit:
        visit.open_details()
        widths = visit.page.evaluate("[document.scrollingElement.scrollWidth, innerWidth]")
        assert visit.complaints == []
        assert [url for url in visit.asked if not url.startswith(("file:", "data:"))] == []
        assert widths[0] <= widths[1] == width
        right = visit.page.eval_on_selector_all(
            "svg, .bar, .scroll", "es => es.map(e => e.getBoundingClientRect().right)"
        )
        assert len(right) > 8 or name == "votes"
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


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_it_prints_in_light_and_nothing_cut_off(browser, reports, scheme):
    with Visit(browser, reports["forest"], scheme=scheme) as visit:
        visit.page.emulate_media(media="print")
        assert brightness(visit.color("backgroundColor")) > 250
        assert visit.color("overflowX", ".scroll") == "visible"
        assert len(visit.page.pdf(format="A4")) > 10_000
