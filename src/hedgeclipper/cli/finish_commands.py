"""``hedgeclipper finish``: reviewed rows go back into the file of labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from hedgeclipper.bounds.finishing import FileClaim
from hedgeclipper.bounds.sample import RECORD, ROW
from hedgeclipper.cli.app import Finish
from hedgeclipper.cli.checked_labels import LabelTable, clean_texts, listed_rows, one_label_each
from hedgeclipper.cli.labels_file import (
    LABEL,
    ORDER,
    OWN_COLUMNS,
    PEOPLE,
    PREDICTION,
    REVIEW,
    SOURCE,
    check_labels_table,
    with_claim,
    write_rows,
)
from hedgeclipper.cli.output import CommandError, Output, check_outputs, check_suffix
from hedgeclipper.cli.tables import TABLE_SUFFIXES, Files, texts_of

# of the file of labels, these are not for people who review
NOT_FOR_REVIEW = (LABEL, REVIEW, SOURCE, RECORD)


def finish_labels(options: Finish, output: Output) -> None:
    """Merge reviewed rows into a file of labels, and print what is known of it."""
    file = Files.find([options.labels], output, options.dialect)
    given = [Path(name) for name in options.reviewed or ()]
    check_outputs(options.to, options.to_review, inputs=[file, *given], force=options.force)
    check_suffix(options.to, *TABLE_SUFFIXES)
    check_suffix(options.to_review, *TABLE_SUFFIXES, ".json")
    table, claim = check_labels_table(file.frame(), file.place)
    n_before = int(table[REVIEW].sum())
    reviewed = _in_place(table)
    for name in options.reviewed or ():
        reviewed = _with_file(reviewed, name, table, options, output)
    finished, claim = merge_reviews(table, claim, reviewed, output)
    n_open = int(finished[REVIEW].sum())
    _warn_of_new_classes(table, finished, output)
    output.result |= {
        "command": "finish",
        "n_rows": len(finished),
        "n_reviewed": n_before - n_open,
        "n_open": n_open,
        **claim.to_record(),
    }
    facts = [
        ("Reviewed", f"{n_before - n_open:,} of {n_before:,} rows{_changed(finished, table)}.")
    ]
    facts.append(("File", claim.describe(n_open)))
    if options.to is not None:
        write_rows(finished, options.to, options.force)
        output.wrote("labels", options.to)
        facts.append(("Labels", str(options.to)))
    if options.to_review is not None:
        write_rows(_rows_to_review(finished), options.to_review, options.force)
        output.wrote("to_review", options.to_review)
        facts.append(("To review", str(options.to_review)))
    output.facts(facts)


def merge_reviews(
    table: pd.DataFrame, claim: FileClaim, reviewed: dict[int, str], output: Output
) -> tuple[pd.DataFrame, FileClaim]:
    """Return the table with people's labels of some rows, and what is now known of it.

    A label that is the same as before, of a row that needed no review, says nothing: it may be that
    of a copy of the file at which nobody has looked.
    """
    texts = np.array(texts_of(table[LABEL]), object)
    source, is_open = table[SOURCE].to_numpy(object).copy(), table[REVIEW].to_numpy(bool).copy()
    rows = [row for row, label in reviewed.items() if is_open[row] or texts[row] != label]
    changed = np.array([row for row in rows if not is_open[row]], np.int64)
    against = changed[(source[changed] == PEOPLE) & (texts[changed] != "")]
    if against.size:
        raise CommandError(
            f"People have given other labels to {against.size:,} rows before: "
            f"{listed_rows(against)}.",
            "Settle them, and keep one label for each row.",
        )
    corrected = changed[source[changed] == PREDICTION]
    if corrected.size:
        output.note(
            f"{corrected.size:,} labels of rows that needed no review are corrected: "
            f"{listed_rows(corrected)}."
        )
    texts[is_open] = ""
    texts[rows], source[rows], is_open[rows] = [reviewed[row] for row in rows], PEOPLE, False
    finished = table.assign(
        **{
            LABEL: pd.Series(texts, dtype=object).mask(texts == "", None),
            REVIEW: is_open,
            ORDER: table[ORDER].astype("Int64").mask(~is_open),
            SOURCE: source,
        }
    )
    claim = claim.after_review(corrected.size, corrected.size)
    return with_claim(finished, claim), claim


def _in_place(table: pd.DataFrame) -> dict[int, str]:
    """Return the labels that people have filled in in the file itself."""
    labels = clean_texts(table[LABEL])
    filled = [row for row in np.flatnonzero(table[REVIEW]).tolist() if labels[row] is not None]
    return {row: labels[row] for row in filled}


def _with_file(
    reviewed: dict[int, str], name: str, table: pd.DataFrame, options: Finish, output: Output
) -> dict[int, str]:
    """Return reviewed rows with those of one more file; labels that contradict are an error."""
    known = table.drop(columns=[c for c in OWN_COLUMNS if c != ROW])
    given = LabelTable.read(
        name, options.label, list(known), options.labels, options.dialect, output
    )
    labels = given.match(known, options.key, None).decided()
    rows = np.array([*reviewed, *labels], np.int64)
    return one_label_each(
        rows, np.array([*reviewed.values(), *labels.values()], object), name, rows
    )


def _changed(finished: pd.DataFrame, table: pd.DataFrame) -> str:
    """Return how many predictions people did not agree with."""
    done = (table[REVIEW] & ~finished[REVIEW]).to_numpy(bool)
    if PREDICTION not in table or not done.any():
        return ""
    texts = (np.array(texts_of(one), object)[done] for one in (finished[LABEL], table[PREDICTION]))
    return f"; {int(np.sum(np.not_equal(*texts))):,} of their predictions were wrong"


def _warn_of_new_classes(table: pd.DataFrame, finished: pd.DataFrame, output: Output) -> None:
    known = {*texts_of(table[LABEL][~table[REVIEW]])}
    known |= {*texts_of(table[PREDICTION])} if PREDICTION in table else set()
    new = sorted({*texts_of(finished[LABEL])} - known - {""})
    if new:
        output.note(f"Labels that were never given or predicted before: {', '.join(new[:5])}.")


def _rows_to_review(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that are open, in the order of review, with an empty label."""
    rows = table[table[REVIEW]].sort_values(ORDER).drop(columns=list(NOT_FOR_REVIEW))
    if rows.empty:
        raise CommandError("No row is left to review.", "Leave out --to-review.")
    first = [ROW, ORDER]
    rows = rows[[*first, *(name for name in rows if name not in first)]]
    return rows.assign(**{LABEL: pd.Series([None] * len(rows), rows.index, dtype="string")})
