"""``hedgeclipper fit`` and ``report``: models of rows in files, and their pages.

A model is saved as a pipeline of a `ColumnEncoder` (none for LibSVM) and an estimator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pyarrow.parquet
from rich.filesize import decimal
from sklearn.pipeline import Pipeline

from hedgeclipper.base.columns import ColumnEncoder
from hedgeclipper.base.inspection import inspect_estimator
from hedgeclipper.cli.output import (
    CommandError,
    ExitCode,
    Output,
    check_needed,
    check_outputs,
    error_facts,
)
from hedgeclipper.cli.table_files import Files
from hedgeclipper.cli.table_labels import Roles, check_classes, key_of_labels
from hedgeclipper.cli.table_rows import TableRows, digest_of, read_rows
from hedgeclipper.io import listed
from hedgeclipper.io.atomic import atomic_path, naming_output
from hedgeclipper.io.extras import import_extra
from hedgeclipper.io.formats import UNKNOWN_DIALECT, CsvDialect
from hedgeclipper.persistence import load, save

COLUMNS_TO_LIST = 12
ROWS_IN_REPORT = 50_000
LEVEL = 0.95
ROWS_TO_LABEL = 3
# up to so many it takes a second or two to measure what the unlabeled rows bring
LABELS_FOR_GAIN = 500
OTHER_MODELS = (".pkl", ".pickle", ".joblib", ".onnx", ".json", ".csv", ".html")
PARQUET, CSV = (".parquet", ".pq"), (".csv",)


def fit(
    *,
    data: str | None,
    target: str | None,
    unlabeled: Sequence[str] | None,
    labels: str | None,
    key: str | None,
    unlabeled_value: Sequence[str] | None,
    method: str,
    balanced: bool,
    model: Path,
    report: Path | None,
    drop: Sequence[str] | None,
    keep: Sequence[str] | None,
    row_id: str | None,
    confidence_level: float | None,
    holdout: float | None,
    seed: int,
    jobs: int,
    dialect: CsvDialect,
    force: bool,
    output: Output,
) -> None:
    """Fit a model to the rows of files, save it, and print what came out."""
    check_needed("--holdout", holdout, "--confidence", confidence_level)
    check_needed("--key", key, "--labels", labels)
    tables = _find(data, unlabeled, dialect, output)
    labeled_by = None if labels is None else Files.find([labels], dialect)
    read = _paths([*tables, *([] if labeled_by is None else [labeled_by])])
    check_outputs(model, report, inputs=read, force=force)
    _check_model_suffix(model)
    write_report = report_writer(report)
    roles = Roles(target, row_id, drop or (), keep or (), labeled_by, unlabeled_value or ())
    roles = _check_roles(tables[0], roles, key, output)
    rows = read_rows(tables, roles, output)
    target = roles.target
    classes = check_classes(rows.y, rows.n_rows, "the label" if target is None else f"{target!r}")
    _print_rows(rows, output)
    estimator = _estimator(method)(
        confidence_level=confidence_level,
        holdout=holdout,
        class_weight="balanced" if balanced else None,
        n_jobs=jobs,
        random_state=seed,
        verbose=output.verbose,
    )
    _fit_to(estimator, rows, output)
    learned = _unlabeled_facts(estimator, rows, output)
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
    output.result["seconds"] = round(output.seconds, 3)
    output.facts(
        [
            ("Labels", ", ".join(f"{label} ({count:,})" for label, count in classes.items())),
            *known,
            *learned,
            ("Model", f"{model}, {decimal(model.stat().st_size)}"),
            *([] if report is None else [("Report", report)]),
            ("Time", f"{output.seconds:.1f} s"),
        ]
    )
    if confidence_level is None:
        output.say("An estimate is no guarantee; --confidence 0.95 holds labels out for one.")
    output.say(f"Next: hedgeclipper predict {model} FILES -o predictions.parquet")


def _estimator(method: str) -> Any:
    """Return the class of a method, imported here, since other commands do not need it."""
    module, name = {
        "forest": ("forest", "HedgeClipperClassifier"),
        "voting": ("panel", "HedgedVotingClassifier"),
    }[method]
    return getattr(import_module(f"hedgeclipper.{module}.classifier"), name)


def report(
    *,
    model: Path,
    data: str,
    unlabeled: Sequence[str] | None,
    labels: str | None,
    key: str | None,
    unlabeled_value: Sequence[str] | None,
    to: Path,
    dialect: CsvDialect,
    force: bool,
    output: Output,
) -> None:
    """Write a report on a saved model and the rows of files."""
    check_needed("--key", key, "--labels", labels)
    tables = _find(data, unlabeled, dialect, output)
    labeled_by = None if labels is None else Files.find([labels], dialect)
    read = _paths([*tables, *([] if labeled_by is None else [labeled_by])])
    check_outputs(to, inputs=[model, *read], force=force)
    write_report = report_writer(to)
    pipeline, encoder = load_model(model, tables[0])
    roles = Roles(None)
    if encoder is not None:
        _require_target_and_key(tables[0], encoder, labels)
        marks = unlabeled_value or ()
        roles = Roles(encoder.target, encoder.key, labels=labeled_by, marks=marks)
        roles = _check_roles(tables[0], roles, key, output)
    rows = read_rows(tables, roles, output, encoder)
    check_classes(rows.y, rows.n_rows, f"{roles.target!r}")
    _check_rows_of_fit(pipeline.named_steps["model"], rows, output)
    output.result |= {"command": "report", "model": str(model)}
    _write_report(write_report, pipeline, rows, to, force, output)
    output.facts([("Report", to)])


def _require_target_and_key(files: Files, encoder: ColumnEncoder, labels: str | None) -> None:
    """Raise unless rows have the target, which may be in a file of labels, and the key if any."""
    needed = [encoder.target if labels is None else None, encoder.key]
    files.require(
        [name for name in needed if name is not None],
        "the model",
        "Pass the rows of the fit, and --labels if their labels are in another file.",
    )


def _check_rows_of_fit(estimator: Any, rows: TableRows, output: Output) -> None:
    """Raise unless labeled rows are those of the fit; note if there are more or less others.

    A report on other rows would show what was measured on those of the fit beside them. LibSVM
    rows, and those of a model that was saved without a digest, are only counted.
    """
    got = None
    if rows.y.size != estimator.n_labeled_:
        got = f"{rows.y.size:,}, so these are different rows"
    elif not _have_digest_of_fit(rows):
        got = f"{rows.y.size:,} that are different rows, or in another order"
    if got is not None:
        raise CommandError(
            f"The model was fitted to {estimator.n_labeled_:,} labeled rows. Got {got}.",
            "Pass the rows of the fit; measure the model on other rows with `hedgeclipper "
            "evaluate`.",
        )
    if rows.n_unlabeled != estimator.n_unlabeled_:
        output.note(
            f"The model was fitted to {estimator.n_unlabeled_:,} unlabeled rows, and there are "
            f"{rows.n_unlabeled:,} here. Its error is that on the rows of the fit."
        )


def _have_digest_of_fit(rows: TableRows) -> bool:
    """Return whether labeled rows have the digest of those of the fit, where one was saved."""
    known = getattr(rows.encoder, "digest_", None)
    if rows.encoder is None or known is None:
        return True
    return known == digest_of(rows.encoder.transform(rows.X), rows.y)


def _find(
    data: str | None, unlabeled: Sequence[str] | None, dialect: CsvDialect, output: Output
) -> list[Files]:
    """Return the files of rows, and of unlabeled rows if any; all must be LibSVM, or none.

    ``--unlabeled a.csv rows.csv`` takes rows.csv too, if nothing else is the data.
    """
    if data is None:
        *unlabeled, data = unlabeled or [""]
        if not unlabeled:
            raise CommandError(
                "Missing argument 'DATA'.", "Name the file with the labeled rows.", ExitCode.USAGE
            )
        output.note(f"{data} is taken as DATA, as the last of the files after --unlabeled.")
    first, *others = [Files.find(where, dialect) for where in ([data], unlabeled) if where]
    for more in others:
        if more.is_libsvm != first.is_libsvm:
            raise CommandError(
                f"{first.place} is {first.kind} and {more.place} is {more.kind}, which has other "
                "columns.",
                "Pass both as LibSVM, or none.",
            )
        if {path.resolve() for path in more.paths} & {path.resolve() for path in first.paths}:
            raise CommandError(
                f"{more.place} is passed twice, as DATA and as --unlabeled.",
                "Leave out --unlabeled: rows of DATA without a target are unlabeled already.",
                ExitCode.USAGE,
            )
    note_dialect(first, output)
    return [first, *others]


def note_dialect(files: Files, output: Output) -> None:
    """Note how CSV files are written, if that was found out and is not as usual.

    For files of another kind, note options that say how CSV is written.
    """
    if files.kind != "CSV" and files.dialect != UNKNOWN_DIALECT:
        output.note(
            f"--sep, --decimal and --encoding are for CSV only, and not used for {files.place}."
        )
    if files.kind == "CSV" and files.dialect == UNKNOWN_DIALECT:
        found = files.tables[0].dialect.describe()
        if found and ".tsv" not in files.paths[0].name.lower():
            output.note(f"{files.place} is read with {found}.")


def _paths(tables: list[Files]) -> list[Path]:
    return [path for files in tables for path in files.paths]


def _check_roles(files: Files, roles: Roles, key: str | None, output: Output) -> Roles:
    """Return what columns are for, checked; LibSVM has no target."""
    if files.is_libsvm:
        named = roles.target, roles.key, *roles.drop, *roles.keep, roles.labels
        if any(one is not None for one in named):
            output.note(
                "LibSVM files have no names of columns: the label is the number that begins a "
                "line, and --target, --id, --drop, --keep and --labels are not used."
            )
        return Roles(None)
    if roles.target is None:
        raise CommandError(
            "The column to predict is not named.",
            f"Pass --target with one of {', '.join(map(repr, files.names[:5]))} ...",
            ExitCode.USAGE,
        )
    if roles.labels is None:
        files.require([roles.target], "--target")
    else:
        if None not in (key, roles.key) and key != roles.key:
            raise CommandError("--key and --id name two columns.", "Pass one.", ExitCode.USAGE)
        key = key_of_labels(files, roles.labels, key or roles.key, roles.target)
        roles = replace(roles, key=key)
    files.require(roles.drop, "--drop")
    files.require(roles.keep, "--keep")
    files.require([] if roles.key is None else [roles.key], "--id")
    for option, names in {"left out": roles.drop, "the column of --id": [roles.key]}.items():
        if roles.target in names:
            raise CommandError(
                f"{roles.target!r} is both the target and {option}.",
                f"Take it out of --{'drop' if names is roles.drop else 'id'}, or name another "
                "--target.",
                ExitCode.USAGE,
            )
    return roles


def _check_model_suffix(path: Path) -> None:
    if path.suffix.lower() in OTHER_MODELS:
        raise CommandError(
            f"Models are saved in a format of their own, and never as {path.suffix}.",
            f"Call the file {path.with_suffix('.skops').name}.",
            ExitCode.USAGE,
        )


def _fit_to(estimator: Any, rows: TableRows, output: Output) -> None:
    X, X_unlabeled = rows.encoded()
    if rows.encoder is not None:
        rows.encoder.digest_ = digest_of(X, rows.y)
    if X_unlabeled is None:
        output.note(
            "All rows are labeled, so that nothing is learned beyond them: pass --unlabeled, or "
            "rows whose target is empty."
        )
        X_unlabeled = X[:0]  # says that -1 is a class
    output.say(f"Fitting to {rows.y.size:,} labeled and {rows.n_unlabeled:,} unlabeled rows ...")
    estimator.fit(X, rows.y, X_unlabeled=X_unlabeled)


def _unlabeled_facts(estimator: Any, rows: TableRows, output: Output) -> list[tuple[str, str]]:
    """Return what is known of the unlabeled rows, in lines to print.

    That is what they bring, which classes none of them gets, and which ones to label next.
    """
    if rows.X_unlabeled is None:
        return []
    facts = []
    inspected = inspect_estimator(estimator, "A summary")
    if rows.y.size > LABELS_FOR_GAIN:
        if inspected.describe_gain is not None:
            facts.append(("Unlabeled", "--report measures what these rows bring"))
    elif inspected.describe_gain is not None:
        with suppress(AttributeError):  # without views nothing is learned from them
            # asked for before the model is saved, which then knows it
            told = inspected.describe_gain()
            output.result["unlabeled_gain"] = asdict(estimator.unlabeled_gain_)
            facts.append(("Unlabeled", told.removeprefix("unlabeled rows: ")))
    # of very many rows only a sample is known
    never, doubts = estimator.never_predicted_, inspected.checked.unlabeled_doubts
    output.result["never_predicted"] = [str(label) for label in never]
    if never:
        text = f"{listed([*never], 5)}, for none of {doubts.size:,} unlabeled rows"
        facts.append(("Never", f"predicted: {text}"))
    if rows.n_unlabeled == doubts.size:
        least_certain = np.argsort(-doubts, kind="stable")[:ROWS_TO_LABEL]
        names = rows.names_of(least_certain)
        output.result["label_next"] = names
        facts.append(("Label next", f"{', '.join(names)}: the least certain predictions"))
    return facts


def load_model(path: Path, files: Files) -> tuple[Pipeline, ColumnEncoder | None]:
    """Return a model that fit has saved, for files of this kind, and what it does with columns."""
    if not path.is_file():
        raise CommandError(
            f"{path} is not a file.",
            "Pass a model that `hedgeclipper fit` has saved.",
            ExitCode.MODEL,
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
    if page.suffix.lower() not in ("", ".html", ".htm"):
        raise CommandError(
            f"A report is a page for browsers, and not {page.suffix}.",
            f"Call it {page.with_suffix('.html').name}; a browser can print it as PDF.",
            ExitCode.USAGE,
        )
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
        changed = [plan for plan in rows.encoder.plans_ if plan.what != "as they are"]
        for plan in changed[:COLUMNS_TO_LIST]:
            about[f"column {plan.name}"] = f"{plan.kind}: {plan.what}"
        if len(changed) > COLUMNS_TO_LIST:
            about["more columns"] = f"{len(changed) - COLUMNS_TO_LIST:,}, encoded or left out"
    given: dict[str, Any] = {"X": rows.X, "y": rows.y, "force": force, "about": about}
    given["title"] = f"Predictions of {about.get('target', 'the label')} in {places[0]}"
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
        if plan.note is not None:
            left_out = " is left out" if plan.kind == "left out" else ""
            output.note(f"Column {plan.name!r}{left_out}: {plan.note}.")
    shown = plans
    if len(plans) > COLUMNS_TO_LIST:
        shown = [plan for plan in plans if plan.what != "as they are"]
        output.say(f"{len(plans) - len(shown):,} columns of numbers, as they are")
    if shown:
        shown, n_more = shown[:COLUMNS_TO_LIST], len(shown) - COLUMNS_TO_LIST
        output.table(("Column", "Kind", "Encoding"), [(p.name, p.kind, p.what) for p in shown])
        if n_more > 0:
            output.say(f"... and {n_more:,} more; --json lists all")


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
