"""Memory of the paper's algorithm against the number of rows: SGD on Parquet files, out of core.

    python -m benchmarks.paper_memory [millions of rows ...]

Generated rows of 18 columns in files of a million rows each, 100 trees grown on 10,000 labels, two
passes. Each size is a process of its own. Memory is the peak of anonymous memory less that at the
start of the fit. Also the AUC on a file that is sorted by its label and on the same file shuffled.
Writes the section in docs/paper.md.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks.generated import rows_and_labels
from benchmarks.memory import AnonymousMemory
from benchmarks.out_of_core import LABELED_BLOCK, N_LABELED, write_files
from benchmarks.pages import DOCS, markdown_table, write_sections
from hedgeclipper.paper import ContradictoryCorrelationsWarning, PaperHedgeClipper

MILLIONS = (1, 5, 20)
N_PASSES, N_SORTED = 2, 500_000


def model(max_iter: int | None = None) -> PaperHedgeClipper:
    warnings.simplefilter("ignore", ContradictoryCorrelationsWarning)
    return PaperHedgeClipper(max_iter=max_iter, n_jobs=2, random_state=0)


def labeled_rows() -> tuple[pd.DataFrame, np.ndarray]:
    X, y = rows_and_labels(LABELED_BLOCK, N_LABELED)
    return pd.DataFrame(X).add_prefix("x"), y


def child(folder: str, n_millions: int) -> dict:
    """Fit to so many files in this process and return what it took."""
    paths = [Path(folder) / f"rows{number:03d}.parquet" for number in range(n_millions)]
    X, y = labeled_rows()
    model(1).fit(X[:500], y[:500], X_unlabeled=X[500:1000].to_numpy())  # compile the kernels
    started = time.perf_counter()
    with AnonymousMemory() as memory:
        model(N_PASSES).fit(X, y, X_unlabeled=paths)
    return {"seconds": time.perf_counter() - started, "bytes": memory.peak - memory.first}


def auc_of_sorted_file(folder: Path) -> dict[str, float]:
    """Return the AUC on rows of a file in the order of their labels, and in random order."""
    X, y = labeled_rows()
    rows, labels = rows_and_labels(0, N_SORTED)
    found = {}
    for name, order in {
        "shuffled": np.random.default_rng(0).permutation(N_SORTED),
        "sorted by label": np.argsort(labels, kind="stable"),
    }.items():
        path = folder / "one.parquet"
        pd.DataFrame(rows[order]).add_prefix("x").to_parquet(path)
        fitted = model().fit(X[:1000], y[:1000], X_unlabeled=path)
        found[name] = float(roc_auc_score(labels[order], fitted.decision_function(path)))
    return found


def main(millions: list[int]) -> None:
    lines = [["million rows", "memory of the fit", "seconds", "seconds a million rows and pass"]]
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), max(millions))
        for n in millions:
            command = [sys.executable, "-m", "benchmarks.paper_memory", "--child", folder, str(n)]
            taken = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            cells = [f"{taken['bytes'] / 1e6:.0f} MB", f"{taken['seconds']:.0f}"]
            lines.append([str(n), *cells, f"{taken['seconds'] / n / (N_PASSES + 2):.1f}"])
            print(lines[-1])
        aucs = auc_of_sorted_file(Path(folder))
    print(aucs)
    text = (
        f"{N_PASSES} passes of SGD, one to count rows in leaves and one to evaluate the slack; "
        f"100 trees, {N_LABELED:,} labels, two threads.\n\n{markdown_table(lines)}\n\n"
        f"A file of {N_SORTED:,} rows, {1_000:,} labels: AUC "
        + ", ".join(f"{value:.4f} {name}" for name, value in aucs.items())
        + "."
    )
    write_sections(DOCS / "paper.md", {"memory": text})


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(child(sys.argv[2], int(sys.argv[3]))))
    else:
        main([int(n) for n in sys.argv[1:]] or list(MILLIONS))
