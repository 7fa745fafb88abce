"""The section about voters: which of them matter."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgeclipper.inspection.figures import figure
from hedgeclipper.inspection.markup import (
    Markup,
    Section,
    beside,
    bullets,
    paragraph,
    plain,
    share,
    table,
    together,
)
from hedgeclipper.inspection.subject import Subject
from hedgeclipper.inspection.voters import VoterDisplay

MOST_VOTERS, MOST_POINTS = 25, 1_000


def voters_section(subject: Subject) -> Section:
    """Return which voters matter: a picture, and a table that can be sorted."""
    voters = subject.voters
    order = np.argsort(-voters.shares, kind="stable")[:MOST_VOTERS]
    shown = voters.take(order)
    more = dict(shown.more)
    if hasattr(subject.estimator, "_leaf_words"):
        more |= subject.estimator._leaf_words(order)
    columns: dict[str, list[Any]] = {voters.kind: shown.names}
    if shown.targets is not None:
        columns["class"] = [str(target) for target in shown.targets]
    columns["share of the result"] = [share(value) for value in shown.shares]
    columns["weight"] = [plain(value) for value in shown.weights]
    columns["correlation"] = [plain(value) for value in shown.correlations]
    if shown.errors is not None:
        columns["± standard error"] = [plain(value) for value in shown.errors]
    if shown.coverage is not None:
        columns["awake on"] = [share(value) for value in shown.coverage]
    columns |= more
    rows = list(zip(*columns.values(), strict=True))
    plural = "leaves" if voters.kind == "leaf" else f"{voters.kind}s"
    caption = f"The {len(rows)} {plural} with the largest share of the result"
    if len(rows) == len(voters.names):
        caption = f"All {len(rows)} {plural}, the largest share of the result first"
    words = together([paragraph(_voter_words(subject)), bullets(_terms(subject))])
    about = beside(words, _voter_figure(subject))
    whole = together([about, table(caption, list(columns), rows)])
    return Section("voters", f"Which {plural} matter", whole)


def _voter_words(subject: Subject) -> str:
    voters = subject.voters
    n_with = int(np.sum(voters.weights != 0))
    plural = "leaves" if voters.kind == "leaf" else f"{voters.kind}s"
    half = (
        int(np.searchsorted(np.cumsum(np.sort(voters.shares)[::-1]), voters.shares.sum() / 2)) + 1
    )
    return (
        f"{n_with:,} of {len(voters.names):,} {plural} have weight, and {half:,} of them carry "
        "half of the result."
    )


def _terms(subject: Subject) -> list[str]:
    """Return what the columns of the table mean."""
    terms = ["Weight: how much its vote counts."]
    if subject.is_panel:
        return [
            *terms,
            "Correlation: how well it ranks labeled rows it has not seen, both classes weighing "
            "the same.",
            "Agreement: the correlation of its votes with the mean of the others.",
            "Share of the result: of the spread of the weighted votes.",
        ]
    if subject.is_votes:
        return [
            "Weight: by how much, on average, a vote moves the log-odds of its class.",
            "Correlation: from its accuracy on gold labels, between the two bounds.",
            "Estimated accuracy: what the result makes of it on unlabeled rows.",
            "Share of the result: weight times the share of rows it votes on.",
        ]
    return [
        *terms,
        "Correlation: of its vote with the labels where it is awake, as the game took it.",
        "Share of the result: weight times the share of rows on which it is awake.",
    ]


def _voter_figure(subject: Subject) -> Markup:
    voters = subject.voters
    # thousands of points would only make the page slow
    shown = voters.take(np.argsort(-voters.shares, kind="stable")[:MOST_POINTS])

    def draw(ax: Any) -> None:
        VoterDisplay.from_weights(
            shown.correlations,
            shown.weights,
            errors=shown.errors,
            sizes=shown.coverage,
            voters=shown.names,
            kind=shown.kind,
            ax=ax,
        )

    kind = voters.kind
    caption = f"Each point is a {kind}. Who is always right has correlation 1, a guess 0."
    if len(shown.names) < len(voters.names):
        caption += f" The {MOST_POINTS:,} with the largest share of the result."
    if subject.voters.coverage is not None:
        caption += " Larger points are awake on more rows."
    return figure(draw, f"Weight of each {kind} against its correlation with labels", caption)
