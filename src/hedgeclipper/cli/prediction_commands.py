"""``hedgeclipper predict`` and ``evaluate``: what a saved model says of the rows of files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet

from hedgeclipper.base.columns import ColumnEncoder
from hedgeclipper.base.evaluation import evaluate_predictions
from hedgeclipper.cli.output import (
    CommandError,
    ExitCode,
    Output,
    auto_label_facts,
    check_needed,
    check_outputs,
)
from hedgeclipper.cli.table_commands import (
    LEVEL,
    check_table_suffix,
    load_model,
    note_dialect,
    table_at,
)
from hedgeclipper.cli.table_files import Files
from hedgeclipper.cli.table_labels import Roles, as_classes_of
from hedgeclipper.cli.table_rows import ADD_COLUMNS, read_rows
from hedgeclipper.io.atomic import parquet_writer
from hedgeclipper.io.formats import CsvDialect

CLASSES_TO_LIST = 12


def predict(
    *,
    model: Path,
    files: Sequence[str],
    to: Path,
    max_error: float | None,
    confidence_level: float | None,
    row_id: str | None,
    dialect: CsvDialect,
    force: bool,
    output: Output,
) -> None:
    """Write a model's predictions for the rows of files, in their order."""
    check_table_suffix(to)
    check_needed("--confidence", confidence_level, "--max-error", max_error)
    table = Files.find(files, dialect)
    check_outputs(to, inputs=[model, *table.paths], force=force)
    note_dialect(table, output)
    pipeline, encoder = load_model(model, table)
    estimator = pipeline.named_steps["model"].set_params(verbose=output.verbose)
    key = _key(table, encoder, row_id)
    rows: Callable[[], Any] = partial(list, table.readable)
    unread = Unread()
    if encoder is not None:
        check_columns(table, encoder, output)
        if not (encoder.is_plain_ and table.hold_numbers(encoder.used_names)):
            rows = partial(_encoded, table, encoder, unread)
    sure = None
    with table_at(to, force=force) as draft:
        try:
            n_rows = estimator.predict_to(draft, rows())
        except ValueError as error:
            if "infinity" not in str(error):
                raise
            raise CommandError(
                "Some row has an infinite number, or one too large.",
                "Rescale its column, or leave the place empty.",
            ) from error
        if n_rows == 0:
            raise table.no_rows
        unread.note(output)
        if max_error is not None:
            sure = estimator.auto_label(rows(), max_error, confidence_level or LEVEL)
        if key is not None or sure is not None:
            _rewrite(draft, table, key, None if sure is None else ~sure.is_sure)
        classes = _count_classes(draft)
    output.result |= {"command": "predict", "n_rows": n_rows}
    output.wrote("predictions", to)
    output.result["classes"] = {str(label): count for label, count in classes}
    n_blank = n_rows - sum(count for _, count in classes)
    output.table(
        ("Prediction", "Rows", "Proportion"),
        [
            (label, f"{count:,}", f"{count / n_rows:.1%}")
            for label, count in [*classes, *([("(blank)", n_blank)] if n_blank else [])]
        ],
    )
    facts = [] if sure is None else auto_label_facts(sure, output)
    output.facts([*facts, ("Predictions", f"{to}, {n_rows:,} rows")])


def evaluate(
    *,
    model: Path,
    files: Sequence[str],
    target: str | None,
    unlabeled_value: Sequence[str] | None,
    confidence_level: float,
    dialect: CsvDialect,
    output: Output,
) -> None:
    """Print how good a model's predictions are for labeled rows of files."""
    table = Files.find(files, dialect)
    note_dialect(table, output)
    pipeline, encoder = load_model(model, table)
    estimator = pipeline.named_steps["model"]
    if encoder is not None:
        target = target or encoder.target
        table.require([str(target)], "--target", "Pass labeled rows, or name their column.")
        check_columns(table, encoder, output, target)
    roles = Roles(None if encoder is None else target, marks=unlabeled_value or ())
    rows = read_rows([table], roles, output, encoder)
    if rows.y.size == 0:
        raise CommandError(
            f"None of the {rows.n_rows:,} rows has a label.", "Pass rows with labels."
        )
    if rows.n_unlabeled:
        output.note(f"{rows.n_unlabeled:,} rows without a label are not used.")
    y = as_classes_of(rows.y, estimator.classes_)
    unknown = [x for x in dict.fromkeys(y.tolist()) if x not in estimator.classes_.tolist()]
    if len(unknown) and len(unknown) == len(set(y.tolist())):
        raise CommandError(
            f"{target!r} has no class of the model: {unknown[:5]}, where the model has "
            f"{estimator.classes_.tolist()[:5]}.",
            "Name the column of the labels with --target.",
        )
    if unknown:
        output.note(f"Classes that the model does not know count as errors: {unknown[:5]}.")
    X = rows.X
    if encoder is not None:
        unread = Unread()
        unread.add(encoder, rows.X)
        unread.note(output)
        X = encoder.transform(rows.X)
    predicted = estimator.predict(X), estimator.predict_proba(X)
    found = evaluate_predictions(y, *predicted, estimator.classes_, confidence_level)
    output.result |= {"command": "evaluate", "model": str(model), **found.to_dict()}
    output.facts(found.facts())
    _print_classes(found, output)


def _print_classes(found: Any, output: Output) -> None:
    """Print recall of each class and the confusion matrix, as long as there are few classes."""
    counts, shown = found.confusion.sum(axis=1), range(min(CLASSES_TO_LIST, len(found.classes)))
    output.table(
        ("Class", "Rows", "Recall", "Interval", *(f"as {found.classes[k]}" for k in shown)),
        [
            (
                found.classes[k],
                f"{counts[k]:,}",
                f"{found.recall[k]:.1%}" if counts[k] else "-",
                "{:.1%} to {:.1%}".format(*found.recall_intervals[k]),
                *(f"{n:,}" for n in found.confusion[k, : len(shown)]),
            )
            for k in shown
        ],
    )
    if len(found.classes) > len(shown):
        output.say(f"... and {len(found.classes) - len(shown):,} more classes; --json lists all")


def check_columns(
    table: Files, encoder: ColumnEncoder, output: Output, target: str | None = None
) -> None:
    """Raise if columns of the model are missing, and note those that it does not know."""
    used = encoder.used_names
    table.require(used, "the model", ADD_COLUMNS)
    known = {*used, *encoder.names_of("left out"), encoder.target, encoder.key, target}
    if more := [name for name in table.names if name not in known]:
        output.note(f"Columns that the model does not know are not used: {', '.join(more[:10])}.")


def _key(table: Files, encoder: ColumnEncoder | None, row_id: str | None) -> str | None:
    """Return the column that names rows in predictions: the one asked for, or that of the fit."""
    if row_id is not None:
        if table.is_libsvm:
            raise CommandError(
                "LibSVM files have no names of columns.", "Leave out --id.", ExitCode.USAGE
            )
        table.require([row_id], "--id")
        return row_id
    key = None if encoder is None else encoder.key
    return key if key is not None and key in table.names else None


class Unread:
    """Values that the model cannot use: dates that are none, and categories that are new."""

    def __init__(self) -> None:
        self.found: dict[str, Counter[str]] = {}

    def add(self, encoder: ColumnEncoder, frame: Any) -> None:
        """Count the values of some rows."""
        for name, values in encoder.unknown_values(frame).items():
            self.found.setdefault(name, Counter()).update(values)

    def note(self, output: Output) -> None:
        """Print what was found."""
        for name, values in self.found.items():
            if values:
                some = ", ".join(f"{value!r} ({count:,})" for value, count in values.most_common(3))
                output.note(
                    f"Column {name!r} has {len(values):,} values that the model does not know, "
                    f"such as {some}: in these rows it relies on the other columns."
                )


def _encoded(files: Files, encoder: ColumnEncoder, unread: Unread) -> Iterator[Any]:
    """Yield the rows of each file as numbers, and count values that cannot be used."""
    for frame in files.frames(encoder.string_names):
        if len(frame):
            unread.add(encoder, frame)
            yield encoder.transform(frame)
    if not any(files.n_rows.values()):
        raise files.no_rows


def _rewrite(path: Path, table: Files, key: str | None, blank: np.ndarray | None) -> None:
    """Put keys in front of the predictions in a Parquet file, and leave some of these blank."""
    keys, start = None if key is None else table.typed_column(key), 0
    with parquet_writer(path) as writer, pyarrow.parquet.ParquetFile(path) as file:
        if key in file.schema_arrow.names:
            raise CommandError(
                f"Predictions have a column {key!r} themselves.", "Rename the column of --id."
            )
        for batch in file.iter_batches():
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            if blank is not None:
                is_blank = pa.array(blank[start : start + batch.num_rows])
                nothing = pa.scalar(None, columns["prediction"].type)
                columns["prediction"] = pa.compute.if_else(is_blank, nothing, columns["prediction"])
            own = {} if keys is None else {str(key): keys.slice(start, batch.num_rows)}
            writer.write({**own, **columns})
            start += batch.num_rows


def _count_classes(path: Path) -> list[tuple[Any, int]]:
    """Return the number of predictions of each class, the most frequent first."""
    column = pyarrow.parquet.read_table(path, columns=["prediction"]).column(0).drop_null()
    counts = [(entry["values"], entry["counts"]) for entry in column.value_counts().to_pylist()]
    return sorted(counts, key=lambda pair: -pair[1])
