import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hedgeclipper
from tests.command_line import crowd


def write(votes, gold):
    votes.to_csv("votes.csv", index=False)
    gold.to_csv("gold.csv", index=False)


@pytest.mark.parametrize("form", ["wide", "long"])
def test_votes(command, form):
    votes, gold = crowd()
    if form == "long":
        votes = votes.melt("item", var_name="worker", value_name="label")
        votes = votes.rename(columns={"item": "task"}).dropna()
    write(votes, gold[:40])
    command("votes", "votes.csv", "--gold", "gold.csv", "-o", "labels.parquet", "-m", "v.skops")
    assert command.code == 0
    assert "120 rows, 3 voters" in command.out
    assert command.out.index("ann") < command.out.index("eve")
    assert re.search(r"^Error +about \d+\.\d% on the 80 unlabeled rows", command.out, re.MULTILINE)
    accuracies = re.findall(r"(\d+\.\d)% +(\d+\.\d)% to (\d+\.\d)%", command.out)
    assert len(accuracies) == 3
    assert all(float(low) <= float(shown) <= float(high) for shown, low, high in accuracies)
    assert re.search(r"^Rates +cat \d+\.\d% \(95% interval", command.out, re.MULTILINE)
    labels = pd.read_parquet("labels.parquet")
    key = "item" if form == "wide" else "task"
    assert list(labels)[:3] == [key, "label", "is_gold"]
    assert labels["is_gold"].sum() == 40
    merged = labels.set_index(key)["label"].loc[gold["item"].astype(str)].to_numpy()
    assert (merged[:40] == gold["truth"][:40]).all()
    assert np.mean(merged[40:] == gold["truth"][40:]) > 0.7
    assert hedgeclipper.load("v.skops").classes_.tolist() == ["cat", "dog", "fish"]


@pytest.mark.parametrize("strings", [True, False])
def test_a_long_table_with_minus_one_for_none(command, strings):
    votes, gold = crowd()
    codes = {"cat": 0, "dog": 1, "fish": 2}
    votes.loc[50, ["ann", "bob", "eve"]] = None  # a task on which all abstain
    votes = votes.melt("item", var_name="worker", value_name="label")
    votes = votes.rename(columns={"item": "task"})
    if not strings:
        votes["label"] = votes["label"].map(codes).astype("Int64")
        gold["truth"] = gold["truth"].map(codes)
    votes["label"] = votes["label"].astype(object).where(votes["label"].notna(), -1)
    write(votes, gold[:40])
    command("votes", "votes.csv", "--gold", "gold.csv", "-o", "labels.csv", "--json")
    assert command.code == 0
    assert command.result["classes"] == (list(codes) if strings else [0, 1, 2])
    labels = pd.read_csv("labels.csv")
    assert len(labels) == 120


def test_votes_in_numbers_with_minus_one_for_none(command):
    votes, gold = crowd()
    codes = {"cat": 0, "dog": 1, "fish": 2}
    votes = votes.drop(columns="item").apply(lambda column: column.map(codes)).fillna(-1)
    gold = gold.assign(item=range(120), truth=gold["truth"].map(codes))
    write(votes.astype(int), gold[:40])
    command("votes", "votes.csv", "--gold", "gold.csv", "--json")
    assert command.code == 0
    assert command.result["classes"] == [0, 1, 2]
    assert command.result["n_gold"] == 40
    assert {voter["voter"] for voter in command.result["voters"]} == {"ann", "bob", "eve"}


def test_columns_that_hold_no_votes(command):
    votes, gold = crowd()
    write(votes.assign(text=[f"text {k % 8}" for k in range(120)]), gold[:40])
    words = ("votes", "votes.csv", "--gold", "gold.csv")
    assert "note: Some votes are for classes without a gold label" in command(*words).err
    assert "--abstain 'text 0' if it means no vote" in command.err
    command(*words, "--drop", "text", "--json")
    assert command.result["classes"] == ["cat", "dog", "fish"]
    assert command.result["notes"] == []


def test_votes_where_minus_one_is_a_class(command):
    pd.DataFrame({"a": [1, -1, 1, -1, None], "b": [1, -1, -1, -1, 1]}).to_csv("v.csv", index=False)
    pd.DataFrame({"row": [0, 1], "label": [1, -1]}).to_csv("g.csv", index=False)
    command("votes", "v.csv", "--gold", "g.csv", "-o", "out.csv")
    assert command.code == 0
    assert "note: -1 is a gold label, so that only missing votes abstain." in command.err
    assert pd.read_csv("out.csv")["label"].tolist()[:2] == [1, -1]


def test_votes_with_a_guarantee_and_automatic_labels(command):
    votes, gold = crowd(1200)
    write(votes, gold[:400])
    words = ("votes", "votes.csv", "--gold", "gold.csv", "--confidence", 0.9)
    assert command(*words, "-o", "all.csv", "--json").code == 0
    certificate = command.result["certificate"]
    assert (certificate["kind"], certificate["confidence_level"]) == ("guarantee", 0.9)
    assert certificate["n_tested"] == 233  # three more than can prove an error of 1%
    assert command(*words, "-o", "labels.csv", "--max-error", 0.02, "--json").code == 0
    found = command.result["automatic_labels"]
    assert (found["kind"], found["reason"], found["max_error"]) == ("guarantee", "", 0.02)
    labels, whole = pd.read_csv("labels.csv"), pd.read_csv("all.csv")
    is_open = labels["label"].isna()
    labels["is_gold"] = labels["source"] == "people"
    assert labels["is_gold"].sum() == 400
    assert 0 < is_open.sum() == found["n_review"]
    pd.testing.assert_series_equal(labels["review"], is_open, check_names=False)
    assert sorted(labels["review_order"].dropna()) == list(range(1, is_open.sum() + 1))
    pd.testing.assert_frame_equal(labels.loc[~is_open, whole.columns], whole[~is_open])
    command(*words[:-2], "--max-error", 0.02)
    words = " ".join(command.out.split())
    assert re.search(r"Automatic [\d,]+ of 800 rows need no review.* an estimate", words)
    assert "It is no guarantee, since the fit used the labels" in words


def test_the_index_of_a_frame_is_the_key(command):
    """What ``frame.to_csv()`` writes: an index without a name, in votes and in gold labels."""
    votes, gold = crowd()
    votes.set_index("item").rename_axis(None).to_csv("votes.csv")
    gold[:40].set_index("item").rename_axis(None).to_csv("gold.csv")
    command("votes", "votes.csv", "--gold", "gold.csv", "-o", "labels.csv")
    assert command.code == 0
    assert "120 rows, 3 voters" in command.out
    labels = pd.read_csv("labels.csv").set_index("row")["label"]
    assert (labels.loc[gold["item"][:40]].to_numpy() == gold["truth"][:40]).all()


def test_gold_labels_in_a_column_of_the_votes_and_in_another_spelling(command):
    votes, gold = crowd()
    votes["truth"] = np.where(np.arange(120) < 40, gold["truth"].str.upper(), None)
    votes.drop(columns="item").to_csv("votes.csv", index=False)
    words = ("-m", "v.skops", "--json")
    assert command("votes", "votes.csv", "--gold", "truth", *words).code == 0, command.err
    assert command.result["classes"] == ["cat", "dog", "fish"]
    assert (command.result["n_gold"], len(command.result["voters"])) == (40, 3)
    assert "Read as one class 'fish' of 'votes and gold labels': " in command.result["notes"][0]
    new = votes[["bob", "ann", "eve"]]
    new.to_csv("new.csv", index=False)
    assert command("predict", "v.skops", "new.csv", "-o", "p.csv").code == 0, command.err
    model = hedgeclipper.load("v.skops")
    assert pd.read_csv("p.csv")["label"].tolist() == model.predict(new).tolist()
    assert command("evaluate", "v.skops", "votes.csv").code != 0
    assert "is a model of votes, which this command does not take" in command.err


@pytest.mark.parametrize("classes", [["cat", "dog", "fish"], [1001, 1002, 1003]])
def test_a_key_beside_gold_labels_in_a_column_is_no_voter(command, classes):
    number = dict(zip(["cat", "dog", "fish"], classes, strict=True))
    votes, gold = (one.apply(lambda own: [number.get(x, x) for x in own]) for one in crowd())
    votes["truth"] = gold["truth"].where(np.arange(120) < 40)
    votes.to_csv("votes.csv", index=False)
    command("votes", "votes.csv", "--gold", "truth", "-o", "labels.csv", "--json")
    assert command.code == 0, command.err
    assert {one["voter"] for one in command.result["voters"]} == {"ann", "bob", "eve"}
    assert "Column 'item' names the rows, since it" in command.result["notes"][0]
    labels = pd.read_csv("labels.csv")
    assert labels["item"].tolist() == votes["item"].tolist()
    assert (labels["label"][:40] == gold["truth"][:40]).all()


def test_gold_labels_among_the_votes_are_refused_or_kept(command):
    votes, gold = crowd()
    votes["old"] = np.where(np.arange(120) < 40, gold["truth"], None)
    model = hedgeclipper.VoteAggregator(random_state=0)
    frame = votes.drop(columns="item").assign(gold=votes["old"])
    with pytest.raises(ValueError, match=r"Voter 'old' seems to be made of .*keep=\['old'\]"):
        model.fit(frame, "gold")
    with pytest.warns(hedgeclipper.ShiftWarning):
        model.set_params(keep=["old"]).fit(frame, "gold")
    assert model.voters_.tolist() == ["ann", "bob", "eve", "old"]
    assert model.set_params(keep=None).fit(frame.drop(columns="old"), "gold").n_labeled_ == 40
    write(votes, gold[:40])
    assert command("votes", "votes.csv", "--gold", "gold.csv").code != 0
    assert "Voter 'old' seems to be made of the labels" in command.err
    assert command("votes", "votes.csv", "--gold", "gold.csv", "--keep", "old").code == 0


def test_a_sample_of_votes_without_a_key_keeps_all_voters(command):
    votes, gold = crowd()
    votes.drop(columns="item").to_csv("votes.csv", index=False)
    command("sample", "votes.csv", "-n", 60, "-o", "gold.csv")
    drawn = pd.read_csv("gold.csv")
    drawn.assign(label=gold["truth"][drawn["row"]].to_numpy()).to_csv("gold.csv", index=False)
    command("votes", "votes.csv", "--gold", "gold.csv", "--json")
    assert command.code == 0
    assert {one["voter"] for one in command.result["voters"]} == {"ann", "bob", "eve"}


def test_a_sample_of_votes_is_labeled_in_label_studio(command):
    votes, gold = crowd()
    votes.to_csv("votes.csv", index=False)
    command("sample", "votes.csv", "-n", 60, "-o", "tasks.json")
    tasks = json.loads(Path("tasks.json").read_text("utf-8"))
    flat = [{**one["data"], "label": gold["truth"][one["data"]["row"]]} for one in tasks]
    Path("gold.json").write_text(json.dumps(flat), "utf-8")
    command("votes", "votes.csv", "--gold", "gold.json", "--confidence", 0.9, "--json")
    assert command.code == 0, command.err
    assert command.result["certificate"]["is_recorded"]
    assert (command.result["n_gold"], len(command.result["voters"])) == (60, 3)
