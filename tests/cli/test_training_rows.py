"""Rows of files for `fit` and `report`: in batches, in memory, and with labels of another file."""

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest

import hedgeclipper
from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.cli.tables import Files
from tests.command_line import cancer, flowers


def write(frame, name):
    if name.endswith(".csv"):
        frame.to_csv(name, index=False)
    else:
        table = pyarrow.Table.from_pandas(frame, preserve_index=False)
        pyarrow.parquet.write_table(table, name)
    return name


@pytest.fixture
def no_column_as_a_whole(monkeypatch):
    """Small batches, and an error where all rows of a feature of `cancer` are read at once."""
    read = Files.frame

    def frame(self, strings=(), names=None):
        assert not {*cancer().columns[:6]} & {*(self.names if names is None else names)}
        return read(self, strings, names)

    monkeypatch.setattr(Files, "frame", frame)
    monkeypatch.setattr("hedgeclipper.io.arrays.MOST_ROWS_PER_BATCH", 50)


@pytest.mark.usefixtures("no_column_as_a_whole", "other_sections")
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("in_one", [True, False])
def test_numbers_are_read_in_batches_with_the_results_of_memory(command, suffix, in_one):
    frame = cancer()
    frame.iloc[3, 2] = np.nan
    frame["mean_area"] += 1e12  # of which float32 would leave nothing
    frame.insert(0, "patient", [f"0{k}" for k in range(len(frame))])
    known = frame["benign"].notna()
    rows = write(frame if in_one else frame[known], f"rows.{suffix}")
    more = write(frame[~known].drop(columns="benign"), f"more.{suffix}")
    files = (rows, *(() if in_one else ("--unlabeled", more)))
    command("fit", *files, "-t", "benign", "-m", "m.skops", "--id", "patient", "--json")
    assert command.code == 0, command.err
    assert (command.result["n_labeled"], command.result["n_unlabeled"]) == (100, 469)
    assert {plan["what"] for plan in command.result["columns"][:-1]} == {"as they are"}
    assert command.result["columns"][-1]["what"] == "it names the rows"
    X = frame.drop(columns=["benign", "patient"])
    model = HedgeClipperClassifier("trees", random_state=0)
    model.fit(X[known], frame["benign"][known].astype(int), X_unlabeled=X[~known])
    expected = model.predict_proba(X[~known])[:, 1]
    for to, read in {"p.parquet": pd.read_parquet, "p.csv": pd.read_csv}.items():
        assert command("predict", "m.skops", more, "-o", to, "--json").code == 0, command.err
        found = read(to)
        np.testing.assert_allclose(found["probability_1"], expected, atol=1e-6)
        assert found["prediction"].tolist() == model.predict(X[~known]).tolist()
        assert found["patient"].astype(int).tolist() == frame.index[~known].tolist()
        assert sum(command.result["classes"].values()) == command.result["n_rows"] == 469
    assert command("report", "m.skops", *files, "-o", "r.html").code == 0, command.err


def test_a_column_of_numbers_with_strings_further_down(command):
    frame = pd.concat([cancer()] * 60, ignore_index=True).astype({"mean_area": object})
    frame.loc[30_000, "mean_area"] = "large"
    write(frame, "rows.csv")
    command("fit", "rows.csv", "--target", "benign", "--model", "m.skops", "--json")
    assert command.code == 0, command.err
    assert "'large' and the like in 1 row are no numbers" in command.result["notes"][-1]


def split(table, suffix="csv"):
    """Write rows and labels to two files, and return the whole table with its key and target."""
    frame = table()
    target = frame.columns[-1]
    frame.insert(0, "case", np.random.default_rng(0).permutation(len(frame)) + 5000)
    labels = frame.loc[frame[target].notna(), ["case", target]].sample(frac=1, random_state=0)
    write(frame.drop(columns=target), f"rows.{suffix}")
    write(labels, f"labels.{suffix}")
    return frame, target


@pytest.mark.parametrize(
    ("table", "suffix", "more"),
    [
        (cancer, "csv", ()),
        (flowers, "parquet", ("--key", "case")),
        (flowers, "csv", ("--id", "case")),
    ],
)
def test_labels_are_matched_by_their_key(command, table, suffix, more):
    frame, target = split(table, suffix)
    words = ("--target", target, "--labels", f"labels.{suffix}", "-m", "m.skops", *more)
    assert command("fit", f"rows.{suffix}", *words, "--json").code == 0, command.err
    assert command.result["n_labeled"] == frame[target].notna().sum()
    assert "case" not in hedgeclipper.load("m.skops").feature_names_in_
    command("predict", "m.skops", f"rows.{suffix}", "-o", "p.parquet", "-q")
    ours = pd.read_parquet("p.parquet")
    assert ours.pop("case").astype(int).tolist() == frame["case"].tolist()
    write(frame.drop(columns="case"), "whole.csv")
    command("fit", "whole.csv", "--target", target, "-m", "whole.skops", "-q")
    command("predict", "whole.skops", "whole.csv", "-o", "q.parquet", "-q")
    pd.testing.assert_frame_equal(ours, pd.read_parquet("q.parquet"))


def test_more_unlabeled_rows_need_no_key(command):
    split(cancer)
    write(cancer().drop(columns="benign"), "more.csv")
    words = ("-t", "benign", "--labels", "labels.csv", "-m", "m.skops", "--unlabeled", "more.csv")
    assert command("fit", "rows.csv", *words, "--json").code == 0, command.err
    assert command.result["n_unlabeled"] == 569 * 2 - 100


def test_labels_of_no_row_are_noted(command):
    split(cancer)
    more = pd.DataFrame({"case": [1, 2], "benign": [0, 1]})
    write(pd.concat([pd.read_csv("labels.csv"), more]), "labels.csv")
    command("fit", "rows.csv", "-t", "benign", "--labels", "labels.csv", "-m", "m", "--json")
    assert command.result["notes"] == [
        "2 labels of labels.csv belong to no row of rows.csv, such as that of case '1'."
    ]


def other_keys(labels):
    return labels.assign(case=labels["case"] + 10_000)


def contradicting(labels):
    return pd.concat([labels, labels[:1].assign(benign=1 - labels["benign"][:1])])


@pytest.mark.parametrize(
    ("change", "words", "code", "said"),
    [
        (other_keys, (), 3, "rows.csv has no case '15"),
        (contradicting, (), 3, "labels.csv has different labels for case '5"),
        (None, ("--key", "cases"), 3, "Did you mean 'case'?"),
        (
            lambda labels: labels.rename(columns={"case": "number"}),
            (),
            2,
            "labels.csv does not say which rows it is about",
        ),
        (lambda labels: labels.rename(columns={"benign": "b"}), (), 3, "no column 'benign'"),
    ],
)
def test_labels_that_do_not_match(command, change, words, code, said):
    split(cancer)
    labels = pd.read_csv("labels.csv")
    write(labels if change is None else change(labels), "labels.csv")
    command("fit", "rows.csv", "-t", "benign", "--labels", "labels.csv", "-m", "m.skops", *words)
    assert command.code == code, command.err
    assert said in command.err


def test_labels_of_a_file_join_those_of_the_rows(command):
    frame, _ = split(cancer)
    words = ("fit", "rows.csv", "-t", "benign", "--labels", "labels.csv", "-m", "m.skops")
    labels = pd.read_csv("labels.csv")
    labels[:40].to_csv("labels.csv", index=False)
    write(
        frame.assign(benign=frame["benign"].where(~frame["case"].isin(labels["case"][:30]))),
        "rows.csv",
    )
    assert command(*words, "--json").code == 0, command.err
    assert command.result["n_labeled"] == 100
    labels[:40].assign(benign=1 - labels["benign"]).to_csv("labels.csv", index=False)
    assert command(*words, "--force").code == 3
    assert "Column 'benign' of rows.csv has other labels than --labels for 10 rows" in command.err


def test_rows_with_the_same_key(command):
    frame, _ = split(cancer)
    words = ("-t", "benign", "--labels", "labels.csv", "-m", "m.skops")
    write(frame.drop(columns="benign").assign(case=frame["case"] // 2), "rows.csv")
    assert command("fit", "rows.csv", *words).code == 3
    assert "rows.csv has more than one row with the case '2" in command.err
    assert command("fit", "rows.csv", "-t", "benign", "-m", "m.skops", "--key", "case").code == 2
    assert "--key is given without --labels. Pass both." in command.err


@pytest.fixture(params=[cancer, flowers])
def fitted(request, command, monkeypatch):
    """A table whose rows a model was fitted to, its target, and what a report is given."""
    given = {}
    monkeypatch.setattr(
        "hedgeclipper.report.page.write_report", lambda *model, **said: given.update(said)
    )
    frame = request.param()
    write(frame, "rows.csv")
    assert command("fit", "rows.csv", "-t", frame.columns[-1], "-m", "m.skops", "-q").code == 0
    return frame, frame.columns[-1], given


def test_a_report_gets_the_rows_of_the_fit(command, fitted, monkeypatch):
    frame, target, given = fitted
    unlabeled = np.flatnonzero(frame[target].isna())
    assert command("report", "m.skops", "rows.csv", "-o", "r.html").code == 0, command.err
    assert given["row_names"] == [f"rows.csv:{line}" for line in unlabeled + 2]
    monkeypatch.setattr("hedgeclipper.cli.model_commands.ROWS_IN_REPORT", 40)
    assert command("report", "m.skops", "rows.csv", "-o", "r.html").code == 0
    lines = [int(name.removeprefix("rows.csv:")) - 2 for name in given["row_names"]]
    assert len(lines) == 40
    first = frame.columns[0]
    np.testing.assert_allclose(given["X_unlabeled"][first], frame[first][lines], rtol=1e-6)
    assert given["about"]["unlabeled rows"] == f"40 drawn at random of {unlabeled.size}"


def test_a_report_on_other_rows_is_refused(command, fitted):
    frame, target, _ = fitted
    words = ("report", "m.skops", "rows.csv", "-o", "r.html")
    n_labeled = frame[target].notna().sum()
    write(frame.sample(frac=1, random_state=0), "rows.csv")
    assert command(*words, "-f").code == 0, command.err  # the order does not matter
    known = frame[target].dropna()
    swapped = frame.copy()
    swapped.loc[known.index, target] = known.to_numpy()[::-1]
    for n_rows, other in {n_labeled: swapped, n_labeled - 1: frame.drop(known.index[0])}.items():
        write(other, "rows.csv")
        assert command(*words).code == 3
        assert f"to {n_labeled} labeled rows. Got {n_rows} that are different." in command.err
    write(frame.drop(index=frame.index[frame[target].isna()][0]), "rows.csv")
    assert command(*words).code == 0
    assert "note: The model was fitted to" in command.err
    write(frame.drop(columns=target), "rows.csv")
    assert command(*words).code == 3
    assert f"has no column {target!r} for the model" in command.err


def test_a_report_with_labels_of_another_file(command, fitted):
    _, target, given = fitted
    frame, _ = split(cancer if target == "benign" else flowers)
    words = ("rows.csv", "--labels", "labels.csv")
    assert command("fit", *words, "-t", target, "-m", "m.skops", "-qf").code == 0, command.err
    assert command("report", "m.skops", "rows.csv", "-o", "r.html").code == 3
    assert "--labels if their labels are in another file" in command.err
    assert command("report", "m.skops", *words, "-o", "r.html").code == 0, command.err
    assert given["row_names"] == frame["case"][frame[target].isna()].astype(str).tolist()
