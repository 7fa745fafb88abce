"""What a report is about: the estimator, its rows, and its predictions for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from hedgeclipper.base.feature_rows import is_dask
from hedgeclipper.base.inspection import Inspection, inspect_estimator
from hedgeclipper.base.semi_supervised import SemiSupervisedRows
from hedgeclipper.inspection.rendering import listed
from hedgeclipper.votes.matrix import Votes

# of more unlabeled rows so many are drawn; a panel takes its time to predict
MOST_ROWS = {"forest": 100_000, "panel": 5_000}
SEED = 0


@dataclass(frozen=True, eq=False)
class Subject:
    """All that the sections of a report are made from.

    Parameters
    ----------
    estimator : estimator
        The fitted estimator itself.
    model : Inspection
        What it shows of itself.
    labeled, y : rows or None
        Labeled rows, or votes, and labels.
    unlabeled : rows or None
        Unlabeled rows, or votes: all of them, or a sample.
    numbers : ndarray or None
        Numbers of these rows among those that were passed, where they are known.
    row_names : ndarray of str, or None
        Names of these rows, where they have some.
    numbered_in : str
        Where rows without names are counted.
    n_unlabeled : int or None
        How many there are in all, where that is known.
    probabilities : ndarray of shape (n_rows, n_classes) or None
        Probabilities for these rows.
    awake : ndarray of shape (n_rows,) or None
        With two classes: their awake predictions; for votes twice the probability, less one.
    has_own_unlabeled : bool
        Whether they are rows apart from the labeled ones.
    notes : tuple of str
        What a reader must know of how the rows were obtained.
    about : mapping of str to str
        What else to tell of the data.
    """

    estimator: Any
    model: Inspection
    labeled: Any = None
    y: np.ndarray | None = None
    unlabeled: Any = None
    numbers: np.ndarray | None = None
    row_names: np.ndarray | None = None
    numbered_in: str = ""
    n_unlabeled: int | None = None
    probabilities: np.ndarray | None = None
    awake: np.ndarray | None = None
    has_own_unlabeled: bool = True
    notes: tuple[str, ...] = ()
    about: Mapping[str, str] = field(default_factory=dict)

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
    """Return what the report is about.

    Parameters
    ----------
    model, row_names, n_unlabeled, about
        As in `write_report`.
    given : mapping of str to rows or labels
        The other arguments of `write_report`: X, y and X_unlabeled, or votes and gold.
    """
    steps, estimator = _opened(model)
    inspected = inspect_estimator(estimator, "A report")
    names = None if row_names is None else _as_names(row_names)
    notes = ("The steps before the classifier were kept as they were fitted.",) if steps else ()
    bare = Subject(estimator, inspected, row_names=names, notes=notes, about=about or {})
    given = {name: value for name, value in given.items() if value is not None}
    rows = _read_rows(bare, steps, given)
    if rows is None:
        return bare
    whole = _with_unlabeled(_with_labeled(bare, rows), rows)
    return _with_predictions(_with_total(whole, n_unlabeled))


def take(rows: Any, numbers: np.ndarray) -> Any:
    """Return some of the rows, or votes."""
    return rows.take(numbers) if isinstance(rows, Votes) else _safe_indexing(rows, numbers)


def size_of(rows: Any) -> int:
    """Return the number of rows, or of rows of votes."""
    return rows.n_rows if isinstance(rows, Votes) else rows.shape[0]


def _opened(model: Any) -> tuple[list[Any], Any]:
    """Return the transformers before an estimator, and the estimator."""
    if hasattr(model, "best_estimator_"):
        return _opened(model.best_estimator_)
    if not isinstance(model, Pipeline):
        return [], model
    steps, estimator = _opened(model[-1])
    own = [step for _, step in model.steps[:-1] if step not in (None, "passthrough")]
    return own + steps, estimator


def _read_rows(bare: Subject, steps: list[Any], given: dict[str, Any]) -> SemiSupervisedRows | None:
    """Return the rows that were passed, for votes by default those of the fit; None for none."""
    wanted = ["votes", "gold"] if bare.is_votes else ["X", "y", "X_unlabeled"]
    others = [name for name in given if name not in wanted]
    if others:
        raise ValueError(
            f"A report of {type(bare.estimator).__name__} takes {listed(wanted)}. Got "
            f"{', '.join(others)}."
        )
    if bare.is_votes:
        if list(given) == ["gold"]:
            raise ValueError("gold has labels of votes. Got gold alone: pass votes, too.")
        return bare.model.read_rows(given.get("votes"), given.get("gold"))
    if ("X" in given) != ("y" in given):
        raise ValueError(
            "X and y belong together: labeled rows and their labels. Got one of them alone. "
            "Unlabeled rows are X_unlabeled."
        )
    X, X_unlabeled = (_through(steps, given.get(name)) for name in ("X", "X_unlabeled"))
    return bare.model.read_rows(X, given.get("y"), X_unlabeled) if given else None


def _through(steps: list[Any], X: Any) -> Any:
    for step in steps if X is not None else ():
        X = step.transform(X)
    return X


def _as_names(names: Sequence[Any]) -> np.ndarray:
    return np.array([str(name) for name in names], dtype=object)


def _with_labeled(subject: Subject, rows: SemiSupervisedRows) -> Subject:
    if not rows.y_labeled.size:
        return subject
    unknown = np.setdiff1d(rows.y_labeled, subject.classes)
    if unknown.size:
        raise ValueError(
            f"y must have labels among {subject.classes.tolist()}, the classes of the model. Got "
            f"{unknown[:5].tolist()} as well."
        )
    return replace(subject, labeled=rows.X_labeled, y=rows.y_labeled)


def _with_unlabeled(subject: Subject, rows: SemiSupervisedRows) -> Subject:
    """Return the subject with all or some of the unlabeled rows."""
    random_state, X = np.random.RandomState(SEED), rows.X_unlabeled
    if not subject.is_votes and (is_dask(X) or not hasattr(X, "shape")):
        return _with_sample(subject, X, random_state)
    n_rows, has_own = size_of(X), rows.has_unlabeled
    names = _check_names(subject.row_names, n_rows if has_own else 0)
    if names is None and subject.is_votes and X.rows is not None:
        names = _as_names(X.rows)
    drawn, most = np.arange(n_rows), MOST_ROWS.get(subject.model.kind, n_rows)
    if n_rows > most:
        drawn = np.sort(random_state.choice(n_rows, most, replace=False))
    numbers, place = drawn, "the unlabeled rows of the fit" if subject.is_votes else "X_unlabeled"
    if rows.marked is not None:
        numbers = np.flatnonzero(rows.marked == has_own)[drawn]
        place = "votes" if subject.is_votes else "X"
    return replace(
        subject,
        unlabeled=X if n_rows <= most else take(X, drawn),
        numbers=numbers,
        row_names=names[drawn] if names is not None and names.size else None,
        numbered_in=place,
        n_unlabeled=n_rows,
        has_own_unlabeled=has_own,
    )


def _with_sample(subject: Subject, X: Any, random_state: np.random.RandomState) -> Subject:
    """Return the subject with a sample of rows that are not in memory."""
    if subject.row_names is not None:
        raise ValueError(
            "row_names are for unlabeled rows in memory, since of others a sample is drawn whose "
            "numbers are not known. Pass a sample of your own as X_unlabeled, with its names."
        )
    assert subject.model.draw_rows is not None
    drawn = subject.model.draw_rows(X, MOST_ROWS[subject.model.kind], random_state)
    return replace(subject, unlabeled=drawn if drawn.shape[0] else None)


def _check_names(names: np.ndarray | None, n_rows: int) -> np.ndarray | None:
    """Return the names that were passed, if there is one for each of so many unlabeled rows."""
    if names is None or names.size == n_rows:
        return names
    raise ValueError(
        f"row_names must have one name for each of the {n_rows:,} unlabeled rows that are passed. "
        f"Got {names.size:,} names."
    )


def _with_total(subject: Subject, n_unlabeled: int | None) -> Subject:
    """Return the subject that knows how many unlabeled rows there were."""
    if n_unlabeled is None:
        return subject
    passed = subject.n_unlabeled if subject.has_own_unlabeled else 0
    if passed is not None and n_unlabeled < passed:
        raise ValueError(
            f"n_unlabeled is how many unlabeled rows there were, at least the {passed:,} that are "
            f"passed. Got {n_unlabeled:,}."
        )
    return replace(subject, n_unlabeled=n_unlabeled)


def _with_predictions(subject: Subject) -> Subject:
    if subject.unlabeled is None:
        return subject
    probabilities, awake = subject.model.predict_rows(subject.unlabeled)
    is_binary = subject.classes.size == 2
    return replace(subject, probabilities=probabilities, awake=awake if is_binary else None)
