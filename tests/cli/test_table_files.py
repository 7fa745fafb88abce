from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hedgeclipper.cli.output import CommandError
from hedgeclipper.cli.table_files import Files, row_names
from tests.command_line import cancer


def test_unlabeled_files_in_several_places(command):
    frame = cancer()
    known = frame["benign"].notna()
    frame[known].to_parquet("labeled.parquet")
    Path("more").mkdir()
    for number, part in enumerate(np.array_split(np.flatnonzero(~known), 3)):
        frame.iloc[part, :6].to_parquet(f"more/{number}.parquet")
    words = ("fit", "labeled.parquet", "--target", "benign", "--model", "m.skops", "--json", "-f")
    for where in (["more"], ["more/*.parquet"], ["more/0.parquet", "more/1.parquet"]):
        command(*words, "--unlabeled", *where)
        assert command.code == 0
        expected = 469 if len(where) == 1 else 313
        assert command.result["n_unlabeled"] == expected


def test_all_files_are_named_with_the_rows_of_all(command):
    frame = cancer()
    frame[:400].to_csv("rows.csv", index=False)
    frame[400:].drop(columns="benign").to_csv("more.csv", index=False)
    command("fit", "rows.csv", "-t", "benign", "-m", "m.skops", "--unlabeled", "more.csv")
    assert "rows.csv and more.csv: 569 rows" in command.out


def written(folder, **tables):
    for name, columns in tables.items():
        pd.DataFrame(columns).to_csv(folder / f"{name}.csv", index=False)
    return Files.find([str(folder)])


def test_files_with_the_same_columns_are_one_table(tmp_path):
    files = written(tmp_path, a={"x": [1, 2], "y": ["p", "?"]}, b={"y": ["q"], "x": [3]})
    assert files.names == ["x", "y"]
    assert files.place == f"{tmp_path / 'a.csv'} and 1 more"
    assert files.hold_numbers(["x"])
    assert not files.hold_numbers(["x", "y"])
    assert files.frame()["x"].tolist() == [1, 2, 3]
    assert files.frame()["y"].isna().tolist() == [False, True, False]


def test_rows_are_named_by_file_and_line(tmp_path):
    files = written(tmp_path, a={"x": [1, 2]}, b={"x": [3]})
    files.frame()
    names = [f"{tmp_path / 'a.csv'}:2", f"{tmp_path / 'a.csv'}:3", f"{tmp_path / 'b.csv'}:2"]
    assert row_names([files], np.arange(3)) == names


def test_a_column_that_is_not_there(tmp_path):
    files = written(tmp_path, a={"income": [1], "age": [2]})
    files.require(["age"], "--target")
    with pytest.raises(CommandError, match=r"no column 'incone' for --target.*mean 'income'\?"):
        files.require(["incone"], "--target")


def test_other_columns_in_another_file(tmp_path):
    with pytest.raises(CommandError, match=r"b\.csv has other columns than .*a\.csv: 'x', 'z'"):
        written(tmp_path, a={"x": [1]}, b={"z": [1]})


def test_two_columns_of_one_name(tmp_path):
    (tmp_path / "a.csv").write_text("x,x\n1,2\n")
    with pytest.raises(CommandError, match=r"a\.csv has more than one column with the name 'x'"):
        Files.find([str(tmp_path)])


def test_files_without_rows(tmp_path):
    with pytest.raises(CommandError, match=r"a\.csv has no rows"):
        written(tmp_path, a={"x": []}).frame()
    (tmp_path / "a.csv").write_text("")
    with pytest.raises(CommandError, match=r"a\.csv is empty"):
        Files.find([str(tmp_path)])
