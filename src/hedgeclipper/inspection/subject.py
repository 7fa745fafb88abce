"""What a report is about: the estimator, its rows, and its predictions for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hedgeclipper.base.columns import ColumnEncoder
from hedgeclipper.base.inspection import Inspection, inspect_estimator
from hedgeclipper.base.semi_supervised import SemiSupervisedRows, is_dask
from hedgeclipper.inspection.display import steps_in
from hedgeclipper.inspection.rendering import listed
from hedgeclipper.sklearn_private import _safe_indexing
from hedgeclipper.votes.matrix import Votes

# of more unlabeled rows so many are drawn; predictions of a panel take longer
MOST_ROWS = {"forest": 100_000, "panel": 5_000}
SEED = 0


@dataclass(eq=False)
class Subject:
    """All that the sections of a report are made from; None is what was not passed."""

    estimator: Any
    model: Inspection
    # labeled rows, or votes, and their labels
    labeled: Any = None
    y: np.ndarray | None = None
    # unlabeled rows, or votes: all of them, or a sample
    unlabeled: Any = None
    # their numbers among the rows that were passed, and where they are counted
    numbers: np.ndarray | None = None
    numbered_in: str = ""
    row_names: np.ndarray | None = None
    # how many there are in all, where that is known
    n_unlabeled: int | None = None
    # False if labeled rows are reused as unlabeled ones
    has_own_unlabeled: bool = True
    # predictions for the unlabeled rows: probabilities of shape (n_rows, n_classes)
    probabilities: np.ndarray | None = None
    # what a reader must know of how the rows were obtained, and what else to tell of the data
    notes: tuple[str, ...] = ()
    about: Mapping[str, str] = field(default_factory=dict)
    # names of the columns before they were encoded, and which of them each one is made of
    column_names: Sequence[str] = ()
    sources: np.ndarray = field(default_factory=lambda: np.empty(0, np.intp))

    @property
    def classes(self) -> np.ndarray:
        """Class labels."""
        return self.model.classes

    @property
    def is_votes(self) -> bool:
        """Whether rows are votes."""
        return self.model.kind == "votes"


def read_subject(
    model: Any,
    given: Mapping[str, Any],
    row_names: Sequence[str] | None = None,
    n_unlabeled: int | None = None,
    about: Mapping[str, str] | None = None,
) -> Subject:
    """Return the subject of a report; arguments as in `write_report`, rows and labels by name."""
    steps, estimator = steps_in(model)
    subject = Subject(estimator, inspect_estimator(estimator, "A report"), about=about or {})
    subject.column_names, subject.sources = _columns(steps, estimator)
    if steps:
        subject.notes = ("The steps before the classifier were kept as they were fitted.",)
    rows = _read_rows(subject, steps, {k: value for k, value in given.items() if value is not None})
    if rows is None:
        return subject
    if rows.y_labeled.size:
        unknown = np.setdiff1d(rows.y_labeled, subject.classes)
        if unknown.size:
            raise ValueError(
                f"y must have labels among {subject.classes.tolist()}, the classes of the model. "
                f"Got {unknown[:5].tolist()} as well."
            )
        subject.labeled, subject.y = rows.X_labeled, rows.y_labeled
    _add_unlabeled(subject, rows, row_names)
    if n_unlabeled is not None:
        passed = subject.n_unlabeled if subject.has_own_unlabeled else 0
        if passed is not None and n_unlabeled < passed:
            raise ValueError(
                f"n_unlabeled is how many unlabeled rows there were, at least the {passed:,} that "
                f"are passed. Got {n_unlabeled:,}."
            )
        subject.n_unlabeled = n_unlabeled
    if subject.unlabeled is not None:
        subject.probabilities = subject.model.predict_rows(subject.unlabeled)
    return subject


def _columns(steps: list[Any], estimator: Any) -> tuple[list[str], np.ndarray]:
    """Return names of columns, and of which of these each column of the estimator was made."""
    if len(steps) == 1 and isinstance(steps[0], ColumnEncoder):
        return [plan.name for plan in steps[0].plans_], np.array(steps[0].sources_out_)
    n_columns = estimator.n_features_in_
    names = getattr(estimator, "feature_names_in_", [f"x{k}" for k in range(n_columns)])
    return [*map(str, names)], np.arange(n_columns)


def take(rows: Any, numbers: np.ndarray) -> Any:
    """Return some of the rows, or votes."""
    return rows.take(numbers) if isinstance(rows, Votes) else _safe_indexing(rows, numbers)


def size_of(rows: Any) -> int:
    """Return the number of rows, or of rows of votes."""
    return rows.n_rows if isinstance(rows, Votes) else rows.shape[0]


def _read_rows(subject: Subject, steps: list[Any], given: dict[str, Any]) -> Any:
    """Return the rows that were passed, for votes by default those of the fit; None for none."""
    wanted = ["votes", "gold"] if subject.is_votes else ["X", "y", "X_unlabeled"]
    others = [name for name in given if name not in wanted]
    if others:
        raise ValueError(
            f"A report of {type(subject.estimator).__name__} takes {listed(wanted)}. Got "
            f"{', '.join(others)}."
        )
    if subject.is_votes:
        if list(given) == ["gold"]:
            raise ValueError("gold has labels of votes. Got gold alone: pass votes, too.")
        return subject.model.read_rows(given.get("votes"), given.get("gold"))
    if ("X" in given) != ("y" in given):
        raise ValueError(
            "X and y belong together: labeled rows and their labels. Got one of them alone. "
            "Unlabeled rows are X_unlabeled."
        )
    for name in {"X", "X_unlabeled"} & given.keys():
        for step in steps:
            given[name] = step.transform(given[name])
    return subject.model.read_rows(*map(given.get, wanted)) if given else None


def _add_unlabeled(
    subject: Subject, rows: SemiSupervisedRows, row_names: Sequence[str] | None
) -> None:
    """Add all or some of the unlabeled rows to the subject."""
    random_state, X = np.random.RandomState(SEED), rows.X_unlabeled
    names = None if row_names is None else [str(name) for name in row_names]
    if not subject.is_votes and (is_dask(X) or not hasattr(X, "shape")):
        if names is not None:
            raise ValueError(
                "row_names are for unlabeled rows in memory, since of others a sample is drawn "
                "whose numbers are not known. Pass a sample of your own as X_unlabeled, with its "
                "names."
            )
        assert subject.model.draw_rows is not None
        drawn = subject.model.draw_rows(X, MOST_ROWS[subject.model.kind], random_state)
        subject.unlabeled = drawn if drawn.shape[0] else None
        return
    n_rows, has_own = size_of(X), rows.has_unlabeled
    n_named = n_rows if has_own else 0
    if names is not None and len(names) != n_named:
        raise ValueError(
            f"row_names must have one name for each of the {n_named:,} unlabeled rows that are "
            f"passed. Got {len(names):,} names."
        )
    if names is None and subject.is_votes and X.rows is not None:
        names = [str(name) for name in X.rows]
    most = MOST_ROWS.get(subject.model.kind, n_rows)
    chosen, subject.unlabeled = np.arange(n_rows), X
    if n_rows > most:
        chosen = np.sort(random_state.choice(n_rows, most, replace=False))
        subject.unlabeled = take(X, chosen)
    subject.numbers, subject.n_unlabeled, subject.has_own_unlabeled = chosen, n_rows, has_own
    subject.numbered_in = "the unlabeled rows of the fit" if subject.is_votes else "X_unlabeled"
    if rows.marked is not None:
        subject.numbers = np.flatnonzero(rows.marked == has_own)[chosen]
        subject.numbered_in = "votes" if subject.is_votes else "X"
    if names:
        subject.row_names = np.array(names, dtype=object)[chosen]
