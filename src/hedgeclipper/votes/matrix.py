"""Votes of many voters on many rows, kept as a sparse matrix of class codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy import sparse

from hedgeclipper.io import is_frame
from hedgeclipper.io.arrays import is_array
from hedgeclipper.votes.long_tables import judged_table, read_long
from hedgeclipper.votes.readers import (
    LabelNumbers,
    Reading,
    VoterNames,
    as_names,
    class_codes,
    count_snorkel_classes,
    given_classes,
    read_batches,
    read_wide,
    seen_classes,
    with_codes,
    with_columns,
)


@dataclass(frozen=True, eq=False, repr=False)
class Votes:
    """Votes of many voters on many rows, any of whom may abstain. It is immutable.

    Make one with `of`, which takes arrays, sparse matrices and frames with a column for each voter,
    or with `from_long`, `from_frame` or `from_snorkel`.

    Parameters
    ----------
    matrix : scipy.sparse.csr_array of shape (n_rows, n_voters)
        The code of a class plus 1 for each vote; an abstention has no entry. Canonical, without
        stored zeros, in the smallest integers that hold it.
    classes : ndarray of shape (n_classes,)
        Labels of the classes; codes are positions in it.
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
    def of(
        cls,
        L: Any,
        *,
        abstain_label: Any = -1,
        classes: Any = None,
        voters: Iterable[Any] | None = None,
    ) -> Votes:
        """Return the votes of a table with a row for each row and a column for each voter.

        A missing label (None, NaN, ``pandas.NA``, a masked entry) always abstains. Labels are
        numbers, which must be whole, booleans or strings.

        Parameters
        ----------
        L : Votes, array-like, sparse matrix or frame of shape (n_rows, n_voters)
            Labels. Of a frame of pandas, polars or Arrow the names of the columns are the voters,
            and the index of pandas names the rows. In a sparse matrix what is not stored abstains,
            and a stored 0 is a vote for class 0: do not call ``eliminate_zeros``, and do not make
            it from a dense matrix, which would lose these votes. Votes are returned as they are,
            whatever the other parameters.
        abstain_label : object, default=-1
            A label that means no vote. None if there is no such label.
        classes : array-like of shape (n_classes,), optional
            Labels of the classes in the order of their codes. By default the labels that appear,
            sorted.
        voters : iterable, optional
            Names of the voters; of a frame, the columns to use.

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
        labels = LabelNumbers(abstain_label, "The table of votes")
        return cls._finished(read_wide(L, labels, voters), labels, classes)

    @classmethod
    def from_batches(
        cls,
        batches: Iterable[Any],
        *,
        abstain_label: Any = -1,
        classes: Any = None,
        voters: Iterable[Any] | None = None,
    ) -> Votes:
        """Return the votes of tables that come one after the other, read once.

        Parameters
        ----------
        batches : iterable of array-like, sparse matrix or frame
            Tables as `of` takes them, all with the same voters.
        abstain_label, classes, voters
            As for `of`.

        Examples
        --------
        >>> Votes.from_batches([[[0, 1], [1, -1]], [[-1, -1]]])
        Votes(3 rows, 2 voters, 2 classes, 3 votes)
        """
        labels = LabelNumbers(abstain_label, "The table of votes")
        return cls._finished(read_batches(batches, labels, voters), labels, classes)

    @classmethod
    def from_frame(
        cls, frame: Any, *, voters: Iterable[Any] | None = None, abstain_label: Any = None
    ) -> Votes:
        """Return the votes of a wide frame, with a column for each voter.

        Parameters
        ----------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            Labels; a missing one abstains.
        voters : iterable, optional
            Names of the columns to use. By default all of them.
        abstain_label : object, optional
            Another label that means no vote.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"text": ["a", "b"], "ann": ["yes", None], "bob": ["no", "no"]})
        >>> votes = Votes.from_frame(frame, voters=["bob", "ann"])
        >>> votes.classes[votes.matrix[[0]].data - 1].tolist()
        ['no', 'yes']
        """
        if not is_frame(frame):
            raise TypeError(
                "Votes.from_frame takes a frame of pandas, polars or Arrow. Got "
                f"{type(frame).__name__}. Votes.of takes arrays and sparse matrices."
            )
        return cls.of(frame, voters=voters, abstain_label=abstain_label)

    @classmethod
    def from_long(
        cls,
        table: Any,
        *,
        task: str = "task",
        worker: str = "worker",
        label: str = "label",
        abstain_label: Any = None,
        repeated: Literal["error", "first", "last"] = "error",
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
        repeated : {"error", "first", "last"}, default="error"
            Which vote counts if a worker votes for different classes on the same task.

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
        return cls._finished(read_long(table, (task, worker, label), labels, repeated), labels)

    @classmethod
    def from_judges(
        cls,
        table: Any,
        *,
        item: str = "item",
        judge: str = "judge",
        verdict: str = "verdict",
        order: str | None = None,
        verdicts: Mapping[Any, Any] | None = None,
        cuts: int | None = None,
        repeated: Literal["error", "first", "last"] = "error",
    ) -> Votes:
        """Return the votes of judges, such as language models, with one verdict in each line.

        Rows are the items and voters the judges, both in the order in which they first appear.

        Parameters
        ----------
        table : pandas.DataFrame, polars.DataFrame, pyarrow.Table, or mapping of str to array-like
            One verdict in each line. A missing one, as of a call that failed, is no vote.
        item, judge, verdict : str
            Names of the columns.
        order : str, optional
            Column that tells in which order a judge saw two answers. Each order is then a voter,
            named "judge (order)". Verdicts must name the answer, not its place.
        verdicts : mapping, optional
            The class that each verdict means, None for no vote (ties, refusals). Verdicts that it
            does not have are an error. By default verdicts are the classes.
        cuts : int, optional
            For graded verdicts, such as 1 to 5 or 0 to 100: each judge becomes at most so many
            voters, "judge >= cut", which vote True or False. Cuts are quantiles of its scores, so
            that they need no gold labels, and the fit learns which of them matter. Four do well.
        repeated : {"error", "first", "last"}, default="error"
            Which verdict counts if a judge has several on the same item.

        Examples
        --------
        >>> table = {
        ...     "item": [1, 1, 1, 2, 2, 2],
        ...     "judge": ["gpt", "gpt", "llama", "gpt", "gpt", "llama"],
        ...     "order": ["AB", "BA", "AB", "AB", "BA", "AB"],
        ...     "verdict": ["A wins", "B wins", "A wins", "tie", "B wins", None],
        ... }
        >>> words = {"A wins": "A", "B wins": "B", "tie": None}
        >>> votes = Votes.from_judges(table, order="order", verdicts=words)
        >>> votes.voters.tolist()
        ['gpt (AB)', 'gpt (BA)', 'llama (AB)']
        >>> votes.counts()
        array([[2, 1],
               [0, 1]])
        >>> graded = {"item": [1, 2, 3], "judge": ["gpt"] * 3, "verdict": [1, 3, 5]}
        >>> Votes.from_judges(graded, cuts=4).voters.tolist()
        ['gpt >= 3', 'gpt >= 5']
        """
        lines = judged_table(table, (item, judge, verdict), order, verdicts, cuts)
        return cls.from_long(lines, repeated=repeated)

    @classmethod
    def from_snorkel(
        cls, L: Any, *, voters: Iterable[Any] | None = None, n_classes: int | None = None
    ) -> Votes:
        """Return the votes of a label matrix as Snorkel has them: classes 0, 1, ..., -1 abstains.

        Parameters
        ----------
        L : array-like or sparse matrix of int, of shape (n_rows, n_voters)
            Labels. In a sparse matrix what is not stored abstains too, and a stored 0 is a vote for
            class 0, as for `of`.
        voters : iterable of shape (n_voters,), optional
            Names of the voters.
        n_classes : int, optional
            Snorkel's cardinality. By default as many as the labels need, and two at least.

        Examples
        --------
        >>> Votes.from_snorkel([[0, -1], [0, 0]]).classes
        array([0, 1])
        """
        classes = np.arange(count_snorkel_classes(L, n_classes))
        return cls.of(L, classes=classes, voters=voters)

    @classmethod
    def _finished(cls, reading: Reading, labels: LabelNumbers, classes: Any = None) -> Votes:
        """Return votes with codes of classes in the place of numbers of labels."""
        array, codes = labels.classes(classes)
        matrix = with_codes(reading.numbers, codes, array.size)
        return cls(matrix, array, reading.voters.names, reading.rows, reading.voters.given)

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
        codes = self.matrix.data.astype(np.intp)
        codes -= 1
        rows = np.repeat(np.arange(self.n_rows), np.diff(self.matrix.indptr))
        return rows, self.matrix.indices.astype(np.intp), codes

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
        if not isinstance(rows, slice):
            rows = np.atleast_1d(np.arange(self.n_rows)[rows])
        names = None if self.rows is None else self.rows[rows]
        if not isinstance(rows, slice) or rows.step not in (None, 1):
            return replace(self, matrix=self.matrix[rows], rows=names)
        # scipy would copy rows in sequence
        start, stop, _ = rows.indices(self.n_rows)
        ends = self.matrix.indptr[start : max(start, stop) + 1]
        entries = slice(ends[0], ends[-1])
        parts = self.matrix.data[entries], self.matrix.indices[entries], ends - ends[0]
        matrix = sparse.csr_array(parts, shape=(ends.size - 1, self.n_voters))
        return replace(self, matrix=matrix, rows=names)

    def align(self, voters: Any, classes: Any, *, named: bool | None = None) -> Votes:
        """Return the same votes with the voters and classes of other votes.

        A voter that is not here abstains. Voters are matched by name. Where one side has names and
        the other has not, and both have as many voters, these are matched by position.

        Parameters
        ----------
        voters : array-like of shape (n_other_voters,)
            Names in the order of the columns to return.
        classes : array-like of shape (n_other_classes,)
            Labels in the order of the codes to return.
        named : bool, optional
            Whether ``voters`` are names, and not numbers of columns. By default they are names
            unless they are 0, 1, 2, ...

        Examples
        --------
        >>> votes = Votes.of([["no", "yes"]], voters=["ann", "bob"])
        >>> votes.align(["bob", "eve", "ann"], ["yes", "no", "maybe"]).matrix.toarray()
        array([[1, 0, 2]], dtype=int8)
        """
        names, labels = VoterNames.of(voters, len(voters), named), given_classes(classes)
        positions = VoterNames(self.voters, self.named).positions_in(names)
        matrix = with_columns(self.matrix, positions, len(voters))
        codes = np.arange(self.n_classes)
        if not np.array_equal(labels, self.classes):  # a class without votes need not be there
            present = np.unique(matrix.data) - 1
            found = self.classes[present].tolist()
            codes[present] = class_codes(found, labels, "The table of votes")
        matrix = with_codes(matrix, codes, labels.size)
        return Votes(matrix, labels, names.names, self.rows, names.given)

    @staticmethod
    def stack(*votes: Votes) -> Votes:
        """Return votes on several sets of rows, one below the other.

        Voters with names are matched by name, and abstain where they are missing; others are
        matched by position. Classes are those of all, sorted where they differ.

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
        classes = votes[0].classes
        if any(not np.array_equal(part.classes, classes) for part in votes):
            labels = dict.fromkeys(label for part in votes for label in part.classes.tolist())
            classes = seen_classes(labels, "The classes of the votes")
        parts = align_all(votes, classes)
        matrix = sparse.vstack([part.matrix for part in parts], format="csr")
        names = [part.rows for part in parts if part.rows is not None]
        rows = np.concatenate(names) if len(names) == len(parts) else None
        return replace(parts[0], matrix=matrix, rows=rows)

    def __repr__(self) -> str:
        sizes = f"{self.n_rows} rows, {self.n_voters} voters, {self.n_classes} classes"
        return f"Votes({sizes}, {self.n_votes} votes)"


def align_all(votes: Sequence[Votes], classes: np.ndarray) -> list[Votes]:
    """Return votes with these classes and the voters of all, in order of first appearance."""
    first = votes[0]
    if all(
        part.named == first.named
        and np.array_equal(part.voters, first.voters)
        and np.array_equal(part.classes, classes)
        for part in votes
    ):
        return [replace(part, classes=classes) for part in votes]
    names = dict.fromkeys(name for part in votes if part.named for name in part.voters.tolist())
    voters = as_names(names) if names else votes[0].voters
    return [part.align(voters, classes, named=bool(names)) for part in votes]
