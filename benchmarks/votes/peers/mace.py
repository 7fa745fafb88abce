"""MACE as in crowd-kit. It takes no labels.

Its rounds number workers and labels in order of appearance in one place and in sorted order in
another (version 1.4.2). The lines are put in an order in which the two agree.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from crowdkit.aggregation import MACE

from benchmarks.votes.peers.frames import long_frame, rows_of
from benchmarks.votes.peers.peer import Peer, Setting


def prepare(L: Any) -> pd.DataFrame:
    """Return the long table, sorted by label, with workers numbered as they appear."""
    frame = long_frame(L).sort_values("label", kind="stable", ignore_index=True)
    frame["worker"] = pd.factorize(frame["worker"])[0]
    return frame


def fit(frame: pd.DataFrame, setting: Setting) -> MACE:
    """Return the fitted aggregator."""
    return MACE(random_state=setting.seed).fit(frame)


PEER = Peer(prepare, fit, rows_of)
