"""``hedgeclipper evaluate``, and what predictions are told of rows that are unlike those of fit."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

import hedgeclipper
from tests.command_line import cancer, flowers


def measured():
    """Return a table of numbers with a target, all rows labeled."""
    frame = load_breast_cancer(as_frame=True).frame.iloc[:, [0, 1, 2, 3, -1]]
    return frame.rename(columns=lambda name: name.replace(" ", "_"))


def described():
    """Return a table with strings and three classes, all rows labeled."""
    frame = load_iris(as_frame=True).frame.rename(columns=lambda name: name.replace(" ", "_"))
    frame["color"] = np.where(frame.iloc[:, 0] > 5.5, "red", "blue")
    frame["target"] = np.array(["setosa", "versicolor", "virginica"])[frame["target"]]
    return frame


@pytest.mark.parametrize("table", [measured, described])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_evaluate_is_the_method_of_the_model(command, table, suffix):
    frame = table().sample(frac=1, random_state=0)
    train, test = frame[:60], frame[60:]
    train.to_csv("train.csv", index=False)
    name = f"test.{suffix}"
    test.to_csv(name, index=False) if suffix == "csv" else test.to_parquet(name, index=False)
    command("fit", "train.csv", "-t", "target", "-m", "m.skops", "-q")
    assert command("evaluate", "m.skops", name, "--target", "target", "--json").code == 0
    model = hedgeclipper.load("m.skops")
    rows = model["columns"].transform(test.drop(columns="target"))
    ours, theirs = command.result, model["model"].evaluate(rows, test["target"])
    assert ours["accuracy"] == pytest.approx(theirs.accuracy)
    assert ours["auc_interval"] == pytest.approx(list(theirs.auc_interval))
    assert ours["confusion"] == theirs.confusion.tolist()
    assert ours["classes"] == theirs.classes.tolist()
    command("evaluate", "m.skops", name)
    for text in ("Accuracy", "AUC", "Log loss", "Calibration", "always", "Recall", "% interval"):
        assert text in command.out


def test_evaluate_with_another_target_and_unlabeled_rows(command):
    frame = measured().sample(frac=1, random_state=0)
    frame[:60].to_csv("train.csv", index=False)
    test = frame[60:].rename(columns={"target": "truth"}).astype({"truth": object})
    test.iloc[:9, -1] = None
    test.iloc[9:12, -1] = "other"
    test.to_csv("test.csv", index=False)
    command("fit", "train.csv", "-t", "target", "-m", "m.skops", "-q")
    command("evaluate", "m.skops", "test.csv", "-t", "truth", "--json")
    assert command.result["n_samples"] == len(test) - 9
    assert command.result["classes"] == [0, 1, "other"]
    model, known = hedgeclipper.load("m.skops"), test[9:]
    predicted = model.predict(known.drop(columns="truth"))
    assert command.result["accuracy"] == pytest.approx(np.mean(predicted == known["truth"]))
    assert command.result["notes"] == [
        "9 rows without a label are not used.",
        "Classes that the model does not know count as errors: ['other'].",
    ]
    words = ("-t", "truth", "--unlabeled-value", "other", "--json")
    assert command("evaluate", "m.skops", "test.csv", *words).result["n_samples"] == len(test) - 12
    assert command("evaluate", "m.skops", "test.csv").code == 3
    assert "has no column 'target' for --target" in command.err
    assert command("evaluate", "m.skops", "test.csv", "-t", "mean_area").code == 3
    assert "'mean_area' has no class of the model" in command.err


@pytest.fixture(params=[cancer, flowers])
def fitted(request, command, monkeypatch):
    """A table whose rows a model was fitted to, and its target; no report is written."""
    monkeypatch.setattr("hedgeclipper.inspection.report.write_report", lambda *_, **__: None)
    frame = request.param()
    frame.to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "-t", frame.columns[-1], "-m", "m.skops", "-q")
    return frame, frame.columns[-1]


def test_a_report_is_on_the_rows_of_the_fit(command, fitted):
    frame, target = fitted
    frame[frame[target].notna()][:50].to_csv("others.csv", index=False)
    assert command("report", "m.skops", "others.csv", "-o", "r.html").code == 3
    assert "Got 50, so these are different rows. Pass the rows of the fit; measure" in command.err
    frame.drop(columns=frame.columns[:2]).to_csv("fewer.csv", index=False)
    assert command("report", "m.skops", "fewer.csv", "-o", "r.html").code == 3
    assert f"has no columns {frame.columns[0]!r}, {frame.columns[1]!r} for the model" in command.err
    assert "Add what is missing, empty where it is not known" in command.err
    assert "Name one of these" not in command.err
    frame[frame[target].notna()].to_csv("labeled.csv", index=False)
    assert command("report", "m.skops", "labeled.csv", "-o", "r.html").code == 0
    assert "unlabeled rows, and there are 0 here" in command.err


def test_other_rows_with_as_many_labels_are_noticed(command, fitted):
    frame, target = fitted
    frame.to_parquet("rows.parquet")
    frame[frame.columns[::-1]].to_csv("turned.csv", index=False)
    for same in ("rows.csv", "rows.parquet", "turned.csv"):
        assert command("report", "m.skops", same, "-o", "r.html", "-q").code == 0, command.err
    known = frame.index[frame[target].notna()]
    relabeled, moved = frame.copy(), frame.copy()
    first, second = frame[target].dropna().unique()[:2]
    relabeled.loc[known[0], target] = second if frame.at[known[0], target] == first else first
    moved.loc[known[-1], frame.columns[0]] += 0.125
    for changed in (relabeled, moved, frame[::-1]):
        changed.to_csv("others.csv", index=False)
        assert command("report", "m.skops", "others.csv", "-o", "r.html").code == 3
        n = len(known)
        assert f"fitted to {n} labeled rows. Got {n} that are different rows" in command.err
        assert "Pass the rows of the fit; measure" in command.err
    model = hedgeclipper.load("m.skops")
    del model["columns"].digest_  # as models of earlier versions
    hedgeclipper.save(model, "old.skops")
    assert command("report", "old.skops", "others.csv", "-o", "r.html", "-q").code == 0


def test_a_report_on_libsvm_counts_labeled_rows(command, monkeypatch):
    monkeypatch.setattr("hedgeclipper.inspection.report.write_report", lambda *_, **__: None)
    lines = [f"{k % 2} 1:{k} 2:{k % 7}" for k in range(40)]
    Path("rows.libsvm").write_text("\n".join(lines))
    assert command("fit", "rows.libsvm", "-m", "m.skops", "-q").code == 0, command.err
    Path("fewer.libsvm").write_text("\n".join(lines[1:]))
    assert command("report", "m.skops", "rows.libsvm", "-o", "r.html", "-q").code == 0
    assert command("report", "m.skops", "fewer.libsvm", "-o", "r.html").code == 3
    assert "Got 39, so these are different rows" in command.err


def test_missing_columns_are_named_with_what_to_do(command):
    cancer().to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "-t", "benign", "-m", "m.skops", "-q")
    renamed = {"mean_area": "Mean_Area", "mean_texture": "roughness"}
    cancer().rename(columns=renamed).to_csv("more.csv", index=False)
    assert command("predict", "m.skops", "more.csv", "-o", "p.csv").code == 3
    assert "more.csv has no columns 'mean_texture', 'mean_area' for the model" in command.err
    assert "Add what is missing, empty where it is not known" in command.err
    assert not Path("p.csv").exists()


def test_new_categories_are_noted(command):
    flowers().to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "-t", "species", "-m", "m.skops", "-q")
    frame = flowers()
    frame.loc[:8, "color"] = "orange"
    frame.to_csv("more.csv", index=False)
    command("predict", "m.skops", "more.csv", "-o", "p.csv", "--json")
    assert command.result["notes"] == [
        "Column 'color' has 1 values that the model does not know, such as 'orange' (9): in these "
        "rows it relies on the other columns."
    ]


def test_codes_stay_strings_when_a_file_has_no_leading_zero(command):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"zip": rng.choice(["01067", "10115", "20095"], 90), "x": rng.random(90)})
    frame["y"] = np.where(frame["zip"] == "01067", "east", "north")
    frame.to_csv("rows.csv", index=False)
    assert command("fit", "rows.csv", "-t", "y", "-m", "m.skops", "--json").code == 0
    assert [c["kind"] for c in command.result["columns"]] == ["categories", "numbers"]
    frame[frame["zip"] != "01067"].to_csv("more.csv", index=False)
    command("predict", "m.skops", "more.csv", "-o", "p.csv", "--json")
    assert command.result["notes"] == []
    assert set(pd.read_csv("p.csv")["prediction"]) == {"north"}
