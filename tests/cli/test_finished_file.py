"""The finished file is written beside the page, which does not wait for it."""

import time
from concurrent.futures import Future
from threading import Event
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from hedgeclipper.cli import finished_file
from hedgeclipper.cli.output import Output
from tests.labeling.conftest import make_loop, make_rows, run


class Finishing:
    """A finished loop in place of the frontend, and what writes its file."""

    def __init__(self, folder):
        X, truth = make_rows(300)
        self.loop = make_loop(X, session=folder / "s.jsonl", max_error=0.1)
        run(self.loop, truth)
        self.result, self.n_changes, self.reports = self.loop.result, 0, []
        frame, output = pd.DataFrame(X, columns=list("abc")), folder / "rows.labeled.csv"
        table = SimpleNamespace(
            frame=frame, X=frame, target="kind", session=folder / "s.jsonl", output=output
        )
        self.file = finished_file.FinishedFile(table, self, None, "title", False, Output(True))

    def run_apart(self, job):
        self.reports.append((job, Future()))
        return self.reports[-1][1]

    def written(self):
        """Return what is said once the finished file is there, or failed."""
        while "is being written" in (words := self.file.write()[0]).splitlines()[0]:
            time.sleep(0.01)
        return words


@pytest.fixture
def finishing(tmp_path):
    made = Finishing(tmp_path)
    yield made
    made.loop.close()


def test_nobody_waits_for_the_finished_file_and_its_report(finishing, monkeypatch):
    may_write, write = Event(), finished_file.write_frame

    def slowly(*given):
        assert may_write.wait(60)
        write(*given)

    monkeypatch.setattr(finished_file, "write_frame", slowly)
    for _ in range(2):
        words, is_writing = finishing.file.write()
        assert words == "All labels are saved. The finished file is being written."
        assert is_writing
    may_write.set()
    assert "Written to" in finishing.written()
    assert finishing.file.write()[1]
    ((job, report),) = finishing.reports
    report.set_result(job.path)
    words, is_writing = finishing.file.write()
    assert "rows.labeled.html" in words
    assert not is_writing
    assert "rows.labeled.html" in [*finishing.file.wait()][-1]


def test_a_file_that_cannot_be_written_is_said_and_tried_again(finishing, monkeypatch):
    def fail(*given):
        raise OSError("no room")

    with monkeypatch.context() as patched:
        patched.setattr(finished_file, "write_frame", fail)
        assert "could not be written: no room" in finishing.written()
    assert "Written to" in finishing.written()


def test_a_file_that_others_write_meanwhile_stays(finishing):
    finishing.file.table.output.write_text("mine")
    assert "exists already. Pass --force to replace it." in finishing.written()
    assert finishing.file.table.output.read_text() == "mine"


def test_a_session_file_that_is_gone_costs_the_report_alone(finishing):
    table = finishing.file.table
    table.session = table.session.with_name("gone.jsonl")
    words = finishing.written()
    assert f"Written to {table.output}." in words
    assert "There is no report: " in words
    assert "gone.jsonl" in words
    before = table.output.stat().st_mtime_ns
    assert [finishing.written(), "\n".join(dict.fromkeys(finishing.file.wait()))] == [words, words]
    assert table.output.stat().st_mtime_ns == before


def test_labels_that_change_are_written_anew_but_over_no_file_of_others(finishing):
    output = finishing.file.table.output
    output.with_suffix(".html").write_text("mine")
    assert "There is no report" in finishing.written()
    before = pd.read_csv(output)
    row = int(np.flatnonzero(before["source"] == "prediction")[0])
    label = {"no": "yes", "yes": "no"}[before["kind"][row]]
    finishing.loop.tell(row, label)
    assert "Written to" in finishing.written()
    assert (pd.read_csv(output) != before).any(axis=1).sum() == 0  # until something has changed
    finishing.n_changes += 1
    assert "There is no report" in finishing.written()
    assert pd.read_csv(output)["kind"][row] == label
    assert output.with_suffix(".html").read_text() == "mine"
    assert finishing.reports == []
