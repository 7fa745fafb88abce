"""``hedgeclipper predict`` and ``evaluate``: what a saved model says of new rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.base.evaluation import Evaluation
from hedgeclipper.bounds.auto_labels import AutoLabels
from hedgeclipper.cli.app import Evaluate, Predict
from hedgeclipper.cli.finish_commands import OWN_COLUMNS, labels_table
from hedgeclipper.cli.model_commands import load_model, used_names
from hedgeclipper.cli.output import Output, auto_label_facts, check_outputs, check_suffix
from hedgeclipper.cli.tables import (
    TABLE_SUFFIXES,
    Files,
    clean_labels,
    parse_classes,
    texts_of,
    write_frame,
    write_table,
)
from hedgeclipper.cli.training_rows import ADD_COLUMNS, check_finite, digest_labeled
from hedgeclipper.io import missing_labels
from hedgeclipper.io.atomic import naming_output
from hedgeclipper.io.frames import pyarrow
from hedgeclipper.io.messages import counted
from hedgeclipper.persistence import save
from hedgeclipper.votes.aggregator import VoteAggregator

LINES_OF_CLASSES = 12


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
            write_frame(whole, to, options.force)
        else:
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


def _check_columns(
    files: Files, model: HedgeClipperClassifier, extra: str | None, output: Output
) -> list[str]:
    """Return the columns that the model uses; note those that it does not know.

    ``extra`` is one more column that is used: a key, or the target.
    """
    known, given = list(model.feature_names_in_), model.fit_files_
    names = used_names(model)
    files.require(names, "the model", ADD_COLUMNS)
    others = {*known, *given["left_out"], given["target"], extra}
    if more := [name for name in files.names if name not in others]:
        output.note(f"Columns that the model does not know are not used: {', '.join(more[:10])}.")
    return names


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
    return labels_table(predictions, "prediction", labels, is_people, review, found)


def _print_classes(found: Evaluation, output: Output) -> None:
    """Print recall of each class and the confusion matrix, as long as there are few classes."""
    counts, predicted = found.confusion.sum(axis=1), found.classes[:LINES_OF_CLASSES]
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
        LINES_OF_CLASSES,
    )
