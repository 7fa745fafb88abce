"""The shell lines of README.md are run, in order, in a folder with the files that they name."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hedgeclipper.cli import main
from tests.command_line import crowd

README = Path(__file__).parents[1] / "README.md"
PROMPT = "hedgeclipper "


def commands():
    """Return the lines of the blocks marked sh that call the command line."""
    blocks = re.findall(r"^```sh\n(.*?)^```", README.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines() if line.startswith(PROMPT)]


def people(n_rows, seed):
    """Return rows about people, of whose income little is known."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n_rows),
            "education": rng.choice(["school", "college", None], n_rows),
            "hired": pd.date_range("2001-05-01", periods=n_rows, freq="D").astype(str),
        }
    )
    frame["income"] = np.where(frame["age"] + rng.normal(0, 5, n_rows) > 45, "high", "low")
    return frame


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people(80, 0).to_csv("rows.csv", index=False)
    people(200, 1).drop(columns="income").to_csv("more.csv", index=False)
    votes, gold = crowd()
    votes.to_csv("votes.csv", index=False)
    gold[:40].to_csv("gold.csv", index=False)
    return tmp_path


def test_the_commands_of_the_readme_run(folder):
    lines = commands()
    assert len(lines) >= 3
    before = set(folder.iterdir())
    for line in lines:
        assert main(shlex.split(line)[1:]) == 0, line
    named = {word for line in lines for word in shlex.split(line) if "." in word}
    made = {path.name for path in set(folder.iterdir()) - before}
    assert made == named - {path.name for path in before}
