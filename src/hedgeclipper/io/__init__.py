"""Where rows come from: arrays, sparse matrices, frames, memory maps, files, or batches of these.

Everything downstream reads rows in batches and more than once, so a source is something that can
be iterated over again and again.
"""

from hedgeclipper.io.arrays import ArraySource, BatchSource, cut, row_slice
from hedgeclipper.io.as_source import as_source, is_batched
from hedgeclipper.io.atomic import parquet_writer
from hedgeclipper.io.column_values import as_classes, as_plain_array, is_missing, missing_labels
from hedgeclipper.io.frames import (
    as_frame,
    as_table,
    as_text,
    frame_arrays,
    frame_columns,
    frame_names,
    frame_with,
    is_frame,
    is_pandas,
    listed,
    positions_of,
)
from hedgeclipper.io.source import Source

__all__ = [
    "ArraySource",
    "BatchSource",
    "Source",
    "as_classes",
    "as_frame",
    "as_plain_array",
    "as_source",
    "as_table",
    "as_text",
    "cut",
    "frame_arrays",
    "frame_columns",
    "frame_names",
    "frame_with",
    "is_batched",
    "is_frame",
    "is_missing",
    "is_pandas",
    "listed",
    "missing_labels",
    "parquet_writer",
    "positions_of",
    "row_slice",
]
