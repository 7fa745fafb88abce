"""The sections about rows: how sure the model is of them, and which are nearest to a toss-up."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from hedgeclipper.inspection.figures import figure
from hedgeclipper.inspection.margins import MarginDisplay
from hedgeclipper.inspection.markup import (
    NOT_KNOWN,
    Cell,
    Markup,
    Section,
    beside,
    paragraph,
    plain,
    share,
    table,
    tag,
    together,
)
from hedgeclipper.inspection.subject import Subject
from hedgeclipper.inspection.words import per_cent

MOST_UNCERTAIN, MOST_COLUMNS = 15, 4


def which_rows(subject: Subject) -> str:
    """Return in words which rows were predicted."""
    n_rows = len(subject.shares) if subject.shares is not None else 0
    if not subject.has_own_unlabeled:
        return f"the {n_rows:,} labeled rows, there being no others,"
    if subject.n_unlabeled == n_rows:
        return f"the {n_rows:,} unlabeled rows"
    total = "the unlabeled rows" if subject.n_unlabeled is None else f"{subject.n_unlabeled:,}"
    return f"{n_rows:,} unlabeled rows drawn at random from {total}"


def without_rows() -> Markup:
    """Return that there are no rows to speak of."""
    return tag(
        "p",
        "The report was made without unlabeled rows: pass X_unlabeled, or rows with y = -1; at "
        "the command line --unlabeled, or rows without a target.",
        class_="missing",
    )


def margins_section(subject: Subject) -> Section:
    """Return how awake predictions are distributed, hedged and clipped."""
    title = "Where it hedges and where it clips"
    if subject.shares is None:
        return Section("margins", title, without_rows())
    if subject.classes.size > 2:
        return Section("margins", title, _sureness(subject, subject.shares.max(axis=1)))
    span = subject.estimator.hedged_range_
    clip_at = span if np.isfinite(span).all() else None
    found: dict[str, MarginDisplay] = {}

    def draw(ax: Any) -> None:
        found["display"] = MarginDisplay.from_predictions(
            None, subject.awake, clip_at=clip_at, legend=False, ax=ax, bins=40
        )
        ax.set_xlabel("twice the probability, less one" if subject.is_votes else "awake prediction")

    caption = (
        f"Right means class {subject.classes[1]}, left class {subject.classes[0]}. The end bins "
        "also hold what lies beyond."
    )
    if clip_at is not None:
        caption += " Shaded: hedged. Beyond the dotted lines: clipped."
    picture = figure(draw, "Histogram of the awake predictions", caption)
    return Section("margins", title, beside(_margin_words(found["display"], subject), picture))


def _margin_words(display: MarginDisplay, subject: Subject) -> Markup:
    about = f"The sum of the weighted votes for {which_rows(subject)}."
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

    words = f"With {subject.classes.size} classes: how sure the model is of {which_rows(subject)}."
    return figure(draw, "Histogram of the probability of the most probable class", words)


def uncertain_section(subject: Subject) -> Section:
    """Return the rows that are nearest to a toss-up."""
    title = "Most uncertain rows"
    if subject.shares is None:
        return Section("uncertain", title, without_rows())
    best_two = np.sort(subject.shares, axis=1)[:, ::-1][:, :2]
    margins = best_two[:, 0] - best_two[:, 1]
    heard = _has_votes(subject)
    rows = heard[np.argsort(margins[heard], kind="stable")[:MOST_UNCERTAIN]]
    columns, values = _shown_values(subject, rows)
    body = [
        [
            _which_row(subject, row),
            str(subject.classes[subject.shares[row].argmax()]),
            share(best_two[row, 0]),
            *own,
        ]
        for row, own in zip(rows, values, strict=True)
    ]
    heads = ["row", "prediction", "its probability", *columns]
    words = f"The {len(body)} of {which_rows(subject)} on which a label would decide most."
    n_near = int(np.sum(best_two[:, 0] < 0.6))
    more = f"{per_cent(n_near / len(margins))} have no class with a probability of 60 %."
    if heard.size < margins.size:
        silent = per_cent(1.0 - heard.size / margins.size)
        more += f" {silent} have no vote at all, get the class frequencies, and are not listed."
    if subject.numbers is not None and subject.row_names is None:
        more += f" Rows are counted from 0 in {subject.numbered_in}."
    shown = table("Rows nearest to a toss-up", heads, body)
    return Section("uncertain", title, together([paragraph(words, more), shown]))


def _has_votes(subject: Subject) -> np.ndarray:
    """Return the numbers of the rows of which somebody has said something."""
    if subject.is_votes:
        return np.flatnonzero(subject.unlabeled.counts().sum(axis=1) > 0)
    return np.arange(subject.unlabeled.shape[0])


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
    values = [[_as_it_is(value) for value in own] for own in part]
    return [str(name) for name in names[:MOST_COLUMNS]], values


def _which_row(subject: Subject, row: int) -> Cell:
    """Return what a row is called, or its number."""
    if subject.row_names is not None:
        return plain(subject.row_names[row])
    return NOT_KNOWN if subject.numbers is None else _as_it_is(subject.numbers[row])


def _as_it_is(value: Any) -> Cell:
    """Return a value of the data: whole numbers with all their digits."""
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if is_number and np.isfinite(value) and value == int(value):
        return Cell(str(int(value)), int(value))
    return plain(value)
