"""The command line: parse, read files, call an estimator, write files. No math."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; by default that of this process's command line."""
    _open_closed_streams()
    try:
        for module in ("typer", "rich", "skops", "pandas", "pyarrow"):
            # finding a module is faster than importing it, and help needs few
            if find_spec(module) is None:
                from hedgeclipper.io.extras import import_extra

                import_extra(module, "cli", "The command line")
    except ImportError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2  # as ExitCode.USAGE, whose module may lack what it imports
    try:
        from hedgeclipper.cli.app import run

        return run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        return 130


def import_skops() -> None:
    """Import skops without its list of scikit-learn's estimators, which takes a second to make.

    `persistence.load` finds out by itself which of these it may trust.
    """
    utils: Any = import_module("sklearn.utils")
    found, utils.all_estimators = utils.all_estimators, list
    try:
        import_module("skops.io")
    finally:
        utils.all_estimators = found


def _open_closed_streams() -> None:
    """Drop what is printed to streams that were closed (``2>&-``).

    Else the next file that is opened would get the number of the stream, and what is printed.
    """
    for number, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
            setattr(sys, name, open(number, "w", closefd=False))  # noqa: SIM115
