"""Labels in a terminal, one key for each: the same loop as the page, also over ssh."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Any

from rich.box import SIMPLE
from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hedgeclipper.io.messages import counted
from hedgeclipper.labeling.frontend import Frontend
from hedgeclipper.labeling.rows_view import RowView, class_keys

TERMINAL = "terminal"
BAR_WIDTH = 16
KEYS = "s cannot tell   u undo   n note   o model's opinion   q quit"
ESCAPE = "\x1b"
# how long the rest of what an arrow sends may take: over a network it can come in parts
SECONDS_OF_A_KEY = 0.1


class TerminalLabeling:
    """Shows one row after the other, and takes a key for each.

    Parameters
    ----------
    frontend : Frontend
        Rows and labels.
    view : RowView
        How a row is shown.
    classes : sequence
        The classes, in the order of their keys.
    keys : Keys
        Where keys come from.
    console : Console
        Where to print.
    """

    def __init__(
        self,
        frontend: Frontend,
        view: RowView,
        classes: Sequence[Any],
        keys: Keys,
        console: Console,
    ) -> None:
        self.frontend, self.view, self.keys, self.console = frontend, view, keys, console
        self.note = ""
        self._names = dict(zip(classes, class_keys(classes), strict=True))
        self._keys = {key: name for name, keys in self._names.items() for key in keys}

    def run(self) -> None:
        """Label until the file is finished, or the key q."""
        while (row := self._wait_for_row()) is not None:
            self.note = ""
            self.keys.drop()
            self._show(row)
            while (done := self._turn(row, self.keys.read())) is None:
                pass
            if not done:
                return

    def _wait_for_row(self) -> int | None:
        """Return the next row, once there is one; None if all are done."""
        told = ""
        while (row := self.frontend.next_row(TERMINAL)) is None:
            if self.frontend.is_over():
                return None
            words = self.frontend.problem or "The model is learning from your labels ..."
            if words != told:
                self._say(words)
                told = words
            time.sleep(0.1)
        return row

    def _turn(self, row: int, key: str) -> bool | None:
        """Do what a key asks for: True for another row, False for the end, None for this row."""
        if key == "q":
            return False
        if key == "u":
            return self._undo()
        if key == "n":
            with self.keys.line():
                self.note = self.console.input("Note: ")
        elif key == "o":
            self._say(f"The model's opinion: {self.frontend.opinion(row)}")
        elif key == "s" or key in self._keys:
            return self._label(row, None if key == "s" else self._keys[key])
        return None

    def _label(self, row: int, label: Any) -> bool | None:
        try:
            self.frontend.label(TERMINAL, row, label, self.note)
        except OSError as error:
            self._say(f"Nothing was saved: {error}")
            return None
        self._say(f"Saved: {'cannot tell' if label is None else label}.")
        return True

    def _undo(self) -> bool | None:
        try:
            is_undone = self.frontend.undo(TERMINAL)
        except OSError as error:
            self._say(f"Nothing was taken back: {error}")
            return None
        self._say("Taken back." if is_undone else "There is no label to take back.")
        return is_undone or None

    def _show(self, row: int) -> None:
        shown, status = self.view.show(row), self.frontend.status()
        table = Table(box=SIMPLE, show_header=False, pad_edge=False)
        for cell in shown["cells"]:
            value = "missing" if cell["value"] is None else cell["value"]
            table.add_row(_plain(cell["name"]), _plain(value), _bar(cell["range"]))
        keys = Text("   ").join(
            Text.assemble((f" {'/'.join(own) or '-'} ", "reverse"), " ", _plain(name))
            for name, own in self._names.items()
        )
        parts: list[Any] = [
            Text(),
            Text.assemble((f"Row {row + 1:,}", "bold"), "  ", self.frontend.reason(row)),
            Text(progress_words(status), "dim"),
            table,
        ]
        if self.frontend.problem:
            parts.insert(3, _plain(self.frontend.problem))
        if shown["text"] is not None:
            parts.append(Padding(_plain(shown["text"]), (0, 0, 1, 0)))
        self.console.print(Group(*parts, keys, Text(KEYS, "dim")))

    def _say(self, words: str) -> None:
        self.console.print(_plain(words))


def progress_words(status: Any) -> str:
    """Return the progress in a line."""
    words = f"{counted(status.n_labeled, 'label')} so far"
    if status.n_more_labels is not None:
        words += f", about {status.n_more_labels:,} more labels"
    if status.estimated_error is not None:
        words += f"; error about {status.estimated_error:.1%}"
    if status.agreement is not None:
        words += f"; people agree on {status.agreement:.0%} of {status.n_second:,} rows"
    return words


def _plain(text: Any) -> Text:
    """Return text without signs that would move the cursor, or change the terminal."""
    unknown = "\N{REPLACEMENT CHARACTER}"
    return Text("".join(c if c.isprintable() or c == "\n" else unknown for c in str(text)))


def _bar(place: dict[str, float] | None) -> Text:
    """Return where a number is in the range of its column, as a line of signs."""
    if place is None:
        return Text()
    at, low, high = (round(place[name] * (BAR_WIDTH - 1)) for name in ("at", "low", "high"))
    signs = ["●" if k == at else "━" if low <= k <= high else "─" for k in range(BAR_WIDTH)]
    return Text("".join(signs), "cyan")


class Keys:
    """Reads single keys of the terminal in a ``with`` block; Ctrl-C is a KeyboardInterrupt."""

    def __init__(self) -> None:
        self._mode: Any = None
        self._pending = ""
        self._signals: tuple[int, int] = -1, -1  # a pipe that a signal writes to
        self._former = -1

    def __enter__(self) -> Keys:
        if not sys.stdin.isatty():
            raise OSError("Standard input is not a terminal. Leave out --terminal, or use one.")
        if sys.platform != "win32":
            import termios
            import tty

            self._mode = termios.tcgetattr(0)
            self._signals = os.pipe()
            for end in self._signals:
                os.set_blocking(end, False)
            self._former = signal.set_wakeup_fd(self._signals[1])
            try:
                tty.setcbreak(0, termios.TCSADRAIN)
            except BaseException:  # Ctrl-C comes here, too
                self.__exit__()
                raise
        return self

    def __exit__(self, *error: Any) -> None:
        if sys.platform != "win32":
            import termios

            termios.tcsetattr(0, termios.TCSADRAIN, self._mode)
            signal.set_wakeup_fd(self._former)
            for end in self._signals:
                os.close(end)

    def read(self) -> str:
        """Return the next key in lower case; arrows and the like are passed over."""
        while not self._pending:
            if sys.platform == "win32":
                self._pending = _windows_key()
            else:
                # a signal right before the read would not end it, so both are waited for
                if self._signals[0] in select.select([0, self._signals[0]], [], [])[0]:
                    os.read(self._signals[0], 64)
                    continue  # Ctrl-C is raised here
                given = os.read(0, 64).decode(errors="replace")
                if not given:
                    raise EOFError
                # what an arrow sends begins with Escape, and its letters are no keys
                self._pending, escape, _ = given.partition(ESCAPE)
                while escape and select.select([0], [], [], SECONDS_OF_A_KEY)[0] and os.read(0, 64):
                    pass
        key, self._pending = self._pending[0].lower(), self._pending[1:]
        return key

    def drop(self) -> None:
        """Forget keys that were pressed before: they were not meant for what is shown next."""
        self._pending = ""
        if sys.platform == "win32":
            import msvcrt

            while msvcrt.kbhit():
                msvcrt.getwch()
        else:
            # read, since termios.tcflush would also drop a Ctrl-C that is no signal yet
            while select.select([0], [], [], 0)[0] and os.read(0, 1024):
                pass

    @contextmanager
    def line(self) -> Iterator[None]:
        """Let a whole line be typed, and seen, in a ``with`` block."""
        if isinstance(sys.stdin, TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")  # half a letter may be left in it
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()


def _windows_key() -> str:
    """Return a key, nothing for those that send two codes."""
    if sys.platform != "win32":
        return ""
    import msvcrt

    key = msvcrt.getwch()
    if key in "\x00\xe0":
        msvcrt.getwch()
        return ""
    if key == "\x03":
        raise KeyboardInterrupt
    return key
