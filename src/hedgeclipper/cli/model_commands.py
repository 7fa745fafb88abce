"""``hedgeclipper fit`` and ``report``: models of the rows of tables.

A model is saved as it is fitted, with what is known of its files as ``fit_files_``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.filesize import decimal

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.cli.app import Fit, WriteReport
from hedgeclipper.cli.output import Output, UsageError, check_outputs, check_suffix, error_facts
from hedgeclipper.cli.tables import count_classes
from hedgeclipper.cli.training_rows import (
    TrainingRows,
    columns_to_use,
    digest_labeled,
    find_tables,
    read_people,
    read_target,
    read_training_rows,
)
from hedgeclipper.io import as_text
from hedgeclipper.persistence import ModelFileError, load, save
from hedgeclipper.votes.aggregator import VoteAggregator

ROWS_IN_REPORT = 50_000
LINES_OF_COLUMNS = 12


def fit(options: Fit, output: Output) -> None:
    """Fit a model to the rows of files, save it, and print what came out."""
    tables = find_tables(options, output)
    outputs, given = (options.model, options.report), options.labels and Path(options.labels)
    check_outputs(*outputs, inputs=[*tables, given], force=options.force)
    check_suffix(options.report, ".html", ".htm")
    people = read_people(options, options.target, tables, output)
    target = options.target or (people and people.column)
    if not target:
        raise UsageError("Missing option '--target'. Name the column to predict.")
    if people is None:
        tables[0].require([target], "--target")
    sample, key = (people.sample, people.key) if people else (None, None)
    drop, keep = options.drop or (), options.keep or ()
    keys = [options.row_id, key]
    names, left_out = columns_to_use(tables[0], target, drop, keep, keys, output)
    labels = read_target(tables[0], target, people, options.unlabeled_value or (), output)
    rows = read_training_rows(tables, labels, names)
    classes = count_classes(rows.y, rows.y.size + rows.n_unlabeled, target)
    _print_rows(rows, output)
    model = HedgeClipperClassifier(
        options.estimators,
        confidence_level=options.confidence_level,
        class_weight="balanced" if options.balanced else None,
        keep=options.keep,
        n_jobs=options.jobs,
        random_state=options.seed,
    )
    # no rows, if there are none, say that -1 is a class
    with output.working("fitting"):
        if sample is None:
            unlabeled = rows.unlabeled if rows.n_unlabeled else rows.X[:0]
            model.fit(rows.X, rows.y, X_unlabeled=unlabeled)
        else:  # the digest is of all columns of the file, and was compared with these
            X, y = rows.in_order()
            model.fit(X, y, X_unlabeled=X[:0], sample=replace(sample, digest=""))
    model.fit_files_ = {
        "target": target,
        "key": options.row_id or key,
        "left_out": left_out,
        "digest": digest_labeled(rows.X[used_names(model)], rows.y),
        "n_rows": rows.y.size + rows.n_unlabeled,
        "labeled_rows": np.flatnonzero(rows.is_labeled),
        "labels": as_text(rows.y).tolist(),
    }
    with output.working("saving the model"):
        save(model, options.model, force=options.force)
    output.wrote("model", options.model)
    output.result |= {
        "command": "fit",
        "estimators": options.estimators,
        "target": target,
        "n_labeled": rows.y.size,
        "n_unlabeled": rows.n_unlabeled,
        "classes": {str(label): count for label, count in classes.items()},
        "columns": _print_columns(model, output),
    }
    facts = [
        ("Labels", ", ".join(f"{label} ({count:,})" for label, count in classes.items())),
        *error_facts(model, output),
        ("Model", f"{options.model}, {decimal(options.model.stat().st_size)}"),
    ]
    if options.report is not None:
        facts.append(_write_report(model, rows, options.report, options.force, output))
    output.result["seconds"] = round(output.seconds, 3)
    output.facts([*facts, ("Time", f"{output.seconds:.1f} s")])
    if options.confidence_level is None:
        output.say("An estimate is no guarantee; --confidence 0.95 holds labels out for one.")
    then = "FILES -o predictions.parquet"
    if sample is not None:
        then = f"{options.data} --max-error 0.05 -o labels.csv"
    output.say(f"Next: hedgeclipper predict {options.model} {then}")


def report(options: WriteReport, output: Output) -> None:
    """Write a report on a saved model and the rows that it was fitted to."""
    model = load_model(options.model)
    target = model.fit_files_["target"]
    tables = find_tables(options, output)
    inputs = [options.model, *tables, options.labels and Path(options.labels)]
    check_outputs(options.to, inputs=inputs, force=options.force)
    check_suffix(options.to, ".html", ".htm")
    people = read_people(options, target, tables, output)
    if people is None:
        advice = "Pass the rows of the fit, and --labels if their labels are in another file."
        tables[0].require([target], "the model", advice)
    labels = read_target(tables[0], target, people, options.unlabeled_value or (), output)
    strings = () if model.encoder_ is None else model.encoder_.string_names
    rows = read_training_rows(tables, labels, list(model.feature_names_in_), strings)
    _check_rows_of_fit(model, rows, output)
    output.result |= {"command": "report", "model": str(options.model)}
    output.facts([_write_report(model, rows, options.to, options.force, output)])


def _check_rows_of_fit(model: HedgeClipperClassifier, rows: TrainingRows, output: Output) -> None:
    """Raise unless labeled rows are those of the fit; note if there are more or fewer others.

    A report on other rows would show what was measured on those of the fit beside them.
    """
    if model.fit_files_["digest"] != digest_labeled(rows.X[used_names(model)], rows.y):
        raise ValueError(
            f"The model was fitted to {model.n_labeled_:,} labeled rows. Got {rows.y.size:,} that "
            "are different. Pass the rows of the fit; measure the model on other rows with "
            "`hedgeclipper evaluate`."
        )
    if rows.n_unlabeled != model.n_unlabeled_:
        output.note(
            f"The model was fitted to {model.n_unlabeled_:,} unlabeled rows, and there are "
            f"{rows.n_unlabeled:,} here. Its error is that on the rows of the fit."
        )


def used_names(model: HedgeClipperClassifier) -> list[str]:
    """Return the columns that predictions depend on, by which rows of the fit are recognized."""
    encoder = model.encoder_
    return list(model.feature_names_in_) if encoder is None else encoder.used_names


def load_model(path: Path, takes_votes: bool = False) -> Any:
    """Return a model that fit has saved, or also votes."""
    if not path.is_file():
        raise ModelFileError(
            f"{path} is not a file. Pass a model that `hedgeclipper fit` has saved."
        )
    model = load(path)
    if isinstance(model, VoteAggregator):
        if takes_votes:
            return model
        raise ModelFileError(
            f"{path} is a model of votes, which this command does not take. `hedgeclipper predict` "
            "labels new votes with it; `hedgeclipper votes` prints its error, and --report writes "
            "its report."
        )
    if not hasattr(model, "fit_files_"):
        raise ModelFileError(
            f"{path} holds a {type(model).__name__} that `hedgeclipper fit` has not saved. Use it "
            "from Python, with hedgeclipper.load."
        )
    return model


def _write_report(
    model: HedgeClipperClassifier, rows: TrainingRows, path: Path, force: bool, output: Output
) -> tuple[str, str]:
    from hedgeclipper.report import page

    given, files = {}, model.fit_files_
    places = [table.place for table in rows.tables]
    about = dict(zip(("file", "file of unlabeled rows"), places, strict=False))
    about["target"] = files["target"]
    if rows.n_unlabeled:
        given["X_unlabeled"], given["row_names"] = rows.sample(ROWS_IN_REPORT, files["key"])
    if rows.n_unlabeled > ROWS_IN_REPORT:
        about["unlabeled rows"] = f"{ROWS_IN_REPORT:,} drawn at random of {rows.n_unlabeled:,}"
    about |= {f"column {name}": f"left out: {why}" for name, why in files["left_out"].items()}
    given |= {"about": about, "title": f"Predictions of {files['target']} in {places[0]}"}
    with output.working("writing the report"):
        page.write_report(model, path, force=force, **given)
    return output.wrote("report", path)


def _print_rows(rows: TrainingRows, output: Output) -> None:
    """Print how many rows there are."""
    n_labeled, n_unlabeled = rows.y.size, rows.n_unlabeled
    if n_unlabeled == 0:
        output.note(
            "All rows are labeled, so that nothing is learned beyond them: pass --unlabeled, or "
            "rows whose target is empty."
        )
    output.say(
        f"{' and '.join(files.place for files in rows.tables)}: {n_labeled + n_unlabeled:,} rows, "
        f"{n_labeled:,} labeled and {n_unlabeled:,} not"
    )


def _print_columns(model: HedgeClipperClassifier, output: Output) -> list[dict[str, Any]]:
    """Print what is done with columns, and return it."""
    plans = model.encoding_.to_dict("records")
    for name, why in model.fit_files_["left_out"].items():
        plans.append({"column": name, "kind": "left out", "what": why, "note": ""})
    for plan in plans:
        if plan["note"]:
            left_out = " is left out" if plan["kind"] == "left out" else ""
            output.note(f"Column {plan['column']!r}{left_out}: {plan['note']}.")
    lines = [(plan["column"], plan["kind"], plan["what"]) for plan in plans]
    output.table(("Column", "Kind", "Encoding"), lines, LINES_OF_COLUMNS)
    return plans
