"""Write into README and pages what their examples print.

python tools/examples.py [PAGE ...]

Each page is run like a doctest. Where an example prints something else than the page says, the
page is changed. Sentences are wrapped. Examples that raise an error are left as they are.
"""

from __future__ import annotations

import doctest
import io
import sys
import textwrap
import traceback
import warnings
from contextlib import redirect_stdout
from pathlib import Path

ROOT = Path(__file__).parents[1]
WIDTH = 88


def printed(example: doctest.Example, names: dict) -> str | None:
    """Return what an example prints, or None if it raises an error."""
    out = io.StringIO()
    with redirect_stdout(out):
        try:
            exec(compile(example.source, "<page>", "single"), names)
        except Exception:
            if example.exc_msg is None:
                traceback.print_exc()
            return None
    return out.getvalue()


def wrapped(text: str) -> str:
    """Return the text with long lines broken between words."""
    return "".join(f"{textwrap.fill(line, WIDTH)}\n" for line in text.splitlines())


def updated(text: str) -> str:
    """Return a page with the outputs of its examples."""
    lines, names = text.splitlines(keepends=True), {"__name__": "__main__"}
    changes = []
    for example in doctest.DocTestParser().get_examples(text):
        got = printed(example, names)
        if got is not None and got.split() != example.want.split():
            begin = example.lineno + example.source.count("\n")
            changes.append((begin, begin + example.want.count("\n"), wrapped(got)))
    for begin, end, got in reversed(changes):
        lines[begin:end] = [got]
    return "".join(lines)


def main(names: list[str]) -> None:
    """Update the pages of these names, or all."""
    pages = [Path(name) for name in names] or [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    warnings.simplefilter("ignore")
    for page in pages:
        before = page.read_text(encoding="utf-8")
        after = updated(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(f"{page}: changed")


if __name__ == "__main__":
    main(sys.argv[1:])
