"""Fits of the loop, and the process of their own in which they run beside the labels."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing import get_context, resource_tracker
from queue import SimpleQueue
from threading import Thread
from typing import Any

import numpy as np
from sklearn.base import clone

from hedgeclipper.classifier import HedgeClipperClassifier
from hedgeclipper.sklearn_private import _safe_indexing
from hedgeclipper.votes.aggregator import VoteAggregator


@dataclass(frozen=True, eq=False)
class FitResult:
    """Predictions of all rows by a model that was fitted to the labels so far.

    Parameters
    ----------
    n_labels : int
        Labels that it was fitted to.
    predicted : ndarray of int of shape (n_rows,)
        Number of the predicted class of each row.
    uncertainties : ndarray of shape (n_rows,)
        One minus the probability of that class.
    """

    n_labels: int
    predicted: np.ndarray
    uncertainties: np.ndarray


@dataclass(frozen=True, eq=False)
class FitJob:
    """A fit to do: rows, the labels so far and a model; it can be pickled.

    Parameters
    ----------
    X : ndarray, sparse matrix, frame or Votes
        All rows.
    n_rows : int
        How many there are.
    rows, codes : ndarray of int of shape (n_labels,)
        Labeled rows, and the numbers of their classes.
    classes : ndarray of shape (n_classes,)
        The classes.
    model : classifier
        What is fitted, a clone of it.
    """

    X: Any
    n_rows: int
    rows: np.ndarray
    codes: np.ndarray
    classes: np.ndarray
    model: Any

    def run(self) -> FitResult:
        """Return what a model that is fitted to the labels predicts for all rows."""
        is_one_class = np.unique(self.codes).size == 1
        found = self._one_class() if is_one_class else self._probabilities()
        return FitResult(self.rows.size, found.argmax(axis=1), 1.0 - found.max(axis=1))

    def _probabilities(self) -> np.ndarray:
        """Return predicted probabilities of all rows, 0 for a class without a label."""
        model, labels = clone(self.model), self.classes[self.codes]
        with warnings.catch_warnings():
            # chosen labels differ from other rows on purpose, and rare classes are asked for next
            warnings.simplefilter("ignore")
            if isinstance(model, VoteAggregator):
                gold = np.full(self.n_rows, None, object)
                gold[self.rows] = labels
                model.fit(self.X, gold)
            elif isinstance(model, HedgeClipperClassifier):
                others = np.delete(np.arange(self.n_rows), self.rows)
                X_unlabeled = _safe_indexing(self.X, others)
                model.fit(_safe_indexing(self.X, self.rows), labels, X_unlabeled=X_unlabeled)
            else:
                model.fit(_safe_indexing(self.X, self.rows), labels)
            own = model.predict_proba(self.X)
        known = {name: code for code, name in enumerate(self.classes.tolist())}
        probabilities = np.zeros((own.shape[0], self.classes.size))
        for column, name in enumerate(model.classes_.tolist()):
            if name in known:  # voters may vote for a class that nobody has named
                probabilities[:, known[name]] = own[:, column]
        return probabilities

    def _one_class(self) -> np.ndarray:
        """Return probabilities where all labels are of one class, by the rule of succession."""
        n_classes, n_labels = self.classes.size, self.codes.size
        own = np.full((self.n_rows, n_classes), 1.0 / (n_labels + n_classes))
        own[:, self.codes[0]] *= n_labels + 1
        return own


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
