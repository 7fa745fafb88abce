import pandas as pd
import pytest

from hedgeclipper import draw_sample
from hedgeclipper.cli.output import ExitCode
from tests.command_line import flowers


@pytest.fixture
def rows():
    flowers().to_csv("rows.csv", index=False)


def test_a_sample_is_the_draw_of_python(command, rows):
    command("sample", "rows.csv", "-n", 20, "-t", "species", "-o", "to_label.csv", "--seed", 5)
    frame = pd.read_csv("to_label.csv")
    known = flowers()["species"].notna().to_numpy()
    sample = draw_sample(150, 20, seed=5, excluded=known)
    assert frame["row"].tolist() == sample.rows.tolist()
    assert frame["position"].tolist() == list(range(1, 21))
    assert frame["note"].tolist() == [f"flower {row}" for row in sample.rows]
    assert frame["species"].isna().all()
    assert "20 of 90 rows, drawn at random with seed 5 (60 more rows had a label" in command.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-n", 151], "151 rows cannot be drawn from rows.csv: there are 150 rows"),
        (["-n", 0], "at least 1"),
        (["-n", 91, "-t", "species"], "there are 90 rows without a label in 'species'"),
        (["-n", 5, "-t", "kind"], "has no column 'kind'"),
        (
            ["-n", 5, "-t", "species", "--extend", "rows.csv"],
            "is no sample of `hedgeclipper sample`",
        ),
    ],
)
def test_what_cannot_be_drawn(command, rows, words, message):
    command("sample", "rows.csv", "-o", "to_label.csv", *words)
    assert command.code in (ExitCode.DATA, ExitCode.USAGE)
    assert message in command.err


def test_columns_that_are_written_here(command):
    flowers().assign(label=1).to_csv("rows.csv", index=False)
    command("sample", "rows.csv", "-n", 5, "-o", "to_label.csv")
    assert "Pass --target label if these are labels" in command.err
    flowers().assign(row=1).to_csv("rows.csv", index=False)
    command("sample", "rows.csv", "-n", 5, "-o", "to_label.csv")
    assert "has a column 'row' itself" in command.err
