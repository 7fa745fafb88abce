"""``hedgeclipper votes``: from a table of votes and a few gold labels to labels for all rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from hedgeclipper.cli.output import (
    CommandError,
    Output,
    auto_label_facts,
    check_needed,
    check_outputs,
    error_facts,
)
from hedgeclipper.cli.table_commands import LEVEL, check_table_suffix, report_writer, table_at
from hedgeclipper.cli.table_files import Files
from hedgeclipper.cli.table_rows import as_classes
from hedgeclipper.io import listed, missing_labels, parquet_writer
from hedgeclipper.persistence import save
from hedgeclipper.votes.aggregator import VoteAggregator
from hedgeclipper.votes.matrix import Votes

ABSTAIN = "-1"
VOTERS_TO_LIST = 25
LIKE_ABSTENTIONS = frozenset(
    [
        "abstain",
        "abstained",
        "abstention",
        "error",
        "failed",
        "n/a",
        "na",
        "none",
        "null",
        "skip",
        "skipped",
        "tie",
        "tied",
        "unknown",
        "unsure",
        "?",
        "-",
    ]
)
# what pandas, and a CSV file, call the column of an index without a name
INDEX_COLUMNS = ("", "Unnamed: 0")


def aggregate(
    *,
    votes: Sequence[str],
    gold: str,
    to: Path | None,
    model: Path | None,
    report: Path | None,
    key: str | None,
    drop: Sequence[str] | None,
    task: str,
    worker: str,
    label: str,
    abstain: str,
    confidence_level: float | None,
    holdout: float | None,
    max_error: float | None,
    seed: int,
    force: bool,
    output: Output,
) -> None:
    """Weight voters by gold labels and agreement, label all rows, and print what came out."""
    if to is not None:
        check_table_suffix(to)
    check_needed("--holdout", holdout, "--confidence", confidence_level)
    table, gold_table = _find(votes), _find([gold])
    check_outputs(to, model, report, inputs=table.paths + gold_table.paths, force=force)
    write_report = report_writer(report)
    gold_key, gold_labels = read_gold(gold_table, label)
    abstain_label = _abstain(abstain, gold_labels, output)
    long = {"task": task, "worker": worker, "label": label}
    cast, key = read_vote_table(table, long, drop or (), key, gold_key, abstain_label)
    y = matched(cast, gold_labels, gold, output)
    known = ~missing_labels(y)
    _print_votes(table, cast, gold_labels, known, output)
    aggregator = VoteAggregator(
        abstain_label=abstain_label,
        confidence_level=confidence_level,
        holdout=holdout,
        random_state=seed,
    )
    aggregator.fit(cast.take(known), as_classes(y[known]), L_unlabeled=cast.take(~known))
    output.result |= _result(aggregator, cast, known)
    rates = aggregator.class_rates()
    output.result["class_rates"] = vars(rates)
    facts, is_blank = error_facts(aggregator, output), np.zeros(known.size, bool)
    facts.append(("Rates", rates.describe()))
    if max_error is not None and not known.all():
        sure = aggregator.auto_label(cast.take(~known), max_error, confidence_level or LEVEL)
        facts += auto_label_facts(sure, output)
        is_blank[~known] = ~sure.is_sure
    if to is not None:
        _write_labels(aggregator, cast, y, is_blank, key, to, force)
        output.wrote("labels", to)
    if model is not None:
        save(aggregator, model, force=force)
        output.wrote("model", model)
    if report is not None:
        unlabeled = np.asarray(cast.rows)[~known].astype(str).tolist()
        about = {"votes": table.place, "gold labels": gold_table.place, "key": key}
        write_report(
            aggregator, report, votes=cast, gold=y, row_names=unlabeled, about=about, force=force
        )
        output.wrote("report", report)
    _print_voters(aggregator, output)
    written = {"Labels": to, "Model": model, "Report": report}
    output.facts(facts + [(name, str(path)) for name, path in written.items() if path is not None])


def _find(where: Sequence[str]) -> Files:
    """Return the files of a table whose columns have names."""
    files = Files.find(where)
    if files.is_libsvm:
        raise CommandError(
            f"{files.place} is LibSVM, which has no names of columns.",
            "Pass votes and gold labels as CSV, Parquet or Arrow.",
        )
    return files


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


def _write_labels(
    model: VoteAggregator,
    votes: Votes,
    gold: np.ndarray,
    is_blank: np.ndarray,
    key: str,
    path: Path,
    force: bool,
) -> None:
    """Write a table of all rows: keys, labels, whether these are gold, and probabilities."""
    predicted = model.predict(votes)
    is_gold = ~missing_labels(gold)
    predicted[is_gold] = as_classes(gold[is_gold])
    names = [f"probability_{label}" for label in model.classes_]
    probabilities = dict(zip(names, model.predict_proba(votes).T, strict=True))
    labels = pa.array(predicted, mask=is_blank)
    row_names = np.asarray(votes.rows).tolist()
    with table_at(path, force=force) as draft, parquet_writer(draft) as writer:
        writer.write({key: row_names, "label": labels, "is_gold": is_gold, **probabilities})


def read_gold(table: Files, label: str) -> tuple[str, pd.Series]:
    """Return the column of keys, and the gold labels by the key of their row.

    Labels are in the column of the name ``label``, if there is one, else in the last of the two.
    """
    names = table.names
    if len(names) == 3 and names[0] in INDEX_COLUMNS:  # of a frame whose index is no key
        names = names[1:]
    if len(names) != 2:
        raise CommandError(
            f"{table.place} must have two columns, rows and their labels. It has "
            f"{', '.join(map(repr, names[:5]))}.",
            "Leave the others out.",
        )
    key, labels = names[::-1] if names[0] == label else names
    frame = table.frame().dropna(subset=[labels])
    if frame.empty:
        raise CommandError(f"{table.place} has no gold label.", "Label some rows of each class.")
    gold = pd.Series(as_classes(frame[labels]).tolist(), index=_as_keys(frame[key]), dtype=object)
    per_key = gold.groupby(level=0).nunique()
    if (per_key > 1).any():
        raise CommandError(
            f"{table.place} has different labels for the row {per_key.idxmax()!r}.",
            "Keep one of them.",
        )
    return key, gold[~gold.index.duplicated()]


def _as_keys(column: Any) -> list[str]:
    """Return the keys of rows as text, so that 7 in one file is 7 in another."""
    column = pd.Series(column)
    if column.dtype.kind == "f" and (column.dropna() == column.dropna().round()).all():
        column = column.astype("Int64")
    return column.astype(str).tolist()


def _abstain(abstain: str, gold: pd.Series, output: Output) -> Any:
    """Return the label that means no vote, as votes have it."""
    values = {str(label) for label in gold}
    if abstain == ABSTAIN and ABSTAIN in values:
        output.note("-1 is a gold label, so that only missing votes abstain.")
        return None
    if abstain in values:
        raise CommandError(
            f"{abstain!r} is a gold label and cannot mean no vote.", "Pass another --abstain."
        )
    return int(abstain) if abstain.lstrip("-").isdigit() else abstain


def read_vote_table(
    table: Files,
    long: dict[str, Any],
    drop: Sequence[str],
    key: str | None,
    gold_key: str,
    abstain: Any,
) -> tuple[Votes, str]:
    """Return the votes of a wide or a long table, rows named by their keys, and the key's name.

    A long table has one vote in each line, and all columns of ``long``: task, worker and label. A
    wide one has a column for each voter, and the key, which is that of the gold labels if there
    is such a column and no other one was asked for.
    """
    table.require(drop, "--drop")
    frame = table.frame().drop(columns=list(drop))
    if set(long.values()) <= set(frame.columns):
        task = long["task"]
        frame[task] = _as_keys(frame[task])
        return Votes.from_long(frame, **long, abstain_label=abstain), task
    if key is None and gold_key in frame:
        key = gold_key
    if key is None and frame.columns[0] in INDEX_COLUMNS:
        key = frame.columns[0]
    if key is None:
        frame.index = pd.Index(_as_keys(range(len(frame))))
        return Votes.of(frame, abstain_label=abstain), "row"
    table.require([key], "--key")
    frame.index = pd.Index(_as_keys(frame[key]))
    if frame.index.has_duplicates:
        twice = frame.index[frame.index.duplicated()][0]
        raise CommandError(
            f"{table.place} has more than one row with the key {twice!r}.",
            "Give each row its own, or name the columns of a long table, whose default is "
            f"{long['task']}, {long['worker']} and {long['label']}.",
        )
    name = "row" if key in INDEX_COLUMNS else key
    return Votes.of(frame.drop(columns=key), abstain_label=abstain), name


def matched(votes: Votes, gold: pd.Series, place: str, output: Output) -> np.ndarray:
    """Return the gold label of each row of votes, None where there is none."""
    keys = np.asarray(votes.rows).tolist()
    y = np.array([gold.get(str(key)) for key in keys], dtype=object)
    n_found = sum(label is not None for label in y)
    if n_found == 0:
        raise CommandError(
            f"No row of the votes has a key of {place}, such as {gold.index[0]!r}; the first row "
            f"is {keys[0]!r}.",
            "Name the column of keys with --key.",
        )
    if n_found < len(gold):
        output.note(f"{len(gold) - n_found:,} gold labels belong to no row of the votes.")
    return y


def _print_votes(
    table: Files, votes: Votes, gold: pd.Series, known: np.ndarray, output: Output
) -> None:
    strange = sorted({str(label) for label in votes.classes} - {str(label) for label in gold})
    empty = [label for label in strange if label.strip().lower() in LIKE_ABSTENTIONS]
    if empty:
        output.note(
            f"Votes for {listed(empty, 5)} look like no votes: pass --abstain {empty[0]!r} if they "
            "are, or leave them empty."
        )
    if len(strange) > len(empty):
        others = [label for label in strange if label not in empty]
        output.note(
            f"Some votes are for classes without a gold label: {listed(others, 5)}. Leave out "
            "columns that hold no votes with --drop."
        )
    if known.all():
        output.note("All rows have gold labels, so that nothing is learned beyond them.")
    output.say(
        f"{table.place}: {votes.n_rows:,} rows, {votes.n_voters:,} voters, "
        f"{votes.n_votes:,} votes, {known.sum():,} gold labels"
    )


def _print_voters(model: VoteAggregator, output: Output) -> None:
    summary = model.voter_summary().sort_values("Weight", ascending=False)
    shown = summary.head(VOTERS_TO_LIST)
    output.table(
        ("Voter", "Coverage", "Correct", "Incorrect", "Accuracy", "Bounds", "Weight"),
        [
            (
                name,
                f"{row['Coverage']:.1%}",
                row["Correct"],
                row["Incorrect"],
                _accuracy(row),
                f"{row['Lower']:.1%} to {row['Upper']:.1%}",
                "-" if np.isnan(row["Weight"]) else f"{row['Weight']:.2f}",
            )
            for name, row in shown.iterrows()
        ],
    )
    turned = [str(name) for name in summary.index[summary["Reversed"]]]
    if turned:
        output.note(
            "Significantly less often right than a random vote, so that their votes count the "
            f"other way: {listed(turned, 5)}."
        )
    if len(summary) > len(shown):
        output.say(f"... and {len(summary) - len(shown):,} more voters; --json lists all")


def _accuracy(row: pd.Series) -> str:
    """Return the accuracy of a voter by the predictions, within its bounds from gold labels."""
    accuracy = row["Est. Acc."]
    return "-" if np.isnan(accuracy) else f"{np.clip(accuracy, row['Lower'], row['Upper']):.1%}"
