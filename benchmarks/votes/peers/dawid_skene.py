"""Dawid and Skene's model as in crowd-kit; labeled rows keep their label through all rounds."""

from __future__ import annotations

import numpy as np
import pandas as pd
from crowdkit.aggregation import DawidSkene

from benchmarks.votes.peers.frames import long_frame, rows_of
from benchmarks.votes.peers.peer import Peer, Setting


def fit(frame: pd.DataFrame, setting: Setting) -> DawidSkene:
    """Return the fitted aggregator."""
    return DawidSkene().fit(frame, true_labels=true_labels(frame, setting))


def true_labels(frame: pd.DataFrame, setting: Setting) -> pd.Series | None:
    """Return the labels by task; crowd-kit fails on labels of a class without votes."""
    tasks = np.flatnonzero(np.isin(setting.gold, frame["label"].unique()))
    return pd.Series(setting.gold[tasks], index=tasks) if tasks.size else None


PEER = Peer(long_frame, fit, rows_of)
