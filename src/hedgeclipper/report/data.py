"""What a report is about: the estimator, its rows, and its predictions for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hedgeclipper.base.columns import ColumnEncoder
from hedgeclipper.base.inspection import Inspection, inspect_estimator
from hedgeclipper.base.semi_supervised import SemiSupervisedRows
from hedgeclipper.io import is_in_memory
from hedgeclipper.report.displays import steps_in
from hedgeclipper.report.rendering import listed
from hedgeclipper.sklearn_private import _safe_indexing
from hedgeclipper.votes.matrix import Votes

# of more unlabeled rows so many are drawn
MOST_ROWS = 20_000
SEED = 0


@dataclass(eq=False)
class ReportData:
    """All that the sections of a report are made from; None is what was not passed."""

    estimator: Any
    model: Inspection
    # names of the columns before they were encoded, and which of them each one is made of
    column_names: Sequence[str] = ()
    sources: np.ndarray = field(default_factory=lambda: np.empty(0, np.intp))
    # labeled rows, or votes, and their labels
    labeled: Any = None
    y: np.ndarray | None = None
    # unlabeled rows, or votes: all of them, or a sample; their names, and how many were passed
    unlabeled: Any = None
    row_names: Sequence[str] = ()
    n_passed: int = 0
    # predictions for the unlabeled rows: probabilities of shape (n_rows, n_classes)
    probabilities: np.ndarray | None = None

    @property
    def classes(self) -> np.ndarray:
        """Class labels."""
        return self.model.classes

    @property
    def is_votes(self) -> bool:
        """Whether rows are votes."""
        return self.model.kind == "votes"


def read_data(
    model: Any, given: Mapping[str, Any], row_names: Sequence[str] | None = None
) -> ReportData:
    """Return the data of a report; arguments as in `write_report`, rows and labels by name."""
    steps, estimator = steps_in(model)
    data = ReportData(estimator, inspect_estimator(estimator, "A report"))
    if not data.is_votes:
        data.column_names, data.sources = _columns(steps, estimator)
    rows = _read_rows(data, steps, {k: value for k, value in given.items() if value is not None})
    if rows is None:
        return data
    if rows.y_labeled.size:
        unknown = np.setdiff1d(rows.y_labeled, data.classes)
        if unknown.size:
            raise ValueError(
                f"y must have labels among {data.classes.tolist()}, the classes of the model. "
                f"Got {unknown[:5].tolist()} as well."
            )
        data.labeled, data.y = rows.X_labeled, rows.y_labeled
    _add_unlabeled(data, rows, row_names)
    return data


def take(rows: Any, numbers: np.ndarray) -> Any:
    """Return some of the rows, or votes."""
    return rows.take(numbers) if isinstance(rows, Votes) else _safe_indexing(rows, numbers)


def size_of(rows: Any) -> int:
    """Return the number of rows, or of rows of votes."""
    return rows.n_rows if isinstance(rows, Votes) else rows.shape[0]


def _columns(steps: list[Any], estimator: Any) -> tuple[list[str], np.ndarray]:
    """Return names of columns, and of which of these each column of the estimator was made."""
    if len(steps) == 1 and isinstance(steps[0], ColumnEncoder):
        return [plan.name for plan in steps[0].plans_], np.array(steps[0].sources_out_)
    n_columns = estimator.n_features_in_
    names = getattr(estimator, "feature_names_in_", [f"x{k}" for k in range(n_columns)])
    return [*map(str, names)], np.arange(n_columns)


def _read_rows(data: ReportData, steps: list[Any], given: dict[str, Any]) -> Any:
    """Return the rows that were passed, for votes by default those of the fit; None for none."""
    wanted = ["votes", "gold"] if data.is_votes else ["X", "y", "X_unlabeled"]
    others = [name for name in given if name not in wanted]
    if others:
        raise ValueError(
            f"A report of {type(data.estimator).__name__} takes {listed(wanted)}. Got "
            f"{', '.join(others)}."
        )
    if data.is_votes:
        if list(given) == ["gold"]:
            raise ValueError("gold has labels of votes. Got gold alone: pass votes, too.")
        return data.model.read_rows(given.get("votes"), given.get("gold"))
    if ("X" in given) != ("y" in given):
        raise ValueError(
            "X and y belong together: labeled rows and their labels. Got one of them alone. "
            "Unlabeled rows are X_unlabeled."
        )
    for name in {"X", "X_unlabeled"} & given.keys():
        for step in steps:
            given[name] = step.transform(given[name])
    return data.model.read_rows(*map(given.get, wanted)) if given else None


def _add_unlabeled(
    data: ReportData, rows: SemiSupervisedRows, row_names: Sequence[str] | None
) -> None:
    """Add all or some of the unlabeled rows, their names and predictions."""
    X = rows.X_unlabeled
    if not data.is_votes and not is_in_memory(X):
        raise ValueError(
            f"X_unlabeled must be in memory for a report. Got {type(X).__name__}. Pass some "
            "thousand of these rows, drawn at random."
        )
    data.n_passed = size_of(X) if rows.has_unlabeled else 0
    if row_names is not None and len(row_names) != data.n_passed:
        raise ValueError(
            f"row_names must have one name for each of the {data.n_passed:,} unlabeled rows that "
            f"are passed. Got {len(row_names):,} names."
        )
    if not rows.has_unlabeled:
        return
    names: Any = row_names
    if names is None and data.is_votes and X.rows is not None:
        names = X.rows
    elif names is None:
        # the position in X_unlabeled, or in X where unlabeled rows are marked there
        names = np.arange(data.n_passed) if rows.marked is None else np.flatnonzero(rows.marked)
    chosen = np.arange(data.n_passed)
    most = data.n_passed if data.is_votes else MOST_ROWS
    if data.n_passed > most:
        chosen = np.random.RandomState(SEED).choice(data.n_passed, most, replace=False)
        chosen.sort()
        X = take(X, chosen)
    data.unlabeled, data.row_names = X, [str(names[k]) for k in chosen]
    data.probabilities = data.model.predict_rows(X)
