"""``fit rows.csv --labels labels.csv --key id --target outcome``."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import hedgeclipper
from tests.command_line import cancer, flowers


def split(table, suffix="csv"):
    """Write rows and labels to two files, and return the whole table with its key and target."""
    frame = table()
    target = frame.columns[-1]
    frame.insert(0, "case", np.random.default_rng(0).permutation(len(frame)) + 5000)
    labels = frame.loc[frame[target].notna(), ["case", target]].sample(frac=1, random_state=0)
    rows = frame.drop(columns=target)
    for name, part in {"rows": rows, "labels": labels}.items():
        path = f"{name}.{suffix}"
        part.to_csv(path, index=False) if suffix == "csv" else part.to_parquet(path, index=False)
    return frame, target


KEYS = [(), ("--key", "case"), ("--id", "case")]
FAST = [(cancer, "csv", KEYS[0]), (flowers, "parquet", KEYS[1]), (flowers, "csv", KEYS[2])]
SLOW = [case for case in product((cancer, flowers), ("csv", "parquet"), KEYS) if case not in FAST]


@pytest.mark.parametrize(
    ("table", "suffix", "more"),
    [*FAST, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)],
)
def test_labels_are_matched_by_their_key(command, table, suffix, more):
    frame, target = split(table, suffix)
    words = ("--target", target, "--labels", f"labels.{suffix}", "-m", "m.skops", *more)
    assert command("fit", f"rows.{suffix}", *words, "--json").code == 0, command.err
    assert command.result["n_labeled"] == frame[target].notna().sum()
    assert "case" not in hedgeclipper.load("m.skops")["columns"].used_names
    command("predict", "m.skops", f"rows.{suffix}", "-o", "p.parquet", "-q")
    ours = pd.read_parquet("p.parquet")
    assert ours.pop("case").tolist() == frame["case"].tolist()
    frame.drop(columns="case").to_csv("whole.csv", index=False)
    command("fit", "whole.csv", "--target", target, "-m", "whole.skops", "-q")
    command("predict", "whole.skops", "whole.csv", "-o", "q.parquet", "-q")
    pd.testing.assert_frame_equal(ours, pd.read_parquet("q.parquet"))


def test_a_report_with_labels_of_another_file(command, monkeypatch):
    given = {}
    monkeypatch.setattr(
        "hedgeclipper.inspection.report.write_report", lambda *_, **said: given.update(said)
    )
    frame, target = split(flowers)
    words = ("-t", target, "--labels", "labels.csv", "-m", "m.skops", "-q")
    assert command("fit", "rows.csv", *words).code == 0
    assert command("report", "m.skops", "rows.csv", "-o", "r.html").code == 3
    assert f"has no column {target!r} for the model" in command.err
    assert "--labels if their labels are in another file" in command.err
    command("report", "m.skops", "rows.csv", "-o", "r.html", "--labels", "labels.csv")
    assert command.code == 0, command.err
    assert sorted(given["y"]) == sorted(frame[target].dropna())
    assert given["row_names"] == frame["case"][frame[target].isna()].astype(str).tolist()


def test_more_unlabeled_rows_need_no_key(command):
    split(cancer)
    cancer().drop(columns="benign").to_csv("more.csv", index=False)
    words = ("-t", "benign", "--labels", "labels.csv", "-m", "m.skops", "--unlabeled", "more.csv")
    assert command("fit", "rows.csv", *words, "--json").code == 0, command.err
    assert command.result["n_unlabeled"] == 569 * 2 - 100


def test_labels_of_no_row_are_noted(command):
    split(cancer)
    labels = pd.read_csv("labels.csv")
    more = pd.DataFrame({"case": [1, 2], "benign": [0, 1]})
    pd.concat([labels, more]).to_csv("labels.csv", index=False)
    command("fit", "rows.csv", "-t", "benign", "--labels", "labels.csv", "-m", "m", "--json")
    assert command.result["notes"] == ["2 labels of labels.csv belong to no row of rows.csv."]


def other_keys(labels):
    return labels.assign(case=labels["case"] + 10_000)


def contradicting(labels):
    return pd.concat([labels, labels[:1].assign(benign=1 - labels["benign"][:1])])


@pytest.mark.parametrize(
    ("change", "words", "code", "said"),
    [
        (other_keys, (), 3, "No row of rows.csv has a case of labels.csv: the first are"),
        (contradicting, (), 3, "labels.csv has different labels for the row"),
        (None, ("--key", "cases"), 3, "Did you mean 'case'?"),
        (None, ("--key", "case", "--id", "mean_area"), 2, "--key and --id name two columns"),
        (
            lambda labels: labels.rename(columns={"case": "number"}),
            (),
            2,
            "share none of their columns. Name the column that tells which label",
        ),
        (lambda labels: labels.rename(columns={"benign": "b"}), (), 3, "no column 'benign'"),
    ],
)
def test_labels_that_do_not_match(command, change, words, code, said):
    split(cancer)
    labels = pd.read_csv("labels.csv")
    (labels if change is None else change(labels)).to_csv("labels.csv", index=False)
    command("fit", "rows.csv", "-t", "benign", "--labels", "labels.csv", "-m", "m.skops", *words)
    assert command.code == code, command.err
    assert said in command.err


def test_rows_with_the_same_key_or_a_target_of_their_own(command):
    frame, _ = split(cancer)
    words = ("-t", "benign", "--labels", "labels.csv", "-m", "m.skops")
    frame.to_csv("rows.csv", index=False)
    assert command("fit", "rows.csv", *words).code == 2
    assert "has a column 'benign' too, beside the one of --labels" in command.err
    frame.drop(columns="benign").assign(case=frame["case"] // 2).to_csv("rows.csv", index=False)
    assert command("fit", "rows.csv", *words).code == 3
    assert "rows.csv has more than one row with case" in command.err
    assert command("fit", "rows.csv", "-t", "benign", "-m", "m.skops", "--key", "case").code == 2
    assert "--key is given without --labels. Pass both." in command.err
