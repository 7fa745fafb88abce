"""Majority vote of crowd-kit: the proportion of votes for each class. It takes no labels."""

from __future__ import annotations

import pandas as pd
from crowdkit.aggregation import MajorityVote

from benchmarks.votes.peers.frames import long_frame, rows_of
from benchmarks.votes.peers.peer import Peer, Setting


def fit(frame: pd.DataFrame, setting: Setting) -> MajorityVote:
    """Return the fitted aggregator."""
    return MajorityVote().fit(frame)


PEER = Peer(long_frame, fit, rows_of)
