import sys

import pytest

from hedgeclipper.io import progress as console
from hedgeclipper.io.progress import (
    MemberReporter,
    RowReporter,
    member_reporter,
    row_reporter,
)


def test_a_bar_on_a_terminal(monkeypatch, capsys):
    pytest.importorskip("rich")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with member_reporter(1) as report:
        report("forest", 1, 4)
    assert report.bar.finished is False
    assert not report.bar.live.is_started
    assert "fitting members 1 of 4" in capsys.readouterr().err


@pytest.mark.parametrize(("n_rows", "percent"), [(4_000, "  25%"), (None, "")])
def test_a_line_has_the_task_and_the_rows_done(monkeypatch, capsys, n_rows, percent):
    monkeypatch.setattr(console, "SECONDS_BETWEEN_LINES", -1.0)
    RowReporter("writing predictions", n_rows)(1_000)
    line = capsys.readouterr().err
    assert line.startswith("writing predictions  1,000 rows  ")
    assert line.endswith(f" s{percent}\n")


@pytest.mark.parametrize(("n_all", "percent"), [(20, "  100%"), (None, "")])
def test_lines_come_now_and_then_and_at_the_end(capsys, n_all, percent):
    with row_reporter(1, "finding leaves", n_all) as report:
        report(10)
        report(20)
        assert capsys.readouterr().err == ""
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("finding leaves  20 rows  ")
    assert line.endswith(f" s{percent}")


def test_no_line_is_shown_twice_and_none_of_nothing(monkeypatch, capsys):
    monkeypatch.setattr(console, "SECONDS_BETWEEN_LINES", -1.0)
    with row_reporter(1, "finding leaves", None) as report:
        report(10)
    assert len(capsys.readouterr().err.splitlines()) == 1
    with row_reporter(1, "finding leaves", None):
        pass
    assert capsys.readouterr().err == ""


def test_something_else_than_rows_may_be_counted(capsys):
    with row_reporter(1, "finding leaves", 4, "partitions") as report:
        report(2)
    assert "finding leaves  2 partitions  " in capsys.readouterr().err


def test_a_bar_of_rows_on_a_terminal(monkeypatch, capsys):
    pytest.importorskip("rich")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with row_reporter(1, "finding leaves", 20) as report:
        report(10)
    assert "finding leaves  10 rows" in capsys.readouterr().err


def test_a_line_names_the_member_and_the_time_left(capsys):
    report = MemberReporter()
    report.started -= 8.0
    report.last -= 8.0
    report("forest", 2, 6)
    assert capsys.readouterr().err == "fitting members 2 of 6, 16 s left  (last forest)\n"


def test_lines_of_members_come_now_and_then_and_at_the_end(capsys):
    report = MemberReporter()
    report("forest", 1, 2)
    assert capsys.readouterr().err == ""
    report("bayes", 2, 2)
    assert capsys.readouterr().err == "fitting members 2 of 2, done  (last bayes)\n"


def test_a_bar_of_members_on_a_terminal(monkeypatch, capsys):
    pytest.importorskip("rich")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with member_reporter(1) as report:
        report("forest", 1, 4)
    assert report.bar.tasks[0].completed == 0.25
    assert "fitting members 1 of 4, 0 s left" in capsys.readouterr().err


def test_nothing_is_shown_unless_verbose(capsys):
    with row_reporter(0, "finding leaves", 20) as report:
        report(20)
    with member_reporter(0) as report:
        report("forest", 1, 1)
    assert capsys.readouterr().err == ""


def test_lines_on_a_terminal_without_rich(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    MemberReporter()("forest", 4, 4)
    assert "fitting members 4 of 4" in capsys.readouterr().err
