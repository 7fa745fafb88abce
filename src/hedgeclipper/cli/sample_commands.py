"""``hedgeclipper sample``: rows to label, drawn at random, with a record of the draw."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from hedgeclipper.bounds.sample import RECORD_COLUMNS, Sample, draw_sample, record_columns
from hedgeclipper.cli.app import SampleRows
from hedgeclipper.cli.checked_labels import LabelTable
from hedgeclipper.cli.labels_file import LABEL, write_rows
from hedgeclipper.cli.output import CommandError, ExitCode, Output, check_outputs, check_suffix
from hedgeclipper.cli.tables import TABLE_SUFFIXES, Files
from hedgeclipper.io.arrays import digest_in_order

NEXT_TABLE = "Fill in the column {!r}; leave it empty where nobody can decide."
NEXT_TASKS = "Import it into Label Studio, and skip tasks that nobody can decide."


def sample_rows(options: SampleRows, output: Output) -> None:
    """Draw rows of a table, or more of them, and write them with an empty column of labels."""
    table = Files.find(options.data, output, options.dialect)
    check_outputs(options.to, inputs=[table, options.extend], force=options.force)
    check_suffix(options.to, *TABLE_SUFFIXES, ".json")
    is_task = options.to.suffix.lower() == ".json"
    if is_task and options.extend is not None:
        raise CommandError(
            "The labels so far cannot be written as tasks of Label Studio.",
            "End the name of the output in .csv or .parquet.",
            ExitCode.USAGE,
        )
    frame, target = table.frame(), options.target
    if target is not None:
        table.require([target], "--target")
    column = target or LABEL
    taken = [name for name in (*RECORD_COLUMNS, column) if name in frame and name != target]
    if taken:
        advice = "Pass --target label if these are labels." if taken[0] == LABEL else "Rename it."
        raise CommandError(
            f"{table.place} has a column {taken[0]!r} itself, which is written here.", advice
        )
    names = [name for name in frame if name != target]
    labels = np.full(len(frame), None, object)
    if options.extend is None:
        known = np.zeros(len(frame), bool) if target is None else frame[target].notna().to_numpy()
        if options.n > np.sum(~known):
            what = "rows" if target is None else f"rows without a label in {target!r}"
            raise CommandError(
                f"{options.n:,} rows cannot be drawn from {table.place}: there are "
                f"{np.sum(~known):,} {what}.",
                "Ask for fewer, or pass more rows.",
            )
        digest = digest_in_order(frame[names]) if names else ""
        drawn = draw_sample(len(frame), options.n, seed=options.seed, excluded=known)
        sample = replace(drawn, digest=digest)
    else:
        sample, labels = _extended(options, frame, column, table, output)
    content = pd.DataFrame(record_columns(sample, len(names)))
    rows = frame.iloc[sample.rows][names].reset_index(drop=True)
    content = pd.concat([content, rows], axis=1)
    if not is_task:  # the label of a task is an annotation
        content = content.assign(**{column: labels[sample.rows]})
    write_rows(content, options.to, options.force)
    output.wrote("sample", options.to)
    output.result |= {
        "command": "sample",
        "n_rows": sample.n_rows,
        "n_drawn": sample.n_drawn,
        "n_excluded": sample.excluded.size,
        "seed": sample.seed,
        "digest": sample.digest,
    }
    output.facts(
        [
            ("Drawn", f"{sample.describe()}."),
            ("Next", NEXT_TASKS if is_task else NEXT_TABLE.format(column)),
            ("Sample", options.to),
        ]
    )


def _extended(
    options: SampleRows, frame: pd.DataFrame, column: str, table: Files, output: Output
) -> tuple[Sample, np.ndarray]:
    """Return a sample with more rows than the one before, and the labels so far."""
    name = str(options.extend)
    given = LabelTable.read(name, column, list(frame), table.place, options.dialect, output)
    if not given.is_sample:
        raise CommandError(
            f"{name} is no sample of `hedgeclipper sample`: it has no record of a draw.",
            "Pass the file that it has written.",
        )
    sample, places = given.read_sample(frame, output)
    labels = np.full(len(frame), None, object)
    labels[sample.rows[places]] = given.labels
    return sample.extended(options.n), labels
