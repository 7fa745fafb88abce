"""HTML by small functions: whatever is not HTML already is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


@dataclass(frozen=True)
class Section:
    """A part of the page."""

    id: str
    title: str
    body: Markup


@dataclass(frozen=True)
class Cell:
    """A cell of a table: what is shown, and what it is sorted by."""

    text: str
    value: float | str


UNKNOWN = "n/a"
# sorts below all numbers
NOT_KNOWN = Cell(UNKNOWN, float("-inf"))
LONG = 40


def tag(name: str, *children: Any, **attributes: Any) -> Markup:
    """Return an element; ``class_`` is the attribute class, and None leaves an attribute out.

    Examples
    --------
    >>> tag("p", "2 < 3", class_="note")
    '<p class="note">2 &lt; 3</p>'
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{given}>{together(children)}</{name}>")


def together(parts: Iterable[Any]) -> Markup:
    """Return parts one after the other, escaped unless they are HTML."""
    return Markup(
        "".join(part if isinstance(part, Markup) else escape(str(part)) for part in parts)
    )


def paragraph(*sentences: str) -> Markup:
    """Return a paragraph of sentences."""
    return tag("p", " ".join(sentences))


def beside(words: Markup, picture: Markup) -> Markup:
    """Return words and a picture side by side, where there is room."""
    return tag("div", tag("div", words), picture, class_="beside")


def bullets(items: Sequence[Any]) -> Markup:
    """Return a list."""
    return tag("ul", *[tag("li", item) for item in items])


def pairs(rows: Iterable[tuple[str, str]]) -> Markup:
    """Return names and values, one below the other."""
    body = [tag("tr", tag("th", name, scope="row"), tag("td", value)) for name, value in rows]
    return tag("table", tag("tbody", *body), class_="pairs")


def table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Markup:
    """Return a table that sorts by a click on the head of a column.

    Parameters
    ----------
    caption : str
        What it shows.
    columns : sequence of str
        Heads of the columns.
    rows : sequence of sequence of Cell, number or str
        The rows.
    """
    cells = [[_as_cell(value) for value in row] for row in rows]
    heads = [
        tag("th", tag("button", name, type="button"), scope="col", class_=_kind_of(own))
        for name, *own in zip(columns, *cells, strict=True)
    ]
    body = [tag("tr", *[_cell(cell) for cell in row]) for row in cells]
    parts = tag("thead", tag("tr", *heads)), tag("tbody", *body)
    whole = tag("table", *parts, class_="sortable", aria_label=caption)
    # wide tables scroll by themselves, and can be reached with the keyboard to do so
    framed = tag("div", whole, class_="scroll", tabindex="0", role="region", aria_label=caption)
    return together([tag("p", caption, class_="caption"), framed])


def _cell(cell: Cell) -> Markup:
    inner = tag("span", cell.text, class_="long") if len(cell.text) > LONG else cell.text
    return tag("td", inner, data_value=cell.value, class_=_kind_of([cell]))


def _as_cell(value: Any) -> Cell:
    return value if isinstance(value, Cell) else plain(value)


def _kind_of(cells: list[Cell]) -> str:
    """Return the class of cells below each other."""
    return "text" if any(isinstance(cell.value, str) for cell in cells) else "number"


def plain(value: Any) -> Cell:
    """Return a value as a cell, numbers with three digits or with one behind the point."""
    if isinstance(value, bool | np.bool_):
        return Cell("yes" if value else "no", "yes" if value else "no")
    if isinstance(value, int | np.integer):
        return Cell(f"{value:,}", int(value))
    if isinstance(value, float | np.floating):
        return _number(float(value))
    return Cell(str(value), str(value))


def _number(value: float) -> Cell:
    if not np.isfinite(value):
        return NOT_KNOWN
    size = abs(value)
    digits = ".3f" if 0.01 <= size < 100 else ",.1f" if 100 <= size < 1e6 else ".3g"
    return Cell(f"{value:{digits}}", value)


def share(value: float) -> Cell:
    """Return a share as a cell, in per cent."""
    return Cell(f"{100 * value:.1f} %", float(value)) if np.isfinite(value) else NOT_KNOWN
