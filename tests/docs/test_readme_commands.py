"""The shell lines of two pages are run, in order, in a folder with the files that they name."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.cli import main
from tests.command_line import crowd

ROOT = Path(__file__).parents[2]
PROMPT = "hedgeclipper "


def commands(page):
    """Return the lines of the blocks marked sh that call the command line."""
    text = (ROOT / page).read_text("utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
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


def fill_in(path, truth):
    """Fill in the labels of a table, as people would."""
    table = pd.read_csv(path)
    table["label"] = truth[table["row"]]
    table.to_csv(path, index=False)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setitem(HedgeClipperClassifier.__init__.__kwdefaults__, "n_estimators", 12)
    monkeypatch.chdir(tmp_path)
    rows = people(80, 0).assign(id=np.random.default_rng(0).permutation(80))
    rows.to_csv("rows.csv", index=False)
    outcomes = rows[["id"]].assign(outcome=np.where(rows["age"] % 3 > 0, "good", "bad"))
    outcomes.to_csv("outcomes.csv", index=False)
    people(50, 2).to_csv("test.csv", index=False)
    people(200, 1).drop(columns="income").to_csv("more.csv", index=False)
    votes, gold = crowd()
    votes.to_csv("votes.csv", index=False)
    gold[:40].to_csv("gold.csv", index=False)
    return tmp_path


def test_the_commands_of_the_readme_finish_a_file(folder):
    rows = people(4000, 3)
    truth = rows.pop("income").to_numpy()
    rows.to_csv("people.csv", index=False)
    for line in commands("README.md"):
        assert main(shlex.split(line)[1:]) == 0, line
        for name in ("to_label.csv", "review.csv"):
            if line.endswith(name):
                fill_in(name, truth)
    finished = pd.read_csv("finished.csv")["label"]
    assert len(finished) == 4000
    assert np.mean(finished != truth) <= 0.05


@pytest.mark.slow
def test_the_commands_of_a_page_run(folder):
    lines = commands("docs/command_line.md")
    before = set(folder.iterdir())
    for line in lines:
        assert main(shlex.split(line)[1:]) == 0, line
    words = {word for line in lines for word in shlex.split(line)}
    named = {word for word in words if re.search(r"\.[a-z]", word)}
    made = {path.name for path in set(folder.iterdir()) - before}
    assert made == named - {path.name for path in before}
