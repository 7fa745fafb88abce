"""Mistakes and bad input: one line, an exit code, and no file left behind."""

import os
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hedgeclipper import VoteAggregator, save
from hedgeclipper.cli import main
from hedgeclipper.cli.output import ExitCode
from tests.command_line import cancer, crowd, fast, flowers

DATA, OUTPUT, MODEL, USAGE = ExitCode.DATA, ExitCode.OUTPUT, ExitCode.MODEL, ExitCode.USAGE
FIT = "fit rows.csv -t benign -m m.skops"


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    """Return the contents of tables, and of models of numbers, of strings and of votes."""
    folder = tmp_path_factory.mktemp("models")
    votes, gold = crowd()
    tables = {"rows": cancer(), "strings": flowers(), "votes": votes, "gold": gold[:40]}
    for name, frame in tables.items():
        frame.to_csv(folder / f"{name}.csv", index=False)
    for name, target in {"rows": "benign", "strings": "species"}.items():
        words = ["--target", target, "--model", str(folder / f"{name}.skops"), "-q"]
        assert main(fast(["fit", str(folder / f"{name}.csv"), *words])) == 0
    model = VoteAggregator().fit([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 1, -1, -1])
    save(model, folder / "votes.skops")
    (folder / "old.skops").write_bytes(b"old")
    (folder / "old.parquet").write_bytes(b"old")
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(autouse=True)
def _files(command, contents):
    for name, content in contents.items():
        Path(name).write_bytes(content)


def fails(command, line, code, *said):
    """Check that a command ends in one line, with a code, and that no file has come or gone."""
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    command(*(shlex.split(line) if isinstance(line, str) else line))
    assert command.code == code, command.err
    lines = command.err.splitlines()
    assert [line.startswith("error: ") for line in lines].count(True) == 1, command.err
    assert lines[-1].startswith("error: ")
    assert "Traceback" not in command.err
    for part in said:
        assert part in command.err
    after = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    assert after == before


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("fit none.csv -t y -m m.skops", DATA, "none.csv does not exist"),
        ("fit none/*.csv -t y -m m.skops", DATA, "No file matches 'none/*.csv'"),
        ("fit folder -t y -m m.skops", DATA, "folder has no data files in it"),
        ("fit rows.csv -t benigm -m m.skops", DATA, "Did you mean 'benign'?"),
        ("fit rows.csv -t xyz -m m.skops", DATA, "Name one of these."),
        ("fit rows.csv -m m.skops", USAGE, "Missing option '--target'"),
        ("fit rows.csv -t benign", USAGE, "Missing option"),
        ("fit rows.csv -t benign --model", USAGE, "requires an argument"),
        (f"{FIT} --unlabeled", USAGE, "requires an argument"),
        (f"{FIT} --drop benign", USAGE, "out of --drop"),
        (f"{FIT} --jobs 0", USAGE, "-1 for all cores. Got 0"),
        (f"{FIT} --metod x", USAGE, "No such option"),
        (f"{FIT} --estimators tree", USAGE, "tree"),
        (f"{FIT} --drop nine", DATA, "for --drop"),
        (f"{FIT} --unlabeled no.csv", DATA, "does not exist"),
        (f"{FIT} --sep ;;", USAGE, "must be one character, such as ';', or tab. Got ';;'."),
        (f"{FIT} --decimal x", USAGE, "'x' is not one of '.', ','"),
        (f"{FIT} --encoding klingon", USAGE, "such as latin-1 or utf-16. Got 'klingon'."),
        (f"{FIT} --report r.pdf", USAGE, "End it in .html or .htm."),
        (f"{FIT} --unlabeled ./rows.csv", USAGE, "is passed twice, as DATA and as --unlabeled"),
        ("fit rows.csv -t benign -m old.skops", OUTPUT, "Pass --force to replace it."),
        ("fit rows.csv -t benign -m .", OUTPUT, "is a folder"),
        ("fit rows.csv -t benign -m no/m.skops", OUTPUT, "Create the folder first"),
        ("fit rows.csv -t benign -m m.html --report m.html", USAGE, "output"),
        (f"{FIT} --confidence 95", USAGE, "must be between 0 and 1. Got 95.0."),
        (f"{FIT} --confidence 0", USAGE, "must be between 0 and 1. Got 0.0."),
        (f"{FIT} --confidence nan", USAGE, "must be between 0 and 1"),
        (f"{FIT} --confidence much", USAGE, "Invalid value for '--confidence'"),
        ("votes votes.csv --gold gold.csv --confidence 2", USAGE, "between 0 and 1. Got 2.0."),
        ("votes votes.csv --gold gold.csv --max-error 5", USAGE, "between 0 and 1. Got 5.0."),
        ("predict rows.skops rows.csv -o p.csv --max-error 0", USAGE, "0 and 1. Got 0.0."),
        ("predict rows.skops rows.csv -o p.xlsx", USAGE, "End it in .parquet or .csv"),
        ("predict rows.skops rows.csv -o old.parquet", OUTPUT, "exists already. Pass --force"),
        ("predict rows.skops rows.csv -o none/p.csv", OUTPUT, "Create the folder first"),
        ("evaluate rows.csv rows.csv", MODEL, "rows.csv is not a HedgeClipper model"),
        ("evaluate m.skops rows.csv", MODEL, "m.skops is not a file"),
        ("evaluate votes.skops rows.csv", MODEL, "is a model of votes, which this command does"),
        ("votes votes.csv --gold none.csv", DATA, "none.csv does not exist"),
        ("votes votes.csv --gold votes.csv", DATA, "must have two columns"),
        ("votes votes.csv --gold gold.csv --abstain cat", DATA, "cannot mean no vote"),
        ("guess", USAGE, "No such command 'guess'"),
    ],
)
def test_a_mistake_is_answered(command, line, code, said):
    Path("folder").mkdir()
    fails(command, line, code, said)


def bad(column, value):
    return cancer().astype({column: object}).assign(**{column: value})


ONE_CLASS = cancer().assign(benign=cancer()["benign"].where(cancer()["benign"] == 1))
NOTHING_OF_USE = cancer()[["benign"]].assign(a="same", b=None)
TABLES = {
    "one class": (ONE_CLASS, "are of one class, 1. Label some rows of another"),
    "none labeled": (bad("benign", pd.NA), "None of the 569 rows has a value in 'benign'"),
    "numbers": (bad("benign", np.linspace(0, 1, 569)), "has 569 different values on 569 labeled"),
    "a class each": (bad("benign", [f"row {k}" for k in range(569)]), "Only classes can be pred"),
    "no rows": (cancer()[:0], "has no rows. Pass a file with rows."),
    "nothing but the target": (cancer()[["benign"]], "has no column but the target"),
    "nothing of use": (NOTHING_OF_USE, "No column can be used"),
    "infinite": (cancer().replace(cancer().iloc[3, 1], 1e300), "too large"),
    "infinite among strings": (
        cancer().replace(cancer().iloc[3, 1], 1e300).assign(more=["word", 2] * 284 + [2]),
        "too large",
    ),
    "empty": (b"", "rows.csv is empty. Write a heading and rows"),
    "blank": (b"\n\n\n", "rows.csv is empty"),
    "UTF-16": ("a,benign\n1,0\n2,1\n".encode("utf-16-le"), "it may be UTF-16"),
    "no heading": (b"1.5,0\n2.5,1\n", "has no header row: its first line is 1.5,0"),
    "names": (b"a,a,benign\n1,2,0\n3,4,1\n", "has 2 columns with the name 'a'"),
    "ragged": (b"a,benign\n1,0\n2,1,3\n", "Correct that line"),
    "Latin": ("a,benign\nä,0\nö,1\n".encode("latin-1"), "its encoding, as in --encoding latin-1"),
    "heading in Latin": ("ä,benign\n1,0\n2,1\n".encode("latin-1"), "is not text in UTF-8"),
}


@pytest.mark.parametrize(("content", "said"), TABLES.values(), ids=TABLES.keys())
def test_tables_from_which_nothing_can_be_learned(command, content, said):
    if isinstance(content, bytes):
        Path("rows.csv").write_bytes(content)
    else:
        content.to_csv("rows.csv", index=False)
    fails(command, FIT, DATA, said)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("rows.parquet", "rows.parquet is damaged or cut short"),
        ("rows.xlsx", "rows.xlsx is damaged or cut short"),
        ("rows.pdf", "unknown suffix. Save it as CSV or Parquet"),
    ],
)
def test_files_that_are_no_tables(command, name, said):
    Path(name).write_bytes(b"a,benign\n1,0\n")
    fails(command, f"fit {name} -t benign -m m.skops", DATA, said)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_one_may_not_read(command):
    Path("rows.csv").chmod(0)
    assert command(*FIT.split()).code == DATA
    assert "may not be read" in command.err


@pytest.mark.parametrize(
    "line",
    [
        "fit rows.csv -t benign -m rows.csv",
        "fit rows.csv -t benign -m ./link.csv",
        f"{FIT} --report rows.csv",
        "fit rows.csv -t benign -m more.csv --unlabeled more.csv",
        "predict rows.skops rows.csv -o rows.csv",
        "votes votes.csv --gold gold.csv -o votes.csv",
        "votes votes.csv --gold gold.csv -o gold.csv",
    ],
)
def test_what_is_read_is_not_replaced_even_if_forced(command, line):
    Path("more.csv").write_bytes(Path("rows.csv").read_bytes())
    Path("link.csv").symlink_to("rows.csv")
    fails(command, f"{line} --force", USAGE, "is read by this command and cannot be written")


@pytest.mark.skipif(not Path("/sys").is_dir(), reason="there is no folder that nobody can write in")
def test_a_folder_that_cannot_be_written_in_is_found_at_once(command, monkeypatch):
    monkeypatch.setattr("hedgeclipper.cli.model_commands.read_training_rows", None)
    line = "fit rows.csv -t benign -m /sys/x.skops"
    fails(command, line, OUTPUT, "No file can be written in /sys")
    assert ".tmp" not in command.err


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            cancer().drop(columns=["mean_area"]),
            ["more.csv has no column 'mean_area'", "Add what is missing"],
        ),
        (bad("mean_area", "large"), ["'mean_area' of more.csv must hold numbers. Got type"]),
    ],
)
def test_unlabeled_rows_that_are_unlike_the_labeled_ones(command, rows, said):
    rows.to_csv("more.csv", index=False)
    fails(command, f"{FIT} --unlabeled more.csv", DATA, *said)


def test_a_model_that_was_cut_short(command, contents):
    Path("m.skops").write_bytes(contents["rows.skops"][:-1000])
    fails(command, "evaluate m.skops rows.csv", MODEL, "or is damaged")


@pytest.mark.parametrize(
    ("name", "column"), [("rows", "mean_area"), ("strings", "petal_length")], ids=["numbers", "all"]
)
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda frame, name: frame[:0], "new.csv has no rows. Pass a file with rows."),
        (lambda frame, name: frame.replace(frame.iloc[3, 2], np.inf), "leave the place empty"),
        (lambda frame, name: frame.drop(columns=name), "new.csv has no column '{}' for the model"),
        (lambda frame, name: frame.assign(**{name: "many"}), "Column '{}' ... must hold numbers"),
    ],
)
def test_rows_that_cannot_be_predicted(command, name, column, spoil, said):
    spoil(pd.read_csv(f"{name}.csv"), column).to_csv("new.csv", index=False)
    said = said.format(column).split(" ... ")
    fails(command, f"predict {name}.skops new.csv -o p.parquet -q", DATA, *said)


def test_a_failure_half_way_leaves_no_file(command):
    pd.concat([cancer()] * 120).to_csv("rows.csv", index=False)
    with Path("rows.csv").open("a") as file:
        file.write("1,2,3,4,5,large,\n")
    line = "predict rows.skops rows.csv -o p.parquet -q"
    fails(command, line, DATA, "Column 'mean_compactness'", "must hold numbers")


def test_a_file_is_replaced_if_forced(command):
    Path("p.csv").write_text("old")
    assert command("predict", "rows.skops", "rows.csv", "-o", "p.csv", "--force").code == 0
    assert len(pd.read_csv("p.csv")) == 569


LONG = "task,worker,label\n1,ann,cat\n1,ann,dog\n2,bob,cat\n"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("gold.csv", "item,truth\nx,cat\n", "votes.csv has no item 'x', which gold.csv has lab"),
        ("gold.csv", "item,truth\n1000,cat\n1000,dog\n", "has different labels for item '1000'"),
        ("gold.csv", "item,truth\n1000,\n", "has no gold label"),
        ("votes.csv", "item,a,b\n1000,cat,dog\n1000,cat,cat\n", "one row with the item '1000'"),
        ("votes.csv", LONG, "Worker 'ann' votes more than once on task '1'"),
    ],
)
def test_votes_that_cannot_be_counted(command, name, content, said):
    Path(name).write_text(content)
    if content is LONG:
        Path("gold.csv").write_text("task,label\n1,cat\n2,dog\n")
    fails(command, "votes votes.csv --gold gold.csv -o labels.csv", DATA, said)


def test_debug_shows_where_an_error_comes_from(command):
    assert command("fit", "none.csv", "-t", "y", "-m", "m.skops", "--debug").code == DATA
    assert "Traceback (most recent call last)" in command.err
    assert command.err.splitlines()[-1].startswith("error: none.csv does not exist")


def test_what_should_not_happen_is_one_line_too(command, monkeypatch):
    def broken(*arguments, **options):
        raise RuntimeError("a bug")

    monkeypatch.setattr("hedgeclipper.cli.model_commands.read_training_rows", broken)
    fails(command, FIT, ExitCode.UNEXPECTED, "RuntimeError: a bug", "--debug")


def test_wrong_usage_is_json_too(command):
    command("fit", "rows.csv", "--json")
    assert command.result["exit_code"] == command.code == USAGE
    assert "Missing option" in command.result["error"]
