"""Files larger than memory: peak memory and time against the number of rows, and against peers.

    python -m benchmarks.out_of_core [millions of rows ...]
    python -m benchmarks.out_of_core paper [millions of rows ...]

Generated rows of 18 columns in Parquet files of a million rows each, 10,000 labels, 100 trees, two
threads. Every run is a process of its own, interleaved. Memory is the peak of anonymous memory
(mapped files do not count, rows in memory do) minus that at the start, seen every 10 ms. Seconds
are those of the whole ``fit``; the time per row leaves out growing the trees, which does not depend
on the rows. The default voters are run once at each size, trees alone and the forest three times.
Writes the section in docs/large_data.md. For the paper's algorithm it is two passes of SGD, and the
AUC on a file that is sorted by its label and on the same file shuffled, for docs/paper.md.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from benchmarks.generated import ROWS_PER_BLOCK, rows_and_labels
from benchmarks.memory import AnonymousMemory
from benchmarks.pages import DOCS, bullets, markdown_table, write_sections
from benchmarks.timing import calls_timed
from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.io import as_source
from hedgeclipper.paper import PaperHedgeClipper
from hedgeclipper.voters import tree_groups

MILLIONS = (1, 5, 20)
N_LABELED, N_JOBS, N_ROUNDS, N_TREES = 10_000, 2, 3, 100
LABELED_BLOCK = 10**6
PEER_MILLIONS = 5
N_PASSES, N_SORTED = 2, 500_000  # of the paper's algorithm
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
    X, y = rows_and_labels(LABELED_BLOCK, N_LABELED)
    warm_up(X, y, paths[0])
    with AnonymousMemory() as memory:
        started = time.perf_counter()
        if kind == "predict_proba":
            grown = RandomForestClassifier(N_TREES, n_jobs=N_JOBS, random_state=0).fit(X, y)
            started = time.perf_counter()
            for batch in as_source(paths, name="rows", dtype=np.float32):
                grown.predict_proba(batch)
            taken = {}
        elif kind == "paper":
            paper(max_iter=N_PASSES).fit(pd.DataFrame(X).add_prefix("x"), y, X_unlabeled=paths)
            taken = {}
        else:
            rows: Any = paths
            if kind == "trees, in memory":
                rows = np.concatenate([rows_and_labels(number)[0] for number in range(n_millions)])
                started = time.perf_counter()
            taken = fit(X, y, rows, "trees" if kind.startswith("trees") else "default")
        seconds = time.perf_counter() - started
    return {**taken, "seconds": seconds, "bytes": memory.peak - memory.first}


def fit(X: np.ndarray, y: np.ndarray, rows: Any, estimators: str) -> dict:
    """Return how long trees have grown in a fit, and the slack that it finds."""
    model = HedgeClipperClassifier(estimators, n_estimators=N_TREES, n_jobs=N_JOBS, random_state=0)
    with calls_timed(tree_groups, "_grow") as growing:
        model.fit(X, y, X_unlabeled=rows)
    return {"growing": sum(growing), "slack": model.slack_[0]}


def paper(**options: Any) -> PaperHedgeClipper:
    """Return the paper's algorithm, which warns of contradictions between leaves."""
    warnings.simplefilter("ignore")
    return PaperHedgeClipper(n_jobs=N_JOBS, random_state=0, **options)


def warm_up(X: np.ndarray, y: np.ndarray, path: str | Path) -> None:
    """Load what is imported on first use, and what is compiled."""
    first = next(iter(as_source(path, name="rows", dtype=np.float32)))[:1000]
    for rows in (first, [first, first]):
        model = HedgeClipperClassifier(n_estimators=8, random_state=0)
        model.fit(X[:500], y[:500], X_unlabeled=rows)
    paper(max_iter=1).fit(X[:500], y[:500], X_unlabeled=first)


def run(kind: str, folder: Path, n_millions: int) -> dict:
    """Return what a run in a fresh process took."""
    command = [sys.executable, "-m", "benchmarks.out_of_core", "child", kind, str(folder)]
    done = subprocess.run([*command, str(n_millions)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def measure_memory(*millions: int) -> None:
    """Run the classifier and the forest, and write the page."""
    print(__doc__)
    peer = peer_of(millions)
    runs = [("trees, from files", n) for n in millions]
    runs += [("trees, in memory", n) for n in millions if n <= PEER_MILLIONS]
    runs.append(("predict_proba", peer))
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), max(millions))
        found: Found = {
            (kind, n): [run(kind, Path(folder), n)]
            for kind, n in [("default voters, from files", n) for n in millions]
        } | {run: [] for run in runs}
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
    lines = []
    for name in ("trees", "default voters"):
        files = {n: runs for (kind, n), runs in found.items() if kind == f"{name}, from files"}
        if files:
            memory = [median(runs, "bytes") for runs in files.values()]
            times = [per_row(runs, n) for n, runs in files.items()]
            lines += [
                f"{name}, memory from files, largest over smallest: "
                f"{max(memory) / min(memory):.3f}",
                f"{name}, time a row from files, largest over smallest: "
                f"{max(times) / min(times):.3f}",
            ]
    ours = median(found["trees, from files", peer], "seconds")
    ratio = ours / median(found["predict_proba", peer], "seconds")
    lines.append(f"time over the forest's `predict_proba`, {peer} million rows: {ratio:.2f}")
    return f"{markdown_table(rows)}\n\n{bullets(*lines)}"


def median(runs: list[dict], name: str) -> float:
    return float(np.median([run[name] for run in runs]))


def auc_of_sorted_file(folder: Path) -> dict[str, float]:
    """Return the paper's AUC on rows of a file in the order of their labels, and shuffled."""
    X, y = rows_and_labels(LABELED_BLOCK, 1_000)
    rows, labels = rows_and_labels(0, N_SORTED)
    found = {}
    for name, order in {
        "shuffled": np.random.default_rng(0).permutation(N_SORTED),
        "sorted by label": np.argsort(labels, kind="stable"),
    }.items():
        path = folder / "one.parquet"
        pd.DataFrame(rows[order]).add_prefix("x").to_parquet(path)
        fitted = paper().fit(pd.DataFrame(X).add_prefix("x"), y, X_unlabeled=path)
        found[name] = float(roc_auc_score(labels[order], fitted.decision_function(path)))
    return found


def measure_paper(*millions: int) -> None:
    """Run the paper's algorithm, and write its section."""
    lines = [["million rows", "memory of the fit", "seconds", "seconds a million rows and pass"]]
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), max(millions))
        for n in millions:
            taken = run("paper", Path(folder), n)
            cells = [f"{taken['bytes'] / 1e6:.0f} MB", f"{taken['seconds']:.0f}"]
            lines.append([str(n), *cells, f"{taken['seconds'] / n / (N_PASSES + 2):.1f}"])
            print(lines[-1])
        aucs = auc_of_sorted_file(Path(folder))
    text = (
        f"{N_PASSES} passes of SGD, one to count rows in leaves and one to evaluate the slack; "
        f"100 trees, {N_LABELED:,} labels, two threads.\n\n{markdown_table(lines)}\n\n"
        f"A file of {N_SORTED:,} rows, {1_000:,} labels: AUC "
        + ", ".join(f"{value:.4f} {name}" for name, value in aucs.items())
        + "."
    )
    write_sections(DOCS / "paper.md", {"memory": text})


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        print(json.dumps(child(sys.argv[2], sys.argv[3], int(sys.argv[4]))))
    else:
        is_paper = sys.argv[1:2] == ["paper"]
        sizes = [int(argument) for argument in sys.argv[1 + is_paper :]] or MILLIONS
        (measure_paper if is_paper else measure_memory)(*sizes)
