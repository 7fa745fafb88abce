"""`write_report`: one HTML page about a fitted model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import hedgeclipper
from hedgeclipper.inspection import model_sections, row_sections
from hedgeclipper.inspection.comparison import Comparison, compare
from hedgeclipper.inspection.rendering import EXTRA, environment
from hedgeclipper.inspection.subject import Subject, read_subject
from hedgeclipper.io.atomic import atomic_path, check_output
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

    It has the data and settings, predicted class proportions, a comparison with the members or
    the forest on labels held out, the distribution of awake predictions, estimate and guarantee of
    the error, the voters and rows that matter, contradictions, and what to do next. For the
    comparison a forest or an aggregate of votes is fitted three times more, to two thirds of the
    labels and at most 4,000 unlabeled rows, and the members of a panel are reweighted. Sections
    for which rows are missing say so. It needs the extra ``report``.

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
    >>> "How wrong it can be" in page
    True
    """
    path = check_output(path, force=force)
    for module in ("jinja2", "matplotlib"):
        import_extra(module, EXTRA, "write_report")
    rows = {"X": X, "y": y, "X_unlabeled": X_unlabeled, "votes": votes, "gold": gold}
    subject = read_subject(model, rows, row_names, n_unlabeled, about)
    found = compare(subject)
    heading = f"Report of a {type(subject.estimator).__name__}" if title is None else title
    with atomic_path(path, force=force) as draft:
        draft.write_text(_page(heading, subject, found), encoding="utf-8", newline="\n")
    return path


def _page(title: str, subject: Subject, found: Comparison | str) -> str:
    """Return the whole page."""
    compared = found if isinstance(found, Comparison) else None
    sections = {
        "data": row_sections.data_section(subject),
        "proportions": row_sections.proportions_section(subject),
        "comparison": compared,
        "margins": row_sections.margins_section(subject),
        "error": model_sections.error_section(subject, compared),
        "voters": row_sections.voters_section(subject),
        "uncertain": row_sections.uncertain_section(subject),
        "contradictions": model_sections.contradictions_section(subject),
        "convergence": model_sections.convergence_section(subject),
        "next": model_sections.next_section(subject),
    }
    template = environment().get_template("page.html")
    return template.render(
        title=title,
        subject=subject,
        model=subject.model,
        estimator_name=type(subject.estimator).__name__,
        found=compared,
        no_comparison="" if compared is not None else found,
        worst=max(subject.model.certificates, key=lambda one: one.error_upper),
        sections=sections,
        version=hedgeclipper.__version__,
        date=date.today().isoformat(),
    )
