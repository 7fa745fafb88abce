"""The server as its page uses it: rows, labels, tabs, the end."""

import json
import os
import time

import pandas as pd
import pytest

from hedgeclipper.labeling.frontend import HIDDEN
from tests.labeling.served import CLASSES, Served, write_rows

needs_limits = pytest.mark.skipif(os.name != "posix", reason="needs limits of files")


def saved(folder):
    """Return the label events of the session, in their order."""
    lines = (folder / "rows.csv.session.jsonl").read_text().splitlines()
    return [event for event in map(json.loads, lines) if event["event"] in ("label", "undo")]


def test_a_label_is_in_the_file_with_note_and_name_once_it_is_confirmed(served):
    row = served.next_row()["row"]
    found = served.ask("/label", row=row, label=1, note="<b>odd</b>")
    event = saved(served.folder)[-1]
    assert found["saved"] == "malignant"
    assert found["row"]["row"] != row
    assert (event["row"], event["label"], event["annotator"]) == (row, "malignant", "Ann")
    assert event["note"] == "<b>odd</b>"
    assert served.ask("/label", row=found["row"]["row"], label=None)["saved"] == "cannot tell"
    assert saved(served.folder)[-1]["label"] is None


def test_undo_brings_the_row_back_and_the_open_one_comes_next(served):
    first = served.next_row()["row"]
    second = served.ask("/label", row=first, label=0)["row"]["row"]
    n_before = served.ask("/state")["n_labeled"]
    assert served.ask("/undo")["row"]["row"] == first
    assert served.ask("/state")["n_labeled"] == n_before - 1
    assert served.ask("/label", row=first, label=1)["row"]["row"] == second


def test_a_tab_keeps_its_row_on_reload_and_another_one_gets_another(served):
    rows = {tab: served.next_row(tab)["row"] for tab in "abc"}
    assert len(set(rows.values())) == 3
    assert {tab: served.next_row(tab)["row"] for tab in "abc"} == rows


def test_rows_of_another_tab_are_refused_and_nothing_saved(served):
    with pytest.raises(RuntimeError, match="400 There is no label"):
        served.ask("/undo", "another")
    row, n_before = served.next_row("a")["row"], len(saved(served.folder))
    with pytest.raises(RuntimeError, match=r"409 Row .* Nothing was saved"):
        served.ask("/label", "d", row=row, label=0)
    assert len(saved(served.folder)) == n_before


@pytest.mark.parametrize(
    "given",
    [
        {"row": "0", "label": 0},
        {"row": True, "label": 0},
        {"label": 0},
        {"row": 0, "label": 2},
        {"row": 0, "label": -1},
        {"row": 0},
        {"row": 0, "label": "benign"},
        {"row": 0, "label": 0, "note": ["x"]},
    ],
)
def test_labels_that_the_page_does_not_send_are_refused(served, given):
    with pytest.raises(RuntimeError, match="400"):
        served.ask("/label", **given)


def test_the_opinion_is_there_after_a_fit(served):
    row = served.next_row()["row"]
    for _ in range(60):
        row = served.ask("/label", row=row, label=int(row % 2))["row"]["row"]
    while served.ask("/state")["fitting"]:
        time.sleep(0.05)
    row = served.next_row()["row"]
    words = served.ask("/opinion", row=row)["opinion"]
    assert words == HIDDEN or words.split()[0] in CLASSES
    with pytest.raises(RuntimeError, match="400 This row is not open here"):
        served.ask("/opinion", "z", row=row)


def label_all(served, rows):
    """Label rows, and keep their numbers."""
    while True:
        rows.append(served.next_row()["row"])
        served.ask("/label", row=rows[-1], label=0)


@needs_limits
def test_a_full_disk_is_an_error_and_the_label_is_not_confirmed(tmp_path):
    write_rows(tmp_path)
    with Served(tmp_path, largest_file=2500) as served:
        rows = []
        with pytest.raises(RuntimeError, match=r"507 Nothing was saved: .*rows.csv.session"):
            label_all(served, rows)
        n_saved = len(saved(tmp_path))
        assert served.next_row()["row"] == rows[-1]
        assert n_saved == len(rows) - 1 > 3


def test_from_the_first_row_to_the_finished_file(tmp_path):
    truth = write_rows(tmp_path)
    rows = pd.read_csv(tmp_path / "rows.csv", dtype=str)
    rows = rows.assign(price="1.50", number="12345678901234567890", is_new="True")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    with Served(tmp_path, "--max-error", "0.1") as served:
        served.label(truth)
        assert not (tmp_path / "rows.labeled.html").exists()  # no wait for it
        while (found := served.ask("/next"))["writing"]:
            time.sleep(0.1)
        words = found["done"]
    assert (tmp_path / "rows.labeled.html").is_file()
    finished = pd.read_csv(tmp_path / "rows.labeled.csv", dtype=str)
    pd.testing.assert_frame_equal(finished[rows.columns], rows)  # cells stay as they were
    report = (tmp_path / "rows.labeled.html").read_text()
    claim = words.splitlines()[0].replace("&", "&amp;")
    assert claim in report
    assert "no guarantee" not in report
    assert "guaranteed with 95% confidence" in words
    assert len(finished) == len(truth)
    wrong = finished["diagnosis"] != pd.Series(truth).map(dict(enumerate(CLASSES)))
    assert wrong.mean() <= 0.1
    assert not wrong[finished["source"] == "people"].any()
    assert set(finished["source"]) == {"people", "prediction"}
