"""The command line as a process: closed and broken streams, full disks, and kills."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hedgeclipper import load
from hedgeclipper.cli.output import ExitCode
from tests.command_line import FEW_TREES, cancer, start_command

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a shell")
FIT = "fit rows.csv --target benign --model m.skops"


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """Return a function that runs a line of shell in which H is the command."""
    monkeypatch.chdir(tmp_path)
    cancer().to_csv("rows.csv", index=False)
    Path("H").write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{FEW_TREES}" "$@"\n')
    Path("H").chmod(0o755)

    def run(line):
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=120)
        return done.returncode, done.stderr

    return run


@pytest.mark.parametrize(
    "streams",
    [
        pytest.param(">&- 2>&-", marks=pytest.mark.slow),
        "2>&1 >/dev/null | head -c 1; exit ${PIPESTATUS[0]}",
        pytest.param("2>/dev/full", marks=pytest.mark.slow),
    ],
)
def test_a_fit_outlives_its_standard_error(shell, streams):
    code, error = shell(f"./H {FIT} {streams}")
    assert (code, error) == (ExitCode.DONE, "")
    assert load("m.skops").named_steps["model"].n_labeled_ == 100


def test_a_full_disk_ends_with_the_code_of_outputs_and_a_path(tmp_path):
    cancer().to_csv(tmp_path / "rows.csv", index=False)

    def run(line, largest_file=None):
        process = start_command(line.split(), tmp_path, "printed", largest_file)
        process.join()
        return process.exitcode

    def full(line):
        (tmp_path / "printed").unlink()
        code, text = run(line, 9000), (tmp_path / "printed").read_text()
        assert code == ExitCode.OUTPUT, text
        assert "Errno" not in text
        return text

    assert run(f"{FIT} -q") == ExitCode.DONE
    again = f"{FIT.replace('m.skops', 'n.skops')} -q"
    assert "n.skops could not be written (File too large). Make room." in full(again)
    for to in ("p.csv", "p.parquet"):
        error = full(f"predict m.skops rows.csv -o {to} -q")
        assert f"{to} could not be written" in error
        assert "Make room" in error
    assert sorted(os.listdir(tmp_path)) == ["m.skops", "printed", "rows.csv"]


def test_of_two_fits_the_second_is_told_what_to_do(tmp_path):
    cancer().to_csv(tmp_path / "rows.csv", index=False)
    words = [*FIT.split(), "-q"]
    pair = [start_command(words, tmp_path, f"printed{number}") for number in range(2)]
    for process in pair:
        process.join()
    assert sorted(process.exitcode for process in pair) == [ExitCode.DONE, ExitCode.OUTPUT]
    error = "".join((tmp_path / f"printed{number}").read_text() for number in range(2))
    assert "Pass --force to replace it." in error
    assert "force=True" not in error
    load(tmp_path / "m.skops")
