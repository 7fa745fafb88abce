"""What a command prints: tables on a terminal, plain lines in a log, JSON for machines, or nothing.

Results go to standard output; progress, notes and errors to standard error. An error is one line,
and decides the exit code.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from enum import IntEnum
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

# what messages ask for in Python, and what that is at the command line
_AS_OPTIONS = {
    "Pass force=True to": "Pass --force to",
}


class ExitCode(IntEnum):
    """How a command ends."""

    DONE = 0
    UNEXPECTED = 1
    USAGE = 2
    DATA = 3
    OUTPUT = 4
    MODEL = 5
    STOPPED = 130


class CommandError(Exception):
    """An error that the user can do something about: what is wrong, what to do, and how it ends."""

    def __init__(self, message: str, hint: str, code: ExitCode = ExitCode.DATA):
        super().__init__(f"{message} {hint}")
        self.code = code


class Output:
    """Where a command prints what it does: as text, as one JSON object, or errors only (quiet)."""

    def __init__(self, *, quiet: bool = False, as_json: bool = False, debug: bool = False):
        self.as_json, self.debug = as_json, debug
        self._started = time.perf_counter()
        is_silent = quiet or as_json
        self.verbose = int(not is_silent)  # that of estimators: 1 shows bars or lines
        self._out = _PatientConsole(highlight=False, quiet=is_silent)
        self._err = _PatientConsole(highlight=False, quiet=is_silent, stderr=True)
        for console in (self._out, self._err):
            # lines of a log stay whole, those of a terminal break at words
            console.soft_wrap = not console.is_terminal
        self.notes: list[str] = []
        self.result: dict[str, Any] = {}
        self.written: list[str] = []
        self.code = ExitCode.DONE

    @property
    def seconds(self) -> float:
        """Time since the command began, that of imports included."""
        return time.perf_counter() - self._started

    def say(self, text: str) -> None:
        """Print a line."""
        self._out.print(Text(text))

    def note(self, text: str) -> None:
        """Print what the user should know, and keep it for the result."""
        text = " ".join(text.split())
        self.notes.append(text)
        self._err.print(Text.assemble(("note: ", "yellow"), text))

    def table(self, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Print a table: in columns that fit the terminal, or in plain lines."""
        lines = [list(header), *([str(cell) for cell in row] for row in rows)]
        if self._out.is_terminal:
            table = Table(*header, box=SIMPLE_HEAD, pad_edge=False)
            for line in lines[1:]:
                table.add_row(*map(Text, line))
            self._out.print(table, soft_wrap=False)
            return
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        for line in lines:
            padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
            self.say("  ".join(padded).rstrip())

    def facts(self, facts: Sequence[tuple[str, Any]]) -> None:
        """Print names and values below each other."""
        width = max(len(name) for name, _ in facts) + 2
        if self._out.is_terminal:
            grid = Table.grid(padding=(0, 2, 0, 0))
            for name, value in facts:
                grid.add_row(Text(name, "bold"), Text(str(value)))
            self._out.print(grid)
            return
        for name, value in facts:
            self._out.print(Text.assemble((name.ljust(width), "bold"), str(value)))

    def wrote(self, what: str, path: Path) -> None:
        """Keep where a file was written, for the result and in case of an error later on."""
        self.result[what] = str(path.resolve())
        self.written.append(str(path))

    def error(self, error: BaseException) -> None:
        """Print an error in one line, and decide how the command ends."""
        self.code = exit_code_of(error)
        if self.debug:
            traceback.print_exception(error)
        kept = f" Written before: {', '.join(self.written)}." if self.written else ""
        if self.code is ExitCode.STOPPED:
            kept = kept or " Nothing was written."
        self.fail(one_line(error) + kept)

    def fail(self, message: str) -> None:
        """Print one line that says what is wrong."""
        if self.as_json:
            _print(json.dumps({"error": message, "exit_code": int(self.code)}))
        self._err.quiet = False
        self._err.print(Text.assemble(("error: ", "bold red"), message))


@contextmanager
def reporting(output: Output) -> Iterator[Output]:
    """Run a command: warnings become notes, and errors one line and an exit code."""

    def note(message: Any, category: Any, *place: Any, **more: Any) -> None:
        """Print a warning of this package; those of others are for who writes Python."""
        from hedgeclipper.base.semi_supervised import NoUnlabeledRowsWarning

        # commands note themselves that no row is unlabeled, and name the option that helps
        is_ours = category.__module__.startswith("hedgeclipper")
        if is_ours and category is not NoUnlabeledRowsWarning:
            output.note(_with_options(str(message)))

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = note
            yield output
        if output.as_json:
            _print(json.dumps({**output.result, "notes": output.notes}, default=_plain))
    except (KeyboardInterrupt, Exception) as error:
        output.error(error)


def exit_code_of(error: BaseException) -> ExitCode:
    """Return how a command ends that failed with this error."""
    if isinstance(error, CommandError):
        return error.code
    if isinstance(error, KeyboardInterrupt):
        return ExitCode.STOPPED
    if isinstance(error, ImportError):  # of an extra that is not installed
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
    if isinstance(error, KeyboardInterrupt):
        return "Stopped."
    if isinstance(error, MemoryError):
        return "There is not enough memory. Pass fewer rows, or columns of numbers as Parquet."
    if isinstance(error, PermissionError) and error.filename:
        return f"{error.filename} may not be read or written by you. Change its permissions."
    message = _with_options(" ".join(str(error).split()))
    if isinstance(error, OSError) and error.strerror and error.filename is None:
        return f"{error.strerror}."  # without the number of the error
    if exit_code_of(error) is ExitCode.UNEXPECTED:
        return (
            f"This should not happen ({type(error).__name__}: {message}). Run the command "
            "again with --debug, and report what it shows."
        )
    return message


def _with_options(message: str) -> str:
    """Return a message that names options in place of parameters."""
    for parameter, option in _AS_OPTIONS.items():
        message = message.replace(parameter, option)
    return message


def check_outputs(*paths: Path | None, inputs: Iterable[Path], force: bool) -> None:
    """Raise before anything is done if some output could not be written in the end.

    Inputs are never replaced, and other files that exist only with ``force``.
    """
    from hedgeclipper.io.atomic import check_output

    wanted = [path for path in paths if path is not None]
    read = {path.resolve() for path in inputs}
    for path in wanted:
        try:
            whole = check_output(path)
        except OSError as error:
            raise CommandError(str(error), "", ExitCode.OUTPUT) from error
        if whole.exists() and not whole.is_file():
            raise CommandError(
                f"{path} is not a regular file.", "Name another one.", ExitCode.OUTPUT
            )
        try:
            TemporaryFile(dir=whole.parent).close()
        except OSError as error:
            raise CommandError(
                f"No file can be written in {whole.parent} ({error.strerror}).",
                "Name a file in another folder.",
                ExitCode.OUTPUT,
            ) from error
        if whole in read:
            raise CommandError(
                f"{path} is read by this command and cannot be written by it.",
                "Name another file to write.",
                ExitCode.USAGE,
            )
        if whole.exists() and not force:
            raise CommandError(
                f"{path} exists already.", "Pass --force to replace it.", ExitCode.OUTPUT
            )
    if len({path.resolve() for path in wanted}) < len(wanted):
        raise CommandError(
            "Two outputs have the same path.", "Name each its own file.", ExitCode.USAGE
        )


def check_needed(option: str, value: Any, other: str, its_value: Any) -> None:
    """Raise if an option is given without another one that it needs."""
    if value is not None and its_value is None:
        raise CommandError(f"{option} is given without {other}.", "Pass both.", ExitCode.USAGE)


def error_facts(model: Any, output: Output) -> list[tuple[str, str]]:
    """Return what is known of a model's error in lines to print, and keep it for the result."""
    bound = model.certificate_
    output.result["certificate"] = asdict(bound)
    if bound.reason and model.confidence_level is not None:
        output.note(f"No guarantee: {bound.reason}.")
    return [("Error", bound.describe().removeprefix("error "))]


def auto_label_facts(found: Any, output: Output) -> list[tuple[str, str]]:
    """Return what automatic labels are worth in lines to print, and keep it for the result."""
    record = {name: x for name, x in vars(found).items() if name not in ("labels", "is_sure")}
    n_sure = int(found.is_sure.sum())
    output.result["automatic_labels"] = {"n_sure": n_sure, "coverage": found.coverage, **record}
    why = [("No guarantee", found.reason)] if n_sure and found.reason else []
    return [("Automatic", found.describe()), *why]


class _PatientConsole(Console):
    """A console that prints no more once its reader has gone, while the command goes on."""

    def on_broken_pipe(self) -> None:
        """Drop all that is printed from now on."""
        _drop(self.file)

    def print(self, *objects: Any, **options: Any) -> None:
        """Print, and go on where notes and progress cannot be written."""
        try:
            super().print(*objects, **options)
        except OSError:
            if not self.stderr:
                raise
            _drop(self.file)


def _print(line: str) -> None:
    try:
        print(line, flush=True)
    except BrokenPipeError:
        _drop(sys.stdout)


def _drop(stream: Any) -> None:
    # imported here, since help should not have to wait for it
    from hedgeclipper.io.progress import drop

    drop(stream)


def _plain(value: Any) -> Any:
    """Return what JSON does not know in a form that it does."""
    return value.tolist() if hasattr(value, "tolist") else str(value)
