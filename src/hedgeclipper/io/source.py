"""What every source of rows can do, what is asked of it, and errors that name a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_ENTRIES = 1 << 22
_MOST_ROWS = 1 << 16
_LEAST_ROWS = 256


@dataclass(frozen=True)
class Request:
    """What the caller of `as_source` asks for; its parameters of these names.

    Requests are equal if they ask for the same, of whatever data.
    """

    name: str = field(default="votes", compare=False)
    columns: list[str] | None = None
    label: Any = None
    n_columns: int | None = None
    dtype: Any = None
    strings: bool = False
    once: bool = field(default=False, compare=False)
    data: Any = field(default=None, compare=False, repr=False)

    def check_width(self, n_columns: int, place: str) -> None:
        """Raise unless rows of this width were asked for."""
        wanted = self.n_columns if self.columns is None else len(self.columns)
        if wanted is not None and n_columns != wanted:
            raise ValueError(
                f"{place} must have {wanted} columns. Got {n_columns}. Pass rows with the columns "
                "that were there before, in the same order, or with names to pick them by."
            )


class Source:
    """Rows that can be read again and again, in the same order, a batch at a time.

    Attributes
    ----------
    request : Request
        What it was made with.
    in_memory : bool
        Whether all rows are in memory, so that a pass is cheap and some rows may be copied.
    n_rows : int or None
        Number of rows; None where only a pass would tell.
    names : list of str or None
        Names of the columns that the rows have by themselves.
    """

    request: Request
    in_memory: bool = False
    n_rows: int | None = None
    names: list[str] | None = None

    @property
    def column_names(self) -> list[str] | None:
        """Names of the columns of a batch, in order; None where they have none."""
        return self.request.columns if self.names is None else self.names

    @property
    def label(self) -> Any:
        """Name of the column with the labels; None where none was asked for."""
        return self.request.label

    def __iter__(self) -> Iterator[Any]:
        """Yield batches of rows: arrays of shape (rows, columns), or CSR matrices."""
        return (rows for rows, _ in self._blocks(False))

    def labeled_batches(self) -> Iterator[tuple[Any, np.ndarray]]:
        """Yield (rows, labels): float64 with NaN for a missing label, or str with None for one."""
        if self.label is None:
            raise ValueError(
                f"{self.request.name} has no labels: no column was named as the label. Pass label "
                "to as_source."
            )
        return self._blocks(True)

    def _blocks(self, with_labels: bool) -> Iterator[tuple[Any, Any]]:
        """Yield rows and their labels, or whatever where labels are not wanted."""
        raise NotImplementedError


def rows_per_batch(n_columns: int) -> int:
    """Return the number of rows of a batch that is read from a file or a memory map.

    About 16 MB of float32: much longer to read than to hand over, and little beside the rest. At
    most 65,536 rows, since leaf numbers and the like take memory per row; at least 256, so that
    very wide rows still come in blocks.
    """
    return min(_MOST_ROWS, max(_LEAST_ROWS, _ENTRIES // max(1, n_columns)))


def converted(rows: Any, dtype: Any, place: str) -> Any:
    """Return rows of this dtype (None: as they are); numbers too large for it are an error."""
    if dtype is None or rows.dtype == dtype:
        return rows
    try:
        with naming_overflow(place, dtype):
            return rows.astype(dtype)
    except (TypeError, ValueError) as error:
        if rows.dtype.kind in "biuf":
            raise
        raise TypeError(
            f"{place} must hold numbers. Got dtype {rows.dtype}. Encode them ({error})."
        ) from error


@contextmanager
def naming_overflow(place: str, dtype: Any) -> Iterator[None]:
    """Raise where a number is too large for the dtype that it is converted to."""
    try:
        with np.errstate(over="raise"):
            yield
    except FloatingPointError as error:
        raise ValueError(
            f"{place} has a number that is too large for {np.dtype(dtype)}, as which it is read. "
            "Rescale the column, or leave that row out."
        ) from error


@contextmanager
def naming_damaged_file(
    place: str, *errors: type[Exception], where: Callable[[], str] = lambda: ""
) -> Iterator[None]:
    """Name the file that is gone or damaged, which these errors mean, and the place in it."""
    signs_of_damage: tuple[type[Exception], ...] = (*errors, OSError)
    try:
        yield
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"{place} is gone. Keep files in place as long as they are read, several times."
        ) from error
    except signs_of_damage as error:
        # Errors of the operating system have a number; those of damaged files do not.
        is_named = isinstance(error, OSError) and str(error).startswith(place)
        if is_named or getattr(error, "errno", None) is not None:
            raise
        at = " ".join(["", where()]).rstrip()
        raise OSError(
            f"{place} is damaged or cut short{at} ({error}). Put a whole copy in its place."
        ) from error


def check_count(counts: dict[str, int], place: str, n_read: int) -> None:
    """Note how many rows a first whole pass had, and raise where a later one differs."""
    if n_read != (n_rows := counts.setdefault(place, n_read)):
        raise ValueError(
            f"{place} changed between passes: {n_rows} rows at first, then {n_read}. "
            "Leave the rows as they are while they are read, several times."
        )
