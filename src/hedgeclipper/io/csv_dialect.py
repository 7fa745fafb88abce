"""How a CSV file is written: what separates values, the decimal sign, and the encoding."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class CsvDialect:
    """How a CSV file is written; what is None is found in its first lines."""

    separator: str | None = None  # between values: one character
    decimal: str | None = None  # point or comma in numbers
    encoding: str | None = None  # UTF-8 if not found, or UTF-16 if the file begins with its mark

    def found_in(self, start: bytes, is_tsv: bool = False) -> CsvDialect:
        """Return the same with all that the first bytes of a file tell of what is not given."""
        encoding = self.encoding or ("utf-16" if start.startswith(_UTF16_MARKS) else "utf8")
        text = start.decode(encoding, "replace").removeprefix("\ufeff")
        lines = re.sub('"[^"]*"', "", text).splitlines()
        lines = [line for line in lines if line.strip()][:20]
        separator = self.separator or ("\t" if is_tsv else _separator(lines))
        return CsvDialect(separator, self.decimal or _decimal(lines, separator), encoding)

    def describe(self) -> str:
        """Return what is unusual about it, for a note; nothing if all is as in most files."""
        unusual = []
        if self.separator not in (None, ","):
            unusual.append(f"{_SEPARATORS.get(str(self.separator), 'others')} between values")
        if self.decimal == ",":
            unusual.append("commas in numbers")
        if self.encoding not in (None, "utf8"):
            unusual.append(f"text in {self.encoding}")
        return ", ".join(unusual)


UNKNOWN_DIALECT = CsvDialect()


def _separator(lines: Sequence[str]) -> str:
    """Return what is as often in each line as in the heading, the most frequent if several are."""

    def rank(sign: str) -> tuple[bool, int]:
        counts = [line.count(sign) for line in lines]
        return counts[0] > 0 and len(set(counts)) == 1, counts[0]

    return max(_SEPARATORS, key=rank) if lines else ","


def _decimal(lines: Sequence[str], separator: str) -> str:
    """Return a comma if numbers have one, and none has a point, where commas do not separate."""
    if separator == ",":
        return "."
    values = [value.strip() for line in lines[1:] for value in line.split(separator)]
    has_point, has_comma = (
        any(re.fullmatch(rf"[-+]?\d+{sign}\d+", value) for value in values) for sign in (r"\.", ",")
    )
    return "," if has_comma and not has_point else "."
