"""Where rows come from: arrays, sparse matrices, frames, memory maps, files, or batches of these.

Everything downstream reads rows in batches and more than once, so a source is something that can
be iterated over again and again. `as_source` and `parquet_writer` are for users; the other names
are for the rest of the package.
"""

# ruff: noqa: F401

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
    split_target,
)
from hedgeclipper.io.source import Source

__all__ = ["Source", "as_source", "parquet_writer"]
