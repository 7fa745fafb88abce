"""How a CSV file is written: what separates values, decimal commas, the encoding, comments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
COMMENT = "#"
_LINES_TO_LOOK_AT = 20
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class CsvDialect:
    """How a CSV file is written; what is None is found in its first lines."""

    separator: str | None = None  # between values: one character
    decimal: str | None = None  # point or comma in numbers
    encoding: str | None = None  # UTF-8 if not found, or UTF-16 if the file begins with its mark
    n_comments: int = 0  # number of lines before the heading, which are comments

    def found_in(self, start: bytes, is_tsv: bool = False) -> CsvDialect:
        """Return the same with all that the first bytes of a file tell of what is not given."""
        encoding = self.encoding or ("utf-16" if start.startswith(_UTF16_MARKS) else "utf8")
        lines = _unquoted(start.decode(encoding, "replace").removeprefix("\ufeff")).splitlines()
        separator = self.separator or ("\t" if is_tsv else None)
        n_comments = _count_comments(lines, separator)
        lines = [line for line in lines[n_comments:] if line.strip()][:_LINES_TO_LOOK_AT]
        separator = separator or _separator(lines)
        decimal = self.decimal or _decimal(lines, separator)
        return CsvDialect(separator, decimal, encoding, n_comments)

    def describe(self) -> str:
        """Return what is unusual about it, for a note; nothing if all is as in most files."""
        unusual = []
        if self.separator not in (None, ","):
            unusual.append(f"{SEPARATORS.get(str(self.separator), 'others')} between values")
        if self.decimal == ",":
            unusual.append("commas in numbers")
        if self.encoding not in (None, "utf8"):
            unusual.append(f"text in {self.encoding}")
        if self.n_comments:
            unusual.append(f"{self.n_comments} lines of comments first")
        return ", ".join(unusual)


UNKNOWN_DIALECT = CsvDialect()


def _unquoted(text: str) -> str:
    return re.sub('"[^"]*"', "", text)


def _count_comments(lines: Sequence[str], separator: str | None) -> int:
    """Return the number of lines before the heading; it may begin with the sign of comments."""
    first = next((n for n, line in enumerate(lines) if not _is_comment(line)), len(lines))
    if first == 0 or first == len(lines):
        return 0
    sign = separator or _separator(lines[first:])
    last = lines[first - 1]
    # "#a,b" above rows of two values is a heading
    is_heading = last.count(sign) == lines[first].count(sign) > 0
    return first - 1 if is_heading else first


def _is_comment(line: str) -> bool:
    return not line.strip() or line.startswith(COMMENT)


def _separator(lines: Sequence[str]) -> str:
    """Return what is as often in each line as in the heading, the most frequent if several are."""

    def rank(sign: str) -> tuple[bool, int]:
        counts = [line.count(sign) for line in lines]
        return counts[0] > 0 and len(set(counts)) == 1, counts[0]

    return max(SEPARATORS, key=rank) if lines else ","


def _decimal(lines: Sequence[str], separator: str) -> str:
    """Return a comma if numbers have one, and none has a point, where commas do not separate."""
    if separator == ",":
        return "."
    values = [value.strip() for line in lines[1:] for value in line.split(separator)]
    has_point, has_comma = (
        any(re.fullmatch(rf"[-+]?\d+{sign}\d+", value) for value in values) for sign in (r"\.", ",")
    )
    return "," if has_comma and not has_point else "."
