"""Plots as inline SVG that takes the colors of the page, light or dark."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from io import StringIO
from typing import Any

from hedgeclipper.inspection.display import BAND, BLUE, GREEN, MARK, ORANGE
from hedgeclipper.inspection.markup import Markup, tag
from hedgeclipper.io.extras import import_extra

# as wide as a phone, so that text there has the size it is given here
SIZE = (4.7, 3.2)
BLACK = "#000000"
VARIABLES = {
    BLUE: "var(--blue)",
    ORANGE: "var(--orange)",
    GREEN: "var(--green)",
    BAND: "var(--band)",
    MARK: "var(--mark)",
    BLACK: "currentColor",
}
STYLE = {
    "font.family": "sans-serif",
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": MARK,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "text.parse_math": False,
}


def figure(draw: Callable[[Any], Any], words: str, caption: str, *, size: Any = SIZE) -> Markup:
    """Return a figure of the page.

    Parameters
    ----------
    draw : callable
        Draws on the axes it is given.
    words : str
        What it shows, for those who do not see it.
    caption : str
        What to see in it.
    size : tuple of two floats
        Width and height in inches.
    """
    matplotlib = import_extra("matplotlib", "plots", "write_report")
    make = import_extra("matplotlib.figure", "plots", "write_report").Figure
    # ids within a page must differ between pictures, and stay the same from run to run
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": words}):
        canvas = make(figsize=size, layout="constrained")
        draw(canvas.subplots())
        out = StringIO()
        canvas.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    return tag("figure", _themed(out.getvalue(), words), tag("figcaption", caption))


def _themed(svg: str, words: str) -> Markup:
    """Return the picture alone, with variables in the place of colors, and a name."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    for color, variable in VARIABLES.items():
        svg = re.sub(color, variable, svg, flags=re.IGNORECASE)
    # the view box says all of its size that the page needs
    svg = re.sub(r'<svg ([^>]*?)width="[^"]*" height="[^"]*"', r"<svg \1", svg, count=1)
    svg = re.sub(r' id="(?:figure|axes|patch|line2d|text|matplotlib|xtick|ytick)[^"]*"', "", svg)
    return Markup(svg.replace("<svg ", f'<svg role="img" aria-label="{escape(words)}" ', 1))
