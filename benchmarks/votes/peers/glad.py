"""GLAD as in crowd-kit; it gets the class prior of the labels (``labels_priors``).

It matters: with the default uniform prior it is better on some sets and far worse on others.
"""

from __future__ import annotations

import pandas as pd
from crowdkit.aggregation import GLAD

from benchmarks.votes.peers.frames import long_frame, rows_of
from benchmarks.votes.peers.peer import Peer, Setting


def fit(frame: pd.DataFrame, setting: Setting) -> GLAD:
    """Return the fitted aggregator; its uniform prior without a label of each class."""
    prior = pd.Series(setting.class_prior) if setting.has_every_class else None
    return GLAD(labels_priors=prior).fit(frame)


PEER = Peer(long_frame, fit, rows_of)
