"""What a long run says while it runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any


def pass_printer() -> Callable[[Any, Any], None]:
    """Return a function that prints a line to standard error after each pass."""
    started = time.perf_counter()

    def print_pass(record: Any, evaluation: Any) -> None:
        gap = max(record.primal - record.dual, 0.0)
        print(
            f"pass {record.n_passes:4d}  slack {record.primal:+.6f}  gap {gap:.2e}  "
            f"{time.perf_counter() - started:6.1f} s",
            file=sys.stderr,
            flush=True,
        )

    return print_pass
