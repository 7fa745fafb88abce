"""The command line on a terminal, in a log, and when it is stopped."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io

from hedgeclipper.cli.output import Output
from tests.command_line import FEW_TREES, cancer, start_command

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
termios = pytest.importorskip("termios")
COMMAND = [sys.executable, "-c", FEW_TREES]


def in_terminal(words, folder):
    """Return exit code and output of a command that runs on a terminal of 100 columns."""
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (40, 100))
    process = start_command(words, folder, os.ttyname(follower))
    parts = []
    reader = threading.Thread(target=lambda: parts.extend(iter(lambda: read(leader), b"")))
    reader.start()
    process.join()
    os.close(follower)
    reader.join()
    os.close(leader)
    return process.exitcode, b"".join(parts).decode()


def read(leader):
    """Return what was printed on a terminal; nothing when it is closed."""
    try:
        return os.read(leader, 4096)
    except OSError:
        return b""


def test_a_terminal_shows_progress(tmp_path):
    pd.concat([cancer()] * 4).to_csv(tmp_path / "rows.csv", index=False)
    words = ["fit", "rows.csv", "--target", "benign", "--model", "m.skops"]
    code, shown = in_terminal(words, tmp_path)
    assert code == 0
    assert "\x1b[" in shown
    assert "scoring rows" in shown
    code, shown = in_terminal(["predict", "m.skops", "rows.csv", "-o", "p.parquet"], tmp_path)
    assert code == 0
    assert "2,276 rows" in shown


def test_a_log_has_plain_lines(command):
    cancer().to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "--target", "benign", "--model", "m.skops")
    assert "\x1b" not in command.out + command.err
    assert re.search(r"^scoring rows  [\d,]+ rows", command.err, re.MULTILINE)
    assert re.search(r"^mean_area +numbers +as they are$", command.out, re.MULTILINE)


def test_a_command_that_is_stopped_leaves_nothing(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(20_000, 30)), columns=[f"x{k}" for k in range(30)])
    frame["y"] = np.where(np.arange(20_000) < 5_000, frame["x0"] > 0, None)
    frame.to_parquet(tmp_path / "rows.parquet")
    words = ["fit", "rows.parquet", "--target", "y", "--method", "voting", "--model", "m.skops"]
    process = subprocess.Popen(
        [*COMMAND, *words, "--jobs", "1"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # tests that run in the background may have been told to ignore it
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("Fitting"):
            break
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert said.splitlines()[-1] == "error: Stopped. Nothing was written."
    assert "Traceback" not in said
    assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]


def test_stopped_while_a_model_is_saved(command, monkeypatch):
    cancer().to_csv("rows.csv", index=False)

    def half(model, file, **options):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(skops.io, "dump", half)
    command("fit", "rows.csv", "--target", "benign", "--model", "m.skops")
    assert command.code == 130
    assert [path.name for path in Path().iterdir()] == ["rows.csv"]


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

    monkeypatch.setattr("hedgeclipper.inspection.report.write_report", fail)
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

    monkeypatch.setattr("hedgeclipper.cli.prediction_commands._count_classes", stop)
    command("predict", "m.skops", "rows.csv", "-o", to, "--force")
    assert command.code == 130
    assert sorted(path.name for path in Path().iterdir()) == sorted(["m.skops", to, "rows.csv"])
    assert Path(to).read_text() == "old"


@pytest.mark.parametrize("more", [[], pytest.param(["--json"], marks=pytest.mark.slow)])
def test_the_work_is_done_though_nobody_reads_the_output(tmp_path, more):
    cancer().to_csv(tmp_path / "rows.csv", index=False)
    reader, writer = os.pipe()
    os.close(reader)
    words = ["fit", "rows.csv", "--target", "benign", "--model", "m.skops", *more]
    done = subprocess.run(
        [*COMMAND, *words], cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE, text=True
    )
    os.close(writer)
    assert done.returncode == 0, done.stderr
    assert "Pipe" not in done.stderr
    assert (tmp_path / "m.skops").exists()


def test_lines_of_a_terminal_break_at_words(monkeypatch, capsys):
    words = [f"word{k}" for k in range(40)]
    monkeypatch.setenv("COLUMNS", "60")
    for is_terminal in (False, True):
        output = Output()
        for console in (output._out, output._err):
            console._force_terminal = is_terminal
            console.soft_wrap = not is_terminal
            console.no_color = True
        output.facts([("Error", " ".join(words)), ("Time", "1 s")])
        output.note(" ".join(words))
        shown = capsys.readouterr()
        lines = re.sub(r"\x1b\[\d*m", "", shown.out + shown.err).splitlines()
        assert re.findall(r"word\d+", " ".join(lines)) == words * 2
        assert (max(map(len, lines)) <= 60) == is_terminal
        if is_terminal:  # values are below each other
            assert all(line.startswith(("Error  word", "       word")) for line in lines[:5])


def test_strings_of_a_table_are_not_markup(capsys):
    Output().table(("Column", "What"), [("[red]a[/red]", "b")])
    Output().say("[bold]x[/bold]")
    assert "[red]a[/red]" in (out := capsys.readouterr().out)
    assert "[bold]x[/bold]" in out
