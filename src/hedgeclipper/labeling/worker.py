"""Fits in a process of their own, one at a time, so that no row has to wait for one."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from multiprocessing import get_context
from queue import SimpleQueue
from threading import Thread
from typing import Any


class FitWorker:
    """Runs jobs of fits in another process, and passes on what comes back.

    The process is started at once and kept, with the rows, since importing and sending these takes
    longer than many a fit. It ends when this process ends, however that happens.

    Parameters
    ----------
    X : array or frame
        The rows of all jobs.
    on_result : callable
        Gets what a job returned, in a thread of the worker.
    on_failure : callable
        Gets the reason in words, likewise.
    """

    def __init__(
        self, X: Any, on_result: Callable[[Any], None], on_failure: Callable[[str], None]
    ) -> None:
        self._X, self._on_result, self._on_failure = X, on_result, on_failure
        self._jobs: SimpleQueue[Any] = SimpleQueue()
        self._is_closed = False
        self._process, self._connection = self._start()
        self._thread = Thread(target=self._serve, daemon=True, name="fits")
        self._thread.start()

    def submit(self, job: Any) -> None:
        """Run a job, once those before it are done."""
        self._jobs.put(replace(job, X=None))

    def close(self) -> None:
        """End the process, also in the middle of a fit."""
        self._is_closed = True
        self._jobs.put(None)
        self._process.kill()
        self._thread.join(5)

    def _serve(self) -> None:
        while (job := self._jobs.get()) is not None and not self._is_closed:
            try:
                if not self._process.is_alive():
                    self._process, self._connection = self._start()
                self._connection.send(job)
                result, reason = self._connection.recv()
            except (EOFError, OSError):
                self._process.join(1)
                result, reason = None, f"its process ended with code {self._process.exitcode}"
            if reason:
                self._on_failure(reason)
            else:
                self._on_result(result)

    def _start(self) -> tuple[Any, Any]:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_run_jobs, args=(theirs, self._X), daemon=True)
        process.start()
        theirs.close()  # so that the end of either process is an EOFError for the other one
        return process, ours


def _run_jobs(connection: Any, X: Any) -> None:
    """Run jobs until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this
    with suppress(AttributeError, OSError):
        os.nice(5)  # rows and labels come first
    while True:
        try:
            job = connection.recv()
        except EOFError:
            return
        try:
            answer = replace(job, X=X).run(), ""
        except Exception as error:
            answer = None, f"{type(error).__name__}: {error}"
        with suppress(OSError):
            connection.send(answer)
