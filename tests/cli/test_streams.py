"""The command line as a process: closed and broken streams, full disks, and kills."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from hedgeclipper import load
from hedgeclipper.cli.output import ExitCode
from tests.command_line import FEW_TREES, cancer

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a shell")
FIT = "fit rows.csv --target benign --model m.skops"


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """Return a function that runs a line of shell in which H is the command."""
    monkeypatch.chdir(tmp_path)
    cancer().to_csv("rows.csv", index=False)
    Path("H").write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{FEW_TREES}" "$@"\n')
    Path("H").chmod(0o755)

    def run(line, **options):
        done = subprocess.run(
            ["bash", "-c", line], capture_output=True, text=True, timeout=120, **options
        )
        return done.returncode, done.stderr

    return run


@pytest.mark.parametrize(
    "streams",
    [">&- 2>&-", "2>&1 >/dev/null | head -c 1; exit ${PIPESTATUS[0]}", "2>/dev/full"],
)
def test_a_fit_outlives_its_standard_error(shell, streams):
    code, error = shell(f"./H {FIT} {streams}")
    assert (code, error) == (ExitCode.DONE, "")
    assert load("m.skops").named_steps["model"].n_labeled_ == 100


def test_a_full_disk_ends_with_the_code_of_outputs_and_a_path(shell):
    def full(line):
        options = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))}
        code, error = shell(line, **options)
        assert code == ExitCode.OUTPUT, error
        assert "Errno" not in error
        return error

    assert "m.skops could not be written (File too large). Make room." in full(f"./H {FIT} -q")
    assert shell(f"./H {FIT} -q")[0] == ExitCode.DONE
    for to in ("p.csv", "p.parquet"):
        error = full(f"./H predict m.skops rows.csv -o {to} -q")
        assert f"{to} could not be written" in error
        assert "Make room" in error
    assert sorted(os.listdir()) == ["H", "m.skops", "rows.csv"]


def test_of_two_fits_the_second_is_told_what_to_do(shell):
    _, error = shell(f"./H {FIT} -q & ./H {FIT} -q & wait -n; a=$?; wait -n; echo $a $? >&2")
    assert sorted(error.split()[-2:]) == ["0", str(int(ExitCode.OUTPUT))]
    assert "Pass --force to replace it." in error
    assert "force=True" not in error
    load("m.skops")
