"""Small tables in files of every format that is read."""

import bz2
import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROWS = {"a": [1.0, 2.0, 3.0], "b": [0.5, None, -0.5], "y": [1, None, 0]}
A_B = [[1.0, 0.5], [2.0, np.nan], [3.0, -0.5]]


def stacked(source):
    return np.vstack(list(source))


def labels_of(source):
    return np.concatenate([labels for _, labels in source.labeled_batches()])


def write_csv(table, path):
    pack = {".gz": gzip.compress, ".bz2": bz2.compress}.get(path.suffix, bytes)
    separator = "\t" if ".tsv" in path.name else ","
    text = table.to_pandas().to_csv(index=False, sep=separator)
    path.write_bytes(pack(text.encode()))


WRITERS = {
    "x.parquet": pq.write_table,
    "x.pq": pq.write_table,
    "x.csv": write_csv,
    "x.csv.gz": write_csv,
    "x.csv.bz2": write_csv,
    "x.tsv": write_csv,
}
every_format = pytest.mark.parametrize("name", WRITERS)


def write(path, columns):
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    WRITERS[f"x{''.join(path.suffixes)}"](table, path)
    return path
