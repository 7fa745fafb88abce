"""Templates, filters, cells of tables and figures of the page.

All texts of the page are in ``templates/``; there, whatever comes from data is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import Any

import numpy as np

from hedgeclipper.inspection.display import BLUE, MARK, per_cent
from hedgeclipper.io.extras import import_extra

EXTRA = "report"
MOST_LISTED = 6
# as wide as a phone, so that text there has the size it is given here
FIGURE_SIZE = (4.7, 3.2)
COLORS = {
    BLUE: "var(--blue)",
    MARK: "var(--mark)",
    "#000000": "currentColor",
}
FIGURE_STYLE = {
    "font.family": "sans-serif",
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": MARK,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "text.parse_math": False,
}


@dataclass(frozen=True)
class Cell:
    """A cell of a table: what is shown, and what it is sorted by."""

    text: str
    value: float | str

    @property
    def kind(self) -> str:
        """How it is aligned and sorted: as text or as a number."""
        return "text" if isinstance(self.value, str) else "number"


# sorts below all numbers
NOT_KNOWN = Cell("n/a", float("-inf"))


def plain(value: Any) -> Cell:
    """Return a value as a cell, numbers with three digits or with one behind the point."""
    if isinstance(value, Cell):
        return value
    if isinstance(value, bool | np.bool_):
        return Cell("yes" if value else "no", "yes" if value else "no")
    if isinstance(value, int | np.integer):
        return Cell(f"{value:,}", int(value))
    if not isinstance(value, float | np.floating):
        return Cell(str(value), str(value))
    number = float(value)
    if not np.isfinite(number):
        return NOT_KNOWN
    size = abs(number)
    digits = ".3f" if 0.01 <= size < 100 else ",.1f" if 100 <= size < 1e6 else ".3g"
    return Cell(f"{number:{digits}}", number)


def whole(value: Any) -> Cell:
    """Return a value of the data as a cell: whole numbers with all digits, others with six."""
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not is_number or not np.isfinite(value):
        return plain(value)
    return Cell(str(int(value)) if value == int(value) else f"{value:.6g}", float(value))


def proportion(value: float) -> Cell:
    """Return a proportion as a cell, in per cent."""
    return Cell(per_cent(value), float(value)) if np.isfinite(value) else NOT_KNOWN


def template(name: str) -> Any:
    """Return a template; it escapes whatever is not part of the templates."""
    jinja2 = import_extra("jinja2", EXTRA, "write_report")
    found = jinja2.Environment(
        loader=jinja2.PackageLoader("hedgeclipper.inspection"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "per_cent": lambda value: per_cent(value).replace(" ", "\N{NO-BREAK SPACE}"),
        "level": lambda value: f"{100 * value:g}\N{NO-BREAK SPACE}%",
        "grouped": lambda number: f"{number:,}",
        "as_cell": plain,
        "count": count,
        "listed": listed,
    }
    return found.get_template(name)


def count(n: int, one: str, many: str | None = None) -> str:
    """Return a number of things."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def listed(names: Sequence[Any]) -> str:
    """Return names in a sentence, the first few if there are many."""
    shown = [str(name) for name in names[:MOST_LISTED]]
    if len(names) > MOST_LISTED:
        return ", ".join(shown) + f" and {len(names) - MOST_LISTED:,} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def figure(label: str, draw: Callable[..., Any], *args: Any, **options: Any) -> str:
    """Return a figure as inline SVG that takes the colors of the page, light or dark.

    ``label`` is for screen readers; ``draw`` gets the other arguments and the axes as ``ax``.
    """
    matplotlib = import_extra("matplotlib", EXTRA, "write_report")
    make_figure = import_extra("matplotlib.figure", EXTRA, "write_report").Figure
    # ids within a page must differ between figures, and stay the same from run to run
    with matplotlib.rc_context({**FIGURE_STYLE, "svg.hashsalt": label}):
        canvas = make_figure(figsize=FIGURE_SIZE, layout="constrained")
        draw(*args, ax=canvas.subplots(), **options)
        out = StringIO()
        canvas.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    svg = out.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    for color, variable in COLORS.items():
        svg = re.sub(color, variable, svg, flags=re.IGNORECASE)
    # the view box is enough for the page to size it
    svg = re.sub(r'<svg ([^>]*?)width="[^"]*" height="[^"]*"', r"<svg \1", svg, count=1)
    svg = re.sub(r' id="(?:figure|axes|patch|line2d|text|matplotlib|xtick|ytick)[^"]*"', "", svg)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1)
