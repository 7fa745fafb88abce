"""``hedgeclipper fit`` and ``hedgeclipper report``: from files to a model, and to a page on it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline

from hedgeclipper.base.columns import ColumnEncoder
from hedgeclipper.cli.errors import CommandError, ExitCode, check_outputs
from hedgeclipper.cli.output import Output, bound_as_record, file_size
from hedgeclipper.cli.table_files import Files
from hedgeclipper.cli.table_rows import TableRows, read_rows
from hedgeclipper.cli.targets import check_classes
from hedgeclipper.forest.classifier import HedgeClipperClassifier
from hedgeclipper.io.extras import import_extra
from hedgeclipper.panel.classifier import HedgedVotingClassifier
from hedgeclipper.persistence import load, save

COLUMNS_TO_LIST = 12
ROWS_IN_REPORT = 50_000


@dataclass(frozen=True)
class Fit:
    """What ``hedgeclipper fit`` was asked for; the names are those of its options."""

    data: str
    target: str | None
    unlabeled: Sequence[str]
    method: str
    model: Path
    report: Path | None
    drop: Sequence[str]
    confidence_level: float | None
    seed: int
    jobs: int
    force: bool


def fit(asked: Fit, output: Output) -> None:
    """Fit a model to the rows of files, save it, and say what came out.

    Parameters
    ----------
    asked : Fit
        What to do.
    output : Output
        Where to say it.
    """
    started = time.perf_counter()
    data, more = _find(asked.data, asked.unlabeled)
    check_outputs(asked.model, asked.report, inputs=_paths(data, more), force=asked.force)
    write_report = None if asked.report is None else report_writer()
    target = _target(data, asked.target, asked.drop, output)
    rows = read_rows(data, more, target, output, asked.drop)
    classes = check_classes(rows.y, rows.n_rows, "the label" if target is None else f"{target!r}")
    _say_rows(data, more, rows, output)
    estimator = _fitted(_estimator(asked, output.verbose), rows, output)
    model = _pipeline(rows.preparation, estimator.set_params(verbose=0))
    save(model, asked.model, force=asked.force)
    output.wrote("model", asked.model)
    output.result |= {
        "command": "fit",
        "method": asked.method,
        "target": target,
        "n_labeled": rows.y.size,
        "n_unlabeled": rows.n_unlabeled,
        "in_memory": rows.in_memory,
        "classes": {str(label): count for label, count in classes.items()},
        "columns": [asdict(p) for p in rows.preparation.plans_] if rows.preparation else [],
        "certificates": [bound_as_record(bound) for bound in _certificates(estimator)],
    }
    if write_report is not None and asked.report is not None:
        about = _about(data, more, rows)
        _report(write_report, model, rows, asked.report, asked.force, about, output)
    output.result["seconds"] = round(time.perf_counter() - started, 3)
    _say_result(asked, estimator, classes, output)


def report(
    model_path: Path, data: str, unlabeled: Sequence[str], page: Path, force: bool, output: Output
) -> None:
    """Write a report on a saved model and the rows of files.

    Parameters
    ----------
    model_path : Path
        The model.
    data : str
        Rows with a column of labels.
    unlabeled : sequence of str
        Files of unlabeled rows.
    page : Path
        The report to write.
    force : bool
        Whether to replace one that exists.
    output : Output
        Where to say what is done.
    """
    files, more = _find(data, unlabeled)
    check_outputs(page, inputs=[model_path, *_paths(files, more)], force=force)
    write_report = report_writer()
    model = load_table_model(model_path)
    preparation = preparation_of(model)
    check_kind(files, preparation, model_path)
    target = None if preparation is None else preparation.target
    if target is not None:
        files.require([target], "the labels")
    rows = read_rows(files, more, target, output, preparation=preparation)
    check_classes(rows.y, rows.n_rows, f"{target!r}")
    output.result |= {"command": "report", "model": str(model_path)}
    _report(write_report, model, rows, page, force, _about(files, more, rows), output)
    output.facts([("Report", page)])


def load_table_model(path: Path) -> Pipeline:
    """Return a model that ``hedgeclipper fit`` has saved.

    Parameters
    ----------
    path : Path
        The file.
    """
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
    return model


def preparation_of(model: Pipeline) -> ColumnEncoder | None:
    """Return what a model does with columns; None for LibSVM, whose columns are numbers."""
    return model.named_steps.get("columns")


def check_kind(files: Files, preparation: ColumnEncoder | None, model_path: Path) -> None:
    """Raise if rows have numbered columns and the model wants named ones, or the other way."""
    if files.is_libsvm != (preparation is None):
        wanted = "LibSVM" if preparation is None else "CSV, Parquet or Arrow"
        raise CommandError(
            f"{model_path} was fitted to {wanted} files. Got {files.kind}.",
            f"Pass rows as {wanted}.",
        )


def _find(data: str, unlabeled: Sequence[str]) -> tuple[Files, Files | None]:
    """Return the files of rows and of unlabeled rows, which must be of one kind if LibSVM."""
    files = Files.find([data])
    more = Files.find(unlabeled) if unlabeled else None
    if more is not None and more.is_libsvm != files.is_libsvm:
        raise CommandError(
            f"{files.place} is {files.kind} and {more.place} is {more.kind}, which has "
            "other columns.",
            "Pass both as LibSVM, or none.",
        )
    return files, more


def _paths(*tables: Files | None) -> list[Path]:
    return [path for files in tables if files is not None for path in files.paths]


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
            f"{target!r} is to be predicted and to be left out.",
            "Take it out of --drop, or name another --target.",
            ExitCode.USAGE,
        )
    return target


def _estimator(asked: Fit, verbose: int) -> Any:
    options = {
        "confidence_level": asked.confidence_level,
        "n_jobs": asked.jobs,
        "random_state": asked.seed,
        "verbose": verbose,
    }
    if asked.method == "voting":
        return HedgedVotingClassifier(**options)
    return HedgeClipperClassifier(**options)


def _fitted(estimator: Any, rows: TableRows, output: Output) -> Any:
    X, X_unlabeled = rows.prepared()
    if X_unlabeled is None:
        output.note(
            "All rows are labeled, so that nothing is learned beyond them: pass --unlabeled, or "
            "rows whose target is empty."
        )
        X_unlabeled = X[:0]  # says that -1 is a class
    output.say(f"Fitting to {rows.y.size:,} labeled and {rows.n_unlabeled:,} unlabeled rows ...")
    return estimator.fit(X, rows.y, X_unlabeled=X_unlabeled)


def _pipeline(preparation: ColumnEncoder | None, estimator: Any) -> Pipeline:
    steps = [] if preparation is None else [("columns", preparation)]
    return Pipeline([*steps, ("model", estimator)])


def report_writer() -> Any:
    """Return the function that writes reports, before anything long is done."""
    for module in ("jinja2", "matplotlib"):
        import_extra(module, "report", "A report")
    return import_module("hedgeclipper.inspection.report").write_report


def _report(
    write_report: Any,
    model: Pipeline,
    rows: TableRows,
    page: Path,
    force: bool,
    about: dict[str, str],
    output: Output,
) -> None:
    output.say("Writing the report ...")
    given: dict[str, Any] = {"X": rows.X, "y": rows.y, "force": force, "about": about}
    if rows.n_unlabeled:
        given["X_unlabeled"], given["row_names"] = rows.sample(ROWS_IN_REPORT)
        given["n_unlabeled"] = rows.n_unlabeled
    write_report(model, page, **given)
    output.wrote("report", page)


def _about(data: Files, more: Files | None, rows: TableRows) -> dict[str, str]:
    """Return what a report should tell of the files and of what was done with their columns."""
    about = {"file": data.place}
    if more is not None:
        about["file of unlabeled rows"] = more.place
    if rows.preparation is None:
        return about
    about["target"] = str(rows.preparation.target)
    changed = [plan for plan in rows.preparation.plans_ if not plan.stays]
    for plan in changed[:COLUMNS_TO_LIST]:
        about[f"column {plan.name}"] = f"{plan.kind}: {plan.what}"
    if len(changed) > COLUMNS_TO_LIST:
        about["more columns"] = f"{len(changed) - COLUMNS_TO_LIST:,}, made numbers or left out"
    return about


def _say_rows(data: Files, more: Files | None, rows: TableRows, output: Output) -> None:
    how = "into memory" if rows.in_memory else "in batches"
    places = " and ".join(files.place for files in (data, more) if files is not None)
    output.say(
        f"{places}: {rows.n_rows:,} rows, {rows.y.size:,} labeled and "
        f"{rows.n_unlabeled:,} not, read {how}"
    )
    if rows.preparation is None:
        output.say(f"{rows.X.shape[1]:,} columns of numbers, as they are")
        return
    plans = rows.preparation.plans_
    for plan in plans:
        if plan.doubt is not None:
            output.note(f"Column {plan.name!r}: {plan.doubt}.")
    shown = plans
    if len(plans) > COLUMNS_TO_LIST:
        shown = [plan for plan in plans if not plan.stays]
        output.say(f"{len(plans) - len(shown):,} columns of numbers, as they are")
    if shown:
        shown, n_more = shown[:COLUMNS_TO_LIST], len(shown) - COLUMNS_TO_LIST
        output.table(("Column", "Kind", "What is done"), [(p.name, p.kind, p.what) for p in shown])
        if n_more > 0:
            output.say(f"... and {n_more:,} more; --json lists all")


def _certificates(estimator: Any) -> list[Any]:
    found = estimator.certificate_
    return found if isinstance(found, list) else [found]


def _say_result(asked: Fit, estimator: Any, classes: dict[Any, int], output: Output) -> None:
    bounds = _certificates(estimator)
    names = ["Error"] if len(bounds) == 1 else [f"Error, {label}" for label in classes]
    counts = ", ".join(f"{label} ({count:,})" for label, count in classes.items())
    facts = [
        ("Labels", counts),
        *zip(names, [bound.describe() for bound in bounds], strict=True),
        ("Model", f"{asked.model}, {file_size(asked.model.stat().st_size)}"),
    ]
    if asked.report is not None:
        facts.append(("Report", str(asked.report)))
    facts.append(("Time", f"{output.result['seconds']:.1f} s"))
    output.facts(facts)
    if asked.confidence_level is None:
        output.say("An estimate is no guarantee; --confidence-level 0.95 holds labels out for one.")
    output.say(f"Next: hedgeclipper predict {asked.model} FILES -o predictions.parquet")
