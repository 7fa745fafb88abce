import json

import numpy as np
import pytest

from hedgeclipper.io.label_studio import read_annotations, write_tasks


def annotated(*annotations, **data):
    return {"id": 1, "data": data, "annotations": list(annotations)}


def chose(*choices, name="label"):
    result = {"from_name": name, "type": "choices", "value": {"choices": list(choices)}}
    return {"result": [result], "completed_by": 1, "was_cancelled": False}


def read(tmp_path, content):
    path = tmp_path / "export.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_annotations(path)


def test_tasks_are_read_back_without_labels(tmp_path):
    rows = [
        {"row": np.int64(3), "text": "é", "score": np.nan, "prediction": "yes"},
        {"row": np.int64(4), "text": None, "score": np.inf, "prediction": None},
    ]
    write_tasks(rows, tmp_path / "tasks.json", prediction="prediction")
    tasks = json.loads((tmp_path / "tasks.json").read_text("utf-8"))
    assert tasks[0]["data"] == {"row": 3, "text": "é", "score": None, "prediction": "yes"}
    assert tasks[0]["predictions"][0]["result"][0]["value"] == {"choices": ["yes"]}
    assert "predictions" not in tasks[1]
    assert tasks[1]["data"]["score"] is None  # JSON knows no infinite numbers


def test_both_kinds_of_export(tmp_path):
    full = [
        annotated(chose("yes"), row=1),
        annotated(chose("no"), chose("yes"), row=2),
        annotated({**chose("no"), "was_cancelled": True}, row=3),
        annotated(row=4),
        annotated(chose("x", name="mood"), row=5),
    ]
    rows = [(row["row"], row["label"]) for row in read(tmp_path, full)]
    assert rows == [(1, "yes"), (2, "no"), (2, "yes"), (3, None), (4, None), (5, "x")]
    flat = [{"row": 1, "label": "yes"}, {"row": 2, "label": {"choices": ["no"]}}, {"row": 3}]
    assert [row["label"] for row in read(tmp_path, flat)] == ["yes", "no", None]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ({"a": 1}, "a list of tasks. Got dict"),
        ([], "has no task"),
        ([{"annotations": []}], "task 0 has no data"),
        ([annotated(chose("a", "b"), row=1)], "more than one choice"),
    ],
)
def test_exports_that_cannot_be_read(tmp_path, content, message):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, content)
