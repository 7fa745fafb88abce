"""`write_report`: one HTML page about a fitted model.

A section of the page is a function that returns its data, and a template with its text. All texts
are in ``templates/``; there, whatever comes from data is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from html import escape
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.calibration import CalibrationDisplay

import hedgeclipper
from hedgeclipper.base.evaluation import evaluate_predictions
from hedgeclipper.bounds.auto_labels import check_max_error, needed_tests, question_words
from hedgeclipper.bounds.finishing import make_plan
from hedgeclipper.bounds.tested_predictions import ESTIMATE_LEVEL, TestedPredictions
from hedgeclipper.classifier import HedgeClipperClassifier
from hedgeclipper.io import as_frame, frame_with, is_batched, is_frame, is_in_memory
from hedgeclipper.io.atomic import atomic_path, check_output
from hedgeclipper.io.messages import counted, import_extra
from hedgeclipper.report.displays import BLUE, GRAY, FittedModel, PlanDisplay, steps_in
from hedgeclipper.sklearn_private import _safe_indexing
from hedgeclipper.voters.tree_groups import SHIFT_THRESHOLD
from hedgeclipper.votes.aggregator import VoteAggregator
from hedgeclipper.votes.matrix import Votes

MOST_BARS = 12
# of more unlabeled rows so many are drawn
MOST_ROWS = 20_000
REPORT_EXTRA = "report"
COLORS = {BLUE: "var(--blue)", GRAY: "var(--mark)", "#000000": "currentColor"}
FIGURE_STYLE = {
    "font.family": "sans-serif",
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GRAY,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "text.parse_math": False,
}


def write_report(
    model: Any,
    path: str | Path,
    *,
    X_unlabeled: Any = None,
    row_names: Sequence[str] | None = None,
    max_error: float | None = None,
    about: Mapping[str, str] | None = None,
    title: str | None = None,
    claim: str | None = None,
    force: bool = False,
) -> Path:
    """Write a report of a fitted model: one HTML file that needs no network.

    It begins with a verdict: how many rows may keep their predicted labels, and what to do with the
    others. Then come the plan, rows to label by hand for each error of the finished file, and the
    rows to label next. Details are folded: classes, columns that matter, voters, how the error was
    measured, and settings. Sections for which rows are missing state so. It needs the extra
    ``report``.

    Parameters
    ----------
    model : estimator
        A fitted `HedgeClipperClassifier` or `VoteAggregator`, or a pipeline or search that ends in
        one.
    path : str or Path
        The file to write. It appears when it is whole.
    X_unlabeled : optional
        The unlabeled rows of the fit, or a random sample of them, in memory. Of more than 20,000,
        so many are drawn. A `VoteAggregator` knows its votes.
    row_names : sequence of str, optional
        Names of the unlabeled rows, one for each that is passed, in their order. By default those
        that votes have, else numbers from 0.
    max_error : float, optional
        Largest proportion of wrong labels in the finished file that the verdict is for, if it was
        named before the labels were seen. By default 0.05, and the verdict is an estimate unless
        ``auto_label`` was asked for it first.
    about : mapping of str to str, optional
        More to tell of the data, such as the name of a file, under "Data and settings".
    title : str, optional
        Title of the page.
    claim : str, optional
        What is known of a file that is finished already. The page begins with it, and has no
        verdict, plan or rows to label next.
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
    for module in ("jinja2", "matplotlib", "pandas"):
        import_extra(module, REPORT_EXTRA, "write_report")
    steps, fitted = steps_in(model, "A report")
    rows = _read_rows(fitted, steps, X_unlabeled, row_names)
    tested, name = fitted.tested_probabilities(), type(fitted).__name__
    table = fitted if isinstance(fitted, HedgeClipperClassifier) else None
    votes = fitted if isinstance(fitted, VoteAggregator) else None
    voters = _voters(fitted)
    kind = "aggregate of the votes" if votes else "vote"
    about = {
        "model": f"{name}: {kind} of {counted(voters['n_voters'], 'voter')}",
        **(about or {}),
        **_encoded(table),
    }
    page = template("page.html").render(
        title=f"Report of a {name}" if title is None else title,
        claim=claim,
        unlabeled=rows,
        model=fitted,
        is_votes=votes is not None,
        about=about,
        gain=_gain(table),
        never_predicted=getattr(fitted, "never_predicted_", {}),
        n_tested=tested[0].size,
        plan=_plan(fitted, max_error),
        sections={} if claim else {"next": _next(fitted, rows, tested[0])},
        details={
            "classes": _classes(fitted, rows, *tested),
            **_columns_that_matter(table),
            **_rates(votes),
            "voters": voters,
            "calibration": _calibration(fitted.classes_, *tested),
            "settings": _settings(fitted),
        },
        version=hedgeclipper.__version__,
        date=date.today().isoformat(),
    )
    with atomic_path(path, force=force) as draft:
        draft.write_text(page, encoding="utf-8", newline="\n")
    return path


@dataclass(frozen=True, eq=False)
class UnlabeledRows:
    """Names and probabilities of unlabeled rows, all that were passed or a sample of them."""

    names: Sequence[str]
    n_passed: int
    probabilities: np.ndarray  # (n_rows, n_classes)
    codes: np.ndarray  # (n_rows,): predicted classes
    has_vote: np.ndarray  # (n_rows,): whether anything is known of them


def _read_rows(
    model: FittedModel, steps: list[Any], X_unlabeled: Any, row_names: Any
) -> UnlabeledRows | None:
    """Return unlabeled rows with their predictions; None without any."""
    X: Any = None
    if isinstance(model, VoteAggregator):
        if X_unlabeled is not None:
            raise ValueError(
                "A report of VoteAggregator is about the votes of its fit, which it knows. Got "
                "X_unlabeled."
            )
        X = model.labeled_votes_.unlabeled
        n_rows = X.n_rows * model.labeled_votes_.has_unlabeled
    elif X_unlabeled is not None:
        X = _in_memory(X_unlabeled, steps)
        columns = getattr(model, "feature_names_in_", None)
        X = X if columns is None else frame_with(X, list(columns))
        n_rows = X.shape[0]
    else:
        n_rows = 0
    if row_names is not None and len(row_names) != n_rows:
        raise ValueError(
            f"row_names must have one name for each of the {n_rows:,} unlabeled rows that are "
            f"passed. Got {len(row_names):,} names."
        )
    if not n_rows:
        return None
    chosen, has_vote = np.arange(n_rows), np.ones(n_rows, bool)
    if isinstance(X, Votes):
        row_names = X.rows if row_names is None else row_names
        has_vote = X.counts().sum(axis=1) > 0
    elif n_rows > MOST_ROWS:
        chosen = np.sort(np.random.RandomState(0).choice(n_rows, MOST_ROWS, replace=False))
        X = _safe_indexing(X, chosen)
    probabilities = model.predict_proba(X)
    codes = np.argmax(probabilities * getattr(model, "class_weight_", 1.0), axis=1)
    names = [str(k if row_names is None else row_names[k]) for k in chosen]
    return UnlabeledRows(names, n_rows, probabilities, codes, has_vote[chosen])


def _in_memory(rows: Any, steps: list[Any]) -> Any:
    """Return rows as an array, CSR matrix or frame, that steps have transformed."""
    for step in steps:
        rows = step.transform(rows)
    if isinstance(rows, (list, tuple)) and not is_batched(rows):
        rows = np.asarray(rows)
    if not is_in_memory(rows):
        raise ValueError(
            f"X_unlabeled must be in memory for a report. Got {type(rows).__name__}. Pass some "
            "thousand of these rows, drawn at random."
        )
    if sparse.issparse(rows):
        return rows.tocsr()
    return as_frame(rows) if is_frame(rows) else rows


def _plan(model: FittedModel, max_error: float | None) -> dict[str, Any]:
    """Return how many rows people must label for some errors of the finished file, and a curve.

    The verdict is for one error. It is guaranteed if that was named, and nothing else before.
    """
    rule, reason = model.tested_predictions_.about(None)
    level = model.certificate_.confidence_level or ESTIMATE_LEVEL
    largest = 0.05 if max_error is None else max_error
    asked = question_words(check_max_error(largest), "file", level)
    is_named = max_error is not None or rule.first_question.words == asked
    if is_named and not reason:
        reason = rule.first_question.why_estimate(asked, rule.uncertainties)
    more = _labels_worth_it(rule, level, largest)
    errors = sorted({0.01, 0.05, 0.1, largest})
    plan = make_plan(rule, level, errors, more)
    needed = [needed_tests(rule, allowed, level) for allowed in errors]
    at, svg = errors.index(largest), None
    if rule.wrong.size and rule.unlabeled_uncertainties.size:
        label = "Rows to label by hand against the errors allowed in the finished file"
        options = {"confidence_level": level, "name": "", "more": more}
        options["max_error"] = largest if is_named and not reason else None
        svg = figure(label, PlanDisplay.from_estimator, model, **options)
    return {
        "plan": plan,
        "needed": needed,
        "level": level,
        "figure": svg,
        "max_error": largest,
        "is_guarantee": is_named and not reason,
        "n_review": int(plan.n_by_hand[at]),
        "n_needed": needed[at],
        "more": [(n, int(by_hand[at]) - n) for n, by_hand in plan.n_by_hand_with_more.items()],
    }


def _labels_worth_it(rule: TestedPredictions, level: float, max_error: float) -> list[int]:
    """Return the number of more random labels that leaves fewest rows by hand, if it saves some."""
    numbers = (50, 100, 150, 200, 300, 400, 600, 800, 1200, 1600)
    tries = [n for n in numbers if n < rule.n_unlabeled // 2]
    plan = make_plan(rule, level, [max_error], tries)
    by_hand = {n: int(found[0]) for n, found in plan.n_by_hand_with_more.items()}
    best = min(by_hand, key=by_hand.__getitem__, default=0)
    is_better = best and by_hand[best] < 0.95 * plan.n_by_hand[0]
    return [best] if is_better else []


def _gain(model: HedgeClipperClassifier | None) -> str:
    """Return what unlabeled rows bring to trees, in words; nothing where that is not measured."""
    gain = getattr(model, "unlabeled_gain_", None) if model and model.n_unlabeled_ else None
    return "" if gain is None else f"{gain.describe()}, in its trees"


def _classes(
    model: FittedModel, rows: UnlabeledRows | None, y: np.ndarray, probabilities: np.ndarray
) -> dict[str, Any]:
    """Return recall and confusion of classes on tested rows, and predicted proportions."""
    section: dict[str, Any] = {"bars": [], "heat": [], "proportions": [], "auc": None}
    classes = model.classes_
    if y.size:
        tested = model.tested_predictions_.predicted
        assert tested is not None  # and skipped rows come last
        found = evaluate_predictions(y, tested[: y.size], probabilities, classes)
        counts = found.confusion.sum(axis=1)
        order = np.argsort(-counts, kind="stable")[:MOST_BARS]
        section["auc"] = found.auc if classes.size == 2 else None
        for k in order[counts[order] > 0]:
            own = [(n, round(80 * n / counts[k])) for n in found.confusion[k, order]]
            section["bars"].append((found.classes[k], found.recall[k], found.recall_intervals[k]))
            section["heat"].append((found.classes[k], counts[k], own))
        section["predicted"] = found.classes[order]
    if rows is not None:
        proportions = np.bincount(rows.codes, minlength=classes.size) / rows.codes.size
        expected = rows.probabilities.mean(axis=0)
        order = np.argsort(-proportions, kind="stable")[:MOST_BARS]
        section["proportions"] = [(classes[k], proportions[k], expected[k]) for k in order]
    return section | {"n_left_out": max(classes.size - MOST_BARS, 0)}


def _next(model: FittedModel, rows: UnlabeledRows | None, y: np.ndarray) -> dict[str, Any]:
    """Return the rows with the least certain predictions, and what decides the advice."""
    shift = getattr(model, "shift_score_", 0.0)
    rarest = min(int(np.sum(y == label)) for label in model.classes_)
    uncertain = []
    if rows is not None:
        best_two = np.sort(rows.probabilities, axis=1)[:, ::-1][:, :2]
        margins = best_two[:, 0] - best_two[:, 1]
        order = np.argsort(margins, kind="stable")
        for row in order[rows.has_vote[order]][:15]:
            code = rows.codes[row]
            own = model.classes_[code], rows.probabilities[row, code]
            uncertain.append((rows.names[row], *own))
    return {
        "shift": shift if shift > SHIFT_THRESHOLD else None,
        "rarest": rarest if rarest < 50 else None,
        "rows": uncertain,
    }


def _columns_that_matter(model: HedgeClipperClassifier | None) -> dict[str, Any]:
    """Return the most important columns, where they are measured; no section for votes."""
    if model is None:
        return {}
    importances, encoding = None, model.encoding_
    if len(encoding) <= 500:
        with suppress(AttributeError):  # no voter has trees, or a saved model has no rows
            importances = model.feature_importances_
    if importances is None:
        return {"columns": None}
    used = np.flatnonzero(encoding["kind"] != "left out")
    order = used[np.argsort(-importances[used], kind="stable")][:15]
    most = max(float(importances.max()), 1e-9)
    shown, names = importances.round(3) + 0.0, encoding["column"]  # no -0.000
    if not hasattr(model, "feature_names_in_"):  # rows without names are known by their place
        names = [f"column {k}" for k in range(len(names))]
    bars = [(names[k], max(importances[k], 0.0) / most, f"{shown[k]:.3f}") for k in order]
    return {"columns": {"bars": bars, "n_left_out": used.size - order.size}}


def _encoded(model: HedgeClipperClassifier | None) -> dict[str, str]:
    """Return what was done with the first columns that are not used as they are."""
    if model is None:
        return {}
    encoding = model.encoding_
    changed = encoding[encoding["what"] != "as they are"]
    shown = changed[:MOST_BARS].itertuples()
    about = {f"column {one.column}": f"{one.kind}: {one.what}" for one in shown}
    if len(changed) > MOST_BARS:
        about["more columns"] = f"{len(changed) - MOST_BARS:,}, encoded or left out"
    return about


def _rates(model: VoteAggregator | None) -> dict[str, Any]:
    """Return how frequent classes are by votes."""
    if model is None:
        return {}
    rates = model.class_rates()
    order = np.argsort(-rates.rates, kind="stable")[:MOST_BARS]
    bars = [(rates.classes[k], rates.rates[k], (rates.lower[k], rates.upper[k])) for k in order]
    return {"rates": {"rates": rates, "bars": bars}}


def _voters(model: FittedModel) -> dict[str, Any]:
    """Return which voters matter, in a table, and which contradict others.

    The correlation of voters without scores is their accuracy on gold labels, on a scale on which
    a guess has 0.
    """
    voters = model.voter_summary()
    if isinstance(model, VoteAggregator):
        names = {"Coverage": "coverage", "Weight": "weight", "Contribution": "contribution"}
        voters, n_classes = voters.rename(columns=names), model.classes_.size
        correlation = (n_classes * voters["Emp. Acc."] - 1.0) / (n_classes - 1.0)
        voters = voters.rename_axis("voter").reset_index()
        voters = voters.assign(correlation=correlation.to_numpy())
    voters = voters.sort_values("contribution", ascending=False, kind="stable")
    is_against = voters["correlation"] + voters.get("standard_error", 0.0) < 0
    return {
        "n_voters": voters["voter"].nunique(),
        "n_rows": len(voters),
        "shown": voters[:25].to_dict("list"),
        "against_labels": voters["voter"][is_against].tolist(),
        "contradicting": voters["voter"][voters.get("Contradicts", is_against & False)].tolist(),
    }


def _calibration(classes: np.ndarray, y: np.ndarray, probabilities: np.ndarray) -> str | None:
    """Return a figure of the calibration on tested rows, for two classes."""
    if not np.array_equal(np.unique(y), classes) or classes.size != 2:
        return None
    options = {"n_bins": 5, "pos_label": classes[1], "color": BLUE}
    draw = CalibrationDisplay.from_predictions
    title, name = "Frequency against predicted probability", "this model"
    return figure(title, draw, y, probabilities[:, 1], name=name, **options)


def _settings(model: FittedModel) -> list[tuple[str, str]]:
    """Return the parameters that differ from the default."""
    default, given = type(model)().get_params(deep=False), model.get_params(deep=False)
    return [(k, repr(value)) for k, value in given.items() if repr(value) != repr(default[k])]


def template(name: str) -> Any:
    """Return a template; it escapes whatever is not part of the templates."""
    jinja2 = import_extra("jinja2", REPORT_EXTRA, "write_report")
    found = jinja2.Environment(
        loader=jinja2.PackageLoader("hedgeclipper.report"),
        autoescape=True,
        extensions=["jinja2.ext.do"],
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "percent": percent,
        "level": lambda value: f"{100 * value:g}%",
        "grouped": lambda number: f"{number:,}",
        "number": number,
        "count": counted,
        "listed": named_in_words,
        "transposed": lambda columns: list(zip(*columns, strict=True)),
        "sentence": lambda text: f"{text[0].upper()}{text[1:]}.",
    }
    return found.get_template(name)


def percent(proportion: float) -> str:
    """Return a proportion as text; 0 and 100% only where it is exactly that."""
    if not np.isfinite(proportion):
        return "n/a"
    if 0 < proportion < 0.0005:
        return "< 0.1%"
    if 0.9995 <= proportion < 1:
        return "> 99.9%"
    return f"{100 * proportion:.1f}%"


def number(value: Any) -> str:
    """Return a value as text: numbers with three digits, others as they are."""
    if not isinstance(value, float | np.floating):
        return f"{value:,}" if isinstance(value, int | np.integer) else str(value)
    return f"{value:.3f}" if np.isfinite(value) else "n/a"


def named_in_words(names: Sequence[Any]) -> str:
    """Return names in a sentence, the first few if there are many."""
    shown, n_more = [str(name) for name in names[:6]], len(names) - 6
    if n_more > 0:
        return ", ".join(shown) + f" and {n_more:,} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def figure(label: str, draw: Callable[..., Any], *args: Any, **options: Any) -> str:
    """Return a figure as inline SVG that takes the colors of the page, light or dark.

    ``label`` is for screen readers; ``draw`` gets the other arguments and the axes as ``ax``.
    """
    matplotlib = import_extra("matplotlib", REPORT_EXTRA, "write_report")
    make_figure = import_extra("matplotlib.figure", REPORT_EXTRA, "write_report").Figure
    # ids within a page must differ between figures, and stay the same from run to run
    with matplotlib.rc_context({**FIGURE_STYLE, "svg.hashsalt": label}):
        # as wide as a phone, so that text there has the size it is given here
        canvas = make_figure(figsize=(4.7, 3.2), layout="constrained")
        draw(*args, ax=canvas.subplots(), **options)
        out = StringIO()
        canvas.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    svg = out.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    for color, variable in COLORS.items():
        svg = re.sub(color, variable, svg, flags=re.IGNORECASE)
    # the view box is enough for the page to size it
    svg = re.sub(r'<svg ([^>]*?)width="[^"]*" height="[^"]*"', r"<svg \1", svg, count=1)
    svg = re.sub(r' id="[\w.]+_\d+"', "", svg)  # the others are hashes, which uses refer to
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1)
