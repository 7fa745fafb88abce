from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hedgeclipper import audit, draw_sample
from hedgeclipper.cli.output import ExitCode
from tests.command_line import flowers

N_ROWS = 1200


def make(run):
    """Write rows, predictions of a language model, and a sample with all labels."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "id": [f"doc-{k}" for k in range(N_ROWS)],
            "length": rng.integers(10, 500, N_ROWS),
            "price": np.where(rng.random(N_ROWS) < 0.9, "7.50", None),
            "country": rng.choice(["AT", "DE"], N_ROWS),
        }
    )
    truth = pd.Series(np.where(rng.random(N_ROWS) < 0.3, "spam", "ham"), rows["id"])
    score = rng.random(N_ROWS)
    wrong = rng.random(N_ROWS) < 0.25 * (1 - score)
    predicted = np.where(wrong, np.where(truth == "spam", "ham", "spam"), truth)
    rows.to_csv("rows.csv", index=False)
    rows.assign(prediction=predicted, score=score).to_csv("predictions.csv", index=False)
    run("sample", "rows.csv", "-n", 200, "-o", "checked.csv", "--seed", 3)
    frame = pd.read_csv("checked.csv", dtype=str)
    frame.assign(label=frame["id"].map(truth)).to_csv("checked.csv", index=False)
    return truth


@pytest.fixture
def checked(truth):
    """The sample with all its labels, as a frame of text."""
    return pd.read_csv("checked.csv", dtype=str)


AUDIT = ("audit", "predictions.csv", "--labels", "checked.csv", "--confidence-column", "score")


def test_from_a_sample_to_rows_that_need_no_review(command, truth, checked):
    command(*AUDIT, "--max-error", 0.05, "-o", "labels.csv", "--by", "country", "--class", "spam")
    assert command.code == 0, command.err
    for part in (
        "200 of 1,200 rows, drawn at random with seed 3",
        "guaranteed with 95% confidence",
        "To prove a recall of 95%",
        "for all segments and also for all classes together",
        "country",
    ):
        assert part in command.out
    labels = pd.read_csv("labels.csv")
    assert len(labels) == N_ROWS
    right = truth.to_numpy()
    assert labels["label"].isna().equals(labels["review"])
    automatic = labels[labels["source"] == "prediction"]
    assert (automatic["label"] == automatic["prediction"]).all()
    assert 0.3 * N_ROWS < len(automatic) == N_ROWS - 200 - labels["review"].sum()
    by_people = labels["source"] == "people"
    assert by_people.sum() == 200
    assert (labels["label"] == right)[by_people].all()
    order = labels.loc[labels["review"]].sort_values("review_order")
    assert order["review_order"].tolist() == list(range(1, len(order) + 1))
    assert order["score"].is_monotonic_increasing


def test_a_sample_of_csv_fits_predictions_in_parquet(command, truth):
    rows = pd.read_csv("rows.csv", dtype=str).assign(
        day=pd.date_range("2020-01-01", periods=N_ROWS).strftime("%Y-%m-%d"),
        wet=np.where(np.arange(N_ROWS) % 2, "true", "false"),
        code=[f"{k:05d}" for k in range(N_ROWS)],
    )
    rows.to_csv("rows.csv", index=False)
    command("sample", "rows.csv", "-n", 100, "-o", "to_label.csv")
    sample = pd.read_csv("to_label.csv")
    sample.assign(label=sample["id"].map(truth)).to_csv("checked.csv", index=False)
    rows["price"] = rows["price"].astype(float)
    rows.assign(prediction=truth.to_numpy()).to_parquet("predictions.parquet")
    command("audit", "predictions.parquet", "--labels", "checked.csv", "--json")
    assert command.code == 0, command.err
    assert command.result["notes"] == []
    changed = rows.assign(day=rows["day"].where(rows["id"] != "doc-7", "2020-01-09"))
    changed.assign(prediction=truth.to_numpy()).to_parquet("predictions.parquet")
    command("audit", "predictions.parquet", "--labels", "checked.csv")
    assert command.code == ExitCode.DATA


@pytest.mark.parametrize("name", ["predictions.csv", "checked.csv"])
def test_columns_may_be_moved_in_a_file(command, truth, name):
    changed(name, lambda f: f[f.columns[::-1]])
    command(*AUDIT, "--json")
    assert command.code == 0, command.err
    assert command.result["is_recorded"]


def test_the_result_as_json_is_that_of_python(command, truth, checked):
    result = command(*AUDIT, "--max-error", 0.05, "--json").result
    predictions = pd.read_csv("predictions.csv")
    sample = draw_sample(N_ROWS, 200, seed=3)
    found = audit(
        predictions["prediction"],
        sample,
        truth.to_numpy()[sample.rows],
        confidences=predictions["score"],
        max_error=0.05,
    )
    assert result["error_upper"] == found.error_upper
    assert result["n_to_review"] == found.needs_review.sum()
    assert result["kind"] == "guarantee"
    assert result["is_recorded"]


def test_rows_without_a_prediction_need_no_number(command, truth):
    """Such as rows of which a language model has not answered."""
    table = pd.read_csv("predictions.csv")
    table.loc[[5, 70], ["prediction", "score"]] = None
    table.to_csv("predictions.csv", index=False)
    command(*AUDIT, "--max-error", 0.1, "-o", "labels.csv")
    assert command.code == 0, command.err
    assert pd.read_csv("labels.csv")["review_order"][[5, 70]].tolist() == [2, 1]


def test_a_gate_passes_and_fails(command, checked):
    assert command(*AUDIT, "--fail-if-above", 0.5).code == ExitCode.DONE
    assert "Passed" in command.out
    assert "at every look" in command.out
    assert command(*AUDIT, "--fail-if-above", 0.05, "--json").code == ExitCode.ABOVE_LIMIT == 6
    assert not command.result["passed"]
    checked[["id", "label"]].to_csv("checked.csv", index=False)  # without a record
    assert command(*AUDIT, "--fail-if-above", 0.5).code == 0
    assert "assumes that the checked rows are a random sample" in command.out
    assert "holds for one run" in command.err


def test_the_surest_rows_are_no_random_sample(command, truth):
    table = pd.read_csv("predictions.csv").sort_values("score", ascending=False)[:150]
    table.assign(label=table["id"].map(truth))[["id", "label"]].to_csv("checked.csv", index=False)
    command(*AUDIT, "--fail-if-above", 0.9)
    assert command.code == ExitCode.ABOVE_LIMIT
    assert "No guarantee, since checked rows differ" in command.out


def test_labels_so_far_count_at_every_look(command, checked):
    checked["label"] = checked["label"].where(checked["position"].astype(int) <= 120)
    checked.sample(frac=1, random_state=0).to_csv("checked.csv", index=False)
    assert command(*AUDIT, "--sequential", "--json").result["n_checked"] == 120
    assert command(*AUDIT, "--json").result["n_skipped"] == 80
    assert "80 of 200 rows of the sample have no label" in command.result["notes"][0]


def test_lines_that_are_missing_count_as_wrong_and_lines_twice_count_once(command, checked):
    checked.iloc[5:].to_csv("checked.csv", index=False)
    assert command(*AUDIT, "--json").result["n_skipped"] == 5
    again = checked.iloc[:9].copy()
    again.loc[4:, "label"] = None
    pd.concat([again, checked]).to_csv("checked.csv", index=False)
    command(*AUDIT, "--json")
    assert (command.result["n_checked"], command.result["n_skipped"]) == (200, 0)


def test_more_rows_of_the_same_order(command, truth, checked):
    words = ("sample", "rows.csv", "-n", 300, "--extend", "checked.csv", "-o", "more.csv")
    assert command(*words).code == 0, command.err
    more = pd.read_csv("more.csv", dtype=str)
    assert more["row"].tolist()[:200] == checked["row"].tolist()
    assert more["label"].notna().sum() == 200
    more.assign(label=more["id"].map(truth)).to_csv("checked.csv", index=False)
    command(*AUDIT, "--json")
    assert command.result["kind"] == "estimate"
    assert command(*AUDIT, "--json", "--sequential").result["kind"] == "guarantee"


def test_rows_that_have_a_label_are_not_drawn(command, truth):
    rows = pd.read_csv("rows.csv", dtype=str)
    rows["kind"] = truth.to_numpy()
    rows.loc[np.arange(N_ROWS) % 4 > 0, "kind"] = None
    rows.loc[1, "kind"] = " "  # no label, as fit and audit have it
    rows.to_csv("rows.csv", index=False)
    predictions = pd.read_csv("predictions.csv", dtype=str)
    predictions.assign(kind=rows["kind"]).to_csv("predictions.csv", index=False)
    command("sample", "rows.csv", "-n", 150, "--target", "kind", "-o", "to_label.csv")
    assert command.code == 0, command.err
    frame = pd.read_csv("to_label.csv", dtype=str)
    assert (frame["row"].astype(int) % 4 > 0).all()
    frame.assign(kind=frame["id"].map(truth)).to_csv("checked.csv", index=False)
    words = ("--label-column", "kind", "--max-error", 0.1, "-o", "labels.csv")
    command(*AUDIT, *words, "--json")
    assert command.code == 0, command.err
    assert (command.result["n_pool"], command.result["n_rows"]) == (900, N_ROWS)
    labels = pd.read_csv("labels.csv")
    before = np.arange(N_ROWS) % 4 == 0
    assert (labels["label"][before] == truth.to_numpy()[before]).all()
    assert not labels["review"][before].any()
    later = pd.read_csv("predictions.csv", dtype=str)
    others = later.index[~before & ~later["id"].isin(frame["id"])]
    later.loc[others[:3], "kind"] = "ham"
    later.to_csv("predictions.csv", index=False)
    command(*AUDIT, "--label-column", "kind", "--json")
    assert command.result["kind"] == "estimate"
    assert "labeled after the draw" in command.result["reason"]


def test_two_people_and_a_third(command, truth, checked):
    second = checked["label"].where(checked.index >= 10, swapped(checked["label"]))
    checked.assign(label=second).to_csv("second.csv", index=False)
    words = (*AUDIT, "--labels", "second.csv")
    command(*words)
    assert "Two people agree on 190 of 200 rows" in command.out
    assert "10 rows stay open" in command.out
    checked.assign(label=checked["label"].where(checked.index < 7)).to_csv("third.csv", index=False)
    command(*words, "--labels", "third.csv", "--json")
    agreement = command.result["agreement"]
    assert (agreement["n_settled"], agreement["n_open"]) == (7, 3)
    assert command.result["n_skipped"] == 3


def changed(name, change):
    """Write a file anew, changed."""
    change(pd.read_csv(name, dtype=str)).to_csv(name, index=False)


def one_cell(row, column, value):
    def change(frame):
        frame.loc[row, column] = value
        return frame

    return change


def swapped(labels):
    return labels.map({"ham": "spam", "spam": "ham"})


CHECKED, PREDICTIONS = "checked.csv", "predictions.csv"
BROKEN = {
    "differ in 'id' of": (PREDICTIONS, lambda f: f.sort_values("score")),
    "The sample was drawn from 1,200 rows. Got 1,000": (PREDICTIONS, lambda f: f[:1000]),
    "checked.csv is not as it was drawn: 1 rows are not those that were drawn: row 7": (
        CHECKED,
        one_cell(4, "row", "7"),
    ),
    "is not the file that checked.csv was drawn from": (  # in a row that was not drawn
        PREDICTIONS,
        lambda f: f.assign(
            length=f["length"].where(f.index != min({*range(201)} - {*drawn_rows()}), "1")
        ),
    ),
    "has different labels for row ": (
        CHECKED,
        lambda f: pd.concat([f, f[:2].assign(label=swapped(f["label"]))]),
    ),
    "predictions.csv has no id 'doc-99999'": (
        CHECKED,
        lambda f: f[["id", "label"]].assign(id="doc-99999"),
    ),
    "does not say which rows it is about": (CHECKED, lambda f: f[["label"]]),
    "None of the 200 checked rows has a label": (CHECKED, lambda f: f.assign(label="")),
    "Column 'score' of predictions.csv must hold finite numbers. Got inf in row 5": (
        PREDICTIONS,
        one_cell(5, "score", "inf"),
    ),
    "must hold finite numbers. Got 'high' in row 5": (PREDICTIONS, one_cell(5, "score", "high")),
    "rows are not those that were drawn": (
        CHECKED,
        lambda f: f.assign(record=f["record"].str.replace("seed=3", "seed=4")),
    ),
    "must have one record. Got 2": (CHECKED, one_cell(3, "record", "seed=9")),
}


def drawn_rows():
    return pd.read_csv(CHECKED)["row"]


@pytest.mark.parametrize(("said", "broken"), BROKEN.items(), ids=BROKEN)
def test_files_that_were_changed_in_between(command, truth, said, broken):
    changed(*broken)
    command(*AUDIT)
    assert command.code in (ExitCode.DATA, ExitCode.USAGE)
    assert said in command.err
    assert command.err.startswith("error: ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--uncertainty-column", "score"], "exclude each other"),
        (["-o", "labels.csv"], "needs --max-error"),
        (["--max-error", "0"], "between 0 and 1"),
        (["--max-error", "1"], "between 0 and 1"),
        (["--class", "eggs"], "No prediction and no label is 'eggs'"),
        (["--by", "land"], "has no column 'land'"),
        (["--prediction-column", "guess"], "has no column 'guess'"),
        (["--label-column", "guess"], "has no column 'guess'"),
        (["--labels", "a", "--labels", "b", "--labels", "c"], "at most 3 files"),
    ],
)
def test_wrong_options(command, checked, words, message):
    command(*AUDIT, *words)
    assert command.code in (ExitCode.DATA, ExitCode.USAGE)
    assert message in command.err


def test_labels_of_people_are_not_replaced_even_if_forced(command, checked):
    before = Path("checked.csv").read_bytes()
    command(*AUDIT, "--max-error", 0.05, "-o", "checked.csv", "--force")
    assert command.code == ExitCode.USAGE
    assert "checked.csv is read by this command and cannot be written by it" in command.err
    assert Path("checked.csv").read_bytes() == before


def test_a_sample_of_groups_is_refused(command, truth):
    table = pd.read_csv("predictions.csv")
    table.assign(person=np.arange(N_ROWS) // 30).to_csv("predictions.csv", index=False)
    labels = pd.DataFrame({"row": range(60, 150)}).assign(label=truth.to_numpy()[60:150])
    labels.to_csv("checked.csv", index=False)
    command(*AUDIT, "--groups", "person")
    assert command.code == ExitCode.DATA
    assert "A sample of groups is no sample of rows" in command.err
    assert "with `hedgeclipper sample`" in command.err


@pytest.fixture
def flower_rows():
    flowers().to_csv("rows.csv", index=False)


def test_a_sample_is_the_draw_of_python(command, flower_rows):
    command("sample", "rows.csv", "-n", 20, "-t", "species", "-o", "to_label.csv", "--seed", 5)
    frame = pd.read_csv("to_label.csv")
    known = flowers()["species"].notna().to_numpy()
    sample = draw_sample(150, 20, seed=5, excluded=known)
    assert frame["row"].tolist() == sample.rows.tolist()
    assert frame["position"].tolist() == list(range(1, 21))
    assert frame["note"].tolist() == [f"flower {row}" for row in sample.rows]
    assert frame["species"].isna().all()
    assert "20 of 90 rows, drawn at random with seed 5 (60 more rows had a label" in command.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-n", 151], "151 rows cannot be drawn: there are 150 rows"),
        (["-n", 0], "at least 1"),
        (["-n", 91, "-t", "species"], "there are 90 rows without a label (60 more have one)"),
        (["-n", 5, "-t", "kind"], "has no column 'kind'"),
        (
            ["-n", 5, "-t", "species", "--extend", "rows.csv"],
            "is no sample of `hedgeclipper sample`",
        ),
    ],
)
def test_what_cannot_be_drawn(command, flower_rows, words, message):
    command("sample", "rows.csv", "-o", "to_label.csv", *words)
    assert command.code in (ExitCode.DATA, ExitCode.USAGE)
    assert message in command.err


def test_columns_that_are_written_here(command):
    flowers().assign(label=1).to_csv("rows.csv", index=False)
    command("sample", "rows.csv", "-n", 5, "-o", "to_label.csv")
    assert "Pass --target label if these are labels" in command.err
    flowers().assign(row=1).to_csv("rows.csv", index=False)
    command("sample", "rows.csv", "-n", 5, "-o", "to_label.csv")
    assert "has a column 'row' itself" in command.err
