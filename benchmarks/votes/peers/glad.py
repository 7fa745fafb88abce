"""GLAD as in crowd-kit; of the labels it takes the shares of the classes (``labels_priors``).

They matter: with its default of equal shares it is better on some sets and far worse on others.
"""

from __future__ import annotations

import pandas as pd
from crowdkit.aggregation import GLAD

from benchmarks.votes.peers.frames import long_frame, rows_of
from benchmarks.votes.peers.peer import Peer, Setting


def fit(frame: pd.DataFrame, setting: Setting) -> GLAD:
    """Return the fitted aggregator; its own equal shares without a label of each class."""
    shares = pd.Series(setting.class_shares) if setting.has_every_class else None
    return GLAD(labels_priors=shares).fit(frame)


PEER = Peer(long_frame, fit, rows_of)
