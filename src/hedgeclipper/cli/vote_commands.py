"""``hedgeclipper votes``: from a table of votes and a few gold labels to labels for all rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hedgeclipper.bounds.auto_labels import AutoLabels
from hedgeclipper.bounds.sample import ROW
from hedgeclipper.cli.app import LabelVotes, Predict
from hedgeclipper.cli.checked_labels import LabelTable, has_record, note_skipped
from hedgeclipper.cli.finish_commands import PREDICTION, labels_table
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
    merge_spellings,
    parse_classes,
    texts_of,
    write_frame,
)
from hedgeclipper.io import listed, missing_labels
from hedgeclipper.io.csv_dialect import UNKNOWN_DIALECT
from hedgeclipper.persistence import save
from hedgeclipper.votes.aggregator import VoteAggregator
from hedgeclipper.votes.matrix import Votes

LONG = ("task", "worker", "label")
LEAST_KEYS = 20  # votes of fewer rows may all be different


def aggregate(options: LabelVotes, output: Output) -> None:
    """Weight voters by gold labels and agreement, label all rows, and print what came out."""
    to, model, report, force = options.to, options.model, options.report, options.force
    check_suffix(to, *TABLE_SUFFIXES)
    table = Files.find(options.votes, output)
    is_column = options.gold in table.names and not Path(options.gold).exists()
    inputs = [table, None if is_column else Path(options.gold)]
    check_outputs(to, model, report, inputs=inputs, force=force)
    check_suffix(report, ".html", ".htm")
    table.require(options.drop or (), "--drop")
    frame = table.frame().drop(columns=options.drop or [])
    gold = read_gold(options.gold, is_column, frame, table.place, output)
    shared = (name for name in gold.frame if name in frame and name != gold.column)
    if len(gold.frame.columns) > 2:  # it has the votes, also where no column names the rows
        shared = (name for name in shared if frame[name].is_unique)
    votes = frame.drop(columns=options.gold) if is_column else frame
    key = next(shared, None) or _find_key(votes, output)
    votes, gold = one_spelling(votes, gold, key, output)
    abstain_label = _abstain_label(options.abstain, gold, output)
    cast, key = read_votes(votes, key, abstain_label)
    rows = pd.DataFrame({key: cast.rows}) if key == LONG[0] else frame
    people = gold.match(rows, None, output)
    note_skipped(people, output)
    y = np.full(cast.n_rows, None, object)
    y[people.rows] = people.labels
    known = ~missing_labels(y)
    y[known] = parse_classes(y[known]).tolist()
    _print_votes(table, cast, y[known], output)
    aggregator = VoteAggregator(
        abstain_label=abstain_label,
        confidence_level=options.confidence_level,
        keep=options.keep,
        random_state=options.seed,
    )
    with output.working("fitting"):
        if people.sample is None:
            classes = parse_classes(y[known])
            aggregator.fit(cast.take(known), classes, L_unlabeled=cast.take(~known))
        else:  # rows were compared with those that it was drawn from
            aggregator.fit(cast, y, sample=replace(people.sample, digest=""))
    rates = aggregator.class_rates()
    voters = aggregator.voter_summary().reset_index(names="voter").astype(object)
    output.result |= {
        "command": "votes",
        "n_rows": cast.n_rows,
        "n_votes": cast.n_votes,
        "n_gold": known.sum(),
        "classes": aggregator.classes_.tolist(),
        "voters": voters.where(voters.notna(), None).to_dict("records"),
        "class_rates": vars(rates),
    }
    facts = [*error_facts(aggregator, output), ("Rates", rates.describe())]
    sure = None
    if options.max_error is not None and not known.all():
        level = options.confidence_level or 0.95
        sure = aggregator.auto_label(options.max_error, cast.take(~known), confidence_level=level)
        facts += auto_label_facts(sure, output)
    if to is not None:
        write_frame(_label_table(aggregator, cast, y, sure, key), to, force)
        facts.append(output.wrote("labels", to))
    if model is not None:
        save(aggregator, model, force=force)
        facts.append(output.wrote("model", model))
    if report is not None:
        from hedgeclipper.report import page  # imported here, since few need it

        unlabeled = np.asarray(cast.rows)[~known].astype(str).tolist()
        about = {"votes": table.place, "gold labels": options.gold, "key": key}
        with output.working("writing the report"):
            page.write_report(aggregator, report, row_names=unlabeled, about=about, force=force)
        facts.append(output.wrote("report", report))
    _print_voters(aggregator, output)
    output.facts(facts)


def _find_key(frame: pd.DataFrame, output: Output) -> str:
    """Return the first column of a wide table that names the rows, with a note, or "row"."""
    if set(LONG) <= set(frame) or len(frame) < LEAST_KEYS:
        return ROW
    key = next((name for name in frame if frame[name].is_unique), None)
    if key is None:
        return ROW
    output.note(f"Column {key!r} names the rows, since it is different in each, and does not vote.")
    return str(key)


def read_gold(
    name: str, is_column: bool, frame: pd.DataFrame, place: str, output: Output
) -> LabelTable:
    """Return gold labels beside the keys of rows, or their numbers, in a column "row".

    They are a column of the votes, a sample of them, also as tasks, or a table of keys and labels.
    """
    is_long = set(LONG) <= set(frame)
    if is_column:
        rows = {LONG[0]: frame[LONG[0]]} if is_long else {ROW: np.arange(len(frame))}
        return LabelTable(place, pd.DataFrame({**rows, name: frame[name]}), name, place)
    is_tasks = name.lower().endswith(".json")
    names = [] if is_tasks else Files.find([name], output).names
    is_draw = is_tasks or has_record(names)
    if not is_draw and len(names) != 2:
        raise ValueError(
            f"{name} must have two columns, the keys of rows and their labels. It has "
            f"{listed(names, 5)}. Leave the others out."
        )
    column = None if is_draw else names[1]
    gold = LabelTable.read(name, column, list(frame), place, UNKNOWN_DIALECT, output)
    if is_draw and is_long:
        raise ValueError(
            f"{name} is a sample of lines of {place}, which has a vote in each. Write a column for "
            "each voter, and draw rows of that table."
        )
    if missing_labels(gold.labels).all():
        raise ValueError(f"{name} has no gold label. Label some rows of each class.")
    if not is_draw and names[0] not in frame:
        key = LONG[0] if is_long else ROW
        return replace(gold, frame=gold.frame.rename(columns={names[0]: key}))
    return gold


def predict_votes(options: Predict, model: VoteAggregator, table: Files, output: Output) -> None:
    """Write the labels of a saved model for new votes of its voters."""
    voters = [str(voter) for voter in model.voters_]
    table.require([] if options.row_id is None else [options.row_id], "--id")
    if not set(LONG) <= set(table.names):
        table.require(
            voters, "the model", "Pass votes of the same voters, empty where they have none."
        )
    if options.max_error is not None:
        advice = "`hedgeclipper votes --max-error` tells which rows of its own file need review."
        raise UsageError(f"A model of votes does not take --max-error. {advice}")
    names = [name for name in table.names if name in {*voters, *LONG, options.row_id}]
    votes, key = read_votes(table.frame(names), options.row_id or ROW, model.abstain_label)
    labels = _label_table(model, votes, np.full(votes.n_rows, None), None, key)
    write_frame(labels.drop(columns="is_gold"), options.to, options.force)
    output.result |= {"command": "predict", "n_rows": votes.n_rows}
    output.wrote("predictions", options.to)
    output.facts([("Predictions", f"{options.to}, {votes.n_rows:,} rows")])


def one_spelling(
    frame: pd.DataFrame, gold: LabelTable, key: str, output: Output
) -> tuple[pd.DataFrame, LabelTable]:
    """Return votes and gold labels in which each class has one spelling."""
    is_long = set(LONG) <= set(frame)
    names = ["label"] if is_long else [name for name in frame if name != key]
    votes, labels = frame[names].to_numpy(dtype=object), gold.labels
    whole = pd.Series([*labels, *votes.ravel()], name="votes and gold labels", dtype=object)
    codes, spellings = merge_spellings(whole, output)
    merged = spellings[codes]
    changed = pd.DataFrame(merged[len(labels) :].reshape(votes.shape), frame.index, names)
    numbers = frame[names].select_dtypes("number").columns
    frame = frame.assign(**{name: changed[name] for name in names if name not in numbers})
    return frame, replace(gold, frame=gold.frame.assign(**{gold.column: merged[: len(labels)]}))


def read_votes(frame: pd.DataFrame, key: str, abstain: Any) -> tuple[Votes, str]:
    """Return the votes of a wide or a long table, rows named by their keys, and the key's name.

    A long table has one vote in each line, and the columns task, worker and label. A wide one has
    a column for each voter, and may have the key.
    """
    if set(LONG) <= set(frame):
        frame = frame.assign(task=texts_of(frame["task"]))
        return Votes.from_long(frame, abstain_label=abstain), LONG[0]
    keys = frame.pop(key) if key in frame else range(len(frame))
    frame.index = pd.Index(texts_of(keys))
    return Votes.of(frame, abstain_label=abstain), key or ROW


def _abstain_label(abstain: str, gold: LabelTable, output: Output) -> Any:
    """Return the label that means no vote, as votes have it."""
    values = {*texts_of(gold.labels)}
    if abstain == "-1" and abstain in values:
        output.note("-1 is a gold label, so that only missing votes abstain.")
        return None
    if abstain in values:
        raise ValueError(
            f"{abstain!r} is a gold label and cannot mean no vote. Pass another --abstain."
        )
    return int(abstain) if abstain.lstrip("-").isdigit() else abstain


def _label_table(
    model: VoteAggregator, votes: Votes, gold: np.ndarray, sure: AutoLabels | None, key: str
) -> pd.DataFrame:
    """Return a table of all rows: keys, labels, whether these are gold, and probabilities.

    With automatic labels it is one that `hedgeclipper finish` reads.
    """
    predicted, is_gold = model.predict(votes), ~missing_labels(gold)
    labels = predicted.copy()
    labels[is_gold] = parse_classes(gold[is_gold])
    names = [f"probability_{label}" for label in model.classes_]
    probabilities = dict(zip(names, model.predict_proba(votes).T, strict=True))
    rows = {key: np.asarray(votes.rows).tolist()}
    if sure is None:
        return pd.DataFrame({**rows, "label": labels, "is_gold": is_gold, **probabilities})
    frame = pd.DataFrame(
        {**({} if key == ROW else rows), PREDICTION: predicted, **probabilities},
        index=range(votes.n_rows),
    )
    review = np.flatnonzero(~is_gold)[sure.review_order]
    return labels_table(frame, PREDICTION, texts_of(labels), is_gold, review, sure)


def _print_votes(table: Files, votes: Votes, gold: np.ndarray, output: Output) -> None:
    strange = sorted({str(label) for label in votes.classes} - {str(label) for label in gold})
    if strange:
        output.note(
            f"Some votes are for classes without a gold label: {listed(strange, 5)}. Pass "
            f"--abstain {strange[0]!r} if it means no vote; leave out columns that hold no votes "
            "with --drop."
        )
    if gold.size == votes.n_rows:
        output.note("All rows have gold labels, so that nothing is learned beyond them.")
    output.say(
        f"{table.place}: {votes.n_rows:,} rows, {votes.n_voters:,} voters, "
        f"{votes.n_votes:,} votes, {gold.size:,} gold labels"
    )


def _print_voters(model: VoteAggregator, output: Output) -> None:
    summary = model.voter_summary().sort_values("Weight", ascending=False)
    # estimated from the predictions, and known to be within the bounds from gold labels
    summary["Accuracy"] = summary["Est. Acc."].clip(summary["Lower"], summary["Upper"])
    output.table(
        ("Voter", "Coverage", "Correct", "Incorrect", "Accuracy", "Bounds", "Weight"),
        [
            (
                name,
                f"{row['Coverage']:.1%}",
                row["Correct"],
                row["Incorrect"],
                f"{row['Accuracy']:.1%}",
                f"{row['Lower']:.1%} to {row['Upper']:.1%}",
                f"{row['Weight']:.2f}",
            )
            for name, row in summary.iterrows()
        ],
    )
    turned = [str(name) for name in summary.index[summary["Reversed"]]]
    if turned:
        output.note(
            "Significantly less often right than a random vote, so that their votes count the "
            f"other way: {listed(turned, 5)}."
        )
