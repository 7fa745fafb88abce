"""``hedgeclipper fit``, ``predict``, ``evaluate`` and ``report``: models of the rows of tables.

A model is saved as it is fitted, with what is known of its files as ``fit_files_``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from rich.filesize import decimal
from sklearn.utils.random import sample_without_replacement

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.base.evaluation import Evaluation
from hedgeclipper.bounds.auto_labels import AutoLabels
from hedgeclipper.cli.app import Evaluate, Fit, Predict, WriteReport
from hedgeclipper.cli.checked_labels import (
    LabelTable,
    PeoplesLabels,
    clean_texts,
    listed_rows,
    note_skipped,
)
from hedgeclipper.cli.finish_commands import OWN_COLUMNS, claim_of, labels_table
from hedgeclipper.cli.output import (
    Output,
    UsageError,
    auto_label_facts,
    check_outputs,
    check_suffix,
    error_facts,
)
from hedgeclipper.cli.tables import (
    TABLE_SUFFIXES,
    Files,
    clean_labels,
    count_classes,
    parse_classes,
    texts_of,
    write_table,
)
from hedgeclipper.io import as_text, missing_labels
from hedgeclipper.io.arrays import digest_rows
from hedgeclipper.io.atomic import naming_output
from hedgeclipper.io.frames import pyarrow
from hedgeclipper.io.messages import counted
from hedgeclipper.persistence import ModelFileError, load, save
from hedgeclipper.votes.aggregator import VoteAggregator

ROWS_IN_REPORT = 50_000
LINES_OF_COLUMNS = 12
ADD_COLUMNS = "Add what is missing, empty where it is not known, or fit again without it (--drop)."


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
        "digest": digest_labeled(rows.X[_used_names(model)], rows.y),
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
    known = error_facts(model, output)
    if options.report is not None:
        _write_report(model, rows, options.report, options.force, output)
    output.result["seconds"] = round(output.seconds, 3)
    output.facts(
        [
            ("Labels", ", ".join(f"{label} ({count:,})" for label, count in classes.items())),
            *known,
            ("Model", f"{options.model}, {decimal(options.model.stat().st_size)}"),
            *([] if options.report is None else [("Report", options.report)]),
            ("Time", f"{output.seconds:.1f} s"),
        ]
    )
    if options.confidence_level is None:
        output.say("An estimate is no guarantee; --confidence 0.95 holds labels out for one.")
    then = "FILES -o predictions.parquet"
    if sample is not None:
        then = f"{options.data} --max-error 0.05 -o labels.csv"
    output.say(f"Next: hedgeclipper predict {options.model} {then}")


def predict(options: Predict, output: Output) -> None:
    """Write a model's predictions for the rows of files, in their order."""
    to, row_id = options.to, options.row_id
    check_suffix(to, *TABLE_SUFFIXES)
    table = Files.find(options.files, output, options.dialect)
    check_outputs(to, inputs=[options.model, table], force=options.force)
    if isinstance(model := load_model(options.model, takes_votes=True), VoteAggregator):
        # imported here, as the report below: few need it, and predictions should not wait for it
        from hedgeclipper.cli.vote_commands import predict_votes

        predict_votes(options, model, table, output)
        return
    table.require([] if row_id is None else [row_id], "--id")
    key = row_id or model.fit_files_["key"]
    key = key if key in table.names else None
    names = _check_columns(table, model, key, output)
    keys = None if key is None else table.column(key)
    facts, counts = [], Counter[Any]()
    with (
        output.working("predicting"),
        naming_output(to, only_if_full=True),
        TemporaryDirectory(prefix=".", dir=to.absolute().parent) as folder,
    ):
        raw = Path(folder, "predictions.parquet")
        n_rows = model.predict_to(raw, read_new_rows(table, model, names, output=output))
        parts = _with_keys(raw, keys, counts)
        if options.max_error is not None:
            predictions = pa.Table.from_batches(parts).to_pandas()
            is_people = _has_labels_of_fit(table, model, names, n_rows)
            rest = read_new_rows(table, model, names, ~is_people)
            level = options.confidence_level
            tested = model.tested_predictions_
            asked_before = tested.first_question.words
            sure = model.auto_label(options.max_error, rest, confidence_level=level)
            if not tested.caveat and tested.first_question.words != asked_before:
                _remember_question(model, options.model, output)
            facts = auto_label_facts(sure, output)
            whole = _labels_to_finish(predictions, sure, is_people, table, model.fit_files_, output)
            parts = iter([pa.Table.from_pandas(whole, preserve_index=False)])
        write_table(parts, to, options.force)
    common = counts.most_common()
    classes = {str(label): count for label, count in common}
    output.result |= {"command": "predict", "n_rows": n_rows, "classes": classes}
    output.wrote("predictions", to)
    output.table(
        ("Prediction", "Rows", "Proportion"),
        [(label, f"{count:,}", f"{count / n_rows:.1%}") for label, count in common],
    )
    output.facts([*facts, ("Predictions", f"{to}, {n_rows:,} rows")])
    if options.max_error is not None:
        output.say(f"Next: hedgeclipper finish {to} --to-review review.csv")


def evaluate(options: Evaluate, output: Output) -> None:
    """Print how good a model's predictions are for labeled rows of files."""
    table = Files.find(options.files, output, options.dialect)
    model = load_model(options.model)
    target = options.target or str(model.fit_files_["target"])
    table.require([target], "--target", "Pass labeled rows, or name their column.")
    names = _check_columns(table, model, target, output)
    labels = clean_labels(table.column(target), options.unlabeled_value or (), output)
    known = ~missing_labels(labels)
    if not known.any():
        raise ValueError(f"None of the {known.size:,} rows has a label. Pass labeled rows.")
    if not known.all():
        output.note(f"{(~known).sum():,} rows without a label are not used.")
    by_text = {str(label): label for label in model.classes_.tolist()}
    y = np.array([by_text.get(str(x), x) for x in parse_classes(labels[known]).tolist()], object)
    found = {str(label) for label in y}
    unknown = sorted(found - {*by_text})
    if len(unknown) == len(found):
        raise ValueError(
            f"{target!r} has no class of the model: {unknown[:5]}, where the model has "
            f"{[*by_text][:5]}. Name the column of the labels with --target."
        )
    if unknown:
        output.note(f"Classes that the model does not know count as errors: {unknown[:5]}.")
    rows = read_new_rows(table, model, names, known, output)
    with output.working("predicting"):
        scores = model._evaluate(rows, np.ones(y.size, bool), y, options.confidence_level)
    output.result |= {"command": "evaluate", "model": str(options.model), **vars(scores)}
    output.facts(scores.facts())
    _print_classes(scores, output)


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
    _write_report(model, rows, options.to, options.force, output)
    output.facts([("Report", options.to)])


def _check_rows_of_fit(model: HedgeClipperClassifier, rows: TrainingRows, output: Output) -> None:
    """Raise unless labeled rows are those of the fit; note if there are more or fewer others.

    A report on other rows would show what was measured on those of the fit beside them.
    """
    if model.fit_files_["digest"] != digest_labeled(rows.X[_used_names(model)], rows.y):
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


def _check_columns(
    files: Files, model: HedgeClipperClassifier, extra: str | None, output: Output
) -> list[str]:
    """Return the columns that the model uses; note those that it does not know.

    ``extra`` is one more column that is used: a key, or the target.
    """
    known, given = list(model.feature_names_in_), model.fit_files_
    names = _used_names(model)
    files.require(names, "the model", ADD_COLUMNS)
    others = {*known, *given["left_out"], given["target"], extra}
    if more := [name for name in files.names if name not in others]:
        output.note(f"Columns that the model does not know are not used: {', '.join(more[:10])}.")
    return names


def _used_names(model: HedgeClipperClassifier) -> list[str]:
    """Return the columns that predictions depend on, by which rows of the fit are recognized."""
    encoder = model.encoder_
    return list(model.feature_names_in_) if encoder is None else encoder.used_names


def read_new_rows(
    files: Files,
    model: HedgeClipperClassifier,
    names: list[str],
    wanted: np.ndarray | None = None,
    output: Output | None = None,
) -> Iterator[pd.DataFrame]:
    """Yield the rows of files, or those that are wanted, in batches with columns as in the fit.

    Values that the model does not know are noted in ``output`` at the end.
    """
    encoder, unknown = model.encoder_, defaultdict[str, Counter[Any]](Counter)
    given = ((), 0) if encoder is None else (encoder.string_names, encoder.sources_.size)
    for frame in map(check_finite, files.batches(names, *given)):
        own = frame if wanted is None else frame[wanted[frame.index]]
        if encoder is not None and output is not None:
            for name, values in encoder.unknown_values(own).items():
                if len(unknown[name]) < 10_000:
                    unknown[name].update(values)
        yield own
    for name, values in unknown.items():
        if values and output is not None:
            (value, count), *_ = values.most_common()
            n_values = counted(len(values), "value")
            output.note(
                f"Column {name!r} has {n_values} that the model does not know, such "
                f"as {value!r} ({count:,}): in these rows it relies on the other columns."
            )


def _remember_question(model: Any, path: Path, output: Output) -> None:
    """Save a model with the first question that its test labels have answered."""
    try:
        save(model, path, force=True)
    except OSError as error:
        output.note(
            f"{path} cannot remember this --max-error ({error}). Do not ask for another one: the "
            "guarantee is for the first question."
        )


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
) -> None:
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
    output.wrote("report", path)


def _with_keys(raw: Path, keys: pd.Series | None, counts: Counter[Any]) -> Iterator[Any]:
    """Yield batches of predictions with keys in front; count the classes."""
    start = 0
    with pyarrow("pyarrow.parquet").ParquetFile(raw) as file:
        if keys is not None and keys.name in file.schema_arrow.names:
            raise ValueError(
                f"Predictions have a column {keys.name!r} themselves. Rename the column of --id."
            )
        for batch in file.iter_batches():
            part = slice(start, start := start + batch.num_rows)
            for one in batch["prediction"].value_counts().to_pylist():
                counts[one["values"]] += one["counts"]
            if keys is not None:
                batch = batch.add_column(0, keys.name, pa.array(keys[part], from_pandas=True))
            yield batch


def _has_labels_of_fit(
    files: Files, model: HedgeClipperClassifier, names: list[str], n_rows: int
) -> np.ndarray:
    """Return which rows have a label of people: where the labeled rows of the fit are in place."""
    known, is_people = model.fit_files_, np.zeros(n_rows, bool)
    if n_rows == known["n_rows"] > model.n_labeled_:
        is_people[known["labeled_rows"]] = True
        labeled = pd.concat(read_new_rows(files, model, names, is_people))
        if digest_labeled(labeled, known["labels"]) != known["digest"]:
            is_people[:] = False
    return is_people


def _labels_to_finish(
    predictions: pd.DataFrame,
    found: AutoLabels,
    is_people: np.ndarray,
    table: Files,
    known: dict[str, Any],
    output: Output,
) -> pd.DataFrame:
    """Return a file that people can finish: the rows, predictions, labels and rows to review."""
    if sum(path.stat().st_size for path in table.paths) <= 1 << 30:
        rows = table.frame()
        # the labels of the fit are among those that are written
        drop = [known["target"]] if known["target"] in OWN_COLUMNS else []
        rows = rows.drop(columns=[*drop, *predictions], errors="ignore")
        predictions = pd.concat([rows, predictions], axis=1)
    else:
        output.note("The columns of such large files are not copied beside the labels.")
    labels = texts_of(predictions["prediction"])
    labels[is_people] = np.array(known["labels"], object)[: int(is_people.sum())]
    review = np.flatnonzero(~is_people)[found.review_order]
    claim = claim_of(found, len(labels))
    return labels_table(predictions, "prediction", labels, is_people, review, claim)


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


def _print_classes(found: Evaluation, output: Output) -> None:
    """Print recall of each class and the confusion matrix, as long as there are few classes."""
    counts, predicted = found.confusion.sum(axis=1), found.classes[:LINES_OF_COLUMNS]
    output.table(
        ("Class", "Rows", "Recall", "Interval", *(f"as {label}" for label in predicted)),
        [
            (
                label,
                f"{counts[k]:,}",
                f"{found.recall[k]:.1%}" if counts[k] else "-",
                "{:.1%} to {:.1%}".format(*found.recall_intervals[k]),
                *(f"{n:,}" for n in found.confusion[k, : len(predicted)]),
            )
            for k, label in enumerate(found.classes)
        ],
        LINES_OF_COLUMNS,
    )


def find_tables(options: Fit | WriteReport, output: Output) -> list[Files]:
    """Return the files of rows, and of unlabeled rows if there are such."""
    if options.key is not None and options.labels is None:
        raise UsageError("--key is given without --labels. Pass both.")
    where = [options.data], options.unlabeled
    tables = [Files.find(paths, output, options.dialect) for paths in where if paths]
    paths = [path for files in tables for path in files.paths]
    if len(set(paths)) < len(paths):
        raise UsageError(
            f"{tables[-1].place} is passed twice, as DATA and as --unlabeled. Leave out "
            "--unlabeled: rows of DATA without a target are unlabeled already."
        )
    return tables


def read_people(
    options: Fit | WriteReport, target: str | None, tables: list[Files], output: Output
) -> PeoplesLabels | None:
    """Return the labels of ``--labels``, matched to the rows; None without such."""
    data = tables[0]
    if options.labels is None:
        return None
    table = LabelTable.read(options.labels, target, data.names, data.place, options.dialect, output)
    if table.is_sample and len(tables) > 1:
        raise UsageError(
            f"{options.labels} is a sample of {data.place}, and tells nothing of the rows of "
            "--unlabeled. Put all rows into one file, and draw the sample from it."
        )
    if options.key is not None:
        data.require([options.key], "--key")
    shared = table.shared(data.names) or data.names[:1]
    people = table.match(data.frame(shared), options.key, output)
    note_skipped(people, output)
    if people.sample is not None and people.skipped:
        level = getattr(options, "confidence_level", None)
        if level is not None:
            raise ValueError(
                f"{listed_rows(np.array(people.skipped)).capitalize()} of {options.labels} were "
                "skipped before the tests were drawn, so that these cannot tell of them. Label "
                "them, or leave out --confidence: the error is then an estimate."
            )
        excluded = np.setdiff1d(people.sample.excluded, people.skipped)
        return replace(people, sample=replace(people.sample, excluded=excluded))
    return people


def read_target(
    data: Files, target: str, people: PeoplesLabels | None, marks: Sequence[str], output: Output
) -> np.ndarray:
    """Return the label of each row, None where there is none.

    Labels are those of a column, and those of people; ``marks`` are values that mean unlabeled.
    """
    if target in data.names:
        column = data.column(target).astype(object)
    else:
        column = pd.Series([None] * len(data.column(data.names[0])), name=target, dtype=object)
    if people is not None:
        rows = np.append(people.rows, np.array([*people.more], np.int64))
        before, after = clean_texts(column.iloc[rows]), [*people.labels, *people.more.values()]
        pairs = zip(before, after, strict=True)
        differ = np.array([x not in (None, *marks) and y not in (None, x) for x, y in pairs], bool)
        if differ.any():
            raise ValueError(
                f"Column {target!r} of {data.place} has other labels than --labels for "
                f"{differ.sum():,} rows, such as {listed_rows(rows[differ])}. Keep one label for "
                "each row."
            )
        column.iloc[rows] = after
    return clean_labels(column, marks, output)


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Labeled rows with their labels, and what reads the unlabeled ones in batches."""

    tables: list[Files]
    X: pd.DataFrame
    y: np.ndarray
    unlabeled: Callable[[], Iterator[pd.DataFrame]]
    n_unlabeled: int
    is_labeled: np.ndarray  # of the rows of the first table

    def sample(self, most: int, key: str | None) -> tuple[pd.DataFrame, list[str]]:
        """Return unlabeled rows and their names, at most so many, drawn at random."""
        n_drawn = min(most, self.n_unlabeled)
        drawn = np.sort(sample_without_replacement(self.n_unlabeled, n_drawn, random_state=0))
        start, parts = 0, []
        for frame in self.unlabeled():
            here = slice(*np.searchsorted(drawn, [start, start + len(frame)]))
            parts.append(frame.iloc[drawn[here] - start])
            start += len(frame)
        X, n_first = pd.concat(parts), self.is_labeled.size
        rows = X.index.to_numpy()
        names = self.tables[0].row_names(rows[rows < n_first], key)
        for more in self.tables[1:]:
            names += more.row_names(rows[rows >= n_first] - n_first, key)
        return X, names

    def in_order(self) -> tuple[pd.DataFrame, np.ndarray]:
        """Return all rows of one table, in its order, and their labels, None without one."""
        labels = np.full(self.is_labeled.size, None, object)
        labels[self.is_labeled] = self.y.tolist()
        return pd.concat([self.X, *self.unlabeled()]).sort_index(), labels


def digest_labeled(X: pd.DataFrame, y: Any) -> int:
    """Return a number by which labeled rows are recognized, in whatever order."""
    return digest_rows(X.assign(**{"": as_text(np.asarray(y))}))


def read_training_rows(
    tables: list[Files], labels: np.ndarray, names: list[str], strings: Sequence[str] | None = None
) -> TrainingRows:
    """Return the columns of these names in files; only labeled rows are kept in memory.

    Rows of the first table that have a label are labeled; those of a second table are not. Columns
    of CSV in ``strings`` are strings; by default those whose digits begin with 0.
    """
    for what, files in zip(("the model", "the unlabeled rows"), tables, strict=False):
        files.require(names, what, ADD_COLUMNS)
    known = ~missing_labels(labels)
    if strings is None:
        strings = sorted({name for files in tables for name in files.codes} & {*names})

    def parts() -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
        """Yield the labeled and the unlabeled rows of each batch; all are numbered."""
        for frame in map(check_finite, tables[0].batches(names, strings)):
            own = known[frame.index]
            yield frame[own], frame[~own]
        for files in tables[1:]:
            for frame in map(check_finite, files.batches(names, strings)):
                frame.index += known.size
                yield frame[:0], frame

    def unlabeled() -> Iterator[pd.DataFrame]:
        return (rows for _, rows in parts() if len(rows))

    labeled, n_unlabeled = [], 0
    for some, others in parts():
        n_unlabeled += len(others)
        labeled.append(some)
    X = pd.concat([some for some in labeled if len(some)] or labeled[:1])
    return TrainingRows(tables, X, parse_classes(labels[known]), unlabeled, n_unlabeled, known)


def columns_to_use(
    data: Files,
    target: str,
    drop: Sequence[str],
    keep: Sequence[str],
    names_rows: Sequence[str | None],
    output: Output,
) -> tuple[list[str], dict[str, str]]:
    """Return the columns to learn from, and those that are left out, with the reason, noted.

    ``names_rows`` are columns of keys, which name the rows; None is none.
    """
    keys = [name for name in names_rows if name is not None]
    for option, named in {"--drop": drop, "--keep": keep, "--id": keys}.items():
        data.require(named, option)
        if target in named:
            raise UsageError(
                f"{target!r} is both the target and a column of {option}. Take it out of {option}, "
                "or name another --target."
            )
    names = [name for name in data.names if name not in {target, *keys, *drop}]
    left_out = data.id_columns([name for name in names if name not in keep])
    for name, reason in left_out.items():
        output.note(f"Column {name!r} is left out: {reason}. Pass --keep {name!r} to use it.")
    names = [name for name in names if name not in left_out]
    if not names:
        raise ValueError(f"{data.place} has no column but the target. Add columns.")
    return names, left_out | dict.fromkeys(keys, "it names the rows")


def check_finite(X: pd.DataFrame) -> pd.DataFrame:
    """Return rows as they are, or name a column that has too large numbers."""
    infinite = (X.select_dtypes("number").abs() > np.finfo(np.float32).max).any()
    if infinite.any():
        raise ValueError(
            f"Column {infinite.idxmax()!r} of {X.attrs.get('place', 'the rows')} has an infinite "
            "number, or one too large. Rescale the column, or leave the place empty."
        )
    return X
