"""What a command says: tables on a terminal, plain lines in a log, JSON for machines, or nothing.

Results go to standard output; progress, notes and errors to standard error.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hedgeclipper.cli.errors import ExitCode, exit_code_of, one_line


class Output:
    """Where a command says what it does.

    Parameters
    ----------
    quiet : bool
        Whether to say nothing but errors.
    as_json : bool
        Whether to print one JSON object at the end and nothing else.
    debug : bool
        Whether to show where an error comes from.
    """

    def __init__(self, *, quiet: bool = False, as_json: bool = False, debug: bool = False):
        self.quiet, self.as_json, self.debug = quiet, as_json, debug
        self.notes: list[str] = []
        self.result: dict[str, Any] = {}
        self.written: list[str] = []
        self.code = ExitCode.DONE

    @property
    def is_talking(self) -> bool:
        """Whether anything is to be said on the way."""
        return not (self.quiet or self.as_json)

    @property
    def verbose(self) -> int:
        """The ``verbose`` parameter of estimators: 1 shows bars or lines."""
        return int(self.is_talking)

    def say(self, text: str) -> None:
        """Print a line."""
        if self.is_talking:
            _console().print(Text(text), soft_wrap=True)

    def note(self, text: str) -> None:
        """Print what the user should know, and keep it for the result."""
        text = " ".join(text.split())
        self.notes.append(text)
        if self.is_talking:
            _console(stderr=True).print(Text.assemble(("note: ", "yellow"), text), soft_wrap=True)

    def table(self, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Print a table: in columns that fit the terminal, or in plain lines."""
        if not self.is_talking:
            return
        cells = [[str(cell) for cell in row] for row in rows]
        console = _console()
        if console.is_terminal:
            table = Table(*header, box=SIMPLE_HEAD, pad_edge=False)
            for row in cells:
                table.add_row(*map(Text, row))
            console.print(table)
            return
        for line in _aligned([list(header), *cells]):
            _print(line)

    def facts(self, facts: Sequence[tuple[str, Any]]) -> None:
        """Print names and values below each other."""
        if not self.is_talking:
            return
        width = max(len(name) for name, _ in facts) + 2
        for name, value in facts:
            line = Text.assemble((name.ljust(width), "bold"), str(value))
            _console().print(line, soft_wrap=True)

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
        self.fail(one_line(error) + kept)

    def fail(self, message: str) -> None:
        """Print one line that says what is wrong."""
        if self.as_json:
            _print(json.dumps({"error": message, "exit_code": int(self.code)}))
        _console(stderr=True).print(Text.assemble(("error: ", "bold red"), message), soft_wrap=True)

    def finish(self) -> None:
        """Print the result as JSON, if that is wanted."""
        if self.as_json:
            _print(json.dumps({**self.result, "notes": self.notes}, default=_plain))


@contextmanager
def reporting(output: Output) -> Iterator[Output]:
    """Run a command: warnings become notes, and errors one line and an exit code."""
    try:
        with warnings.catch_warnings():
            _show_as_notes(output)
            yield output
        output.finish()
    except KeyboardInterrupt:
        output.code = ExitCode.STOPPED
        kept = f"Written before: {', '.join(output.written)}." if output.written else ""
        output.fail(f"Stopped. {kept or 'Nothing was written.'}")
    except Exception as error:
        output.error(error)


def _show_as_notes(output: Output) -> None:
    """Show warnings of this package as notes; those of others are for who writes Python."""

    def show(message: Any, category: Any, *place: Any, **more: Any) -> None:
        from hedgeclipper.base.semi_supervised import NoUnlabeledRowsWarning

        # commands say themselves that no row is unlabeled, in words of the command line
        is_told = category is NoUnlabeledRowsWarning
        if category.__module__.startswith("hedgeclipper") and not is_told:
            output.note(str(message))

    warnings.simplefilter("always")
    warnings.showwarning = show


def bound_as_record(bound: Any) -> dict[str, Any]:
    """Return a certificate as a dict, for JSON; only a guarantee has a confidence level.

    Parameters
    ----------
    bound : Certificate
        A bound on the error.
    """
    return {
        **asdict(bound),
        "confidence_level": bound.confidence_level if bound.is_guarantee else None,
    }


class _PatientConsole(Console):
    """A console that says no more once nobody listens, while the command goes on."""

    def on_broken_pipe(self) -> None:
        """Let all that is said from now on be lost."""
        _lose(self.file)


def _console(*, stderr: bool = False) -> Console:
    return _PatientConsole(stderr=stderr, highlight=False)


def _print(line: str) -> None:
    try:
        print(line, flush=True)
    except BrokenPipeError:
        _lose(sys.stdout)


def _lose(stream: IO[str]) -> None:
    """Let all that is written to a stream be lost, where its reader has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _plain(value: Any) -> Any:
    """Return what JSON does not know in a form that it does."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return str(value)


def file_size(n_bytes: int) -> str:
    """Return a number of bytes as people write it."""
    size = float(n_bytes)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
