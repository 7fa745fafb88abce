"""The members of a panel: fitted to all labels, and judged on labels they have not seen."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.base.threads import own_jobs, run_jobs
from hedgeclipper.panel.fitting import MemberRows, fit_member
from hedgeclipper.panel.scores import class_codes, known_classes, member_scores, scores_by_code

__all__ = [
    "Member",
    "MemberFailedWarning",
    "MemberRows",
    "check_estimators",
    "choose_folds",
    "cross_fit",
    "score_held_out",
    "score_prefit",
    "member_scores",
    "score_members",
]

Fold = tuple[np.ndarray, np.ndarray]
Report = Callable[[str, int, int], None]


class MemberFailedWarning(UserWarning):
    """A member could not be fitted or gave no usable scores, and is left out."""


@dataclass(frozen=True, eq=False)
class Member:
    """A fitted classifier, and what it says of labeled rows it has not seen.

    Parameters
    ----------
    name : str
        Its name.
    estimator : classifier
        The classifier, fitted to all labels.
    out_of_fold : ndarray of shape (n_labeled, n_columns)
        Its scores of the labeled rows, each by a fit without the row, as by ``member_scores``; the
        mean where several folds tell. NaN for rows of which no fold could tell.
    seconds : float
        What all its fits and fold scorings took.
    """

    name: str
    estimator: Any
    out_of_fold: np.ndarray
    seconds: float


@dataclass(frozen=True, eq=False)
class _Split:
    """Labeled rows to fit and to score.

    ``has_all_classes`` is about the rows to fit; ``is_final`` marks the fit to all labels.
    """

    train: np.ndarray
    test: np.ndarray
    has_all_classes: bool
    is_final: bool


@dataclass(frozen=True, eq=False)
class _Outcome:
    """A model and its scores, or else an error that is not empty."""

    model: Any
    scores: np.ndarray | None
    error: str
    seconds: float


def check_estimators(estimators: Any) -> list[tuple[str, Any]]:
    """Return the (name, classifier) pairs that are not "drop", or raise an error.

    Parameters
    ----------
    estimators : iterable of (str, classifier or "drop")
        As in scikit-learn's ``VotingClassifier``.
    """
    pairs = list(estimators) if isinstance(estimators, Iterable) else None
    if not pairs or not all(_is_named(pair) for pair in pairs):
        raise ValueError(
            "estimators must be a list of (name, classifier) pairs, at least one. Got "
            f"{estimators!r}."
        )
    _check_names([name for name, _ in pairs])
    kept = [(name, estimator) for name, estimator in pairs if not _is_dropped(estimator)]
    if not kept:
        raise ValueError("All estimators are 'drop'. Leave at least one in.")
    for name, estimator in kept:
        _check_classifier(name, estimator)
    return kept


def choose_folds(codes: np.ndarray, cv: Any, random_state: Any) -> list[Fold]:
    """Return the numbers of the labeled rows to fit and to score, fold by fold.

    Parameters
    ----------
    codes : ndarray of shape (n_labeled,), int
        Classes of the labeled rows.
    cv : int, splitter or iterable of splits
        A number means stratified folds, shuffled, as many as that but not more than the rarest
        class has labels. A class of a single label is always among the rows to fit, and without two
        classes of two labels there are no folds. Others are used as they are.
    random_state : int, RandomState or None
        Seed of the shuffling.

    Examples
    --------
    >>> codes = np.array([0, 0, 0, 0, 1, 1])
    >>> [codes[test].tolist() for _, test in choose_folds(codes, 5, 0)]
    [[0, 0, 1], [0, 0, 1]]
    """
    if isinstance(cv, Integral):
        if cv < 2:
            raise ValueError(f"cv must be at least 2 folds, or a splitter. Got {cv}.")
        return _stratified(codes, int(cv), random_state)
    numbers = np.arange(codes.size)
    splitter = check_cv(cv, codes, classifier=True)
    splits = list(splitter.split(np.zeros((codes.size, 1)), codes))
    for train, test in splits:
        _check_split(np.asarray(train), np.asarray(test), codes.size)
    return [(numbers[train], numbers[test]) for train, test in splits]


def _stratified(codes: np.ndarray, most: int, random_state: Any) -> list[Fold]:
    """Return stratified folds of the classes with two labels or more."""
    counts = np.bincount(codes)
    if np.sum(counts > 1) < 2:
        return []
    is_single = counts[codes] == 1
    single, common = np.flatnonzero(is_single), np.flatnonzero(~is_single)
    n_folds = min(most, int(counts[counts > 1].min()))
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
    splits = splitter.split(np.zeros((common.size, 1)), codes[common])
    return [(np.sort(np.append(common[train], single)), common[test]) for train, test in splits]


def _check_split(train: np.ndarray, test: np.ndarray, n_labeled: int) -> None:
    if train.dtype == bool or test.dtype == bool:
        return
    whole = np.append(train, test)
    if whole.size and (whole.max() >= n_labeled or whole.min() < -n_labeled):
        raise ValueError(
            f"cv speaks of row {whole.max()}, but splits are of the labeled rows of some weight, "
            f"and there are {n_labeled} of these. Count them alone."
        )
    if np.intersect1d(train, test).size:
        raise ValueError(
            f"cv has a split with {np.intersect1d(train, test).size} rows both to fit and to score "
            "members, which would then be judged by labels they have seen. Take them apart."
        )


def _say_nothing(name: str, n_done: int, n_all: int) -> None:
    """Report no progress."""


def cross_fit(
    estimators: Sequence[tuple[str, Any]],
    rows: MemberRows,
    folds: Sequence[Fold],
    *,
    n_jobs: int | None = None,
    report: Report = _say_nothing,
) -> list[Member]:
    """Return the members, fitted to all labels and scored out of fold, in the order given.

    Members learn the codes of the classes, so that these are their ``classes_``. One that fails is
    left out with a ``MemberFailedWarning``, unless it fails only in folds that lack a class. Folds
    with labels of one class alone are passed over.

    Parameters
    ----------
    estimators : sequence of (str, classifier)
        Names and classifiers, as from ``check_estimators``.
    rows : MemberRows
        Labeled and unlabeled rows.
    folds : sequence of (train, test)
        Numbers of labeled rows, as from ``choose_folds``.
    n_jobs : int or None
        Fits at a time, as in joblib.
    report : callable
        Gets the name of a member that has been fitted, and how many fits are done, of how many.
    """
    splits = _plan(rows, folds)
    outcomes = _fit_all(estimators, rows, splits, n_jobs, report)
    members, errors = [], {}
    for (name, _), own in zip(estimators, outcomes, strict=True):
        error = _fatal_error(own, splits)
        if error:
            errors[name] = error
            continue
        out_of_fold = _join_folds(own[:-1], splits[:-1], (rows.codes.size, rows.n_columns))
        members.append(Member(name, own[-1].model, out_of_fold, sum(o.seconds for o in own)))
    _tell_of_failed(errors, len(members))
    return members


def score_held_out(
    estimators: Sequence[tuple[str, Any]],
    rows: MemberRows,
    fitted: np.ndarray,
    judges: np.ndarray,
    *,
    n_jobs: int | None = None,
    report: Report = _say_nothing,
) -> list[Member]:
    """Return members fitted to some of the labels, with their scores of other labeled rows.

    Parameters
    ----------
    estimators, rows, n_jobs, report
        As in ``cross_fit``.
    fitted, judges : ndarray of int
        Numbers of the labeled rows to fit and to score.
    """
    members = cross_fit(estimators, rows.select(fitted), [], n_jobs=n_jobs, report=report)
    X = rows.select(judges).X_labeled
    members, scores = score_members(members, X, rows.n_classes, n_jobs=n_jobs)
    out_of_fold = np.full((len(members), rows.codes.size, rows.n_columns), np.nan)
    out_of_fold[:, judges] = scores.swapaxes(0, 1)
    pairs = zip(members, out_of_fold, strict=True)
    return [replace(member, out_of_fold=own) for member, own in pairs]


def score_prefit(
    estimators: Sequence[tuple[str, Any]],
    rows: MemberRows,
    classes: np.ndarray,
    *,
    report: Report = _say_nothing,
) -> list[Member]:
    """Return fitted classifiers as members, with their scores of the labeled rows.

    Nothing is fitted or copied; the labeled rows must be new to the classifiers. One that fails to
    score them is left out with a ``MemberFailedWarning``.

    Parameters
    ----------
    estimators : sequence of (str, classifier)
        Names and fitted classifiers.
    rows : MemberRows
        Rows; only the labeled ones are used.
    classes : ndarray of shape (n_classes,)
        Label of each code, as the classifiers know it.
    report : callable
        Gets the name of a member that has been judged, and how many are, of how many.
    """
    for name, estimator in estimators:
        _check_prefit(name, estimator, np.asarray(classes))
    members, errors = [], {}
    for n_done, (name, estimator) in enumerate(estimators, start=1):
        outcome = _attempt(_score_prefit, name, estimator, rows, classes)
        if outcome.scores is None:
            errors[name] = outcome.error
        else:
            members.append(Member(name, estimator, outcome.scores, outcome.seconds))
        report(name, n_done, len(estimators))
    _tell_of_failed(errors, len(members))
    return members


def score_members(
    members: Sequence[Member],
    X: Any,
    n_classes: int,
    labels: np.ndarray | None = None,
    *,
    n_jobs: int | None = None,
) -> tuple[list[Member], np.ndarray]:
    """Return the members that can score rows, and their scores.

    Others, for instance with NaN among their scores, are left out with a ``MemberFailedWarning``.

    Parameters
    ----------
    members : sequence of Member
        Fitted members.
    X : array, CSR matrix or frame of shape (n_samples, n_features)
        Rows.
    n_classes : int
        Number of classes.
    labels : ndarray of shape (n_classes,), optional
        Labels as the members know them. By default the codes 0, 1, ...
    n_jobs : int or None
        Members at a time.

    Returns
    -------
    members : list of Member
        Those left.
    scores : ndarray of shape (n_samples, n_members, n_columns)
        What they say.
    """
    calls = ((_score, member, X, n_classes, labels) for member in members)
    pairs = list(zip(members, run_jobs(_attempt, calls, n_jobs, prefer="threads"), strict=True))
    left = [(member, outcome) for member, outcome in pairs if outcome.scores is not None]
    _tell_of_failed({m.name: o.error for m, o in pairs if o.scores is None}, len(left))
    return [member for member, _ in left], np.stack([o.scores for _, o in left], axis=1)


def _score(
    member: Member, X: Any, n_classes: int, labels: np.ndarray | None, shares_cores: bool
) -> tuple[Any, np.ndarray]:
    model = member.estimator
    with own_jobs(model, shares_cores):
        return model, member_scores(model, X, n_classes, labels, name=member.name)


def _is_named(pair: Any) -> bool:
    return isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[0], str)


def _is_dropped(estimator: Any) -> bool:
    return isinstance(estimator, str) and estimator == "drop"


def _check_names(names: list[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"Names of estimators must differ. Got more than one of {repeated}.")
    split = [name for name in names if "__" in name]
    if split:
        raise ValueError(
            f"Names of estimators must not contain '__', which set_params splits at. Got {split}."
        )


def _check_classifier(name: str, estimator: Any) -> None:
    if isinstance(estimator, type):
        raise TypeError(
            f"Estimator {name!r} must be an instance. Got a class: use {estimator.__name__}()."
        )
    if not _is_classifier(estimator):
        raise ValueError(f"Estimator {name!r} must be a classifier or 'drop'. Got {estimator!r}.")


def _is_classifier(estimator: Any) -> bool:
    try:
        return is_classifier(estimator)
    except AttributeError:
        return False


def _plan(rows: MemberRows, folds: Sequence[Fold]) -> list[_Split]:
    """Return the splits to fit: folds with more than one class, and all labels at the end."""
    splits = []
    for train, test in folds:
        n_present = np.unique(rows.codes[train]).size
        if n_present > 1:
            splits.append(_Split(train, test, n_present == rows.n_classes, False))
    everything = np.arange(rows.codes.size)
    return [*splits, _Split(everything, everything, True, True)]


def _fit_all(
    estimators: Sequence[tuple[str, Any]],
    rows: MemberRows,
    splits: list[_Split],
    n_jobs: int | None,
    report: Report,
) -> list[list[_Outcome]]:
    """Return what came of each estimator on each split."""
    places = list(product(range(len(estimators)), range(len(splits))))
    fits = ((place, *estimators[place[0]], rows, splits[place[1]]) for place in places)
    outcomes = {}
    done = run_jobs(_fit_at, fits, n_jobs, return_as="generator_unordered")
    for n_done, (place, outcome) in enumerate(done, start=1):
        outcomes[place] = outcome
        report(estimators[place[0]][0], n_done, len(places))
    return [[outcomes[i, j] for j in range(len(splits))] for i in range(len(estimators))]


def _fit_at(
    place: tuple[int, int],
    name: str,
    estimator: Any,
    rows: MemberRows,
    split: _Split,
    shares_cores: bool,
) -> tuple[tuple[int, int], _Outcome]:
    arguments = (_fit_and_score, name, estimator, rows, split)
    return place, _attempt(*arguments, shares_cores=shares_cores)


def _attempt(
    action: Callable[..., tuple[Any, np.ndarray]], *arguments: Any, **options: Any
) -> _Outcome:
    """Return the model and scores an action returns, or the error it raises."""
    started = time.perf_counter()
    model, scores, error = None, None, ""
    try:
        model, scores = action(*arguments, **options)
    except Exception as caught:
        error = f"{type(caught).__name__}: {caught}"
    return _Outcome(model, scores, error, time.perf_counter() - started)


def _fit_and_score(
    name: str, estimator: Any, rows: MemberRows, split: _Split, shares_cores: bool
) -> tuple[Any, np.ndarray]:
    """Return the final model, None for that of a fold, and scores of the rows to score.

    The final model's scores of rows it has seen only show whether it can score at all.
    """
    model = clone(estimator)
    with own_jobs(model, shares_cores):
        codes = fit_member(model, rows, split.train)
        own = known_classes(model, np.arange(codes.size))
        places = class_codes(own, np.arange(codes.size), name)
        X = _safe_indexing(rows.X_labeled, split.test)
        scores = scores_by_code(model, X, own, codes[places], rows.n_classes, name)
    return model if split.is_final else None, scores


def _fatal_error(outcomes: list[_Outcome], splits: list[_Split]) -> str:
    """Return the first error of a member where no class was missing, empty if there is none."""
    pairs = zip(outcomes, splits, strict=True)
    return next((o.error for o, split in pairs if o.error and split.has_all_classes), "")


def _join_folds(
    outcomes: list[_Outcome], splits: list[_Split], shape: tuple[int, int]
) -> np.ndarray:
    """Return the mean score of each labeled row over the folds that tell, NaN without any."""
    total, count = np.zeros(shape), np.zeros((shape[0], 1))
    for outcome, split in zip(outcomes, splits, strict=True):
        if outcome.scores is not None:
            np.add.at(total, split.test, outcome.scores)
            np.add.at(count, split.test, 1.0)
    return np.divide(total, count, out=np.full(shape, np.nan), where=count > 0)


def _check_prefit(name: str, estimator: Any, classes: np.ndarray) -> None:
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        raise NotFittedError(
            f"Estimator {name!r} must be fitted for cv='prefit'. Got {estimator!r}. Fit it first, "
            "or give a number of folds as cv."
        ) from None
    if not hasattr(estimator, "classes_"):
        raise ValueError(
            f"Estimator {name!r} must have classes_ for cv='prefit', to tell which column is of "
            f"which class. Got {estimator!r} without."
        )
    class_codes(known_classes(estimator, classes), classes, f"Estimator {name!r}")


def _score_prefit(
    name: str, estimator: Any, rows: MemberRows, classes: np.ndarray
) -> tuple[Any, np.ndarray]:
    scores = member_scores(estimator, rows.X_labeled, rows.n_classes, classes, name=name)
    return estimator, scores


def _tell_of_failed(errors: dict[str, str], n_left: int) -> None:
    """Warn of members that are left out; without others, raise an error."""
    if errors and not n_left:
        listed = "\n".join(f"- {name}: {error}" for name, error in errors.items())
        raise ValueError(f"All members have failed, so there is no panel:\n{listed}")
    for name, error in errors.items():
        warnings.warn(
            f"Member {name!r} has failed and is left out: {error}. Fix it, or name "
            "members without it.",
            MemberFailedWarning,
            stacklevel=4,
        )
