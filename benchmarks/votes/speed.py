"""A million rows: VoteAggregator, Snorkel's LabelModel and crowd-kit's DawidSkene in one run.

    python -m benchmarks.votes.speed                                 # part of make votes-table
    python -m benchmarks.votes.speed --again --results speed.csv     # part of make bench

1,000,000 generated rows and 100 voters, a tenth of which is awake on a row and right with a
probability between 0.55 and 0.95; two classes, 1,000 gold labels. Every run is a fresh process that
has dealt with a few other rows before; the methods take turns, one at a time, three rounds.
All methods start from the same sparse matrix. Each turns it into its own form (for LabelModel a
dense matrix, for DawidSkene a long table, for VoteAggregator the same matrix with other codes),
which is timed apart. What is in the results file already is not run again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from scipy import sparse

from benchmarks.generated import sparse_votes
from benchmarks.results_file import FOLDER, Key, read_options, run_missing, today
from benchmarks.votes.methods import METHODS, ON_A_MILLION_ROWS, VoteResult
from benchmarks.votes.peers.peer import Setting
from benchmarks.votes.run_votes import accuracy_and_loss, check_ready, costs

SPEED = FOLDER / "votes_speed.csv"
N_ROWS, N_VOTERS, N_AWAKE, N_LABELS, N_ROUNDS = 1_000_000, 100, 10, 1_000, 3
BEST = 0.95


@cache
def generate(n_rows: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Return votes, class numbers plus one, and the hidden labels."""
    made = sparse_votes(n_rows, N_VOTERS, N_AWAKE, best=BEST)
    votes = made.votes
    codes = np.where(votes.data > 0, 2, 1).astype(np.int8)
    L = sparse.csr_array((codes, votes.indices, votes.indptr), shape=votes.shape)
    return L, (made.labels > 0).astype(np.int64)


def run_keys(keys: Sequence[Key]) -> list[VoteResult]:
    """Return what one run took, and its accuracy on the rows without a label."""
    (key,) = keys
    L, y = generate(int(key.data.split()[0]))
    gold = np.where(np.arange(y.size) < N_LABELS, y, -1)
    outcome = METHODS[key.method].run_apart(L, Setting(gold, 2, key.draw), is_warm=True)
    figures = accuracy_and_loss(
        y[N_LABELS:], outcome.probabilities[N_LABELS:], outcome.labels[N_LABELS:]
    )
    sizes = y.size, y.size - N_LABELS
    ends = *costs(outcome), outcome.reason, today(), outcome.versions
    return [VoteResult(*key, *figures, *sizes, *ends)]


def main(n_rows: int = N_ROWS) -> None:
    print(__doc__)
    options = read_options(__doc__, ON_A_MILLION_ROWS)
    check_ready((), options.methods)
    draws = range(options.draws or N_ROUNDS)
    keys = [
        Key(f"{n_rows} rows", N_LABELS, draw, name) for draw in draws for name in options.methods
    ]
    path = options.results or SPEED
    for result in run_missing(keys, run_keys, path, VoteResult, again=options.again):
        both = result.seconds + result.conversion_seconds
        print(f"{result.method}: {both:.2f} s, {result.peak_mb:.0f} MB")


if __name__ == "__main__":
    main()
