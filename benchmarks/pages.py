"""Writes pages and figures atomically: first under a temporary name."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FIGURES = DOCS / "figures"
DPI = 110
NOT_RUN = "Not measured yet for this version."


def write_page(path: Path, text: str) -> None:
    """Write a text file."""
    _write(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def save_figure(figure: Any, path: Path) -> None:
    """Write a matplotlib figure as PNG, the same bytes for the same picture."""
    metadata = {"Software": None}
    _write(path, lambda temporary: figure.savefig(temporary, dpi=DPI, metadata=metadata))


def save_svg(figure: Any, path: Path) -> None:
    """Write a matplotlib figure as SVG on a clear ground, the same bytes for the same picture."""
    metadata = {"Date": None, "Creator": None}

    def write(temporary: Path) -> None:
        figure.savefig(temporary, format="svg", metadata=metadata, transparent=True)

    _write(path, write)


def with_section(page: str, name: str, text: str) -> str:
    """Return a page with the text between the marks of a section replaced.

    Parameters
    ----------
    page : str
        Markdown with ``<!-- begin NAME -->`` and ``<!-- end NAME -->`` on lines of their own.
    name : str
        Name of the section.
    text : str
        What goes between.
    """
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    if page.count(begin) != 1 or page.count(end) != 1:
        raise ValueError(f"The page must have the lines {begin!r} and {end!r} once each.")
    head, rest = page.split(begin)
    tail = rest.split(end)[1]
    return f"{head}{begin}\n\n{text.strip()}\n\n{end}{tail}"


def write_sections(path: Path, parts: Mapping[str, str]) -> None:
    """Rewrite a page with the text of some of its sections replaced.

    Parameters
    ----------
    path : Path
        The page, which has the marks of all of them.
    parts : mapping from str to str
        Names of sections, and what goes between their marks.
    """
    page = path.read_text(encoding="utf-8")
    for name, text in parts.items():
        page = with_section(page, name, text)
    write_page(path, page)


def write_pages(pages: Mapping[str, Mapping[str, str]], root: Path = ROOT) -> None:
    """Rewrite pages by their paths below the root, as `write_sections` does."""
    for path, parts in pages.items():
        write_sections(root / path, parts)


def listed(parts: list[str]) -> str:
    """Return parts as in a sentence: a, b and c."""
    return "".join(parts) if len(parts) < 2 else ", ".join(parts[:-1]) + " and " + parts[-1]


def markdown_table(rows: list[list[str]]) -> str:
    """Return rows, the first one a heading, as a Markdown table; numbers to the right."""
    head, *body = rows
    rule = [":---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *body])


def bullets(*texts: str) -> str:
    """Return a Markdown list of sentences."""
    return "\n".join(f"- {text}." for text in texts)


def _write(path: Path, write: Callable[[Path], Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"partial-{path.name}")
    try:
        write(temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
