"""crowd-kit's Dawid-Skene, GLAD and MACE: votes are long tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from crowdkit.aggregation import GLAD, MACE, DawidSkene
from scipy import sparse

from benchmarks.votes.peers.peer import Peer, Setting


def long_frame(L: Any) -> pd.DataFrame:
    """Return a line (task, worker, label) for each vote, in 64-bit integers."""
    if sparse.issparse(L):
        votes = L.tocoo()
        tasks, workers, labels = votes.row, votes.col, votes.data - 1
    else:
        tasks, workers = np.nonzero(L >= 0)
        labels = L[tasks, workers]
    columns = {"task": tasks, "worker": workers, "label": labels}
    return pd.DataFrame({name: values.astype(np.int64) for name, values in columns.items()})


def rows_of(fitted: Any, frame: pd.DataFrame, setting: Setting) -> np.ndarray:
    """Return the probabilities of an aggregator, rows x classes; NaN in rows without a vote."""
    found = fitted.probas_
    probabilities = np.full((setting.gold.size, setting.n_classes), np.nan)
    probabilities[found.index] = 0.0  # of a class without votes
    probabilities[np.ix_(found.index, found.columns)] = found.to_numpy()
    return probabilities


def dawid_skene(frame: pd.DataFrame, setting: Setting) -> DawidSkene:
    """Return the fitted aggregator; labeled rows keep their label through all rounds.

    It fails on labels of a class without votes.
    """
    tasks = np.flatnonzero(np.isin(setting.gold, frame["label"].unique()))
    labels = pd.Series(setting.gold[tasks], index=tasks) if tasks.size else None
    return DawidSkene().fit(frame, true_labels=labels)


def glad(frame: pd.DataFrame, setting: Setting) -> GLAD:
    """Return the fitted aggregator; its uniform prior without a label of each class.

    The class prior matters: with the uniform one it is better on some sets, far worse on others.
    """
    prior = pd.Series(setting.class_prior) if setting.has_every_class else None
    return GLAD(labels_priors=prior).fit(frame)


def numbered_frame(L: Any) -> pd.DataFrame:
    """Return the long table, sorted by label, with workers numbered as they appear.

    MACE's rounds number workers and labels in order of appearance in one place and in sorted order
    in another (version 1.4.2). In this order the two agree.
    """
    frame = long_frame(L).sort_values("label", kind="stable", ignore_index=True)
    frame["worker"] = pd.factorize(frame["worker"])[0]
    return frame


def mace(frame: pd.DataFrame, setting: Setting) -> MACE:
    """Return the fitted aggregator, which takes no labels."""
    return MACE(random_state=setting.seed).fit(frame)


PEERS = {
    "dawid_skene": Peer(long_frame, dawid_skene, rows_of),
    "glad": Peer(long_frame, glad, rows_of),
    "mace": Peer(numbered_frame, mace, rows_of),
}
