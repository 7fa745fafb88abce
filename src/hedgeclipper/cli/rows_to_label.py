"""The rows of ``hedgeclipper label``, as they are read, shown, learned from and written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from hedgeclipper.cli.app import LabelRows
from hedgeclipper.cli.finish_commands import SOURCE
from hedgeclipper.cli.output import Output, UsageError, check_outputs, check_suffix
from hedgeclipper.cli.tables import TABLE_SUFFIXES, Files, clean_labels, with_free_names
from hedgeclipper.cli.training_rows import check_finite, columns_to_use
from hedgeclipper.io import as_text, listed, missing_labels
from hedgeclipper.labeling.rows_view import RowView

SESSION_SUFFIX, FINISHED_SUFFIX, NOTE = ".session.jsonl", ".labeled", "note"


@dataclass(frozen=True, eq=False)
class RowsToLabel:
    """Rows to label, how they are shown, what the model learns from, and the labels known."""

    frame: pd.DataFrame  # as it is written
    X: pd.DataFrame
    y: np.ndarray
    classes: list[str]
    target: str
    view: RowView
    output: Path
    session: Path

    @classmethod
    def read(cls, options: LabelRows, output: Output) -> RowsToLabel:
        """Read and check the rows, and name the files to write."""
        files = Files.find([options.data], output, options.dialect)
        first = files.paths[0]
        stem = first.name.removesuffix(".gz").rpartition(".")[0] or first.name
        to = options.to or first.with_name(f"{stem}{FINISHED_SUFFIX}.csv")
        session = options.session or first.with_name(first.name + SESSION_SUFFIX)
        # a session that is there may be finished, and this its finished file
        check_outputs(to, inputs=[files, session], force=options.force or session.exists())
        check_suffix(to, *TABLE_SUFFIXES)
        named = [name for name in (options.text, options.image) if name is not None]
        files.require(named, "--text and --image")
        has_target = options.target in files.names
        strings = [*files.codes, *named, *([options.target] if has_target else [])]
        frame = files.frame(strings=strings)
        if options.target in (SOURCE, NOTE):
            raise UsageError(
                f"--target cannot be {options.target!r}, which the finished file has for itself. "
                "Choose another name."
            )
        y, classes = _labels(frame, options, output)
        left_out = [*(options.drop or ()), *([options.image] if options.image else ())]
        keep = options.keep or ()
        names, _ = columns_to_use(files, options.target, left_out, keep, (), output)
        shown = [name for name in frame if name not in {options.target, *(options.drop or ())}]
        X = check_finite(frame[names])
        view = RowView(frame[shown], options.text, options.image, first.parent)
        if to.suffix.lower() == ".csv":  # cells stay as they were, whatever they were read as
            frame = files.frame(strings=files.names)
        frame = with_free_names(frame, (SOURCE, NOTE))
        return cls(frame, X, y, classes, options.target, view, to, session)


def _labels(
    frame: pd.DataFrame, options: LabelRows, output: Output
) -> tuple[np.ndarray, list[str]]:
    """Return the labels that are there already, None where not, and all classes."""
    y = np.full(len(frame), None, object)
    if options.target in frame:
        y = clean_labels(frame[options.target], (), output)
        known = ~missing_labels(y)
        y[known] = as_text(y[known])
    found = sorted({label for label in y if label is not None})
    named = [name.strip() for name in (options.classes or "").split(",") if name.strip()]
    classes = list(dict.fromkeys(named or found))
    unknown = [label for label in found if label not in classes]
    if unknown:
        raise UsageError(
            f"{options.target!r} has labels that --classes does not name: {listed(unknown, 5)}. "
            "Name all classes."
        )
    if len(classes) < 2:
        raise UsageError(
            f"--classes must name two or more labels, such as benign,malignant. Got "
            f"{listed(classes, 5) if classes else 'none'}."
        )
    return y, classes
