"""Peak memory of the stream method on generated batches, in MiB: run with a number of rows."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

from benchmarks.generated import soft_vote_batches
from hedgeclipper import solve_game


def main(n_samples: int) -> None:
    label_correlations, batches = soft_vote_batches(n_samples, 20)
    solution = solve_game(batches, label_correlations)
    reached = f"{solution.stop_reason} after {solution.n_iter} passes"
    print(f"{peak_memory():.1f} MiB, {n_samples} rows, {reached}")


def peak_memory() -> float:
    """Return this process's peak resident memory in MiB.

    On Linux ``ru_maxrss`` starts from the parent's, so that the kernel's own mark is read instead.
    """
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = [row for row in status.read_text().splitlines() if row.startswith("VmHWM")]
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main(int(sys.argv[1]))
