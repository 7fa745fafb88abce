"""Files that are whole or not there: written under another name, renamed at the end.

Any file by `atomic_path`, and Parquet files, written table by table, by `parquet_writer`.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from hedgeclipper.io.frames import pyarrow

ROWS_PER_GROUP = 1 << 16
TABLES_TO_GATHER = 256
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
# folders may be shared, and a process of another machine cannot be asked whether it is there
_MACHINE = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:6]


class NotWrittenError(OSError):
    """A file could not be written: the disk is full, for instance."""


def check_output(path: str | Path, *, force: bool = True) -> Path:
    """Return the whole path of a file that can be written, or say why it cannot.

    Without ``force``, one that exists may not be replaced.
    """
    path = Path(path).expanduser().resolve()
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Pass the path of a file to write.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path.parent} does not exist. Create the folder first.")
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists already. Pass force=True to replace it.")
    return path


@contextmanager
def atomic_path(path: str | Path, *, force: bool = True) -> Iterator[Path]:
    """Give the path of a hidden file that is renamed at the end of the ``with`` block.

    On any error that file is removed, and what was at the path before is still there. Only a kill
    can leave it behind; who writes to the same path next on this machine removes it. Without
    ``force``, a file that exists may not be replaced.
    """
    path = check_output(path, force=force)
    _remove_leftovers(path)
    name = f".{path.name}.{_MACHINE}-{os.getpid()}-{uuid4().hex[:8]}.tmp"
    temporary = path.with_name(name)
    try:
        try:
            yield temporary
        except OSError as error:
            if error.errno not in _FULL:
                raise
            with naming_output(path):
                raise
        with naming_output(path), temporary.open("r+b") as file:
            os.fsync(file.fileno())
        if path.exists() and not force:
            raise FileExistsError(
                f"{path} has been written by somebody else meanwhile. Pass force=True to replace "
                "it."
            )
        with naming_output(path):
            os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _remove_leftovers(path: Path) -> None:
    """Remove hidden files for this path whose writers, on this machine, were killed."""
    if os.name != "posix":  # elsewhere a process cannot be asked whether it is there
        return
    for leftover in path.parent.glob(f".*{escape(path.name)}.{_MACHINE}-*.tmp"):
        writer = re.search(rf"\.{_MACHINE}-(\d+)-", leftover.name)
        if writer is not None and not _is_running(int(writer[1])):
            with suppress(OSError):
                leftover.unlink()


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # of another user
        return True
    return True


class TableWriter:
    """Writes tables below each other, in row groups of 65,536 rows; made by `parquet_writer`."""

    def __init__(self, temporary: Path, path: Path) -> None:
        self._temporary, self._path = temporary, path
        self._file: Any = None
        self._writer: Any = None
        self._waiting: list[Any] = []

    def write(self, columns: Mapping[str, Any]) -> None:
        """Write some more rows; those that do not fill a row group wait for the next ones.

        Parameters
        ----------
        columns : mapping of str to array-like of shape (n_rows,)
            The columns by name. Those of the first call decide names and types.
        """
        with naming_output(self._path):
            schema = None if self._writer is None else self._writer.schema
            if schema is not None and list(columns) != schema.names:
                raise ValueError(
                    f"Every table must have the columns of the first one, {schema.names}. "
                    f"Got {list(columns)}."
                )
            table = pyarrow().table(dict(columns), schema=schema)
            if self._writer is None:
                # our own file, since pyarrow leaves its open where the footer cannot be written
                self._file = pyarrow().OSFile(str(self._temporary), mode="wb")
                self._writer = pyarrow("pyarrow.parquet").ParquetWriter(
                    self._file, table.schema, write_page_checksum=True
                )
            # a copy, since a table shares the memory of arrays that the caller may write to
            self._waiting.append(_copied(table))
            waiting = pyarrow().concat_tables(self._waiting)
            n_whole = waiting.num_rows - waiting.num_rows % ROWS_PER_GROUP
            if n_whole:
                self._writer.write_table(waiting.slice(0, n_whole), ROWS_PER_GROUP)
            if n_whole or len(self._waiting) == TABLES_TO_GATHER:
                # each takes some memory, however few its rows
                self._waiting = [_copied(waiting.slice(n_whole))]

    def close(self) -> None:
        """Write the rows that wait, and the footer."""
        if self._writer is None:
            raise ValueError("Nothing was written. Write columns once at least, if only empty.")
        with naming_output(self._path):
            if any(table.num_rows for table in self._waiting):
                self._writer.write_table(pyarrow().concat_tables(self._waiting), ROWS_PER_GROUP)
            self._writer.close()
            self._file.close()

    def abandon(self) -> None:
        """Close the file as it is."""
        if self._writer is not None:
            with suppress(Exception):
                self._writer.close()
            # or it would be closed, and fail, once more when it is collected
            self._writer.is_open = False
        if self._file is not None:
            with suppress(OSError):
                self._file.close()


def _copied(table: Any) -> Any:
    return table.take(np.arange(table.num_rows))


@contextmanager
def naming_output(path: Path) -> Iterator[None]:
    """Name the file in errors of the system, such as that of a full disk."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        advice = "Make room" if error.errno in _FULL else "Write to another place"
        raise NotWrittenError(
            error.errno, f"{path} could not be written ({reason}). {advice}"
        ) from (error.__cause__ or error)


@contextmanager
def parquet_writer(path: str | Path) -> Iterator[TableWriter]:
    """Give a writer of a Parquet file that appears, whole, at the end of the ``with`` block.

    Until then it is a hidden file beside it. On any error that file is removed, and what was at the
    path before is still there.

    Parameters
    ----------
    path : str or Path
        The file to write; one that exists is replaced.
    """
    with atomic_path(path) as temporary:
        writer = TableWriter(temporary, Path(path))
        try:
            yield writer
            writer.close()
        except BaseException:
            writer.abandon()
            raise
