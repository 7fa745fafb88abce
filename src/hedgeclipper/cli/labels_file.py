"""The file of labels and rows to review that is finished by ``hedgeclipper finish``.

All columns of the predictions, and beside them

- ``row``: the number of the row, from 0
- ``label``: the label, empty where people have to give one
- ``review``: whether they have to
- ``review_order``: in which order, 1 first; empty for others
- ``source``: who gave the label, "people" or "prediction"
- ``record``, in the first line: how many labels may be wrong, at which level, and a digest of
  predictions, so that a file that was changed in between is recognized
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from hedgeclipper.bounds.audit import Audit
from hedgeclipper.bounds.sample_record import RECORD, ROW, format_record
from hedgeclipper.cli.output import CommandError
from hedgeclipper.cli.tables import texts_of, write_table
from hedgeclipper.io.atomic import atomic_path
from hedgeclipper.io.digests import digest_in_order

LABEL, REVIEW, ORDER, SOURCE = "label", "review", "review_order", "source"
PREDICTION = "prediction"
OWN_COLUMNS = (ROW, LABEL, REVIEW, ORDER, SOURCE, RECORD)
PEOPLE = "people"


def labels_table(
    found: Audit, frame: pd.DataFrame, labeled: np.ndarray, prediction: str
) -> pd.DataFrame:
    """Return the table of an audit: all rows, their labels, and which to review.

    ``labeled`` are people's labels as text, None where there are none.
    """
    frame = frame.rename(columns={prediction: PREDICTION})
    review = found.needs_review
    order = np.zeros(found.n_rows, np.int64)
    order[found.review_order] = np.arange(1, found.review_order.size + 1)
    by_people = found.is_checked
    labels = np.where(by_people, labeled, np.array(texts_of(found.labels), object))
    source = np.where(by_people, PEOPLE, PREDICTION).astype(object)
    labels[review], source[review] = None, None
    columns = {
        ROW: np.arange(found.n_rows),
        LABEL: labels,
        REVIEW: review,
        ORDER: pd.Series(order, dtype="Int64").mask(order == 0),
        SOURCE: source,
    }
    taken = [name for name in OWN_COLUMNS if name in frame and name != ROW]
    if taken or (ROW in frame and not np.array_equal(frame[ROW], columns[ROW])):
        raise CommandError(
            f"Predictions have a column {(taken or [ROW])[0]!r} themselves, which is written here.",
            "Rename it.",
        )
    table = frame.assign(**columns)
    accepted = found.accepted
    facts = {
        "rows": found.n_rows,
        "errors": accepted.errors_left if accepted is not None else found.n_rows,
        "automatic": accepted.n_accepted if accepted is not None else 0,
        "max_error": found.max_error,
        "confidence": f"{found.confidence_level:g}",
        "kind": found.kind,
        "recorded": "yes" if found.sample is not None else "no",
        "digest": digest_of_labels(table),
    }
    return with_record(table, format_record(facts))


def write_rows(table: pd.DataFrame, path: Path, force: bool) -> None:
    """Write rows as the suffix of a path says."""
    with atomic_path(path, force=force) as draft:
        write_table([pa.Table.from_pandas(table, preserve_index=False)], draft, path)


def with_record(table: pd.DataFrame, text: str) -> pd.DataFrame:
    """Return a table with a record in its first line."""
    record = np.full(len(table), None, object)
    record[0] = text
    return table.assign(**{RECORD: record})


def digest_of_labels(table: pd.DataFrame) -> str:
    """Return a digest of the rows and of the labels that are there, in their order."""
    facts = table[[ROW, LABEL, REVIEW]]
    texts = {name: np.array(texts_of(facts[name]), object) for name in (LABEL, REVIEW)}
    return digest_in_order(pd.DataFrame({ROW: facts[ROW].to_numpy(np.int64), **texts}))
