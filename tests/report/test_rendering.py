import pytest

from hedgeclipper.io.messages import counted
from hedgeclipper.report.displays import BLUE
from hedgeclipper.report.page import figure, named_in_words, number, percent, template


def test_numbers_and_proportions_as_text():
    assert [number(x) for x in (0.5, 1200, float("nan"), "a")] == ["0.500", "1,200", "n/a", "a"]
    proportions = (0.0, 0.0001, 0.1234, 0.9999, 1.0, float("nan"))
    texts = ["0.0%", "< 0.1%", "12.3%", "> 99.9%", "100.0%", "n/a"]
    assert [percent(x) for x in proportions] == texts


def test_an_undefined_name_in_a_template_is_an_error():
    jinja2 = pytest.importorskip("jinja2")
    with pytest.raises(jinja2.UndefinedError):
        template("page.html").render(title="no model")


def test_names_and_counts_in_a_sentence():
    assert [named_in_words(list("abc")[:n]) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]
    assert named_in_words(list("abcdefgh")) == "a, b, c, d, e, f and 2 more"
    assert [counted(n, "row") for n in (1, 1200)] == ["1 row", "1,200 rows"]
    assert counted(2, "leaf", "leaves") == "2 leaves"


def test_figures_are_named_and_take_the_colors_of_the_page():
    svg = figure('a "line"', lambda ax: ax.plot([0, 1], color=BLUE))
    assert svg.startswith('<svg role="img" aria-label="a &quot;line&quot;"')
    assert "var(--blue)" in svg
    assert BLUE.lower() not in svg.lower()
