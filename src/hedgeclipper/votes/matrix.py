"""Votes of many voters on many rows, a sparse matrix of class codes, and the sums over them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from hedgeclipper.io import Source, as_source, is_frame, is_pandas, listed
from hedgeclipper.io.arrays import is_array
from hedgeclipper.io.sources import open_files
from hedgeclipper.votes.readers import (
    LabelNumbers,
    as_names,
    class_codes,
    read_dense,
    read_frame,
    read_long,
    read_sparse,
    sort_classes,
)


@dataclass(frozen=True, eq=False, repr=False)
class Votes:
    """Votes of many voters on many rows, any of whom may abstain. It is immutable.

    Make one with `of`, which takes tables with a column for each voter, or with `from_long`, which
    takes tables with one vote in each line.

    Parameters
    ----------
    matrix : scipy.sparse.csr_array of shape (n_rows, n_voters)
        The code of a class plus 1 for each vote; an abstention has no entry. Canonical, without
        stored zeros, in the smallest integers that hold it.
    classes : ndarray of shape (n_classes,)
        Labels of the classes, sorted; codes are positions in it.
    voters : ndarray of shape (n_voters,)
        Names of the voters, or 0, 1, ...
    rows : ndarray of shape (n_rows,), optional
        Names of the rows.
    named : bool, default=True
        Whether voters are known by their names, and not by the numbers of their columns.

    Examples
    --------
    >>> votes = Votes.of([["cat", "cat"], [None, "dog"], ["dog", None]])
    >>> votes
    Votes(3 rows, 2 voters, 2 classes, 4 votes)
    >>> votes.matrix.toarray()
    array([[1, 1],
           [0, 2],
           [2, 0]], dtype=int8)
    >>> votes.counts()
    array([[2, 0],
           [0, 1],
           [0, 1]])
    """

    matrix: Any
    classes: np.ndarray
    voters: np.ndarray
    rows: np.ndarray | None = None
    named: bool = True

    @classmethod
    def of(cls, L: Any, *, abstain_label: Any = -1) -> Votes:
        """Return the votes of a table with a row for each row and a column for each voter.

        A missing label (None, NaN, ``pandas.NA``, a masked entry) always abstains. Labels are
        numbers, which must be whole, booleans or strings.

        Parameters
        ----------
        L : Votes, array-like, sparse matrix, frame, path or list of paths
            Labels, of shape (n_rows, n_voters). Of a frame of pandas, polars or Arrow the names of
            the columns are the voters, and the index of pandas names the rows. In a sparse matrix
            what is not stored abstains, and a stored 0 is a vote for class 0: do not call
            ``eliminate_zeros``, and do not make it from a dense matrix, which would lose these
            votes. Files are those that `hedgeclipper.io.as_source` reads, CSV and Parquet among
            them. Votes are returned as they are, whatever the other parameters.
        abstain_label : object, default=-1
            A label that means no vote. None if there is no such label.

        Examples
        --------
        >>> Votes.of([[0, 1, -1], [2, -1, -1]])
        Votes(2 rows, 3 voters, 3 classes, 3 votes)
        >>> row, voter, label = [0, 0, 1], [0, 2, 1], [0, 1, 0]
        >>> Votes.of(sparse.csr_array((label, (row, voter)), shape=(2, 3))).counts()
        array([[1, 1],
               [1, 0]])
        """
        if isinstance(L, Votes):
            return L
        labels, names = LabelNumbers(abstain_label, "The table of votes"), None
        parts: list[Any] = []
        tables: Iterable[Any] = [L]
        if _is_file(L):
            files = L if isinstance(L, Source) else open_files(L, keep_zeros=True)
            tables = as_source(files, frames=1)
        for table in tables:
            if is_frame(table):
                numbers, names = read_frame(table, labels)
            else:
                numbers = (read_sparse if sparse.issparse(table) else read_dense)(table, labels)
            parts.append(numbers)
        if not parts:
            raise ValueError("The files of votes have no rows. Pass votes on one row at least.")
        rows = np.asarray(L.index) if is_pandas(L) else None
        return cls._finished(sparse.vstack(parts, format="csr"), labels, names, rows)

    @classmethod
    def from_long(
        cls,
        table: Any,
        *,
        task: str = "task",
        worker: str = "worker",
        label: str = "label",
        abstain_label: Any = None,
    ) -> Votes:
        """Return the votes of a table with one vote in each line, as crowd-kit has them.

        Rows are the tasks and voters the workers, both in the order in which they first appear. A
        line without a label is no vote. A vote that is there several times counts once.

        Parameters
        ----------
        table : pandas.DataFrame, polars.DataFrame, pyarrow.Table, or mapping of str to array-like
            One vote in each line.
        task, worker, label : str
            Names of the columns.
        abstain_label : object, optional
            A label that means no vote, beside a missing one.

        Examples
        --------
        >>> table = {
        ...     "task": ["t1", "t1", "t2"],
        ...     "worker": ["ann", "bob", "bob"],
        ...     "label": ["cat", "dog", "cat"],
        ... }
        >>> votes = Votes.from_long(table)
        >>> votes
        Votes(2 rows, 2 voters, 2 classes, 3 votes)
        >>> votes.rows.tolist(), votes.voters.tolist(), votes.classes.tolist()
        (['t1', 't2'], ['ann', 'bob'], ['cat', 'dog'])
        """
        labels = LabelNumbers(abstain_label, f"The column {label!r}")
        numbers, voters, rows = read_long(table, (task, worker, label), labels)
        return cls._finished(numbers, labels, voters, rows)

    @classmethod
    def _finished(
        cls, numbers: Any, labels: LabelNumbers, names: np.ndarray | None, rows: np.ndarray | None
    ) -> Votes:
        """Return votes with codes of classes in the place of numbers of labels."""
        classes, codes = labels.classes()
        voters = np.arange(numbers.shape[1]) if names is None else names
        return cls(_recoded(numbers, codes, classes.size), classes, voters, rows, names is not None)

    def check_arrays(self) -> None:
        """Raise unless votes are of voters and for classes that exist; SciPy checks the matrix."""
        data, is_csr = self.matrix.data, isinstance(self.matrix, sparse.csr_array)
        fits = is_csr and is_array(data, "iu", None) and self.voters.shape == (self.n_voters,)
        if not (fits and np.all((data >= 1) & (data <= self.n_classes))):
            raise ValueError("its votes are not of its voters, or not for its classes")

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.matrix.shape[0]

    @property
    def n_voters(self) -> int:
        """Number of voters, those that always abstain among them."""
        return self.matrix.shape[1]

    @property
    def n_classes(self) -> int:
        """Number of classes, those without a vote among them."""
        return self.classes.size

    @property
    def n_votes(self) -> int:
        """Number of votes, abstentions not counted."""
        return int(self.matrix.nnz)

    def triplets(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return row, voter and class code of each vote, row by row; each of shape (n_votes,).

        Examples
        --------
        >>> [part.tolist() for part in Votes.of([[7, -1], [9, 7]]).triplets()]
        [[0, 1, 1], [0, 0, 1], [0, 1, 0]]
        """
        rows = np.repeat(np.arange(self.n_rows), np.diff(self.matrix.indptr))
        return rows, self.matrix.indices.astype(np.intp), self.matrix.data.astype(np.intp) - 1

    def counts(self) -> np.ndarray:
        """Return how many votes each class has on each row, shape (n_rows, n_classes)."""
        rows, _, codes = self.triplets()
        cells = rows * self.n_classes + codes
        counts = np.bincount(cells, minlength=self.n_rows * self.n_classes)
        return counts.reshape(self.n_rows, self.n_classes)

    def take(self, rows: Any) -> Votes:
        """Return the votes on some rows, of all voters and with all classes.

        Parameters
        ----------
        rows : slice, array-like of int, or array-like of bool of shape (n_rows,)
            Which rows, and in which order.

        Examples
        --------
        >>> Votes.of([[0, 1], [1, 1], [0, -1]]).take([2, 0]).matrix.toarray()
        array([[1, 0],
               [1, 2]], dtype=int8)
        """
        rows = rows if isinstance(rows, slice) else np.arange(self.n_rows)[rows]
        names = None if self.rows is None else self.rows[rows]
        return replace(self, matrix=self.matrix[rows], rows=names)

    def align(self, voters: Any, classes: Any, *, named: bool = True) -> Votes:
        """Return the same votes with the voters and classes of other votes.

        Voters are matched by name, and one that is not here abstains. Where one side has no names
        (``named`` is about the other side), both must have as many voters, matched by position.

        Examples
        --------
        >>> table = {"task": [0, 0], "worker": ["ann", "bob"], "label": ["no", "yes"]}
        >>> votes = Votes.from_long(table)
        >>> votes.align(["bob", "eve", "ann"], ["yes", "no", "maybe"]).matrix.toarray()
        array([[1, 0, 2]], dtype=int8)
        """
        names, labels, matrix = as_names(voters), np.asarray(classes), self.matrix
        positions = self._positions(names.tolist(), named)
        if names.size > self.n_voters or np.any(np.diff(positions) < 0):
            indices = positions.astype(matrix.indices.dtype)[matrix.indices]
            shape = (self.n_rows, names.size)
            matrix = sparse.csr_array((matrix.data.copy(), indices, matrix.indptr), shape=shape)
            matrix.sort_indices()
        codes = np.arange(self.n_classes)
        if not np.array_equal(labels, self.classes):  # a class without votes need not be there
            present, own = np.unique(matrix.data) - 1, self.classes
            if (own.dtype.kind, labels.dtype.kind) == ("i", "U"):  # as `read_frame` has them
                own = own.astype(str)
            codes[present] = class_codes(own[present].tolist(), labels, "The table of votes")
        return Votes(_recoded(matrix, codes, labels.size), labels, names, self.rows, named)

    def _positions(self, names: list[Any], named: bool) -> np.ndarray:
        """Return the position of each voter among other ones."""
        if not (named and self.named):
            if self.n_voters != len(names):
                raise ValueError(
                    f"The votes have {self.n_voters} voters without names, and {len(names)} are "
                    "expected. Pass a column for each in the same order, or name the voters."
                )
            return np.arange(self.n_voters)
        position_of = {name: position for position, name in enumerate(names)}
        unknown = [name for name in self.voters.tolist() if name not in position_of]
        if unknown:
            raise ValueError(
                f"{len(unknown)} of {self.n_voters} voters are not known: {listed(unknown)}. "
                f"Known are {listed(names)}. Leave the others out, or rename them."
            )
        return np.array([position_of[name] for name in self.voters.tolist()], dtype=np.intp)

    @staticmethod
    def stack(*votes: Votes) -> Votes:
        """Return votes on several sets of rows, one below the other.

        Voters with names are matched by name, and abstain where they are missing; others are
        matched by position. Classes are those of all, sorted.

        Parameters
        ----------
        *votes : Votes
            One or more.

        Examples
        --------
        >>> Votes.stack(Votes.of([[0, 1]]), Votes.of([[2, -1], [0, 0]]))
        Votes(3 rows, 2 voters, 3 classes, 5 votes)
        """
        if not votes:
            raise ValueError("Votes.stack needs the votes on one set of rows at least. Got none.")
        labels = dict.fromkeys(label for part in votes for label in part.classes.tolist())
        classes = sort_classes(labels, "The classes of the votes")
        names = dict.fromkeys(name for part in votes if part.named for name in part.voters.tolist())
        voters = as_names(names) if names else votes[0].voters
        parts = [part.align(voters, classes, named=bool(names)) for part in votes]
        matrix = sparse.vstack([part.matrix for part in parts], format="csr")
        row_names = [part.rows for part in parts if part.rows is not None]
        rows = np.concatenate(row_names) if len(row_names) == len(parts) else None
        return replace(parts[0], matrix=matrix, rows=rows)

    def __repr__(self) -> str:
        sizes = f"{self.n_rows} rows, {self.n_voters} voters, {self.n_classes} classes"
        return f"Votes({sizes}, {self.n_votes} votes)"


def _is_file(L: Any) -> bool:
    """Return whether votes are in files: a path, a list of paths, or a source."""
    first = L[0] if isinstance(L, list) and L else L
    return isinstance(first, (str, Path, Source))


def _recoded(matrix: Any, codes: np.ndarray, n_classes: int) -> sparse.csr_array:
    """Return votes with new codes for old ones; entries are codes plus 1 on both sides."""
    integers = np.min_scalar_type(-n_classes - 1)  # the smallest that hold -1 to n_classes
    if matrix.dtype == integers and np.array_equal(codes, np.arange(codes.size)):
        return matrix
    table = np.zeros(codes.size + 1, dtype=integers)
    table[1:] = codes + 1
    return sparse.csr_array((table[matrix.data], matrix.indices, matrix.indptr), matrix.shape)


class VoteKernel:
    """Votes with the sums over them that everything is computed from, by row and by voter.

    In the game weights theta, and what they are about, are one vector: of the voters, of their
    votes, by voter and class, and of the classes. f is the matrix that makes scores of the classes
    on each row of weights.

    ``shape`` is the number of voters, of votes they can cast, and of classes; ``n_votes`` of shape
    (n_rows,) is the number of votes on each row.
    """

    def __init__(self, votes: Votes):
        if not isinstance(votes, Votes):  # whose arrays `Votes.check_arrays` has checked
            raise TypeError(f"A VoteKernel needs Votes. Got {type(votes).__name__}.")
        self.votes, self.n_votes = votes, np.diff(votes.matrix.indptr)
        self.n_rows, self.n_classes = votes.n_rows, votes.n_classes
        self.shape = votes.n_voters, votes.n_classes, votes.n_classes

    @cached_property
    def cast(self) -> sparse.csr_array:
        """A column of zeros and ones for each vote of each voter, voter by voter."""
        matrix, n_columns = self.votes.matrix, self.shape[0] * self.n_classes
        columns = matrix.indices.astype(np.intp) * self.n_classes + (matrix.data - 1)
        parts = np.ones(columns.size), columns, matrix.indptr
        return sparse.csr_array(parts, shape=(self.n_rows, n_columns))

    @cached_property
    def _by_vote(self) -> sparse.csc_array:
        """The same, turned: a row for each vote of each voter."""
        return self.cast.T

    @cached_property
    def _cells(self) -> np.ndarray:
        """The place of each vote in a table of rows and classes, column by column."""
        rows, _, codes = self.votes.triplets()
        return codes * self.n_rows + rows

    @cached_property
    def votes_cast(self) -> np.ndarray:
        """How often each voter votes for each class, shape (n_voters, n_classes)."""
        _, voters, codes = self.votes.triplets()
        size = self.shape[0] * self.n_classes
        counts = np.bincount(voters * self.n_classes + codes, minlength=size)
        return counts.reshape(self.shape[:2]).astype(float)

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """Return the sum of weights[voter, vote] over the votes on each row.

        ``weights`` of shape (n_voters, n_classes, n_classes) are what a voter's vote for a class
        adds to each class.
        """
        out, table = np.empty((self.n_rows, self.n_classes), order="F"), np.asarray(weights)
        for k in range(self.n_classes):  # each column of the result is in one piece
            out[:, k] = self.cast @ table[:, :, k].ravel()
        return out

    def sums(self, probabilities: np.ndarray) -> np.ndarray:
        """Return the sum of probabilities over the rows on which each voter casts each vote.

        From shape (n_rows, n_classes) to (n_voters, n_classes, n_classes), by voter, vote and
        class.
        """
        columns = [self._by_vote @ np.ascontiguousarray(column) for column in probabilities.T]
        return np.stack(columns, axis=1).reshape(self.shape)

    def weighted(self, theta: np.ndarray) -> np.ndarray:
        """Return f theta, the scores that weights give each class on each row."""
        voters, votes, classes = split_weights(theta, *self.shape[:2])
        own = (voters[:, None] + votes).ravel()[self.cast.indices]
        sums = np.bincount(self._cells, own, minlength=self.n_rows * self.n_classes)
        return sums.reshape(self.n_classes, self.n_rows).T + classes

    def agreement(self, z: np.ndarray) -> np.ndarray:
        """Return the sum over rows of f z: how often z agrees with voters, votes and classes."""
        own = z.T.ravel()[self._cells]
        right = np.bincount(self.cast.indices, own, minlength=self.cast.shape[1])
        by_voter = right.reshape(self.shape[:2]).sum(axis=1)
        return np.concatenate([by_voter, right, z.sum(axis=0)])

    @property
    def rows_about(self) -> np.ndarray:
        """How many rows each weight is about: those where a voter votes, or votes so, or all."""
        cast, all_rows = self.votes_cast, np.full(self.n_classes, float(self.n_rows))
        return np.concatenate([cast.sum(axis=1), cast.ravel(), all_rows])

    def take(self, rows: np.ndarray | slice) -> VoteKernel:
        """Return the votes on some rows."""
        return VoteKernel(self.votes.take(rows))

    def blocks(self) -> Iterator[tuple[slice, VoteKernel]]:
        """Yield the rows in parts, so that what is computed of a part stays small."""
        for start in range(0, self.n_rows, step := 1 << 15):
            rows = slice(start, start + step)
            yield rows, self.take(rows)


def split_weights(values: np.ndarray, n_voters: int, n_classes: int) -> tuple[np.ndarray, ...]:
    """Return the parts of a vector: of voters, of votes by voter and class, and of classes."""
    voters, votes, classes = np.split(values, [n_voters, n_voters * (n_classes + 1)])
    return voters, votes.reshape(n_voters, n_classes), classes
