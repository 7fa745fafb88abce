"""The command line: parse, read files, call an estimator, print and write. No statistics."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec

# what the extra installs
LIBRARIES = ("typer", "rich", "skops", "pandas", "pyarrow", "jinja2", "matplotlib")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; by default that of this process's command line."""
    # finding a module is faster than importing it, and help needs few
    missing = [name for name in LIBRARIES if find_spec(name) is None]
    if missing:
        print(
            f"error: The command line needs {', '.join(missing)}. Install it with pip install "
            "'hedgeclipper[cli]'.",
            file=sys.stderr,
        )
        return 2  # as ExitCode.USAGE, whose module imports rich
    try:
        from hedgeclipper.cli.app import run

        return run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        return 130
