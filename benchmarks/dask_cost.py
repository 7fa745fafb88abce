"""Time of a game of leaves on Dask with one and two workers, compared with a cost model.

    python -m benchmarks.dask_cost [millions of rows]

Generated rows of 18 columns in partitions of 250,000, a forest of 100 trees grown on 10,000 labels,
worker processes of one thread each on this machine. The parts are timed by themselves: finding and
keeping leaf numbers, one pass of the game (`LeafGame`), and a pass over tiny partitions, which
shows the fixed cost of a partition. Then the whole fit is timed and its passes are counted. Writes
the tables in docs/dask.md.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from functools import partial

import cloudpickle
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait
from sklearn.ensemble import RandomForestClassifier

import hedgeclipper.forest.growing
from benchmarks.generated import N_COLUMNS, rows_and_labels
from benchmarks.pages import DOCS, markdown_table, write_sections
from benchmarks.timing import calls_timed, interleaved, print_rows
from hedgeclipper import HedgeClipperClassifier, LeafGame
from hedgeclipper.base.semi_supervised import BatchCheck
from hedgeclipper.forest.dask_leaves import DaskLeaves, find_leaves
from hedgeclipper.forest.leaves import LeafSpecialists, leaf_table
from hedgeclipper.forest.trees import leaf_finder
from hedgeclipper.game.equations import block_sums
from hedgeclipper.game.losses import resolve_loss

N_LABELED, ROWS_PER_PARTITION, N_ROUNDS = 10_000, 250_000, 5
LABELED_BLOCK = 10**6
N_TINY = 200
CHECK = BatchCheck("rows", N_COLUMNS, {"dtype": np.float32})
FAR_ROWS, FAR_WORKERS, FAR_PARTITION = 10**10, 100, 10**6
NETWORK_BYTES_PER_SECOND = 10**9


@dataclass(frozen=True)
class Costs:
    """What was measured with some workers, in seconds and bytes."""

    n_workers: int
    n_rows: int
    n_specialists: int
    find: float
    one_pass: float
    one_partition: float
    growing: float
    whole: float
    n_iter: int
    sent: int
    returned: int

    @property
    def find_per_row(self) -> float:
        """Worker seconds to find the leaves of a row."""
        return self.find * self.n_workers / self.n_rows

    @property
    def pass_per_row(self) -> float:
        """Worker seconds of a row in a pass, without the fixed cost of its partition."""
        n_partitions = self.n_rows / ROWS_PER_PARTITION
        rows_only = self.one_pass - n_partitions * self.one_partition
        return max(rows_only, 0.0) * self.n_workers / self.n_rows

    def expected(self, n_rows: int, n_workers: int, n_partitions: int) -> tuple[float, float]:
        """Return the seconds that finding leaves and one pass should take."""
        rows_each = n_rows / n_workers
        return rows_each * self.find_per_row, (
            rows_each * self.pass_per_row + n_partitions * self.one_partition
        )


def partition(block_info=None) -> np.ndarray:
    """Return the rows of a partition, made where they are needed."""
    number = block_info[None]["chunk-location"][0]
    return rows_and_labels(number, ROWS_PER_PARTITION)[0]


def generated(n_rows: int):
    chunks = ((ROWS_PER_PARTITION,) * (n_rows // ROWS_PER_PARTITION), (N_COLUMNS,))
    return da.map_blocks(partition, chunks=chunks, dtype=np.float32, meta=np.empty((0, 0), "f4"))


def forest() -> RandomForestClassifier:
    return RandomForestClassifier(100, min_samples_leaf=10, n_jobs=2, random_state=0)


def measure(n_workers: int, n_rows: int) -> Costs:
    """Return what the parts of a fit, and the whole, take with so many workers."""
    X, y = rows_and_labels(LABELED_BLOCK, N_LABELED)
    finder = leaf_finder(forest().fit(X, y))
    votes = leaf_table(finder, ["leaves"]).awake
    theta, loss = np.full(votes.shape[1], 0.01), resolve_loss("square")
    cluster = LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, Client(cluster):
        rows = generated(n_rows).persist()
        wait(rows)
        # loads what is compiled, on all workers
        find_leaves(finder, generated(4 * n_workers * ROWS_PER_PARTITION), None, CHECK).close()
        started = time.perf_counter()
        leaves = find_leaves(finder, rows, None, CHECK)
        find = time.perf_counter() - started
        tiny = find_leaves(finder, rows[: N_TINY * 10].rechunk((10, -1)), None, CHECK)

        def one_pass(kept: DaskLeaves) -> np.ndarray:
            specialists = LeafSpecialists(kept, finder.offsets, votes, np.ones(votes.shape[1]))
            return specialists.sum_blocks(partial(block_sums, theta=theta, loss=loss, eps=0.1))

        passes = {"all": partial(one_pass, leaves), "tiny": partial(one_pass, tiny)}
        seconds = interleaved(passes, N_ROUNDS)
        model = HedgeClipperClassifier(forest(), game=LeafGame(), random_state=0)
        with (
            calls_timed(DaskLeaves, "sum_blocks") as n_iter,
            calls_timed(hedgeclipper.forest.growing, "_fit") as growing,
        ):
            started = time.perf_counter()
            model.fit(X, y, X_unlabeled=rows)
            whole = time.perf_counter() - started
        returned = len(cloudpickle.dumps(one_pass(tiny)))
    return Costs(
        n_workers=n_workers,
        n_rows=n_rows,
        n_specialists=votes.shape[1],
        find=find,
        one_pass=seconds["all"],
        one_partition=seconds["tiny"] / N_TINY,
        growing=sum(growing),
        whole=whole,
        n_iter=len(n_iter),
        sent=len(cloudpickle.dumps((theta, loss))),
        returned=returned,
    )


def measured_table(found: list[Costs]) -> list[list[str]]:
    """Return what was measured, beside what is expected from one worker's costs."""
    one = found[0]
    rows = [
        [
            "workers",
            "find leaves, s",
            "expected",
            "a pass, s",
            "expected",
            "whole fit, s",
            "expected",
        ]
    ]
    for costs in found:
        n_partitions = costs.n_rows // ROWS_PER_PARTITION
        find, one_pass = one.expected(costs.n_rows, costs.n_workers, n_partitions)
        whole = costs.growing + find + costs.n_iter * one_pass
        measured = [f"{costs.find:.2f}", f"{costs.one_pass:.3f}", f"{costs.whole:.1f}"]
        expected = [f"{find:.2f}", f"{one_pass:.3f}", f"{whole:.1f}"]
        pairs = zip(measured, expected, strict=True)
        rows.append([str(costs.n_workers), *[cell for pair in pairs for cell in pair]])
    return rows


def describe(one: Costs) -> str:
    """Return the constants of the cost model and what they predict for 10^10 rows."""
    partitions = FAR_ROWS // FAR_PARTITION
    find, one_pass = one.expected(FAR_ROWS, FAR_WORKERS, partitions)
    moved = one.sent * FAR_WORKERS + one.returned * partitions
    seconds_moved = moved / FAR_WORKERS / NETWORK_BYTES_PER_SECOND
    total = find + one.n_iter * (one_pass + seconds_moved)
    return (
        f"Measured with {one.n_rows:,} rows and {one.n_specialists:,} specialists: "
        f"{1e9 * one.find_per_row:,.0f} worker seconds to find the leaves of 10^9 rows, "
        f"{1e9 * one.pass_per_row:,.0f} s for a pass over them, and "
        f"{1e3 * one.one_partition:.1f} ms for each partition in a pass. A pass sends "
        f"{one.sent:,} bytes to each worker and each partition returns "
        f"{one.returned:,}. The fit took {one.n_iter} passes, including those that count "
        "rows, add up the vote and bound the error; steps on a sample run on the client.\n\n"
        f"Extrapolated to 10^10 rows on {FAR_WORKERS} workers in {partitions:,} partitions of a "
        f"million: {FAR_ROWS / FAR_WORKERS * 200 / 1e9:.0f} GB of leaf numbers for each worker; "
        f"{find / 60:.0f} minutes to find them; {one_pass:.0f} s for a pass, of which "
        f"{partitions * one.one_partition:.0f} s are overhead of partitions, counted as if the "
        f"scheduler did it all serially; {moved / 1e9:.1f} GB moved, most "
        "of it between workers in the tree of sums "
        f"({seconds_moved:.2f} s at a gigabyte a second each); {total / 60:.0f} minutes in all, "
        "not counting the time to read the rows."
    )


def main(n_millions: int = 4) -> None:
    print(__doc__)
    found = [measure(n, n_millions * 10**6) for n in (1, 2)]
    table = measured_table(found)
    print_rows([tuple(row) for row in table])
    text = describe(found[0])
    print(f"\n{text}")
    path = DOCS / "dask.md"
    write_sections(path, {"measured": markdown_table(table), "extrapolated": text})


if __name__ == "__main__":
    main(*[int(argument) for argument in sys.argv[1:]])
