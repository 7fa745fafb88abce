"""The page in a real browser; without one these tests are skipped, and say so."""

import os
import re
from pathlib import Path

import pandas as pd
import pytest

from tests.browser import needs_browser, playwright
from tests.labeling.served import CLASSES, Served, write_rows

pytestmark = needs_browser
expect = playwright.expect
expect.set_options(timeout=30_000)  # the machine may do other things
AXE = next(
    (
        path
        for folder in (os.environ.get("NODE_PATH", ""), Path(__file__).parents[2] / "node_modules")
        if (path := Path(folder) / "axe-core" / "axe.min.js").is_file()
    ),
    None,
)
NASTY = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"


class Annotator:
    """A person at the page, who knows the true labels and uses the keyboard."""

    def __init__(self, browser, served, truth, width=1280, scheme="light"):
        self.context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=scheme
        )
        self.truth, self.asked, self.complaints = truth, [], []
        self.page = self.open(served.address)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.context.close()

    def open(self, address):
        page = self.context.new_page()
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(address)
        return page

    def row(self, page=None):
        """Return the number of the row that is shown, None once the file is finished."""
        page = page or self.page
        expect(page.locator("body")).not_to_have_class(re.compile("busy"))
        expect(page.locator("#title")).to_have_text(re.compile("Row|finished"), timeout=30_000)
        words = page.locator("#title").inner_text().replace(",", "").split()
        return int(words[1]) - 1 if words[0] == "Row" else None

    def label(self, page=None):
        """Label the row that is shown by its key, and wait until it is saved."""
        page, row = page or self.page, self.row(page)
        page.keyboard.press("12"[self.truth[row]])
        expect(page.locator("#title")).not_to_have_text(f"Row {row + 1:,}")
        expect(page.locator("#saved")).to_have_text(f"Saved: {CLASSES[self.truth[row]]}.")
        return row


@pytest.mark.parametrize(
    ("n_rows", "max_error"), [(150, 0.1), pytest.param(1500, 0.02, marks=pytest.mark.slow)]
)
def test_labels_undo_skip_reload_second_tab_and_a_kill_to_the_finished_file(
    browser, tmp_path, n_rows, max_error
):
    truth = write_rows(tmp_path, n_rows)
    words = ["--max-error", str(max_error)]
    with Served(tmp_path, *words) as served, Annotator(browser, served, truth) as person:
        first = person.label()
        second = person.row()
        person.page.keyboard.press("n")
        person.page.keyboard.type("of the second")
        person.page.keyboard.press("Enter")
        person.page.keyboard.press("u")
        expect(person.page.locator("#title")).to_have_text(f"Row {first + 1:,}")
        person.label()
        assert person.row() == second
        person.page.keyboard.press("s")
        expect(person.page.locator("#saved")).to_have_text("Saved: cannot tell.")
        third = person.row()
        person.page.reload()
        assert person.row() == third
        other = person.open(served.origin)
        assert person.row(other) != third
        person.label(other)
        person.page.keyboard.press("n")
        person.page.keyboard.type("12 u")  # text, no keys of labels
        person.page.keyboard.press("Enter")
        assert person.label() == third
        served.process.kill()
        person.page.keyboard.press("1")
        expect(person.page.locator("#error")).to_contain_text("nothing is confirmed as saved")
        expect(person.page.locator("#saved")).to_have_text("")
    with Served(tmp_path, *words) as served:
        assert served.ask("/state")["n_labeled"] == 3
        n_labels = served.label(truth, 75)
        with Annotator(browser, served, truth) as person:
            while person.row() is not None:
                person.label()
                n_labels += 1
                while n_labels % 10 == 0 and served.ask("/state")["fitting"]:
                    person.page.wait_for_timeout(20)
            expect(person.page.locator("#done")).to_contain_text("Written to")
            expect(person.page.locator("#done")).to_contain_text(
                "html", timeout=120_000
            )  # once it is there
            n_asked = len(person.asked)
            person.page.wait_for_timeout(1000)
            assert len(person.asked) - n_asked < 5
            assert person.complaints == []
            assert all(url.startswith(served.origin) for url in person.asked)
    finished = pd.read_csv(tmp_path / "rows.labeled.csv")
    wrong = finished["diagnosis"] != pd.Series(truth).map(dict(enumerate(CLASSES)))
    assert wrong.mean() <= max_error
    assert finished["note"].dropna().to_dict() == {third: "12 u"}
    assert (tmp_path / "rows.labeled.html").is_file()
    assert n_rows == 150 or n_labels >= 200


def test_a_double_click_or_a_key_held_down_labels_no_row_unseen(browser, served):
    def n_labeled():
        return served.ask("/state")["n_labeled"]

    with Annotator(browser, served, served.truth) as person:
        n_before, first = n_labeled(), person.row()
        person.page.locator("button.class").first.click(click_count=2, delay=300)
        expect(person.page.locator("#title")).not_to_have_text(f"Row {first + 1:,}")
        person.page.locator("button.class").last.focus()
        for _ in range(5):
            person.page.keyboard.down("Enter")  # all but the first one repeat
            person.page.wait_for_timeout(200)
        person.page.keyboard.up("Enter")
        assert n_labeled() == n_before + 2


def test_many_classes_leave_half_of_a_small_page_to_the_row(browser, tmp_path):
    write_rows(tmp_path)
    names = ",".join(f"class number {k} with a long name" for k in range(20))
    with (
        Served(tmp_path, "--classes", names) as served,
        Annotator(browser, served, None, width=360) as person,
    ):
        person.row()
        assert person.page.locator("#classes").locator("..").bounding_box()["height"] <= 400


def test_a_file_with_undecided_rows_is_not_called_finished(browser, tmp_path):
    write_rows(tmp_path, 32)
    with Served(tmp_path) as served:
        while (row := served.next_row()) is not None:
            served.ask("/label", row=row["row"], label=row["row"] % 2 if row["row"] else None)
        with Annotator(browser, served, None) as person:
            expect(person.page.locator("#title")).to_have_text("Only undecided rows are left")


def test_an_image_that_cannot_be_shown_is_told(browser, tmp_path):
    write_rows(tmp_path, 40)
    rows = pd.read_csv(tmp_path / "rows.csv").assign(image="../outside.png")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    with (
        Served(tmp_path, "--image", "image") as served,
        Annotator(browser, served, None) as person,
    ):
        expect(person.page.locator("#picture")).to_contain_text("in the folder of the rows")


def nasty_rows(folder):
    """Write rows with script in cells and names of columns; one has an image."""
    frame = pd.DataFrame({NASTY: [NASTY] * 60, "text": f"</p>{NASTY}", "number": range(60)})
    frame["number"] **= 2
    frame["image"] = f"x.png#{NASTY}"
    frame.to_csv(folder / "rows.csv", index=False)


def test_nothing_in_cells_names_and_classes_runs(browser, tmp_path):
    nasty_rows(tmp_path)
    words = ["--classes", f"{NASTY},'\"><b>", "--annotator", NASTY, "--text", "text"]
    words += ["--image", "image"]
    with (
        Served(tmp_path, *words, target=NASTY + "y") as served,
        Annotator(browser, served, None) as person,
    ):
        person.row()
        person.page.wait_for_timeout(200)
        content = person.page.locator("main").inner_text()
        assert person.page.title() == f"Label {NASTY}y"
        assert content.count(NASTY) >= 4
        assert person.page.locator("main img").count() == 1
        assert person.page.locator("script, b").count() == 1
        assert all(url.startswith(served.origin) for url in person.asked)


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_and_has_no_violation_of_accessibility(browser, served, width, scheme):
    while served.ask("/state")["n_labeled"] < 60:
        served.label(served.truth, 20)
    with Annotator(browser, served, served.truth, width, scheme) as person:
        person.row()
        person.page.wait_for_selector("#plan:not([hidden])")
        widths = person.page.evaluate("[document.scrollingElement.scrollWidth, innerWidth]")
        assert widths[0] <= widths[1] == width
        if AXE is None:
            pytest.skip("axe-core is not installed: npm install axe-core")
        person.page.evaluate(AXE.read_text())
        found = person.page.evaluate("axe.run()")
        assert [(v["id"], v["nodes"][0]["html"]) for v in found["violations"]] == []
