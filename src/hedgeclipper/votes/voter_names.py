"""Names of voters and rows: numbers for them in long tables, and which of them fit which."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from hedgeclipper.io import is_missing, listed
from hedgeclipper.votes.distinct import first_seen
from hedgeclipper.votes.vote_labels import first_repeated


def as_names(names: Iterable[Any]) -> np.ndarray:
    """Return names as an array: int64 if all are whole numbers, and else objects."""
    plain = names.tolist() if isinstance(names, np.ndarray) else list(names)
    if all(isinstance(name, (int, np.integer)) for name in plain):
        return np.array(plain, dtype=np.int64)
    return np.fromiter(plain, dtype=object, count=len(plain))


@dataclass(frozen=True, eq=False)
class VoterNames:
    """Names of the voters, and whether they are more than the numbers of the columns."""

    names: np.ndarray
    given: bool

    @classmethod
    def of(cls, names: Any, n_voters: int, given: bool | None = None) -> VoterNames:
        """Return names of columns, checked; the numbers of the columns if there are none.

        Parameters
        ----------
        names : iterable of shape (n_voters,), or None
            Names.
        n_voters : int
            Number of columns.
        given : bool, optional
            Whether they are more than numbers of columns. By default unless they are 0, 1, 2, ...
        """
        if names is None:
            return cls(np.arange(n_voters), False)
        array = as_names(names)
        if array.size != n_voters:
            raise ValueError(
                f"The 'voters' parameter must have one name for each of the {n_voters} columns. "
                f"Got {array.size}."
            )
        twice = first_repeated(array.tolist())
        if twice is not None:
            raise ValueError(
                f"Two voters have the name {twice!r}. Give each of them a name of its own."
            )
        return cls(array, not are_numbers_of_columns(array) if given is None else given)

    def positions_in(self, others: VoterNames) -> np.ndarray:
        """Return where each voter stands among others, by name or else by number.

        Parameters
        ----------
        others : VoterNames of shape (n_others,)
            Names of the others.
        """
        voters = others.names
        same_count = self.names.size == voters.size
        if not self.given and same_count:
            _check_not_reordered(self.names, voters)
            return np.arange(voters.size)
        if not self.given:
            raise ValueError(
                f"The votes have {self.names.size} voters without names, and {voters.size} are "
                "expected. Pass a column for each of them in the same order, or name the voters."
            )
        position_of = {name: position for position, name in enumerate(voters.tolist())}
        unknown = [name for name in self.names.tolist() if name not in position_of]
        if len(unknown) == voters.size and same_count and not others.given:
            return np.arange(voters.size)
        if unknown:
            raise ValueError(
                f"{len(unknown)} of {self.names.size} voters are not known: {listed(unknown)}. "
                f"Known are {listed(voters.tolist())}. Leave the others out, or rename them."
            )
        return np.array([position_of[name] for name in self.names.tolist()], dtype=np.intp)


def are_numbers_of_columns(names: np.ndarray) -> bool:
    """Return whether names are just 0, 1, 2, ..., as frames without names of columns have them."""
    return names.dtype.kind == "i" and np.array_equal(names, np.arange(names.size))


def _check_not_reordered(numbers: np.ndarray, voters: np.ndarray) -> None:
    """Raise if voters are named by the numbers of columns, but stand in another order."""
    is_same_set = voters.dtype.kind == "i" and np.array_equal(np.sort(voters), numbers)
    if is_same_set and not np.array_equal(voters, numbers):
        raise ValueError(
            f"Voters are named by numbers, {listed(voters.tolist())}, and these columns by their "
            "places, so that either order may be meant. Give the voters other names, or the "
            "columns the same order."
        )


def number_names(column: Any, place: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the different names in a column as they appear, and the number of each.

    Parameters
    ----------
    column : ndarray, or column of a frame, of shape (n,)
        Names, none of them missing.
    place : str
        What to call the column in errors.

    Returns
    -------
    names : ndarray of shape (n_names,)
        The different names.
    numbers : ndarray of shape (n,)
        For each place in the column the position of its name among these.
    """
    different, numbers = _factorized(column, place)
    missing = np.array([is_missing(name) for name in different] + [True])
    if missing[numbers].any():
        raise ValueError(
            f"{place} must not have missing values. Got one in row {np.argmax(missing[numbers])} "
            "of the table. Drop these rows."
        )
    return as_names(different), numbers


def _factorized(column: Any, place: str) -> tuple[list[Any], np.ndarray]:
    """Return different names and numbers, found by the library of the column where it can.

    A missing name may be among the different ones or have the number -1.
    """
    column = nw.to_native(column, pass_through=True)
    if hasattr(column, "factorize"):  # pandas
        numbers, different = column.factorize()
        return different.tolist(), numbers
    if hasattr(column, "replace_strict"):  # polars
        different = column.unique(maintain_order=True)
        numbers = column.replace_strict(different, np.arange(len(different)))
        return different.to_list(), numbers.to_numpy()
    if hasattr(column, "dictionary_encode"):  # Arrow
        encoded = column.dictionary_encode().combine_chunks()
        return encoded.dictionary.to_pylist(), np.asarray(encoded.indices.fill_null(-1))
    return first_seen(column, place)
