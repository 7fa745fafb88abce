"""covtype, 581,012 real rows, in three places: memory, Parquet files, two Dask workers.

    python -m benchmarks.covtype_everywhere

1,000 labels, all other rows unlabelled and scored, default settings: AUC by scores and the slack
must be the same, to the gap.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import dask.array as da
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from distributed import Client, LocalCluster
from sklearn.metrics import roc_auc_score

from benchmarks.draws import make_draw
from benchmarks.timing import print_rows
from hedgeclipper import HedgeClipperClassifier

N_LABELS, N_FILES = 1_000, 4


def write_files(rows: np.ndarray, folder: Path) -> None:
    for number, part in enumerate(np.array_split(rows, N_FILES)):
        columns = {f"x{k}": part[:, k] for k in range(part.shape[1])}
        pq.write_table(pa.table(columns), folder / f"part{number}.parquet")


def main() -> None:
    print(__doc__)
    draw = make_draw("covtype", N_LABELS, 0, max_unlabeled=None)
    table = [("place", "AUC", "slack", "gap", "passes", "seconds")]

    def fit(place: str, rows) -> None:
        started = time.perf_counter()
        model = HedgeClipperClassifier(n_jobs=2, random_state=0)
        model.fit(draw.X, draw.y, X_unlabeled=rows)
        seconds = time.perf_counter() - started
        scores = np.asarray(model.decision_function(rows))
        auc = roc_auc_score(draw.y_scored, scores)
        cells = [f"{auc:.6f}", f"{model.slack_:.6f}", f"{model.duality_gap_:.6f}"]
        table.append((place, *cells, str(model.n_iter_), f"{seconds:.1f}"))

    fit("memory", draw.X_unlabeled)
    with tempfile.TemporaryDirectory() as folder:
        write_files(draw.X_unlabeled, Path(folder))
        fit("Parquet", folder)
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, Client(cluster):
        fit("two Dask workers", da.from_array(draw.X_unlabeled, chunks=(100_000, -1)))
    print_rows(table)


if __name__ == "__main__":
    main()
