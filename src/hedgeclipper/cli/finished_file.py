"""The finished file of ``hedgeclipper label``: a label in each row, and a report beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from filecmp import cmp
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import pandas as pd

from hedgeclipper.classifier import HedgeClipperClassifier
from hedgeclipper.cli.finish_commands import PEOPLE, PREDICTION, SOURCE
from hedgeclipper.cli.output import Output, check_outputs, one_line
from hedgeclipper.cli.rows_to_label import NOTE, RowsToLabel
from hedgeclipper.cli.tables import write_frame
from hedgeclipper.io import missing_labels
from hedgeclipper.labeling import LabelingResult
from hedgeclipper.labeling.fitting import JobError
from hedgeclipper.labeling.frontend import Frontend
from hedgeclipper.labeling.session import read_session
from hedgeclipper.report.page import write_report


class FinishedFile:
    """Writes the finished file in a thread, anew if labels have changed since, and a report.

    What an earlier start has written stays as it is, if it would be the same now. A file that is
    not of this session is replaced only with ``force``.

    Parameters
    ----------
    table : RowsToLabel
        The rows, and where to write them.
    frontend : Frontend
        Where the labels come from, and whose process writes the report.
    model : HedgeClipperClassifier
        What is fitted to all labels for the report.
    title : str
        Title of the report.
    force : bool
        Whether files that are not of this session may be replaced.
    output : Output
        Is told what was written.
    """

    def __init__(
        self,
        table: RowsToLabel,
        frontend: Frontend,
        model: HedgeClipperClassifier,
        title: str,
        force: bool,
        output: Output,
    ) -> None:
        self.table, self.frontend, self.model = table, frontend, model
        self.title, self.force, self.output = title, force, output
        self._lock = Lock()
        self._thread = ThreadPoolExecutor(1)
        self._n_changes = -1
        self._written: Future[tuple[str, Future[Path]]] = Future()
        self._own: set[Path] = set()  # files of this session
        self._report = table.output.with_suffix(".html")

    def check_files(self) -> None:
        """Raise if there is a file to replace that is not of this session.

        Of this session are a finished file that would be the same now, and its report.
        """
        path, result = self.table.output, self.frontend.result()
        if not self.force and _holds(path, self._finished(result)):
            self._own.add(path)
            if _is_report(self._report, result.describe()):
                self._own.add(self._report)
            self.output.note(f"{path} is finished. It is written anew if labels change.")
        check_outputs(path, inputs=[], force=self._may_replace(path))

    def write(self) -> tuple[str, bool]:
        """Begin to write all rows with their labels; return what to say, and if more is to come."""
        with self._lock:  # tabs may ask at once
            if self._n_changes != self.frontend.n_changes:
                self._n_changes, result = self.frontend.n_changes, self.frontend.result()
                self._written = self._thread.submit(self._write_labels, result)
            written = self._written
            if not written.done():
                return "All labels are saved. The finished file is being written.", True
            if (error := written.exception()) is not None:
                self._n_changes = -1  # who asks next has it tried again
                words = "All labels are saved, but the finished file could not be written: "
                return words + one_line(error), False
        words, report = written.result()
        return f"{words}\n{_report_words(report)}", not report.done()

    def wait(self) -> Iterator[str]:
        """Yield what to say of the finished file and of the report, once they are there."""
        words, report = self._written.result()
        yield words
        if not report.done():
            yield _report_words(report)
        report.exception()
        yield _report_words(report)

    def _write_labels(self, result: LabelingResult) -> tuple[str, Future[Path]]:
        """Write all rows with their labels; return what to say, and the report that is begun."""
        path, frame = self.table.output, self._finished(result)
        is_there = not self.force and _holds(path, frame)
        if not is_there:
            write_frame(frame, path, self._may_replace(path))
            self._own.add(path)
            self.output.wrote("labels", path)
        counts = Counter(str(label) for label in result.labels[~result.needs_review])
        found = ", ".join(f"{n:,} {name}" for name, n in counts.most_common())
        where = "The finished file is" if is_there else "Written to"
        words = "\n".join([result.describe(), f"{found}.", f"{where} {path}."])
        return words, self._begin_report(result.describe(), is_there)

    def _finished(self, result: LabelingResult) -> pd.DataFrame:
        """Return all rows with their labels, as they are written."""
        table, is_open = self.table, result.needs_review  # open ones were skipped
        labels = result.labels.astype(object)
        source = np.where(result.by_hand, PEOPLE, PREDICTION).astype(object)
        labels[is_open] = source[is_open] = None
        frame = table.frame.assign(**{table.target: labels, SOURCE: source})
        if result.notes:
            frame[NOTE] = [result.notes.get(row) for row in range(len(frame))]
        return frame

    def _begin_report(self, claim: str, is_there: bool) -> Future[Path]:
        """Have a report of a model written that has learned from all labels, in another process.

        If the finished file was there already, so may be its report.
        """
        path, found = self._report, Future[Path]()
        try:
            if is_there and _is_report(path, claim):
                found.set_result(path)
                return found
            check_outputs(path, inputs=[self.table.output], force=self._may_replace(path))
            job = self._report_job(path, claim)
        except (OSError, ValueError) as error:  # the finished file is there all the same
            found.set_exception(JobError(one_line(error)))
            return found
        self._own.add(path)
        return self.frontend.run_apart(job)

    def _report_job(self, path: Path, claim: str) -> ReportJob:
        table, session = self.table, read_session(self.table.session)
        y = np.full(len(table.X), None, object)
        y[session.rows] = session.labels
        sample = session.sample
        # rows that were skipped before the draw have no label
        excluded = np.intersect1d(sample.excluded, np.flatnonzero(~missing_labels(y)))
        options = {"claim": claim, "about": {"Session": str(table.session)}, "title": self.title}
        return ReportJob(self.model, table.X, y, replace(sample, excluded=excluded), path, options)

    def _may_replace(self, path: Path) -> bool:
        return self.force or path in self._own


def _report_words(report: Future[Path]) -> str:
    if not report.done():
        return "A report of what the model has learned is being written."
    if (error := report.exception()) is not None:
        return f"There is no report: {error}"
    return f"A report of what the model has learned: {report.result()}."


def _holds(path: Path, frame: pd.DataFrame) -> bool:
    """Return whether a file is what writing the frame would make of it."""
    if not path.exists():
        return False
    with TemporaryDirectory() as folder:
        again = Path(folder, path.name)
        write_frame(frame, again, force=False)
        return cmp(path, again, shallow=False)


def _is_report(path: Path, claim: str) -> bool:
    """Return whether a file is a report of the finished file of which this is claimed."""
    return path.is_file() and claim in unescape(path.read_text("utf-8", errors="replace"))


@dataclass(frozen=True, eq=False)
class ReportJob:
    """A report to write, of a model that is fitted to all labels; it can be pickled."""

    model: HedgeClipperClassifier
    X: Any
    y: np.ndarray
    sample: Any
    path: Path
    options: dict[str, Any]

    def run(self) -> Path:
        """Write the report, and return where it is."""
        with catch_warnings():
            simplefilter("ignore")  # chosen labels differ from other rows on purpose
            # no unlabeled rows apart: "-1" may be a class
            self.model.fit(self.X, self.y, X_unlabeled=self.X[:0], sample=self.sample)
            rest = self.X[missing_labels(self.y)]
            write_report(self.model, self.path, X_unlabeled=rest, force=True, **self.options)
        return self.path
