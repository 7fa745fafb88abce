"""A million rows: VoteAggregator, Snorkel's LabelModel and crowd-kit's DawidSkene in one run.

    python -m benchmarks.votes.speed            # part of make votes-table
    python -m benchmarks.votes.speed --once     # all again, printed only: part of make bench

1,000,000 generated rows and 100 voters, a tenth of which is awake on a row and right with a
probability between 0.55 and 0.95; two classes, 1,000 gold labels. Every run is a fresh process that
has dealt with a few other rows before; the methods take turns, one at a time, three rounds.
All methods start from the same sparse matrix. Each turns it into its own form (for LabelModel a
dense matrix, for DawidSkene a long table, for VoteAggregator the same matrix with other codes),
which is timed apart; memory counts from reading the matrix on. What is in the results file already
is not run again.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from benchmarks.generated import sparse_votes
from benchmarks.results_file import Key, read_results, today
from benchmarks.run_table import run_all
from benchmarks.votes.methods import ON_A_MILLION_ROWS
from benchmarks.votes.peer import run_peer
from benchmarks.votes.results import SPEED, VoteResult
from benchmarks.votes.run_votes import accuracy_and_loss, check_ready

N_ROWS, N_VOTERS, N_AWAKE, N_LABELS, N_ROUNDS = 1_000_000, 100, 10, 1_000, 3
BEST = 0.95


class Task(NamedTuple):
    """One run."""

    n_rows: int
    round: int
    method: str

    @property
    def key(self) -> Key:
        """Return the key of its result."""
        return Key(f"{self.n_rows} rows", N_LABELS, self.round, self.method)


def generate(n_rows: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Return votes, class numbers plus one, and the hidden labels."""
    made = sparse_votes(n_rows, N_VOTERS, N_AWAKE, best=BEST)
    votes = made.votes
    codes = np.where(votes.data > 0, 2, 1).astype(np.int8)
    L = sparse.csr_array((codes, votes.indices, votes.indptr), shape=votes.shape)
    return L, (made.labels > 0).astype(np.int64)


def run_task(task: Task) -> list[VoteResult]:
    """Return what one run took, and its accuracy on the rows without a label."""
    L, y = generate(task.n_rows)
    gold = np.where(np.arange(y.size) < N_LABELS, y, -1)
    outcome = run_peer(task.method, L, gold, 2, task.round, is_warm=True)
    figures = accuracy_and_loss(
        y[N_LABELS:], outcome.probabilities[N_LABELS:], outcome.labels[N_LABELS:]
    )
    return [
        VoteResult(
            *task.key, *figures, y.size, y.size - N_LABELS,
            round(outcome.seconds, 3), round(outcome.conversion_seconds, 3),
            round(outcome.peak_mb, 1), outcome.reason, today(), outcome.versions,
        )
    ]  # fmt: skip


def run(n_rows: int, path: Path) -> None:
    """Run what is not in the file, and print what it then says."""
    done = {result.key for result in read_results(path, VoteResult)}
    tasks = [Task(n_rows, turn, name) for turn in range(N_ROUNDS) for name in ON_A_MILLION_ROWS]
    run_all(run_task, [task for task in tasks if task.key not in done], path, 1, VoteResult)
    for result in read_results(path, VoteResult):
        both = result.seconds + result.conversion_seconds
        print(f"{result.method}: {both:.2f} s, {result.peak_mb:.0f} MB")


def main(arguments: list[str] | None = None) -> None:
    print(__doc__)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=N_ROWS)
    parser.add_argument("--results", type=Path, default=SPEED, help="CSV file of the results")
    parser.add_argument("--once", action="store_true", help="run all again, and keep nothing")
    options = parser.parse_args(arguments)
    check_ready((), ON_A_MILLION_ROWS)
    with tempfile.TemporaryDirectory() as folder:
        run(options.rows, Path(folder) / SPEED.name if options.once else options.results)


if __name__ == "__main__":
    main()
