"""A method's result, from a process of its own; a peer's in the peers' environment."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.votes.peers.run import WARM

PROJECT = Path(__file__).parents[2]
OWN = ("hedgeclipper", "hedgeclipper-bf")
PEERS = ("majority", "label_model", "dawid_skene", "glad", "mace")
ABSENT = (
    "The peers' environment is absent: `make .venv-peers/.ready` builds it, "
    "or HEDGECLIPPER_PEERS names its interpreter."
)


class PeersAbsentError(FileNotFoundError):
    """There is no environment to run the peers in."""


@dataclass(frozen=True, eq=False)
class PeerResult:
    """Predictions of a peer, or of our own method, with time and memory.

    ``seconds`` is the time to fit and to give probabilities, without imports and conversions;
    ``peak_mb`` the peak of anonymous memory in MB (millions of bytes), from reading the votes on;
    ``reason`` why there is no result, where probabilities are NaN and labels -1.
    """

    probabilities: np.ndarray
    labels: np.ndarray
    seconds: float
    peak_mb: float
    reason: str = ""
    conversion_seconds: float = np.nan
    versions: str = ""


def peers_python() -> Path | None:
    """Return the interpreter of the peers' environment, or None where there is none."""
    path = Path(os.environ.get("HEDGECLIPPER_PEERS", PROJECT / ".venv-peers" / "bin" / "python"))
    return path if path.is_file() else None


def run_peer(
    name: str,
    L: Any,
    gold: np.ndarray,
    n_classes: int,
    seed: int,
    *,
    timeout: float | None = None,
    is_warm: bool = False,
) -> PeerResult:
    """Return the predictions of a peer, or of our own method.

    Parameters
    ----------
    name : str
        One of ``PEERS`` or of ``OWN``.
    L : integer array or sparse matrix of shape (n_rows, n_voters)
        Class numbers and -1 where a voter abstains; in a sparse matrix class numbers plus one.
    gold : integer array of shape (n_rows,)
        Labels, -1 where there is none.
    n_classes, seed : int
        Number of classes; seed of the peer.
    timeout : float, optional
        Seconds for the whole process; a peer that takes longer has no result.
    is_warm : bool
        Whether it runs on a few other rows first, so that all it uses is loaded.

    Raises
    ------
    PeersAbsentError
        Where there is no environment for the peers.
    RuntimeError
        Where the peer fails, with the end of its output.
    """
    command = _command(name)
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(source, **votes_of(L), gold=gold, n_classes=n_classes, seed=seed)
        try:
            _call(name, [*command, source, target, *([WARM] if is_warm else [])], timeout)
        except subprocess.TimeoutExpired:
            return no_result(len(gold), n_classes, f"took longer than {timeout:g} seconds")
        return _read(target)


def votes_of(L: Any) -> dict[str, Any]:
    """Return the votes under the names that the peers read."""
    if not sparse.issparse(L):
        return {"L": np.asarray(L)}
    rows = L.tocsr(copy=True)
    rows.eliminate_zeros()
    # The smallest signed type: a peer that needs a dense matrix makes one of this type.
    data = rows.data.astype(np.min_scalar_type(-1 - int(rows.max())))
    return {"data": data, "indices": rows.indices, "indptr": rows.indptr, "shape": rows.shape}


def no_result(n_rows: int, n_classes: int, reason: str) -> PeerResult:
    """Return a result that has only the reason why there is none."""
    probabilities = np.full((n_rows, n_classes), np.nan)
    return PeerResult(probabilities, np.full(n_rows, -1), np.nan, np.nan, reason)


def _command(name: str) -> list[Any]:
    """Return the command that runs a method, without its files."""
    python, folder = (sys.executable, "own") if name in OWN else (peers_python(), "peers")
    if python is None:
        raise PeersAbsentError(ABSENT)
    module = f"benchmarks.votes.{folder}.{name.replace('-', '_')}"
    return [python, "-m", "benchmarks.votes.peers.run", module]


def _call(name: str, command: list[Any], timeout: float | None) -> None:
    # What is added to our own path is not meant for the peers' environment.
    hidden = () if name in OWN else ("PYTHONPATH",)
    environment = {key: value for key, value in os.environ.items() if key not in hidden}
    done = subprocess.run(
        command, cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=timeout
    )
    if done.returncode:
        raise RuntimeError(f"Method {name}: exit code {done.returncode}\n{done.stderr[-2000:]}")


def _read(target: Path) -> PeerResult:
    with np.load(target, allow_pickle=False) as file:
        return PeerResult(
            probabilities=file["probabilities"],
            labels=file["labels"],
            seconds=float(file["seconds"]),
            peak_mb=float(file["peak_mb"]),
            reason=str(file["reason"]),
            conversion_seconds=float(file["conversion_seconds"]),
            versions=str(file["versions"]),
        )
