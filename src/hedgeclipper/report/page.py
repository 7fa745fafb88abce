"""`write_report`: one HTML page about a fitted model.

A section of the page is a function that returns its data, and a template with its text. All texts
are in ``templates/``; there, whatever comes from data is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from html import escape
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.calibration import CalibrationDisplay

import hedgeclipper
from hedgeclipper.base.evaluation import evaluate_predictions
from hedgeclipper.base.predictions import cheapest
from hedgeclipper.bounds.auto_labels import needed_tests
from hedgeclipper.bounds.finishing import make_plan
from hedgeclipper.bounds.tested_predictions import ESTIMATE_LEVEL
from hedgeclipper.classifier import HedgeClipperClassifier
from hedgeclipper.io.atomic import atomic_path, check_output
from hedgeclipper.io.messages import import_extra
from hedgeclipper.report.data import FittedModel, ReportData, read_data, voters_of
from hedgeclipper.report.displays import BLUE, GRAY, PlanDisplay
from hedgeclipper.voters.tree_groups import SHIFT_THRESHOLD
from hedgeclipper.votes.aggregator import VoteAggregator

MOST_BARS = 12
MOST_UNCERTAIN = 15
MOST_IMPORTANT, MOST_COLUMNS = 15, 500
MOST_VOTERS = 25
CALIBRATION_BINS = 5
FEW_LABELS = 50
ERRORS_ALLOWED = (0.01, 0.05, 0.1)
REPORT_EXTRA = "report"
MOST_LISTED = 6
# as wide as a phone, so that text there has the size it is given here
FIGURE_SIZE = (4.7, 3.2)
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
    about: Mapping[str, str] | None = None,
    title: str | None = None,
    force: bool = False,
) -> Path:
    """Write a report of a fitted model: one HTML file that needs no network.

    It begins with the expected error beside that of the most frequent class. Then come recall and
    confusion of classes, the rows to label next, and those that can be labeled automatically.
    Details are folded: columns that matter, weights, calibration and settings. Recall and
    calibration are of labeled rows that were predicted without their labels
    (``tested_probabilities``). Sections for which rows are missing state so. It needs the extra
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
    for module in ("jinja2", "matplotlib", "pandas"):
        import_extra(module, REPORT_EXTRA, "write_report")
    data = read_data(model, X_unlabeled, row_names)
    tested, name = data.model.tested_probabilities(), type(data.model).__name__
    voters = voters_of(data.model)
    kind = "vote" if data.vote_model is None else "aggregate of the votes"
    about = {
        "model": f"{name}: {kind} of {count(voters['voter'].nunique(), 'voter')}",
        **(about or {}),
        **_encoded(data.table_model),
    }
    page = template("page.html").render(
        title=f"Report of a {name}" if title is None else title,
        data=data,
        model=data.model,
        about=about,
        gain=_gain(data.table_model),
        never_predicted=getattr(data.model, "never_predicted_", {}),
        n_tested=tested[0].size,
        sections={
            "classes": _classes(data, *tested),
            "next": _next(data, tested[0]),
            "auto_labels": _auto_labels(data.model),
        },
        details={
            **_columns_that_matter(data),
            **_rates(data.vote_model),
            "voters": _voters(voters),
            "calibration": _calibration(data.classes, *tested),
            "settings": _settings(data.model),
        },
        version=hedgeclipper.__version__,
        date=date.today().isoformat(),
    )
    with atomic_path(path, force=force) as draft:
        draft.write_text(page, encoding="utf-8", newline="\n")
    return path


def _gain(model: HedgeClipperClassifier | None) -> str:
    """Return what unlabeled rows bring to trees, in words; nothing where that is not measured."""
    gain = getattr(model, "unlabeled_gain_", None) if model and model.n_unlabeled_ else None
    return "" if gain is None else f"{gain.describe()}, in its trees"


def _classes(data: ReportData, y: np.ndarray, probabilities: np.ndarray) -> dict[str, Any]:
    """Return recall and confusion of classes on tested rows, and predicted proportions."""
    section: dict[str, Any] = {"bars": [], "heat": [], "proportions": [], "auc": None}
    classes = data.classes
    if y.size:
        predicted = classes[cheapest(probabilities, data.costs)]
        found = evaluate_predictions(y, predicted, probabilities, classes)
        counts = found.confusion.sum(axis=1)
        order = np.argsort(-counts, kind="stable")[:MOST_BARS]
        section["auc"] = found.auc if classes.size == 2 else None
        for k in order[counts[order] > 0]:
            own = [(n, round(80 * n / counts[k])) for n in found.confusion[k, order]]
            section["bars"].append((found.classes[k], found.recall[k], found.recall_intervals[k]))
            section["heat"].append((found.classes[k], counts[k], own))
        section["predicted"] = found.classes[order]
    if data.probabilities is not None:
        codes = cheapest(data.probabilities, data.costs)
        proportions = np.bincount(codes, minlength=classes.size) / codes.size
        expected = data.probabilities.mean(axis=0)
        order = np.argsort(-proportions, kind="stable")[:MOST_BARS]
        section["proportions"] = [(classes[k], proportions[k], expected[k]) for k in order]
    return section | {"n_left_out": max(classes.size - MOST_BARS, 0)}


def _next(data: ReportData, y: np.ndarray) -> dict[str, Any]:
    """Return the rows with the least certain predictions, and what decides the advice."""
    shift = getattr(data.model, "shift_score_", 0.0)
    rarest = min(int(np.sum(y == label)) for label in data.classes)
    return {
        "shift": shift if shift > SHIFT_THRESHOLD else None,
        "rarest": rarest if rarest < FEW_LABELS else None,
        "rows": [] if data.probabilities is None else _uncertain(data, data.probabilities),
    }


def _uncertain(data: ReportData, probabilities: np.ndarray) -> list[tuple[str, Any, float]]:
    """Return names, predictions and their probabilities of rows whose best classes are closest."""
    best_two = np.sort(probabilities, axis=1)[:, ::-1][:, :2]
    margins = best_two[:, 0] - best_two[:, 1]
    if data.vote_model is not None:  # rows without a vote have nothing to tell
        margins[data.unlabeled.counts().sum(axis=1) == 0] = np.inf
    rows = np.argsort(margins, kind="stable")[:MOST_UNCERTAIN]
    codes = cheapest(probabilities, data.costs)
    return [
        (data.row_names[row], data.classes[codes[row]], probabilities[row, codes[row]])
        for row in rows
        if np.isfinite(margins[row])
    ]


def _auto_labels(model: FittedModel) -> dict[str, Any]:
    """Return how many rows people must label for a few errors of the finished file, and a curve."""
    rule, bound = model.tested_predictions_, model.certificate_
    level = bound.confidence_level or ESTIMATE_LEVEL
    more = [n for n in (100, 400) if n < rule.unlabeled_uncertainties.size // 2]
    plan = make_plan(rule, level, ERRORS_ALLOWED, more)
    needed = [needed_tests(rule, allowed, level) for allowed in ERRORS_ALLOWED]
    svg = None
    if rule.wrong.size and rule.unlabeled_uncertainties.size:
        label = "Rows to label by hand against the errors allowed in the finished file"
        options = {"confidence_level": level, "name": "", "more": more}
        svg = figure(label, PlanDisplay.from_estimator, model, **options)
    return {"plan": plan, "needed": needed, "level": level, "figure": svg}


def _columns_that_matter(data: ReportData) -> dict[str, Any]:
    """Return the most important columns, where they are measured; no section for votes."""
    if data.table_model is None:
        return {}
    importances, encoding = None, data.table_model.encoding_
    if len(encoding) <= MOST_COLUMNS:
        with suppress(AttributeError):  # no voter has trees, or a saved model has no rows
            importances = data.table_model.feature_importances_
    if importances is None:
        return {"columns": None}
    used = np.flatnonzero(encoding["kind"] != "left out")
    order = used[np.argsort(-importances[used], kind="stable")][:MOST_IMPORTANT]
    most = max(float(importances.max()), 1e-9)
    shown, names = importances.round(3) + 0.0, encoding["column"]  # no -0.000
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


def _voters(voters: Any) -> dict[str, Any]:
    """Return which voters matter, in a table, and which contradict others."""
    voters = voters.sort_values("contribution", ascending=False, kind="stable")
    is_against = voters["correlation"] + voters.get("standard_error", 0.0) < 0
    return {
        "n_voters": len(voters),
        "shown": voters[:MOST_VOTERS].to_dict("list"),
        "against_labels": voters["voter"][is_against].tolist(),
        "contradicting": voters["voter"][voters.get("Contradicts", is_against & False)].tolist(),
    }


def _calibration(classes: np.ndarray, y: np.ndarray, probabilities: np.ndarray) -> str | None:
    """Return a figure of the calibration on tested rows, for two classes."""
    if not np.array_equal(np.unique(y), classes) or classes.size != 2:
        return None
    options = {"n_bins": CALIBRATION_BINS, "pos_label": classes[1], "color": BLUE}
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
        "count": count,
        "listed": listed,
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


def count(n: int, one: str, many: str | None = None) -> str:
    """Return a number of things."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def listed(names: Sequence[Any]) -> str:
    """Return names in a sentence, the first few if there are many."""
    shown = [str(name) for name in names[:MOST_LISTED]]
    if len(names) > MOST_LISTED:
        return ", ".join(shown) + f" and {len(names) - MOST_LISTED:,} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def figure(label: str, draw: Callable[..., Any], *args: Any, **options: Any) -> str:
    """Return a figure as inline SVG that takes the colors of the page, light or dark.

    ``label`` is for screen readers; ``draw`` gets the other arguments and the axes as ``ax``.
    """
    matplotlib = import_extra("matplotlib", REPORT_EXTRA, "write_report")
    make_figure = import_extra("matplotlib.figure", REPORT_EXTRA, "write_report").Figure
    # ids within a page must differ between figures, and stay the same from run to run
    with matplotlib.rc_context({**FIGURE_STYLE, "svg.hashsalt": label}):
        canvas = make_figure(figsize=FIGURE_SIZE, layout="constrained")
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
