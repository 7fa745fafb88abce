"""The rows of a fit: labeled and unlabeled ones told apart, and read as what voters score.

Every row passes a `RowReader`, which makes arrays or CSR matrices of it, checked and scaled. Arrays
are checked whole, as scikit-learn does. Batches are checked one by one, each time they are read,
and never held together. Dask collections (`DaskRows`) stay lazy, and are read in blocks on the
workers; what is done with them is in `hedgeclipper.io.distributed`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any
from zlib import crc32

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite, check_array, check_consistent_length
from sklearn.utils.validation import column_or_1d

from hedgeclipper.base.columns import ColumnEncoder, ColumnScale
from hedgeclipper.bounds.sample import Sample
from hedgeclipper.io import (
    as_classes,
    as_plain_array,
    as_source,
    frame_arrays,
    is_batched,
    is_frame,
    is_in_memory,
    missing_labels,
    split_target,
)
from hedgeclipper.io.arrays import (
    MODULUS,
    Draw,
    draw_batches,
    draw_rows,
    merge_draws,
    rows_per_batch,
    stack_rows,
    tag_rows,
)
from hedgeclipper.io.messages import import_extra, warn_user
from hedgeclipper.sklearn_private import _safe_indexing

UNLABELED = -1
NOTHING_TO_SCORE = (
    "All rows are unlabeled (y is -1 or missing): there is nothing to score. Pass rows that have "
    "labels, and in a cross-validation cv=SemiSupervisedSplit()."
)


class NoUnlabeledRowsWarning(UserWarning):
    """There are no unlabeled rows, so that nothing is learned from any."""


class ShiftWarning(UserWarning):
    """Labeled and unlabeled rows, or the votes on them, differ significantly."""


@dataclass(frozen=True, eq=False)
class SemiSupervisedRows:
    """Labeled rows, unlabeled rows, and the places of the latter among the rows that were passed.

    ``marked`` is the mask of the rows that y marks as unlabeled; None where unlabeled rows were
    passed as a set of their own.
    """

    X_labeled: Any
    y_labeled: np.ndarray
    X_unlabeled: Any
    marked: np.ndarray | None

    @property
    def has_unlabeled(self) -> bool:
        """Whether there are unlabeled rows; if not, the labeled ones are reused in their place."""
        return self.marked is None or bool(self.marked.any())

    @property
    def places(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Numbers of the unlabeled and of the labeled rows in one table; None if they have none."""
        if self.marked is None or not self.has_unlabeled:
            return None
        return np.flatnonzero(self.marked), np.flatnonzero(~self.marked)

    def draw(self, n_rows: int, random_state: np.random.RandomState) -> Any | None:
        """Return so many of the unlabeled rows, or all of fewer; None if there are none.

        The same rows are drawn from memory, files and Dask collections. They are an array if the
        labeled ones are.
        """
        if not self.has_unlabeled:
            return None
        more = None if is_in_memory(self.X_unlabeled) else self.X_unlabeled.more
        n_more = 0 if more is None else more.shape[0]
        some, numbers = self.draw_with(n_more, n_rows, random_state)
        if more is not None:
            more = _safe_indexing(more, numbers)
            some = stack_rows(some, more) if some.shape[0] else more
        is_dense = isinstance(self.X_labeled, np.ndarray)
        return some.toarray() if is_dense and sparse.issparse(some) else some

    def draw_with(
        self, n_more: int, n_rows: int, random_state: np.random.RandomState
    ) -> tuple[Any, np.ndarray]:
        """Return those drawn of the unlabeled rows, and the numbers of those of so many more."""
        X = self.X_unlabeled
        if is_in_memory(X):
            some, numbers = draw_batches([X], n_rows, random_state, n_more)
        else:
            some, numbers = X.draw(n_rows, random_state, n_more)
        if some.shape[0] + numbers.size == 0:
            raise ValueError(NO_UNLABELED_ROWS)
        return some, numbers


def split_rows(
    X: Any, y: Any, X_unlabeled: Any, minus_one_is_class: bool = False
) -> SemiSupervisedRows:
    """Return labeled and unlabeled rows.

    Rows whose label is missing (None, NaN, NaT, ``pandas.NA``) are unlabeled. Without
    ``X_unlabeled`` so are those with y = -1, as in ``sklearn.semi_supervised``; with it, -1 is a
    class like any other. Without unlabeled rows of any kind, the labeled ones are reused in their
    place. Rows that y marks come before those of ``X_unlabeled``. ``minus_one_is_class`` makes -1
    a class also without ``X_unlabeled``.
    """
    y = label_values(y)
    check_consistent_length(X, y)
    marked = is_unlabeled(y, minus_one_is_class or X_unlabeled is not None)
    labeled, unlabeled = np.flatnonzero(~marked), np.flatnonzero(marked)
    known = y[labeled]
    if known.dtype.kind == "f":
        assert_all_finite(known, input_name="y")
    if known.dtype.kind == "O" or unlabeled.size:
        known = as_classes(known, "y")
    if unlabeled.size == 0:
        if X_unlabeled is not None:
            return SemiSupervisedRows(X, known, X_unlabeled, None)
        return labeled_only(X, known, "pass X_unlabeled, or mark them with y = -1")
    classes = np.unique(known)
    if classes.size < 2:
        found = f"one class, {classes[0]}," if classes.size else "no class"
        raise ValueError(
            f"y has {found} once -1 and missing labels are read as 'unlabeled' ({known.size} of "
            f"{y.size} rows are left). Encode the classes as 0 and 1, or pass the unlabeled rows "
            "as X_unlabeled, in which case -1 is a class."
        )
    X_labeled, rest = _safe_indexing(X, labeled), _safe_indexing(X, unlabeled)
    if X_unlabeled is None:
        return SemiSupervisedRows(X_labeled, known, rest, marked)
    if not is_in_memory(X_unlabeled):
        raise ValueError(
            f"y has {unlabeled.size} missing labels, and X_unlabeled is not in memory "
            f"({type(X_unlabeled).__name__}), so that these rows cannot be added to it. Pass "
            "labeled rows only as X and y."
        )
    return SemiSupervisedRows(X_labeled, known, stack_rows(rest, X_unlabeled), None)


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """Rows, in the form of the labeled ones, their labels, and their places among the pool.

    ``positions`` are those in the pool of unlabeled and held-out rows; None if they come last.
    """

    X: Any
    y: np.ndarray
    positions: np.ndarray | None = None

    def positions_in(self, n_pool: int) -> np.ndarray:
        """Return their positions in a pool of so many rows."""
        if self.positions is None:
            return np.arange(n_pool - self.y.size, n_pool)
        return self.positions


def hold_out_rows(
    rows: SemiSupervisedRows, held: np.ndarray | None
) -> tuple[SemiSupervisedRows, HeldOutRows | None]:
    """Return the rows to fit to, and the held-out ones, which are also among the unlabeled rows.

    Rows of one table stay in its order, so that nothing can depend on which of them test. Rows of
    another one come last.
    """
    if held is None:
        return rows, None
    y, fitted = rows.y_labeled, np.setdiff1d(np.arange(rows.y_labeled.size), held)
    classes = np.unique(y[fitted])
    if classes.size < 2 <= np.unique(y).size:
        raise ValueError(
            f"A confidence_level holds {held.size} of the {y.size} labels out, and the "
            f"{fitted.size} to fit to are all of class {classes[0]}: at least two classes are "
            "needed. Label more rows, hold fewer out (holdout), or leave confidence_level out: the "
            "error is then an estimate."
        )
    out = HeldOutRows(_safe_indexing(rows.X_labeled, held), y[held])
    X_labeled = pool = _safe_indexing(rows.X_labeled, fitted)
    if not rows.has_unlabeled:
        pass  # the labeled rows are reused as unlabeled ones
    elif is_in_memory(rows.X_unlabeled):
        pool = stack_rows(rows.X_unlabeled, out.X)
    else:
        pool = replace(rows.X_unlabeled, more=out.X)
    if rows.places is not None:
        unlabeled, labeled = rows.places
        order = np.argsort(np.append(unlabeled, labeled[held]))
        pool = _safe_indexing(pool, order)
        out = replace(out, positions=np.flatnonzero(order >= unlabeled.size))
    return replace(rows, X_labeled=X_labeled, y_labeled=y[fitted], X_unlabeled=pool), out


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask collection; does not import Dask."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "dask")


def check_sampled_rows(sample: Sample, X: Any, y: Any, X_unlabeled: Any = None) -> None:
    """Raise unless X are all rows that a sample was drawn from, in the same order."""
    if not isinstance(sample, Sample):
        raise TypeError(f"sample must be what draw_sample returns. Got {type(sample).__name__}.")
    # an empty one says that -1 is a class
    if X_unlabeled is not None and not (is_in_memory(X_unlabeled) and X_unlabeled.shape[0] == 0):
        raise ValueError(
            "sample does not go with X_unlabeled. Pass all rows of the file as X, in its order, "
            "and y with missing labels (None) where there is none."
        )
    if is_dask(X) or is_batched(X):
        raise TypeError(
            f"With a sample, X must be all rows of the file, in memory. Got {type(X).__name__}."
        )
    sample.check(split_target(X, y)[0])


def labeled_only(X: Any, y: np.ndarray, advice: str) -> SemiSupervisedRows:
    """Warn that no row is unlabeled, and return labeled rows reused as unlabeled ones.

    ``advice`` is how the caller could have passed unlabeled rows.
    """
    warn_user(
        f"There are no unlabeled rows: {advice}. The labeled rows are reused as unlabeled ones, "
        "and nothing is learned beyond them.",
        NoUnlabeledRowsWarning,
    )
    return SemiSupervisedRows(X, y, X, np.zeros(y.shape, dtype=bool))


def label_values(y: Any) -> np.ndarray:
    """Return labels as an array of shape (n_samples,), in which missing ones are as they came."""
    if isinstance(y, str):
        raise TypeError(
            f"y={y!r} names a column of labels, and here labels are taken from frames alone. Pass "
            "a frame, or labels as an array."
        )
    return column_or_1d(as_plain_array(y), warn=True)


def is_unlabeled(labels: np.ndarray, minus_one_is_class: bool = False) -> np.ndarray:
    """Return which rows are unlabeled: their label is missing, or -1.

    Missing labels are None, NaN, NaT and ``pandas.NA``. Among strings, "-1" counts as -1, since
    NumPy makes that of it where -1 is put into an array of strings. With ``minus_one_is_class``
    only missing labels count.
    """
    unlabeled = missing_labels(labels)
    if not minus_one_is_class:
        known = labels[~unlabeled]
        if known.dtype.kind in "OUS":
            marks = [label in (UNLABELED, str(UNLABELED)) for label in known.tolist()]
        else:
            marks = known == UNLABELED
        unlabeled[~unlabeled] = marks
    return unlabeled


ROWS_PER_SLICE = 1 << 16
# labeled rows that show how columns are scaled, and unlabeled ones how they are encoded
ROWS_FOR_SCALE, ROWS_FOR_ENCODING = 1_000, 50_000
NO_UNLABELED_ROWS = (
    "X_unlabeled has no rows. The game needs unlabeled rows: pass some, or leave X_unlabeled out."
)


def row_slices(rows: Any, size: int | None = None) -> Iterator[Any]:
    """Yield the rows of an array, CSR matrix or frame in batches; one without rows if none are."""
    size = size or ROWS_PER_SLICE
    for start in range(0, max(rows.shape[0], 1), size):
        yield _safe_indexing(rows, slice(start, start + size))


@dataclass(frozen=True, eq=False)
class RowBatches:
    """Batches of a source, each read by ``read`` on each pass; all rows, or those without a label.

    ``more`` rows, in memory and read already, come after them. Without ``read`` batches are frames
    as they are in the source. ``checksums`` are those of the first pass, of rows as they are in the
    source: they must be the same in all, but may be cut into batches in another way. None are made
    of rows that are read ``once``.
    """

    source: Any
    read: Callable[[Any], Any] | None
    only_unlabeled: bool = False
    more: Any = None
    once: bool = False
    checksums: list[tuple[int, ...]] = field(default_factory=list, repr=False)

    def __iter__(self) -> Iterator[Any]:
        batches = self._unchanged()
        yield from batches if self.read is None else map(self.read, batches)
        if self.more is not None:
            yield self.more

    def draw(
        self, n_rows: int, random_state: np.random.RandomState, n_more: int
    ) -> tuple[Any, np.ndarray]:
        """Return what `draw_batches` does; rows are read after they are drawn.

        Strings and dates of all rows take long to read.
        """
        some, numbers = draw_batches(self._unchanged(), n_rows, random_state, n_more)
        return some if self.read is None or some.shape[0] == 0 else self.read(some), numbers

    def _batches(self) -> Iterator[Any]:
        if not self.only_unlabeled:
            return iter(self.source)
        pairs = self.source.labeled_batches()
        parts = ((rows, missing_labels(labels)) for rows, labels in pairs)
        return (rows[missing] for rows, missing in parts if missing.any())

    def _unchanged(self) -> Iterator[Any]:
        """Yield batches as they are; raise at the end if they were not those of the first pass."""
        if self.read is None or self.once:
            yield from self._batches()
            return
        checksum: tuple[int, ...] = (0, 0, 0)
        for batch in self._batches():
            checksum = tuple(
                crc32(np.ascontiguousarray(part).data, before)
                for part, before in zip(_cells(batch), checksum, strict=False)
            )
            yield batch
        self.checksums[:] = self.checksums or [checksum]
        if self.checksums != [checksum]:
            raise ValueError(
                "The rows changed between passes. Pass a source that yields the same rows every "
                "time, and leave files as they are while they are read, several times."
            )


def _cells(batch: Any) -> tuple[np.ndarray, ...]:
    """Return arrays of numbers that are the same for the same rows of a pass, in this process."""
    if sparse.issparse(batch):
        return batch.data, batch.indices, np.diff(batch.indptr)
    if not is_frame(batch):
        return (batch,)
    columns = []
    for values in frame_arrays(batch).values():
        if values.dtype.kind == "M":
            values = values.astype("M8[us]").astype(np.int64)
        elif values.dtype.kind not in "biuf":
            texts = map(str, values.tolist())
            values = np.fromiter(map(hash, texts), np.int64, values.size)
        columns.append(values.astype(np.float64))
    return (np.column_stack(columns),)


@dataclass(frozen=True, eq=False)
class DaskRows:
    """Rows of a Dask array or frame, read where they are, block by block.

    ``name`` is what errors call them. ``more`` rows, in memory and read already, come after them.
    """

    collection: Any
    read: RowReader
    name: str
    more: Any = None

    def draw(
        self, n_rows: int, random_state: np.random.RandomState, n_more: int
    ) -> tuple[Any, np.ndarray]:
        """Return what is drawn from the same rows in batches, here."""
        from hedgeclipper.io.distributed import draw_from

        some, numbers = draw_from(self.collection, n_rows, random_state, n_more)
        return self.read(some, name=self.name) if some.shape[0] else some, numbers

    def score(
        self, score: Callable[[Iterable[Any]], tuple[int, np.ndarray]], n_rows: int, seed: int
    ) -> tuple[int, int, Draw]:
        """Return number and digest of the rows, and drawn scores.

        ``score`` returns digest and scores of blocks of rows.
        """
        from hedgeclipper.io.distributed import score_and_draw

        n_seen, digest, drawn = score_and_draw(self.collection, self.on_blocks(score), n_rows, seed)
        if self.more is not None:
            more_digest, scores = score([self.more])
            drawn = merge_draws(drawn, tag_rows(seed, n_seen, scores), n_rows)
            n_seen, digest = n_seen + len(scores), (digest + more_digest) % MODULUS
        return n_seen, digest, drawn

    def on_blocks(self, work: Callable[[Iterable[Any]], Any]) -> Callable[[Any], Any]:
        """Return what does work on the blocks of a partition, on any worker."""
        return partial(_read_part, self.read, self.name, work)


def _read_part(reader: RowReader, name: str, work: Callable[[Iterable[Any]], Any], X: Any) -> Any:
    return work(reader.blocks(X, name))


@dataclass(frozen=True)
class RowReader:
    """Makes of rows in any form what voters score: arrays or CSR matrices, checked and scaled.

    It is learned from the labeled rows, reads all others, and holds none.

    Parameters
    ----------
    checks : dict
        Parameters of scikit-learn's ``check_array``.
    n_columns : int
        Number of columns that voters see.
    names : list of str or None
        Names of the columns of rows, by which those of files and Dask frames are matched.
    frame_columns : list or None
        Columns of the frames that voters get in place of arrays; None if they get arrays.
    encodes : bool
        Whether an encoder makes numbers of frames; while it is learned they stay as they are.
    encoder : ColumnEncoder or None
        What makes numbers of frames whose columns are not all numbers.
    scale : ColumnScale or None
        What scales columns that float32 cannot hold as they are.
    """

    checks: dict[str, Any]
    n_columns: int = 0
    names: list[str] | None = None
    frame_columns: list[Any] | None = None
    encodes: bool = False
    encoder: ColumnEncoder | None = None
    scale: ColumnScale | None = None

    def __call__(self, rows: Any, name: str = "X") -> Any:
        """Return rows as voters score them; ``name`` is what errors call them."""
        if self.encoder is not None:
            out, start = np.empty((rows.shape[0], self.n_columns), np.float32), 0
            for block in self.blocks(rows, name):
                out[start : start + block.shape[0]] = block
                start += block.shape[0]
            return out
        if self.encodes or (self.frame_columns is not None and is_frame(rows)):
            return rows
        return self._checked(rows, name)

    def blocks(self, rows: Any, name: str) -> Iterator[Any]:
        """Yield rows in memory as voters score them, in blocks; one without rows if there are none.

        Encoded rows are wide: their blocks are as large as the batches of files.
        """
        if self.encoder is None:
            for block in row_slices(rows):
                yield self(block, name)
        elif rows.shape[0] == 0:  # as partitions of Dask may be
            yield np.empty((0, self.n_columns), np.float32)
        else:
            self.encoder.warn_of_unknown(rows)
            for block in row_slices(rows, rows_per_batch(self.n_columns)):
                yield self._checked(self.encoder.transform(block), name)

    def _checked(self, rows: Any, name: str) -> Any:
        checked = check_array(rows, input_name=name, ensure_min_samples=0, **self.checks)
        return self.finish(rows, checked, name)

    def finish(self, given: Any, rows: Any, name: str = "X") -> Any:
        """Return rows that were checked as voters score them; those ``given`` are scaled."""
        if rows.shape[1] != self.n_columns:
            raise ValueError(
                f"{name} must have {self.n_columns} columns, as the labeled rows have. Got a "
                f"batch with {rows.shape[1]}. Name the columns on both sides, so that they can "
                "be matched, or pass the same ones."
            )
        rows = rows if self.scale is None else self.scale.transform(given)
        if self.frame_columns is not None:
            # classifiers that were passed with a frame may pick columns by name
            return import_extra("pandas", "io", "A frame").DataFrame(
                rows, columns=self.frame_columns
            )
        is_long = sparse.issparse(rows) and rows.indices.dtype != np.int32
        if is_long and rows.nnz <= np.iinfo(np.int32).max:  # trees demand indices of 32 bits
            indices, indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
            rows = type(rows)((rows.data, indices, indptr), shape=rows.shape)
        return rows

    @property
    def used_names(self) -> list[str] | None:
        """Names of the columns that are read; None if they have no names."""
        return self.names if self.encoder is None else self.encoder.used_names

    def open_source(self, X: Any, name: str, once: bool) -> RowBatches:
        """Return batches of files and the like, which are read one by one.

        ``name`` is what errors call them; with ``once`` an iterator of batches will do.
        """
        options: dict[str, Any] = {"name": name, "columns": self.used_names, "once": once}
        if self.encoder is not None:
            options["strings"] = self.encoder.string_names
        if self.encodes:
            options["frames"] = self.n_columns
        else:
            options["dtype"] = np.float32 if self.scale is None else np.float64
        return RowBatches(as_source(X, **options), self.reads_as(name), once=once)

    def reads_as(self, name: str) -> Callable[[Any], Any] | None:
        """Return what reads batches of this name; None while the encoder is learned."""
        return None if self.encodes and self.encoder is None else partial(self, name=name)

    @property
    def sources(self) -> np.ndarray:
        """Number of the column of ``fit`` that each column which voters see is made of."""
        return np.arange(self.n_columns) if self.encoder is None else self.encoder.sources_

    def learn_encoding(
        self, rows: SemiSupervisedRows, held: np.ndarray | None
    ) -> tuple[RowReader, SemiSupervisedRows]:
        """Return a reader that encodes frames, and rows, which are frames yet, as it reads them.

        How columns are encoded is learned from labeled rows and a sample of the unlabeled ones, to
        which the held-out rows belong: nothing may depend on which rows test.
        """
        some, used = None, rows.X_labeled
        if rows.has_unlabeled:
            numbers = np.empty(0, np.intp) if held is None else held
            random_state = np.random.RandomState(0)
            some, drawn = rows.draw_with(numbers.size, ROWS_FOR_ENCODING, random_state)
            left = np.delete(numbers, drawn)
            used = _safe_indexing(used, np.delete(np.arange(rows.y_labeled.size), left))
            some = some if some.shape[0] else None
        encoder = ColumnEncoder().fit(used, some)
        labeled = draw_rows(rows.X_labeled, ROWS_FOR_SCALE, np.random.RandomState(0))
        scale = ColumnScale.of(encoder.transform(labeled))
        reader = replace(self, encoder=encoder, scale=scale, n_columns=encoder.sources_.size)
        unlabeled = rows.X_unlabeled
        if isinstance(unlabeled, RowBatches):
            options = {"frames": reader.n_columns, "strings": encoder.string_names}
            source = as_source(unlabeled.source, name="X_unlabeled", **options)
            unlabeled = replace(unlabeled, source=source, read=reader)
        elif isinstance(unlabeled, DaskRows):
            unlabeled = replace(unlabeled, read=reader)
        else:
            unlabeled = reader(unlabeled)
        labeled = reader(rows.X_labeled)
        return reader, replace(rows, X_labeled=labeled, X_unlabeled=unlabeled)


def read_labeled(X: Any, label: str, **options: Any) -> tuple[Any, np.ndarray, Any]:
    """Return the rows with a label in the column of this name, the labels, and the whole source.

    The options are those of `as_source`.
    """
    source = as_source(X, name="X", label=label, **options)
    rows, labels, classes = [], [], set()
    for batch, values in source.labeled_batches():
        known = ~missing_labels(values)
        if known.any():
            rows.append(batch[known])
            labels.append(values[known])
            classes |= set(values[known].tolist())
        if UNLABELED in classes and len(classes) > 2:
            raise ValueError(
                f"The column {label!r} has -1 beside two other classes. In files a row is "
                "unlabeled where its label is missing (null or NaN): write that in place of -1, "
                "or number the classes from 0 if -1 is one."
            )
    if not rows:
        raise ValueError(
            f"No row has a label in the column {label!r}: all are missing. Label some rows of "
            "each class."
        )
    found = reduce(stack_rows, rows) if is_frame(rows[0]) else np.concatenate(rows)
    return found, as_classes(np.concatenate(labels), f"Column {label!r}"), source
