"""Verdicts of judges as lines of votes: words as classes, orders as voters, scores at cuts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hedgeclipper.io import is_missing, listed
from hedgeclipper.votes.readers import columns_of


def judged_table(
    table: Any,
    names: tuple[str, str, str],
    order: str | None,
    verdicts: Mapping[Any, Any] | None,
    cuts: int | None,
) -> dict[str, np.ndarray]:
    """Return lines of task, worker and label; arguments as in `Votes.from_judges`."""
    wanted = (*names, order) if order is not None else names
    items, judges, found, *orders = (_as_list(part) for part in columns_of(table, wanted))
    if orders:
        judges = [f"{judge} ({turn})" for judge, turn in zip(judges, orders[0], strict=True)]
    if verdicts is not None:
        found = _classes_of(found, verdicts)
    if cuts is not None:
        return _at_cuts(items, judges, found, cuts)
    return _lines(items, judges, found)


def _as_list(column: Any) -> list:
    return column.to_list() if hasattr(column, "to_list") else np.asarray(column).tolist()


def _lines(items: list, judges: list, labels: list) -> dict[str, np.ndarray]:
    columns = {"task": items, "worker": judges, "label": labels}
    return {
        name: np.fromiter(values, dtype=object, count=len(values))
        for name, values in columns.items()
    }


def _classes_of(found: list, verdicts: Mapping[Any, Any]) -> list:
    """Return the class of each verdict, None where it is no vote."""
    unknown = dict.fromkeys(v for v in found if not is_missing(v) and v not in verdicts)
    if unknown:
        raise ValueError(
            f"{len(unknown)} verdicts are not among those of the 'verdicts' parameter: "
            f"{listed(list(unknown), 5)}. Give each a class, or None for no vote."
        )
    return [None if is_missing(v) else verdicts[v] for v in found]


def _at_cuts(items: list, judges: list, scores: list, cuts: int) -> dict[str, np.ndarray]:
    """Return a vote for each score and each cut of its judge: whether it reaches the cut."""
    given = [line for line, score in enumerate(scores) if not is_missing(score)]
    try:
        values = np.array([scores[line] for line in given], dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"With cuts, verdicts must be numbers. {error}.") from error
    tasks, workers, labels = [], [], []
    names = np.fromiter((judges[line] for line in given), dtype=object, count=len(given))
    for judge in dict.fromkeys(judges):
        own = np.flatnonzero(names == judge)
        for cut in _cuts_of(values[own], cuts):
            tasks += [items[given[line]] for line in own]
            workers += [f"{judge} >= {cut:g}"] * own.size
            labels += (values[own] >= cut).tolist()
    return _lines(tasks, workers, labels)


def _cuts_of(values: np.ndarray, cuts: int) -> np.ndarray:
    """Return different quantiles of scores, those that some but not all scores reach."""
    if values.size == 0:
        return values
    levels = np.arange(1, cuts + 1) / (cuts + 1)
    found = np.unique(np.quantile(values, levels, method="higher"))
    return found[found > values.min()]
