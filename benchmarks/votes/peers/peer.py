"""What a peer's file defines, and how one is run on a task in its own environment.

    python -m benchmarks.votes.peers.peer FOLDER

The task is the name of a module with ``PEERS`` and of one of these, votes ``L`` (rows x voters,
class numbers, -1 = abstains) or the parts of a CSR matrix of class numbers plus one, ``gold`` (-1
where there is no label), ``n_classes``, ``seed`` and whether to warm up. The answer has the fields
of `Outcome`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.environments import load, save
from benchmarks.memory import AnonymousMemory
from benchmarks.results_file import versions

PACKAGES = ("hedgeclipper", "crowd-kit", "snorkel", "torch", "numpy", "pandas", "scipy", "numba")


@dataclass(frozen=True, eq=False)
class Setting:
    """What is known beside the votes.

    Parameters
    ----------
    gold : ndarray of shape (n_rows,)
        Class numbers, -1 where there is no label.
    n_classes : int
        Number of classes.
    seed : int
        Seed of the peer, where it takes one.
    """

    gold: np.ndarray
    n_classes: int
    seed: int

    @property
    def known(self) -> np.ndarray:
        """Return the labels that there are."""
        return self.gold[self.gold >= 0]

    @property
    def has_every_class(self) -> bool:
        """Return whether there is a label of each class."""
        return np.unique(self.known).size == self.n_classes

    @property
    def class_prior(self) -> np.ndarray:
        """Return the proportion of each class among the labels; uniform if there are none."""
        counts = np.bincount(self.known, minlength=self.n_classes)
        return counts / counts.sum() if counts.sum() else np.full(counts.size, 1 / counts.size)


@dataclass(frozen=True)
class Peer:
    """A peer in three steps, of which the second is timed.

    Parameters
    ----------
    prepare : callable
        From a vote matrix, dense or sparse, to the peer's own form of it.
    fit : callable
        From that form and the setting to the fitted peer, which has its probabilities.
    collect : callable
        From the fitted peer, the form and the setting to the probabilities, rows x classes; NaN
        where the peer says nothing.
    decide : callable
        From the fitted peer, the form and the probabilities to a class for each row; the likeliest
        by default, the lower number in a tie.
    least_voters : int
        It cannot take fewer.
    """

    prepare: Callable[[Any], Any]
    fit: Callable[[Any, Setting], Any]
    collect: Callable[[Any, Any, Setting], np.ndarray]
    decide: Callable[[Any, Any, np.ndarray], np.ndarray] = lambda fitted, L, found: found.argmax(1)
    least_voters: int = 1


@dataclass(frozen=True, eq=False)
class Outcome:
    """Predictions of a method, with time and memory.

    ``seconds`` is the time to fit and to give probabilities, ``conversion_seconds`` that to make
    the method's own form of the votes, both without imports; ``peak_mb`` the peak of anonymous
    memory in MB (millions of bytes), votes and the method's form of them included; ``reason`` why
    there is no result, where probabilities are NaN and labels -1.
    """

    probabilities: np.ndarray
    labels: np.ndarray
    seconds: float = np.nan
    conversion_seconds: float = np.nan
    peak_mb: float = np.nan
    reason: str = ""
    versions: str = ""

    @classmethod
    def none(cls, n_rows: int, n_classes: int, reason: str) -> Outcome:
        """Return an outcome that has only the reason why there is none."""
        return cls(np.full((n_rows, n_classes), np.nan), np.full(n_rows, -1), reason=reason)


def run(peer: Peer, L: Any, setting: Setting) -> Outcome:
    """Return what a peer makes of votes; rows that it does not predict get the class prior."""
    if L.shape[1] < peer.least_voters:
        reason = f"it needs {peer.least_voters} voters or more, and there are {L.shape[1]}"
        return Outcome.none(setting.gold.size, setting.n_classes, reason)
    with AnonymousMemory() as memory:
        started = time.perf_counter()
        votes = peer.prepare(L)
        prepared = time.perf_counter()
        fitted = peer.fit(votes, setting)
        finished = time.perf_counter()
    found = peer.collect(fitted, votes, setting)
    found = np.where(np.isnan(found).any(axis=1)[:, None], setting.class_prior, found)
    return Outcome(
        found,
        peer.decide(fitted, votes, found),
        finished - prepared,
        prepared - started,
        (memory.peak - memory.first) / 1e6,
        versions=versions(PACKAGES),
    )


def warm_up(peer: Peer) -> None:
    """Run the peer on a few rows, so that all it uses is loaded before the clock starts."""
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 2, 60)
    L = np.where(rng.random((60, 5)) < 0.8, gold[:, None], 1 - gold[:, None])
    setting = Setting(np.where(np.arange(60) < 20, gold, -1), 2, 0)
    peer.fit(peer.prepare(sparse.csr_array((L + 1).astype(np.int8))), setting)


def main(folder: str) -> None:
    task = load(folder, "task")
    peer = import_module(task["module"]).PEERS[task["name"]]
    if task["is_warm"]:
        warm_up(peer)
    L = task.get("L")
    if L is None:
        parts = task["data"], task["indices"], task["indptr"]
        L = sparse.csr_array(parts, shape=tuple(task["shape"]))
    setting = Setting(task["gold"], task["n_classes"], task["seed"])
    save(folder, "answer", **asdict(run(peer, L, setting)))


if __name__ == "__main__":
    main(sys.argv[1])
