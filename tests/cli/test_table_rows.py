import numpy as np
import pandas as pd
import pytest

import hedgeclipper
from hedgeclipper.cli.output import CommandError, Output
from hedgeclipper.cli.table_files import Files
from hedgeclipper.cli.table_rows import as_classes, check_classes, read_rows
from tests.command_line import cancer, flowers


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (["yes", "no"], "str"),
        ([7, -1], "i"),
        ([True, False], "b"),
        (["0.5", "1.5"], "str"),
        ([0.5, 1.5], "str"),
        (["007", "01"], "str"),
    ],
)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_target_may_be_anything(command, labels, kind, suffix):
    frame = cancer()
    known = frame["benign"].notna()
    target = frame["benign"].map({0: labels[0], 1: labels[1]}).astype(object)
    frame["benign"] = target.where(known, None).convert_dtypes()
    name = f"rows.{suffix}"
    frame.to_csv(name, index=False) if suffix == "csv" else frame.to_parquet(name)
    command("fit", name, "--target", "benign", "--model", "m.skops", "-q")
    assert command.code == 0, command.err
    command("predict", "m.skops", name, "-o", "p.parquet", "-q")
    predicted = pd.read_parquet("p.parquet")["prediction"]
    assert (
        pd.api.types.is_string_dtype(predicted) if kind == "str" else predicted.dtype.kind == kind
    )
    assert set(predicted) == ({str(label) for label in labels} if kind == "str" else set(labels))


@pytest.mark.parametrize("word", ["word", 1])
def test_strings_of_the_target_that_are_taken_as_missing_are_named(command, word):
    frame = cancer().assign(more=[word, 2] * 284 + [2])
    frame["benign"] = frame["benign"].map({0: " no", 1: "yes "}).astype(object)
    frame.loc[frame.index[frame["benign"].isna()][:6], "benign"] = ["NA"] * 3 + ["?", " ", ""]
    frame.to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "--target", "benign", "--model", "m.skops", "--json")
    assert command.code == 0, command.err
    assert command.result["classes"].keys() == {"no", "yes"}
    assert command.result["n_labeled"] == 100
    assert command.result["notes"] == [
        "Taken as missing in 'benign': 'NA' (3), '?' (1). Write it otherwise if it is a class."
    ]


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


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["TRUE", "false"], [True, False]),
        ([1.0, 2.0], [1, 2]),
        ([0.5, 1.0], ["0.5", "1.0"]),
        ([1, "one"], ["1", "one"]),
        (["yes", "true"], ["yes", "true"]),
    ],
)
def test_labels_become_classes_that_classifiers_take(labels, classes):
    assert as_classes(labels).tolist() == classes


def test_numbers_are_booleans_where_the_column_is():
    assert as_classes([1.0, 0.0], are_boolean=True).tolist() == [True, False]


def test_classes_are_counted():
    assert check_classes(np.array(["b", "a", "b"]), 10, "'y'") == {"a": 1, "b": 2}
    with pytest.raises(CommandError, match="All 2 labeled rows are of one class, 'a'"):
        check_classes(np.array(["a", "a"]), 10, "'y'")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_rows_of_numbers_come_in_batches_and_are_named(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "y": [0, None, 1]})
    frame.to_csv(path, index=False) if suffix == ".csv" else frame.to_parquet(path)
    rows = read_rows([Files.find([str(path)])], "y", Output(quiet=True))
    assert not rows.in_memory
    assert rows.X["a"].tolist() == [1.0, 3.0]
    assert rows.y.tolist() == [0, 1]
    assert [batch.tolist() for batch in rows.X_unlabeled()] == [[[2.0]]]
    sample, names = rows.sample(10)
    assert sample["a"].tolist() == [2.0]
    assert names == [f"{path}:{3 if suffix == '.csv' else 2}"]
