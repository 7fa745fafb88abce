"""Labels of files: read, rid of other spellings and of marks of unlabeled rows, and checked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from hedgeclipper.cli.output import CommandError, ExitCode, Output
from hedgeclipper.cli.table_files import MISSING_STRINGS, Files
from hedgeclipper.io import as_classes as typed_labels
from hedgeclipper.io import as_text, listed, missing_labels

MANY_CLASSES = 20
# more different numbers than this are measured, counted, or codes of too many classes
MANY_NUMBERS = 50
_WHOLE_NUMBER = re.compile(r"(0|-?[1-9]\d{0,14})(\.0+)?")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_LIKELY_MARKS = {
    *("unknown", "unlabeled", "unlabelled", "not labeled", "missing", "none", "undefined"),
    *("n.a.", "not available", "-", "--", "tbd", "todo", "blank", "empty"),
}


@dataclass(frozen=True)
class Roles:
    """What columns are for: the target, the key that names rows, others to drop or to keep.

    ``labels`` are files that have the target by key; ``marks`` are values of the target that mean
    unlabeled. LibSVM has no target.
    """

    target: str | None
    key: str | None = None
    drop: Sequence[str] = ()
    keep: Sequence[str] = ()
    labels: Files | None = None
    marks: Sequence[str] = ()


def read_labels(data: Files, roles: Roles, output: Output) -> np.ndarray:
    """Return the label of each row of the files, None or NaN where there is none."""
    target = str(roles.target)
    if roles.labels is None:
        return clean_labels(data.column(target), target, output, roles.marks, data.kind == "CSV")
    values = _matched_labels(data, roles.labels, str(roles.key), target, output)
    return clean_labels(values, target, output, roles.marks, roles.labels.kind == "CSV")


def _matched_labels(
    data: Files, labels: Files, key: str, target: str, output: Output
) -> np.ndarray:
    """Return labels of another table, each for the row with the same key."""
    values = pd.Series(labels.column(target), index=labels.keys(key), dtype=object).dropna()
    per_key = values.groupby(level=0).nunique()
    if (per_key > 1).any():
        raise CommandError(
            f"{labels.place} has different labels for the row {per_key.idxmax()!r}.",
            "Keep one of them.",
        )
    values = values[~values.index.duplicated()]
    keys = data.keys(key)
    if len(set(keys)) < len(keys):
        twice = next(name for name, count in Counter(keys).items() if count > 1)
        raise CommandError(
            f"{data.place} has more than one row with {key} {twice!r}.",
            "Name a column with --key that is different in each row.",
        )
    found = values.index.isin(keys)
    if not found.any():
        raise CommandError(
            f"No row of {data.place} has a {key} of {labels.place}: the first are "
            f"{str(keys[0])!r} and {listed(values.index.tolist(), 1)}.",
            "Name the column that both have with --key.",
        )
    if not found.all():
        output.note(
            f"{int((~found).sum()):,} labels of {labels.place} belong to no row of {data.place}."
        )
    return values.reindex(keys).to_numpy(dtype=object)


def clean_labels(
    values: np.ndarray,
    target: str,
    output: Output,
    marks: Sequence[str] = (),
    is_text: bool = False,
) -> np.ndarray:
    """Return labels without blanks around them, in one spelling, None or NaN for missing ones.

    ``marks`` mean missing, and so do the usual ones where labels are read as text.
    """
    counts = Counter(values[~missing_labels(values)].tolist())
    classes = {v: v.strip() or None if isinstance(v, str) else v for v in counts}
    if is_text:
        _leave_out_missing(classes, counts, target, output)
    _leave_out_marks(classes, marks, target, output)
    _merge_spellings(classes, counts, target, output)
    _suggest_marks(classes, counts, target, output)
    known = {label for label in classes.values() if label is not None}
    if is_text and all(map(_WHOLE_NUMBER.fullmatch, known)):
        # so 1 and 1.0 are the same class, and 007 is not 7
        numbers = {v: np.nan if label is None else float(label) for v, label in classes.items()}
        return np.array([numbers.get(value, np.nan) for value in values.tolist()])
    return np.array([classes.get(value) for value in values.tolist()], dtype=object)


def _leave_out_missing(classes: dict, counts: Counter, target: str, output: Output) -> None:
    found: Counter[str] = Counter()
    for value, label in classes.items():
        if label in MISSING_STRINGS:
            found[label] += counts[value]
            classes[value] = None
    if found:
        texts = [f"{text!r} ({found[text]:,})" for text in MISSING_STRINGS if found[text]]
        output.note(
            f"Taken as missing in {target!r}: {', '.join(texts)}. Write it otherwise if it is a "
            "class."
        )


def _leave_out_marks(classes: dict, marks: Sequence[str], target: str, output: Output) -> None:
    texts = dict(zip(classes, as_text(np.array([*classes.values(), None])[:-1]), strict=True))
    for mark in marks:
        found = [value for value, text in texts.items() if text == mark.strip()]
        classes.update(dict.fromkeys(found))
        if not found:
            output.note(f"No row has {mark!r} in {target!r}, which --unlabeled-value names.")


def _merge_spellings(classes: dict, counts: Counter, target: str, output: Output) -> None:
    """Give labels that differ in case or blanks only the most frequent spelling of these."""
    groups: dict[str, list[str]] = {}
    for value, label in classes.items():
        # A and a may be two classes
        if isinstance(label, str) and len(label) > 1:
            groups.setdefault(" ".join(label.casefold().split()), []).append(value)
    for group in groups.values():
        if len(group) > 1:
            group.sort(key=lambda value: -counts[value])
            whole = classes[group[0]]
            classes.update(dict.fromkeys(group, whole))
            variants = ", ".join(f"{value!r} ({counts[value]:,})" for value in group)
            output.note(f"Read as one class {whole!r} of {target!r}: {variants}.")


def _suggest_marks(classes: dict, counts: Counter, target: str, output: Output) -> None:
    totals: Counter[Any] = Counter()
    for value, label in classes.items():
        if label is not None:
            totals[label] += counts[value]
    for label, count in totals.items():
        is_minus_one = str(label) in ("-1", "-1.0") and len(totals) > 2
        if is_minus_one or str(label).casefold() in _LIKELY_MARKS:
            output.note(
                f"{label!r} is a class of {target!r}, with {count:,} rows. If it marks unlabeled "
                f"rows, pass --unlabeled-value {str(label).removesuffix('.0')}."
            )


def as_classes(labels: Any) -> np.ndarray:
    """Return labels of which none is missing as booleans, whole numbers or strings.

    Numbers that are not whole become strings, since classifiers would refuse them as continuous.
    Strings may be booleans.
    """
    values = np.asarray(labels, dtype=object)
    try:
        classes = typed_labels(values, "The target")
    except TypeError:  # of several kinds
        classes = values.astype(str)
    if classes.dtype.kind == "U" and set(np.char.lower(classes)) <= {"true", "false"}:
        return np.char.lower(classes) == "true"
    return classes.astype(str) if classes.dtype.kind == "f" else classes


def as_classes_of(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return labels as objects, those of a model's classes as it has them, whatever their type."""
    by_text = {str(label): label for label in classes.tolist()}
    return np.array([by_text.get(str(x), x) for x in labels.tolist()], dtype=object)


def check_classes(y: np.ndarray, n_rows: int, target: str) -> dict[Any, int]:
    """Return the number of labels of each class, or say why nothing can be learned from them."""
    if y.size == 0:
        raise CommandError(
            f"None of the {n_rows:,} rows has a value in {target}.",
            "Label some rows of each class.",
        )
    classes, counts = np.unique(y, return_counts=True)
    if classes.size == 1:
        raise CommandError(
            f"All {y.size:,} labeled rows are of one class, {classes.tolist()[0]!r}.",
            "Label some rows of another class; leave the label empty where it is not known.",
        )
    texts = [str(label) for label in classes.tolist()]
    are_numbers = all(map(_NUMBER.fullmatch, texts))
    are_fractions = are_numbers and any(float(text) % 1 for text in texts)
    n_usual = 2 if are_fractions else MANY_CLASSES
    is_measured = are_numbers and classes.size > min(MANY_NUMBERS, max(n_usual, y.size / 10))
    if is_measured or classes.size > max(n_usual, y.size / 3):
        number = "; write codes of classes as strings, such as 'c12'" if are_numbers else ""
        raise CommandError(
            f"{target} has {classes.size:,} different values on {y.size:,} labeled rows, such as "
            f"{listed(classes.tolist(), 3)}.",
            "Only classes can be predicted: name another column, or make classes of it, such as "
            f"low and high{number}.",
        )
    return dict(zip(classes.tolist(), counts.tolist(), strict=True))


def key_of_labels(data: Files, labels: Files, key: str | None, target: str) -> str:
    """Return the column that names rows in both tables: the one that is given, or they share."""
    labels.require([target], "--target")
    if target in data.names:
        raise CommandError(
            f"{data.place} has a column {target!r} too, beside the one of --labels.",
            "Leave out --labels, or rename one of the two.",
            ExitCode.USAGE,
        )
    shared = [name for name in labels.names if name in data.names and name != target]
    if key is None:
        if len(shared) != 1:
            found = listed(shared, 5) if shared else "none"
            raise CommandError(
                f"{data.place} and {labels.place} share {found} of their columns.",
                "Name the column that tells which label belongs to which row with --key.",
                ExitCode.USAGE,
            )
        return shared[0]
    for files in (data, labels):
        files.require([key], "--key")
    return key
