"""How much memory a run takes, seen from inside its process (Linux)."""

from __future__ import annotations

import threading
from pathlib import Path


class AnonymousMemory:
    """Watches this process's anonymous memory; the peak in bytes over what it was at first."""

    def __enter__(self) -> AnonymousMemory:
        self.first = self.peak = self._now()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.01):
            self.peak = max(self.peak, self._now())

    @staticmethod
    def _now() -> int:
        status = Path("/proc/self/status").read_text()
        (line,) = [row for row in status.splitlines() if row.startswith("RssAnon")]
        return 1024 * int(line.split()[1])
