import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest

import hedgeclipper
from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.bounds.intervals import proportion_bounds
from hedgeclipper.cli import main
from hedgeclipper.cli.tables import Files
from tests.command_line import cancer, crowd, flowers

MAX_ERROR = 0.02  # of the whole file


def write(frame, name):
    if name.endswith(".csv"):
        frame.to_csv(name, index=False)
    else:
        table = pyarrow.Table.from_pandas(frame, preserve_index=False)
        pyarrow.parquet.write_table(table, name)
    return name


def test_from_csv_with_strings_dates_and_missing_values_to_predictions(command):
    write(flowers(), "rows.csv")
    assert command("fit", "rows.csv", "--target", "species", "--model", "m.skops").code == 0
    assert "rows.csv: 150 rows, 60 labeled and 90 not" in command.out
    for column, what in {
        "petal_width": "15 missing, marked in a column of their own",
        "color": "2 values, a column of 0 and 1 for each",
        "seen": "weekday, read as %d/%m/%Y",
        "note": "text of its own in each row (150 values)",
        "planet": "it has the same value everywhere",
    }.items():
        line = next(line for line in command.out.splitlines() if line.strip().startswith(column))
        assert what in line
    assert command("predict", "m.skops", "rows.csv", "-o", "p.parquet").code == 0
    written = pd.read_parquet("p.parquet")
    names = ["setosa", "versicolor", "virginica"]
    assert list(written) == ["prediction", *(f"probability_{name}" for name in names)]
    truth = np.repeat(names, 50)
    assert np.mean(written["prediction"] == truth) > 0.9


def test_the_default_has_trees_and_other_voters(command):
    write(flowers(), "rows.csv")
    words = ["fit", "rows.csv", "-t", "species", "-m", "m.skops", "--report", "r.html"]
    assert main([*words, "--jobs", "1", "--seed", "3"]) == 0
    out, _ = command.capsys.readouterr()
    assert re.search(r"^Error +about \d+\.\d% on the 90 unlabeled rows", out, re.MULTILINE)
    names = list(hedgeclipper.load("m.skops").voter_names_)
    assert {"random forest", "linear", "boosting"} <= set(names)
    page = Path("r.html").read_text("utf-8")
    assert "permutation importance" in page
    assert re.search(r"Unlabeled rows: .*, in its trees", page)


@pytest.mark.parametrize("table", [cancer, flowers])
def test_the_summary_says_what_to_expect(command, table):
    frame = table()
    target = frame.columns[-1]
    write(frame, "rows.csv")
    command("fit", "rows.csv", "-t", target, "-m", "m.skops")
    lines = dict(re.findall(r"^(\w+)  +(.*)$", command.out, re.MULTILINE))
    assert re.match(r"about .*% interval .* to .*; always the most frequent class", lines["Error"])
    assert "guaranteed" not in command.out


def test_all_rows_labeled_and_a_class_that_is_minus_one(command):
    frame = cancer().dropna()
    frame["benign"] = frame["benign"].astype(int).replace(0, -1)
    write(frame, "rows.csv")
    command("fit", "rows.csv", "--target", "benign", "--model", "m.skops")
    assert command.code == 0
    assert "note: All rows are labeled, so that nothing is learned beyond them" in command.err
    assert hedgeclipper.load("m.skops").classes_.tolist() == [-1, 1]


def test_a_guarantee(command):
    cancer(n_labeled=300).to_csv("rows.csv", index=False)
    words = ("fit", "rows.csv", "-t", "benign", "-m")
    command(*words, "m.skops", "--confidence", 0.9, "--json")
    found = command.result["certificate"]
    assert (found["kind"], found["confidence_level"], found["reason"]) == ("guarantee", 0.9, "")
    assert found["n_tested"] == 150  # half of 300 labels
    _, upper = proportion_bounds(found["n_errors"], 150, 269, delta=0.1)
    assert found["error_upper"] == upper
    assert found["error"] == found["n_errors"] / 150
    assert 0 < found["error_lower"] < found["error"] < found["baseline"]
    command(*words, "n.skops", "--confidence", 0.95)
    assert re.search(r"^Error +at most .* errors on 150 held-out labels", command.out, re.MULTILINE)
    assert "guaranteed with 95% confidence" in command.out


@pytest.mark.parametrize("kind", ["numbers", "strings"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_automatic_labels_of_the_unlabeled_rows_are_a_guarantee(command, kind, suffix):
    frame = cancer(n_labeled=300)
    if kind == "strings":
        frame["color"] = np.random.default_rng(0).choice(["red", "blue"], len(frame))
    known = frame["benign"].notna()
    write(frame[known], f"rows.{suffix}")
    write(frame[~known].drop(columns="benign"), f"more.{suffix}")
    words = ("-t", "benign", "--unlabeled", f"more.{suffix}", "-m", "m.skops", "-q")
    assert command("fit", f"rows.{suffix}", *words, "--confidence", 0.95).code == 0
    predict = ("predict", "m.skops", f"more.{suffix}", "-o")
    command(*predict, "all.parquet", "-q")
    command(*predict, "sure.parquet", "--max-error", MAX_ERROR, "--json")
    found = command.result["automatic_labels"]
    assert (found["kind"], found["confidence_level"]) == ("guarantee", 0.95)
    sure, whole = pd.read_parquet("sure.parquet"), pd.read_parquet("all.parquet")
    review = sure["review"]
    assert 0 < review.sum() == found["n_review"] < 269
    pd.testing.assert_frame_equal(sure[whole.columns], whole)
    pd.testing.assert_series_equal(sure["label"].isna(), review, check_names=False)
    assert (sure["label"] == whole["prediction"].astype(str))[~review].all()
    # all labeled rows are more certain than the others, which are reviewed from the least certain
    surest = sure.filter(like="probability").max(axis=1)
    assert surest[~review].min() >= surest[review].max()
    assert sorted(sure["review_order"].dropna()) == list(range(1, review.sum() + 1))
    assert surest[review].iloc[sure["review_order"][review].argsort()].is_monotonic_increasing
    command(*predict, "sure.csv", "--max-error", MAX_ERROR)
    assert re.search(
        r"^Automatic +\d+ of 269 rows need no review.*: guaranteed with 95%",
        command.out,
        re.MULTILINE,
    )
    assert "was chosen before the labels were seen" in " ".join(command.out.split())
    again = pd.read_csv("sure.csv", dtype={"label": str})
    # missing strings are None in Parquet files and NaN in CSV files
    same = (one.astype(object).where(one.notna(), "") for one in (again, sure))
    pd.testing.assert_frame_equal(*same, check_dtype=False)


def test_a_model_file_remembers_the_first_question(command, monkeypatch):
    cancer(n_labeled=300).to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "-t", "benign", "-m", "m.skops", "--confidence", 0.95, "-q")

    def fail(*args, **options):
        raise PermissionError("read-only")

    with monkeypatch.context() as patched:
        patched.setattr("hedgeclipper.cli.predict_commands.save", fail)
        words = ("predict", "m.skops", "rows.csv", "--max-error", 0.1, "-o", "p.csv")
        assert command(*words).code == 0
    assert "cannot remember this --max-error (read-only)" in " ".join(command.err.split())
    for max_error, kind in ((0.1, "guarantee"), (0.2, "estimate"), (0.1, "guarantee")):
        words = ("--max-error", max_error, "-o", "p.csv", "--force", "--json")
        assert command("predict", "m.skops", "rows.csv", *words).code == 0, command.err
        assert command.result["automatic_labels"]["kind"] == kind
    command("fit", "rows.csv", "-t", "benign", "-m", "m.skops", "-q", "--force")
    before = Path("m.skops").read_bytes()  # an estimate anyway
    command("predict", "m.skops", "rows.csv", "--max-error", 0.1, "-o", "p.csv", "--force")
    assert Path("m.skops").read_bytes() == before


def test_automatic_labels_of_other_rows_are_an_estimate(command):
    frame = cancer(n_labeled=300)
    write(frame, "rows.csv")
    frame[::-1].to_csv("reversed.csv", index=False)
    command("fit", "rows.csv", "-t", "benign", "-m", "m.skops", "--confidence", 0.95, "-q")
    words = ("predict", "m.skops", "reversed.csv", "--max-error", 0.1, "--confidence", 0.9)
    assert command(*words, "-o", "p.csv").code == 0
    assert (pd.read_csv("p.csv")["source"].dropna() == "prediction").all()
    assert re.search(r"^Automatic .*: an estimate at 90% confidence", command.out, re.MULTILINE)
    assert "It is no guarantee, since these are not the unlabeled" in " ".join(command.out.split())


def test_labels_of_people_are_kept_beside_a_column_that_is_not_used(command):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=500), "color": rng.choice(["red", "blue"], 500)})
    frame["planet"] = "earth"  # one value, which tells nothing
    truth = np.where(frame["size"] > 0, "big", "small")
    write(frame, "rows.csv")
    command("sample", "rows.csv", "-n", 200, "-o", "to_label.csv", "-q")
    sample = pd.read_csv("to_label.csv")
    # people know better than the columns here and there
    sample["label"] = truth[sample["row"]]
    sample.loc[::20, "label"] = sample["label"][::20].map({"big": "small", "small": "big"})
    sample.to_csv("labels.csv", index=False)
    fit = ("fit", "rows.csv", "--labels", "labels.csv", "-m", "m.skops")
    assert command(*fit, "--confidence", 0.95, "-q").code == 0, command.err
    command("predict", "m.skops", "rows.csv", "--max-error", 0.15, "-o", "out.csv", "--json")
    assert command.result["automatic_labels"]["kind"] == "guarantee"
    out = pd.read_csv("out.csv").loc[sample["row"]]
    assert out["label"].tolist() == sample["label"].tolist()
    assert not (out["source"] == "prediction").any()


def test_no_row_is_labeled_where_labels_are_too_few(command):
    cancer(n_labeled=40).to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "-t", "benign", "-m", "m.skops", "-q")
    assert command("predict", "m.skops", "rows.csv", "-o", "p.csv", "--max-error", 0.01).code == 0
    words = " ".join(command.out.split())
    assert re.search(r"all \d+ rows need review .* random test labels are needed", words)
    assert pd.read_csv("p.csv")["review"].sum() == 529  # all but those with a label


def test_json_is_all_there_is_on_standard_output_and_quiet_prints_nothing(command):
    write(cancer(), "rows.csv")
    words = ("fit", "rows.csv", "--target", "benign", "--model", "m.skops")
    command(*words, "--quiet")
    assert (command.code, command.out, command.err) == (0, "", "")
    command(*words, "--json", "--force")
    assert command.err == ""
    found = command.result["certificate"]
    assert (found["kind"], found["confidence_level"]) == ("estimate", 0.95)
    assert found["error_lower"] < found["error"] < found["error_upper"]
    assert "the fit used the labels" in found["reason"]
    assert command.result["notes"] == []
    assert command(*words, "--json").code == 4
    assert command.result == {
        "error": f"{Path('m.skops').resolve()} exists already. Pass --force to replace it.",
        "exit_code": 4,
    }


def test_columns_the_model_does_not_know_are_noted(command):
    frame = cancer()
    write(frame, "rows.csv")
    command("fit", "rows.csv", "--target", "benign", "--model", "m.skops", "-q")
    frame[frame.columns[::-1]].assign(other="word").to_csv("more.csv", index=False)
    command("predict", "m.skops", "more.csv", "-o", "more.parquet")
    assert command.code == 0
    assert "note: Columns that the model does not know are not used: other." in command.err
    command("predict", "m.skops", "rows.csv", "-o", "p.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet("more.parquet"), pd.read_parquet("p.parquet"))


def test_a_new_string_and_a_bad_date_do_not_stop_predictions(command):
    frame = flowers()
    write(frame, "rows.csv")
    command("fit", "rows.csv", "--target", "species", "--model", "m.skops", "-q", "--balanced")
    assert hedgeclipper.load("m.skops").class_weight == "balanced"
    frame["color"], frame["seen"] = "orange", "soon"
    frame.drop(columns=["species", "note"]).to_csv("more.csv", index=False)
    assert command("predict", "m.skops", "more.csv", "-o", "p.csv").code == 0
    assert len(pd.read_csv("p.csv")) == 150
    assert "note: Column 'seen' has 1 value that the model does not know, such as 'soon' (150)" in (
        command.err
    )


def test_what_may_be_wrong_with_a_column_is_noted(command):
    frame = flowers().assign(seen="01/02/2020", size=[f"{k},5" for k in range(150)])
    frame.loc[0, "seen"] = "02/03/2020"
    frame.loc[1, "petal_length"] = 99
    frame["petal_length"] = frame["petal_length"].astype(str).replace("99.0", "wide")
    write(frame, "rows.csv")
    command("fit", "rows.csv", "--target", "species", "--model", "m.skops", "--json")
    model = hedgeclipper.load("m.skops")
    assert model.encoding_.to_dict("records") == command.result["columns"]
    assert (model.fit_files_["target"], model.class_weight) == ("species", None)
    assert command.result["notes"] == [
        "Column 'petal_length': 'wide' and the like in 1 row are no numbers, and are read as "
        "missing.",
        "Column 'seen': 02/03/2020 may begin with the day or the month, and is read with the day "
        "first.",
        "Column 'note' is left out: text that is different in each row, as an id is, cannot be "
        "used.",
        "Column 'size' is left out: '0,5' and the like in 150 rows make its numbers strings; write "
        "numbers as 1234.5, and leave the place of a missing one empty.",
    ]


@pytest.mark.usefixtures("other_sections")
def test_a_report_names_files_columns_and_rows(command):
    write(flowers(), "rows.csv")
    words = ("--target", "species", "--model", "m.skops", "--report", "fit.html", "-q")
    assert command("fit", "rows.csv", *words).code == 0, command.err
    page = Path("fit.html").read_text(encoding="utf-8")
    unlabeled = np.flatnonzero(flowers()["species"].isna()) + 2
    named = {int(line) for line in re.findall(r"rows\.csv:(\d+)", page)}
    assert named
    assert named <= set(unlabeled.tolist())
    assert "weekday, read as %d/%m/%Y" in page
    bars = re.findall(r'aria-label="(\w+): -?\d\.\d{3}"', page)
    numbers = {"sepal_length", "sepal_width", "petal_length", "petal_width"}
    assert set(bars) == numbers | {"color", "seen", "wet"}
    assert bars[0] not in ("color", "wet")  # which are drawn at random
    votes, gold = crowd()
    votes.to_csv("votes.csv", index=False)
    gold[:40].to_csv("gold.csv", index=False)
    assert command("votes", "votes.csv", "--gold", "gold.csv", "--report", "v.html").code == 0
    page = Path("v.html").read_text(encoding="utf-8")
    assert "votes.csv" in page
    assert re.search(r">1(0[4-9]|1[01])\d<", page)


@pytest.mark.parametrize("table", [cancer, flowers])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_evaluate_is_the_method_of_the_model(command, table, suffix):
    frame = table(n_labeled=569).sample(frac=1, random_state=0)
    target = frame.columns[-1]
    write(frame[:60], "train.csv")
    name = write(frame[60:], f"test.{suffix}")
    command("fit", "train.csv", "-t", target, "-m", "m.skops", "-q")
    assert command("evaluate", "m.skops", name, "--target", target, "--json").code == 0
    model = hedgeclipper.load("m.skops")
    ours, theirs = command.result, model.evaluate(frame[60:], target)
    assert ours["accuracy"] == pytest.approx(theirs.accuracy)
    assert ours["auc_interval"] == pytest.approx(list(theirs.auc_interval))
    assert ours["confusion"] == theirs.confusion.tolist()
    assert ours["classes"] == theirs.classes.tolist()
    command("evaluate", "m.skops", name)
    for text in ("Accuracy", "AUC", "Log loss", "Calibration", "always", "Recall", "% interval"):
        assert text in command.out


def test_evaluate_with_another_target_and_unlabeled_rows(command):
    frame = cancer(n_labeled=569).sample(frac=1, random_state=0)
    write(frame[:60], "train.csv")
    test = frame[60:].rename(columns={"benign": "truth"}).astype({"truth": object})
    test.iloc[:9, -1] = None
    test.iloc[9:12, -1] = "other"
    test.to_csv("test.csv", index=False)
    command("fit", "train.csv", "-t", "benign", "-m", "m.skops", "-q")
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
    assert "has no column 'benign' for --target" in command.err
    assert command("evaluate", "m.skops", "test.csv", "-t", "mean_area").code == 3
    assert "'mean_area' has no class of the model" in command.err


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_rows_of_a_report_are_named_by_file_and_line_or_by_key(command, monkeypatch, suffix):
    given = {}
    monkeypatch.setattr(
        "hedgeclipper.report.page.write_report", lambda *_, **said: given.update(said)
    )
    frame = cancer()[:300].assign(number=np.arange(300.0), patient=[f"0{k}" for k in range(300)])
    write(frame[:150], f"a.{suffix}")
    write(frame[150:200], f"b.{suffix}")
    write(frame[200:].drop(columns="benign"), f"more.{suffix}")
    words = ("-t", "benign", "--unlabeled", f"more.{suffix}", "--report", "r.html", "-q", "-f")
    words = ("fit", f"[ab].{suffix}", *words, "--keep", "number", "-m", "m.skops")
    assert command(*words).code == 0, command.err
    assert given["about"]["file"] == f"a.{suffix} and 1 more"
    unlabeled = np.flatnonzero(frame["benign"].isna() | (frame.index >= 200))
    assert given["X_unlabeled"]["number"].tolist() == unlabeled.tolist()
    first = 2 if suffix == "csv" else 1
    for number, name in zip(unlabeled, given["row_names"], strict=True):
        file, start = ("a", 0) if number < 150 else ("b", 150) if number < 200 else ("more", 200)
        assert name == f"{file}.{suffix}:{number - start + first}"
    assert command(*words, "--id", "patient").code == 0
    assert given["row_names"] == [f"0{k}" for k in unlabeled]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_key_is_in_predictions(command, suffix):
    frame = flowers()
    frame.insert(1, "patient", [f"0{k}" for k in range(len(frame))])
    write(frame, f"rows.{suffix}")
    name = f"rows.{suffix}"
    assert command("fit", name, "-t", "species", "-m", "m.skops", "--id", "patient").code == 0
    assert "patient" not in hedgeclipper.load("m.skops").feature_names_in_
    assert command("predict", "m.skops", name, "-o", "p.parquet", "-q").code == 0
    written = pd.read_parquet("p.parquet")
    assert list(written.columns[:2]) == ["patient", "prediction"]
    assert written["patient"].tolist() == frame["patient"].tolist()
    frame.rename(columns={"patient": "case"}).to_csv("others.csv", index=False)
    assert command("predict", "m.skops", "others.csv", "-o", "o.csv", "--id", "case").code == 0
    assert list(pd.read_csv("o.csv").columns[:2]) == ["case", "prediction"]
    assert command("predict", "m.skops", "others.csv", "-o", "q.csv", "--id", "cas").code == 3
    assert "Did you mean 'case'?" in command.err


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


def test_labels_of_no_row_are_noted_and_more_unlabeled_rows_need_no_key(command):
    split(cancer)
    write(cancer().drop(columns="benign"), "more.csv")
    more = pd.DataFrame({"case": [1, 2], "benign": [0, 1]})
    write(pd.concat([pd.read_csv("labels.csv"), more]), "labels.csv")
    words = ("--labels", "labels.csv", "--unlabeled", "more.csv", "-m", "m", "--json")
    assert command("fit", "rows.csv", "-t", "benign", *words).code == 0, command.err
    assert command.result["n_unlabeled"] == 569 * 2 - 100
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
