"""The session file: a JSON line for each label and each step, on disk before the next one.

The file is only ever appended to. Each line ends with a check, a hash of itself and of the check
before it, so that a line that was changed, removed or moved is found. That protects from mistakes,
not from somebody who writes a whole file anew. A last line without its end is what a killed process
leaves: it is dropped, since its label was never confirmed.

While a session is open, the operating system locks the file, and a second process is refused. What
an attempt to prove needs beside it (predictions, uncertainties, the order of its test rows) is in a
file of arrays of its own, whose digest is in the session.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from hedgeclipper.bounds.sample import Sample
from hedgeclipper.io.atomic import (
    NotWrittenError,
    atomic_path,
    check_output,
    keep_name,
    naming_output,
)
from hedgeclipper.labeling.attempt import attempt_seed
from hedgeclipper.labeling.marks import NONE
from hedgeclipper.labeling.state import SessionState

VERSION = 3
_MARK = ',"check":"'


class SessionError(ValueError):
    """A session file that cannot be continued: damaged, changed, of other rows, or in use."""


class Session:
    """A session file as it was read by `read_session`: what it is of, and its labels.

    The labels take memory for all rows that the file says to be of. They are made of its lines at
    their first use, so that ``n_rows`` can be compared with the rows that are there before.

    Parameters
    ----------
    path : Path
        The file, for errors.
    events : list of dict
        Its lines.

    Attributes
    ----------
    n_rows : int
        Rows of the file.
    digest : str
        By which the rows of the file are recognized, in their order (`arrays.digest_in_order`).
    columns : list of str
        The columns that the digest is of; none if these had no names.
    target : str
        Name of what is labeled; "" if the session was begun without one.
    """

    def __init__(self, path: Path, events: list[dict[str, Any]]) -> None:
        self._path, self._events, start = path, events, events[0]
        if start.get("event") != "session" or start.get("version") != VERSION:
            raise SessionError(
                f"{path} is not a session of this version: its first line has version "
                f"{start.get('version')!r}, and {VERSION} is known here. Go on with the version of "
                "HedgeClipper that wrote it, or begin a new session."
            )
        with self._following():
            self.n_rows, self.digest = int(start["rows"]), str(start["digest"])
            self.columns = [str(name) for name in start["columns"]]
            self.target = str(start["target"])

    def replay(
        self, load: Callable[[int, str, int], Mapping[str, np.ndarray]] | None = None
    ) -> SessionState:
        """Return what the lines make; ``load`` as `SessionState` has it."""
        with self._following():
            state = SessionState(self._events[0], load)
            for event in self._events[1:]:
                state.apply(event)
        return state

    @contextmanager
    def _following(self) -> Iterator[None]:
        """Raise a `SessionError` for whatever lines hold that cannot be followed."""
        try:
            yield
        except SessionError:
            raise
        except Exception as error:
            raise SessionError(
                f"A line of {self._path} cannot be followed ({error!r}). The file is damaged, or "
                "was changed."
            ) from error

    @cached_property
    def _state(self) -> SessionState:
        return self.replay()

    @cached_property
    def rows(self) -> np.ndarray:
        """Rows that somebody has labeled or skipped, and those with a known label, ascending."""
        return np.flatnonzero(self._state.codes != NONE)

    @property
    def labels(self) -> np.ndarray:
        """Their labels; None for skipped rows, or where people differ and nobody settled it."""
        codes, labels = self._state.codes[self.rows], np.full(self.rows.size, None, object)
        labels[codes >= 0] = self._state.classes[codes[codes >= 0]].tolist()
        return labels

    @property
    def reasons(self) -> np.ndarray:
        """Why they were asked for: "known", "start", "chosen", "test" or "review"."""
        marks = self._state.marks
        return np.array([marks.of(row)[0].reason for row in self.rows.tolist()], dtype=str)

    @cached_property
    def sample(self) -> Sample:
        """The record of the rows that test the predictions of the last attempt to prove.

        Those that have no label yet too: they were drawn at random from the rows that had none when
        it began. Before it, of the rows that were drawn to begin with, one after the other, as far
        as they have an answer. Whoever labels may have ended that draw at any look, so that it
        counts as extended from nothing.
        """
        state, reasons = self._state, dict(zip(self.rows.tolist(), self.reasons, strict=True))
        if state.sample is not None:
            return state.sample
        order = state.start_order.tolist()
        drawn = list(takewhile(lambda row: reasons.get(row) == "start", order))
        known = np.array([row for row, reason in reasons.items() if reason == "known"], np.int64)
        rows, seed = np.array(drawn, np.int64), attempt_seed(state.seed, 0)
        return Sample(rows, state.n_rows, known, seed, state.digest, n_first=0)


def read_session(path: str | Path) -> Session:
    """Return the labels of a session file, and which of them were drawn at random to test.

    Nothing is written, also if the last line was torn: its label was never confirmed.

    Parameters
    ----------
    path : str or Path
        The session file.

    Returns
    -------
    Session
        Rows, labels, and what is recorded of them.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from hedgeclipper import LabelingLoop
    >>> folder = TemporaryDirectory()
    >>> path = Path(folder.name) / "rows.session.jsonl"
    >>> loop = LabelingLoop(np.eye(100), classes=["no", "yes"], session=path)
    >>> loop.tell([3, 1], ["yes", None])
    >>> session = read_session(path)
    >>> session.rows, session.labels, session.reasons
    (array([1, 3]), array([None, 'yes'], dtype=object), array(['chosen', 'chosen'], dtype='<U6'))
    >>> loop.close()
    >>> folder.cleanup()
    """
    path = Path(path)
    return Session(path, _parsed(path, path.read_bytes())[0])


class SessionFile:
    """The lines of a session, open and locked until `close`; made by `create` or `open`."""

    def __init__(self, path: Path, handle: int) -> None:
        self.path, self._handle, self._check, self._size = path, handle, "", 0

    @classmethod
    def create(cls, path: str | Path, start: Mapping[str, Any]) -> SessionFile:
        """Return a new file with its first line, readable by its owner alone.

        An empty one is taken: it is what a disk that is full at the first line leaves.
        """
        path = check_output(path)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        file = cls(path, os.open(path, flags, 0o600))._locked()
        try:
            if os.fstat(file._handle).st_size:
                raise FileExistsError(
                    f"{path} exists already. Go on with LabelingLoop.resume(path, X), or name "
                    "another file."
                )
            keep_name(path)
            file.append([start])
        except BaseException:
            file.close()
            raise
        return file

    @classmethod
    def open(cls, path: str | Path) -> tuple[SessionFile, Session, str]:
        """Return a file that exists, what it holds, and a note if the last line was torn."""
        path = Path(path).expanduser().resolve()
        try:
            handle = os.open(path, os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0))
        except FileNotFoundError:
            raise FileNotFoundError(f"There is no session {path}.") from None
        file = cls(path, handle)._locked()
        try:
            return file, *file._read()
        except BaseException:
            file.close()
            raise

    def _locked(self) -> SessionFile:
        try:
            _lock(self._handle)
        except OSError:
            os.close(self._handle)
            raise SessionError(
                f"{self.path} is in use by another process. Close that one first: two at once "
                "would ask for the same labels."
            ) from None
        return self

    def _read(self) -> tuple[Session, str]:
        with os.fdopen(os.dup(self._handle), "rb") as file:
            file.seek(0)
            content = file.read()
        events, self._check, n_bytes = _parsed(self.path, content)
        session, self._size = Session(self.path, events), n_bytes
        if n_bytes == len(content):
            return session, ""
        os.ftruncate(self._handle, n_bytes)
        return session, (
            f"The last line of {self.path.name} was not written to its end, and is dropped: its "
            "label was not saved yet."
        )

    def append(self, events: Sequence[Mapping[str, Any]]) -> None:
        """Write lines, and return when they are on disk; none of them if the disk is full."""
        check, lines = self._check, []
        for event in events:
            body = json.dumps(event, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
            check = _chained(check, body[:-1])
            lines.append(f'{body[:-1]}{_MARK}{check}"}}\n')
        content = left = "".join(lines).encode()
        self._check_unchanged()
        try:
            with naming_output(self.path):
                while left:
                    left = left[os.write(self._handle, left) :]
                os.fsync(self._handle)
        except NotWrittenError:
            os.ftruncate(self._handle, self._size)
            raise
        self._check, self._size = check, self._size + len(content)

    def _check_unchanged(self) -> None:
        """Raise if others have moved, removed or changed the file: labels would be lost there."""
        own = os.fstat(self._handle)
        is_there = self.path.exists() and os.path.samestat(own, self.path.stat())
        if not is_there or own.st_size != self._size:
            raise NotWrittenError(
                errno.EBUSY,
                f"{self.path} was moved, removed or changed by another program. Put it back",
            )

    def close(self) -> None:
        """Release the file."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def write_arrays(self, attempt: int, arrays: Mapping[str, np.ndarray]) -> None:
        """Write the arrays of an attempt into a file that is whole or not there."""
        with atomic_path(self._arrays_path(attempt)) as temporary:
            handle = os.open(
                temporary, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600
            )
            with os.fdopen(handle, "wb") as file:
                np.savez_compressed(file, **dict(arrays))  # type: ignore[arg-type]

    def read_arrays(self, attempt: int, digest: str, n_rows: int) -> dict[str, np.ndarray]:
        """Return the arrays of an attempt; raise unless they have the digest and so many rows."""
        path = self._arrays_path(attempt)
        try:
            # opened here, since np.load leaves a damaged file open
            with path.open("rb") as content, np.load(content, allow_pickle=False) as file:
                # numbers of 16 bytes at most, and what NumPy writes before an array
                if any(one.file_size > 16 * n_rows + 1024 for one in file.zip.infolist()):
                    raise ValueError(f"it has arrays of more than {n_rows:,} rows")
                arrays = {name: file[name] for name in ("order", "predicted", "uncertainties")}
        except FileNotFoundError:
            raise SessionError(
                f"{path} is missing: the predictions that the session was proving. Put it back "
                "beside the session."
            ) from None
        except Exception as error:  # whatever NumPy, zipfile and zlib make of damage
            raise SessionError(f"{path} cannot be read ({error}). Put back a whole copy.") from None
        if digest_arrays(arrays) != digest:
            raise SessionError(
                f"{path} holds other predictions than those that the session was proving. Put back "
                "the file as it was written."
            )
        return arrays

    def _arrays_path(self, attempt: int) -> Path:
        return self.path.with_name(f"{self.path.name}.attempt{attempt}.npz")


def _parsed(path: Path, content: bytes) -> tuple[list[dict[str, Any]], str, int]:
    """Return the whole lines of a file, the check of the last one, and how many bytes they have."""
    whole, check, events = content[: content.rfind(b"\n") + 1], "", []
    for number, line in enumerate(whole.split(b"\n")[:-1], 1):
        try:
            body, mark, found = line.decode().rpartition(_MARK)
            event = json.loads(body + "}")
            if not mark or not isinstance(event, dict):
                raise ValueError("no check at its end")
        except (ValueError, RecursionError) as error:
            raise SessionError(
                f"Line {number} of {path} cannot be read ({error}). It is damaged, or not a "
                "session of LabelingLoop."
            ) from None
        check = _chained(check, body)
        if found != f'{check}"}}':
            raise SessionError(
                f"Line {number} of {path} is not as it was written, or a line before it is "
                "missing. Nothing can be proved with a session that was changed: use a copy of the "
                "file as it was."
            )
        events.append(event)
    if not events:
        raise SessionError(f"{path} holds no session: it has no whole line. Start anew.")
    return events, check, len(whole)


def digest_arrays(arrays: Mapping[str, np.ndarray]) -> str:
    """Return a text by which named arrays are recognized.

    Examples
    --------
    >>> one, other = {"a": np.arange(3)}, {"a": np.arange(3.0)}
    >>> digest_arrays(one) == digest_arrays(dict(one)), digest_arrays(one) == digest_arrays(other)
    (True, False)
    """
    found = sha256()
    for name, array in sorted(arrays.items()):
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        found.update(f"{name} {little.dtype.str} {array.shape}".encode() + little.tobytes())
    return found.hexdigest()[:16]


def _chained(check: str, body: str) -> str:
    return sha256((check + body).encode()).hexdigest()[:12]


def _lock(handle: int) -> None:
    """Lock a file until it is closed, or raise an OSError."""
    if sys.platform == "win32":
        import msvcrt

        # a byte far behind the end, so that others may read the file
        os.lseek(handle, 1 << 40, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
