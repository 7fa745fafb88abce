"""Fits in a process of their own, one at a time, so that no row has to wait for one."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing import get_context, resource_tracker
from queue import SimpleQueue
from threading import Thread
from typing import Any


class JobError(Exception):
    """A job that failed, with the reason in words."""


class FitWorker:
    """Runs jobs in another process, one at a time.

    The process is started at once and kept, with the rows, since importing and sending these takes
    longer than many a fit. It ends when this process ends, however that happens.

    Parameters
    ----------
    X : array or frame
        The rows of all jobs.
    """

    def __init__(self, X: Any) -> None:
        self._X = X
        self._jobs: SimpleQueue[Any] = SimpleQueue()
        self._is_closed = self._has_rows = False
        self._process, self._connection = self._start()
        self._thread = Thread(target=self._serve, daemon=True, name="fits")
        self._thread.start()

    def submit(self, job: Any) -> Future[Any]:
        """Run a job, once those before it are done; a `JobError` is the result if it fails."""
        future: Future[Any] = Future()
        self._jobs.put((replace(job, X=None), future))
        return future

    def close(self) -> None:
        """End the process, also in the middle of a fit."""
        self._is_closed = True
        self._jobs.put(None)
        self._process.kill()
        self._thread.join(5)

    def _serve(self) -> None:
        while (given := self._jobs.get()) is not None and not self._is_closed:
            job, future = given
            try:
                if not self._process.is_alive():
                    self._process, self._connection = self._start()
                    self._has_rows = False
                if not self._has_rows:
                    self._connection.send(self._X)
                    self._has_rows = True
                self._connection.send(job)
                result, reason = self._connection.recv()
            except (EOFError, OSError):
                self._process.join(1)
                result, reason = None, f"its process ended with code {self._process.exitcode}"
            if reason:
                future.set_exception(JobError(reason))
            else:
                future.set_result(result)

    def _start(self) -> tuple[Any, Any]:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_run_jobs, args=(theirs,), daemon=True)
        with _without_ctrl_c():
            process.start()
        theirs.close()  # so that the end of either process is an EOFError for the other one
        return process, ours


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach, not even while they import."""
    if sys.platform == "win32":
        yield
        return
    resource_tracker.ensure_running()  # its start would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _run_jobs(connection: Any) -> None:
    """Take the rows, then run jobs until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this
    if sys.platform != "win32":
        os.nice(5)  # rows and labels come first
    try:
        X = connection.recv()
    except EOFError:
        return
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
