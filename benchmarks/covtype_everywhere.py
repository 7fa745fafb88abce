"""covtype, 581,012 real rows, in three places: memory, Parquet files, two Dask workers.

    python -m benchmarks.covtype_everywhere

1,000 labels, all other rows unlabeled and scored, default settings: AUC by scores must be the same
to three digits, and the slack to the gap. Writes the section in docs/large_data.md.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import dask.array as da
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from distributed import Client, LocalCluster
from sklearn.metrics import roc_auc_score

from benchmarks.draws import make_draw
from benchmarks.pages import DOCS, markdown_table, write_sections
from hedgeclipper import HedgeClipperClassifier

N_LABELS, N_FILES = 1_000, 4


@dataclass(frozen=True)
class Fit:
    """What a fit on rows in some place came to."""

    place: str
    auc: float
    slack: float
    gap: float
    n_iter: int
    seconds: float


def write_files(rows: np.ndarray, folder: Path) -> None:
    for number, part in enumerate(np.array_split(rows, N_FILES)):
        columns = {f"x{k}": part[:, k] for k in range(part.shape[1])}
        pq.write_table(pa.table(columns), folder / f"part{number}.parquet")


def main() -> None:
    print(__doc__)
    draw = make_draw("covtype", N_LABELS, 0, max_unlabeled=None)
    fits: list[Fit] = []

    def fit(place: str, rows) -> None:
        started = time.perf_counter()
        model = HedgeClipperClassifier(n_jobs=2, random_state=0)
        model.fit(draw.X, draw.y, X_unlabeled=rows)
        seconds = time.perf_counter() - started
        scores = np.asarray(model.decision_function(rows))
        auc = roc_auc_score(draw.y_scored, scores)
        (slack,), (gap,), (n_iter,) = model.slack_, model.duality_gap_, model.n_iter_
        fits.append(Fit(place, auc, slack, gap, n_iter, seconds))

    fit("memory", draw.X_unlabeled)
    with tempfile.TemporaryDirectory() as folder:
        write_files(draw.X_unlabeled, Path(folder))
        fit("Parquet", folder)
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, Client(cluster):
        fit("two Dask workers", da.from_array(draw.X_unlabeled, chunks=(100_000, -1)))
    text = render(fits)
    print(text)
    path = DOCS / "large_data.md"
    write_sections(path, {"covtype": text})


def render(fits: list[Fit]) -> str:
    """Return the table of all fits and how far they differ, as Markdown."""
    rows = [["place", "AUC", "slack", "gap", "passes", "seconds"]]
    for fit in fits:
        cells = [f"{fit.auc:.6f}", f"{fit.slack:.6f}", f"{fit.gap:.6f}"]
        rows.append([fit.place, *cells, str(fit.n_iter), f"{fit.seconds:.1f}"])
    auc, slack = (np.ptp(values) for values in ([f.auc for f in fits], [f.slack for f in fits]))
    text = f"AUC differs by at most {auc:.6f} between the places, and the slack by {slack:.6f}."
    return f"{markdown_table(rows)}\n\n{text}"


if __name__ == "__main__":
    main()
