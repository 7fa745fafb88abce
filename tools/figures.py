"""List every figure on README and pages with where it comes from; fail for one without.

    python tools/figures.py [--list]

A figure comes from a results file if it is between the marks of a section, and from an example if
it is in a block of Python, which runs as a doctest. Other numbers are settings, limits that a
reader chooses, and citations: they are declared here, settings with a file that must hold them.
Whole numbers up to 1,000 count as set-up and are not traced. Code, formulas, exit codes and
messages are no figures.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = "benchmarks/results"
# sections of pages, and the files that their scripts read
SECTIONS = {
    "promise": "bounds.csv", "file": "bounds.csv", "limits": "bounds.csv",
    "bounds-when": "bounds.csv", "bias": "estimates.csv", "shift": "shifts.csv",
    "table": "table.csv", "tables": "table.csv", "tables-run": "table.csv",
    "tables-behind": "table.csv", "tables-rare": "rare_classes.csv", "parts": "table.csv",
    "protocol": "table.csv", "rivals": "rivals.csv", "csv files": "csv_files.csv",
    "mixed files": "mixed_files.csv", "texts": "texts.csv", "mixed rows": "mixed_rows.csv",
    "judges": "votes.csv", "votes-accuracy": "votes.csv",
    "votes-run": "votes.csv", "votes-crowds": "votes_crowds.csv", "votes-rates": "votes_rates.csv",
    "votes-speed": "votes_speed.csv", "stress": "stress.jsonl", "labeling cost": "labeling.csv",
    "labeling validity": "labeling_validity.csv", "out-of-core": "out_of_core.csv",
    "memory": "out_of_core.csv", "speed": "speed.csv",
}  # fmt: skip
NOT_RUN = "Not measured yet"
LIMITS = {"1%", "2%", "3%", "5%", "10%", "20%", "30%", "95%"}  # errors and levels to choose
CITED = {"2015", "2022", "2023", "2024", "2026", "8601", "1970", "4.0", "2506.10908"}
SECTIONS_CITED = {"2.1", "2.2", "2.3", "3.1"}  # of the paper
VOTES = {"-1", "+1"}
# numbers in sentences, and a file of the repository that has them
SETTINGS = {
    "0.3": "src/hedgeclipper/paper/classifier.py", "1.0": "src/hedgeclipper/paper/classifier.py",
    "3.0": "src/hedgeclipper/paper/classifier.py",
    "32,561": "src/hedgeclipper/datasets.py", "50,000": "src/hedgeclipper/datasets.py",
    "419": "src/hedgeclipper/datasets.py", "130": "src/hedgeclipper/datasets.py",
    "65": "src/hedgeclipper/datasets.py", "3.11": "pyproject.toml",
    "2,000": "src/hedgeclipper/bounds/hold_out.py", "62%": "src/hedgeclipper/bounds/hold_out.py",
    "26": "benchmarks/mixed_files.py",
    "18": "tests/benchmarks/test_table.py", "36": "tests/benchmarks/test_rivals.py",
    "10,000": "benchmarks/data/datasets.toml", "600": "benchmarks/estimates.py",
    "8,000": "benchmarks/bounds_table.py",
    "6,000": "benchmarks/texts.py", "80,000": "benchmarks/texts.py",
    "1.2": "src/hedgeclipper/bounds/tested_predictions.py", "0.005": "benchmarks/table_page.py",
    "0.001": "benchmarks/speed.py", "0.01": "src/hedgeclipper/paper/algorithm.py",
}  # fmt: skip
MOST_COUNTED = 1000  # whole numbers up to it count labels, rows and trees of a set-up
NUMBER = re.compile(r"(?<![\w.\-/#])[-+]?\d[\d,]*(?:\.\d+)?%?(?![\w])")
NO_FIGURES = (
    r"^(`{3,})(?!python).*?^\1`*[ ]*$", r"`[^`\n]*`", r"\$\$.*?\$\$", r"\$[^$\n]*\\[^$\n]*\$",
    r"\]\([^)]*\)", r"^\s*\d+\. ", r"^>.*?$",
)  # fmt: skip


def blank(match: re.Match[str]) -> str:
    """Return the text of a match as blanks, so that lines keep their numbers."""
    return re.sub(r"[^\n]", " ", match.group())


def figures(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the number and the origin of each figure; "" is no origin."""
    found: list[tuple[int, str, str]] = []

    def take(origin: str, match: re.Match[str]) -> str:
        for one in NUMBER.finditer(match.group()):
            line = text.count("\n", 0, match.start() + one.start()) + 1
            found.append((line, one.group(), origin))
        return blank(match)

    for name in re.findall(r"<!-- begin (.*?) -->", text):
        pattern = rf"<!-- begin {re.escape(name)} -->.*?<!-- end {re.escape(name)} -->"
        source, part = SECTIONS.get(name), re.search(pattern, text, re.DOTALL)
        origin = "" if not source else f"{RESULTS}/{source}"
        if source == "" and part and NOT_RUN in part.group():
            origin = "not measured"
        text = re.sub(pattern, lambda m, o=origin: take(o, m), text, flags=re.DOTALL)
    code = r"^```python\n.*?^```$"
    text = re.sub(code, lambda m: take("doctest", m), text, flags=re.DOTALL | re.MULTILINE)
    in_examples = {number.lstrip("+-") for _, number, origin in found if origin == "doctest"}
    for pattern in NO_FIGURES:
        text = re.sub(pattern, blank, text, flags=re.DOTALL | re.MULTILINE)
    for line, words in enumerate(text.splitlines(), start=1):
        found += [
            (line, one, origin_of(one.rstrip(","), in_examples)) for one in NUMBER.findall(words)
        ]
    yield from sorted(found)


def origin_of(number: str, in_examples: set[str]) -> str:
    """Return where a number in a sentence comes from."""
    plain = number.replace(",", "")
    if number in LIMITS:
        return "limit"
    if number in CITED | SECTIONS_CITED | VOTES:
        return "citation"
    if number in SETTINGS:
        return SETTINGS[number] if holds(ROOT / SETTINGS[number], plain) else ""
    if number in in_examples or number.replace(",", "_") in in_examples:
        return "doctest"
    if plain.lstrip("-").isdigit() and abs(int(plain)) <= MOST_COUNTED and number[0] != "+":
        return "set-up"
    return ""


def holds(path: Path, number: str) -> bool:
    """Return whether a file has a number, in any of the ways to write it: 62% is 0.62."""
    if number.endswith("%"):
        number = f"{float(number[:-1]) / 100:g}"
    text = re.sub(r"(?<=\d)[,_](?=\d{3})", "", path.read_text(encoding="utf-8"))
    return bool(re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", text))


def check_declarations() -> None:
    """Raise if a page is declared as the source of a number: that could never fail."""
    pages = sorted(source for source in SETTINGS.values() if source.startswith(("docs/", "README")))
    if pages:
        raise ValueError(f"A page is no source of a number. Got {pages}; name code or results.")
    absent = sorted({s for s in SECTIONS.values() if s and not (ROOT / RESULTS / s).exists()})
    if absent:
        raise ValueError(f"{RESULTS} has no {absent}, which sections of pages are said to be from.")


def main(is_listing: bool) -> int:
    """Print all figures, or those without an origin, and return how many the latter are."""
    check_declarations()
    n_all = n_missing = 0
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for line, number, origin in figures(page.read_text(encoding="utf-8")):
            n_all, n_missing = n_all + 1, n_missing + (origin == "")
            if is_listing or not origin:
                print(f"{page.relative_to(ROOT)}:{line}: {number}  {origin or 'NO ORIGIN'}")
    print(f"{n_all:,} figures, {n_missing} without an origin.")
    return n_missing


if __name__ == "__main__":
    raise SystemExit(bool(main("--list" in sys.argv[1:])))
