"""What a report is about: the estimator, its rows, and what it says of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.base.estimator import SemiSupervisedClassifier
from hedgeclipper.base.feature_rows import BatchCheck, is_dask
from hedgeclipper.base.semi_supervised import NoUnlabeledRowsWarning, SemiSupervisedRows
from hedgeclipper.base.summary import VoterTable
from hedgeclipper.io.sampling import draw_rows
from hedgeclipper.panel.classifier import HedgedVotingClassifier
from hedgeclipper.votes.aggregator import VoteAggregator
from hedgeclipper.votes.gold import read_gold
from hedgeclipper.votes.vote_labels import class_codes
from hedgeclipper.votes.vote_sources import read_votes

# a panel takes its time to predict
MOST_ROWS, MOST_ROWS_OF_PANEL = 100_000, 5_000
SEED = 0


@dataclass(frozen=True, eq=False)
class Subject:
    """All that the sections of a report are made from.

    Parameters
    ----------
    estimator : estimator
        The fitted estimator itself.
    voters : VoterTable
        Its voters.
    labeled, y : rows or None
        Labeled rows, or votes, and labels.
    unlabeled : rows or None
        Unlabeled rows, or votes: all of them, or a draw.
    numbers : ndarray or None
        Numbers of these rows among those that were passed, where they are known.
    row_names : ndarray of str, or None
        What these rows are called, where they have names.
    numbered_in : str
        Where rows without names are counted.
    n_unlabeled : int or None
        How many there are in all, where that is known.
    shares : ndarray of shape (n_rows, n_classes) or None
        Probabilities for these rows.
    awake : ndarray of shape (n_rows,) or None
        With two classes: their awake predictions; for votes twice the probability, less one.
    has_own_unlabeled : bool
        Whether they are rows apart from the labeled ones.
    notes : tuple of str
        What a reader must know of how the rows were come by.
    about : mapping of str to str
        What else to tell of the data.
    """

    estimator: Any
    voters: VoterTable
    labeled: Any = None
    y: np.ndarray | None = None
    unlabeled: Any = None
    numbers: np.ndarray | None = None
    row_names: np.ndarray | None = None
    numbered_in: str = "X_unlabeled"
    n_unlabeled: int | None = None
    shares: np.ndarray | None = None
    awake: np.ndarray | None = None
    has_own_unlabeled: bool = True
    notes: tuple[str, ...] = field(default=())
    about: Mapping[str, str] = field(default_factory=dict)

    @property
    def classes(self) -> np.ndarray:
        """Class labels."""
        return self.estimator.classes_

    @property
    def is_votes(self) -> bool:
        """Whether rows are votes."""
        return isinstance(self.estimator, VoteAggregator)

    @property
    def is_panel(self) -> bool:
        """Whether voters are members of a panel."""
        return isinstance(self.estimator, HedgedVotingClassifier)


def read_subject(
    model: Any,
    X: Any,
    y: Any,
    X_unlabeled: Any,
    votes: Any,
    gold: Any,
    *,
    row_names: Sequence[str] | None = None,
    n_unlabeled: int | None = None,
    about: Mapping[str, str] | None = None,
) -> Subject:
    """Return what the report is about; see `write_report` for the parameters."""
    steps, estimator = _opened(model)
    check_is_fitted(estimator)
    names = None if row_names is None else _as_names(row_names)
    bare = Subject(estimator, estimator._voter_table(), row_names=names, about=about or {})
    if isinstance(estimator, VoteAggregator):
        _refuse({"X": X, "y": y, "X_unlabeled": X_unlabeled}, "votes and gold", estimator)
        return _with_shares(_with_total(_with_votes(bare, votes, gold), n_unlabeled))
    _refuse({"votes": votes, "gold": gold}, "X, y and X_unlabeled", estimator)
    if (X is None) != (y is None):
        raise ValueError(
            "X and y belong together: labeled rows and their labels. Got one of them alone. "
            "Unlabeled rows are X_unlabeled."
        )
    if steps:
        before = "The steps before the classifier were kept as they were fitted."
        bare = replace(bare, notes=(before,))
        X, X_unlabeled = _through(steps, X), _through(steps, X_unlabeled)
    return _with_shares(_with_total(_with_rows(bare, X, y, X_unlabeled), n_unlabeled))


def _opened(model: Any) -> tuple[list[Any], Any]:
    """Return the transformers before an estimator of this package, and the estimator."""
    if hasattr(model, "best_estimator_"):
        return _opened(model.best_estimator_)
    if isinstance(model, Pipeline):
        steps, estimator = _opened(model[-1])
        own = [step for _, step in model.steps[:-1] if step not in (None, "passthrough")]
        return own + steps, estimator
    if isinstance(model, SemiSupervisedClassifier | VoteAggregator):
        return [], model
    raise TypeError(
        "A report is about HedgeClipperClassifier, HedgedVotingClassifier or VoteAggregator, or a "
        f"pipeline or search that ends in one. Got {type(model).__name__}."
    )


def _refuse(given: dict[str, Any], instead: str, estimator: Any) -> None:
    found = [name for name, value in given.items() if value is not None]
    if found:
        raise ValueError(
            f"A report of {type(estimator).__name__} takes {instead}. Got {', '.join(found)}."
        )


def _through(steps: list[Any], X: Any) -> Any:
    for step in steps if X is not None else ():
        X = step.transform(X)
    return X


def _as_names(names: Sequence[Any]) -> np.ndarray:
    return np.array([str(name) for name in names], dtype=object)


def _names_of(subject: Subject, n_rows: int) -> np.ndarray | None:
    """Return the names that were passed, if there is one for each of so many unlabeled rows."""
    names = subject.row_names
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


def _with_votes(bare: Subject, votes: Any, gold: Any) -> Subject:
    """Return the subject with the votes it was fitted to, or with others."""
    estimator, fitted = bare.estimator, bare.estimator._fitted
    known = fitted.gold(estimator.classes_)
    if votes is not None:
        read = read_votes(votes, estimator.abstain_label, estimator.classes_)
        labels = np.full(read.n_rows, None) if gold is None else gold
        known = read_gold(fitted.aligned(read), labels)
    elif gold is not None:
        raise ValueError("gold has labels of votes. Got gold alone: pass votes, too.")
    codes = class_codes(known.labels, estimator.classes_, "gold")
    has_own = known.rest.n_rows > 0
    rest = known.rest if has_own else known.labeled
    numbers, place = np.arange(rest.n_rows), "the unlabeled rows of the fit"
    if known.marked is not None:
        numbers, place = np.flatnonzero(known.marked == has_own), "votes"
    names = _names_of(bare, rest.n_rows if has_own else 0)
    if names is None and rest.rows is not None:
        names = _as_names(rest.rows)
    return replace(
        bare,
        labeled=known.labeled if known.labels else None,
        y=estimator.classes_[codes] if known.labels else None,
        unlabeled=rest,
        numbers=numbers,
        row_names=names,
        numbered_in=place,
        n_unlabeled=rest.n_rows,
        has_own_unlabeled=has_own,
    )


def _with_rows(bare: Subject, X: Any, y: Any, X_unlabeled: Any) -> Subject:
    """Return the subject with labeled rows, and all or some of the unlabeled ones."""
    if X is None:
        if X_unlabeled is None:
            return bare
        checked = copy(bare.estimator)._check_more(X_unlabeled, "X_unlabeled")
        return _with_draw(bare, SemiSupervisedRows(None, np.empty(0), None, checked, None))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoUnlabeledRowsWarning)
        # a copy, since the check writes down what it has seen
        rows = copy(bare.estimator)._check_rows(X, y, X_unlabeled, None)
    unknown = np.setdiff1d(rows.y_labeled, bare.classes)
    if unknown.size:
        raise ValueError(
            f"y must have labels among {bare.classes.tolist()}, the classes of the model. Got "
            f"{unknown[:5].tolist()} as well."
        )
    return _with_draw(replace(bare, labeled=rows.X_labeled, y=rows.y_labeled), rows)


def _with_draw(subject: Subject, rows: SemiSupervisedRows) -> Subject:
    most = MOST_ROWS_OF_PANEL if subject.is_panel else MOST_ROWS
    random_state, X = np.random.RandomState(SEED), rows.X_unlabeled
    if hasattr(X, "shape") and not is_dask(X):
        return _with_rows_in_memory(subject, rows, most, random_state)
    if subject.row_names is not None:
        raise ValueError(
            "row_names are for unlabeled rows in memory, since of others a sample is drawn whose "
            "numbers are not known. Pass a sample of your own as X_unlabeled, with its names."
        )
    if is_dask(X):
        from hedgeclipper.io.distributed import draw_from

        estimator = subject.estimator
        check = BatchCheck("X_unlabeled", estimator.n_features_in_, estimator._row_checks)
        drawn = draw_from(X, most, estimator._column_names, check, random_state)
    else:
        drawn = draw_rows(X, most, random_state)
    return replace(subject, unlabeled=drawn if drawn.shape[0] else None)


def _with_rows_in_memory(
    subject: Subject, rows: SemiSupervisedRows, most: int, random_state: np.random.RandomState
) -> Subject:
    X, has_own = rows.X_unlabeled, rows.has_unlabeled
    drawn = np.arange(X.shape[0])
    names = _names_of(subject, drawn.size if has_own else 0)
    if drawn.size > most:
        drawn = np.sort(random_state.choice(drawn.size, most, replace=False))
    is_apart = rows.marked is None
    return replace(
        subject,
        unlabeled=_safe_indexing(X, drawn),
        numbers=drawn if is_apart else np.flatnonzero(rows.marked == has_own)[drawn],
        row_names=names[drawn] if names is not None and has_own else None,
        numbered_in="X_unlabeled" if is_apart else "X",
        n_unlabeled=X.shape[0],
        has_own_unlabeled=has_own,
    )


def _with_shares(subject: Subject) -> Subject:
    if subject.unlabeled is None:
        return subject
    model = subject.estimator
    if subject.is_votes:
        shares = model.predict_proba(subject.unlabeled)
        return replace(subject, shares=shares, awake=2.0 * shares[:, 1] - 1.0)
    # not by the model's methods, which would check rows once more and miss their names
    predictor = model._predictor
    awake = predictor.awake(subject.unlabeled, model.n_jobs)
    decision = predictor.decision(awake) if subject.classes.size == 2 else None
    return replace(subject, shares=predictor.probabilities(awake), awake=decision)
