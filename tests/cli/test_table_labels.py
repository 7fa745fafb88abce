import numpy as np
import pandas as pd
import pytest

from hedgeclipper.cli.output import CommandError
from hedgeclipper.cli.table_labels import as_classes, check_classes
from tests.command_line import cancer


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


def test_classes_are_counted():
    assert check_classes(np.array(["b", "a", "b"]), 10, "'y'") == {"a": 1, "b": 2}
    with pytest.raises(CommandError, match="All 2 labeled rows are of one class, 'a'"):
        check_classes(np.array(["a", "a"]), 10, "'y'")
