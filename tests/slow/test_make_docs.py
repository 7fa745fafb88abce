"""The documentation is made without a warning, examples run."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_docs_are_made_without_a_warning(tmp_path):
    pytest.importorskip("sphinx_gallery")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-b", "html"]
    done = subprocess.run(
        [*command, "-d", tmp_path / "doctrees", ROOT / "docs", tmp_path / "html"],
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "html" / "generated" / "hedgeclipper.solve_game.html").exists()
