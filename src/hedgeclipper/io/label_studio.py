"""Rows to label as tasks of Label Studio, and its annotations as rows: JSON both ways.

A task has the columns of its row as data, and the predicted class, if there is one, as a
prediction. The project's interface has choices with the name "label" for an object "row"::

    <View>
      <Text name="row" value="$text"/>
      <Choices name="label" toName="row" choice="single">
        <Choice value="yes"/><Choice value="no"/>
      </Choices>
    </View>

Annotations are read from its export as JSON or as JSON-MIN. An annotation that was cancelled, or
has no choice, is a row that was not decided.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hedgeclipper.io.atomic import atomic_path, naming_output
from hedgeclipper.io.frames import is_missing
from hedgeclipper.io.messages import as_json

CHOICES, OBJECT, MODEL = "label", "row", "hedgeclipper"
# what JSON-MIN adds to the data of a row; its id replaces a column of that name
ADDED = {"id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time"}


def write_tasks(
    rows: Iterable[Mapping[str, Any]], path: Path, *, prediction: str | None, force: bool = False
) -> None:
    """Write rows as tasks.

    Parameters
    ----------
    rows : iterable of mapping of str to value
        The columns of each row.
    path : Path
        The file to write.
    prediction : str or None
        Column of the predicted class, if rows have it. None shows no prediction as one.
    force : bool, default=False
        Whether to replace a file that exists.
    """
    tasks = [_task({name: _plain(x) for name, x in row.items()}, prediction) for row in rows]
    with atomic_path(path, force=force) as draft, naming_output(path):
        draft.write_text(json.dumps(tasks, ensure_ascii=False, indent=1), encoding="utf-8")


def read_annotations(path: Path) -> list[dict[str, Any]]:
    """Return the rows of an export, each with its data and the "label" that people gave it.

    A task with several annotations is there several times; None is the label of a row that was
    not decided.
    """
    try:
        tasks = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not JSON ({error}). Export it as JSON again.") from error
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise ValueError(
            f"{path} must hold a list of tasks. Got {type(tasks).__name__}. Export it from Label "
            "Studio as JSON or JSON-MIN."
        )
    if not tasks:
        raise ValueError(f"{path} has no task. Export it again.")
    return [
        row for number, task in enumerate(tasks) for row in _rows(task, f"{path}, task {number}")
    ]


def _task(data: dict[str, Any], prediction: str | None) -> dict[str, Any]:
    predicted = None if prediction is None else data.get(prediction)
    if predicted is None:
        return {"data": data}
    choice = {
        "from_name": CHOICES,
        "to_name": OBJECT,
        "type": "choices",
        "value": {"choices": [str(predicted)]},
    }
    return {"data": data, "predictions": [{"model_version": MODEL, "result": [choice]}]}


def _rows(task: dict[str, Any], place: str) -> Iterator[dict[str, Any]]:
    if "annotations" not in task:  # JSON-MIN has the data and the choice side by side
        label = task.get(CHOICES)
        if isinstance(label, dict):
            label = _only(label.get("choices", []), place)
        added = ADDED if "annotation_id" in task else set()
        yield {**{name: x for name, x in task.items() if name not in added}, "label": label}
        return
    data = task.get("data")
    if not isinstance(data, dict):
        raise ValueError(f"{place} has no data. Export it from Label Studio as JSON.")
    annotations = task["annotations"] or [{}]
    for one in annotations:
        yield {**data, "label": None if one.get("was_cancelled") else _choice(one, place)}


def _choice(annotation: dict[str, Any], place: str) -> Any:
    """Return the class that was chosen, None without one."""
    results = [one for one in annotation.get("result", []) if one.get("type") == "choices"]
    named = [one for one in results if one.get("from_name") == CHOICES]
    found = named or results
    return _only([x for one in found for x in one.get("value", {}).get("choices", [])], place)


def _only(choices: list, place: str) -> Any:
    if len(choices) > 1:
        raise ValueError(
            f"{place} has more than one choice, {choices}. A row has one label: use choices with "
            f'the name "{CHOICES}" and choice="single".'
        )
    return choices[0] if choices else None


def _plain(value: Any) -> Any:
    """Return a value that JSON knows."""
    value = None if is_missing(value) else as_json(value)
    return value if isinstance(value, bool | int | float | str | None) else str(value)
