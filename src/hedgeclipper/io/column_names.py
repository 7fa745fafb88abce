"""Columns by name: which ones are wanted, where they stand, and what cannot be read as numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from hedgeclipper.io.source import Request


def are_names(names: Sequence[Any]) -> bool:
    """Return whether columns can be picked by name: pandas may number them instead."""
    return all(isinstance(name, str) for name in names)


def wanted_positions(
    names: Sequence[Any], hidden: Collection[str], request: Request, place: str
) -> list[int]:
    """Return where the wanted columns stand: those asked for, or all but hidden ones and the label.

    Parameters
    ----------
    names : sequence of str, or of whatever pandas has in place of names
        The columns of a frame.
    hidden : collection of str
        Columns to leave out where none are asked for.
    request : Request
        Which columns are asked for, and which one is the label.
    place : str
        What to call the frame in errors.
    """
    if request.columns is not None and are_names(names):
        return positions_of(request.columns, names, place)
    left_out = set(positions_of([] if request.label is None else [request.label], names, place))
    left_out |= {names.index(name) for name in hidden}
    return [position for position in range(len(names)) if position not in left_out]


def positions_of(wanted: Sequence[str], names: Sequence[Any], place: str) -> list[int]:
    """Return where the columns of these names stand, or say which is not there just once."""
    positions = {name: position for position, name in enumerate(names)}
    counts = Counter(names)
    for name in wanted:
        if name not in counts:
            raise ValueError(
                f"{place} has no column {name!r}. It has {listed(names)}. Add the column, or name "
                "another one."
            )
        if counts[name] > 1:
            raise ValueError(
                f"{place} has {counts[name]} columns with the name {name!r}. Give each its own "
                "name."
            )
    return [positions[name] for name in wanted]


def listed(names: Sequence[Any], most: int = 10) -> str:
    """Return the first few names for an error."""
    shown = ", ".join(repr(name) for name in names[:most])
    more = len(names) - most
    return f"{shown} and {more} more" if more > 0 else shown or "no columns"


def not_numbers(column: str, kind: Any) -> TypeError:
    """Return the error for a wanted column that does not hold numbers."""
    return TypeError(
        f"{column} must hold numbers. Got type {kind}. Encode it as numbers, or leave it out with "
        "hedgeclipper.io.as_source(data, columns=[the names of the others])."
    )


def not_labels(column: str, kind: Any) -> TypeError:
    """Return the error for a label that is neither number nor string."""
    return TypeError(
        f"{column} is the label and must hold numbers, booleans or strings. Got type {kind}. "
        "Encode the classes, or name another column as the label."
    )
