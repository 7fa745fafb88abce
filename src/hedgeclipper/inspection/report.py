"""`write_report`: one HTML page about a fitted model.

A section of the page is a function that returns its data, here or, for technical details, in
``details.py``, and a template with its text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import hedgeclipper
from hedgeclipper.base.evaluation import evaluate_predictions
from hedgeclipper.base.predictions import cheapest
from hedgeclipper.bounds.checked_rule import ESTIMATE_LEVEL, SureRows
from hedgeclipper.inspection import rendering
from hedgeclipper.inspection.auto_labels import AutoLabelDisplay, errors_to_try
from hedgeclipper.inspection.comparison import Comparison, compare
from hedgeclipper.inspection.details import details
from hedgeclipper.inspection.display import BLUE
from hedgeclipper.inspection.subject import Subject, read_subject, take
from hedgeclipper.io.atomic import atomic_path, check_output
from hedgeclipper.io.extras import import_extra

MOST_BARS = 12
MOST_UNCERTAIN, MOST_COLUMNS = 15, 4
MOST_IMPORTANT, MANY_COLUMNS = 15, 500
FEW_LABELS = 50
ERRORS_ALLOWED = (0.01, 0.05, 0.1)


def write_report(
    model: Any,
    path: str | Path,
    *,
    X: Any = None,
    y: Any = None,
    X_unlabeled: Any = None,
    votes: Any = None,
    gold: Any = None,
    row_names: Sequence[str] | None = None,
    n_unlabeled: int | None = None,
    about: Mapping[str, str] | None = None,
    title: str | None = None,
    force: bool = False,
) -> Path:
    """Write a report of a fitted model: one HTML file that needs no network.

    It begins with the expected error beside that of the most frequent class, and goes on with
    recall and confusion of classes, predicted proportions, columns that matter, what unlabeled
    rows bring, a comparison with simpler methods on labels held out, the rows that can be labeled
    automatically, and those to label next. Weights, the solver and settings come last.
    For recall and comparison a forest or an aggregate of votes is fitted three times more, to two
    thirds of the labels and at most 4,000 unlabeled rows, and the members of a panel are
    reweighted. Sections for which rows are missing state so. It needs the extra ``report``.

    Parameters
    ----------
    model : estimator
        A fitted `HedgeClipperClassifier`, `HedgedVotingClassifier` or `VoteAggregator`, or a
        pipeline or search that ends in one.
    path : str or Path
        The file to write. It appears when it is whole.
    X, y : optional
        The rows and labels of the fit, in the same form; unlabeled rows may be marked as there.
    X_unlabeled : optional
        The unlabeled rows of the fit, in the same form. Of more than 100,000, or 5,000 for a
        panel, so many are drawn.
    votes, gold : optional
        For a `VoteAggregator`: votes and gold labels to report on, in place of those of the fit.
    row_names : sequence of str, optional
        Names of the unlabeled rows, one for each that is passed, in their order. The
        default for votes is their own names if they have some, else numbers.
    n_unlabeled : int, optional
        How many unlabeled rows there were, where those passed are a random sample of them.
    about : mapping of str to str, optional
        More to tell of the data, such as the name of a file, under "Data and settings".
    title : str, optional
        Title of the page.
    force : bool
        Whether to replace a file that exists.

    Returns
    -------
    Path
        Where the report is.

    Examples
    --------
    >>> import tempfile
    >>> from hedgeclipper import VoteAggregator
    >>> votes = [[0, 0, 1], [1, 1, 1], [0, -1, 0], [1, 0, 1], [0, 0, -1], [-1, 1, 1]]
    >>> model = VoteAggregator().fit(votes, [0, 1, -1, -1, -1, -1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report(model, f"{folder}/report.html").read_text(encoding="utf-8")
    >>> "How often it is right" in page
    True
    """
    path = check_output(path, force=force)
    for module in ("jinja2", "matplotlib"):
        import_extra(module, rendering.EXTRA, "write_report")
    rows = {"X": X, "y": y, "X_unlabeled": X_unlabeled, "votes": votes, "gold": gold}
    subject = read_subject(model, rows, row_names, n_unlabeled, about)
    found, name = compare(subject), type(subject.estimator).__name__
    compared = found if isinstance(found, Comparison) else None
    page = rendering.template("page.html").render(
        title=f"Report of a {name}" if title is None else title,
        subject=subject,
        model=subject.model,
        estimator_name=name,
        found=compared,
        no_comparison=found if compared is None else "",
        sections={
            "classes": _classes(subject, compared),
            "proportions": _proportions(subject),
            **_rates(subject),
            **_columns_that_matter(subject),
            **_gain_of_rows(subject),
            "comparison": compared,
            "auto_labels": _auto_labels(subject),
            "next": _next(subject),
        },
        details=details(subject, compared),
        version=hedgeclipper.__version__,
        date=date.today().isoformat(),
    )
    with atomic_path(path, force=force) as draft:
        draft.write_text(page, encoding="utf-8", newline="\n")
    return path


def _classes(subject: Subject, found: Comparison | None) -> dict[str, Any] | None:
    """Return recall of each class and confusion of classes, on labels held out."""
    if found is None:
        return None
    classes, probabilities = subject.classes, found.probabilities[found.model]
    predicted = classes[cheapest(probabilities, found.costs)]
    measured = evaluate_predictions(classes[found.codes], predicted, probabilities, classes)
    counts = measured.confusion.sum(axis=1)
    order = np.argsort(-counts, kind="stable")[:MOST_BARS]
    rows = [(str(classes[k]), counts[k], measured.confusion[k, order]) for k in order]
    return {
        "auc": measured.auc,
        "bars": [
            (str(classes[k]), measured.recall[k], measured.recall_intervals[k]) for k in order
        ],
        "heat": [(name, n, [(m, round(80 * m / n)) for m in own]) for name, n, own in rows],
        "n_left_out": classes.size - order.size,
    }


def _proportions(subject: Subject) -> dict[str, Any] | None:
    """Return the classes with how many rows are predicted to be of each, most frequent first."""
    if subject.probabilities is None:
        return None
    codes = cheapest(subject.probabilities, subject.model.costs)
    predicted = np.bincount(codes, minlength=subject.classes.size) / codes.size
    expected = subject.probabilities.mean(axis=0)
    order = np.argsort(-predicted, kind="stable")
    bars = [(str(subject.classes[k]), predicted[k], expected[k]) for k in order[:MOST_BARS]]
    return {"bars": bars, "n_left_out": len(order) - len(bars)}


def _rates(subject: Subject) -> dict[str, Any]:
    """Return how frequent classes are by votes, how many voters are needed, and which agree."""
    if subject.model.describe_panel is None:
        return {}
    panel, rates = subject.model.describe_panel(), subject.estimator.class_rates()
    order = np.argsort(-rates.rates, kind="stable")[:MOST_BARS]
    bars = [
        (str(rates.classes[k]), rates.rates[k], (rates.lower[k], rates.upper[k])) for k in order
    ]
    label = "Estimated accuracy by number of voters"
    heat = [
        (name, [("-", 0) if np.isnan(v) else (f"{100 * v:.0f}", round(90 * v**2)) for v in row])
        for name, row in zip(panel.names, panel.agreement, strict=True)
    ]
    figure = rendering.figure(label, _draw_best, panel.n_best, panel.accuracies)
    return {"rates": {"rates": rates, "bars": bars, "panel": panel, "heat": heat, "figure": figure}}


def _draw_best(n_best: list[int], accuracies: list[float], *, ax: Any) -> None:
    ax.plot(n_best, 100 * np.array(accuracies), marker="o", color=BLUE)
    if n_best[-1] > 10:
        ax.set_xscale("log")
    ax.set_xticks(n_best, [f"{k:,}" for k in n_best])
    ax.minorticks_off()
    ax.set_xlabel("voters with the largest weights")
    ax.set_ylabel("estimated accuracy, %")


def _columns_that_matter(subject: Subject) -> dict[str, Any]:
    """Return the most important columns; no section for models that do not measure them."""
    if subject.model.importances is None:
        return {}
    importances, names = None, subject.column_names
    if len(names) <= MANY_COLUMNS:
        with suppress(AttributeError):  # a saved model has no rows to measure them on
            importances = subject.model.importances(subject.sources, len(names))
    if importances is None:
        return {"columns": None}
    used = np.unique(subject.sources)
    order = used[np.argsort(-importances[used], kind="stable")][:MOST_IMPORTANT]
    most = max(float(importances.max()), 1e-9)
    shown = importances.round(3) + 0.0  # no -0.000
    bars = [(names[k], max(importances[k], 0.0) / most, f"{shown[k]:.3f}") for k in order]
    section = {"bars": bars, "n_left_out": used.size - order.size}
    return {"columns": section | {"is_of_member": subject.model.kind == "panel"}}


def _gain_of_rows(subject: Subject) -> dict[str, Any]:
    """Return what unlabeled rows bring, in words; no section where that cannot be measured."""
    if subject.model.describe_gain is not None and subject.model.n_unlabeled:
        with suppress(AttributeError):
            return {"gain": subject.model.describe_gain()}
    return {}


def _uncertain(subject: Subject) -> dict[str, Any] | None:
    """Return the rows whose two most probable classes are closest."""
    if subject.probabilities is None:
        return None
    best_two = np.sort(subject.probabilities, axis=1)[:, ::-1][:, :2]
    margins = best_two[:, 0] - best_two[:, 1]
    covered = np.arange(margins.size)
    if subject.is_votes:
        covered = np.flatnonzero(subject.unlabeled.counts().sum(axis=1) > 0)
    rows = covered[np.argsort(margins[covered], kind="stable")[:MOST_UNCERTAIN]]
    codes = cheapest(subject.probabilities[rows], subject.model.costs)
    which = [rendering.NOT_KNOWN] * rows.size
    if subject.row_names is not None:
        which = [rendering.plain(name) for name in subject.row_names[rows]]
    elif subject.numbers is not None:
        which = [rendering.whole(number) for number in subject.numbers[rows]]
    columns = [
        ("row", which),
        ("prediction", [str(label) for label in subject.classes[codes]]),
        ("its probability", [rendering.proportion(p) for p in subject.probabilities[rows, codes]]),
    ]
    if subject.model.reasons is not None:
        reasons = subject.model.reasons(take(subject.unlabeled, rows))
        columns += [] if reasons is None else [("columns that matter most here", reasons)]
    columns += _values(subject, rows)
    return {
        "columns": columns,
        "n_shown": rows.size,
        "below_60": float(np.mean(best_two[:, 0] < 0.6)),
        "uncovered": 1.0 - covered.size / margins.size,
    }


def _values(subject: Subject, rows: np.ndarray) -> list[tuple[str, list[rendering.Cell]]]:
    """Return a few columns of the rows, where columns have names; of votes the counts."""
    if subject.is_votes:
        names = [f"votes for {label}" for label in subject.classes]
        part = subject.unlabeled.counts()[rows]
    elif hasattr(subject.estimator, "feature_names_in_"):
        names, X = subject.estimator.feature_names_in_.tolist(), subject.unlabeled
        if hasattr(X, "iloc"):
            part = X.iloc[rows, :MOST_COLUMNS].to_numpy(dtype=object)
        else:
            part = X[rows][:, :MOST_COLUMNS]
            part = part.toarray() if sparse.issparse(part) else part
    else:
        return []
    shown = range(min(MOST_COLUMNS, len(names)))
    return [(str(names[k]), [rendering.whole(value) for value in part[:, k]]) for k in shown]


def _auto_labels(subject: Subject) -> dict[str, Any]:
    """Return how many rows can be labeled automatically if few errors are allowed, and a curve."""
    rule, bound = subject.model.checked, subject.model.certificate
    level = bound.confidence_level or ESTIMATE_LEVEL
    found = [rule.surest(allowed, level) for allowed in ERRORS_ALLOWED]
    svg, is_any = None, any(one.coverage for one in found)
    if is_any or rule.surest(errors_to_try(bound)[-1], level).coverage:
        label = "Proportion of rows labeled automatically against the errors allowed"
        draw, options = AutoLabelDisplay.from_estimator, {"confidence_level": level, "name": ""}
        svg = rendering.figure(label, draw, subject.estimator, **options)
    tested = [(one.n_tested, one.n_errors) if not one.n_needed else (np.nan,) * 2 for one in found]
    columns = [
        ("errors allowed", [rendering.proportion(allowed) for allowed in ERRORS_ALLOWED]),
        ("rows", [rendering.proportion(one.coverage) for one in found]),
        ("tested labels", [n_tested for n_tested, _ in tested]),
        ("errors among them", [n_errors for _, n_errors in tested]),
        ("more labels needed", [_needed(one) for one in found]),
    ]
    most = ERRORS_ALLOWED[-1]
    known = {"found": found, "is_any": is_any, "most": most, "level": level}
    return {**known, "columns": columns, "figure": svg}


def _needed(found: SureRows) -> str:
    """Return how many labels are needed at least, where there are too few to test anything."""
    if found.n_needed:
        return f"at least {found.n_needed:,} are needed, there are {found.n_tested:,}"
    return ""


def _next(subject: Subject) -> dict[str, Any]:
    """Return what decides which advice is given."""
    model = subject.model
    rarest = None
    if subject.y is not None:
        counts = np.unique(subject.y, return_counts=True)[1]
        rarest = int(counts.min()) if counts.size == subject.classes.size else 0
    # SGD takes a given number of passes, whether it has converged or not
    is_sgd = getattr(getattr(subject.estimator, "game", None), "method", "") == "sgd"
    has_rows = subject.has_own_unlabeled and subject.probabilities is not None
    return {
        "rows": _uncertain(subject),
        "rarest": rarest if rarest is None or rarest < FEW_LABELS else None,
        "has_rows": has_rows,
        "out_of_passes": "max_iter" in model.stop_reasons and not is_sgd,
        "has_guarantee": model.certificate.is_guarantee,
    }
