"""Twenty and more kinds of bad input: one line, an exit code, and no file left behind."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hedgeclipper import VoteAggregator, save
from hedgeclipper.cli.output import ExitCode
from tests.command_line import cancer, crowd, fast, flowers

DATA, OUTPUT, MODEL, USAGE = ExitCode.DATA, ExitCode.OUTPUT, ExitCode.MODEL, ExitCode.USAGE


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Return the contents of a model of numbers, one of strings, and one of votes."""
    from hedgeclipper.cli import main

    folder = tmp_path_factory.mktemp("models")
    cancer().to_csv(folder / "numbers.csv", index=False)
    flowers().to_csv(folder / "strings.csv", index=False)
    for name, target in {"numbers": "benign", "strings": "species"}.items():
        words = ["--target", target, "--model", str(folder / f"{name}.skops"), "-q"]
        assert main(fast(["fit", str(folder / f"{name}.csv"), *words])) == 0
    model = VoteAggregator().fit([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 1, -1, -1])
    save(model, folder / "votes.skops")
    return {path.stem: path.read_bytes() for path in folder.glob("*.skops")}


def fails(command, words, code, *said):
    """Check that a command ends in one line, with a code, and that no file has come or gone."""
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    command(*words)
    assert command.code == code, command.err
    lines = command.err.splitlines()
    assert [line.startswith("error: ") for line in lines].count(True) == 1, command.err
    assert lines[-1].startswith("error: ")
    assert "Traceback" not in command.err
    for part in said:
        assert part in command.err
    after = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    assert after == before


def frame_with(**columns):
    return cancer().assign(**columns)


def one_class(frame):
    return frame.assign(benign=frame["benign"].where(frame["benign"] == 1))


TABLES = {
    "one class": (one_class(cancer()), "are of one class, 1. Label some rows of another"),
    "none labeled": (frame_with(benign=pd.NA), "None of the 569 rows has a value in 'benign'"),
    "measured target": (
        frame_with(benign=np.linspace(0, 1, 569)),
        "has 569 different values on 569 labeled rows",
    ),
    "a class for each row": (
        frame_with(benign=[f"row {k}" for k in range(569)]),
        "Only classes can be predicted",
    ),
    "no rows": (cancer()[:0], "has no rows. Pass a file with rows."),
    "nothing but the target": (cancer()[["benign"]], "has no column but the target"),
    "nothing of use": (
        cancer()[["benign"]].assign(a="same", b=None),
        "No column can be used",
    ),
}


@pytest.mark.parametrize(("frame", "said"), TABLES.values(), ids=TABLES.keys())
def test_tables_from_which_nothing_can_be_learned(command, frame, said):
    frame.to_csv("rows.csv", index=False)
    fails(command, ("fit", "rows.csv", "--target", "benign", "--model", "m.skops"), DATA, said)


FILES = {
    "empty": ("rows.csv", b"", "rows.csv is empty. Write a heading and rows"),
    "blank": ("rows.csv", b"\n\n\n", "rows.csv is empty"),
    "UTF-16": ("rows.csv", "a,y\n1,0\n2,1\n".encode("utf-16-le"), "it may be UTF-16"),
    "no heading": ("rows.csv", b"1.5,0\n2.5,1\n", "has no header row: its first line is 1.5,0"),
    "duplicate names": ("rows.csv", b"a,a,y\n1,2,0\n3,4,1\n", "has 2 columns with the name 'a'"),
    "ragged": ("rows.csv", b"a,y\n1,0\n2,1,3\n", "rows.csv cannot be read"),
    "not UTF-8": ("rows.csv", "a,y\nä,0\nö,1\n".encode("latin-1"), "is not text in UTF-8"),
    "not UTF-8 heading": ("rows.csv", "ä,y\n1,0\n2,1\n".encode("latin-1"), "UTF-8"),
    "no Parquet": ("rows.parquet", b"a,y\n1,0\n", "rows.parquet is damaged or cut short"),
    "no Excel": ("rows.xlsx", b"a,y\n1,0\n", "rows.xlsx is damaged or cut short"),
    "unknown suffix": ("rows.pdf", b"a,y\n1,0\n", "unknown suffix. Save it as CSV or Parquet"),
}


@pytest.mark.parametrize(("name", "content", "said"), FILES.values(), ids=FILES.keys())
def test_files_that_are_no_tables(command, name, content, said):
    Path(name).write_bytes(content)
    fails(command, ("fit", name, "--target", "y", "--model", "m.skops"), DATA, said)


def test_a_file_that_is_missing(command):
    words = ("fit", "none.csv", "--target", "y", "--model", "m.skops")
    fails(command, words, DATA, "none.csv does not exist")


def test_a_pattern_that_nothing_matches(command):
    words = ("fit", "none/*.csv", "--target", "y", "--model", "m.skops")
    fails(command, words, DATA, "No file matches 'none/*.csv'")


def test_a_folder_without_tables(command):
    Path("folder").mkdir()
    words = ("fit", "folder", "--target", "y", "--model", "m.skops")
    fails(command, words, DATA, "folder has no data files in it")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_one_may_not_read(command):
    cancer().to_csv("rows.csv", index=False)
    Path("rows.csv").chmod(0)
    command("fit", "rows.csv", "--target", "benign", "--model", "m.skops")
    assert command.code == DATA
    assert "may not be read" in command.err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--target", "benigm", "--model", "m.skops"], DATA, "Did you mean 'benign'?"),
        (["--target", "xyz", "--model", "m.skops"], DATA, "Name one of these."),
        (["--model", "m.skops"], USAGE, "Missing option '--target'"),
        (["--target", "benign"], USAGE, "Missing option"),
        (["--target", "benign", "--model"], USAGE, "requires an argument"),
        (["--target", "benign", "--model", "m", "--unlabeled"], USAGE, "requires an argument"),
        (["--target", "benign", "--model", "m", "--drop", "benign"], USAGE, "out of --drop"),
        (["--target", "benign", "--model", "m", "--jobs", "0"], USAGE, "-1 for all cores. Got 0"),
        (["--target", "benign", "--model", "m", "--metod", "x"], USAGE, "No such option"),
        (["--target", "benign", "--model", "m", "--estimators", "tree"], USAGE, "tree"),
        (["--target", "benign", "--model", "m", "--drop", "nine"], DATA, "for --drop"),
        (["--target", "benign", "--model", "m", "--unlabeled", "no.csv"], DATA, "does not exist"),
        (["--target", "benign", "--model", "old.skops"], OUTPUT, "Pass --force to replace it."),
        (["--target", "benign", "--model", "."], OUTPUT, "is a folder"),
        (["--target", "benign", "--model", "no/m.skops"], OUTPUT, "Create the folder first"),
        (
            ["--target", "benign", "--model", "m", "--report", "m.html", "-m", "m.html"],
            USAGE,
            "output",
        ),
    ],
)
def test_wrong_options_of_fit(command, words, code, said):
    cancer().to_csv("rows.csv", index=False)
    Path("old.skops").write_bytes(b"old")
    fails(command, ("fit", "rows.csv", *words), code, said)


LEVELS = {
    "level above 1": (["--confidence", "2"], "must be between 0 and 1. Got 2.0."),
    "level of 0": (["--confidence", "0"], "must be between 0 and 1. Got 0.0."),
    "no number": (["--confidence", "much"], "Invalid value for '--confidence'"),
    "not a number": (["--confidence", "nan"], "must be between 0 and 1"),
}
MAX_ERRORS = {
    "percent": (["--max-error", "5"], "must be between 0 and 1. Got 5.0."),
    "no errors": (["--max-error", "0"], "must be between 0 and 1. Got 0.0."),
}


@pytest.mark.parametrize(("words", "said"), LEVELS.values(), ids=LEVELS.keys())
@pytest.mark.parametrize("name", ["fit", "votes"])
def test_levels_that_make_no_guarantee(command, name, words, said):
    cancer().to_csv("rows.csv", index=False)
    options = ["--target", "benign", "-m", "m.skops"] if name == "fit" else ["--gold", "rows.csv"]
    fails(command, (name, "rows.csv", *options, *words), USAGE, said)


@pytest.mark.parametrize(("words", "said"), MAX_ERRORS.values(), ids=MAX_ERRORS.keys())
@pytest.mark.parametrize("name", ["predict", "votes"])
def test_errors_that_cannot_be_the_most(command, name, words, said):
    options = ["m.skops", "-o", "p.csv"] if name == "predict" else ["--gold", "rows.csv"]
    fails(command, (name, *options, "rows.csv", *words), USAGE, said)


@pytest.mark.parametrize(
    "words",
    [
        ("fit", "rows.csv", "-t", "benign", "-m", "rows.csv"),
        ("fit", "rows.csv", "-t", "benign", "-m", "./link.csv"),
        ("fit", "rows.csv", "-t", "benign", "-m", "new.skops", "--report", "rows.csv"),
        ("fit", "rows.csv", "-t", "benign", "-m", "more.csv", "--unlabeled", "more.csv"),
        ("predict", "m.skops", "rows.csv", "-o", "rows.csv"),
        ("votes", "votes.csv", "--gold", "gold.csv", "-o", "votes.csv"),
        ("votes", "votes.csv", "--gold", "gold.csv", "-o", "gold.csv"),
    ],
)
def test_what_is_read_is_not_replaced_even_if_forced(command, models, words):
    cancer().to_csv("rows.csv", index=False)
    cancer().to_csv("more.csv", index=False)
    Path("link.csv").symlink_to("rows.csv")
    Path("m.skops").write_bytes(models["numbers"])
    for frame, name in zip(crowd(), ("votes.csv", "gold.csv"), strict=True):
        frame.to_csv(name, index=False)
    fails(command, (*words, "--force"), USAGE, "is read by this command and cannot be written")


@pytest.mark.skipif(not Path("/sys").is_dir(), reason="there is no folder that nobody can write in")
def test_a_folder_that_cannot_be_written_in_is_found_at_once(command, monkeypatch):
    monkeypatch.setattr("hedgeclipper.cli.model_commands.read_training_rows", None)
    cancer().to_csv("rows.csv", index=False)
    words = ("fit", "rows.csv", "--target", "benign", "--model", "/sys/x.skops")
    fails(command, words, OUTPUT, "No file can be written in /sys")
    assert ".tmp" not in command.err


def test_unlabeled_rows_without_a_column(command):
    cancer().to_csv("rows.csv", index=False)
    cancer().drop(columns=["mean_area"]).to_csv("more.csv", index=False)
    words = ("--target", "benign", "--unlabeled", "more.csv", "--model", "m.skops")
    said = "more.csv has no column 'mean_area'", "Add what is missing"
    fails(command, ("fit", "rows.csv", *words), DATA, *said)


def test_unlabeled_rows_with_strings_in_place_of_numbers(command):
    cancer().to_csv("rows.csv", index=False)
    cancer().assign(mean_area="large").to_csv("more.csv", index=False)
    words = ("--target", "benign", "--unlabeled", "more.csv", "--model", "m.skops")
    said = "Column 'mean_area' of more.csv must hold numbers. Got type"
    fails(command, ("fit", "rows.csv", *words), DATA, said)


@pytest.mark.parametrize("word", [1, "word"])
def test_an_infinite_number(command, word):
    frame = cancer().assign(more=[word, 2] * 284 + [2])
    frame.loc[3, "mean_area"] = 1e300
    frame.to_parquet("rows.parquet") if word == 1 else frame.to_csv("rows.csv", index=False)
    words = ("fit", f"rows.{'parquet' if word == 1 else 'csv'}", "--target", "benign")
    fails(command, (*words, "--model", "m.skops"), DATA, "too large")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"hello", "m.skops is not a HedgeClipper model"),
        (None, "m.skops is not a file"),
        ("cut", "or is damaged"),
        ("votes", "is a model of votes, which this command does not take"),
    ],
)
def test_models_that_are_none(command, models, content, said):
    cancer().to_csv("rows.csv", index=False)
    if content == "cut":
        content = models["numbers"][:-1000]
    if content is not None:
        Path("m.skops").write_bytes(models.get(content, content))
    fails(command, ("evaluate", "m.skops", "rows.csv"), MODEL, said)


@pytest.mark.parametrize("name", ["numbers", "strings"])
@pytest.mark.parametrize("words", [("predict", "-o", "p.parquet"), ("evaluate",)])
def test_rows_without_a_column_of_the_model(command, models, name, words):
    Path("m.skops").write_bytes(models[name])
    column = {"numbers": "mean_area", "strings": "color"}[name]
    frame = {"numbers": cancer, "strings": flowers}[name]()
    frame.drop(columns=column).to_csv("rows.csv", index=False)
    words = (words[0], "m.skops", "rows.csv", *words[1:])
    fails(command, words, DATA, f"rows.csv has no column {column!r} for the model")


@pytest.mark.parametrize("name", ["numbers", "strings"])
def test_predictions_for_strings_in_a_column_of_numbers(command, models, name):
    Path("m.skops").write_bytes(models[name])
    column = {"numbers": "mean_area", "strings": "petal_length"}[name]
    frame = {"numbers": cancer, "strings": flowers}[name]()
    frame.assign(**{column: "many"}).to_csv("rows.csv", index=False)
    words = ("predict", "m.skops", "rows.csv", "-o", "p.parquet", "-q")
    fails(command, words, DATA, f"Column {column!r}", "must hold numbers")


@pytest.mark.parametrize("name", ["numbers", "strings"])
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda frame: frame[:0], "rows.csv has no rows. Pass a file with rows."),
        (lambda frame: frame.replace(frame.iloc[3, 1], np.inf), "leave the place empty"),
    ],
)
def test_predictions_for_no_rows_or_infinite_ones(command, models, name, spoil, said):
    Path("m.skops").write_bytes(models[name])
    spoil({"numbers": cancer, "strings": flowers}[name]()).to_csv("rows.csv", index=False)
    fails(command, ("predict", "m.skops", "rows.csv", "-o", "p.parquet", "-q"), DATA, said)


@pytest.mark.parametrize(
    ("to", "code", "said"),
    [
        ("p.xlsx", USAGE, "End it in .parquet or .csv"),
        ("old.parquet", OUTPUT, "old.parquet exists already. Pass --force"),
        ("none/p.parquet", OUTPUT, "Create the folder first"),
    ],
)
def test_outputs_that_cannot_be_written(command, models, to, code, said):
    Path("m.skops").write_bytes(models["numbers"])
    Path("old.parquet").write_bytes(b"old")
    cancer().to_csv("rows.csv", index=False)
    fails(command, ("predict", "m.skops", "rows.csv", "-o", to), code, said)


def test_a_failure_half_way_leaves_no_file(command, models):
    Path("m.skops").write_bytes(models["numbers"])
    many = pd.concat([cancer()] * 120, ignore_index=True)
    many.to_csv("rows.csv", index=False)
    with Path("rows.csv").open("a") as file:
        file.write("1,2,3,4,5,large,\n")
    words = ("predict", "m.skops", "rows.csv", "-o", "p.parquet", "-q")
    fails(command, words, DATA, "Column 'mean_compactness'", "must hold numbers")


def test_a_file_is_replaced_if_forced(command, models):
    Path("m.skops").write_bytes(models["numbers"])
    Path("p.csv").write_text("old")
    cancer().to_csv("rows.csv", index=False)
    assert command("predict", "m.skops", "rows.csv", "-o", "p.csv", "--force").code == 0
    assert len(pd.read_csv("p.csv")) == 569


VOTES = {
    "no gold": (["--gold", "none.csv"], "none.csv does not exist"),
    "gold of three columns": (["--gold", "votes.csv"], "must have two columns"),
    "other keys": (
        ["--gold", "strangers.csv"],
        "votes.csv has no item 'x', which strangers.csv has labels of",
    ),
    "two truths": (["--gold", "twice.csv"], "has different labels for item '1000'"),
    "empty gold": (["--gold", "unknown.csv"], "has no gold label"),
    "abstaining is a class": (["--gold", "gold.csv", "--abstain", "cat"], "cannot mean no vote"),
}


@pytest.mark.parametrize(("words", "said"), VOTES.values(), ids=VOTES.keys())
def test_votes_that_cannot_be_counted(command, words, said):
    votes, gold = crowd()
    votes.to_csv("votes.csv", index=False)
    gold[:40].to_csv("gold.csv", index=False)
    gold.assign(item="x")[:1].to_csv("strangers.csv", index=False)
    pd.DataFrame({"item": [1000, 1000], "truth": ["cat", "dog"]}).to_csv("twice.csv", index=False)
    gold.assign(truth=None)[:5].to_csv("unknown.csv", index=False)
    fails(command, ("votes", "votes.csv", *words, "-o", "labels.csv"), DATA, said)


def test_votes_on_the_same_key_twice(command):
    votes, gold = crowd()
    pd.concat([votes, votes[:1]]).to_csv("votes.csv", index=False)
    gold[:40].to_csv("gold.csv", index=False)
    words = ("votes", "votes.csv", "--gold", "gold.csv")
    fails(command, words, DATA, "more than one row with the item '1000'")


def test_votes_and_a_worker_who_is_not_sure(command):
    lines = ["task,worker,label", "1,ann,cat", "1,ann,dog", "2,bob,cat"]
    Path("votes.csv").write_text("\n".join(lines))
    Path("gold.csv").write_text("task,label\n1,cat\n2,dog\n")
    words = ("votes", "votes.csv", "--gold", "gold.csv")
    fails(command, words, DATA, "Worker 'ann' votes more than once on task '1'")


def test_debug_shows_where_an_error_comes_from(command):
    command("fit", "none.csv", "--target", "y", "--model", "m.skops", "--debug")
    assert command.code == DATA
    assert "Traceback (most recent call last)" in command.err
    assert command.err.splitlines()[-1].startswith("error: none.csv does not exist")


def test_what_should_not_happen_is_one_line_too(command, monkeypatch):
    cancer().to_csv("rows.csv", index=False)

    def broken(*arguments, **options):
        raise RuntimeError("a bug")

    monkeypatch.setattr("hedgeclipper.cli.model_commands.read_training_rows", broken)
    words = ("fit", "rows.csv", "--target", "benign", "--model", "m.skops")
    fails(command, words, ExitCode.UNEXPECTED, "RuntimeError: a bug", "--debug")


def test_an_unknown_command(command):
    fails(command, ("guess",), USAGE, "No such command 'guess'", "See hedgeclipper --help.")


def test_wrong_usage_is_json_too(command):
    command("fit", "rows.csv", "--json")
    assert command.result["exit_code"] == command.code == USAGE
    assert "Missing option" in command.result["error"]
