"""The section of CSV files is what the committed results say."""

from benchmarks.csv_files import PAGE, RESULTS, TITLES, findings
from benchmarks.methods import METHODS
from benchmarks.pages import with_section
from benchmarks.results_file import read_results


def test_the_committed_page_is_what_the_committed_results_say():
    page = PAGE.read_text(encoding="utf-8")
    assert with_section(page, "csv files", findings(read_results(RESULTS))) == page


def test_methods_have_their_titles():
    assert {name: METHODS[name].title for name in TITLES} == TITLES
