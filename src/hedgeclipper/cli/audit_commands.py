"""``hedgeclipper sample`` and ``audit``: rows to label or check, drawn at random, and the check."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hedgeclipper.bounds.audit import Audit, audit
from hedgeclipper.bounds.sample import RECORD_COLUMNS, Sample, draw_sample, record_columns
from hedgeclipper.cli.app import AuditPredictions, SampleRows
from hedgeclipper.cli.checked_labels import (
    MOST_PEOPLE,
    LabelTable,
    PeoplesLabels,
    SessionTable,
    clean_texts,
    has_record,
    settle_people,
)
from hedgeclipper.cli.finish_commands import LABEL, PREDICTION, labels_table, write_rows
from hedgeclipper.cli.output import (
    ExitCode,
    Output,
    UsageError,
    check_outputs,
    check_suffix,
    one_question,
)
from hedgeclipper.cli.tables import (
    TABLE_SUFFIXES,
    Files,
    clean_labels,
    parse_classes,
    texts_of,
    write_frame,
)
from hedgeclipper.io import missing_labels

NEXT_TABLE = "Fill in the column {!r}; leave it empty where nobody can decide."
NEXT_TASKS = "Import it into Label Studio, and skip tasks that nobody can decide."
READ_BY = "Then pass the labels to fit --labels, votes --gold or audit --labels."


def sample_rows(options: SampleRows, output: Output) -> None:
    """Draw rows of a table, or more of them, and write them with an empty column of labels."""
    table = Files.find(options.data, output, options.dialect)
    check_outputs(options.to, inputs=[table, options.extend], force=options.force)
    check_suffix(options.to, *TABLE_SUFFIXES, ".json")
    is_task = options.to.suffix.lower() == ".json"
    if is_task and options.extend is not None:
        raise UsageError(
            "The labels so far cannot be written as tasks of Label Studio. End the name of the "
            "output in .csv or .parquet."
        )
    frame, target = table.frame(), options.target
    if target is not None:
        table.require([target], "--target")
    column = target or LABEL
    taken = [name for name in (*RECORD_COLUMNS, column) if name in frame and name != target]
    if taken:
        advice = "Pass --target label if these are labels." if taken[0] == LABEL else "Rename it."
        raise ValueError(
            f"{table.place} has a column {taken[0]!r} itself, which is written here. {advice}"
        )
    names = [name for name in frame if name != target]
    labels = np.full(len(frame), None, object)
    if options.extend is None:
        known = None if target is None else ~missing_labels(clean_texts(frame[target]))
        given = frame[names] if names else len(frame)
        sample = draw_sample(given, options.n, seed=options.seed, excluded=known)
    else:
        sample, labels = _extended(options, frame, column, table, output)
    content = pd.DataFrame(record_columns(sample, len(names)))
    rows = frame.iloc[sample.rows][names].reset_index(drop=True)
    content = pd.concat([content, rows], axis=1)
    if not is_task:  # the label of a task is an annotation
        content = content.assign(**{column: labels[sample.rows]})
    if PREDICTION in names:
        output.note(
            f"The column {PREDICTION!r} is among those that people see, and may bias their labels: "
            "draw from the rows without it."
        )
    write_rows(content, options.to, options.force, None)
    written = output.wrote("sample", options.to)
    output.result |= {
        "command": "sample",
        "n_rows": sample.n_rows,
        "n_drawn": sample.n_drawn,
        "n_excluded": sample.excluded.size,
        "seed": sample.seed,
        "digest": sample.digest,
    }
    next_step = NEXT_TASKS if is_task else NEXT_TABLE.format(column)
    output.facts([("Drawn", f"{sample.describe()}."), ("Next", f"{next_step} {READ_BY}"), written])


def _extended(
    options: SampleRows, frame: pd.DataFrame, column: str, table: Files, output: Output
) -> tuple[Sample, np.ndarray]:
    """Return a sample with more rows than the one before, and the labels so far."""
    name = str(options.extend)
    given = LabelTable.read(name, column, list(frame), table.place, options.dialect, output)
    if not has_record(given.frame):
        raise ValueError(
            f"{name} is no sample of `hedgeclipper sample`: it has no record of a draw. Pass the "
            "file that it has written."
        )
    sample, places = given.read_sample(frame, output)
    labels = np.full(len(frame), None, object)
    labels[sample.rows[places]] = given.labels
    return sample.extended(options.n), labels


def audit_predictions(options: AuditPredictions, output: Output) -> None:
    """Audit a table of predictions, print what is known, and write labels and rows to review."""
    _check_options(options)
    table = Files.find(options.predictions, output, options.dialect)
    check_outputs(options.to, inputs=[table, *map(Path, options.labels)], force=options.force)
    check_suffix(options.to, *TABLE_SUFFIXES)
    table.require([options.prediction], "predictions", "Name it with --prediction-column.")
    frame = table.frame()
    given = [
        LabelTable.read(name, options.label, list(frame), table.place, options.dialect, output)
        for name in options.labels
    ]
    sessions = [one for one in given if isinstance(one, SessionTable)]
    people = settle_people(
        [one.match(frame, options.key, output if one in sessions else None) for one in given],
        options.confidence_level,
    )
    predictions, labels = _common_spelling(frame, people, options, output)
    is_gate = options.fail_if_above is not None
    # labels of a session were added in the order of the draw, until they were enough
    sequential = options.sequential or bool(sessions) or (is_gate and people.sample is not None)
    _note_draw(people, sequential, is_gate, output)
    with output.working("auditing"):
        found = audit(
            predictions,
            people.rows if people.sample is None else people.sample,
            labels,
            **_ordering(table, frame, predictions, options),
            max_error=options.max_error,
            confidence_level=options.confidence_level,
            segments={name: _column(table, frame, name, "--by") for name in options.by or ()},
            classes=_classes(predictions, labels, options.classes),
            groups=_column(table, frame, options.groups, "--groups"),
            labeled_after=_labeled_after(frame, people),
            sequential=sequential,
        )
    _print(found, people, table, output)
    if options.to is not None:
        write_frame(_labels_to_finish(found, frame, people, options), options.to, options.force)
        output.facts([output.wrote("labels", options.to)])
    if options.fail_if_above is not None:
        _end_gate(found, options.fail_if_above, output)


def _check_options(options: AuditPredictions) -> None:
    """Raise if options do not go together."""
    columns = options.confidence_column, options.uncertainty_column
    wrong = ""
    if all(columns):
        wrong = "--confidence-column and --uncertainty-column exclude each other."
    elif options.max_error is not None and not any(columns):
        wrong = "--max-error needs --confidence-column or --uncertainty-column."
    elif options.to is not None and options.max_error is None:
        wrong = "-o writes which rows to review, and needs --max-error."
    elif len(options.labels) > MOST_PEOPLE:
        wrong = (
            f"--labels takes at most {MOST_PEOPLE} files: of one person, of a second one, and of "
            f"a third one who settles. Got {len(options.labels)}."
        )
    if wrong:
        raise UsageError(f"{wrong} See hedgeclipper audit --help.")


def _column(table: Files, frame: pd.DataFrame, name: str | None, option: str) -> Any:
    if name is None:
        return None
    table.require([name], option)
    return texts_of(frame[name]).astype(str)


def _ordering(
    table: Files, frame: pd.DataFrame, predictions: np.ndarray, options: AuditPredictions
) -> dict[str, Any]:
    """Return uncertainties or confidences, as numbers; rows without a prediction need none."""
    name = options.confidence_column or options.uncertainty_column
    if name is None:
        return {}
    is_confidence = name == options.confidence_column
    table.require([name], f"--{'confidence' if is_confidence else 'uncertainty'}-column")
    numbers = pd.to_numeric(frame[name], errors="coerce").to_numpy(float)
    strange = frame[name][~np.isfinite(numbers) & ~missing_labels(predictions)]
    if len(strange):
        raise ValueError(
            f"Column {name!r} of {table.place} must hold finite numbers. Got "
            f"{strange.tolist()[0]!r} in row {strange.index[0]}. Name a column of numbers; give "
            "rows without one the number of the least sure."
        )
    return {"confidences" if is_confidence else "uncertainties": numbers}


def _common_spelling(
    frame: pd.DataFrame, people: PeoplesLabels, options: AuditPredictions, output: Output
) -> tuple[np.ndarray, np.ndarray]:
    """Return predictions and labels as classes: Yes, yes and "yes " are one."""
    predicted = clean_texts(frame[options.prediction])
    both = pd.Series([*predicted, *people.labels], name=options.prediction, dtype=object)
    texts = clean_labels(both, (), output)
    known = np.array([text is not None for text in texts], bool)
    classes = np.full(texts.size, None, object)
    classes[known] = parse_classes(texts[known]).tolist()
    return classes[: predicted.size], classes[predicted.size :]


def _classes(predictions: np.ndarray, labels: np.ndarray, wanted: list[str] | None) -> list[Any]:
    """Return classes that are named as text, as predictions have them."""
    known = {str(label): label for label in [*predictions, *labels] if label is not None}
    return [known.get(text, text) for text in wanted or ()]


def _labeled_after(frame: pd.DataFrame, people: PeoplesLabels) -> np.ndarray:
    """Return which rows have a label in the file, and are neither in the sample nor excluded."""
    known = np.zeros(len(frame), bool)
    if people.sample is None:
        return known
    if people.column in frame:
        known |= [label is not None for label in clean_texts(frame[people.column])]
    known[[*people.more]] = True
    known[people.sample.rows] = known[people.sample.excluded] = False
    return known


def _note_draw(people: PeoplesLabels, sequential: bool, is_gate: bool, output: Output) -> None:
    """Say what is done about rows without a label, and what a gate without a record is worth."""
    n_open = sum(label is None for label in people.labels) % people.rows.size  # all: an error
    if people.sample is None and n_open:
        output.note(
            f"{n_open:,} of {people.rows.size:,} checked rows have no label: they count as wrong. "
            "If nobody has looked at them, leave their lines out."
        )
    if people.sample is not None and n_open and not sequential:
        output.note(
            f"{n_open:,} of {people.rows.size:,} rows of the sample have no label: they count as "
            "wrong. To look before all are labeled, pass --sequential, and do so each time."
        )
    if people.sample is None and is_gate:
        output.note(
            "Without the record of a sample, --fail-if-above holds for one run. To run it again "
            "with more labels, draw the rows with `hedgeclipper sample`."
        )


def _labels_to_finish(
    found: Audit, frame: pd.DataFrame, people: PeoplesLabels, options: AuditPredictions
) -> pd.DataFrame:
    """Return all rows with their labels, and which to review."""
    labels = texts_of(found.labels)
    before = found.is_checked.copy()
    before[people.rows] = False  # labeled before the draw, in a column of the file
    labels[before] = clean_texts(frame[people.column])[before] if people.column in frame else None
    for row in people.more:
        labels[row] = people.more[row] if before[row] else labels[row]
    assert found.file is not None
    is_people = found.is_checked.copy()
    is_people[people.skipped] = False
    review = np.append(found.review_order, np.array(people.skipped, np.int64))
    return labels_table(frame, options.prediction, labels, is_people, review, found.file)


def _print(found: Audit, people: PeoplesLabels, table: Files, output: Output) -> None:
    output.say(f"{table.place}: {found.n_rows:,} rows, {found.n_checked:,} of them checked\n")
    facts = found.facts()
    if found.file is not None:
        more = one_question(found.file)
        facts = [(name, text + more * (name == "File")) for name, text in facts]
    if people.agreement is not None:
        facts.insert(0, ("People", people.agreement.describe()))
    output.facts(facts)
    for name, one in found.segments.items():
        order = np.argsort(-one.upper, kind="stable")
        output.say("")
        output.table(
            (name, "Rows", "Checked", "Wrong", "Error", "At least", "At most"),
            [
                (
                    one.names[k],
                    f"{one.n_rows[k]:,}",
                    f"{one.n_checked[k]:,}",
                    f"{one.n_wrong[k]:,}",
                    f"{one.n_wrong[k] / one.n_checked[k]:.1%}" if one.n_checked[k] else "-",
                    f"{one.lower[k]:.1%}",
                    f"{one.upper[k]:.1%}",
                )
                for k in order
            ],
        )
    output.result |= _result(found, people)


def _result(found: Audit, people: PeoplesLabels) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    left_out = {"labels", "is_checked", "file", "segments", "classes", "sample"}
    result = {name: value for name, value in vars(found).items() if name not in left_out}
    result |= {"command": "audit", "is_recorded": found.sample is not None}
    result["segments"] = {name: vars(one) for name, one in found.segments.items()}
    result["classes"] = [asdict(one) for one in found.classes]
    if found.file is not None:
        result |= {
            "max_error": found.file.max_error,
            "n_accepted": found.file.n_automatic,
            "n_to_review": found.review_order.size,
            "n_needed": found.file.n_needed,
            "file_error_upper": found.file_error_upper,
            "accepted_error_upper": found.file.automatic_error_upper,
        }
    if people.agreement is not None:
        two = vars(people.agreement)
        result["agreement"] = {name: value for name, value in two.items() if name != "labels"}
    return result


def _end_gate(found: Audit, limit: float, output: Output) -> None:
    """End with an exit code of its own unless the limit is proved."""
    passed = found.proves(limit)
    output.result["passed"] = passed
    if passed:
        output.say(f"Passed: at most {100 * limit:g}% are wrong.")
        return
    output.code = ExitCode.ABOVE_LIMIT
    why = f"up to {found.error_upper:.1%} may be"
    if found.kind != "guarantee":
        why = f"this is no guarantee, since {found.reason}"
    output.say(f"Failed: it is not proved that at most {100 * limit:g}% are wrong; {why}.")
