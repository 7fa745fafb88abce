"""Files that are whole or not there: written under another name, renamed at the end.

Any file by `atomic_path`, and Parquet files, written table by table, by `write_parquet`.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any
from uuid import uuid4

from hedgeclipper.io.frames import pyarrow

_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


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
    if path.exists() and not path.is_file():  # a device would be replaced by a file
        raise OSError(f"{path} is not a regular file. Name another one.")
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists already. Pass force=True to replace it.")
    try:
        TemporaryFile(dir=path.parent).close()
    except OSError as error:
        reason = f"No file can be written in {path.parent} ({error.strerror})"
        raise NotWrittenError(error.errno, f"{reason}. Write to another place") from error
    return path


@contextmanager
def atomic_path(path: str | Path, *, force: bool = True) -> Iterator[Path]:
    """Give the path of a hidden file that is renamed at the end of the ``with`` block.

    On any error that file is removed, and what was at the path before is still there. Only a kill
    can leave it behind. Without ``force``, a file that exists may not be replaced.
    """
    path = check_output(path, force=force)
    temporary = path.with_name(f".{path.name}.{uuid4().hex[:8]}.tmp")
    try:
        # other errors may be those of a file that is read
        with naming_output(path, only_if_full=True):
            yield temporary
        with naming_output(path), temporary.open("r+b") as file:
            os.fsync(file.fileno())
        check_output(path, force=force)  # another process may have written it meanwhile
        _rename(temporary, path, force)
        keep_name(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _rename(temporary: Path, path: Path, force: bool) -> None:
    """Give a file its name; without ``force`` not if another process does so at the same time."""
    if not force:
        try:
            os.link(temporary, path)
        except FileExistsError:
            check_output(path, force=False)
        except OSError:  # some file systems have no links
            pass
        else:
            temporary.unlink()
            return
    with naming_output(path):
        os.replace(temporary, path)


def keep_name(path: Path) -> None:
    """Write the folder of a new file to disk, without which a power cut could take its name."""
    if os.name == "posix":  # other systems open no folders
        with suppress(OSError):  # nor do all file systems sync them
            handle = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


@contextmanager
def naming_output(path: Path, *, only_if_full: bool = False) -> Iterator[None]:
    """Name the file in errors of the system, or only in that of a full disk."""
    try:
        yield
    except OSError as error:
        if only_if_full and error.errno not in _FULL:
            raise
        reason = os.strerror(error.errno) if error.errno else str(error)
        advice = "Make room" if error.errno in _FULL else "Write to another place"
        raise NotWrittenError(
            error.errno, f"{path} could not be written ({reason}). {advice}"
        ) from (error.__cause__ or error)


def write_parquet(path: str | Path, tables: Iterable[Mapping[str, Any]]) -> int:
    """Write one or more tables below each other into a Parquet file; return the number of rows.

    A table is written as a row group before the next one is made. Each has its columns by name, and
    those of the first one decide names and types of all. The file appears as by `atomic_path`.
    """
    file: Any = None
    n_rows = 0
    with atomic_path(path) as temporary:
        try:
            for columns in tables:
                schema = None if file is None else file.schema
                table = pyarrow().table(dict(columns), schema=schema)
                with naming_output(Path(path)):
                    if file is None:
                        file = pyarrow("pyarrow.parquet").ParquetWriter(
                            temporary, table.schema, write_page_checksum=True
                        )
                    file.write_table(table)
                n_rows += table.num_rows
            with naming_output(Path(path)):
                file.close()
        finally:
            if file is not None:
                # or pyarrow would close it, and fail, when it is collected
                file.is_open = False
    return n_rows
