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


def fit_to(command, labels, *words, suffix="csv"):
    """Fit to labels and two columns of numbers, and return the result."""
    rng = np.random.default_rng(0)
    labels = pd.Series(labels, dtype=object)
    frame = pd.DataFrame({"a": rng.random(len(labels)), "b": rng.random(len(labels)), "y": labels})
    name = f"rows.{suffix}"
    frame.to_csv(name, index=False) if suffix == "csv" else frame.to_parquet(name, index=False)
    command("fit", name, "-t", "y", "-m", "m.skops", "--json", "--force", *words)
    return command.result


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_spellings_of_a_class_are_merged_with_a_note(command, suffix):
    labels = ["Yes"] * 20 + ["yes"] * 3 + ["yes "] * 2 + ["No"] * 20 + ["no"] + [None] * 9
    found = fit_to(command, labels, suffix=suffix)
    assert found["classes"] == {"No": 21, "Yes": 25}
    assert found["notes"] == [
        "Read as one class 'Yes' of 'y': 'Yes' (20), 'yes' (3), 'yes ' (2).",
        "Read as one class 'No' of 'y': 'No' (20), 'no' (1).",
    ]


def test_single_letters_are_not_merged(command):
    found = fit_to(command, ["A"] * 20 + ["a"] * 20 + [None] * 9)
    assert found["classes"] == {"A": 20, "a": 20}


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("mark", "classes", "quoted"),
    [("unknown", ["good", "bad"], "'unknown'"), (-1, [0, 1], "-1"), ("-1", ["x1", "x2"], "'-1'")],
)
def test_marks_of_unlabeled_rows_are_suggested_and_taken(command, mark, classes, quoted, suffix):
    labels = classes * 15 + [mark] * 20
    found = fit_to(command, labels, suffix=suffix)
    assert len(found["classes"]) == 3
    number = quoted if suffix == "parquet" or quoted != "-1" else "'-1'"
    note = f"{number} is a class of 'y', with 20 rows. If it marks unlabeled rows, pass "
    assert found["notes"][0] == f"{note}--unlabeled-value {mark}."
    found = fit_to(command, labels, "--unlabeled-value", mark, suffix=suffix)
    assert (found["n_labeled"], found["n_unlabeled"], found["notes"]) == (30, 20, [])
    found = fit_to(command, labels, "--unlabeled-value", "nothing", suffix=suffix)
    assert "No row has 'nothing' in 'y', which --unlabeled-value names." in found["notes"]


def test_minus_one_beside_one_class_is_a_class(command):
    assert fit_to(command, [-1, 1] * 15 + [None] * 9)["notes"] == []


@pytest.mark.parametrize("values", [np.arange(17, 90), np.arange(100) / 10])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_number_with_many_values_is_no_class(command, values, suffix):
    labels = np.random.default_rng(0).choice(values, 900).tolist()
    found = fit_to(command, labels, suffix=suffix)
    assert found["exit_code"] == 3
    assert "different values on 900 labeled rows, such as" in found["error"]
    assert "such as low and high; write codes of classes as strings" in found["error"]
