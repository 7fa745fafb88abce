"""Keys of a terminal, one by one, without Enter."""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Any

ESCAPE = "\x1b"
# how long the rest of what an arrow sends may take: over a network it can come in parts
SECONDS_OF_A_KEY = 0.1


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
