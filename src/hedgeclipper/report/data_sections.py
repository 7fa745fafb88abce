"""The sections about data and predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from hedgeclipper.plots.margins import MarginDisplay
from hedgeclipper.report.compare import Comparison
from hedgeclipper.report.figures import figure
from hedgeclipper.report.markup import (
    NOT_KNOWN,
    UNKNOWN,
    Cell,
    Markup,
    Section,
    beside,
    bullets,
    pairs,
    paragraph,
    plain,
    share,
    table,
    tag,
    together,
)
from hedgeclipper.report.subject import Subject
from hedgeclipper.report.words import (
    count,
    counts_by_class,
    kind_of,
    listed,
    per_cent,
    points,
    shortened,
)

MOST_BARS = 12
MOST_UNCERTAIN, MOST_COLUMNS = 15, 4


def data_section(subject: Subject) -> Section:
    """Return what the model was given, and how it was set."""
    model = subject.estimator
    facts = [
        ("model", f"{type(model).__name__}: {kind_of(subject)}"),
        ("labelled rows", f"{model.n_labeled_:,}"),
        ("unlabelled rows", f"{model.n_unlabeled_:,}"),
        ("classes", listed(subject.classes)),
    ]
    if subject.y is not None:
        codes = np.searchsorted(subject.classes, subject.y)
        facts.insert(2, ("their labels", counts_by_class(codes, subject.classes)))
    if not subject.is_votes:
        facts.append(("columns", f"{model.n_features_in_:,}"))
    changed = _changed(model)
    words = "All settings are the default ones."
    if changed:
        words = (
            f"{count(len(changed), 'setting')} differ{'s' * (len(changed) == 1)} from the default:"
        )
    settings = [paragraph(words), pairs(changed) if changed else Markup("")]
    notes = [bullets(subject.notes)] if subject.notes else []
    return Section("data", "Data and settings", together([pairs(facts), *notes, *settings]))


def _changed(model: Any) -> list[tuple[str, str]]:
    """Return the parameters that differ from the default."""
    usual = type(model)().get_params(deep=False)
    own = model.get_params(deep=False)
    return [
        (name, shortened(value)) for name, value in own.items() if repr(value) != repr(usual[name])
    ]


def shares_section(subject: Subject) -> Section:
    """Return how many rows are predicted to be of each class."""
    title = "Predicted shares"
    if subject.shares is None:
        return Section("shares", title, _without_rows())
    codes = subject.shares.argmax(axis=1)
    predicted = np.bincount(codes, minlength=subject.classes.size) / codes.size
    expected = subject.shares.mean(axis=0)
    order = np.argsort(-predicted, kind="stable")[:MOST_BARS]
    bars = [_bar(str(subject.classes[k]), predicted[k], expected[k]) for k in order]
    words = (
        f"Of {_which(subject)}, each counted to its most probable class. The mark is the mean "
        "probability of the class, which counts unsure rows in part."
    )
    left_out = subject.classes.size - order.size
    more = [paragraph(f"{count(left_out, 'class', 'classes')} more are not shown.")] * bool(
        left_out
    )
    return Section("shares", title, together([paragraph(words), *bars, *more]))


def _bar(name: str, predicted: float, expected: float) -> Markup:
    fill = tag("span", class_="fill", style=f"width:{100 * predicted:.2f}%")
    mark = tag("span", class_="mark", style=f"left:{100 * expected:.2f}%")
    return tag(
        "div",
        tag("span", name, class_="name"),
        tag("span", fill, mark, class_="track"),
        tag("span", per_cent(predicted), class_="value"),
        class_="bar",
        role="img",
        aria_label=f"{name}: {per_cent(predicted)}, mean probability {per_cent(expected)}",
    )


def _which(subject: Subject) -> str:
    """Return in words which rows were predicted."""
    n_rows = len(subject.shares) if subject.shares is not None else 0
    if not subject.has_own_unlabeled:
        return f"the {n_rows:,} labelled rows, there being no others,"
    if subject.n_unlabeled == n_rows:
        return f"the {n_rows:,} unlabelled rows"
    total = "the unlabelled rows" if subject.n_unlabeled is None else f"{subject.n_unlabeled:,}"
    return f"{n_rows:,} unlabelled rows drawn at random from {total}"


def _without_rows() -> Markup:
    return tag(
        "p",
        "The report was made without unlabelled rows: pass X_unlabeled, or rows with y = -1.",
        class_="missing",
    )


def comparison_section(subject: Subject, found: Comparison | str) -> Section:
    """Return how the model does against what it is made of, on labels held back."""
    title = "Compared with what it is made of"
    if isinstance(found, str):
        return Section("comparison", title, tag("p", found, class_="missing"))
    rows = [_contestant(found, who) for who in (found.ours, *found.others)]
    has_auc = subject.classes.size == 2
    columns = ["who", "error", "± standard error", "error by fold"]
    columns += ["AUC"] * has_auc + ["model ahead by, in points"]
    rows = [row if has_auc else [*row[:4], row[5]] for row in rows]
    body = [paragraph(_verdict(found)), table("Errors on labels held back", columns, rows)]
    return Section("comparison", title, together([*body, tag("p", found.how, class_="note")]))


def _contestant(found: Comparison, who: Any) -> list[Any]:
    error, spread = found.error(who)
    by_fold = " · ".join(f"{100 * one:.0f}" for one in found.errors_by_fold(who)) + " %"
    ahead = Cell(UNKNOWN, 0.0)
    if who is not found.ours:
        gain, noise = found.gain(who)
        ahead = Cell(points(gain, noise), gain)
    return [
        who.name,
        share(error),
        share(spread),
        Cell(by_fold, error),
        plain(found.auc(who)),
        ahead,
    ]


def _verdict(found: Comparison) -> str:
    """Return in words whether the model is better than the best it is made of."""
    error, spread = found.error(found.ours)
    best = found.best_other
    gain, noise = found.gain(best)
    start = f"Cross-validated error {per_cent(error)} ± {per_cent(spread)}."
    if abs(gain) <= 2 * noise:
        return f"{start} That and the best of the others, {best.name}, cannot be told apart."
    if gain > 0:
        return f"{start} That is better than each of the others, beyond chance."
    return (
        f"{start} {best.name} does better, beyond twice the standard error, though the best of "
        f"{len(found.others)} is partly the luckiest."
    )


def margins_section(subject: Subject) -> Section:
    """Return how awake predictions are distributed, hedged and clipped."""
    title = "Where it hedges and where it clips"
    if subject.shares is None:
        return Section("margins", title, _without_rows())
    if subject.classes.size > 2:
        return Section("margins", title, _sureness(subject, subject.shares.max(axis=1)))
    span = subject.estimator.hedged_range_
    clip_at = span if np.isfinite(span).all() else None
    found: dict[str, MarginDisplay] = {}

    def draw(ax: Any) -> None:
        found["display"] = MarginDisplay.from_predictions(
            None, subject.awake, clip_at=clip_at, legend=False, ax=ax, bins=40
        )
        if subject.is_votes:
            ax.set_xlabel("twice the probability, less one")

    caption = f"Right means class {subject.classes[1]}, left class {subject.classes[0]}."
    if clip_at is not None:
        caption += " Shaded: hedged. Beyond the dotted lines: clipped."
    picture = figure(draw, "Histogram of the awake predictions", caption)
    return Section("margins", title, beside(_margin_words(found["display"], subject), picture))


def _margin_words(display: MarginDisplay, subject: Subject) -> Markup:
    about = f"The sum of the weighted votes for {_which(subject)}."
    if display.clip_at is None:
        return paragraph(about, "For this loss the game clips nothing: no answer is ever certain.")
    clipped = per_cent(display.clipped_share)
    return paragraph(
        about,
        f"The game clips {clipped}, for which its answer is as sure as can be, and hedges the "
        "others in between.",
        "Probabilities are calibrated in its place." if subject.is_panel else "",
    )


def _sureness(subject: Subject, best: np.ndarray) -> Markup:
    def draw(ax: Any) -> None:
        MarginDisplay.from_predictions(None, best, clip_at=None, bins=40, legend=False, ax=ax)
        ax.set_xlabel("probability of the most probable class")

    words = f"With {subject.classes.size} classes: how sure the model is of {_which(subject)}."
    return figure(draw, "Histogram of the probability of the most probable class", words)


def uncertain_section(subject: Subject) -> Section:
    """Return the rows that are nearest to a toss-up."""
    title = "Most uncertain rows"
    if subject.shares is None:
        return Section("uncertain", title, _without_rows())
    best_two = np.sort(subject.shares, axis=1)[:, ::-1][:, :2]
    margins = best_two[:, 0] - best_two[:, 1]
    rows = np.argsort(margins, kind="stable")[:MOST_UNCERTAIN]
    columns, values = _shown_values(subject, rows)
    body = [
        [
            NOT_KNOWN if subject.numbers is None else _row_number(subject.numbers[row]),
            str(subject.classes[subject.shares[row].argmax()]),
            share(best_two[row, 0]),
            *own,
        ]
        for row, own in zip(rows, values, strict=True)
    ]
    heads = ["row", "prediction", "its probability", *columns]
    words = f"The {len(body)} of {_which(subject)} on which a label would decide most."
    n_near = int(np.sum(best_two[:, 0] < 0.6))
    more = f"{per_cent(n_near / len(margins))} have no class with a probability of 60 %."
    if subject.numbers is not None:
        more += " Row numbers count from 0 in what was passed."
    shown = table("Rows nearest to a toss-up", heads, body)
    return Section("uncertain", title, together([paragraph(words, more), shown]))


def _shown_values(subject: Subject, rows: np.ndarray) -> tuple[list[str], list[list[Any]]]:
    """Return names and values of a few columns, where columns have names; votes for voters."""
    if subject.is_votes:
        counts = subject.unlabeled.counts()[rows]
        names = [f"votes for {label}" for label in subject.classes[:MOST_COLUMNS]]
        return names, [[int(n) for n in own[:MOST_COLUMNS]] for own in counts]
    if not hasattr(subject.estimator, "feature_names_in_"):
        return [], [[] for _ in rows]
    names = subject.estimator.feature_names_in_.tolist()
    X = subject.unlabeled
    if hasattr(X, "iloc"):
        part = X.iloc[rows, :MOST_COLUMNS].to_numpy(dtype=object)
    else:
        part = X[rows][:, :MOST_COLUMNS]
        part = part.toarray() if sparse.issparse(part) else part
    return [str(name) for name in names[:MOST_COLUMNS]], [list(own) for own in part]


def _row_number(number: np.integer) -> Cell:
    return Cell(str(number), int(number))
