"""Files larger than memory: peak memory and time against the number of rows, and against peers.

    python -m benchmarks.out_of_core [ROUNDS]    # runs what is missing, and writes the pages

Generated rows of 18 columns in Parquet files of a million rows each, 10,000 labels, 100 trees, two
threads. Every run is a process of its own, one after the other. Memory is the peak of anonymous
memory (mapped files do not count, rows in memory do) minus that at the start, seen every 10 ms.
Seconds are those of the whole ``fit``; the time per row leaves out growing the trees, which does
not depend on the rows. The default voters and the paper's algorithm are run once at each size,
trees alone and the forest in three rounds. For the paper's algorithm it is two passes of SGD, and
the AUC on a file that is sorted by its label and on the same file shuffled. Writes sections of
docs/large_data.md and docs/paper.md.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
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
from benchmarks.pages import NOT_RUN, bullets, markdown_table, write_pages
from benchmarks.results_file import (
    FOLDER,
    Key,
    Line,
    read_results,
    run_missing,
    today,
    versions,
)
from benchmarks.timing import calls_timed
from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.io import as_source
from hedgeclipper.paper import PaperHedgeClipper
from hedgeclipper.voters import tree_groups

RESULTS = FOLDER / "out_of_core.csv"
MILLIONS, PEER_MILLIONS = (1, 5, 20), 5
N_LABELED, N_JOBS, N_ROUNDS, N_TREES = 10_000, 2, 3, 100
LABELED_BLOCK = 10**6
N_PASSES, N_SORTED, N_SORTED_LABELED = 2, 500_000, 1_000  # of the paper's algorithm
DEFAULT, TREES = "default voters, from files", "trees, from files"
IN_MEMORY, PEER, PAPER = "trees, in memory", "predict_proba", "paper"
SORTED = ("paper, shuffled", "paper, sorted by label")
# kinds of runs: sizes in rows, and rounds
SIZES = tuple(n * ROWS_PER_BLOCK for n in MILLIONS)
PEER_SIZE = PEER_MILLIONS * ROWS_PER_BLOCK
RUNS = {
    DEFAULT: (SIZES, 1),
    TREES: (SIZES, N_ROUNDS),
    IN_MEMORY: (SIZES[:-1], N_ROUNDS),
    PEER: ((PEER_SIZE,), N_ROUNDS),
    PAPER: (SIZES, 1),
    **dict.fromkeys(SORTED, ((N_SORTED,), 1)),
}


@dataclass(frozen=True)
class Result(Line):
    """What a run took; NaN where it has no such figure. ``draw`` is its round."""

    seconds: float
    growing: float
    megabytes: float
    slack: float
    auc: float
    date: str
    versions: str


def write_files(folder: Path, n_millions: int) -> list[Path]:
    """Return the files, written if they are not there."""
    paths = [folder / f"rows{number:03d}.parquet" for number in range(n_millions)]
    for number, path in enumerate(paths):
        if not path.exists():
            rows, _ = rows_and_labels(number)
            columns = {f"x{k}": rows[:, k] for k in range(rows.shape[1])}
            pq.write_table(pa.table(columns), path, row_group_size=250_000)
    return paths


def child(kind: str, folder: str, n_rows: int) -> dict[str, float]:
    """Run one kind of run in this process and return what it took."""
    paths = write_files(Path(folder), -(-n_rows // ROWS_PER_BLOCK))
    X, y = rows_and_labels(LABELED_BLOCK, N_LABELED)
    warm_up(X, y, paths[0])
    with AnonymousMemory() as memory:
        started = time.perf_counter()
        if kind == PEER:
            grown = RandomForestClassifier(N_TREES, n_jobs=N_JOBS, random_state=0).fit(X, y)
            started = time.perf_counter()
            for batch in as_source(paths, name="rows", dtype=np.float32):
                grown.predict_proba(batch)
            taken = {}
        elif kind == PAPER:
            paper(max_iter=N_PASSES).fit(pd.DataFrame(X).add_prefix("x"), y, X_unlabeled=paths)
            taken = {}
        elif kind in SORTED:
            taken = {"auc": auc_of_one_file(Path(folder), is_sorted=kind == SORTED[1])}
        else:
            rows: Any = paths
            if kind == IN_MEMORY:
                rows = np.concatenate([rows_and_labels(k)[0] for k in range(len(paths))])
                started = time.perf_counter()
            taken = fit(X, y, rows, "default" if kind == DEFAULT else "trees")
        seconds = time.perf_counter() - started
    return {**taken, "seconds": seconds, "megabytes": (memory.peak - memory.first) / 1e6}


def fit(X: np.ndarray, y: np.ndarray, rows: Any, estimators: str) -> dict[str, float]:
    """Return how long trees have grown in a fit, and the slack that it finds."""
    model = HedgeClipperClassifier(estimators, n_estimators=N_TREES, n_jobs=N_JOBS, random_state=0)
    with calls_timed(tree_groups, "_grow") as growing:
        model.fit(X, y, X_unlabeled=rows)
    return {"growing": sum(growing), "slack": float(model.slack_[0])}


def paper(**options: Any) -> PaperHedgeClipper:
    """Return the paper's algorithm, which warns of contradictions between leaves."""
    warnings.simplefilter("ignore")
    return PaperHedgeClipper(n_jobs=N_JOBS, random_state=0, **options)


def auc_of_one_file(folder: Path, is_sorted: bool) -> float:
    """Return the paper's AUC on rows of a file in the order of their labels, or shuffled."""
    X, y = rows_and_labels(LABELED_BLOCK, N_SORTED_LABELED)
    rows, labels = rows_and_labels(0, N_SORTED)
    shuffled = np.random.default_rng(0).permutation(N_SORTED)
    order = np.argsort(labels, kind="stable") if is_sorted else shuffled
    path = folder / "one.parquet"
    pd.DataFrame(rows[order]).add_prefix("x").to_parquet(path)
    fitted = paper().fit(pd.DataFrame(X).add_prefix("x"), y, X_unlabeled=path)
    return float(roc_auc_score(labels[order], fitted.decision_function(path)))


def warm_up(X: np.ndarray, y: np.ndarray, path: str | Path) -> None:
    """Load what is imported on first use, and what is compiled."""
    first = next(iter(as_source(path, name="rows", dtype=np.float32)))[:1000]
    for rows in (first, [first, first]):
        model = HedgeClipperClassifier(n_estimators=8, random_state=0)
        model.fit(X[:500], y[:500], X_unlabeled=rows)
    paper(max_iter=1).fit(X[:500], y[:500], X_unlabeled=first)


def measure(n_rounds: int = N_ROUNDS) -> None:
    """Run what is missing, each in a fresh process."""
    keys = [
        Key(f"{n_rows} rows", N_LABELED, draw, kind)
        for draw in range(n_rounds)
        for kind, (sizes, n_draws) in RUNS.items()
        for n_rows in sizes
        if draw < n_draws
    ]
    with tempfile.TemporaryDirectory() as folder:

        def run(keys: list[Key]) -> list[Result]:
            (key,) = keys
            words = ["child", key.method, folder, key.data.split()[0]]
            command = [sys.executable, "-m", "benchmarks.out_of_core", *words]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            none = dict.fromkeys(("growing", "slack", "auc"), float("nan"))
            taken = none | json.loads(done.stdout.splitlines()[-1])
            return [Result(*key, **taken, date=today(), versions=versions())]

        run_missing(keys, run, RESULTS, Result)


def per_row(runs: Sequence[Result], n_rows: int) -> float:
    """Return the median seconds a row after growing."""
    return float(np.median([run.seconds - np.nan_to_num(run.growing) for run in runs])) / n_rows


def median(runs: Sequence[Result], name: str) -> float:
    return float(np.median([getattr(run, name) for run in runs]))


def render(results: Sequence[Result]) -> str:
    """Return the table of all fits and ratios between them, as Markdown."""
    found: dict[tuple[str, int], list[Result]] = {}
    for result in results:
        found.setdefault((result.method, int(result.data.split()[0])), []).append(result)
    rows = [["run", "million rows", "seconds", "microseconds a row", "MB", "slack"]]
    notes = []
    for kind in (DEFAULT, TREES, IN_MEMORY, PEER):
        of_kind = {n: found[kind, n] for n in RUNS[kind][0] if (kind, n) in found}
        for n, runs in of_kind.items():
            cells = [f"{median(runs, 'seconds'):.1f}", f"{1e6 * per_row(runs, n):.2f}"]
            cells += [f"{median(runs, 'megabytes'):.0f}"] if kind != PEER else [""]
            cells += [f"{runs[0].slack:.4f}"] if kind != PEER else [""]
            rows.append([kind, f"{n // ROWS_PER_BLOCK}", *cells])
        if len(of_kind) > 1 and kind in (DEFAULT, TREES):
            memory = [median(runs, "megabytes") for runs in of_kind.values()]
            times = [per_row(runs, n) for n, runs in of_kind.items()]
            name = kind.partition(",")[0].capitalize()
            notes.append(
                f"{name} from files, largest over smallest: memory "
                f"{max(memory) / min(memory):.2f}, time a row {max(times) / min(times):.2f}"
            )
    if (TREES, PEER_SIZE) in found and (PEER, PEER_SIZE) in found:
        ratio = median(found[TREES, PEER_SIZE], "seconds") / median(
            found[PEER, PEER_SIZE], "seconds"
        )
        notes.append(
            f"Fit of the trees over a random forest's `predict_proba`, {PEER_MILLIONS} million "
            f"rows: {ratio:.2f}"
        )
    return f"{markdown_table(rows)}\n\n{bullets(*notes)}"


def render_paper(results: Sequence[Result]) -> str:
    """Return the figures of the paper's algorithm, as Markdown."""
    rows = [["million rows", "memory of the fit", "seconds", "seconds a million rows and pass"]]
    for run in results:
        if run.method == PAPER:
            n = int(run.data.split()[0]) // ROWS_PER_BLOCK
            cells = [f"{run.megabytes:.0f} MB", f"{run.seconds:.0f}"]
            rows.append([str(n), *cells, f"{run.seconds / n / (N_PASSES + 2):.1f}"])
    rows[1:] = sorted(rows[1:], key=lambda row: int(row[0]))
    aucs = {run.method.removeprefix(f"{PAPER}, "): run.auc for run in results if run.auc == run.auc}
    return (
        f"{N_PASSES} passes of SGD, one to count rows in leaves and one to evaluate the slack; "
        f"100 trees, {N_LABELED:,} labels, two threads.\n\n{markdown_table(rows)}\n\n"
        f"A file of {N_SORTED:,} rows, {N_SORTED_LABELED:,} labels: AUC "
        + ", ".join(f"{value:.4f} {name}" for name, value in aucs.items())
        + "."
    )


def pages() -> dict[str, dict[str, str]]:
    """Return the sections of pages, by page and name."""
    results = read_results(RESULTS, Result)
    has_paper = {PAPER, *SORTED} <= {run.method for run in results}
    return {
        "docs/large_data.md": {"out-of-core": render(results) if results else NOT_RUN},
        "docs/paper.md": {"memory": render_paper(results) if has_paper else NOT_RUN},
    }


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        print(json.dumps(child(sys.argv[2], sys.argv[3], int(sys.argv[4]))))
    else:
        measure(*map(int, sys.argv[1:2]))
        write_pages(pages())
