"""Templates, filters and figures of the page.

All texts of the page are in ``templates/``; there, whatever comes from data is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from io import StringIO
from typing import Any

import numpy as np

from hedgeclipper.io.messages import import_extra
from hedgeclipper.report.displays import BLUE, GRAY

REPORT_EXTRA = "report"
MOST_LISTED = 6
# as wide as a phone, so that text there has the size it is given here
FIGURE_SIZE = (4.7, 3.2)
COLORS = {BLUE: "var(--blue)", GRAY: "var(--mark)", "#000000": "currentColor"}
FIGURE_STYLE = {
    "font.family": "sans-serif",
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GRAY,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "text.parse_math": False,
}


def template(name: str) -> Any:
    """Return a template; it escapes whatever is not part of the templates."""
    jinja2 = import_extra("jinja2", REPORT_EXTRA, "write_report")
    found = jinja2.Environment(
        loader=jinja2.PackageLoader("hedgeclipper.report"),
        autoescape=True,
        extensions=["jinja2.ext.do"],
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "percent": percent,
        "level": lambda value: f"{100 * value:g}%",
        "grouped": lambda number: f"{number:,}",
        "number": number,
        "count": count,
        "listed": listed,
        "transposed": lambda columns: list(zip(*columns, strict=True)),
        "sentence": lambda text: f"{text[0].upper()}{text[1:]}.",
    }
    return found.get_template(name)


def percent(proportion: float) -> str:
    """Return a proportion as text; 0 and 100% only where it is exactly that."""
    if not np.isfinite(proportion):
        return "n/a"
    if 0 < proportion < 0.0005:
        return "< 0.1%"
    if 0.9995 <= proportion < 1:
        return "> 99.9%"
    return f"{100 * proportion:.1f}%"


def number(value: Any) -> str:
    """Return a value as text: numbers with three digits, others as they are."""
    if not isinstance(value, float | np.floating):
        return f"{value:,}" if isinstance(value, int | np.integer) else str(value)
    return f"{value:.3f}" if np.isfinite(value) else "n/a"


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
    matplotlib = import_extra("matplotlib", REPORT_EXTRA, "write_report")
    make_figure = import_extra("matplotlib.figure", REPORT_EXTRA, "write_report").Figure
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
    svg = re.sub(r' id="[\w.]+_\d+"', "", svg)  # the others are hashes, which uses refer to
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1)
