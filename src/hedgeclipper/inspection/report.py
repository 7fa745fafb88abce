"""`write_report`: one HTML page about a fitted model.

A section of the page is a function here that returns its data, and a template with its text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.calibration import CalibrationDisplay

import hedgeclipper
from hedgeclipper.base.decisions import cheapest
from hedgeclipper.bounds.checked_rule import ESTIMATE_LEVEL, SureRows
from hedgeclipper.game.equations import relative_gap
from hedgeclipper.inspection import rendering
from hedgeclipper.inspection.abstention import AbstentionDisplay
from hedgeclipper.inspection.auto_labels import AutoLabelDisplay, errors_to_try
from hedgeclipper.inspection.comparison import Comparison, compare
from hedgeclipper.inspection.display import BLUE
from hedgeclipper.inspection.margins import MarginDisplay, count_clipped, hedged_range_of
from hedgeclipper.inspection.passes import ConvergenceDisplay
from hedgeclipper.inspection.subject import SEED, Subject, read_subject, take
from hedgeclipper.inspection.vote_section import panel_section
from hedgeclipper.inspection.voters import VoterDisplay
from hedgeclipper.io.atomic import atomic_path, check_output
from hedgeclipper.io.extras import import_extra

LONGEST_VALUE = 90
MOST_BARS = 12
MOST_UNCERTAIN, MOST_COLUMNS = 15, 4
MOST_VOTERS, MOST_POINTS = 25, 1_000
MOST_IMPORTANT, MANY_COLUMNS = 15, 500
FEW_LABELS = 50
N_SUGGESTED = 10
CALIBRATION_BINS = 5
ERRORS_ALLOWED = (0.01, 0.05, 0.1)
# part of the height that the bars of the counts take
BAR_HEIGHT = 0.18


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

    It has the data and settings, predicted class proportions, a comparison with the members or
    the forest on labels held out, the distribution of awake predictions, the error with its
    bounds, the rows that can be labeled automatically, the voters and rows that matter,
    contradictions, and what to do next. For the comparison a forest or an aggregate of votes is
    fitted three times more, to two thirds of the labels and at most 4,000 unlabeled rows, and the
    members of a panel are reweighted. Sections for which rows are missing state so. It needs the
    extra ``report``.

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
    >>> "Bounds on the error" in page
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
            "data": _data(subject),
            "proportions": _proportions(subject),
            **panel_section(subject),
            "comparison": compared,
            "margins": _margins(subject),
            "error": _error(subject, compared),
            "auto_labels": _auto_labels(subject),
            "voters": _voters(subject),
            **_learned(subject),
            "uncertain": _uncertain(subject),
            "contradictions": _contradictions(subject),
            "convergence": _convergence(subject),
            "next": _next(subject),
        },
        version=hedgeclipper.__version__,
        date=date.today().isoformat(),
    )
    with atomic_path(path, force=force) as draft:
        draft.write_text(page, encoding="utf-8", newline="\n")
    return path


def _data(subject: Subject) -> dict[str, Any]:
    """Return labels by class, and the parameters that differ from the default."""
    labels, changed = [], []
    if subject.y is not None:
        labels = [f"{np.sum(subject.y == k):,} of class {k}" for k in subject.classes]
    default = type(subject.estimator)().get_params(deep=False)
    for name, value in subject.estimator.get_params(deep=False).items():
        if repr(value) != repr(default[name]):
            text = " ".join(repr(value).split())
            is_long = len(text) > LONGEST_VALUE
            changed.append((name, text[: LONGEST_VALUE - 3] + "..." if is_long else text))
    n_columns = None if subject.is_votes else subject.estimator.n_features_in_
    return {"labels": labels, "n_columns": n_columns, "changed": changed}


def _proportions(subject: Subject) -> dict[str, Any] | None:
    """Return the classes with how many rows are predicted to be of each, most frequent first."""
    if subject.probabilities is None:
        return None
    codes = cheapest(subject.probabilities, subject.model.costs)
    predicted = np.bincount(codes, minlength=subject.classes.size) / codes.size
    expected = subject.probabilities.mean(axis=0)
    order = np.argsort(-predicted, kind="stable")[:MOST_BARS]
    bars = [(str(subject.classes[k]), float(predicted[k]), float(expected[k])) for k in order]
    return {"bars": bars, "n_left_out": subject.classes.size - order.size}


def _margins(subject: Subject) -> dict[str, Any] | None:
    """Return the histogram of awake predictions, or with many classes of the best probability."""
    if subject.probabilities is None:
        return None
    values, clip_at = subject.awake, hedged_range_of(subject.estimator)
    label = "Histogram of the awake predictions"
    name = "twice the probability, less one" if subject.is_votes else "awake prediction"
    if values is None:
        values, clip_at = subject.probabilities.max(axis=1), None
        name = "probability of the most probable class"
        label = f"Histogram of the {name}"
    return {
        "figure": rendering.figure(label, _draw_histogram, values, clip_at, name),
        "clipped": None if clip_at is None else count_clipped(values, clip_at) / values.size,
    }


def _draw_histogram(values: np.ndarray, clip_at: Any, name: str, *, ax: Any) -> None:
    MarginDisplay.from_predictions(None, values, clip_at=clip_at, bins=40, legend=False, ax=ax)
    ax.set_xlabel(name)


def _voters(subject: Subject) -> dict[str, Any]:
    """Return which voters matter: a figure, and a table that can be sorted."""
    voters = subject.model.voters
    order = np.argsort(-voters.contributions, kind="stable")
    heaviest = np.cumsum(voters.contributions[order])
    plotted = voters.take(order[:MOST_POINTS])
    label = f"Weight of each {voters.kind} against its correlation with labels"
    return {
        "n_with_weight": int(np.sum(voters.weights != 0)),
        "n_half": int(np.searchsorted(heaviest, heaviest[-1] / 2)) + 1 if heaviest.size else 0,
        # thousands of points would only make the page slow
        "n_plotted": len(plotted.names),
        "figure": rendering.figure(label, VoterDisplay.from_table, plotted),
        "columns": _voter_columns(subject, order[:MOST_VOTERS]),
    }


def _voter_columns(subject: Subject, order: np.ndarray) -> list[tuple[str, Any]]:
    """Return the columns of the table of these voters, by name."""
    shown = subject.model.voters.take(order)
    columns: list[tuple[str, Any]] = [(shown.kind, shown.names)]
    if shown.targets is not None:
        columns.append(("class", [str(target) for target in shown.targets]))
    columns += [
        ("contribution", [rendering.proportion(value) for value in shown.contributions]),
        ("weight", shown.weights),
        ("correlation", shown.correlations),
    ]
    if shown.errors is not None:
        columns.append(("± standard error", shown.errors))
    if shown.coverage is not None:
        columns.append(("awake on", [rendering.proportion(value) for value in shown.coverage]))
    return [*columns, *shown.more.items(), *subject.model.describe_voters(order).items()]


def _learned(subject: Subject) -> dict[str, Any]:
    """Return the section on what unlabeled rows and columns bring; none if that is not measured."""
    model = subject.model
    if model.importances is None or model.describe_gain is None:
        return {}
    gain, importances = "", None
    with suppress(AttributeError):  # a saved model has no rows to measure it on
        if subject.estimator.n_features_in_ <= MANY_COLUMNS:
            importances = model.importances()
        gain = model.describe_gain()
    if importances is None:
        return {"learned": {"gain": gain, "columns": None}}
    order = np.argsort(-importances, kind="stable")[:MOST_IMPORTANT]
    known = getattr(subject.estimator, "feature_names_in_", None)
    names = [f"x{k}" if known is None else str(known[k]) for k in order]
    many = importances.size > order.size
    return {
        "learned": {
            "gain": gain,
            "columns": [("column", names), ("importance", importances[order])],
            "caption": f"The {order.size} most important columns" if many else "All columns",
        }
    }


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
    predicted = subject.classes[cheapest(subject.probabilities[rows], subject.model.costs)]
    which = [rendering.NOT_KNOWN] * rows.size
    if subject.row_names is not None:
        which = [rendering.plain(name) for name in subject.row_names[rows]]
    elif subject.numbers is not None:
        which = [rendering.whole(number) for number in subject.numbers[rows]]
    columns = [
        ("row", which),
        ("prediction", [str(label) for label in predicted]),
        ("its probability", [rendering.proportion(value) for value in best_two[rows, 0]]),
        *_values(subject, rows),
    ]
    if subject.model.reasons is not None:
        reasons = subject.model.reasons(take(subject.unlabeled, rows))
        columns += [] if reasons is None else [("columns that matter most here", reasons)]
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


def _error(subject: Subject, found: Comparison | None) -> dict[str, Any]:
    """Return worst cases by class, and figures of predictions while labels were held out."""
    figures, classes, worst = {}, subject.classes, subject.model.worst_cases
    if found is not None:
        y, probabilities = classes[found.codes], found.probabilities[found.model]
        label, draw = "Error against the proportion of rows abstained on", AbstentionDisplay
        svg = rendering.figure(label, draw.from_predictions, y, probabilities, classes=classes)
        figures["abstention"] = svg
        if classes.size == 2:
            label, own = "Observed frequency against predicted probability", probabilities[:, 1]
            svg = rendering.figure(label, _draw_calibration, y, own, classes[1])
            figures["calibration"] = svg
    return {
        # the largest first
        "worst_cases": [(k, float(worst[k])) for k in np.argsort(-worst, kind="stable")],
        "figures": figures,
    }


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
        ("one more label to test by", [_gain(one, rule.n_unlabeled) for one in found]),
    ]
    most = ERRORS_ALLOWED[-1]
    known = {"found": found, "is_any": is_any, "most": most, "level": level}
    return {**known, "columns": columns, "figure": svg}


def _gain(found: SureRows, n_unlabeled: int) -> str:
    """Return what one more label would bring."""
    if found.n_needed:
        return f"nothing yet: at least {found.n_needed:,} are needed, there are {found.n_tested:,}"
    if found.gain_per_label <= 0:
        return "no gain measured"
    rows = found.gain_per_label * n_unlabeled
    return f"about {rows:,.1f} more rows" if n_unlabeled else f"{found.gain_per_label:.2%} more"


def _draw_calibration(y: np.ndarray, probabilities: np.ndarray, label: Any, *, ax: Any) -> None:
    """Draw scikit-learn's calibration curve of a class, and how many rows are in each bin."""
    options = {"n_bins": CALIBRATION_BINS, "pos_label": label, "ax": ax, "color": BLUE}
    CalibrationDisplay.from_predictions(y, probabilities, **options)
    ax.get_legend().remove()
    counts, edges = np.histogram(probabilities, CALIBRATION_BINS, (0.0, 1.0))
    middles, heights = (edges[:-1] + edges[1:]) / 2, BAR_HEIGHT * counts / counts.max()
    bars = ax.bar(middles, heights, 0.03, color=BLUE, alpha=0.3)
    # one number is enough to read all bars by
    labels = [""] * counts.size
    labels[counts.argmax()] = f"{counts.max():,} rows"
    ax.bar_label(bars, labels, padding=2, fontsize="small")
    ax.set(
        xlabel=f"predicted probability of class {label}",
        ylabel=f"observed frequency of class {label}",
        xlim=(-0.02, 1.02),
        ylim=(0.0, 1.02),
    )


def _contradictions(subject: Subject) -> dict[str, Any]:
    """Return worst cases of 100 %, relaxed voters, voters against labels or others, and a shift."""
    model, voters = subject.model, subject.model.voters
    against, apart = [], []
    if model.kind != "forest":
        errors = voters.errors if voters.errors is not None else 0.0
        against = np.flatnonzero(voters.correlations + errors < 0).tolist()
        agreement = np.array(voters.more.get("agreement", []), dtype=float)
        apart = np.flatnonzero(agreement < 0).tolist()
    return {
        "void": np.flatnonzero(model.worst_cases >= 1.0).tolist(),
        "relaxed": model.contradicting,
        "against_labels": [voters.names[k] for k in against],
        "against_others": [voters.names[k] for k in apart],
        "shift_score": model.shift_score,
    }


def _convergence(subject: Subject) -> dict[str, Any]:
    """Return how the solver stopped, and a figure of its passes."""
    model = subject.model
    games = zip(model.histories, model.stop_reasons, strict=True)
    last = [history[-1] for history, reason in games if reason == "converged" and len(history)]
    gaps = [relative_gap(max(one.primal - one.dual, 0.0), one.primal) for one in last]
    svg = None
    if model.n_iter > 1:
        draw = ConvergenceDisplay.from_estimator
        svg = rendering.figure("Slack and gap after each pass", draw, subject.estimator, name="")
    return {
        "stop_reasons": sorted(set(model.stop_reasons)),
        "gap": max(gaps) if gaps and np.isfinite(gaps).all() else None,
        "figure": svg,
    }


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
        "rarest": rarest if rarest is None or rarest < FEW_LABELS else None,
        "has_rows": has_rows,
        "suggested": _suggested(subject) if has_rows and subject.is_votes else None,
        "out_of_passes": "max_iter" in model.stop_reasons and not is_sgd,
        "has_guarantee": model.certificate.is_guarantee,
    }


def _suggested(subject: Subject) -> tuple[str, bool]:
    """Return rows of the fit to label next, by name if they have one, and whether they have."""
    model, fitted = subject.model, subject.model.votes
    assert model.suggest_rows is not None
    seed = subject.estimator.random_state
    # the same report from run to run
    rows, keys = model.suggest_rows(min(N_SUGGESTED, fitted.n_rows), SEED if seed is None else seed)
    names = subject.row_names if subject.unlabeled is fitted else fitted.rows
    named = keys if names is None else names[rows]
    return ", ".join(str(name) for name in named), names is not None
