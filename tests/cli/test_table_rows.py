import pandas as pd
import pytest

import hedgeclipper
from hedgeclipper.cli.output import Output
from hedgeclipper.cli.table_files import Files
from hedgeclipper.cli.table_labels import Roles
from hedgeclipper.cli.table_rows import read_rows
from tests.command_line import cancer, flowers


def test_strings_in_unlabeled_rows_count_too(command):
    frame = flowers()
    known = frame["species"].notna()
    frame.loc[~known, "color"] = "violet"
    frame[known].to_csv("rows.csv", index=False)
    frame[~known].drop(columns="species").to_csv("more.csv", index=False)
    command(
        *("fit", "rows.csv", "--target", "species", "--unlabeled", "more.csv"),
        *("--model", "m.skops", "--drop", "note", "--drop", "planet"),
    )
    assert command.code == 0
    columns = hedgeclipper.load("m.skops")["columns"]
    assert "color_violet" in columns.get_feature_names_out()
    assert "note" not in [plan.name for plan in columns.plans_]


def test_a_column_of_numbers_with_strings_further_down(command):
    frame = cancer()
    frame["mean_area"] = frame["mean_area"].astype(object)
    frame.loc[500, "mean_area"] = "large"
    many = pd.concat([frame] * 60, ignore_index=True)
    many.loc[: 500 + 569 * 58, "mean_area"] = 1.0
    many.to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "--target", "benign", "--model", "m.skops", "--json")
    assert command.code == 0
    assert command.result["in_memory"] is True


def test_a_question_mark_is_a_missing_number(command):
    frame = cancer().astype(object)
    frame.loc[7, "mean_area"] = "?"
    frame.to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "--target", "benign", "--model", "m.skops", "--json")
    column = next(c for c in command.result["columns"] if c["name"] == "mean_area")
    assert column["kind"] == "numbers"
    assert "1 missing" in column["what"]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_rows_of_numbers_come_in_batches_and_are_named(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "y": [0, None, 1]})
    frame.to_csv(path, index=False) if suffix == ".csv" else frame.to_parquet(path)
    rows = read_rows([Files.find([str(path)])], Roles("y"), Output(quiet=True))
    assert not rows.in_memory
    assert rows.X["a"].tolist() == [1.0, 3.0]
    assert rows.y.tolist() == [0, 1]
    assert [batch.tolist() for batch in rows.X_unlabeled()] == [[[2.0]]]
    sample, names = rows.sample(10)
    assert sample["a"].tolist() == [2.0]
    assert names == [f"{path}:{3 if suffix == '.csv' else 2}"]
