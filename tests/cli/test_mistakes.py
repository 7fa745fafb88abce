"""Mistakes at the command line are answered by what is wrong and what to do."""

import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.command_line import fast

# what is typed, and what is answered; a note does not stop the command
MISTAKES = [
    (
        "fit rows.csv -t Income -m m.skops",
        "rows.csv has no column 'Income' for --target. ... Did you mean 'income'?",
    ),
    (
        "fit rows.csv -t age -m m.skops",
        "Only classes can be predicted: name another column, or make classes of it",
    ),
    (
        "fit row.csv -t income -m m.skops",
        "row.csv does not exist. Pass the path of a file or a folder.",
    ),
    (
        "fit rows.csv -t income -m m.skops --unlabeled fewer.csv",
        "fewer.csv has no column 'age' for the unlabeled rows.",
    ),
    ("fit rows.csv -t income -m m.skops --confidence 95", "must be between 0 and 1. Got 95.0."),
    (
        "fit no_labels.csv -t income -m m.skops",
        "None of the 60 rows has a value in 'income'. Label some rows of each class.",
    ),
    (
        "fit labeled.csv -t income -m m.skops",
        "note: All rows are labeled ... pass --unlabeled, or rows whose target is empty.",
    ),
    ("fit ragged.csv -t income -m m.skops", "ragged.csv cannot be read ... Correct that line"),
    (
        "fit latin.csv -t income -m m.skops",
        "is not text in UTF-8. ... or name its encoding, as in --encoding latin-1.",
    ),
    (
        "fit ids.csv -t income -m m.skops",
        "note: Column 'customer_id' is left out ... Pass --keep 'customer_id' to use it.",
    ),
    (
        "fit dates.csv -t income -m m.skops",
        "note: Column 'since': 01/02/2020 ... is read with the day first.",
    ),
    (
        "fit rows.csv --labels labels.csv -t income -m m.skops",
        "labels.csv does not say which rows it is about ... with --key.",
    ),
    (
        "predict model.skops words.csv -o p.csv",
        "Column 'age' must hold numbers, as in the rows the model was fitted to",
    ),
]


def people(n_rows=60):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 90, n_rows)})
    frame["city"] = rng.choice(["Ulm", "Bern"], n_rows)
    frame["income"] = np.where(frame["age"] > 50, "high", "low")
    return frame


def write(folder, **frames):
    for name, frame in frames.items():
        frame.to_csv(folder / f"{name}.csv", index=False)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return a folder with files to make mistakes with, and a model."""
    from hedgeclipper import HedgeClipperClassifier
    from hedgeclipper.cli import main

    folder = tmp_path_factory.mktemp("mistakes")
    labeled, rows = people(), people()
    rows.loc[40:, "income"] = None
    more = labeled[40:].drop(columns="income")
    write(folder, rows=rows, labeled=labeled, more=more, fewer=more.drop(columns="age"))
    write(folder, words=more.assign(age="old"), elsewhere=rows[:40].assign(city="Oslo"))
    write(folder, one_class=rows.assign(income=rows["income"].where(rows["income"].isna(), "high")))
    write(folder, no_labels=rows.assign(income=None), labels=labeled[["income"]].assign(n=1))
    (folder / "empty.csv").touch()
    (folder / "no_heading.csv").write_text("31,0\n40,1\n")
    (folder / "twice.csv").write_text("age,age,income\n1,2,low\n3,4,high\n")
    (folder / "ragged.csv").write_text("age,income\n1,low\n2,high,3\n")
    latin = labeled.assign(city=labeled["city"].replace("Ulm", "Köln"))
    latin.to_csv(folder / "latin.csv", index=False, encoding="latin-1")
    (folder / "rows.docx").touch()
    rows.assign(size=1.5 + rows["age"] / 7).to_csv(
        folder / "semicolons.csv", sep=";", decimal=",", index=False
    )
    shuffled = np.random.default_rng(1).permutation(60)
    write(folder, ids=rows.assign(customer_id=shuffled * 3))
    write(folder, codes=rows.assign(customer=[f"C{k}" for k in shuffled]))
    index = rows.copy()
    index.insert(0, "Unnamed: 0", shuffled)
    spelled = rows.copy()
    spelled.loc[spelled.index[spelled["income"] == "high"][:3], "income"] = "High"
    write(folder, index=index, spelled=spelled, marked=rows.fillna("unknown"))
    write(folder, dates=rows.assign(since=["01/02/2020", "03/04/2021"] * 30))
    defaults = HedgeClipperClassifier.__init__.__kwdefaults__
    n_estimators, defaults["n_estimators"] = defaults["n_estimators"], 12
    words = ["-t", "income", "-m", str(folder / "model.skops"), "-q"]
    assert main(fast(["fit", str(folder / "rows.csv"), *words])) == 0
    defaults["n_estimators"] = n_estimators
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(("typed", "answer"), MISTAKES, ids=[typed for typed, _ in MISTAKES])
def test_a_mistake_is_answered(command, files, typed, answer):
    for name, content in files.items():
        Path(name).write_bytes(content)
    command(*shlex.split(typed))
    assert (command.code == 0) == answer.startswith("note: "), command.err
    said = " ".join(command.err.split())
    place = 0
    for part in answer.split("..."):
        place = said.find(part.strip(), place)
        assert place >= 0, f"{part!r} is not in: {said}"
