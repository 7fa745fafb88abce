"""`write_report`: read, compare, write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import hedgeclipper
from hedgeclipper.base.summary import certificates_of
from hedgeclipper.inspection.advice import advice_section
from hedgeclipper.inspection.compare import Comparison, compare
from hedgeclipper.inspection.data_sections import (
    comparison_section,
    data_section,
    shares_section,
)
from hedgeclipper.inspection.markup import Markup, Section, tag, together
from hedgeclipper.inspection.model_sections import (
    NOT_OF_ALL_CLASSES,
    contradiction_section,
    convergence_section,
    error_section,
)
from hedgeclipper.inspection.row_sections import margins_section, uncertain_section
from hedgeclipper.inspection.subject import Subject, read_subject
from hedgeclipper.inspection.voter_section import voters_section
from hedgeclipper.inspection.words import bound_words, kind_of, per_cent
from hedgeclipper.io.atomic import check_output, draft_of
from hedgeclipper.io.extras import import_extra


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

    It has the data and settings in words, predicted shares, a comparison with the members or the
    forest on labels held back, the distribution of awake predictions, estimate and guarantee of
    the error, the voters and rows that matter, what contradicts, and what to do next. For the
    comparison a forest or an aggregate of votes is fitted three times more, to two thirds of the
    labels and at most 4,000 unlabeled rows, and the members of a panel are weighed anew. Sections
    for which rows are missing say so.

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
        What the unlabeled rows are called, one name for each that is passed, in their order. The
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
    >>> "How wrong it can be" in page
    True
    """
    path = check_output(path, force=force)
    import_extra("matplotlib", "plots", "write_report")
    subject = read_subject(
        model,
        X,
        y,
        X_unlabeled,
        votes,
        gold,
        row_names=row_names,
        n_unlabeled=n_unlabeled,
        about=about,
    )
    found = compare(subject)
    sections = [
        data_section(subject),
        shares_section(subject),
        comparison_section(subject, found),
        margins_section(subject),
        error_section(subject, found),
        voters_section(subject),
        uncertain_section(subject),
        contradiction_section(subject),
        convergence_section(subject),
        advice_section(subject, found),
    ]
    heading = f"Report of a {type(subject.estimator).__name__}" if title is None else title
    with draft_of(path, force=force) as draft:
        draft.write_text(_page(heading, subject, found, sections), encoding="utf-8", newline="\n")
    return path


def _page(title: str, subject: Subject, found: Comparison | str, sections: list[Section]) -> str:
    """Return the whole page."""
    links = [tag("a", section.title, href=f"#{section.id}") for section in sections]
    body = [
        tag("section", tag("h2", section.title), section.body, id=section.id)
        for section in sections
    ]
    return Template(_part("page.html")).substitute(
        title=together([title]),
        lead=together([_lead(subject)]),
        figures=_main_figures(subject, found),
        links=tag("nav", *links, aria_label="Sections"),
        sections=together(body),
        version=together([hedgeclipper.__version__]),
        date=date.today().isoformat(),
        style=_part("style.css"),
        script=_part("sort.js"),
    )


def _part(name: str) -> str:
    return (files("hedgeclipper.inspection") / "templates" / name).read_text(encoding="utf-8")


def _lead(subject: Subject) -> str:
    """Return what the model is and how wrong it can be, in two sentences."""
    model = subject.estimator
    start = (
        f"{kind_of(subject).capitalize()}, fitted to {model.n_labeled_:,} labeled and "
        f"{model.n_unlabeled_:,} unlabeled rows."
    )
    worst = max(certificates_of(model), key=lambda one: one.error_upper)
    if worst.kind == "void":
        return f"{start} What is known of its voters contradicts itself, so that there is no bound."
    kind = "guaranteed" if worst.is_guarantee else "estimated"
    if isinstance(model.certificate_, list):
        return (
            f"{start} In telling any one class from the rest its error on the unlabeled rows is "
            f"{kind} to be {bound_words(worst)}. {NOT_OF_ALL_CLASSES}"
        )
    return f"{start} Its error on the unlabeled rows is {kind} to be {bound_words(worst)}."


def _main_figures(subject: Subject, found: Comparison | str) -> Markup:
    """Return the few figures that a reader wants first."""
    model = subject.estimator
    figures = [
        ("labeled rows", f"{model.n_labeled_:,}"),
        ("unlabeled rows", f"{model.n_unlabeled_:,}"),
    ]
    # with one bound for each class there is none for all of them
    if not isinstance(model.certificate_, list) and model.certificate_.kind != "void":
        bound = model.certificate_
        figures.append((f"error at most ({bound.kind})", per_cent(bound.error_upper)))
    if not isinstance(found, str):
        error, spread = found.error(found.ours)
        figures.append(("cross-validated error", f"{per_cent(error)} ± {100 * spread:.1f}"))
    cards = [tag("div", tag("dt", name), tag("dd", value)) for name, value in figures]
    return tag("dl", *cards, class_="cards")
