"""What a command prints: tables and lines, or one JSON object, or errors only.

Results go to standard output; notes and errors to standard error. An error is one line, and
decides the exit code.
"""

from __future__ import annotations

import json
import os
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from enum import IntEnum
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.status import Status
from rich.table import Table
from rich.text import Text

# what errors of the library advise, as one types it here
IN_WORDS_OF_COMMANDS = {
    "Pass force=True to": "Pass --force to",
    "with draw_sample": "with `hedgeclipper sample`",
}

SPINNER = "dots"


class ExitCode(IntEnum):
    """How a command ends."""

    DONE = 0
    UNEXPECTED = 1
    USAGE = 2
    DATA = 3
    OUTPUT = 4
    MODEL = 5
    ABOVE_LIMIT = 6
    STOPPED = 130


class UsageError(ValueError):
    """Options that do not go together, or cannot be meant."""


class Output:
    """Where a command prints what it does, and what ``--json`` will print at its end."""

    def __init__(self, quiet: bool = False, as_json: bool = False, debug: bool = False):
        self.as_json, self.debug = as_json, debug
        self.is_quiet = quiet or as_json
        self._out, self._err = _PatientConsole(), _PatientConsole(stderr=True)
        self._started = time.perf_counter()
        self._status: Status | None = None
        self.notes: list[str] = []
        self.result: dict[str, Any] = {}
        self.written: list[str] = []
        self.code = ExitCode.DONE

    @contextmanager
    def working(self, what: str) -> Iterator[None]:
        """Show on a terminal, in a ``with`` block, what takes a while; the innermost one."""
        if self.is_quiet:
            yield
        elif self._status is None:
            with self._err.status(what, spinner=SPINNER) as self._status:
                try:
                    yield
                finally:
                    self._status = None
        else:
            status, before = self._status, self._status.status
            # a spinner that is named is drawn at once, and short work is shown too
            status.update(what, spinner=SPINNER)
            yield
            status.update(before, spinner=SPINNER)

    @property
    def seconds(self) -> float:
        """Time since the command began, that of imports included."""
        return time.perf_counter() - self._started

    def say(self, line: Any) -> None:
        """Print a line, or something else that rich can print."""
        if not self.is_quiet:
            self._out.print(Text(line) if isinstance(line, str) else line)

    def note(self, text: str) -> None:
        """Print what the user should know, once, and keep it for the result."""
        text = " ".join(text.split())
        if text in self.notes:
            return
        self.notes.append(text)
        if not self.is_quiet:
            self._err.print(Text.assemble(("note: ", "yellow"), text))

    def table(self, header: Sequence[str], rows: Sequence[Sequence[Any]], most: int = 25) -> None:
        """Print a table, of its rows only the first ones if there are more than ``most``."""
        table = Table(*header, box=SIMPLE_HEAD, pad_edge=False)
        for row in rows[:most]:
            table.add_row(*(Text(str(cell)) for cell in row))
        self.say(table)
        if len(rows) > most:
            self.say(f"... and {len(rows) - most:,} more; --json lists all")

    def facts(self, facts: Sequence[tuple[str, Any]]) -> None:
        """Print names and values below each other."""
        grid = Table.grid(padding=(0, 2, 0, 0))
        for name, value in facts:
            grid.add_row(Text(name, "bold"), Text(str(value)))
        self.say(grid)

    def wrote(self, what: str, path: Path) -> tuple[str, str]:
        """Keep where a file was written, for the result and in case of an error; return it."""
        self.result[what] = str(path.resolve())
        self.written.append(str(path))
        return what.replace("_", " ").capitalize(), str(path)

    def finish(self) -> None:
        """Print the result, where JSON is asked for."""
        if self.as_json:
            self._print_json({**self.result, "notes": self.notes})

    def error(self, error: BaseException) -> None:
        """Print an error in one line, and decide how the command ends."""
        if self.debug:
            traceback.print_exception(error)
        kept = f" Written before: {', '.join(self.written)}." if self.written else ""
        if isinstance(error, KeyboardInterrupt):
            kept = kept or " Nothing was written."
        self.fail(one_line(error) + kept, exit_code_of(error))

    def fail(self, message: str, code: ExitCode) -> None:
        """Print one line that says what is wrong, and end with this code."""
        self.code = code
        if self.as_json:
            self._print_json({"error": message, "exit_code": int(code)})
        self._err.print(Text.assemble(("error: ", "bold red"), message))

    def _print_json(self, result: dict[str, Any]) -> None:
        from hedgeclipper.io.messages import as_json  # here, since help should not wait for it

        text = json.dumps(as_json(result), default=str)
        self._out.print(Text(text), soft_wrap=True)


class _PatientConsole(Console):
    """A console that prints no more once its reader has gone, while the command goes on."""

    def __init__(self, *, stderr: bool = False):
        super().__init__(stderr=stderr, highlight=False)
        if not self.is_terminal:
            self.width = 10_000  # lines of a log stay whole; those of a terminal break at words

    def on_broken_pipe(self) -> None:
        """Drop all that is printed from now on."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())

    def print(self, *objects: Any, **options: Any) -> None:
        """Print, and go on where notes and errors cannot be written."""
        try:
            super().print(*objects, **options)
        except OSError:
            if not self.stderr:
                raise
            self.on_broken_pipe()


@contextmanager
def reporting(output: Output) -> Iterator[Output]:
    """Run a command: warnings become notes, and errors one line and an exit code."""

    def note(message: Any, category: Any, *place: Any, **more: Any) -> None:
        """Print a warning of this package; those of others are for who writes Python."""
        # commands say these by themselves, and name options that help
        said = category.__name__ in ("NoUnlabeledRowsWarning", "ColumnWarning")
        if category.__module__.startswith("hedgeclipper") and not said:
            output.note(str(message))

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = note
            yield output
        output.finish()
    except (KeyboardInterrupt, Exception) as error:
        output.error(error)


def exit_code_of(error: BaseException) -> ExitCode:
    """Return how a command ends that failed with this error."""
    if isinstance(error, KeyboardInterrupt):
        return ExitCode.STOPPED
    if isinstance(error, (UsageError, ImportError)):  # of an extra that is not installed
        return ExitCode.USAGE
    # imported here, since help should not have to wait for it
    from hedgeclipper.io.atomic import NotWrittenError
    from hedgeclipper.persistence import ModelFileError

    if isinstance(error, ModelFileError):
        return ExitCode.MODEL
    if isinstance(error, (NotWrittenError, FileExistsError)):
        return ExitCode.OUTPUT
    if isinstance(error, (ValueError, TypeError, OSError, MemoryError)):
        return ExitCode.DATA
    return ExitCode.UNEXPECTED


def one_line(error: BaseException) -> str:
    """Return what an error says, in one line, and what to do."""
    message = " ".join(str(error).split())
    for python, words in IN_WORDS_OF_COMMANDS.items():
        message = message.replace(python, words)
    if isinstance(error, KeyboardInterrupt):
        return "Stopped."
    if isinstance(error, MemoryError):
        return "There is not enough memory. Pass fewer rows, or fit to files from Python."
    if isinstance(error, PermissionError) and error.filename:
        return f"{error.filename} may not be read or written by you. Change its permissions."
    if isinstance(error, OSError) and error.strerror and error.filename is None:
        return f"{error.strerror}."  # without the number of the error
    if exit_code_of(error) is ExitCode.UNEXPECTED:
        return (
            f"This should not happen ({type(error).__name__}: {message}). Run the command "
            "again with --debug, and report what it shows."
        )
    return message


def check_outputs(*paths: Path | None, inputs: Iterable[Any], force: bool) -> None:
    """Raise unless all files can be written, so that this is known before the work and not after.

    What the command reads, paths or tables of files, is never replaced, and other files that exist
    only with ``force``.
    """
    # imported here, since help should not have to wait for it
    from hedgeclipper.io.atomic import NotWrittenError, check_output

    read = [path for one in inputs if one for path in getattr(one, "paths", [one])]
    taken = {path.resolve(): "is read by this command" for path in read}
    for path in paths:
        if path is None:
            continue
        if path.resolve() in taken:
            raise UsageError(
                f"{path} {taken[path.resolve()]} and cannot be written by it. Name another file to "
                "write."
            )
        taken[path.resolve()] = "is another output of this command"
        try:
            check_output(path, force=force)
        except OSError as error:
            raise NotWrittenError(one_line(error)) from error


def check_suffix(path: Path | None, *suffixes: str) -> None:
    """Raise unless the name of a file to write ends in one of these."""
    if path is not None and path.suffix.lower() not in suffixes:
        raise UsageError(
            f"{path} has a suffix that cannot be written here. End it in {' or '.join(suffixes)}."
        )


def error_facts(model: Any, output: Output) -> list[tuple[str, str]]:
    """Return the error estimate of a model in lines to print, and keep it for the result."""
    bound = model.certificate_
    output.result["certificate"] = asdict(bound)
    if bound.reason and model.confidence_level is not None:
        output.note(f"No guarantee: {bound.reason}.")
    # with class weights, more errors are what was asked for
    is_weighted = getattr(model, "class_weight", None) is not None
    if (
        not is_weighted
        and None not in (bound.error, bound.baseline)
        and bound.error >= bound.baseline
    ):
        output.note(
            "The model is no better than always predicting the most frequent class, as far as the "
            "labels tell: label more rows, or find columns that tell more."
        )
    return [("Error", bound.describe().removeprefix("error "))]


def auto_label_facts(found: Any, output: Output) -> list[tuple[str, str]]:
    """Return what automatic labels are worth in lines to print, and keep it for the result."""
    rows = ("labels", "needs_review", "review_order")
    record = {name: x for name, x in vars(found).items() if name not in rows}
    counts = {"n_review": found.review_order.size, "coverage": found.coverage}
    output.result["automatic_labels"] = {**counts, **record}
    return [("Automatic", found.describe() + one_question(found))]


def one_question(found: Any) -> str:
    """Return what a guarantee is for, which nobody can check from run to run; "" without one."""
    if found.kind != "guarantee" or not found.n_automatic:
        return ""
    return " This holds if --max-error was chosen before the labels were seen."
