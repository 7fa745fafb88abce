"""The methods of the table of votes, in its order, and how each is run on votes."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.environments import Environment
from benchmarks.figures import OURS
from benchmarks.results_file import Line
from benchmarks.votes.peers.peer import Outcome, Peer, Setting, run, warm_up

OWN = Environment("HedgeClipper")
ENVIRONMENT = Environment("the peers", ".venv-peers", "HEDGECLIPPER_PEERS")
ON_A_MILLION_ROWS = (OURS, "label_model", "dawid_skene")


@dataclass(frozen=True)
class VoteMethod:
    """A column of the table.

    Parameters
    ----------
    name : str
        Key in the results, and among the ``PEERS`` of the file that has it.
    title : str
        Heading.
    module : str
        Name of that file; those in ``peers`` are run in their own environment.
    uses_labels : bool
        Whether it uses labels. A method that does not gets the rows to
        predict only, is run once on each set, and is scored on every draw.
    many_votes : float
        Number of votes above which it is run on few draws, since it is slow.
    few_draws : int
        How many these are.
    too_many_votes : float
        Number of votes above which it is not run at all.
    """

    name: str
    title: str
    module: str
    uses_labels: bool = True
    many_votes: float = np.inf
    few_draws: int = 3
    too_many_votes: float = np.inf

    @property
    def environment(self) -> Environment:
        """Return where it can be run."""
        return ENVIRONMENT if self.module.startswith("peers.") else OWN

    def run(self, L: Any, setting: Setting) -> Outcome:
        """Return what it makes of votes, in this process."""
        return run(_warm(self), L, setting)

    def run_apart(
        self, L: Any, setting: Setting, *, timeout: float | None = None, is_warm: bool = False
    ) -> Outcome:
        """Return what it makes of votes, in a process of its own.

        Parameters
        ----------
        L : integer array or sparse matrix of shape (n_rows, n_voters)
            Class numbers and -1 where a voter abstains; in a sparse matrix class numbers plus one.
        setting : Setting
            Labels, number of classes, and seed.
        timeout : float, optional
            Seconds for the whole process; a method that takes longer has no result.
        is_warm : bool
            Whether it runs on a few other rows first, so that all it uses is loaded.
        """
        task = {"module": f"benchmarks.votes.{self.module}", "name": self.name, "is_warm": is_warm}
        task |= {**vars(setting), **_parts(L)}
        try:
            answer = self.environment.run("benchmarks.votes.peers.peer", timeout=timeout, **task)
        except subprocess.TimeoutExpired:
            reason = f"took longer than {timeout:g} seconds"
            return Outcome.none(len(setting.gold), setting.n_classes, reason)
        return Outcome(**answer)


@cache
def _warm(method: VoteMethod) -> Peer:
    peer = import_module(f"benchmarks.votes.{method.module}").PEERS[method.name]
    if method.module == "ours":
        warm_up(peer)
    return peer


def _parts(L: Any) -> dict[str, Any]:
    """Return the votes under the names that `peers.peer` reads."""
    if not sparse.issparse(L):
        return {"L": np.asarray(L)}
    # The smallest signed type: a peer that needs a dense matrix makes one of this type.
    data = L.data.astype(np.min_scalar_type(-1 - int(L.max())))
    return {"data": data, "indices": L.indices, "indptr": L.indptr, "shape": L.shape}


METHODS = {
    method.name: method
    for method in (
        VoteMethod(OURS, "HedgeClipper", "ours"),
        VoteMethod("majority", "Majority vote", "simple", uses_labels=False),
        VoteMethod("naive_bayes", "Naive Bayes", "simple"),
        VoteMethod("accuracy_weights", "Accuracy weights", "simple"),
        VoteMethod("ridge", "Ridge logistic regression", "simple"),
        VoteMethod("best_voter", "Best voter", "simple"),
        VoteMethod("label_model", "Snorkel LabelModel", "peers.snorkel", many_votes=50_000),
        VoteMethod("dawid_skene", "Dawid-Skene", "peers.crowd_kit"),
        VoteMethod(
            "glad", "GLAD", "peers.crowd_kit",
            many_votes=20_000, few_draws=1, too_many_votes=50_000,
        ),
        VoteMethod("mace", "MACE", "peers.crowd_kit", uses_labels=False),
    )
}  # fmt: skip


@dataclass(frozen=True)
class VoteResult(Line):
    """What a method made of a draw; NaN where it was not run or did not end, with the reason.

    ``seconds`` is wall time to fit and to give probabilities, ``conversion_seconds`` that to make
    the method's own form of the votes, ``peak_mb`` the peak of anonymous memory.
    """

    accuracy: float
    log_loss: float
    n_rows: int
    n_scored: int
    seconds: float
    conversion_seconds: float
    peak_mb: float
    reason: str
    date: str
    versions: str
