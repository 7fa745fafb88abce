"""``hedgeclipper finish``: reviewed rows go back into a file of labels, and how that is written.

The file has all columns of the predictions, and beside them the following. Where one of these is
among the predictions already, such as the text of a review, that one gets a "_" behind its name.

- ``row``: the number of the row, from 0
- ``label``: the label, empty where people have to give one
- ``review``: whether they have to
- ``review_order``: in which order, 1 first; empty for others
- ``source``: who gave the label, "people" or "prediction"
- ``record``, in the line of row 0: how many labels may be wrong, and a digest of the labels that
  need no review, so that a file that was changed in between is recognized

Labels that people fill in where review is needed do not change the digest.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from hedgeclipper.bounds.auto_labels import AutoLabels
from hedgeclipper.bounds.finishing import FileClaim
from hedgeclipper.bounds.sample import RECORD, ROW, format_record, parse_record
from hedgeclipper.cli.app import Finish
from hedgeclipper.cli.checked_labels import LabelTable, clean_texts, listed_rows, one_label_each
from hedgeclipper.cli.output import Output, check_outputs, check_suffix
from hedgeclipper.cli.tables import TABLE_SUFFIXES, Files, texts_of, with_free_names, write_frame
from hedgeclipper.io import listed
from hedgeclipper.io.arrays import digest_in_order
from hedgeclipper.io.frames import plain_spelling
from hedgeclipper.io.label_studio import write_tasks

LABEL, REVIEW, ORDER, SOURCE = "label", "review", "review_order", "source"
PREDICTION, PEOPLE = "prediction", "people"
OWN_COLUMNS = (ROW, LABEL, REVIEW, ORDER, SOURCE, RECORD)


def finish_labels(options: Finish, output: Output) -> None:
    """Merge reviewed rows into a file of labels, and print what is known of it."""
    file = Files.find([options.labels], output, options.dialect)
    names = options.reviewed or []
    check_outputs(
        options.to, options.to_review, inputs=[file, *map(Path, names)], force=options.force
    )
    check_suffix(options.to, *TABLE_SUFFIXES)
    check_suffix(options.to_review, *TABLE_SUFFIXES, ".json")
    table, claim = check_labels_table(file.frame(), file.place)
    filled = clean_texts(table[LABEL].astype(object).where(table[REVIEW]))  # in the file itself
    reviewed = {row: label for row, label in enumerate(filled) if label is not None}
    known = table.drop(columns=[name for name in OWN_COLUMNS if name != ROW])
    for name in names:
        given = LabelTable.read(
            name, options.label, list(known), options.labels, options.dialect, output
        )
        more = given.match(known, options.key, None).decided()
        rows = np.array([*reviewed, *more], np.int64)
        labels = np.array([*reviewed.values(), *more.values()], object)
        reviewed = one_label_each(rows, labels, name, rows)
    reviewed = _spelled_as_before(table, reviewed, output)
    finished, claim = merge_reviews(table, claim, reviewed, output)
    done = (table[REVIEW] & ~finished[REVIEW]).to_numpy(bool)
    n_before, n_done = int(table[REVIEW].sum()), int(done.sum())
    n_open, wrong = n_before - n_done, ""
    predicted = texts_of(table.get(PREDICTION, []))
    if n_done and predicted.size:
        n_wrong = np.sum(texts_of(finished[LABEL])[done] != predicted[done])
        wrong = f"; {n_wrong:,} of their predictions were wrong"
    given_before = {*texts_of(table[LABEL][~table[REVIEW]]), *predicted, ""}
    if new := sorted({*texts_of(finished[LABEL])} - given_before):
        output.note(f"Labels that were never given or predicted before: {', '.join(new[:5])}.")
    output.result |= {
        "command": "finish",
        "n_rows": len(finished),
        "n_reviewed": n_done,
        "n_open": n_open,
        **claim.to_record(),
    }
    facts = [("Reviewed", f"{n_done:,} of {n_before:,} rows{wrong}.")]
    facts.append(("File", claim.describe(n_open)))
    if options.to is not None:
        write_frame(finished, options.to, options.force)
        facts.append(output.wrote("labels", options.to))
    if options.to_review is not None:
        write_rows(_rows_to_review(finished), options.to_review, options.force)
        facts.append(output.wrote("to_review", options.to_review))
    output.facts(facts)
    if options.to_review is not None:
        go_on = f"--reviewed {options.to_review} -o finished.csv"
        output.say(f"Next: label these rows, then hedgeclipper finish {options.labels} {go_on}")


def merge_reviews(
    table: pd.DataFrame, claim: FileClaim, reviewed: dict[int, str], output: Output
) -> tuple[pd.DataFrame, FileClaim]:
    """Return the table with people's labels of some rows, and what is now known of it.

    A label that is the same as before, of a row that needed no review, says nothing: it may be that
    of a copy of the file at which nobody has looked.
    """
    texts = texts_of(table[LABEL])
    source, is_open = table[SOURCE].to_numpy(object).copy(), table[REVIEW].to_numpy(bool).copy()
    rows = [row for row, label in reviewed.items() if is_open[row] or texts[row] != label]
    changed = np.array([row for row in rows if not is_open[row]], np.int64)
    against = changed[(source[changed] == PEOPLE) & (texts[changed] != "")]
    if against.size:
        raise ValueError(
            f"People have given other labels to {against.size:,} rows before: "
            f"{listed_rows(against)}. Settle them, and keep one label for each row."
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


def _spelled_as_before(
    table: pd.DataFrame, reviewed: dict[int, str], output: Output
) -> dict[int, str]:
    """Return people's labels in the spelling of the file: yes is Yes, unless it has both."""
    before = {*texts_of(table[LABEL][~table[REVIEW]]), *texts_of(table.get(PREDICTION, []))} - {""}
    known = {plain_spelling(label): label for label in sorted(before)}
    changed = {
        row: known[plain_spelling(label)]
        for row, label in reviewed.items()
        if label not in before and plain_spelling(label) in known
    }
    for old, new in sorted({(reviewed[row], new) for row, new in changed.items()}):
        output.note(f"Read as {new!r}, which the file has: {old!r}.")
    return reviewed | changed


def labels_table(
    frame: pd.DataFrame,
    prediction: str,
    labels: np.ndarray,
    is_people: np.ndarray,
    review_order: np.ndarray,
    found: AutoLabels,
) -> pd.DataFrame:
    """Return the table of a file that people have to finish.

    Parameters
    ----------
    frame : DataFrame
        All rows, with a column of predictions that is called ``prediction``.
    prediction : str
        Name of that column.
    labels : ndarray of object of shape (n_rows,)
        The labels as text.
    is_people : ndarray of bool of shape (n_rows,)
        Which of these people have given.
    review_order : ndarray of int
        Rows that need review, in the order in which to review them.
    found : AutoLabels
        What is known of the other labels.
    """
    n_rows = len(frame)
    taken = {name for name in (*OWN_COLUMNS, PREDICTION) if name in frame} - {prediction}
    if ROW in taken and np.array_equal(frame[ROW], np.arange(n_rows)):
        taken.remove(ROW)
    frame = with_free_names(frame, taken).rename(columns={prediction: PREDICTION})
    review = np.zeros(n_rows, bool)
    review[review_order] = True
    order = np.zeros(n_rows, np.int64)
    order[review_order] = np.arange(1, len(review_order) + 1)
    source = np.where(is_people, PEOPLE, PREDICTION).astype(object)
    labels, source[review] = labels.copy(), None
    labels[review] = None
    columns = {
        ROW: np.arange(n_rows),
        LABEL: labels,
        REVIEW: review,
        ORDER: pd.Series(order, dtype="Int64").mask(order == 0),
        SOURCE: source,
    }
    claim = FileClaim(
        n_rows,
        found.n_automatic,
        round(found.error_upper * found.n_rows),
        float(found.max_error) if not isinstance(found.max_error, dict) else 0.0,
        found.confidence_level,
        found.kind,
        found.is_recorded,
    )
    return with_claim(frame.assign(**columns), claim)


def with_claim(table: pd.DataFrame, claim: FileClaim) -> pd.DataFrame:
    """Return a table with the record of what is known in the line of row 0."""
    record = np.full(len(table), None, object)
    record[0] = format_record({**claim.to_record(), "digest": _digest(table)})
    return table.assign(**{RECORD: record})


def check_labels_table(table: pd.DataFrame, place: str) -> tuple[pd.DataFrame, FileClaim]:
    """Return a table that was read in the order of its rows, and what is known of it.

    Rows that are missing or there twice, and labels that were changed, are an error.
    """
    missing = [name for name in OWN_COLUMNS if name not in table]
    if missing:
        raise ValueError(
            f"{place} has no column {missing[0]!r}. It has {listed(list(table))}. Pass a file that "
            "`hedgeclipper predict`, `votes` or `audit` has written with --max-error."
        )
    facts = parse_record(table[RECORD].tolist(), "digest")
    claim = FileClaim.from_record(facts)
    rows = pd.to_numeric(table[ROW], errors="coerce").to_numpy(float)
    lost = np.setdiff1d(np.arange(claim.n_rows), rows)
    if lost.size or len(table) != claim.n_rows:
        twice = pd.Series(rows)[pd.Series(rows).duplicated()].unique()
        what = f"has no {listed_rows(lost)}" if lost.size else f"has {listed_rows(twice)} twice"
        raise ValueError(
            f"{place} was written with {claim.n_rows:,} rows, has {len(table):,}, and {what}. Pass "
            "the file as it was written."
        )
    table = table.assign(**{ROW: rows.astype(np.int64)}).sort_values(ROW, ignore_index=True)
    # spreadsheets translate true and false
    table[REVIEW] = texts_of(table[ORDER]) != ""
    if _digest(table) != facts["digest"]:
        raise ValueError(
            f"Labels of {place} that need no review were changed after it was "
            f"written{_changed(table)}. Pass the file as it was written, and corrections with "
            "--reviewed."
        )
    return table, claim


def write_rows(
    table: pd.DataFrame, path: Path, force: bool, prediction: str | None = PREDICTION
) -> None:
    """Write rows as the suffix of a path says: a table, or tasks of Label Studio.

    In tasks, what is in the column ``prediction`` is chosen already.
    """
    if path.suffix.lower() == ".json":
        # the label of a task is an annotation
        rows = table.drop(columns=LABEL, errors="ignore").to_dict("records")
        write_tasks(rows, path, prediction=prediction, force=force)
    else:
        write_frame(table, path, force)


def _digest(table: pd.DataFrame) -> str:
    """Return a digest of all rows, and of the labels of those that need no review."""
    labels = texts_of(table[LABEL])
    labels[table[REVIEW].to_numpy(bool)] = ""
    review = table[REVIEW].to_numpy(np.int64)
    return digest_in_order(pd.DataFrame({ROW: table[ROW], LABEL: labels, REVIEW: review}))


def _changed(table: pd.DataFrame) -> str:
    """Return which automatic labels are not the predictions any more, as far as one can tell."""
    if PREDICTION not in table:
        return ""
    automatic = (table[SOURCE] == PREDICTION) & ~table[REVIEW]
    rows = np.flatnonzero(automatic & (texts_of(table[LABEL]) != texts_of(table[PREDICTION])))
    return f": {listed_rows(rows)}" if rows.size else ""


def _rows_to_review(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that are open, in the order of review, with an empty label."""
    rows = table[table[REVIEW]].sort_values(ORDER).drop(columns=[LABEL, REVIEW, SOURCE, RECORD])
    if rows.empty:
        raise ValueError("No row is left to review. Leave out --to-review.")
    first = [ROW, ORDER]
    rows = rows[[*first, *(name for name in rows if name not in first)]]
    return rows.assign(**{LABEL: pd.Series([None] * len(rows), rows.index, dtype="string")})
