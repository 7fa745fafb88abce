"""``hedgeclipper votes``: from a table of votes and a few gold labels to labels for all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hedgeclipper.cli.errors import CommandError, check_outputs
from hedgeclipper.cli.fitting import report_writer
from hedgeclipper.cli.output import Output, bound_as_record
from hedgeclipper.cli.predicting import check_table_suffix, table_at
from hedgeclipper.cli.table_files import Files
from hedgeclipper.cli.targets import as_classes
from hedgeclipper.io import listed, parquet_writer
from hedgeclipper.persistence import save
from hedgeclipper.votes.aggregator import VoteAggregator
from hedgeclipper.votes.matrix import Votes

ABSTAIN = "-1"
VOTERS_TO_LIST = 25


@dataclass(frozen=True)
class Aggregate:
    """What ``hedgeclipper votes`` was asked for; the names are those of its options."""

    votes: Sequence[str]
    gold: str
    output: Path | None
    model: Path | None
    report: Path | None
    key: str | None
    drop: Sequence[str]
    task: str
    worker: str
    label: str
    abstain: str
    confidence_level: float | None
    seed: int
    force: bool


@dataclass(frozen=True, eq=False)
class GoldVotes:
    """Votes on all rows, and the gold labels of some.

    Parameters
    ----------
    votes : Votes
        Votes, rows named by their keys.
    key : str
        What the keys are called.
    gold : ndarray of shape (n_rows,)
        The gold label of each row, None where there is none.
    abstain : object
        The label that means no vote.
    """

    votes: Votes
    key: str
    gold: np.ndarray
    abstain: Any

    @property
    def known(self) -> np.ndarray:
        """Which rows have a gold label."""
        return np.array([label is not None for label in self.gold])

    @property
    def labels(self) -> np.ndarray:
        """The gold labels of these."""
        return as_classes(self.gold[self.known].tolist())


def aggregate(asked: Aggregate, output: Output) -> None:
    """Weigh voters by gold labels and agreement, label all rows, and say what came out.

    Parameters
    ----------
    asked : Aggregate
        What to do.
    output : Output
        Where to say it.
    """
    if asked.output is not None:
        check_table_suffix(asked.output)
    table, gold = (Files.find(where) for where in (asked.votes, [asked.gold]))
    outputs = (asked.output, asked.model, asked.report)
    check_outputs(*outputs, inputs=table.paths + gold.paths, force=asked.force)
    write_report = None if asked.report is None else report_writer()
    given = _read(asked, table, gold, output)
    model = _fitted(asked, given)
    output.result |= {
        "command": "votes",
        "n_rows": given.votes.n_rows,
        "n_votes": given.votes.n_votes,
        "n_gold": int(given.known.sum()),
        "classes": model.classes_.tolist(),
        "certificate": bound_as_record(model.certificate_),
        "voters": _records(model.voter_summary()),
    }
    if asked.output is not None:
        _write_labels(asked.output, model, given, asked.force)
        output.wrote("labels", asked.output)
    if asked.model is not None:
        save(model, asked.model, force=asked.force)
        output.wrote("model", asked.model)
    if write_report is not None and asked.report is not None:
        write_report(
            model,
            asked.report,
            votes=given.votes,
            gold=given.gold,
            row_names=np.asarray(given.votes.rows)[~given.known].astype(str).tolist(),
            about={"votes": table.place, "gold labels": gold.place, "key": given.key},
            force=asked.force,
        )
        output.wrote("report", asked.report)
    _say_voters(asked, model, output)


def _read(asked: Aggregate, table: Files, gold_table: Files, output: Output) -> GoldVotes:
    _check_tables(table, gold_table)
    gold_key, gold_label = gold_columns(gold_table, asked.label)
    gold = _read_gold(gold_table, gold_key, gold_label)
    abstain = _abstain(asked.abstain, gold, output)
    votes, key = read_votes(table, asked, gold_key, abstain)
    given = GoldVotes(votes, key, matched(votes, gold, asked.gold, output), abstain)
    strange = sorted({str(label) for label in votes.classes} - {str(label) for label in gold})
    if strange:
        output.note(
            f"Some votes are for classes without a gold label: {listed(strange, 5)}. Leave out "
            "columns that hold no votes with --drop."
        )
    if given.known.all():
        output.note("All rows have gold labels, so that nothing is learned beyond them.")
    output.say(
        f"{table.place}: {votes.n_rows:,} rows, {votes.n_voters:,} voters, "
        f"{votes.n_votes:,} votes, {given.known.sum():,} gold labels"
    )
    return given


def _fitted(asked: Aggregate, given: GoldVotes) -> VoteAggregator:
    model = VoteAggregator(
        abstain_label=given.abstain,
        confidence_level=asked.confidence_level,
        random_state=asked.seed,
    )
    rest = given.votes.take(~given.known)
    return model.fit(given.votes.take(given.known), given.labels, L_unlabeled=rest)


def _check_tables(*tables: Files) -> None:
    for table in tables:
        if table.is_libsvm:
            raise CommandError(
                f"{table.place} is LibSVM, which has no names of columns.",
                "Pass votes and gold labels as CSV, Parquet or Arrow.",
            )


def gold_columns(table: Files, label: str) -> tuple[str, str]:
    """Return the columns of keys and of labels in the table of gold labels.

    Parameters
    ----------
    table : Files
        The table.
    label : str
        What the column of labels may be called; else it is the last one of two.
    """
    names = table.names
    if len(names) != 2:
        raise CommandError(
            f"{table.place} must have two columns, rows and their labels. It has "
            f"{', '.join(map(repr, names[:5]))}.",
            "Leave the others out.",
        )
    return (names[1], names[0]) if names[0] == label else (names[0], names[1])


def _read_gold(table: Files, key: str, label: str) -> pd.Series:
    """Return the gold labels by the key of their row."""
    frame = table.frame().dropna(subset=[label])
    if frame.empty:
        raise CommandError(f"{table.place} has no gold label.", "Label some rows of each class.")
    series = pd.Series(as_classes(frame[label]).tolist(), index=as_keys(frame[key]), dtype=object)
    per_key = series.groupby(level=0).nunique()
    if (per_key > 1).any():
        raise CommandError(
            f"{table.place} has different labels for the row {per_key.idxmax()!r}.",
            "Keep one of them.",
        )
    return series[~series.index.duplicated()]


def as_keys(column: Any) -> list[str]:
    """Return the keys of rows as text, so that 7 in one file is 7 in another."""
    column = pd.Series(column)
    if column.dtype.kind == "f" and (column.dropna() == column.dropna().round()).all():
        column = column.astype("Int64")
    return column.astype(str).tolist()


def _abstain(asked: str, gold: pd.Series, output: Output) -> Any:
    """Return the label that means no vote, as votes have it."""
    values = {str(label) for label in gold}
    if asked == ABSTAIN and ABSTAIN in values:
        output.note("-1 is a gold label, so that only missing votes abstain.")
        return None
    if asked in values:
        raise CommandError(
            f"{asked!r} is a gold label and cannot mean no vote.", "Pass another --abstain."
        )
    return int(asked) if asked.lstrip("-").isdigit() else asked


def read_votes(table: Files, asked: Aggregate, gold_key: str, abstain: Any) -> tuple[Votes, str]:
    """Return the votes of a wide or a long table, rows named by their keys, and the key's name.

    Parameters
    ----------
    table : Files
        The table: one vote in each line if it has columns of tasks, workers and labels, else a
        column for each voter.
    asked : Aggregate
        Knows the names of columns.
    gold_key : str
        The column of keys of the gold labels, looked for among the votes.
    abstain : object
        The label that means no vote.
    """
    table.require(asked.drop, "--drop")
    frame = table.frame().drop(columns=list(asked.drop))
    if {asked.task, asked.worker, asked.label} <= set(frame.columns):
        frame[asked.task] = as_keys(frame[asked.task])
        votes = Votes.from_long(
            frame,
            task=asked.task,
            worker=asked.worker,
            label=asked.label,
            abstain_label=abstain,
        )
        return votes, asked.task
    key = gold_key if asked.key is None and gold_key in frame else asked.key
    if key is None:
        frame.index = pd.Index(as_keys(range(len(frame))))
        return Votes.of(frame, abstain_label=abstain), "row"
    table.require([key], "--key")
    frame.index = pd.Index(as_keys(frame[key]))
    if frame.index.has_duplicates:
        twice = frame.index[frame.index.duplicated()][0]
        raise CommandError(
            f"{table.place} has more than one row with the key {twice!r}.",
            f"Give each row its own, or name the columns of a long table, whose default is "
            f"{asked.task}, {asked.worker} and {asked.label}.",
        )
    return Votes.of(frame.drop(columns=key), abstain_label=abstain), key


def matched(votes: Votes, gold: pd.Series, place: str, output: Output) -> np.ndarray:
    """Return the gold label of each row, None where there is none.

    Parameters
    ----------
    votes : Votes
        Votes with the keys of their rows.
    gold : pandas.Series
        Gold labels by key.
    place : str
        What to call these.
    output : Output
        Where to say that some have no row.
    """
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


def _write_labels(to: Path, model: VoteAggregator, given: GoldVotes, force: bool) -> None:
    labels, known = model.predict(given.votes), given.known
    labels[known] = given.labels
    shares = model.predict_proba(given.votes).T
    names = [f"probability_{label}" for label in model.classes_]
    columns = {
        given.key: np.asarray(given.votes.rows).tolist(),
        "label": labels,
        "is_gold": known,
        **dict(zip(names, shares, strict=True)),
    }
    with table_at(to, force=force) as draft, parquet_writer(draft) as writer:
        writer.write(columns)


def _records(summary: pd.DataFrame) -> list[dict[str, Any]]:
    frame = summary.reset_index(names="voter").astype(object)
    return frame.where(frame.notna(), None).to_dict("records")


def _say_voters(asked: Aggregate, model: Any, output: Output) -> None:
    summary = model.voter_summary().sort_values("Weight", ascending=False)
    shown = summary.head(VOTERS_TO_LIST)
    output.table(
        ("Voter", "Coverage", "Right", "Wrong", "Accuracy", "Bounds", "Weight"),
        [
            (
                name,
                f"{row['Coverage']:.1%}",
                row["Correct"],
                row["Incorrect"],
                "-" if np.isnan(row["Est. Acc."]) else f"{row['Est. Acc.']:.1%}",
                f"{row['Lower']:.1%} to {row['Upper']:.1%}",
                "-" if np.isnan(row["Weight"]) else f"{row['Weight']:.2f}",
            )
            for name, row in shown.iterrows()
        ],
    )
    if len(summary) > len(shown):
        output.say(f"... and {len(summary) - len(shown):,} voters more; --json lists all")
    written = {"Labels": asked.output, "Model": asked.model, "Report": asked.report}
    facts = [("Error", model.certificate_.describe(len(model.classes_)))]
    facts += [(name, str(path)) for name, path in written.items() if path is not None]
    output.facts(facts)
