"""What the page of `make stress` is made of: no try that failed, hung or crashed is left out."""

import contextlib
import signal
import time

import pytest

from tests.stress import tally
from tests.stress.tally import Tally
from tools.stress_page import describe


@pytest.fixture
def results(tmp_path, monkeypatch):
    """The file of records of this test alone, which those of a whole run do not get."""
    path = tmp_path / "stress.jsonl"
    monkeypatch.setattr(tally, "RESULTS", str(path))
    return path


def test_failures_are_counted_and_end_the_area(results):
    def try_thrice():
        with Tally("odd") as counted:
            for number in range(3):
                with counted.attempt(f"try {number}"):
                    assert number != 1

    with pytest.raises(AssertionError, match="1 of 3 tries failed"):
        try_thrice()
    assert "| odd | 3 | 1 |" in describe(results)


def test_parts_of_an_area_are_one_line_and_what_ends_it_is_a_failure(results):
    for part in ("a", "b"):
        with Tally(f"files: {part}") as counted, counted.attempt("try"):
            pass
    with pytest.raises(KeyError), Tally("files: c"):
        raise KeyError
    assert "| files | 2 | 1 |" in describe(results)


def test_an_area_whose_process_crashed_has_failed(results):
    Tally("models").__enter__()
    assert "| models | 0 | 1 |" in describe(results)


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs alarms")
def test_a_hang_is_a_failure_also_where_all_errors_are_expected(results):
    counted = Tally("slow")
    with counted.attempt("try", seconds=1), contextlib.suppress(Exception):
        time.sleep(60)
    assert "took more than 1 seconds" in counted.failures[0]
