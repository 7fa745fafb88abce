"""Other classifiers as voters: fitted to all labels, and scored on labels they have not seen.

A classifier is fitted once to all labeled rows, and once for each fold of these, whose rows it then
scores. One that comes fitted, in scikit-learn's ``FrozenEstimator``, is used as it is: the labeled
rows must be new to it.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone, is_classifier
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, Normalizer
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import ThreadpoolController, threadpool_limits

from hedgeclipper.base.row_reader import UNLABELED
from hedgeclipper.io.arrays import draw_rows, stack_rows
from hedgeclipper.io.messages import warn_user
from hedgeclipper.sklearn_private import _safe_indexing
from hedgeclipper.voters.trees import n_workers
from hedgeclipper.voters.views import Components, QuantileColumns, filler

TREES = "trees"
DEFAULT_VOTERS = (TREES, "linear", "components", "kernel", "boosting")
# of the processor, still to come: with fewer, processes take longer to start than they save
SECONDS_TO_START = 5.0
JOB_PARAMETERS = {"n_jobs", "nthread", "thread_count"}
READS_MARKS = (SelfTrainingClassifier, LabelPropagation, LabelSpreading)

Fold = tuple[np.ndarray, np.ndarray]


class VoterFailedWarning(UserWarning):
    """A voter could not be fitted or gave no usable scores, and is left out."""


def default_estimators() -> list[tuple[str, str]]:
    """Return the default voters of `HedgeClipperClassifier`, to add others or to leave some out.

    Each is a name and the word "default"; what it stands for depends on the rows. "trees" are three
    groups of trees.

    Returns
    -------
    list of (str, str)
        Names, each with "default".

    Examples
    --------
    >>> from sklearn.neural_network import MLPClassifier
    >>> from hedgeclipper import HedgeClipperClassifier, default_estimators
    >>> [name for name, _ in default_estimators()]
    ['trees', 'linear', 'components', 'kernel', 'boosting']
    >>> few = [voter for voter in default_estimators() if voter[0] != "boosting"]
    >>> model = HedgeClipperClassifier([*few, ("network", MLPClassifier())])
    """
    return [(name, "default") for name in DEFAULT_VOTERS]


def check_estimators(estimators: Any) -> list[tuple[str, Any]]:
    """Return the (name, voter) pairs of the ``estimators`` parameter that are not "drop".

    Names are checked by scikit-learn's ``_BaseComposition``.
    """
    if isinstance(estimators, str) and estimators in ("default", TREES):
        names = DEFAULT_VOTERS if estimators == "default" else (TREES,)
        return [(name, "default") for name in names]
    if not isinstance(estimators, list | tuple) or not all(
        isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str)
        for pair in estimators
    ):
        raise ValueError(
            "The 'estimators' parameter must be 'default', 'trees', or a list of (name, "
            f"classifier) pairs. Got {estimators!r}."
        )
    kept = [(name, one) for name, one in estimators if not (isinstance(one, str) and one == "drop")]
    if not kept:
        raise ValueError("estimators has nothing but 'drop'. Leave at least one voter in.")
    for name, one in kept:
        if isinstance(one, str):
            if one != "default" or name not in DEFAULT_VOTERS:
                raise ValueError(
                    f"{name!r} is no default voter. Choose from {', '.join(DEFAULT_VOTERS)}, or "
                    f"pass a classifier. Got {one!r}."
                )
        elif isinstance(one, type):
            raise TypeError(
                f"Estimator {name!r} must be an instance. Got a class: use {one.__name__}()."
            )
        elif not (hasattr(one, "fit") and is_classifier(one)):
            raise ValueError(
                f"Estimator {name!r} must be a classifier, 'default' or 'drop'. Got {one!r}."
            )
    return kept


def default_classifiers(
    names: Sequence[str], X: Any, components: Components | None, seed: int
) -> dict[str, Any]:
    """Return classifiers for these default names, not fitted, on views learned from rows X.

    ``components`` are those of the trees. Views are fitted and frozen: no fold fits them again.
    docs/ablations.md tells what each contributes.
    """
    components = Components(random_state=seed).fit(X) if components is None else components
    columns: Any = QuantileColumns()
    if components.has_unit_rows_:
        columns = make_pipeline(filler(), Normalizer())
    elif sparse.issparse(X):
        columns = make_pipeline(filler(), MaxAbsScaler())
    # no entry of a unit row is large: coefficients must be
    strength = 10.0 if components.has_unit_rows_ else 0.1
    makers: dict[str, Callable[[], Any]] = {
        "linear": lambda: make_pipeline(FrozenEstimator(columns.fit(X)), _linear(C=strength)),
        "components": lambda: make_pipeline(FrozenEstimator(components), _linear(C=0.1)),
        "kernel": lambda: make_pipeline(
            FrozenEstimator(_kernel(X, components, seed)), _linear(C=10.0)
        ),
        "boosting": lambda: make_pipeline(
            filler(),
            GradientBoostingClassifier(subsample=0.7, max_features="sqrt", random_state=seed),
        ),
    }
    return {name: makers[name]() for name in names}


_linear = partial(LogisticRegression, max_iter=1000)


@np.errstate(divide="ignore", invalid="ignore")  # rows that are all alike
def _kernel(X: Any, components: Components, seed: int) -> Pipeline:
    """Return the similarity to 300 of the rows, by their components; 500 show how far is far."""
    reduced = components.transform(X)
    some = draw_rows(reduced, 500, np.random.RandomState(seed))
    distances = pairwise_distances(some, metric="sqeuclidean")
    gamma = 1.0 / (float(np.median(distances)) or 1.0)
    size = min(300, X.shape[0])
    kernel = Nystroem(gamma=gamma, n_components=size, random_state=seed).fit(reduced)
    return Pipeline([("components", components), ("map", kernel)])


@dataclass(frozen=True, eq=False)
class LabeledRows:
    """What classifiers learn from.

    Rows are arrays, CSR matrices or frames; ``codes`` are the classes of the labeled ones, from 0
    to n_classes - 1, and ``labels`` what fitted classifiers call these. There may be no unlabeled
    rows.
    """

    X: Any
    codes: np.ndarray
    labels: np.ndarray
    X_unlabeled: Any = None


@dataclass(frozen=True, eq=False)
class FittedClassifier:
    """A classifier fitted to all labels, and its scores of labeled rows that it has not seen.

    ``labels`` are those of the classes as it knows them, and ``seconds`` the time of all its fits.
    """

    name: str
    estimator: Any
    labels: np.ndarray
    out_of_fold: np.ndarray  # (n_labeled, n_games), NaN for rows that no fold scores
    seconds: float


def fit_classifiers(
    estimators: Sequence[tuple[str, Any]],
    rows: LabeledRows,
    seed: int,
    n_jobs: int | None = None,
) -> list[FittedClassifier]:
    """Return the classifiers, fitted to all labels and scored out of fold, in the order given.

    One that fails is left out with a `VoterFailedWarning`, unless it fails only in folds that lack
    a class.
    """
    everything = np.arange(rows.codes.size)
    folds = [*choose_folds(rows.codes, seed), (everything, everything)]
    has_all = [np.unique(rows.codes[train]).size == rows.labels.size for train, _ in folds]
    last = len(folds) - 1
    plan = [
        (name, one, [last] if isinstance(one, FrozenEstimator) else range(len(folds)))
        for name, one in estimators
    ]
    calls = [(one, rows, *folds[k], k == last) for _, one, numbers in plan for k in numbers]
    outcomes, fitted = iter(_run_fits(calls, n_jobs)), []
    for name, one, numbers in plan:
        found = {number: next(outcomes) for number in numbers}
        fatal = [error for number, (_, error, _) in found.items() if error and has_all[number]]
        if fatal:
            warn_user(
                f"Voter {name!r} has failed and is left out: {fatal[0].rstrip('.')}. Fix it, or "
                "name voters without it.",
                VoterFailedWarning,
            )
            continue
        seconds = sum(took for *_, took in found.values())
        model, scores = found.pop(last)[0]
        is_frozen = isinstance(one, FrozenEstimator)
        if not is_frozen:
            scores = np.full_like(scores, np.nan)
            for number, (result, *_) in found.items():
                if result:
                    scores[folds[number][1]] = result[1]
        labels = rows.labels if is_frozen else np.arange(rows.labels.size)
        fitted.append(FittedClassifier(name, model, labels, scores, seconds))
    return fitted


def _run_fits(calls: Sequence[tuple], n_jobs: int | None) -> list[tuple]:
    """Return what `_attempt` does: fits are run here while few seconds are left for processes."""
    n_jobs, started = n_workers(n_jobs), time.process_time()
    done: list[tuple] = []
    with threadpool_limits(1):
        for number, call in enumerate(calls):
            seconds_each = (time.process_time() - started) / max(number, 1)
            if n_jobs > 1 and seconds_each * (len(calls) - number) >= SECONDS_TO_START:
                rest = (delayed(_attempt)(*one, shares_cores=True) for one in calls[number:])
                return done + Parallel(n_jobs)(rest)
            done.append(_attempt(*call))
    return done


def choose_folds(codes: np.ndarray, seed: int) -> list[Fold]:
    """Return the numbers of the labeled rows to fit and to score, for five stratified folds.

    There are fewer folds if the rarest class has fewer labels. A class of a single label is always
    among the rows to fit, and without two classes of two labels there are no folds.

    Examples
    --------
    >>> codes = np.array([0, 0, 0, 0, 1, 1])
    >>> [codes[test].tolist() for _, test in choose_folds(codes, 0)]
    [[0, 0, 1], [0, 0, 1]]
    """
    counts = np.bincount(codes)
    if np.sum(counts > 1) < 2:
        return []
    is_single = counts[codes] == 1
    single, common = np.flatnonzero(is_single), np.flatnonzero(~is_single)
    n_folds = min(5, int(counts[counts > 1].min()))
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    splits = splitter.split(np.zeros((common.size, 1)), codes[common])
    return [(np.sort(np.append(common[train], single)), common[test]) for train, test in splits]


def _attempt(
    estimator: Any,
    rows: LabeledRows,
    train: np.ndarray,
    test: np.ndarray,
    is_final: bool,
    *,
    shares_cores: bool = False,
) -> tuple[tuple[Any, np.ndarray] | None, str, float]:
    """Return the final model (else None) with scores of the test rows, an error, and seconds."""
    started, found, message = time.perf_counter(), None, ""
    try:
        model = clone(estimator)
        pools = ThreadpoolController() if shares_cores else None
        with one_thread(model, pools), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of a fold would point to no line of the user
            labels = rows.labels
            if not isinstance(model, FrozenEstimator):
                codes = fit_to_labels(model, rows, train)
                labels = np.full(rows.labels.size, UNLABELED)  # that of no class it can know
                labels[codes] = np.arange(codes.size)
            scores = classifier_scores(model, _safe_indexing(rows.X, test), labels)
        found = model if is_final else None, scores
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
    return found, message, time.perf_counter() - started


@contextmanager
def one_thread(model: Any, pools: ThreadpoolController | None) -> Iterator[None]:
    """Set a model's own parameters for jobs to 1, and back, and the ``pools`` of threads.

    That is for a model that shares the cores with others: without pools nothing is set. The limit
    of OpenMP is one for each thread. That of BLAS is one for all of them: set it around.
    """
    if pools is None:
        yield
        return
    model = model.estimator if isinstance(model, FrozenEstimator) else model
    parameters = model.get_params() if hasattr(model, "get_params") else {}
    asked = {}
    for name, n_jobs in parameters.items():
        owner, _, parameter = name.rpartition("__")
        # in scikit-learn None is one job, and setting n_jobs may be deprecated
        is_one = n_jobs is None and type(parameters.get(owner, model)).__module__[:8] == "sklearn."
        if parameter in JOB_PARAMETERS and not is_one:
            asked[name] = n_jobs
    try:
        if asked:
            model.set_params(**dict.fromkeys(asked, 1))
        with pools.limit(limits=1):
            yield
    finally:
        if asked:
            model.set_params(**asked)


def fit_to_labels(model: Any, rows: LabeledRows, train: np.ndarray) -> np.ndarray:
    """Fit a model to some labeled rows, given their numbers, and return the codes of its classes.

    Its classes are 0, 1, ... without a gap, as some classifiers demand, even where ``train`` lacks
    a class. Unlabeled rows go to a ``fit`` that takes ``X_unlabeled``, or among the other rows,
    marked by -1, for an estimator that reads such marks.
    """
    last = model
    while isinstance(last, Pipeline):
        last = last.steps[-1][1]
    X = _safe_indexing(rows.X, train)
    codes, y = np.unique(rows.codes[train], return_inverse=True)
    takes_rows = has_fit_parameter(model, "X_unlabeled")
    options: dict[str, Any] = {}
    if rows.X_unlabeled is not None and (takes_rows or isinstance(last, READS_MARKS)):
        # it is scored on the rows of the fold like on unlabeled ones, so that it learns from both
        held_out = np.setdiff1d(np.arange(rows.codes.size), train)
        more = stack_rows(rows.X_unlabeled, _safe_indexing(rows.X, held_out))
        if takes_rows:
            options["X_unlabeled"] = more
        else:
            X, y = stack_rows(X, more), np.append(y, np.full(more.shape[0], UNLABELED))
    model.fit(X, y, **options)
    return codes


def classifier_scores(estimator: Any, X: Any, labels: Any) -> np.ndarray:
    """Return a fitted classifier's scores of rows, one column per game.

    Probabilities where it has them; else its decision function, squashed to (0, 1) class by class;
    else 1 for the class it predicts. A class that it does not know gets 0. Of two classes only the
    second has a column.

    ``labels`` are those of all classes as the estimator knows them.

    Examples
    --------
    >>> from sklearn.linear_model import RidgeClassifier
    >>> model = RidgeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> classifier_scores(model, np.array([[0.5]]), ["no", "yes"])
    array([[0.5]])
    """
    labels = np.asarray(labels)
    known = np.asarray(getattr(estimator, "classes_", labels))
    code_of = {label: code for code, label in enumerate(labels.tolist())}
    unknown = [label for label in known.tolist() if label not in code_of]
    if unknown:
        raise ValueError(
            f"it must know the classes {labels.tolist()} and no others. It also knows {unknown}"
        )
    scores = np.zeros((X.shape[0], labels.size))
    if known.size == 1 or X.shape[0] == 0:
        own = np.ones((X.shape[0], known.size))
    elif hasattr(estimator, "predict_proba"):
        own = np.asarray(estimator.predict_proba(X), dtype=float)
    elif hasattr(estimator, "decision_function"):
        own = expit(np.asarray(estimator.decision_function(X), dtype=float))
        own = np.column_stack([1.0 - own, own]) if own.ndim == 1 else own
    else:
        own = np.asarray(estimator.predict(X)).reshape(-1, 1) == known
    if own.shape != (X.shape[0], known.size):
        raise ValueError(
            f"it must give one score for each of its {known.size} classes. Got an array of shape "
            f"{own.shape} for {X.shape[0]} rows"
        )
    if not np.isfinite(own).all():
        n_bad = np.count_nonzero(~np.isfinite(own).all(axis=1))
        raise ValueError(
            f"it must give finite scores. Got NaN or infinity for {n_bad} of {X.shape[0]} rows"
        )
    scores[:, [code_of[label] for label in known.tolist()]] = own
    return scores[:, 1:] if labels.size == 2 else scores
