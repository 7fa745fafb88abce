import re
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

import hedgeclipper
from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.bounds.intervals import proportion_bounds
from hedgeclipper.cli import main
from hedgeclipper.datasets import load_adult
from tests.command_line import cancer, crowd, flowers


def few_members(X, n_labels, random_state, *, n_classes=2):
    from hedgeclipper.panel.panel_views import filler
    from sklearn.pipeline import make_pipeline
    from sklearn.tree import DecisionTreeClassifier

    return [
        ("linear", make_pipeline(filler(), LogisticRegression(max_iter=2000))),
        ("extra_trees", make_pipeline(filler(), DecisionTreeClassifier(max_depth=2))),
    ]


def test_from_csv_with_strings_dates_and_missing_values_to_predictions(command):
    flowers().to_csv("rows.csv", index=False)
    assert command("fit", "rows.csv", "--target", "species", "--model", "m.skops").code == 0
    assert "rows.csv: 150 rows, 60 labeled and 90 not, read into memory" in command.out
    for column, what in {
        "petal_width": "15 missing, marked in a column of their own",
        "color": "2 values, a column of 0 and 1 for each",
        "seen": "day, month and weekday, read as %d/%m/%Y",
        "note": "text of its own in most rows (150 values)",
        "planet": "it has the same value everywhere",
    }.items():
        line = next(line for line in command.out.splitlines() if line.startswith(column))
        assert what in line
    assert command("predict", "m.skops", "rows.csv", "-o", "p.parquet").code == 0
    written = pd.read_parquet("p.parquet")
    names = ["setosa", "versicolor", "virginica"]
    assert list(written) == ["prediction", *(f"probability_{name}" for name in names)]
    truth = np.repeat(names, 50)
    assert np.mean(written["prediction"] == truth) > 0.9


def test_what_is_done_with_columns_is_kept_in_the_model(command):
    flowers().to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "--target", "species", "--model", "m.skops", "--json")
    model = hedgeclipper.load("m.skops")
    assert isinstance(model, Pipeline)
    assert [asdict(plan) for plan in model["columns"].plans_] == command.result["columns"]
    assert model["columns"].target == "species"
    rows = flowers().drop(columns="species")
    assert set(model.predict(rows)) == {"setosa", "versicolor", "virginica"}


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_numbers_are_read_in_batches_and_agree_with_memory(command, suffix):
    frame = cancer()
    frame.iloc[3, 2] = np.nan
    frame.to_csv("rows.csv", index=False)
    frame.to_parquet("rows.parquet")
    name = f"rows.{suffix}"
    command("fit", name, "--target", "benign", "--model", "m.skops", "--json")
    assert command.code == 0
    assert command.result["in_memory"] is False
    assert command.result["columns"][2]["what"] == "as they are; 1 missing stay so"
    assert command.result["classes"].keys() == {"0", "1"}
    assert command("predict", "m.skops", name, "-o", "p.parquet").code == 0
    model = hedgeclipper.load("m.skops")
    predicted = pd.read_parquet("p.parquet")
    probabilities = model.predict_proba(frame.drop(columns="benign"))
    np.testing.assert_allclose(predicted["probability_1"], probabilities[:, 1])
    assert predicted["prediction"].dtype.kind == "i"


def test_libsvm_with_a_class_that_is_minus_one(command):
    X, y = load_adult(return_X_y=True)
    y = np.where(y == 1, 1, -1)
    dump_svmlight_file(X[:200], y[:200], "train.libsvm", zero_based=False)
    dump_svmlight_file(X[200:500], np.zeros(300), "more.libsvm", zero_based=False)
    words = ("--unlabeled", "more.libsvm", "--model", "m.skops", "--json")
    assert command("fit", "train.libsvm", *words).code == 0
    assert command.result["n_unlabeled"] == 300
    assert command("predict", "m.skops", "more.libsvm", "-o", "p.csv").code == 0
    written = pd.read_csv("p.csv")
    assert set(written["prediction"]) == {-1, 1}
    assert np.mean(written["prediction"] == y[200:500]) > 0.75


def test_voting(command, monkeypatch):
    monkeypatch.setattr("hedgeclipper.panel.members.default_panel", few_members)
    flowers().to_csv("rows.csv", index=False)
    command(
        *("fit", "rows.csv", "--target", "species", "--method", "voting", "--jobs", 1),
        *("--model", "m.skops", "--seed", 3),
    )
    assert command.code == 0
    assert re.search(r"^Error +about \d+\.\d% on the 90 unlabeled rows", command.out, re.MULTILINE)
    assert "Worst case" not in command.out
    command("predict", "m.skops", "rows.csv", "-o", "p.parquet", "--json")
    assert command.result["classes"].keys() == {"setosa", "versicolor", "virginica"}


def test_the_default_is_a_panel_with_a_forest(command, monkeypatch):
    def few(X, n_labels, random_state):
        forest = HedgeClipperClassifier(n_estimators=24, random_state=0)
        return [("linear", LogisticRegression()), ("hedgeclipper", forest)]

    monkeypatch.setattr("hedgeclipper.panel.members.default_panel", few)
    cancer().to_csv("rows.csv", index=False)
    words = ["fit", "rows.csv", "-t", "benign", "-m", "m.skops", "--report", "r.html"]
    assert main([*words, "--jobs", "1"]) == 0
    out, _ = command.capsys.readouterr()
    assert isinstance(hedgeclipper.load("m.skops")["model"], hedgeclipper.HedgedVotingClassifier)
    assert re.search(r"^Unlabeled +.* AUC.*, in its forest$", out, re.MULTILINE)
    assert "permutation importance" in Path("r.html").read_text("utf-8")


@pytest.mark.usefixtures("other_sections")
def test_a_report_tells_which_columns_of_the_file_matter(command):
    flowers().to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "-t", "species", "-m", "m.skops", "--report", "r.html", "--jobs", 1)
    assert command.code == 0
    page = Path("r.html").read_text("utf-8")
    bars = re.findall(r'aria-label="(\w+): -?\d\.\d{3}"', page)
    numbers = {"sepal_length", "sepal_width", "petal_length", "petal_width"}
    assert set(bars) == numbers | {"color", "seen", "wet"}
    assert bars[0] not in ("color", "wet")  # which are drawn at random


@pytest.mark.parametrize(("words", "weight"), [((), None), (("--balanced",), "balanced")])
def test_balanced_decisions(command, words, weight):
    flowers().to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "--target", "species", "--jobs", 1, "--model", "m.skops", *words)
    assert hedgeclipper.load("m.skops")["model"].class_weight == weight


def test_a_class_that_is_never_predicted_is_named(command):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(600, 3)), columns=list("abc"))
    frame["found"] = np.where(np.arange(600) % 20 == 0, "rare", "common")
    frame.loc[100:, "found"] = None
    frame.to_csv("rows.csv", index=False)
    assert (
        command("fit", "rows.csv", "-t", "found", "-m", "m.skops", "--report", "r.html").code == 0
    )
    assert "note: Class 'rare' has 5 labels and is predicted for none of 500" in command.err
    assert re.search("^Never +predicted: 'rare', for none of 500 unlabeled", command.out, re.M)
    assert "Never predicted: rare, which 5 labels have." in Path("r.html").read_text()


@pytest.mark.parametrize("table", [cancer, flowers])
def test_the_summary_says_what_to_expect(command, table):
    frame = table()
    target = frame.columns[-1]
    frame.to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "-t", target, "-m", "m.skops")
    lines = dict(re.findall(r"^(\w+)  +(.*)$", command.out, re.MULTILINE))
    assert re.match(r"about .*% interval .* to .*; always the most frequent class", lines["Error"])
    assert "AUC" in lines["Unlabeled"]
    assert "Never" not in lines
    assert "Worst case" not in command.out
    assert (
        hedgeclipper.load("m.skops")["model"]
        .unlabeled_gain_.describe()
        .endswith(lines["Unlabeled"])
    )
    assert "guaranteed" not in command.out
    command("fit", "rows.csv", "-t", target, "-m", "n.skops", "--confidence", 0.9)
    assert "guaranteed with 90% confidence" in command.out


@pytest.mark.parametrize("table", [cancer, flowers])
def test_the_summary_names_rows_to_label_next(command, table):
    frame = table()
    target = frame.columns[-1]
    frame.to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "-t", target, "-m", "m.skops")
    names = re.search(r"^Label next +(.*): the least certain", command.out, re.MULTILINE)[1]
    unlabeled = np.flatnonzero(frame[target].isna())
    rows = frame.drop(columns=target).iloc[unlabeled]
    doubts = 1 - hedgeclipper.load("m.skops").predict_proba(rows).max(axis=1)
    # line 1 has the names of the columns
    lines = [int(name.removeprefix("rows.csv:")) - 2 for name in names.split(", ")]
    chosen = np.searchsorted(unlabeled, lines)
    np.testing.assert_array_equal(unlabeled[chosen], lines)
    np.testing.assert_allclose(doubts[chosen], np.sort(doubts)[:-4:-1])


def test_with_many_labels_the_summary_says_what_measures_the_gain(command, monkeypatch):
    monkeypatch.setattr("hedgeclipper.cli.table_commands.LABELS_FOR_GAIN", 50)
    cancer().to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "-t", "benign", "-m", "m.skops")
    assert re.search("^Unlabeled +--report measures what", command.out, re.MULTILINE)


def test_all_rows_labeled_works_with_a_note(command):
    cancer().dropna().to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "--target", "benign", "--model", "m.skops")
    assert command.code == 0
    assert "note: All rows are labeled, so that nothing is learned beyond them" in command.err
    assert Path("m.skops").exists()


def test_all_rows_labeled_and_a_class_that_is_minus_one(command):
    frame = cancer().dropna()
    frame["benign"] = frame["benign"].astype(int).replace(0, -1)
    frame.to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "--target", "benign", "--model", "m.skops")
    assert command.code == 0
    assert "note: All rows are labeled, so that nothing is learned beyond them" in command.err
    assert hedgeclipper.load("m.skops").classes_.tolist() == [-1, 1]


def test_a_guarantee(command):
    cancer(n_labeled=300).to_csv("rows.csv", index=False)
    words = ("fit", "rows.csv", "-t", "benign", "-m")
    command(*words, "m.skops", "--confidence", 0.9, "--holdout", 0.4, "--json")
    found = command.result["certificate"]
    assert (found["kind"], found["confidence_level"], found["reason"]) == ("guarantee", 0.9, "")
    assert found["n_tested"] == 120  # of 300 labels
    _, upper = proportion_bounds(found["n_errors"], 120, 269, delta=0.1)
    assert found["error_upper"] == upper
    assert found["error"] == found["n_errors"] / 120
    assert 0 < found["error_lower"] < found["error"] < found["baseline"]
    command(*words, "n.skops", "--confidence", 0.95)  # half of the labels, by default
    assert re.search(r"^Error +at most .* errors on 150 held-out labels", command.out, re.MULTILINE)


@pytest.mark.parametrize("kind", ["numbers", "strings"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_automatic_labels_of_the_unlabeled_rows_are_a_guarantee(command, kind, suffix):
    frame = cancer(n_labeled=300)
    if kind == "strings":
        frame["color"] = np.random.default_rng(0).choice(["red", "blue"], len(frame))
    known = frame["benign"].notna()
    write_table(frame[known], "rows", suffix)
    write_table(frame[~known].drop(columns="benign"), "more", suffix)
    words = ("-t", "benign", "--unlabeled", f"more.{suffix}", "-m", "m.skops", "-q")
    assert command("fit", f"rows.{suffix}", *words, "--confidence", 0.95).code == 0
    predict = ("predict", "m.skops", f"more.{suffix}", "-o")
    command(*predict, "all.parquet", "-q")
    command(*predict, "sure.parquet", "--max-error", 0.1, "--json")
    found = command.result["automatic_labels"]
    assert (found["kind"], found["confidence_level"]) == ("guarantee", 0.95)
    sure, whole = pd.read_parquet("sure.parquet"), pd.read_parquet("all.parquet")
    is_blank = sure["prediction"].isna()
    assert 0 < is_blank.sum() == 269 - found["n_sure"] < 269
    assert sum(command.result["classes"].values()) == found["n_sure"]
    pd.testing.assert_frame_equal(sure.drop(columns="prediction"), whole.drop(columns="prediction"))
    assert (sure["prediction"] == whole["prediction"])[~is_blank].all()
    # the least sure of the labeled rows is surer than the surest of the others
    surest = sure.filter(like="probability").max(axis=1)
    assert surest[~is_blank].min() > surest[is_blank].max()
    command(*predict, "sure.csv", "--max-error", 0.1)
    assert re.search(r"^\(blank\) +\d+", command.out, re.MULTILINE)
    assert re.search(
        r"^Automatic +\d+ of 269 rows .*: guaranteed with 95%", command.out, re.MULTILINE
    )
    pd.testing.assert_frame_equal(pd.read_csv("sure.csv"), sure, check_dtype=False)


def test_automatic_labels_of_a_panel_are_a_guarantee(command, monkeypatch):
    monkeypatch.setattr("hedgeclipper.panel.members.default_panel", few_members)
    frame = cancer(n_labeled=300)
    known = frame["benign"].notna()
    write_table(frame[known], "rows", "csv")
    write_table(frame[~known].drop(columns="benign"), "more", "csv")
    words = ("-t", "benign", "--unlabeled", "more.csv", "-m", "m.skops", "--method", "voting")
    command("fit", "rows.csv", *words, "--jobs", 1, "--confidence", 0.95, "--json")
    assert command.result["certificate"]["kind"] == "guarantee"
    command("predict", "m.skops", "more.csv", "-o", "p.csv", "--max-error", 0.15, "--json")
    found = command.result["automatic_labels"]
    assert found["kind"] == "guarantee"
    assert pd.read_csv("p.csv")["prediction"].notna().sum() == found["n_sure"] > 0


def test_automatic_labels_of_other_rows_are_an_estimate(command):
    cancer(n_labeled=300).to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "-t", "benign", "-m", "m.skops", "--confidence", 0.95, "-q")
    words = ("predict", "m.skops", "rows.csv", "--max-error", 0.1, "--confidence", 0.9)
    assert command(*words, "-o", "p.csv").code == 0
    assert re.search(r"^Automatic .*: an estimate at 90% confidence", command.out, re.MULTILINE)
    assert re.search(r"^No guarantee +these are not the unlabeled", command.out, re.MULTILINE)


def test_no_row_is_labeled_where_labels_are_too_few(command):
    cancer(n_labeled=40).to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "-t", "benign", "-m", "m.skops", "-q")
    assert command("predict", "m.skops", "rows.csv", "-o", "p.csv", "--max-error", 0.01).code == 0
    assert re.search(r"no row can be labeled automatically .* labels are needed to", command.out)
    assert pd.read_csv("p.csv")["prediction"].isna().all()


def test_quiet_prints_nothing(command):
    cancer().to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "--target", "benign", "--model", "m.skops", "--quiet")
    assert (command.code, command.out, command.err) == (0, "", "")


def test_json_is_all_there_is_on_standard_output(command):
    cancer().to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "--target", "benign", "--model", "m.skops", "--json")
    assert command.err == ""
    found = command.result["certificate"]
    assert (found["kind"], found["confidence_level"]) == ("estimate", 0.95)
    assert found["error_lower"] < found["error"] < found["error_upper"]
    assert "labels were used in the fit" in found["reason"]
    assert command.result["notes"] == []
    command("fit", "rows.csv", "--target", "benign", "--model", "m.skops", "--json")
    assert command.code == 4
    assert command.result == {
        "error": "m.skops exists already. Pass --force to replace it.",
        "exit_code": 4,
    }


def test_columns_the_model_does_not_know_are_noted(command):
    frame = cancer()
    frame.to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "--target", "benign", "--model", "m.skops", "-q")
    frame[frame.columns[::-1]].assign(other="word").to_csv("more.csv", index=False)
    command("predict", "m.skops", "more.csv", "-o", "more.parquet")
    assert command.code == 0
    assert "note: Columns that the model does not know are not used: other." in command.err
    command("predict", "m.skops", "rows.csv", "-o", "p.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet("more.parquet"), pd.read_parquet("p.parquet"))


def test_a_new_string_and_a_bad_date_do_not_stop_predictions(command):
    frame = flowers()
    frame.to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "--target", "species", "--model", "m.skops", "-q")
    frame["color"], frame["seen"] = "orange", "soon"
    frame.drop(columns=["species", "note"]).to_csv("more.csv", index=False)
    assert command("predict", "m.skops", "more.csv", "-o", "p.csv").code == 0
    assert len(pd.read_csv("p.csv")) == 150
    assert (
        "note: Column 'seen' has 1 values that the model does not know, such as 'soon' (150)"
        in (command.err)
    )


def test_what_may_be_wrong_with_a_column_is_noted(command):
    frame = flowers().assign(seen="01/02/2020", size=[f"{k},5" for k in range(150)])
    frame.loc[0, "seen"] = "02/03/2020"
    frame.loc[1, "petal_length"] = 99
    frame["petal_length"] = frame["petal_length"].astype(str).replace("99.0", "wide")
    frame.to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "--target", "species", "--model", "m.skops", "--json")
    assert command.result["notes"] == [
        "Column 'petal_length': 'wide' and the like in 1 rows make its numbers strings; write "
        "numbers as 1234.5, and leave the place of a missing one empty.",
        "Column 'seen': 02/03/2020 may begin with the day or the month, and is read with the day "
        "first.",
        "Column 'note' is left out: text that is different in most rows cannot be used.",
        "Column 'size' is left out: '0,5' and the like in 150 rows make its numbers strings; write "
        "numbers as 1234.5, and leave the place of a missing one empty.",
    ]


@pytest.mark.usefixtures("other_sections")
def test_a_report(command):
    pytest.importorskip("hedgeclipper.inspection.report")
    cancer().to_csv("rows.csv", index=False)
    words = ("--target", "benign", "--model", "m.skops", "--report", "fit.html")
    assert command("fit", "rows.csv", *words).code == 0
    assert command("report", "m.skops", "rows.csv", "-o", "page.html").code == 0
    votes, gold = crowd()
    votes.to_csv("votes.csv", index=False)
    gold[:40].to_csv("gold.csv", index=False)
    assert command("votes", "votes.csv", "--gold", "gold.csv", "--report", "v.html").code == 0
    for page in ("fit.html", "page.html", "v.html"):
        assert "<html" in Path(page).read_text(encoding="utf-8")
    what_to_do = "write the report with the fit: pass --report to hedgeclipper fit"
    assert what_to_do in Path("page.html").read_text(encoding="utf-8")
    assert what_to_do not in Path("fit.html").read_text(encoding="utf-8")


def test_the_report_gets_the_rows_as_the_files_have_them(command, monkeypatch):
    calls = []

    class Module:
        @staticmethod
        def write_report(model, path, **given):
            calls.append((model, path, given))
            Path(path).write_text("<html>")

    monkeypatch.setitem(sys.modules, "hedgeclipper.inspection.report", Module)
    cancer().to_csv("rows.csv", index=False)
    words = ("--target", "benign", "--model", "m.skops", "--report", "fit.html")
    assert command("fit", "rows.csv", *words).code == 0
    assert command("report", "m.skops", "rows.csv", "-o", "page.html").code == 0
    for model, _, given in calls:
        assert given["n_unlabeled"] == len(given["row_names"]) == 469
        assert given["about"] == {"file": "rows.csv", "target": "benign"}
        assert model.predict(given["X"]).shape == given["y"].shape == (100,)
        assert model.predict(given["X_unlabeled"]).shape == (469,)
    assert [str(path) for _, path, _ in calls] == ["fit.html", "page.html"]


@pytest.mark.parametrize(
    ("suffix", "word"),
    [("csv", None), ("csv", "word"), ("parquet", None), ("parquet", "word"), ("libsvm", None)],
)
@pytest.mark.parametrize("most", [1000, 40])
def test_rows_of_a_report_are_named_by_file_and_line(command, monkeypatch, suffix, word, most):
    monkeypatch.setattr("hedgeclipper.cli.table_commands.ROWS_IN_REPORT", most)
    given = {}
    monkeypatch.setattr(
        "hedgeclipper.inspection.report.write_report", lambda *_, **said: given.update(said)
    )
    frame = cancer()[:300].assign(number=np.arange(300.0))
    if word is not None:
        frame["word"] = ["a", "b", "c"] * 100
    write_table(frame[:150], "a", suffix)
    write_table(frame[150:200], "b", suffix)
    write_table(frame[200:].assign(benign=pd.NA), "more", suffix)
    data = f"[ab].{suffix}"
    words = ("--unlabeled", f"more.{suffix}", "-m", "m.skops", "--report", "r.html", "-q")
    target = () if suffix == "libsvm" else ("-t", "benign", "--keep", "number")
    assert command("fit", data, *words, *target).code == 0, command.err
    rows = given["X_unlabeled"]
    numbers = rows["number"] if hasattr(rows, "columns") else rows.toarray()[:, 6]
    unlabeled = frame.index[frame["benign"].isna() | (frame.index >= 200)]
    assert given["n_unlabeled"] == unlabeled.size
    assert len(given["row_names"]) == len(numbers) == min(most, unlabeled.size)
    first = 2 if suffix == "csv" else 1
    for number, name in zip(numbers.astype(int), given["row_names"], strict=True):
        file, start = ("a", 0) if number < 150 else ("b", 150) if number < 200 else ("more", 200)
        assert name == f"{file}.{suffix}:{number - start + first}"
        assert number in unlabeled


def write_table(frame, name, suffix):
    if suffix == "csv":
        frame.to_csv(f"{name}.csv", index=False)
    elif suffix == "parquet":
        frame.to_parquet(f"{name}.parquet")
    else:
        y = pd.to_numeric(frame["benign"]).astype("Float64").to_numpy(float, na_value=np.nan)
        lines = [
            " ".join([f"{label:g}", *(f"{k}:{value:g}" for k, value in enumerate(row, 1))])
            for label, row in zip(y, frame.drop(columns="benign").to_numpy(float), strict=True)
        ]
        Path(f"{name}.libsvm").write_text("\n".join(lines) + "\n")


@pytest.mark.usefixtures("other_sections")
def test_a_report_names_files_columns_and_rows(command):
    flowers().to_csv("rows.csv", index=False)
    words = ("--target", "species", "--model", "m.skops", "--report", "fit.html", "-q")
    assert command("fit", "rows.csv", *words).code == 0, command.err
    page = Path("fit.html").read_text(encoding="utf-8")
    unlabeled = np.flatnonzero(flowers()["species"].isna()) + 2
    named = {int(line) for line in re.findall(r"rows\.csv:(\d+)", page)}
    assert named
    assert named <= set(unlabeled.tolist())
    assert "day, month and weekday, read as %d/%m/%Y" in page
    votes, gold = crowd()
    votes.to_csv("votes.csv", index=False)
    gold[:40].to_csv("gold.csv", index=False)
    assert command("votes", "votes.csv", "--gold", "gold.csv", "--report", "v.html").code == 0
    page = Path("v.html").read_text(encoding="utf-8")
    assert "votes.csv" in page
    assert re.search(r">1(0[4-9]|1[01])\d<", page)
