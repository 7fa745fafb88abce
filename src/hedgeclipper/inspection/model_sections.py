"""The sections about the model: its error, what contradicts, and how it was solved."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.calibration import CalibrationDisplay

from hedgeclipper.base.summary import certificates_of
from hedgeclipper.bounds.certificate import Certificate
from hedgeclipper.forest.classifier import SHIFT_THRESHOLD
from hedgeclipper.inspection.abstention import AbstentionDisplay
from hedgeclipper.inspection.compare import Comparison
from hedgeclipper.inspection.convergence import ConvergenceDisplay
from hedgeclipper.inspection.display import BLUE
from hedgeclipper.inspection.figures import figure
from hedgeclipper.inspection.markup import (
    Markup,
    Section,
    beside,
    bullets,
    paragraph,
    tag,
    together,
)
from hedgeclipper.inspection.subject import Subject
from hedgeclipper.inspection.words import bound_words, count, listed, per_cent

STOPS = {
    "converged": "it came within its tolerance",
    "exact": "it was solved exactly",
    "max_passes": "it ran out of passes",
    "stalled": "it made no more headway",
    "unbounded": "the problem has no minimum",
    "at_reach": "weights grew to the largest size",
}
NOT_OF_ALL_CLASSES = (
    "That is no bound on how often the most probable of all classes is wrong, which can be more."
)


def error_section(subject: Subject, found: Comparison | str) -> Section:
    """Return the estimate and the guarantee of the error, kept apart."""
    certificates = certificates_of(subject.estimator)
    boxes = tag("div", _estimate(subject, certificates, found), _guarantee(subject, certificates))
    parts = [Markup(boxes.replace("<div>", '<div class="boxes">', 1))]
    if isinstance(subject.estimator.certificate_, list):
        words = f"Bounds are for one class against the rest at a time. {NOT_OF_ALL_CLASSES}"
        parts.append(paragraph(words))
    if not isinstance(found, str):
        parts.append(_held_back_figures(subject, found))
    return Section("error", "How wrong it can be", together(parts))


def _estimate(subject: Subject, certificates: list[Certificate], found: Comparison | str) -> Markup:
    items = [
        f"{_whose(subject, k)}error on {count(one.n_unlabeled, 'unlabeled row')}: "
        f"{bound_words(one)}, as far as what the labels say of the {_voters(subject)} is right."
        for k, one in enumerate(certificates)
        if one.kind == "estimate"
    ]
    if not isinstance(found, str):
        error, spread = found.error(found.ours)
        items.append(f"By cross-validation: {per_cent(error)} ± {per_cent(spread)}.")
    if not items:
        items = ["There is none."]
    text = "What to expect. Nothing is claimed of how often an estimate is wrong."
    return tag("section", tag("h3", "Estimate"), paragraph(text), bullets(items), class_="box")


def _guarantee(subject: Subject, certificates: list[Certificate]) -> Markup:
    held = [
        f"{_whose(subject, k)}error on these {count(one.n_unlabeled, 'unlabeled row')}: "
        f"{bound_words(one)}, with probability {100 * (1 - (one.delta or 0)):g} % at least."
        for k, one in enumerate(certificates)
        if one.is_guarantee
    ]
    if held:
        text = (
            "What holds whatever the labels are, if labeled rows were drawn like the unlabeled "
            "ones and no voter was fitted to those that judge it."
        )
        body = [paragraph(text), bullets(held)]
    else:
        body = [
            paragraph("There is none."),
            bullets(sorted({_why_not(one) for one in certificates})),
            paragraph(how_to_guarantee(subject)),
        ]
    return tag("section", tag("h3", "Guarantee"), *body, class_="box")


def _why_not(certificate: Certificate) -> str:
    what = "void" if certificate.kind == "void" else "an estimate"
    return f"The bound is {what}: {certificate.reason.rstrip('.')}."


def how_to_guarantee(subject: Subject) -> str:
    """Return which settings would make the bound a guarantee."""
    if subject.is_votes:
        return (
            "For one, draw rows at random, label them, and fit with --delta 0.05 at the command "
            "line, bound='transductive' in Python. It takes hundreds of labels to say much."
        )
    held = "correlations='holdout', delta=0.05" if not subject.is_panel else "delta=0.05"
    return (
        f"For one, fit with --delta 0.05 at the command line, {held} in Python: labels are then "
        "held out, and must be a plain random draw from the rows. It takes hundreds of labels to "
        "say much."
    )


def _whose(subject: Subject, game: int) -> str:
    if isinstance(subject.estimator.certificate_, list):
        return f"Class {subject.classes[game]} against the rest: "
    return ""


def _voters(subject: Subject) -> str:
    return "trees" if not (subject.is_panel or subject.is_votes) else f"{subject.voters.kind}s"


def _held_back_figures(subject: Subject, found: Comparison) -> Markup:
    """Return whether probabilities hold, and what not answering is worth, on labels held back."""
    y = subject.classes[found.codes]

    def abstain(ax: Any) -> None:
        AbstentionDisplay.from_predictions(y, found.ours.shares, classes=subject.classes, ax=ax)

    pictures = [
        figure(
            abstain,
            "Error against the share of rows without an answer",
            "If the least sure rows are left unanswered, the error on the others; shaded, what "
            "chance allows at 95 %.",
        )
    ]
    if subject.classes.size == 2:

        def calibrate(ax: Any) -> None:
            _draw_calibration(ax, y, found.ours.shares[:, 1], subject.classes[1])

        caption = "On the diagonal probabilities are what they say. Bars count the rows."
        pictures.append(
            figure(calibrate, "Observed frequency against predicted probability", caption)
        )
    about = f"What was said of the {found.codes.size:,} labeled rows while these were held back:"
    return together([paragraph(about), tag("div", *pictures, class_="figures")])


def _draw_calibration(ax: Any, y: np.ndarray, shares: np.ndarray, label: Any) -> None:
    """Draw scikit-learn's calibration curve of a class, and how many rows are in each bin."""
    CalibrationDisplay.from_predictions(y, shares, pos_label=label, ax=ax, color=BLUE)
    ax.get_legend().remove()
    counts, edges = np.histogram(shares, 5, (0.0, 1.0))
    bars = ax.bar(
        (edges[:-1] + edges[1:]) / 2, 0.18 * counts / counts.max(), 0.03, color=BLUE, alpha=0.3
    )
    # one number is enough to read all bars by
    labels = [f"{count:,} rows" if count == counts.max() else "" for count in counts]
    ax.bar_label(bars, labels, padding=2, fontsize="small")
    ax.set(
        xlabel=f"predicted probability of class {label}",
        ylabel=f"observed frequency of class {label}",
        xlim=(-0.02, 1.02),
        ylim=(0.0, 1.02),
    )


def contradiction_section(subject: Subject) -> Section:
    """Return what does not go together."""
    found = [*_void(subject), *_blamed(subject), *_doubtful(subject), *_shift(subject)]
    body = bullets(found) if found else paragraph("Nothing was found that contradicts itself.")
    return Section("contradictions", "What contradicts", body)


def _void(subject: Subject) -> list[str]:
    return [
        f"{_whose(subject, k)}the bound on the error is void. {one.reason}"
        for k, one in enumerate(certificates_of(subject.estimator))
        if one.kind == "void"
    ]


def _blamed(subject: Subject) -> list[str]:
    """Return the voters whose bounds had to give way to those of others."""
    if not subject.is_votes:
        return []
    blamed = subject.estimator._fitted.contradicts
    if not blamed.any():
        return []
    return [
        "What the labels say of these voters cannot all be true of the unlabeled rows, and had to "
        f"give way: {listed(subject.estimator.voters_[blamed])}. Labels may be wrong, or drawn "
        "from other rows."
    ]


def _doubtful(subject: Subject) -> list[str]:
    """Return the voters who are against the labels, or against all others."""
    voters, found = subject.voters, []
    if voters.kind == "leaf" or voters.kind == "specialist":
        return []
    errors = voters.errors if voters.errors is not None else 0.0
    against = np.flatnonzero(voters.correlations + errors < 0)
    if against.size:
        names = listed([voters.names[k] for k in against])
        found.append(f"More often wrong than right on labels they have not seen: {names}.")
    agreement = np.array(voters.more.get("agreement", []), dtype=float)
    apart = np.flatnonzero(agreement < 0)
    if apart.size:
        names = listed([voters.names[k] for k in apart])
        found.append(f"Against the mean of the others on unlabeled rows: {names}.")
    return found


def _shift(subject: Subject) -> list[str]:
    score = getattr(subject.estimator, "shift_score_", 0.0)
    if score <= SHIFT_THRESHOLD:
        return []
    return [
        "The unlabeled rows fall into the leaves in other shares than the labeled ones, far "
        f"beyond chance (score {score:.0f}, up to 3 is usual). What the labels say may not hold "
        "for them."
    ]


def convergence_section(subject: Subject) -> Section:
    """Return how the solver came to its end."""
    model = subject.estimator
    reasons = np.atleast_1d(model.stop_reason_).tolist()
    passes = int(np.sum(model.n_iter_))
    ends = listed(sorted({STOPS[reason] for reason in reasons}))
    games = "" if len(reasons) == 1 else f" in {len(reasons)} games, one for each class"
    words = f"{count(passes, 'pass', 'passes')} over the rows{games}; it stopped since {ends}."
    if passes < 2:
        more = "There is nothing to draw."
        return Section("convergence", "How the game was solved", paragraph(words, more))

    def draw(ax: Any) -> None:
        ConvergenceDisplay.from_estimator(model, name="", ax=ax)

    caption = (
        "The slack is what was made small; no weights can make it smaller by more than the gap. "
        "Dotted: the gap at which to stop."
    )
    if subject.is_votes:
        caption = "What was made small: loss beyond the opening's, against the worst labels."
    picture = figure(draw, "Slack and gap after each pass", caption)
    return Section("convergence", "How the game was solved", beside(paragraph(words), picture))
