"""``hedgeclipper label``: label rows in the browser or the terminal, until the file is finished."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from filecmp import cmp
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import pandas as pd

from hedgeclipper.classifier import HedgeClipperClassifier
from hedgeclipper.cli.app import LabelRows
from hedgeclipper.cli.finish_commands import PEOPLE, PREDICTION, SOURCE
from hedgeclipper.cli.model_commands import check_finite, columns_to_use
from hedgeclipper.cli.output import Output, UsageError, check_outputs, check_suffix
from hedgeclipper.cli.tables import TABLE_SUFFIXES, Files, clean_labels, write_frame
from hedgeclipper.io import as_text, listed, missing_labels
from hedgeclipper.io.atomic import NotWrittenError
from hedgeclipper.io.messages import import_extra
from hedgeclipper.labeling import LabelingLoop
from hedgeclipper.labeling.frontend import Frontend
from hedgeclipper.labeling.rows_view import RowView
from hedgeclipper.labeling.session import read_session
from hedgeclipper.report.page import write_report

SESSION_SUFFIX, FINISHED_SUFFIX, NOTE = ".session.jsonl", ".labeled", "note"


def label_rows(options: LabelRows, output: Output) -> None:
    """Label rows of a table until the file is finished, or the user stops."""
    if not options.terminal:
        for name in ("starlette", "uvicorn"):
            import_extra(name, "label", "hedgeclipper label")
    table = RowsToLabel.read(options, output)
    loop = open_loop(table, options, output)
    frontend = Frontend(loop, table.X, options.annotator)
    finished = FinishedFile(table, frontend, options, output)
    try:
        if not frontend.is_over():
            check_outputs(table.output, inputs=[], force=options.force)
            with suppress(KeyboardInterrupt, EOFError):  # the usual way to stop
                _label(frontend, table, finished, options, output)
        if frontend.is_over():
            words, is_writing = finished.write()
            output.say(words)
            if is_writing:
                output.say(finished.wait())
        else:
            output.facts([("Labels", loop.status().describe()), ("Session", table.session)])
            output.say("Run the same command again to go on.")
    finally:
        frontend.close()
        loop.close()


def _label(
    frontend: Frontend,
    table: RowsToLabel,
    finished: FinishedFile,
    options: LabelRows,
    output: Output,
) -> None:
    """Have rows labeled in the terminal, or on the page, until the user stops."""
    # imported here, since each needs what the other one does not
    if options.terminal:
        from rich.console import Console

        from hedgeclipper.labeling.keys import Keys
        from hedgeclipper.labeling.terminal import TerminalLabeling

        with Keys() as keys:
            TerminalLabeling(frontend, table.view, table.classes, keys, Console()).run()
    else:
        from hedgeclipper.labeling.server import LabelPage, serve

        page = LabelPage(frontend, table.view, table.target, table.classes, finished.write)
        serve(page, options.port, output.say, open_browser=not options.no_browser)


@dataclass(frozen=True, eq=False)
class RowsToLabel:
    """Rows to label, how they are shown, what the model learns from, and the labels known."""

    frame: pd.DataFrame  # as it is written
    X: pd.DataFrame
    y: np.ndarray
    classes: list[str]
    target: str
    view: RowView
    output: Path
    session: Path

    @classmethod
    def read(cls, options: LabelRows, output: Output) -> RowsToLabel:
        """Read and check the rows, and name the files to write."""
        files = Files.find([options.data], output, options.dialect)
        first = files.paths[0]
        stem = first.name.removesuffix(".gz").rpartition(".")[0] or first.name
        to = options.to or first.with_name(f"{stem}{FINISHED_SUFFIX}.csv")
        session = options.session or first.with_name(first.name + SESSION_SUFFIX)
        # a session that is there may be finished, and this its finished file
        check_outputs(to, inputs=[files, session], force=options.force or session.exists())
        check_suffix(to, *TABLE_SUFFIXES)
        named = [name for name in (options.text, options.image) if name is not None]
        files.require(named, "--text and --image")
        has_target = options.target in files.names
        strings = [*files.codes, *named, *([options.target] if has_target else [])]
        frame = files.frame(strings=strings)
        for name in (SOURCE, NOTE):
            if name in frame:
                raise ValueError(
                    f"{files.place} has a column {name!r} itself, which is written here. Rename it."
                )
        y, classes = _labels(frame, options, output)
        left_out = [*(options.drop or ()), *([options.image] if options.image else ())]
        keep = options.keep or ()
        names, _ = columns_to_use(files, options.target, left_out, keep, (), output)
        shown = [name for name in frame if name not in {options.target, *(options.drop or ())}]
        X = check_finite(frame[names])
        view = RowView(frame[shown], options.text, options.image, first.parent)
        if to.suffix.lower() == ".csv":  # cells stay as they were, whatever they were read as
            frame = files.frame(strings=files.names)
        return cls(frame, X, y, classes, options.target, view, to, session)


def _labels(
    frame: pd.DataFrame, options: LabelRows, output: Output
) -> tuple[np.ndarray, list[str]]:
    """Return the labels that are there already, None where not, and all classes."""
    y = np.full(len(frame), None, object)
    if options.target in frame:
        y = clean_labels(frame[options.target], (), output)
        known = ~missing_labels(y)
        y[known] = as_text(y[known])
    found = sorted({label for label in y if label is not None})
    named = [name.strip() for name in (options.classes or "").split(",") if name.strip()]
    classes = list(dict.fromkeys(named or found))
    unknown = [label for label in found if label not in classes]
    if unknown:
        raise UsageError(
            f"{options.target!r} has labels that --classes does not name: {listed(unknown, 5)}. "
            "Name all classes."
        )
    if len(classes) < 2:
        raise UsageError(
            f"--classes must name two or more labels, such as benign,malignant. Got "
            f"{listed(classes, 5) if classes else 'none'}."
        )
    return y, classes


def open_loop(table: RowsToLabel, options: LabelRows, output: Output) -> LabelingLoop:
    """Return the loop of a session, which goes on if its file is there."""
    model = _model(options) if options.keep else None
    if table.session.exists() and table.session.stat().st_size:
        loop = LabelingLoop.resume(table.session, table.X, model)
        _check_same_session(loop, table, options, output)
        output.note(f"Going on with {table.session}: {loop.status().n_labeled:,} labels so far.")
        return loop
    return LabelingLoop(
        table.X,
        classes=table.classes,
        max_error=options.max_error,
        confidence_level=options.confidence_level,
        model=model,
        y=table.y,
        random_state=options.seed,
        session=table.session,
        target=table.target,
    )


def _model(options: LabelRows) -> HedgeClipperClassifier:
    return HedgeClipperClassifier(keep=options.keep, random_state=options.seed)


def _check_same_session(
    loop: LabelingLoop, table: RowsToLabel, options: LabelRows, output: Output
) -> None:
    """Raise unless a session labels what the options ask for; note what stays as it began."""
    for name, ours, theirs in (
        ("--target", [table.target], [loop.target]),
        ("--classes", table.classes, [str(label) for label in loop.classes]),
    ):
        if set(ours) != set(theirs):
            loop.close()
            raise UsageError(
                f"{table.session} was begun with {name} {','.join(theirs)}. Got {','.join(ours)}. "
                "Pass the same, or name a new session with --session."
            )
    for name, own, begun in (
        ("--max-error", options.max_error, loop.max_error),
        ("--confidence", options.confidence_level, loop.confidence_level),
    ):
        if own != begun:
            output.note(f"{name} stays {begun:g}, as the session began: it is part of its proof.")


class FinishedFile:
    """Writes the finished file, anew if labels have changed since, and a report meanwhile.

    What an earlier start has written stays as it is, if it would be the same now. Any other file
    that exists is replaced only with ``--force``.
    """

    def __init__(
        self, table: RowsToLabel, frontend: Frontend, options: LabelRows, output: Output
    ) -> None:
        self.table, self.frontend, self.options, self.output = table, frontend, options, output
        self._lock = Lock()  # tabs may ask at once
        self._words, self._n_bytes = "", -1
        self._report: Future[Path] = Future()

    def write(self) -> tuple[str, bool]:
        """Write all rows with their labels; return what to say, and whether more is to come.

        The report is written by the process of the fits, since its model takes long to fit.
        """
        with self._lock:
            n_bytes = self.table.session.stat().st_size  # each label and each undo adds a line
            if n_bytes != self._n_bytes:
                self._words = self._write_labels()
                self._n_bytes = n_bytes
            return f"{self._words}\n{self._report_words()}", not self._report.done()

    def wait(self) -> str:
        """Return where the report is, once it is there."""
        self._report.exception()
        return self._report_words()

    def _write_labels(self) -> str:
        result, table = self.frontend.result(), self.table
        is_open = result.needs_review  # skipped rows
        labels = result.labels.astype(object)
        source = np.where(result.by_hand, PEOPLE, PREDICTION).astype(object)
        labels[is_open] = source[is_open] = None
        frame = table.frame.assign(**{table.target: labels, SOURCE: source})
        if result.notes:
            frame[NOTE] = [result.notes.get(row) for row in range(len(frame))]
        may_replace = self.options.force or bool(self._words)  # what this start has written
        is_there = not may_replace and _holds(table.output, frame)
        if not is_there:
            write_frame(frame, table.output, force=may_replace)
            self.output.wrote("labels", table.output)
        counts = Counter(str(label) for label in labels[~is_open])
        found = ", ".join(f"{n:,} {name}" for name, n in counts.most_common())
        where = (
            f"The finished file is {table.output}." if is_there else f"Written to {table.output}."
        )
        report = table.output.with_suffix(".html")
        if is_there and report.is_file():
            self._report.set_result(report)
        else:
            self._begin_report(report, result.describe())
        return "\n".join([result.describe(), f"{found}.", where])

    def _report_words(self) -> str:
        if not self._report.done():
            return "A report of what the model has learned is being written."
        if (error := self._report.exception()) is not None:
            return f"There is no report: {error}"
        return f"A report of what the model has learned: {self._report.result()}."

    def _begin_report(self, path: Path, claim: str) -> None:
        """Have a report of a model written that has learned from all labels."""
        table, session = self.table, read_session(self.table.session)
        y = np.full(len(table.X), None, object)
        y[session.rows] = session.labels
        sample = session.sample
        if sample is not None:  # rows that were skipped before the draw have no label
            excluded = np.intersect1d(sample.excluded, np.flatnonzero(~missing_labels(y)))
            sample = replace(sample, excluded=excluded)
        options = {
            "claim": claim,
            "about": {"Session": str(table.session)},
            "title": f"{table.target} of {self.options.data}",
        }
        try:
            if not self._words:
                check_outputs(path, inputs=[table.output], force=self.options.force)
        except (ValueError, NotWrittenError) as error:
            self._report = Future()
            self._report.set_exception(error)
            return
        job = ReportJob(_model(self.options), table.X, y, sample, path, options)
        self._report = self.frontend.run_apart(job)


def _holds(path: Path, frame: pd.DataFrame) -> bool:
    """Return whether a file is what writing the frame would make of it."""
    if not path.exists():
        return False
    with TemporaryDirectory() as folder:
        again = Path(folder, path.name)
        write_frame(frame, again, force=False)
        return cmp(path, again, shallow=False)


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
