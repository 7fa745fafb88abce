import pytest

from hedgeclipper.inspection.display import BLUE
from hedgeclipper.inspection.rendering import (
    NOT_KNOWN,
    count,
    figure,
    listed,
    plain,
    proportion,
    template,
    whole,
)


def test_cells_sort_by_their_values():
    parts = template("parts.html").module
    page = parts.table("t", [("a", ["x", "y"]), ("b", [1200, float("nan")])])
    assert 'class="text"><button type="button">a<' in page
    assert 'class="number"><button type="button">b<' in page
    assert 'data-value="1200" class="number">1,200<' in page
    assert 'data-value="-inf" class="number">n/a<' in page
    assert proportion(0.5).value == 0.5
    assert plain(True).text == "yes"
    assert [plain(x).text for x in (0.5, 1234.56, 1e-5)] == ["0.500", "1,234.6", "1e-05"]


def test_an_undefined_name_in_a_template_is_an_error():
    jinja2 = pytest.importorskip("jinja2")
    with pytest.raises(jinja2.UndefinedError):
        template("page.html").render(title="no model")


def test_numbers_of_the_data_keep_their_digits():
    assert [whole(x).text for x in (20260101, 3.0, 0.25)] == ["20260101", "3", "0.25"]
    assert whole(float("nan")) is proportion(float("nan")) is NOT_KNOWN


def test_names_and_counts_in_a_sentence():
    assert [listed(list("abc")[:n]) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]
    assert listed(list("abcdefgh")) == "a, b, c, d, e, f and 2 more"
    assert [count(n, "row") for n in (1, 1200)] == ["1 row", "1,200 rows"]
    assert count(2, "leaf", "leaves") == "2 leaves"


def test_figures_are_named_and_take_the_colors_of_the_page():
    svg = figure('a "line"', lambda ax: ax.plot([0, 1], color=BLUE))
    assert svg.startswith('<svg role="img" aria-label="a &quot;line&quot;"')
    assert "var(--blue)" in svg
    assert BLUE.lower() not in svg.lower()
