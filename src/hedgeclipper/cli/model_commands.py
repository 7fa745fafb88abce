"""``hedgeclipper fit``, ``predict`` and ``evaluate``: models of the rows of tables.

A model is saved as a pipeline of a `ColumnEncoder` and an estimator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet
from rich.filesize import decimal
from sklearn.pipeline import Pipeline

from hedgeclipper.base.columns import ColumnEncoder
from hedgeclipper.base.evaluation import Evaluation, evaluate_predictions
from hedgeclipper.cli.output import (
    CommandError,
    ExitCode,
    Output,
    auto_label_facts,
    check_outputs,
    check_suffix,
    error_facts,
)
from hedgeclipper.cli.tables import (
    CSV,
    PARQUET,
    Files,
    as_classes,
    check_classes,
    clean_labels,
    find_id_columns,
    names_of_rows,
    write_table,
)
from hedgeclipper.io import missing_labels
from hedgeclipper.io.atomic import atomic_path
from hedgeclipper.io.extras import import_extra
from hedgeclipper.io.formats import CsvDialect
from hedgeclipper.persistence import load, save

COLUMNS_TO_LIST = CLASSES_TO_LIST = 12
ADD_COLUMNS = "Add what is missing, empty where it is not known, or fit again without it (--drop)."
METHODS = {
    "forest": ("forest", "HedgeClipperClassifier"),
    "voting": ("panel", "HedgedVotingClassifier"),
}


def fit(
    *,
    data: str,
    target: str,
    unlabeled: Sequence[str] | None,
    unlabeled_value: Sequence[str] | None,
    method: str,
    balanced: bool,
    model: Path,
    report: Path | None,
    drop: Sequence[str] | None,
    keep: Sequence[str] | None,
    row_id: str | None,
    confidence_level: float | None,
    seed: int,
    jobs: int,
    dialect: CsvDialect,
    force: bool,
    output: Output,
) -> None:
    """Fit a model to the rows of files, save it, and print what came out."""
    tables = [Files.find(where, output, dialect) for where in ([data], unlabeled) if where]
    paths = [path.resolve() for files in tables for path in files.paths]
    if len(set(paths)) < len(paths):
        raise CommandError(
            f"{tables[-1].place} is passed twice, as DATA and as --unlabeled.",
            "Leave out --unlabeled: rows of DATA without a target are unlabeled already.",
            ExitCode.USAGE,
        )
    check_outputs(model, report, inputs=paths, force=force)
    write_report = report_writer(report)
    roles = Roles(target, row_id, drop or (), keep or (), unlabeled_value or ())
    rows = read_training_rows(tables, roles, output)
    classes = check_classes(rows.y, len(rows.X) + len(rows.X_unlabeled), target)
    _print_rows(tables, rows, output)
    module, name = METHODS[method]
    # imported here, since other commands do not need it
    estimator = getattr(import_module(f"hedgeclipper.{module}.classifier"), name)(
        confidence_level=confidence_level,
        class_weight="balanced" if balanced else None,
        n_jobs=jobs,
        random_state=seed,
        verbose=output.verbose,
    )
    X = encode(rows.encoder, rows.X)
    # no rows, if there are none, say that -1 is a class
    more = encode(rows.encoder, rows.X_unlabeled) if len(rows.X_unlabeled) else X[:0]
    estimator.fit(X, rows.y, X_unlabeled=more)
    pipeline = Pipeline([("columns", rows.encoder), ("model", estimator.set_params(verbose=0))])
    save(pipeline, model, force=force)
    output.wrote("model", model)
    output.result |= {
        "command": "fit",
        "method": method,
        "target": target,
        "n_labeled": rows.y.size,
        "n_unlabeled": len(rows.X_unlabeled),
        "classes": {str(label): count for label, count in classes.items()},
        "columns": [asdict(plan) for plan in rows.encoder.plans_],
    }
    known = error_facts(estimator, output)
    if report is not None:
        output.say("Writing the report ...")
        _write_report(write_report, pipeline, tables, rows, report, force)
        output.wrote("report", report)
    output.result["seconds"] = round(output.seconds, 3)
    output.facts(
        [
            ("Labels", ", ".join(f"{label} ({count:,})" for label, count in classes.items())),
            *known,
            ("Model", f"{model}, {decimal(model.stat().st_size)}"),
            *([] if report is None else [("Report", report)]),
            ("Time", f"{output.seconds:.1f} s"),
        ]
    )
    if confidence_level is None:
        output.say("An estimate is no guarantee; --confidence 0.95 holds labels out for one.")
    output.say(f"Next: hedgeclipper predict {model} FILES -o predictions.parquet")


def predict(
    *,
    model: Path,
    files: Sequence[str],
    to: Path,
    max_error: float | None,
    confidence_level: float,
    row_id: str | None,
    dialect: CsvDialect,
    force: bool,
    output: Output,
) -> None:
    """Write a model's predictions for the rows of files, in their order."""
    check_suffix(to, PARQUET, CSV)
    table = Files.find(files, output, dialect)
    check_outputs(to, inputs=[model, *table.paths], force=force)
    encoder, estimator = load_model(model)
    table.require([] if row_id is None else [row_id], "--id")
    key = row_id or (encoder.key if encoder.key in table.names else None)
    frame, X = read_new_rows(table, encoder, key, output)
    with atomic_path(to, force=force) as draft:
        estimator.set_params(verbose=output.verbose).predict_to(draft, X)
        predictions = pa.parquet.read_table(draft)
        facts = []
        if max_error is not None:
            sure = estimator.auto_label(X, max_error, confidence_level)
            predictions = _blank(predictions, ~sure.is_sure)
            facts = auto_label_facts(sure, output)
        if key is not None:
            if key in predictions.column_names:
                raise CommandError(
                    f"Predictions have a column {key!r} themselves.", "Rename the column of --id."
                )
            predictions = predictions.add_column(0, key, pa.array(frame[key], from_pandas=True))
        write_table(predictions, draft, to)
    counts = Counter(predictions["prediction"].to_pylist()).most_common()
    classes = {str(label): count for label, count in counts if label is not None}
    output.result |= {"command": "predict", "n_rows": len(frame), "classes": classes}
    output.wrote("predictions", to)
    output.table(
        ("Prediction", "Rows", "Proportion"),
        [
            ("(blank)" if label is None else label, f"{count:,}", f"{count / len(frame):.1%}")
            for label, count in counts
        ],
    )
    output.facts([*facts, ("Predictions", f"{to}, {len(frame):,} rows")])


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
    table = Files.find(files, output, dialect)
    encoder, estimator = load_model(model)
    target = target or str(encoder.target)
    table.require([target], "--target", "Pass labeled rows, or name their column.")
    frame, X = read_new_rows(table, encoder, target, output)
    labels = clean_labels(frame[target], unlabeled_value or (), output)
    known = ~missing_labels(labels)
    if not known.any():
        raise CommandError(f"None of the {len(frame):,} rows has a label.", "Pass labeled rows.")
    if not known.all():
        output.note(f"{(~known).sum():,} rows without a label are not used.")
    by_text = {str(label): label for label in estimator.classes_.tolist()}
    y = np.array([by_text.get(str(x), x) for x in as_classes(labels[known]).tolist()], object)
    found = {str(label) for label in y}
    unknown = sorted(found - {*by_text})
    if len(unknown) == len(found):
        raise CommandError(
            f"{target!r} has no class of the model: {unknown[:5]}, where the model has "
            f"{[*by_text][:5]}.",
            "Name the column of the labels with --target.",
        )
    if unknown:
        output.note(f"Classes that the model does not know count as errors: {unknown[:5]}.")
    predicted = estimator.predict(X[known]), estimator.predict_proba(X[known])
    scores = evaluate_predictions(y, *predicted, estimator.classes_, confidence_level)
    output.result |= {"command": "evaluate", "model": str(model), **scores.to_dict()}
    output.facts(scores.facts())
    _print_classes(scores, output)


@dataclass(frozen=True)
class Roles:
    """What columns are for: the target, the key that names rows, others to drop or to keep.

    ``marks`` are values of the target that mean unlabeled.
    """

    target: str
    key: str | None
    drop: Sequence[str]
    keep: Sequence[str]
    marks: Sequence[str]

    def check(self, files: Files) -> None:
        """Raise unless the columns exist, and the target has no other role."""
        for option, names in {
            "--target": [self.target],
            "--drop": self.drop,
            "--keep": self.keep,
            "--id": [] if self.key is None else [self.key],
        }.items():
            files.require(names, option)
            if option != "--target" and self.target in names:
                raise CommandError(
                    f"{self.target!r} is both the target and a column of {option}.",
                    f"Take it out of {option}, or name another --target.",
                    ExitCode.USAGE,
                )


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Labeled rows with their labels, unlabeled rows, and the fitted encoder of their columns."""

    X: pd.DataFrame
    y: np.ndarray
    X_unlabeled: pd.DataFrame
    # of the unlabeled rows
    row_names: list[str]
    encoder: ColumnEncoder


def read_training_rows(tables: list[Files], roles: Roles, output: Output) -> TrainingRows:
    """Return the rows of files.

    Those of the first table that have a label are labeled; those of a second table are not.
    """
    roles.check(tables[0])
    strings = {roles.target, roles.key or roles.target, *(n for t in tables for n in t.codes)}
    frame = tables[0].frame([*strings])
    labels = clean_labels(frame[roles.target], roles.marks, output)
    others = {roles.target, roles.key, *roles.drop}
    names = [name for name in frame if name not in others]
    left_out = find_id_columns(frame[[name for name in names if name not in roles.keep]])
    for name, reason in left_out.items():
        output.note(f"Column {name!r} is left out: {reason}. Pass --keep {name!r} to use it.")
    names = [name for name in names if name not in left_out]
    if not names:
        raise CommandError(f"{tables[0].place} has no column but the target.", "Add columns.")
    if roles.key is not None:
        left_out[roles.key] = "it names the rows"
    encoder = ColumnEncoder(roles.target, roles.key, left_out).set_output(transform="pandas")
    known, more = ~missing_labels(labels), None
    for files in tables[1:]:
        files.require(names, "the unlabeled rows", ADD_COLUMNS)
        more = files.frame([*strings])
    encoder.fit(frame[names], X_unlabeled=None if more is None else more[names])
    unlabeled = pd.concat([frame[~known], more])
    return TrainingRows(
        X=frame[known],
        y=as_classes(labels[known]),
        X_unlabeled=unlabeled,
        row_names=names_of_rows(unlabeled, roles.key),
        encoder=encoder,
    )


def read_new_rows(
    files: Files, encoder: ColumnEncoder, extra: str | None, output: Output
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of files, as they are and encoded; note what the model does not know.

    ``extra`` is one more column to read as text: a key, or the target.
    """
    files.require(encoder.used_names, "the model", ADD_COLUMNS)
    known = {*encoder.used_names, *encoder.names_of("left out")}
    known |= {encoder.target, encoder.key, extra}
    if more := [name for name in files.names if name not in known]:
        output.note(f"Columns that the model does not know are not used: {', '.join(more[:10])}.")
    frame = files.frame([*encoder.string_names, *([] if extra is None else [extra])])
    for name, values in encoder.unknown_values(frame).items():
        if values:
            (value, count), *_ = values.most_common()
            output.note(
                f"Column {name!r} has {len(values):,} values that the model does not know, such "
                f"as {value!r} ({count:,}): in these rows it relies on the other columns."
            )
    return frame, encode(encoder, frame)


def encode(encoder: ColumnEncoder, frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows as numbers, or name a column that has too large ones."""
    X = encoder.transform(frame)
    infinite = (X.abs() > np.finfo(np.float32).max).any()
    if infinite.any():
        raise CommandError(
            f"Column {infinite.idxmax()!r} has an infinite number, or one too large.",
            "Rescale the column, or leave the place empty.",
        )
    return X


def load_model(path: Path) -> tuple[ColumnEncoder, Any]:
    """Return the two steps of a model that fit has saved."""
    if not path.is_file():
        raise CommandError(
            f"{path} is not a file.",
            "Pass a model that `hedgeclipper fit` has saved.",
            ExitCode.MODEL,
        )
    model = load(path)
    steps = model.named_steps if isinstance(model, Pipeline) else {}
    if not isinstance(steps.get("columns"), ColumnEncoder) or "model" not in steps:
        raise CommandError(
            f"{path} holds a {type(model).__name__} that `hedgeclipper fit` has not saved.",
            "Use it from Python, with hedgeclipper.load.",
            ExitCode.MODEL,
        )
    return steps["columns"], steps["model"]


def report_writer(page: Path | None) -> Any:
    """Return the function that writes a page, before anything long is done; None without one."""
    if page is None:
        return None
    check_suffix(page, ".html", ".htm")
    for module in ("jinja2", "matplotlib"):
        import_extra(module, "report", "A report")
    return import_module("hedgeclipper.report.page").write_report


def _write_report(
    write_report: Any,
    model: Pipeline,
    tables: list[Files],
    rows: TrainingRows,
    page: Path,
    force: bool,
) -> None:
    encoder = rows.encoder
    places = [files.place for files in tables]
    about = dict(zip(("file", "file of unlabeled rows"), places, strict=False))
    about["target"] = encoder.target
    changed = [plan for plan in encoder.plans_ if not plan.stays]
    for plan in changed[:COLUMNS_TO_LIST]:
        about[f"column {plan.name}"] = f"{plan.kind}: {plan.what}"
    if len(changed) > COLUMNS_TO_LIST:
        about["more columns"] = f"{len(changed) - COLUMNS_TO_LIST:,}, encoded or left out"
    has_more = len(rows.X_unlabeled) > 0
    write_report(
        model,
        page,
        X=rows.X,
        y=rows.y,
        X_unlabeled=rows.X_unlabeled if has_more else None,
        row_names=rows.row_names if has_more else None,
        about=about,
        title=f"Predictions of {encoder.target} in {places[0]}",
        force=force,
    )


def _blank(predictions: pa.Table, is_blank: np.ndarray) -> pa.Table:
    """Return predictions of which some are missing."""
    column = predictions["prediction"]
    nothing = pa.scalar(None, column.type)
    column = pa.compute.if_else(pa.array(is_blank), nothing, column)
    return predictions.set_column(0, "prediction", column)


def _print_rows(tables: list[Files], rows: TrainingRows, output: Output) -> None:
    """Print how many rows there are, and what is done with their columns."""
    n_labeled, n_unlabeled, plans = len(rows.X), len(rows.X_unlabeled), rows.encoder.plans_
    if n_unlabeled == 0:
        output.note(
            "All rows are labeled, so that nothing is learned beyond them: pass --unlabeled, or "
            "rows whose target is empty."
        )
    output.say(
        f"{' and '.join(files.place for files in tables)}: {n_labeled + n_unlabeled:,} rows, "
        f"{n_labeled:,} labeled and {n_unlabeled:,} not"
    )
    for plan in plans:
        if plan.note is not None:
            left_out = " is left out" if plan.kind == "left out" else ""
            output.note(f"Column {plan.name!r}{left_out}: {plan.note}.")
    output.table(
        ("Column", "Kind", "Encoding"), [(p.name, p.kind, p.what) for p in plans[:COLUMNS_TO_LIST]]
    )
    if len(plans) > COLUMNS_TO_LIST:
        output.say(f"... and {len(plans) - COLUMNS_TO_LIST:,} more; --json lists all")


def _print_classes(found: Evaluation, output: Output) -> None:
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
