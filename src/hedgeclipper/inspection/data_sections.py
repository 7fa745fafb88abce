"""The sections about data, predicted shares, and the comparison."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgeclipper.inspection.compare import Comparison
from hedgeclipper.inspection.markup import (
    UNKNOWN,
    Cell,
    Markup,
    Section,
    bullets,
    pairs,
    paragraph,
    plain,
    share,
    table,
    tag,
    together,
)
from hedgeclipper.inspection.row_sections import which_rows, without_rows
from hedgeclipper.inspection.subject import Subject
from hedgeclipper.inspection.words import (
    count,
    counts_by_class,
    kind_of,
    listed,
    per_cent,
    points,
    shortened,
)

MOST_BARS = 12


def data_section(subject: Subject) -> Section:
    """Return what the model was given, and how it was set."""
    model = subject.estimator
    facts = [
        *((str(name), str(value)) for name, value in subject.about.items()),
        ("model", f"{type(model).__name__}: {kind_of(subject)}"),
        ("labeled rows", f"{model.n_labeled_:,}"),
        ("unlabeled rows", f"{model.n_unlabeled_:,}"),
        ("classes", listed(subject.classes)),
    ]
    if subject.y is not None:
        codes = np.searchsorted(subject.classes, subject.y)
        facts.insert(-2, ("their labels", counts_by_class(codes, subject.classes)))
    if not subject.is_votes:
        facts.append(("columns that the model gets", f"{model.n_features_in_:,}"))
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
        return Section("shares", title, without_rows())
    codes = subject.shares.argmax(axis=1)
    predicted = np.bincount(codes, minlength=subject.classes.size) / codes.size
    expected = subject.shares.mean(axis=0)
    order = np.argsort(-predicted, kind="stable")[:MOST_BARS]
    bars = [_bar(str(subject.classes[k]), predicted[k], expected[k]) for k in order]
    words = (
        f"Of {which_rows(subject)}, each counted to its most probable class. The mark is the mean "
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
