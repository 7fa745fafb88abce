"""Where rows come from: arrays, sparse matrices, frames, memory maps, files, or batches of these.

Everything downstream reads rows in batches and more than once, so a source is something that can
be iterated over again and again. `as_source` is for users; the other names are for the rest of the
package.
"""

# ruff: noqa: F401

from hedgeclipper.io.arrays import cut, row_slice
from hedgeclipper.io.atomic import write_parquet
from hedgeclipper.io.frames import (
    as_classes,
    as_frame,
    as_plain_array,
    as_table,
    as_text,
    check_columns,
    frame_arrays,
    frame_columns,
    frame_names,
    frame_with,
    is_frame,
    is_in_memory,
    is_missing,
    is_pandas,
    listed,
    missing_labels,
    split_target,
)
from hedgeclipper.io.sources import Source, are_numbers, as_source, is_batched

__all__ = ["Source", "as_source"]
