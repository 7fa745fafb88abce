"""``hedgeclipper votes``: from a table of votes and a few gold labels to labels for all rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from hedgeclipper.bounds.auto_labels import AutoLabels
from hedgeclipper.bounds.sample import ROW, Sample
from hedgeclipper.cli.app import LabelVotes, Predict
from hedgeclipper.cli.checked_labels import is_sample, note_skipped, read_labels
from hedgeclipper.cli.labels_file import PREDICTION, claim_of, labels_table
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
    TABLE_SUFFIXES,
    Files,
    labels_by_key,
    match_labels,
    merge_spellings,
    parse_classes,
    texts_of,
    unique_keys,
    write_table,
)
from hedgeclipper.io import listed, missing_labels
from hedgeclipper.io.atomic import atomic_path
from hedgeclipper.io.formats import UNKNOWN_DIALECT
from hedgeclipper.persistence import save
from hedgeclipper.report import page
from hedgeclipper.votes.aggregator import VoteAggregator
from hedgeclipper.votes.matrix import Votes

LONG = ("task", "worker", "label")


def aggregate(options: LabelVotes, output: Output) -> None:
    """Weight voters by gold labels and agreement, label all rows, and print what came out."""
    to, model, report, force = options.to, options.model, options.report, options.force
    check_suffix(to, *TABLE_SUFFIXES)
    table = Files.find(options.votes, output)
    is_column = options.gold in table.names and not Path(options.gold).exists()
    gold_table = table if is_column else Files.find([options.gold], output)
    check_outputs(to, model, report, inputs=[table, gold_table], force=force)
    check_suffix(report, ".html", ".htm")
    drop = options.drop or ()
    table.require(drop, "--drop")
    frame = table.frame().drop(columns=list(drop))
    sample = None
    if is_column:
        gold_key, gold_labels = "", frame.pop(options.gold).dropna()
        lines = np.flatnonzero(table.column(options.gold).notna())
        gold_labels.index = pd.Index(texts_of(lines))
    else:
        gold_key, gold_labels, sample = read_gold(gold_table, table, output)
    frame, gold_labels = one_spelling(frame, gold_key, gold_labels, output)
    abstain_label = _abstain_label(options.abstain, gold_labels, output)
    cast, key = read_votes(frame, gold_key, abstain_label, table.place)
    keys, places = pd.Index(np.asarray(cast.rows).astype(str)), (gold_table.place, table.place)
    advice = "Give the column of keys the same name in both."
    y = match_labels(gold_labels, keys, key, places, advice, output).to_numpy(dtype=object)
    known = ~missing_labels(y)
    _print_votes(table, cast, gold_labels, known, output)
    aggregator = VoteAggregator(
        abstain_label=abstain_label,
        confidence_level=options.confidence_level,
        keep=options.keep,
        random_state=options.seed,
    )
    if sample is None:
        aggregator.fit(cast.take(known), parse_classes(y[known]), L_unlabeled=cast.take(~known))
    else:  # rows were compared with those that it was drawn from
        aggregator.fit(cast, y, sample=replace(sample, digest=""))
    rates = aggregator.class_rates()
    output.result |= {**_result(aggregator, cast, known), "class_rates": vars(rates)}
    facts = [*error_facts(aggregator, output), ("Rates", rates.describe())]
    sure = None
    if options.max_error is not None and not known.all():
        level = options.confidence_level or 0.95
        sure = aggregator.auto_label(options.max_error, cast.take(~known), confidence_level=level)
        facts += auto_label_facts(sure, output)
    if to is not None:
        labels = _label_table(aggregator, cast, y, sure, key)
        with atomic_path(to, force=force) as draft:
            write_table([labels], draft, to)
        output.wrote("labels", to)
    if model is not None:
        save(aggregator, model, force=force)
        output.wrote("model", model)
    if report is not None:
        unlabeled = keys[~known].tolist()
        about = {"votes": table.place, "gold labels": gold_table.place, "key": key}
        page.write_report(aggregator, report, row_names=unlabeled, about=about, force=force)
        output.wrote("report", report)
    _print_voters(aggregator, output)
    written = {"Labels": to, "Model": model, "Report": report}
    output.facts(facts + [(name, str(path)) for name, path in written.items() if path is not None])


def read_gold(table: Files, votes: Files, output: Output) -> tuple[str, pd.Series, Sample | None]:
    """Return the column of keys, the gold labels by the key of their row, and how these were drawn.

    The last is the record of `hedgeclipper sample`, which names rows by their number.
    """
    given = table.frame()
    if is_sample(given):
        return _read_sample(table, votes, output)
    if len(table.names) != 2:
        raise CommandError(
            f"{table.place} must have two columns, the keys of rows and their labels. It has "
            f"{listed(table.names, 5)}.",
            "Leave the others out.",
        )
    key, label = table.names
    return key, _parsed(labels_by_key(given, key, label, table.place), table), None


def _parsed(gold: pd.Series, table: Files) -> pd.Series:
    """Return gold labels as classes."""
    if gold.empty:
        raise CommandError(f"{table.place} has no gold label.", "Label some rows of each class.")
    return pd.Series(parse_classes(gold.to_numpy()).tolist(), gold.index, dtype=object)


def _read_sample(
    table: Files, votes: Files, output: Output
) -> tuple[str, pd.Series, Sample | None]:
    if set(LONG) <= set(votes.names):
        raise CommandError(
            f"{table.place} is a sample of lines of {votes.place}, which has a vote in each.",
            "Write a column for each voter, and draw rows of that table.",
        )
    frame = votes.frame().reset_index(drop=True)
    people = read_labels(
        [str(table.paths[0])],
        votes,
        frame,
        key=None,
        column=None,
        confidence_level=0.95,
        dialect=UNKNOWN_DIALECT,
        output=output,
    )
    note_skipped(people, output)
    gold = pd.Series(people.labels, texts_of(people.rows)).dropna()
    return ROW, _parsed(gold, table), people.sample


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
        raise CommandError("A model of votes does not take --max-error.", advice, ExitCode.USAGE)
    names = [name for name in table.names if name in {*voters, *LONG, options.row_id}]
    frame = table.frame(names)
    votes, key = read_votes(frame, options.row_id or "", model.abstain_label, table.place)
    labels = _label_table(model, votes, np.full(votes.n_rows, None), None, key)
    with atomic_path(options.to, force=options.force) as draft:
        write_table([labels.drop_columns("is_gold")], draft, options.to)
    output.result |= {"command": "predict", "n_rows": votes.n_rows}
    output.wrote("predictions", options.to)
    output.facts([("Predictions", f"{options.to}, {votes.n_rows:,} rows")])


def one_spelling(
    frame: pd.DataFrame, key: str, gold: pd.Series, output: Output
) -> tuple[pd.DataFrame, pd.Series]:
    """Return votes and gold labels in which each class has one spelling."""
    is_long = set(LONG) <= set(frame.columns)
    names = ["label"] if is_long else [name for name in frame.columns if name != key]
    votes = frame[names].to_numpy(dtype=object)
    whole = pd.Series([*gold, *votes.ravel()], name="votes and gold labels", dtype=object)
    codes, labels = merge_spellings(whole, output)
    merged = labels[codes]
    changed = pd.DataFrame(merged[len(gold) :].reshape(votes.shape), frame.index, names)
    numbers = frame[names].select_dtypes("number").columns
    frame = frame.assign(**{name: changed[name] for name in names if name not in numbers})
    return frame, pd.Series(parse_classes(merged[: len(gold)]).tolist(), gold.index, dtype=object)


def read_votes(frame: pd.DataFrame, gold_key: str, abstain: Any, place: str) -> tuple[Votes, str]:
    """Return the votes of a wide or a long table, rows named by their keys, and the key's name.

    A long table has one vote in each line, and the columns task, worker and label. A wide one has
    a column for each voter, and may have the key of the gold labels.
    """
    if set(LONG) <= set(frame.columns):
        frame = frame.assign(task=texts_of(frame["task"]))
        return Votes.from_long(frame, abstain_label=abstain), "task"
    if gold_key not in frame:
        frame.index = pd.Index(texts_of(range(len(frame))))
        return Votes.of(frame, abstain_label=abstain), "row"
    advice = f"Give each row its own, or call the columns of a long table {listed(LONG)}."
    frame.index = unique_keys(frame.pop(gold_key), gold_key or "key", place, advice)
    return Votes.of(frame, abstain_label=abstain), gold_key or "row"


def _abstain_label(abstain: str, gold: pd.Series, output: Output) -> Any:
    """Return the label that means no vote, as votes have it."""
    values = {str(label) for label in gold}
    if abstain == "-1" and abstain in values:
        output.note("-1 is a gold label, so that only missing votes abstain.")
        return None
    if abstain in values:
        raise CommandError(
            f"{abstain!r} is a gold label and cannot mean no vote.", "Pass another --abstain."
        )
    return int(abstain) if abstain.lstrip("-").isdigit() else abstain


def _result(model: VoteAggregator, votes: Votes, known: np.ndarray) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    voters = model.voter_summary().reset_index(names="voter").astype(object)
    return {
        "command": "votes",
        "n_rows": votes.n_rows,
        "n_votes": votes.n_votes,
        "n_gold": known.sum(),
        "classes": model.classes_.tolist(),
        "voters": voters.where(voters.notna(), None).to_dict("records"),
    }


def _label_table(
    model: VoteAggregator, votes: Votes, gold: np.ndarray, sure: AutoLabels | None, key: str
) -> pa.Table:
    """Return a table of all rows: keys, labels, whether these are gold, and probabilities.

    With automatic labels it is one that `hedgeclipper finish` reads.
    """
    predicted, is_gold = model.predict(votes), ~missing_labels(gold)
    labels = predicted.copy()
    labels[is_gold] = parse_classes(gold[is_gold])
    names = [f"probability_{label}" for label in model.classes_]
    probabilities = dict(zip(names, model.predict_proba(votes).T, strict=True))
    rows = {} if key == ROW else {key: np.asarray(votes.rows).tolist()}
    if sure is None:
        rows = {key: np.asarray(votes.rows).tolist()}
        return pa.table({**rows, "label": labels, "is_gold": is_gold, **probabilities})
    frame = pd.DataFrame({**rows, PREDICTION: predicted, **probabilities})
    review = np.flatnonzero(~is_gold)[sure.review_order]
    texts, claim = np.array(texts_of(labels), object), claim_of(sure, is_gold.size)
    table = labels_table(frame, PREDICTION, texts, is_gold, review, claim)
    return pa.Table.from_pandas(table, preserve_index=False)


def _print_votes(
    table: Files, votes: Votes, gold: pd.Series, known: np.ndarray, output: Output
) -> None:
    strange = sorted({str(label) for label in votes.classes} - {str(label) for label in gold})
    if strange:
        output.note(
            f"Some votes are for classes without a gold label: {listed(strange, 5)}. Pass "
            f"--abstain {strange[0]!r} if it means no vote; leave out columns that hold no votes "
            "with --drop."
        )
    if known.all():
        output.note("All rows have gold labels, so that nothing is learned beyond them.")
    output.say(
        f"{table.place}: {votes.n_rows:,} rows, {votes.n_voters:,} voters, "
        f"{votes.n_votes:,} votes, {known.sum():,} gold labels"
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
