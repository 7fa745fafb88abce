"""Mixed columns in files larger than memory: memory and time, beside columns of numbers.

    python -m benchmarks.mixed_rows    # runs what is missing, and writes the page

Generated rows of ten columns. Mixed ones: four of numbers, of which two have missing values, two of
dates (a timestamp, and strings such as "08/18/2021 10:00 PM"), three of strings (up to 6, 40 and
300 different ones, some missing), and names that are mostly different. 1,000 labels, the default
voters, one job. Every run is a process of its own: ``fit`` learns from all rows, and then all are
predicted, to a file. Dask reads by two threads, a file of a million rows as one partition, as it
does by default, or "by row group", of 250,000 rows. Memory is the peak of anonymous memory minus
that at the start. Seconds are those of the processor, which other processes change less.
``checksum`` is that of the probabilities. Writes a section of docs/large_data.md.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import warnings
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from benchmarks.memory import AnonymousMemory
from benchmarks.pages import NOT_RUN, bullets, markdown_table, write_pages
from benchmarks.results_file import FOLDER, Key, Line, read_results, run_missing, today, versions
from hedgeclipper import HedgeClipperClassifier

RESULTS = FOLDER / "mixed_rows.csv"
N_LABELED, LABELED_BLOCK = 1_000, 10**6
ROWS_PER_FILE = 1_000_000
# kinds of rows, and numbers of files
SIZES = {
    ("Parquet", "mixed"): (1, 2, 5),
    ("Parquet", "numbers"): (1, 2),
    ("memory", "mixed"): (1,),
    ("CSV", "mixed"): (1, 2, 5),
    ("Dask", "mixed"): (1, 2, 5),
    ("Dask by row group", "mixed"): (1, 2, 5),
}


@dataclass(frozen=True)
class Result(Line):
    """What a fit and the predictions of all rows took."""

    fit_seconds: float
    fit_megabytes: float
    predict_seconds: float
    predict_megabytes: float
    checksum: int
    date: str
    versions: str

    @property
    def columns(self) -> str:
        """Kind of the columns."""
        return self.data.split()[-1]

    @property
    def n_files(self) -> int:
        """Number of files that were read."""
        return int(self.data.split()[0])


def rows_and_labels(columns: str, block: int, n_rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the rows and labels (0 or 1) of a block, the same on every call."""
    rng = np.random.default_rng([2, block])
    x, noise = rng.standard_normal((n_rows, 10)), rng.standard_normal(n_rows)
    score = x[:, 0] + x[:, 1] * x[:, 2] + noise
    if columns == "numbers":
        score += 0.5 * x[:, 3:6].sum(axis=1)
        return pd.DataFrame(x).add_prefix("x"), (score > 0).astype(int)
    rows = pd.DataFrame(x[:, :4]).add_prefix("x")
    for name, part in (("x1", 0.1), ("x3", 0.3)):
        rows[name] = rows[name].where(rng.random(n_rows) >= part)
    start = np.datetime64("2015-01-01", "m")
    opened, closed = start + rng.integers(0, 60 * 24 * 1500, (2, n_rows))
    score += (closed.astype("M8[h]").astype(int) % 24 > 12) - 0.5
    minutes, places = np.unique(closed, return_inverse=True)
    rows["opened"] = opened
    rows["closed"] = pd.Series(minutes).dt.strftime("%m/%d/%Y %I:%M %p").to_numpy()[places]
    for name, n_values in (("kind", 6), ("country", 40), ("town", 300)):
        codes = np.minimum(rng.zipf(1.3, n_rows), n_values) - 1
        score += np.random.default_rng(n_values).standard_normal(n_values)[codes]
        values = np.array([f"{name} {number}" for number in range(n_values)], dtype=object)
        rows[name] = np.where(rng.random(n_rows) < 0.05, None, values[codes])
    syllables = ["ba", "do", "ki", "lu", "mer", "no", "sta", "ti", "vo", "zen"]
    rows["name"] = np.array(syllables, dtype=object)[rng.integers(0, 10, (n_rows, 6))].sum(axis=1)
    return rows, (score > 0).astype(int)


def write_files(folder: Path) -> None:
    """Write the rows as files of Parquet and of CSV."""
    for (kind, columns), sizes in SIZES.items():
        for number in range(max(sizes)):
            rows, _ = rows_and_labels(columns, number, ROWS_PER_FILE)
            if kind == "Parquet":
                rows.to_parquet(folder / f"{columns}{number}.parquet", row_group_size=250_000)
            elif kind == "CSV":
                rows.to_csv(folder / f"{columns}{number}.csv", index=False)


def child(folder: Path, kind: str, n_files: int, columns: str) -> dict[str, float]:
    """Fit to the rows and predict them in this process, and return what both took."""
    warnings.simplefilter("ignore")
    suffix = "csv" if kind == "CSV" else "parquet"
    paths = [folder / f"{columns}{number}.{suffix}" for number in range(n_files)]
    out: Any = folder / "predictions.parquet"
    X, y = rows_and_labels(columns, LABELED_BLOCK, N_LABELED)
    # what is imported on first use, and what is compiled
    model = HedgeClipperClassifier(n_estimators=8, random_state=0).fit(X, y, X_unlabeled=X)
    X.to_parquet(out)
    model.predict_to(out, X)
    rows: Any = paths
    is_dask = kind.startswith("Dask")
    if is_dask:
        import dask.dataframe as dd

        rows = dd.read_parquet(paths, split_row_groups=kind == "Dask by row group" or "infer")
        model.predict_proba(dd.from_pandas(X, npartitions=1)).to_parquet(out.with_suffix(".dask"))
    elif kind == "memory":
        rows = pd.concat([pd.read_parquet(path) for path in paths], ignore_index=True)
    model = HedgeClipperClassifier(random_state=0)
    taken = {}
    for step in ("fit", "predict"):
        started = time.process_time()
        with AnonymousMemory() as memory:
            if step == "fit":
                model.fit(X, y, X_unlabeled=rows)
            elif is_dask:
                out = out.with_suffix(".dask")
                model.predict_proba(rows).to_parquet(out, overwrite=True)
            else:
                model.predict_to(out, rows)
        taken[f"{step}_seconds"] = time.process_time() - started
        taken[f"{step}_megabytes"] = (memory.peak - memory.first) / 1e6
    if is_dask:  # by number, where Arrow sorts part.10 before part.2
        out = sorted(out.glob("part.*"), key=lambda path: int(path.suffixes[0][1:]))
    probabilities = pq.read_table(out, columns=["probability_1"])[0].to_numpy()
    return taken | {"checksum": zlib.crc32(np.ascontiguousarray(probabilities).data)}


def measure() -> None:
    """Run what is missing, each in a fresh process."""
    keys = [
        Key(f"{n_files} million rows of {columns}", N_LABELED, 0, kind)
        for (kind, columns), sizes in SIZES.items()
        for n_files in sizes
    ]
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))

        def run(keys: list[Key]) -> list[Result]:
            (key,) = keys
            n_files, *_, columns = key.data.split()
            words = ["child", folder, key.method, n_files, columns]
            command = [sys.executable, "-m", "benchmarks.mixed_rows", *words]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            taken = json.loads(done.stdout.splitlines()[-1])
            return [Result(*key, **taken, date=today(), versions=versions())]

        run_missing(keys, run, RESULTS, Result)


def render(results: Sequence[Result]) -> str:
    """Return a table of all runs, and ratios between them, as Markdown."""
    if not results:
        return NOT_RUN
    rows = [["rows", "million", "fit, seconds", "fit, MB", "predict, seconds", "predict, MB"]]
    found = {(run.method, run.columns, run.n_files): run for run in results}
    for (kind, columns), sizes in SIZES.items():
        for run in [found[key] for n in sizes if (key := (kind, columns, n)) in found]:
            cells = [f"{run.fit_seconds:.0f}", f"{run.fit_megabytes:.0f}"]
            cells += [f"{run.predict_seconds:.0f}", f"{run.predict_megabytes:.0f}"]
            rows.append([f"{columns}, {kind}", str(run.n_files), *cells])
    notes = []
    for n_files in sorted({run.n_files for run in results}):
        pair = [found.get(("Parquet", columns, n_files)) for columns in ("mixed", "numbers")]
        if all(pair):
            fit, predict = (
                pair[0].fit_seconds / pair[1].fit_seconds,
                pair[0].predict_seconds / pair[1].predict_seconds,
            )
            notes.append(
                f"Time of mixed rows over that of numbers, {n_files} million rows: "
                f"fit {fit:.2f}, predict {predict:.2f}"
            )
        sums = {run.checksum for run in results if (run.columns, run.n_files) == ("mixed", n_files)}
        kinds = [kind for kind, columns, n in found if (columns, n) == ("mixed", n_files)]
        if len(kinds) > 1:
            are = "equal" if len(sums) == 1 else "not all equal"
            notes.append(f"Probabilities of {n_files} million rows, {', '.join(kinds)}: {are}")
    return f"{markdown_table(rows)}\n\n{bullets(*notes)}".strip()


def pages() -> dict[str, dict[str, str]]:
    """Return the section by page."""
    return {"docs/large_data.md": {"mixed rows": render(read_results(RESULTS, Result))}}


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        _, _, folder, kind, n_files, columns = sys.argv
        print(json.dumps(child(Path(folder), kind, int(n_files), columns)))
    else:
        measure()
        write_pages(pages())
