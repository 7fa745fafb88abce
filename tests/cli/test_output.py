"""The command line on a terminal, in a log, with a full disk, and when it is stopped."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from hedgeclipper import load
from hedgeclipper.bounds.certificate import Certificate
from hedgeclipper.cli.output import ExitCode, Output, error_facts
from tests.command_line import cancer, start_command


def test_a_log_has_plain_lines(command):
    cancer().to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "--target", "benign", "--model", "m.skops")
    assert "\x1b" not in command.out + command.err
    assert re.search(r"^ *mean_area +numbers +as they are *$", command.out, re.MULTILINE)


@pytest.mark.parametrize(
    ("baseline", "class_weight", "n_notes"),
    [(0.220, None, 1), (0.231, None, 0), (0.220, "balanced", 0)],
)
def test_a_model_that_is_no_better_than_always_guessing_gets_a_note(
    baseline, class_weight, n_notes, capsys
):
    found = Certificate(0.226, 0.26, 0.2, "estimate", 0.95, 800, baseline=baseline)
    output = Output()
    error_facts(
        SimpleNamespace(certificate_=found, confidence_level=None, class_weight=class_weight),
        output,
    )
    assert len(output.notes) == n_notes
    assert ("no better than always" in capsys.readouterr().err) == bool(n_notes)


@pytest.mark.skipif(os.name != "posix", reason="signals of other processes")
def test_a_command_that_is_stopped_leaves_nothing(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(20_000, 30)), columns=[f"x{k}" for k in range(30)])
    frame["y"] = np.where(np.arange(20_000) < 5_000, frame["x0"] > 0, None)
    frame.to_parquet(tmp_path / "rows.parquet")
    words = "fit rows.parquet -t y -m m.skops --jobs 1 --estimators default"
    process, out = start_command(words.split(), tmp_path, "out"), tmp_path / "out"
    while not (out.exists() and "labeled and" in out.read_text()):
        assert process.is_alive()
        time.sleep(0.02)
    time.sleep(0.1)
    os.kill(process.pid, signal.SIGINT)
    process.join(60)
    said = out.read_text()
    assert process.exitcode == 130, said
    assert said.splitlines()[-1] == "error: Stopped. Nothing was written."
    assert "Traceback" not in said
    assert {path.name for path in tmp_path.iterdir()} == {"rows.parquet", "out"}


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "error: Stopped. Written before: m.skops."),
        (ValueError("No page."), 3, "error: No page. Written before: m.skops."),
    ],
)
def test_what_was_written_before_the_report_failed_is_printed(
    command, monkeypatch, error, code, said
):
    cancer().to_csv("rows.csv", index=False)

    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr("hedgeclipper.report.page.write_report", fail)
    words = ("fit", "rows.csv", "--target", "benign", "--model", "m.skops", "--report", "r.html")
    assert command(*words).code == code
    assert command.err.splitlines()[-1] == said
    assert Path("m.skops").exists()


@pytest.mark.parametrize("to", ["p.parquet", "p.csv"])
def test_stopped_while_predictions_are_written(command, monkeypatch, to):
    cancer().to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "--target", "benign", "--model", "m.skops", "-q")
    Path(to).write_text("old")

    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("hedgeclipper.cli.predict_commands.write_table", stop)
    command("predict", "m.skops", "rows.csv", "-o", to, "--force")
    assert command.code == 130
    assert sorted(path.name for path in Path().iterdir()) == sorted(["m.skops", to, "rows.csv"])
    assert Path(to).read_text() == "old"


def test_the_work_is_done_though_nobody_reads_the_output(tmp_path):
    cancer().to_csv(tmp_path / "rows.csv", index=False)
    reader, writer = os.pipe()
    os.close(reader)
    options = ["--target", "benign", "--model", "m.skops", "--estimators", "trees"]
    command = [sys.executable, "-m", "hedgeclipper.cli", "fit", "rows.csv", *options]
    done = subprocess.run(command, cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert done.returncode == 0, done.stderr
    assert "Pipe" not in done.stderr
    assert (tmp_path / "m.skops").exists()


def test_lines_of_a_terminal_break_at_words(capsys):
    words = [f"word{k}" for k in range(40)]
    for is_terminal in (False, True):
        output = Output()
        for console in (output._out, output._err):
            console._force_terminal, console.no_color = is_terminal, True
            console.width = 60 if is_terminal else 10_000
        output.facts([("Error", " ".join(words)), ("Time", "1 s")])
        output.note(" ".join(words))
        shown = capsys.readouterr()
        lines = re.sub(r"\x1b\[\d*m", "", shown.out + shown.err).splitlines()
        assert re.findall(r"word\d+", " ".join(lines)) == words * 2
        assert (max(map(len, lines)) <= 60) == is_terminal
        if is_terminal:  # values are below each other
            assert all(line.startswith(("Error  word", "       word")) for line in lines[:5])


def test_a_terminal_shows_what_is_done(command, monkeypatch):
    cancer().to_csv("rows.csv", index=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    command("fit", "rows.csv", "--target", "benign", "--model", "m.skops")
    for what in ("reading files", "fitting", "saving the model"):
        assert what in command.err
    assert "predicting" in command("predict", "m.skops", "rows.csv", "-o", "p.csv").err
    assert "reading files" in command("sample", "rows.csv", "-n", 5, "-o", "s.csv").err
    command("evaluate", "m.skops", "rows.csv", "-q")
    assert command.err == ""


def test_strings_of_a_table_are_not_markup(capsys):
    Output().table(("Column", "What"), [("[red]a[/red]", "b")])
    Output().say("[bold]x[/bold]")
    assert "[red]a[/red]" in (out := capsys.readouterr().out)
    assert "[bold]x[/bold]" in out


def test_json_has_null_where_a_number_is_not_defined(capsys):
    output = Output(as_json=True)
    output.result = {"a": np.array([[1.0, np.nan]]), "b": {"c": (np.float64("nan"), np.inf)}}
    output.finish()
    assert json.loads(capsys.readouterr().out, parse_constant=pytest.fail) == {
        "a": [[1.0, None]],
        "b": {"c": [None, None]},
        "notes": [],
    }


@pytest.mark.skipif(os.name != "posix", reason="needs limits of resources")
def test_a_full_disk_ends_with_the_code_of_outputs_and_a_path(command):
    import resource  # not on Windows

    def full(*words):
        most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (9000, most[1]))
        try:
            assert command(*words, "-q").code == ExitCode.OUTPUT, command.err
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, most)
        assert "Errno" not in command.err
        return command.err

    cancer().to_csv("rows.csv", index=False)
    fit = ("fit", "rows.csv", "--target", "benign", "--model")
    assert command(*fit, "m.skops", "-q").code == ExitCode.DONE
    assert "n.skops could not be written (File too large). Make room." in full(*fit, "n.skops")
    for to in ("p.csv", "p.parquet"):
        error = full("predict", "m.skops", "rows.csv", "-o", to)
        assert f"{to} could not be written" in error
        assert "Make room" in error
    assert sorted(os.listdir()) == ["m.skops", "rows.csv"]


def test_of_two_fits_the_second_is_told_what_to_do(tmp_path):
    cancer().to_csv(tmp_path / "rows.csv", index=False)
    words = ["fit", "rows.csv", "--target", "benign", "--model", "m.skops", "-q"]
    pair = [start_command(words, tmp_path, f"printed{number}") for number in range(2)]
    for process in pair:
        process.join()
    assert sorted(process.exitcode for process in pair) == [ExitCode.DONE, ExitCode.OUTPUT]
    error = "".join((tmp_path / f"printed{number}").read_text() for number in range(2))
    assert "Pass --force to replace it." in error
    load(tmp_path / "m.skops")
