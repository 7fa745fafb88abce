"""Kills at random times: no label that was confirmed is missing afterwards."""

import json
from http.client import HTTPException
from itertools import count
from threading import Timer

import numpy as np

from tests.labeling.served import CLASSES, Served, write_rows
from tests.stress.tally import WITH_SERVER, Tally, tries


def label_until_killed(served, rng, confirmed):
    """Label, and undo now and then, until the server dies; keep what it has confirmed."""
    timer = Timer(rng.uniform(0.0, 0.5), served.process.kill)
    try:
        for n_labels in count():
            row = served.next_row()["row"]
            label = None if rng.random() < 0.1 else int(rng.integers(2))
            confirmed.pop(row, None)  # in doubt until the answer is there
            served.ask("/label", row=row, label=label)
            confirmed[row] = None if label is None else CLASSES[label]
            if n_labels == 0:
                timer.start()
            if rng.random() < 0.1:
                confirmed.pop(row)
                served.ask("/undo")
    except (OSError, HTTPException):
        timer.join()


def labels_in(path):
    """Return the labels of a session, as far as its lines are whole."""
    found = {}
    for line in path.read_bytes().split(b"\n")[:-1]:
        event = json.loads(line)
        if event["event"] == "label":
            found[event["row"]] = event["label"]
        elif event["event"] == "undo":
            found.pop(event["row"])
    return found


def test_no_confirmed_label_is_missing_after_kills(tmp_path):
    """`make stress` does it a hundred times."""
    write_rows(tmp_path, 20_000)
    rng, confirmed, n_kills = np.random.default_rng(0), {}, tries(1, 100)
    with Tally("kills of the label server") as tally:
        for number in range(n_kills):
            with tally.attempt(f"kill {number}", WITH_SERVER):
                with Served(tmp_path) as served:
                    label_until_killed(served, rng, confirmed)
                found = labels_in(tmp_path / "rows.csv.session.jsonl")
                assert confirmed.items() <= found.items()
        assert len(confirmed) > n_kills
