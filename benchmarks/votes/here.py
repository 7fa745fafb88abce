"""Methods that run in this process: ours, and the simple ones."""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.memory import AnonymousMemory
from benchmarks.results_file import versions
from benchmarks.votes.own import simple
from benchmarks.votes.peer import OWN, PeerResult
from benchmarks.votes.peers.peer import Peer, Setting
from benchmarks.votes.peers.run import PACKAGES, filled, warm_up


def peer_here(name: str) -> Peer:
    """Return one of our own methods, warmed up, or a simple one."""
    if name not in OWN:
        return simple.PEERS[name]
    peer = import_module(f"benchmarks.votes.own.{name.replace('-', '_')}").PEER
    if name not in _WARM:
        warm_up(peer)
        _WARM.add(name)
    return peer


_WARM: set[str] = set()


def run_here(name: str, L: Any, gold: np.ndarray, n_classes: int, seed: int) -> PeerResult:
    """Return the predictions of a method, run in this process."""
    peer, setting = peer_here(name), Setting(gold, n_classes, seed)
    with AnonymousMemory() as memory:
        started = time.perf_counter()
        votes = peer.prepare(L)
        prepared = time.perf_counter()
        fitted = peer.fit(votes, setting)
        finished = time.perf_counter()
    probabilities = filled(peer.collect(fitted, votes, setting), setting)
    return PeerResult(
        probabilities,
        peer.decide(fitted, votes, probabilities),
        finished - prepared,
        (memory.peak - memory.first) / 1e6,
        conversion_seconds=prepared - started,
        versions=versions(PACKAGES),
    )
