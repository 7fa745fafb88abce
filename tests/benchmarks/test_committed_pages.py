"""Tables and sentences on README and pages are what the committed results say."""

from importlib import import_module

import pytest

from benchmarks.pages import ROOT, with_section

MODULES = (
    *("bounds_table", "csv_files", "estimates", "labeling", "mixed_files", "mixed_rows"),
    *("out_of_core", "rivals.page", "speed", "table_page", "texts", "votes.page"),
)


@pytest.mark.parametrize("name", MODULES)
def test_committed_pages_are_what_the_committed_results_say(name):
    for path, parts in import_module(f"benchmarks.{name}").pages().items():
        page = (ROOT / path).read_text(encoding="utf-8")
        for section, text in parts.items():
            assert with_section(page, section, text) == page, f"{path}: {section}"
