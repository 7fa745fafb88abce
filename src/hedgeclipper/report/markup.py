"""HTML by small functions: whatever is not HTML already is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

UNKNOWN = "n/a"


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
    heads = [tag("th", tag("button", name, type="button"), scope="col") for name in columns]
    body = [tag("tr", *[_cell(value) for value in row]) for row in rows]
    whole = tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", *heads)),
        tag("tbody", *body),
        class_="sortable",
    )
    # wide tables scroll by themselves, and can be reached with the keyboard to do so
    return tag("div", whole, class_="scroll", tabindex="0", role="region", aria_label=caption)


def _cell(value: Any) -> Markup:
    cell = value if isinstance(value, Cell) else plain(value)
    is_text = isinstance(cell.value, str)
    return tag("td", cell.text, data_value=cell.value, class_="text" if is_text else "number")


def plain(value: Any) -> Cell:
    """Return a value as a cell: numbers with four digits, what is not known as a dash."""
    if isinstance(value, bool | np.bool_):
        return Cell("yes" if value else "no", "yes" if value else "no")
    if isinstance(value, int | np.integer):
        return Cell(f"{value:,}", int(value))
    if isinstance(value, float | np.floating):
        known = np.isfinite(value)
        return Cell(f"{value:.3g}" if known else UNKNOWN, float(value) if known else float("-inf"))
    return Cell(str(value), str(value))


def share(value: float) -> Cell:
    """Return a share as a cell, in per cent."""
    known = np.isfinite(value)
    return Cell(
        f"{100 * value:.1f} %" if known else UNKNOWN, float(value) if known else float("-inf")
    )
