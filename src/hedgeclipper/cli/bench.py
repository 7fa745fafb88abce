"""``hedgeclipper bench``: the tables of the repository, for which one needs a copy of it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from hedgeclipper.cli.errors import CommandError, ExitCode


def bench(table: str) -> None:
    """Run what is missing of a table and write its page, as ``make`` does.

    Parameters
    ----------
    table : str
        The target of ``make``.
    """
    folder = find_checkout(Path.cwd())
    if shutil.which("make") is None:
        raise CommandError(
            "The tables are run by make, which is not installed.",
            "Install it, or run the modules that the Makefile lists.",
        )
    done = subprocess.run(["make", "--no-print-directory", table], cwd=folder, check=False)
    if done.returncode:
        raise CommandError(
            f"make {table} ended with code {done.returncode}.",
            "See above for the reason.",
            ExitCode.UNEXPECTED,
        )


def find_checkout(start: Path) -> Path:
    """Return the copy of the repository that a folder is in.

    Parameters
    ----------
    start : Path
        Where to begin; then come the folders above.
    """
    for folder in (start, *start.parents):
        if all((folder / part).exists() for part in ("Makefile", "benchmarks/run_table.py")):
            return folder
    raise CommandError(
        f"{start} is in no copy of HedgeClipper's repository, which has the benchmarks.",
        "Clone the repository and run the command in it.",
    )
