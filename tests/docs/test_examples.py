"""The examples run, without a display and without a warning of ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
NO_DISPLAY = {**os.environ, "MPLBACKEND": "Agg"}


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path):
    done = subprocess.run(
        [sys.executable, path], capture_output=True, text=True, timeout=300, env=NO_DISPLAY
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert "hedgeclipper" not in done.stderr
