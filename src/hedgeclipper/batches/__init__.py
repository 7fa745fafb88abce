"""Where rows come from: arrays, sparse matrices, frames, memory maps, files, or batches of these.

Everything downstream reads rows in batches and more than once, so a source is something that can
be iterated over again and again.
"""

from hedgeclipper.batches.api import as_source, is_batched
from hedgeclipper.batches.arrays import (
    ArraySource,
    BatchSource,
    MappedSource,
    as_rows,
    cut,
    row_slice,
)
from hedgeclipper.batches.frames import as_table, frame_columns, frame_names, is_frame, is_pandas
from hedgeclipper.batches.labels import missing_labels
from hedgeclipper.batches.names import listed, positions_of
from hedgeclipper.batches.source import Source
from hedgeclipper.batches.writer import parquet_writer

__all__ = [
    "ArraySource",
    "BatchSource",
    "MappedSource",
    "Source",
    "as_rows",
    "as_source",
    "as_table",
    "cut",
    "frame_columns",
    "frame_names",
    "is_batched",
    "is_frame",
    "is_pandas",
    "listed",
    "missing_labels",
    "parquet_writer",
    "positions_of",
    "row_slice",
]
