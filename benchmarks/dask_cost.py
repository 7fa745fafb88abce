"""What a fit on Dask costs, against a model of it, with one worker and with two.

    python -m benchmarks.dask_cost [millions of rows]

Generated rows of 18 columns in partitions of 250,000, a forest of 100 trees grown on 10,000 labels,
worker processes of one thread each on this machine. The parts are timed by themselves: finding and
keeping leaf numbers, and one pass of the game. Writes the tables in docs/dask.md.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import cloudpickle
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait
from sklearn.ensemble import RandomForestClassifier

from benchmarks.generated import N_COLUMNS, rows_and_labels
from benchmarks.pages import DOCS, markdown_table, with_section, write_page
from benchmarks.timing import print_rows
from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.distributed import find_leaves
from hedgeclipper.game.equations import sum_over_rows
from hedgeclipper.game.losses import resolve_loss
from hedgeclipper.rows import BatchCheck
from hedgeclipper.specialists.leaves import LeafSpecialists, leaf_table
from hedgeclipper.specialists.trees import leaf_finder

N_LABELED, ROWS_PER_PARTITION, N_ROUNDS = 10_000, 250_000, 5
LABELED_BLOCK = 10**6
CHECK = BatchCheck("rows", N_COLUMNS, {"dtype": np.float32})
FAR_ROWS, FAR_WORKERS, FAR_PARTITION = 10**10, 100, 10**6
NETWORK_BYTES_PER_SECOND = 10**9


@dataclass(frozen=True)
class Costs:
    """What was measured with some workers."""

    n_workers: int
    n_rows: int
    n_specialists: int
    find: float
    one_pass: float
    whole: float
    n_passes: int
    sent: int
    returned: int

    def find_per_row(self) -> float:
        """Return worker seconds to find the leaves of a row."""
        return self.find * self.n_workers / self.n_rows

    def pass_per_row(self) -> float:
        """Return worker seconds of a row in a pass."""
        return self.one_pass * self.n_workers / self.n_rows


def partition(block_info=None) -> np.ndarray:
    """Return the rows of a partition, made where they are needed."""
    number = block_info[None]["chunk-location"][0]
    return rows_and_labels(number, ROWS_PER_PARTITION)[0]


def generated(n_rows: int):
    chunks = ((ROWS_PER_PARTITION,) * (n_rows // ROWS_PER_PARTITION), (N_COLUMNS,))
    return da.map_blocks(partition, chunks=chunks, dtype=np.float32, meta=np.empty((0, 0), "f4"))


def measure(n_workers: int, n_rows: int) -> Costs:
    """Return what the parts of a fit, and the whole, take with so many workers."""
    X, y = rows_and_labels(LABELED_BLOCK, N_LABELED)
    forest = RandomForestClassifier(100, min_samples_leaf=10, n_jobs=2, random_state=0).fit(X, y)
    finder = leaf_finder(forest)
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
        says = leaf_table(finder, ["leaves"]).awake
        specialists = LeafSpecialists(leaves, finder.offsets, says, np.ones(says.shape[1]))
        theta, loss = np.full(says.shape[1], 0.01), resolve_loss("square")
        seconds = []
        for _ in range(N_ROUNDS):
            started = time.perf_counter()
            sums = sum_over_rows(specialists, theta, loss, 0.1)
            seconds.append(time.perf_counter() - started)
        model = HedgeClipperClassifier(
            RandomForestClassifier(100, min_samples_leaf=10, n_jobs=2, random_state=0),
            random_state=0,
        )
        started = time.perf_counter()
        model.fit(X, y, X_unlabeled=rows)
        whole = time.perf_counter() - started
    sent, returned = (len(cloudpickle.dumps(part)) for part in ((theta, loss), sums))
    return Costs(
        n_workers, n_rows, says.shape[1], find, float(np.median(seconds[1:])), whole,
        model.n_iter_, sent, returned,
    )  # fmt: skip


def measured_table(found: list[Costs]) -> list[list[str]]:
    """Return what was measured, beside what one worker's costs foretell."""
    one = found[0]
    rows = [["workers", "find leaves, s", "foretold", "a pass, s", "foretold", "whole fit, s"]]
    for costs in found:
        foretold = [one.find / costs.n_workers, one.one_pass / costs.n_workers]
        rows.append(
            [
                str(costs.n_workers),
                f"{costs.find:.2f}",
                f"{foretold[0]:.2f}",
                f"{costs.one_pass:.3f}",
                f"{foretold[1]:.3f}",
                f"{costs.whole:.1f}",
            ]
        )
    return rows


def words(one: Costs) -> str:
    """Return the model's constants and what they come to at large."""
    find, one_pass = 1e9 * one.find_per_row(), 1e9 * one.pass_per_row()
    partitions = FAR_ROWS // FAR_PARTITION
    share = FAR_ROWS / FAR_WORKERS
    moved = one.sent * FAR_WORKERS + one.returned * partitions
    seconds_moved = moved / FAR_WORKERS / NETWORK_BYTES_PER_SECOND
    n_passes = one.n_passes + 14
    total = share * (one.find_per_row() + n_passes * one.pass_per_row()) + n_passes * seconds_moved
    return (
        f"Measured with {one.n_rows:,} rows and {one.n_specialists:,} specialists: "
        f"{find:,.0f} s of a worker to find the leaves of 10^9 rows, {one_pass:,.0f} s for a "
        f"pass over them; a pass sends {one.sent:,} bytes to each worker and each partition "
        f"returns {one.returned:,}; the fit took {one.n_passes} passes to a gap of 1 %, and up to "
        "14 more count rows, add up the vote and bound the error.\n\n"
        f"On paper, 10^10 rows on {FAR_WORKERS} workers in partitions of a million: "
        f"{share * 200 / 1e9:.0f} GB of leaf numbers for each worker, {moved / 1e9:.1f} GB moved "
        f"in a pass, most of it between workers in the tree of sums ({seconds_moved:.1f} s at a "
        f"gigabyte a second each), and {total / 60:.0f} minutes in all once the rows can be read."
    )


def main(n_millions: int = 4) -> None:
    print(__doc__)
    found = [measure(n, n_millions * 10**6) for n in (1, 2)]
    table = measured_table(found)
    print_rows([tuple(row) for row in table])
    text = words(found[0])
    print(f"\n{text}")
    path = DOCS / "dask.md"
    page = with_section(path.read_text(encoding="utf-8"), "measured", markdown_table(table))
    write_page(path, with_section(page, "on-paper", text))


if __name__ == "__main__":
    main(*[int(argument) for argument in sys.argv[1:]])
