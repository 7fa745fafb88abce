"""What can go wrong on the command line: one line each, and an exit code."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from hedgeclipper.io.atomic import check_output


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
    """An error that the user can do something about.

    Parameters
    ----------
    message : str
        What is wrong.
    hint : str
        What to do.
    code : ExitCode
        How the command ends.
    """

    def __init__(self, message: str, hint: str, code: ExitCode = ExitCode.DATA):
        super().__init__(f"{message} {hint}")
        self.code = code


def exit_code_of(error: BaseException) -> ExitCode:
    """Return how a command ends that failed with this error."""
    if isinstance(error, CommandError):
        return error.code
    if _is_of_model_file(error):
        return ExitCode.MODEL
    if isinstance(error, (ValueError, TypeError, OSError, MemoryError)):
        return ExitCode.DATA
    return ExitCode.UNEXPECTED


def _is_of_model_file(error: BaseException) -> bool:
    # imported here, since help should not have to wait for it
    from hedgeclipper.persistence import ModelFileError

    return isinstance(error, ModelFileError)


def one_line(error: BaseException) -> str:
    """Return what an error says, in one line, and what to do."""
    if isinstance(error, MemoryError):
        return "There is not enough memory. Pass fewer rows, or columns of numbers as Parquet."
    if isinstance(error, PermissionError) and error.filename:
        return f"{error.filename} may not be read or written by you. Change its permissions."
    if exit_code_of(error) is ExitCode.UNEXPECTED and not isinstance(error, ImportError):
        return (
            f"This should not happen ({type(error).__name__}: {_joined(error)}). Run the command "
            "again with --debug, and report what it shows."
        )
    return _joined(error)


def _joined(error: Any) -> str:
    return " ".join(str(error).split())


def check_outputs(*paths: Path | None, inputs: Iterable[Path], force: bool) -> None:
    """Raise before anything is done if some output could not be written in the end.

    Parameters
    ----------
    *paths : Path or None
        Files to write.
    inputs : iterable of Path
        Files that are read, which are never replaced.
    force : bool
        Whether other files that exist may be replaced.
    """
    wanted = [path for path in paths if path is not None]
    read = {path.resolve() for path in inputs}
    for path in wanted:
        whole = _check_place(path)
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


def _check_place(path: Path) -> Path:
    """Return the whole path, or say why no file can be written there."""
    try:
        whole = check_output(path)
    except OSError as error:
        raise CommandError(str(error), "", ExitCode.OUTPUT) from error
    if whole.exists() and not whole.is_file():
        raise CommandError(f"{path} is no plain file.", "Name another one.", ExitCode.OUTPUT)
    try:
        with TemporaryFile(dir=whole.parent):
            pass
    except OSError as error:
        raise CommandError(
            f"No file can be written in {whole.parent} ({error.strerror}).",
            "Name a file in another folder.",
            ExitCode.OUTPUT,
        ) from error
    return whole
