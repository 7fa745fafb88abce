"""Run one peer, named by the module that has it, on a file of votes.

    python -m benchmarks.votes.peers.run MODULE in.npz out.npz [--warm]

Reads ``L`` (rows x voters, class numbers, -1 = abstains), or the parts ``indptr``, ``indices``,
``data`` and ``shape`` of a CSR matrix of class numbers plus one; ``gold`` (-1 where there is no
label), ``n_classes`` and ``seed``. Writes ``probabilities``, ``labels`` (the likeliest class, for
peers the lower number in a tie), ``seconds`` (to fit and to give probabilities),
``conversion_seconds`` (to make the peer's own form of the votes), ``peak_mb`` (anonymous memory
over that before the votes were read: votes, the peer's form of them, and the fit), ``reason`` (why
there is no result, if so) and ``versions``. Rows without a vote get the labels' class prior.
"""

from __future__ import annotations

import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.memory import AnonymousMemory
from benchmarks.results_file import versions
from benchmarks.votes.peers.peer import Peer, Setting

WARM = "--warm"
PACKAGES = ("hedgeclipper", "crowd-kit", "snorkel", "torch", "numpy", "pandas", "scipy", "numba")


def main(module: str, source: str, target: str, *options: str) -> None:
    peer = import_module(module).PEER
    if WARM in options:
        warm_up(peer)
    np.savez(target, **run(peer, Path(source)))


def warm_up(peer: Peer) -> None:
    """Run the peer on a few rows, so that all it uses is loaded before the clock starts."""
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 2, 60)
    L = np.where(rng.random((60, 5)) < 0.8, gold[:, None], 1 - gold[:, None])
    setting = Setting(np.where(np.arange(60) < 20, gold, -1), 2, 0)
    peer.fit(peer.prepare(sparse.csr_array((L + 1).astype(np.int8))), setting)


def run(peer: Peer, source: Path) -> dict[str, Any]:
    """Return what is written to the file."""
    with AnonymousMemory() as memory:
        L, setting = read(source)
        reason = peer.why_not(L)
        if reason:
            return no_result(setting, reason)
        started = time.perf_counter()
        votes = peer.prepare(L)
        del L
        prepared = time.perf_counter()
        fitted = peer.fit(votes, setting)
        finished = time.perf_counter()
    probabilities = filled(peer.collect(fitted, votes, setting), setting)
    return {
        "probabilities": probabilities,
        "labels": peer.decide(fitted, votes, probabilities),
        "seconds": finished - prepared,
        "conversion_seconds": prepared - started,
        "peak_mb": (memory.peak - memory.first) / 1e6,
        "reason": "",
        "versions": versions(PACKAGES),
    }


def read(source: Path) -> tuple[Any, Setting]:
    """Return the votes, dense or sparse as the file has them, and what else is known."""
    with np.load(source, allow_pickle=False) as file:
        setting = Setting(file["gold"], int(file["n_classes"]), int(file["seed"]))
        if "L" in file:
            return file["L"], setting
        parts = file["data"], file["indices"], file["indptr"]
        return sparse.csr_array(parts, shape=tuple(file["shape"])), setting


def filled(probabilities: np.ndarray, setting: Setting) -> np.ndarray:
    """Return the probabilities, with the class prior in rows that the peer does not predict."""
    is_uncovered = np.isnan(probabilities).any(axis=1)
    return np.where(is_uncovered[:, None], setting.class_prior, probabilities)


def no_result(setting: Setting, reason: str) -> dict[str, Any]:
    """Return a file's contents where the peer cannot run."""
    n_rows = setting.gold.size
    return {
        "probabilities": np.full((n_rows, setting.n_classes), np.nan),
        "labels": np.full(n_rows, -1),
        "seconds": np.nan,
        "conversion_seconds": np.nan,
        "peak_mb": np.nan,
        "reason": reason,
        "versions": versions(PACKAGES),
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
