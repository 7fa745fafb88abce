"""The members of a panel: fitted to all labels, and scored on labels they have not seen."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.base.predictions import NeverPredictedWarning
from hedgeclipper.base.semi_supervised import SemiSupervisedRows
from hedgeclipper.base.threads import own_jobs, run_jobs
from hedgeclipper.io.arrays import draw_rows, stack_rows
from hedgeclipper.io.progress import row_reporter, warn_user
from hedgeclipper.panel.defaults import DEFAULT_MEMBERS, default_panel
from hedgeclipper.panel.fitting import (
    MemberRows,
    find_classes,
    fit_member,
    member_scores,
    out_of_bag_scores,
    scores_out_of_bag,
)
from hedgeclipper.sklearn_private import _safe_indexing

Fold = tuple[np.ndarray, np.ndarray]
Report = Callable[[str, int, int], None]


ROWS_FOR_VIEWS, ROWS_TO_LEARN_FROM = 10_000, 5_000


class MemberFailedWarning(UserWarning):
    """A member could not be fitted or gave no usable scores, and is left out."""


@dataclass(frozen=True, eq=False)
class Member:
    """A classifier fitted to all labels, and its scores of labeled rows it has not seen.

    ``out_of_fold`` has its scores of the labeled rows, each by a fit without the row, as by
    ``member_scores``; the mean where a row is in several folds, NaN for rows without such a fit.
    ``seconds`` is the time of its fits and of scoring rows.
    """

    name: str
    estimator: Any
    out_of_fold: np.ndarray
    seconds: float = 0.0


def check_estimators(estimators: Any) -> list[tuple[str, Any]]:
    """Return the (name, classifier) pairs that are not "drop", or raise an error.

    Names are checked by scikit-learn's ``_BaseComposition``.
    """
    pairs = list(estimators) if isinstance(estimators, Iterable) else []
    is_named = [
        isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[0], str)
        for pair in pairs
    ]
    if not pairs or not all(is_named):
        raise ValueError(
            "estimators must be a list of (name, classifier) pairs, at least one. Got "
            f"{estimators!r}."
        )
    kept = [pair for pair in pairs if not (isinstance(pair[1], str) and pair[1] == "drop")]
    if not kept:
        raise ValueError("All estimators are 'drop'. Leave at least one in.")
    for name, model in kept:
        if isinstance(model, str) and model == "default":
            if name not in DEFAULT_MEMBERS:
                raise ValueError(
                    f"{name!r} is no default member. Choose from {', '.join(DEFAULT_MEMBERS)}, or "
                    "give a classifier in place of 'default'."
                )
            continue
        if isinstance(model, type):
            raise TypeError(
                f"Estimator {name!r} must be an instance. Got a class: use {model.__name__}()."
            )
        try:
            is_known = is_classifier(model)
        except AttributeError:  # no estimator at all
            is_known = False
        if not is_known:
            raise ValueError(
                f"Estimator {name!r} must be a classifier, 'default' or 'drop'. Got {model!r}."
            )
    return [(name, model) for name, model in kept]


def choose_folds(codes: np.ndarray, cv: Any, random_state: Any) -> list[Fold]:
    """Return the numbers of the labeled rows to fit and to score, fold by fold.

    A number ``cv`` means stratified folds, shuffled, as many as that but not more than the rarest
    class has labels. A class of a single label is always among the rows to fit, and without two
    classes of two labels there are no folds. Splitters and lists of splits are used as they are.

    Examples
    --------
    >>> codes = np.array([0, 0, 0, 0, 1, 1])
    >>> [codes[test].tolist() for _, test in choose_folds(codes, 5, 0)]
    [[0, 0, 1], [0, 0, 1]]
    """
    if not isinstance(cv, Integral):
        splits = check_cv(cv, codes, classifier=True).split(np.zeros((codes.size, 1)), codes)
        return [_checked_split(train, test, codes.size) for train, test in splits]
    counts = np.bincount(codes)
    if np.sum(counts > 1) < 2:
        return []
    is_single = counts[codes] == 1
    single, common = np.flatnonzero(is_single), np.flatnonzero(~is_single)
    n_folds = min(int(cv), int(counts[counts > 1].min()))
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
    splits = splitter.split(np.zeros((common.size, 1)), codes[common])
    return [(np.sort(np.append(common[train], single)), common[test]) for train, test in splits]


def _checked_split(train: Any, test: Any, n_labeled: int) -> Fold:
    """Return the numbers of the rows of a split, given by numbers or masks, or raise an error."""
    train, test, numbers = np.asarray(train), np.asarray(test), np.arange(n_labeled)
    if train.dtype != bool and test.dtype != bool:
        whole = np.append(train, test)
        if whole.size and (whole.max() >= n_labeled or whole.min() < -n_labeled):
            raise ValueError(
                f"cv has row {whole.max()}, but splits are of the labeled rows of positive weight, "
                f"and there are {n_labeled} of these. Count them alone."
            )
        n_both = np.intersect1d(train, test).size
        if n_both:
            raise ValueError(
                f"cv has a split with {n_both} rows both to fit and to score members, which would "
                "then be scored on labels they have seen. Take them apart."
            )
    return numbers[train], numbers[test]


def fit_and_score(
    model: Any,
    estimators: list[tuple[str, Any]],
    rows: SemiSupervisedRows,
    codes: np.ndarray,
    seed: int,
    random_state: np.random.RandomState,
) -> tuple[list[Member], np.ndarray]:
    """Return fitted members, and their scores of unlabeled rows as by ``score_members``.

    ``model`` is a `HedgedVotingClassifier` whose parameters tell how to score members, and
    ``estimators`` are its classifiers.
    """
    n_classes, is_prefit = model.classes_.size, isinstance(model.cv, str)
    to_learn_from = draw_rows(rows.X_unlabeled, ROWS_TO_LEARN_FROM, random_state)
    given = MemberRows(rows.X_labeled, codes, n_classes, rows.weight_labeled, to_learn_from)
    if has_defaults(estimators):
        some = draw_rows(rows.X_unlabeled, ROWS_FOR_VIEWS, random_state)
        sample = stack_rows(rows.X_labeled, some)
        suited = default_panel(sample, codes.size, random_state)
        estimators = fill_in_defaults(estimators, dict(suited))
    labels = model.classes_ if is_prefit else None  # by default codes
    with row_reporter(model.verbose, "fitting members", None, "fits") as show:
        options: dict[str, Any] = {"n_jobs": model.n_jobs}
        options["report"] = lambda name, n_done, n_all: show(n_done)
        if is_prefit:
            members = prefit_members(estimators, model.classes_)
            members = score_labeled(members, given, model.classes_, **options)
        else:
            # splits that were given may keep rows apart that a bootstrap mixes
            options["out_of_bag"] = isinstance(model.cv, Integral) and given.weights is None
            folds = choose_folds(codes, model.cv, seed)
            members = cross_fit(estimators, given, folds, **options)
    return score_members(members, rows.X_unlabeled, n_classes, labels, n_jobs=model.n_jobs)


def has_defaults(estimators: Iterable[tuple[str, Any]]) -> bool:
    """Return whether some of the members are default ones."""
    return any(isinstance(model, str) and model == "default" for _, model in estimators)


def fill_in_defaults(
    estimators: Iterable[tuple[str, Any]], suited: dict[str, Any]
) -> list[tuple[str, Any]]:
    """Return the members with classifiers for "default"; without those that do not suit rows."""
    is_default = {name: isinstance(model, str) for name, model in estimators}
    return [
        (name, suited[name] if is_default[name] else model)
        for name, model in estimators
        if not is_default[name] or name in suited
    ]


def _no_report(name: str, n_done: int, n_all: int) -> None:
    """Report no progress."""


def cross_fit(
    estimators: Sequence[tuple[str, Any]],
    rows: MemberRows,
    folds: Sequence[Fold],
    *,
    out_of_bag: bool = False,
    n_jobs: int | None = None,
    report: Report = _no_report,
) -> list[Member]:
    """Return the members, fitted to all labels and scored out of fold, in the order given.

    Members learn the codes of the classes, so that these are their ``classes_``. One that fails is
    left out with a ``MemberFailedWarning``, unless it fails only in folds that lack a class. Folds
    with labels of one class alone are passed over. With ``out_of_bag``, members that score labeled
    rows by trees grown without them are fitted once, and in no fold. ``report`` gets the name of a
    member that has been fitted, and how many fits are done, of how many.
    """
    everything = np.arange(rows.codes.size)
    splits = [fold for fold in folds if np.unique(rows.codes[fold[0]]).size > 1]
    has_all = [np.unique(rows.codes[train]).size == rows.n_classes for train, _ in splits] + [True]
    splits.append((everything, everything))
    last = len(splits) - 1
    is_bagged = {name: out_of_bag and scores_out_of_bag(model) for name, model in estimators}
    numbers = {name: [last] if is_bagged[name] else range(len(splits)) for name, _ in estimators}
    calls = [
        ((name, k), _fit_and_score, name, model, rows, *splits[k], k == last, is_bagged[name])
        for name, model in estimators
        for k in numbers[name]
    ]
    outcomes: dict[tuple[str, int], list[Any]] = {}
    done = run_jobs(_attempt, calls, n_jobs, return_as="generator_unordered")
    for n_done, (key, *outcome) in enumerate(done, start=1):
        outcomes[key] = outcome
        report(key[0], n_done, len(calls))
    members, errors = [], {}
    for name, _ in estimators:
        found = {k: outcomes[name, k] for k in numbers[name]}
        fatal = [error for k, (_, error, _) in found.items() if error and has_all[k]]
        if fatal:
            errors[name] = fatal[0]
            continue
        seconds = sum(took for *_, took in found.values())
        model, out_of_fold, grown_from = found.pop(last)[0]
        if grown_from is not None:
            model._grown_from = grown_from
        if not is_bagged[name]:
            parts = [(splits[k][1], result[1]) for k, (result, *_) in found.items() if result]
            out_of_fold = _join_folds(parts, (everything.size, rows.n_columns))
        members.append(Member(name, model, out_of_fold, seconds))
    _warn_of_failed(errors, len(members))
    return members


def score_labeled(
    members: Sequence[Member],
    rows: MemberRows,
    labels: np.ndarray,
    *,
    n_jobs: int | None = None,
    report: Report = _no_report,
) -> list[Member]:
    """Return members that came fitted with their scores of all labeled rows.

    Parameters are as in ``score_members``.
    """
    members, scores = score_members(
        members, rows.X_labeled, rows.n_classes, labels, n_jobs=n_jobs, report=report
    )
    pairs = zip(members, scores.swapaxes(0, 1), strict=True)
    return [replace(member, out_of_fold=own) for member, own in pairs]


def prefit_members(estimators: Sequence[tuple[str, Any]], labels: np.ndarray) -> list[Member]:
    """Return fitted classifiers as members that have scored no rows; error if one is not ready.

    Nothing is fitted or copied. ``labels`` are those of the classes as the classifiers know them.
    """
    for name, estimator in estimators:
        try:
            check_is_fitted(estimator)
        except NotFittedError:
            raise NotFittedError(
                f"Estimator {name!r} must be fitted for cv='prefit'. Got {estimator!r}. Fit it "
                "first, or give a number of folds as cv."
            ) from None
        if not hasattr(estimator, "classes_"):
            raise ValueError(
                f"Estimator {name!r} must have classes_ for cv='prefit', to tell which column is "
                f"of which class. Got {estimator!r} without."
            )
        find_classes(np.asarray(estimator.classes_), np.asarray(labels), f"Estimator {name!r}")
    return [Member(name, estimator, np.empty(0)) for name, estimator in estimators]


def score_members(
    members: Sequence[Member],
    X: Any,
    n_classes: int,
    labels: np.ndarray | None = None,
    *,
    n_jobs: int | None = None,
    report: Report = _no_report,
) -> tuple[list[Member], np.ndarray]:
    """Return the members that can score rows, and scores: (n_samples, n_members, n_columns).

    Others, for instance with NaN among their scores, are left out with a ``MemberFailedWarning``.
    ``labels`` are those of the classes as the members know them, by default the codes 0, 1, ...;
    ``report`` gets the name of a member that is done, and how many are, of how many.
    """
    calls = [(m, member_scores, m.estimator, X, n_classes, labels, m.name) for m in members]
    left, scores, errors = [], [], {}
    done = run_jobs(_attempt, calls, n_jobs, prefer="threads")
    for n_done, (member, own, error, seconds) in enumerate(done, start=1):
        if error:
            errors[member.name] = error
        else:
            left.append(replace(member, seconds=member.seconds + seconds))
            scores.append(own)
        report(member.name, n_done, len(calls))
    _warn_of_failed(errors, len(left))
    return left, np.stack(scores, axis=1)


def _attempt(
    key: Any, action: Callable, *arguments: Any, **options: Any
) -> tuple[Any, Any, str, float]:
    """Return the key, what an action returns or None, its error or "", and the seconds it took."""
    result, message, started = None, "", time.perf_counter()
    try:
        result = action(*arguments, **options)
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
    return key, result, message, time.perf_counter() - started


def _fit_and_score(
    name: str,
    estimator: Any,
    rows: MemberRows,
    train: np.ndarray,
    test: np.ndarray,
    is_final: bool,
    is_bagged: bool,
    shares_cores: bool,
) -> tuple[Any, np.ndarray, Any]:
    """Return the final model, None for that of a fold, and scores of the rows to score.

    The final model's scores of rows it has seen only show whether it can score at all, unless they
    are out of bag. With them comes what a `HedgeClipperClassifier` was grown from, as it measures
    importances later: a copy from another process has lost it.
    """
    model = clone(estimator)
    with own_jobs(model, shares_cores), warnings.catch_warnings():
        # the panel decides, whatever a member of ours would
        warnings.simplefilter("ignore", NeverPredictedWarning)
        codes = fit_member(model, rows, train)
        if is_bagged:
            scores = out_of_bag_scores(model, rows.n_classes)
            return model, scores, getattr(model, "_grown_from", None)
        X, own = _safe_indexing(rows.X_labeled, test), np.arange(codes.size)
        scores = member_scores(model, X, rows.n_classes, own, name, codes=codes)
    return model if is_final else None, scores, None


def _join_folds(
    parts: Sequence[tuple[np.ndarray, np.ndarray]], shape: tuple[int, int]
) -> np.ndarray:
    """Return the mean score of each labeled row over the folds that scored it, NaN without any.

    A part has the numbers of the rows in a fold, and their scores.
    """
    total, count = np.zeros(shape), np.zeros((shape[0], 1))
    for test, scores in parts:
        np.add.at(total, test, scores)
        np.add.at(count, test, 1.0)
    return np.divide(total, count, out=np.full(shape, np.nan), where=count > 0)


def _warn_of_failed(errors: dict[str, str], n_left: int) -> None:
    """Warn of members that are left out; without others, raise an error."""
    if errors and not n_left:
        listed = "\n".join(f"- {name}: {error}" for name, error in errors.items())
        raise ValueError(f"All members have failed, so there is no panel:\n{listed}")
    for name, error in errors.items():
        warn_user(
            f"Member {name!r} has failed and is left out: {error}. Fix it, or name "
            "members without it.",
            MemberFailedWarning,
        )
