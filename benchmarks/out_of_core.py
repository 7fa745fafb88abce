"""Files larger than memory: peak memory and time against the number of rows, and against peers.

    python -m benchmarks.out_of_core [millions of rows ...]

Generated rows of 18 columns in Parquet files of a million rows each, 100 trees and no other
voters (``estimators="trees"``), grown on 10,000 labels, two threads. Every run is a process of its
own, interleaved. Memory is the peak of anonymous memory (mapped files do not count, rows in memory
do) minus that at the start of the process, seen every 10 ms. Seconds are those of the whole
``fit``; the time per row leaves out growing the trees, which does not depend on the rows. Writes
the section in docs/large_data.md.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.ensemble import RandomForestClassifier

from benchmarks.generated import ROWS_PER_BLOCK, rows_and_labels
from benchmarks.memory import AnonymousMemory
from benchmarks.pages import DOCS, bullets, markdown_table, write_sections
from benchmarks.timing import calls_timed
from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.io import as_source
from hedgeclipper.voters import tree_groups

MILLIONS = (1, 5, 20)
N_LABELED, N_JOBS, N_ROUNDS, N_TREES = 10_000, 2, 3, 100
LABELED_BLOCK = 10**6
PEER_MILLIONS = 5
Found = dict[tuple[str, int], list[dict]]  # kind of run and millions of rows -> what each took


def write_files(folder: Path, n_millions: int) -> list[Path]:
    """Return the files, written if they are not there."""
    paths = [folder / f"rows{number:03d}.parquet" for number in range(n_millions)]
    for number, path in enumerate(paths):
        if not path.exists():
            rows, _ = rows_and_labels(number)
            columns = {f"x{k}": rows[:, k] for k in range(rows.shape[1])}
            pq.write_table(pa.table(columns), path, row_group_size=250_000)
    return paths


def child(kind: str, folder: str, n_millions: int) -> dict:
    """Run one kind of run in this process and return what it took."""
    paths = [Path(folder) / f"rows{number:03d}.parquet" for number in range(n_millions)]
    with AnonymousMemory() as memory:
        X, y = rows_and_labels(LABELED_BLOCK, N_LABELED)
        warm_up(X, y, paths[0])
        if kind == "predict_proba":
            return {"seconds": seconds_to_predict(X, y, paths)}
        rows = paths
        if kind == "in memory":
            rows = np.concatenate([rows_and_labels(number)[0] for number in range(n_millions)])
        taken = fit(X, y, rows)
    return {**taken, "bytes": memory.peak - memory.first}


def seconds_to_predict(X: np.ndarray, y: np.ndarray, paths: list[Path]) -> float:
    """Return what scikit-learn's forest takes to predict for all rows of the files."""
    grown = RandomForestClassifier(N_TREES, n_jobs=N_JOBS, random_state=0).fit(X, y)
    started = time.perf_counter()
    for batch in as_source(paths, name="rows", dtype=np.float32):
        grown.predict_proba(batch)
    return time.perf_counter() - started


def fit(X: np.ndarray, y: np.ndarray, rows: Any) -> dict:
    """Return what a fit takes, and what it finds."""
    model = HedgeClipperClassifier("trees", n_estimators=N_TREES, n_jobs=N_JOBS, random_state=0)
    with calls_timed(tree_groups, "_grow") as growing:
        started = time.perf_counter()
        model.fit(X, y, X_unlabeled=rows)
        seconds = time.perf_counter() - started
    return {"seconds": seconds, "growing": sum(growing), "slack": model.slack_[0]}


def warm_up(X: np.ndarray, y: np.ndarray, path: str | Path) -> None:
    """Load what is imported on first use, and what is compiled."""
    first = next(iter(as_source(path, name="rows", dtype=np.float32)))[:1000]
    for rows in (first, [first, first]):
        model = HedgeClipperClassifier("trees", n_estimators=8, random_state=0)
        model.fit(X[:500], y[:500], X_unlabeled=rows)


def run(kind: str, folder: Path, n_millions: int) -> dict:
    """Return what a run in a fresh process took."""
    command = [sys.executable, "-m", "benchmarks.out_of_core", "child", kind, str(folder)]
    done = subprocess.run([*command, str(n_millions)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main(*millions: int) -> None:
    print(__doc__)
    millions = millions or MILLIONS
    peer = peer_of(millions)
    runs = [("from files", n) for n in millions]
    runs += [("in memory", n) for n in millions if n <= PEER_MILLIONS]
    runs.append(("predict_proba", peer))
    found: Found = {run: [] for run in runs}
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), max(millions))
        for _ in range(N_ROUNDS):
            for kind, n in runs:
                found[kind, n].append(run(kind, Path(folder), n))
    text = render(found, peer)
    print(text)
    write_sections(DOCS / "large_data.md", {"out-of-core": text})


def peer_of(millions: Sequence[int]) -> int:
    """Return the millions of rows for the forest's own predictions: the most that are not many."""
    return max((n for n in millions if n <= PEER_MILLIONS), default=min(millions))


def per_row(runs: list[dict], n_millions: int) -> float:
    """Return the median seconds a row after growing."""
    seconds = np.median([run["seconds"] - run.get("growing", 0.0) for run in runs])
    return float(seconds) / (n_millions * ROWS_PER_BLOCK)


def render(found: Found, peer: int) -> str:
    """Return the table of all runs and ratios between them, as Markdown."""
    rows = [["run", "million rows", "seconds", "microseconds a row", "MB anonymous", "slack"]]
    for (kind, n), runs in found.items():
        has_fit = "slack" in runs[0]
        cells = [f"{median(runs, 'seconds'):.2f}", f"{1e6 * per_row(runs, n):.3f}"]
        cells.append(f"{median(runs, 'bytes') / 1e6:.0f}" if has_fit else "")
        cells.append(f"{runs[0]['slack']:.5f}" if has_fit else "")
        rows.append([kind, str(n), *cells])
    files = {n: runs for (kind, n), runs in found.items() if kind == "from files"}
    memory = [median(runs, "bytes") for runs in files.values()]
    times = [per_row(runs, n) for n, runs in files.items()]
    ratio = median(files[peer], "seconds") / median(found["predict_proba", peer], "seconds")
    return (
        markdown_table(rows)
        + "\n\n"
        + bullets(
            f"memory from files, largest over smallest: {max(memory) / min(memory):.3f}",
            f"time a row from files, largest over smallest: {max(times) / min(times):.3f}",
            f"time over the forest's `predict_proba`, {peer} million rows: {ratio:.2f}",
        )
    )


def median(runs: list[dict], name: str) -> float:
    return float(np.median([run[name] for run in runs]))


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        print(json.dumps(child(sys.argv[2], sys.argv[3], int(sys.argv[4]))))
    else:
        main(*[int(argument) for argument in sys.argv[1:]])
