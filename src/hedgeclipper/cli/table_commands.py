"""``hedgeclipper fit``, ``report`` and ``predict``: models of rows in files, and their pages.

A model is saved as a pipeline of a `ColumnEncoder` (none for LibSVM) and an estimator.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet
from rich.filesize import decimal
from sklearn.pipeline import Pipeline

from hedgeclipper.base.columns import ColumnEncoder
from hedgeclipper.cli.output import (
    CommandError,
    ExitCode,
    Output,
    auto_label_facts,
    check_needed,
    check_outputs,
    error_facts,
)
from hedgeclipper.cli.table_files import Files
from hedgeclipper.cli.table_rows import TableRows, check_classes, read_rows
from hedgeclipper.forest.classifier import HedgeClipperClassifier
from hedgeclipper.io.atomic import atomic_path, naming_output, parquet_writer
from hedgeclipper.io.extras import import_extra
from hedgeclipper.panel.classifier import HedgedVotingClassifier
from hedgeclipper.persistence import load, save

COLUMNS_TO_LIST = 12
ROWS_IN_REPORT = 50_000
LEVEL = 0.95
PARQUET, CSV = (".parquet", ".pq"), (".csv",)


def fit(
    *,
    data: str,
    target: str | None,
    unlabeled: Sequence[str] | None,
    method: str,
    model: Path,
    report: Path | None,
    drop: Sequence[str] | None,
    confidence_level: float | None,
    holdout: float | None,
    seed: int,
    jobs: int,
    force: bool,
    output: Output,
) -> None:
    """Fit a model to the rows of files, save it, and print what came out."""
    started = time.perf_counter()
    check_needed("--holdout", holdout, "--confidence", confidence_level)
    tables = _find(data, unlabeled)
    check_outputs(model, report, inputs=_paths(tables), force=force)
    write_report = report_writer(report)
    target = _target(tables[0], target, drop or (), output)
    rows = read_rows(tables, target, output, drop or ())
    classes = check_classes(rows.y, rows.n_rows, "the label" if target is None else f"{target!r}")
    _print_rows(rows, output)
    kind = HedgedVotingClassifier if method == "voting" else HedgeClipperClassifier
    options = {"n_jobs": jobs, "random_state": seed, "verbose": output.verbose}
    estimator = kind(confidence_level=confidence_level, holdout=holdout, **options)
    _fit_to(estimator, rows, output)
    steps = [] if rows.encoder is None else [("columns", rows.encoder)]
    pipeline = Pipeline([*steps, ("model", estimator.set_params(verbose=0))])
    save(pipeline, model, force=force)
    output.wrote("model", model)
    output.result |= {
        "command": "fit",
        "method": method,
        "target": target,
        "n_labeled": rows.y.size,
        "n_unlabeled": rows.n_unlabeled,
        "in_memory": rows.in_memory,
        "classes": {str(label): count for label, count in classes.items()},
        "columns": [asdict(plan) for plan in rows.encoder.plans_] if rows.encoder else [],
    }
    known = error_facts(estimator, output)
    if report is not None:
        _write_report(write_report, pipeline, rows, report, force, output)
    seconds = time.perf_counter() - started
    output.result["seconds"] = round(seconds, 3)
    output.facts(
        [
            ("Labels", ", ".join(f"{label} ({count:,})" for label, count in classes.items())),
            *known,
            ("Model", f"{model}, {decimal(model.stat().st_size)}"),
            *([] if report is None else [("Report", report)]),
            ("Time", f"{seconds:.1f} s"),
        ]
    )
    if confidence_level is None:
        output.say("An estimate is no guarantee; --confidence 0.95 holds labels out for one.")
    output.say(f"Next: hedgeclipper predict {model} FILES -o predictions.parquet")


def report(
    *,
    model: Path,
    data: str,
    unlabeled: Sequence[str] | None,
    to: Path,
    force: bool,
    output: Output,
) -> None:
    """Write a report on a saved model and the rows of files."""
    tables = _find(data, unlabeled)
    check_outputs(to, inputs=[model, *_paths(tables)], force=force)
    write_report = report_writer(to)
    pipeline, encoder = _load(model, tables[0])
    target = None if encoder is None else encoder.target
    if target is not None:
        tables[0].require([target], "the labels")
    rows = read_rows(tables, target, output, encoder=encoder)
    check_classes(rows.y, rows.n_rows, f"{target!r}")
    output.result |= {"command": "report", "model": str(model)}
    _write_report(write_report, pipeline, rows, to, force, output)
    output.facts([("Report", to)])


def predict(
    *,
    model: Path,
    files: Sequence[str],
    to: Path,
    max_error: float | None,
    confidence_level: float | None,
    force: bool,
    output: Output,
) -> None:
    """Write a model's predictions for the rows of files, in their order."""
    check_table_suffix(to)
    check_needed("--confidence", confidence_level, "--max-error", max_error)
    table = Files.find(files)
    check_outputs(to, inputs=[model, *table.paths], force=force)
    pipeline, encoder = _load(model, table)
    estimator = pipeline.named_steps["model"].set_params(verbose=output.verbose)
    rows: Callable[[], Any] = partial(list, table.paths)
    unread: Counter[str] = Counter()
    if encoder is not None:
        known = encoder.used_names
        table.require(known, "the model")
        others = {*encoder.names_of("left out"), *known, encoder.target}
        if more := [name for name in table.names if name not in others]:
            output.note(
                f"Columns that the model does not know are not used: {', '.join(more[:10])}."
            )
        if not (encoder.is_plain_ and table.hold_numbers(known)):
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
        if max_error is not None:
            unread.clear()  # they are counted once more
            sure = estimator.auto_label(rows(), max_error, confidence_level or LEVEL)
            _leave_blank(draft, ~sure.is_sure)
        classes = _count_classes(draft)
    for name, count in unread.items():
        if count:
            output.note(f"{count:,} values of {name!r} are no dates, and are taken as missing.")
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


def _find(data: str, unlabeled: Sequence[str] | None) -> list[Files]:
    """Return the files of rows, and of unlabeled rows if any; all must be LibSVM, or none."""
    first, *others = [Files.find(where) for where in ([data], unlabeled) if where]
    for more in others:
        if more.is_libsvm != first.is_libsvm:
            raise CommandError(
                f"{first.place} is {first.kind} and {more.place} is {more.kind}, which has other "
                "columns.",
                "Pass both as LibSVM, or none.",
            )
    return [first, *others]


def _paths(tables: list[Files]) -> list[Path]:
    return [path for files in tables for path in files.paths]


def _target(files: Files, target: str | None, drop: Sequence[str], output: Output) -> str | None:
    """Return the column of labels, None for LibSVM."""
    if files.is_libsvm:
        if target is not None or drop:
            output.note(
                "LibSVM files have no names of columns: the label is the number that begins a "
                "line, and --target and --drop are not used."
            )
        return None
    if target is None:
        raise CommandError(
            "The column to predict is not named.",
            f"Pass --target with one of {', '.join(map(repr, files.names[:5]))} ...",
            ExitCode.USAGE,
        )
    files.require([target], "--target")
    files.require(drop, "--drop")
    if target in drop:
        raise CommandError(
            f"{target!r} is both the target and left out.",
            "Take it out of --drop, or name another --target.",
            ExitCode.USAGE,
        )
    return target


def _fit_to(estimator: Any, rows: TableRows, output: Output) -> None:
    X, X_unlabeled = rows.encoded()
    if X_unlabeled is None:
        output.note(
            "All rows are labeled, so that nothing is learned beyond them: pass --unlabeled, or "
            "rows whose target is empty."
        )
        X_unlabeled = X[:0]  # says that -1 is a class
    output.say(f"Fitting to {rows.y.size:,} labeled and {rows.n_unlabeled:,} unlabeled rows ...")
    estimator.fit(X, rows.y, X_unlabeled=X_unlabeled)


def _load(path: Path, files: Files) -> tuple[Pipeline, ColumnEncoder | None]:
    """Return a model that fit has saved, for files of this kind, and what it does with columns."""
    if not path.is_file():
        raise CommandError(
            f"{path} is no file.", "Pass a model that `hedgeclipper fit` has saved.", ExitCode.MODEL
        )
    model = load(path)
    if not isinstance(model, Pipeline) or "model" not in model.named_steps:
        raise CommandError(
            f"{path} holds a {type(model).__name__} that `hedgeclipper fit` has not saved.",
            "Use it from Python, with hedgeclipper.load.",
            ExitCode.MODEL,
        )
    encoder = model.named_steps.get("columns")
    if files.is_libsvm != (encoder is None):
        wanted = "LibSVM" if encoder is None else "CSV, Parquet or Arrow"
        raise CommandError(
            f"{path} was fitted to {wanted} files. Got {files.kind}.", f"Pass rows as {wanted}."
        )
    return model, encoder


def report_writer(page: Path | None) -> Any:
    """Return the function that writes a page, before anything long is done; None without one."""
    if page is None:
        return None
    for module in ("jinja2", "matplotlib"):
        import_extra(module, "report", "A report")
    return import_module("hedgeclipper.inspection.report").write_report


def _write_report(
    write_report: Any, model: Pipeline, rows: TableRows, page: Path, force: bool, output: Output
) -> None:
    output.say("Writing the report ...")
    places = [files.place for files in rows.tables]
    about = dict(zip(("file", "file of unlabeled rows"), places, strict=False))
    if rows.encoder is not None:
        about["target"] = str(rows.encoder.target)
        changed = [plan for plan in rows.encoder.plans_ if not plan.stays]
        for plan in changed[:COLUMNS_TO_LIST]:
            about[f"column {plan.name}"] = f"{plan.kind}: {plan.what}"
        if len(changed) > COLUMNS_TO_LIST:
            about["more columns"] = f"{len(changed) - COLUMNS_TO_LIST:,}, encoded or left out"
    given: dict[str, Any] = {"X": rows.X, "y": rows.y, "force": force, "about": about}
    if rows.n_unlabeled:
        given["X_unlabeled"], given["row_names"] = rows.sample(ROWS_IN_REPORT)
        given["n_unlabeled"] = rows.n_unlabeled
    write_report(model, page, **given)
    output.wrote("report", page)


def _print_rows(rows: TableRows, output: Output) -> None:
    how = "into memory" if rows.in_memory else "in batches"
    output.say(
        f"{' and '.join(files.place for files in rows.tables)}: {rows.n_rows:,} rows, "
        f"{rows.y.size:,} labeled and {rows.n_unlabeled:,} not, read {how}"
    )
    if rows.encoder is None:
        output.say(f"{rows.X.shape[1]:,} columns of numbers, as they are")
        return
    plans = rows.encoder.plans_
    for plan in plans:
        if plan.doubt is not None:
            output.note(f"Column {plan.name!r}: {plan.doubt}.")
    shown = plans
    if len(plans) > COLUMNS_TO_LIST:
        shown = [plan for plan in plans if not plan.stays]
        output.say(f"{len(plans) - len(shown):,} columns of numbers, as they are")
    if shown:
        shown, n_more = shown[:COLUMNS_TO_LIST], len(shown) - COLUMNS_TO_LIST
        output.table(("Column", "Kind", "Encoding"), [(p.name, p.kind, p.what) for p in shown])
        if n_more > 0:
            output.say(f"... and {n_more:,} more; --json lists all")


def _encoded(files: Files, encoder: ColumnEncoder, unread: Counter[str]) -> Iterator[Any]:
    """Yield the rows of each file as numbers, and count dates that cannot be read."""
    for frame in files.frames():
        if len(frame):
            unread.update(encoder.n_lost_dates(frame))
            yield encoder.transform(frame)
    if not any(files.n_rows.values()):
        raise files.no_rows


def _leave_blank(path: Path, which: np.ndarray) -> None:
    """Remove the predictions of some rows from a Parquet file."""
    start = 0
    with parquet_writer(path) as writer, pyarrow.parquet.ParquetFile(path) as file:
        for batch in file.iter_batches():
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            blank = pa.array(which[start : start + batch.num_rows])
            nothing = pa.scalar(None, columns["prediction"].type)
            columns["prediction"] = pa.compute.if_else(blank, nothing, columns["prediction"])
            writer.write(columns)
            start += batch.num_rows


def _count_classes(path: Path) -> list[tuple[Any, int]]:
    """Return the number of predictions of each class, the most frequent first."""
    column = pyarrow.parquet.read_table(path, columns=["prediction"]).column(0).drop_null()
    counts = [(entry["values"], entry["counts"]) for entry in column.value_counts().to_pylist()]
    return sorted(counts, key=lambda pair: -pair[1])


def check_table_suffix(path: Path) -> None:
    """Raise unless a table can be written to a file of this name."""
    if path.suffix.lower() not in PARQUET + CSV:
        raise CommandError(
            f"{path} has a suffix that no table can be written to.",
            f"End it in {' or '.join((PARQUET[0], *CSV))}.",
            ExitCode.USAGE,
        )


@contextmanager
def table_at(path: Path, *, force: bool) -> Iterator[Path]:
    """Give the path of a Parquet file to write; at the end it becomes the file, or CSV of it."""
    with atomic_path(path, force=force) as draft:
        if path.suffix.lower() in PARQUET:
            yield draft
            return
        table = draft.with_name(f"{draft.stem}.parquet{draft.suffix}")
        try:
            yield table
            with (
                naming_output(path),
                pyarrow.parquet.ParquetFile(table) as file,
                pyarrow.csv.CSVWriter(draft, file.schema_arrow) as writer,
            ):
                for batch in file.iter_batches():
                    writer.write_batch(batch)
        finally:
            table.unlink(missing_ok=True)
