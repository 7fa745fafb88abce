"""Whether a panel's threads get in each other's way.

    python -m benchmarks.panel_threads [n_rounds]

A default panel with 1,000 labels and 8,000 unlabeled rows of 50 columns is fitted with one job and
with two: as it comes, where BLAS and OpenMP want eight threads each, and with
``OMP_NUM_THREADS=1``, the measure of both. Each fit is a process of its own, which times its
``fit`` alone; all of them are interleaved.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial

from benchmarks.timing import median_of_rounds, print_rows

FIT = """
import sys, time, warnings
from sklearn.datasets import make_classification
from hedgeclipper import HedgedVotingClassifier
warnings.simplefilter("ignore")  # members that do not converge are no concern of a timing
X, y = make_classification(9_000, 50, n_informative=15, flip_y=0.1, random_state=0)
n_jobs = int(sys.argv[1])
model = HedgedVotingClassifier(n_jobs=n_jobs, random_state=0)
model.fit(X[:60], y[:60], X_unlabeled=X[60:200])  # compiles and imports what is needed
started = time.perf_counter()
model.fit(X[:1_000], y[:1_000], X_unlabeled=X[1_000:])
print(time.perf_counter() - started)
"""
JOBS = (1, 2)
THREADS = {"as it comes": {}, "eight wanted": {"OMP_NUM_THREADS": "8"}}
MEASURE = {"one": {"OMP_NUM_THREADS": "1"}}


def seconds_of(n_jobs: int, threads: dict[str, str]) -> float:
    """Return the seconds of one fit in a new process."""
    free = {name: value for name, value in os.environ.items() if "NUM_THREADS" not in name}
    command = [sys.executable, "-c", FIT, str(n_jobs)]
    done = subprocess.run(command, env={**free, **threads}, capture_output=True, check=True)
    return float(done.stdout)


def main(n_rounds: int = 3) -> None:
    print(__doc__)
    rows = [("n_jobs", "threads", "seconds", "ratio to one thread")]
    for n_jobs in JOBS:
        runs = {
            name: partial(seconds_of, n_jobs, threads)
            for name, threads in {**THREADS, **MEASURE}.items()
        }
        seconds = median_of_rounds(runs, n_rounds)
        for name, value in seconds.items():
            rows.append((str(n_jobs), name, f"{value:.1f}", f"{value / seconds['one']:.2f}"))
    print_rows(rows)


if __name__ == "__main__":
    main(*[int(argument) for argument in sys.argv[1:]])
