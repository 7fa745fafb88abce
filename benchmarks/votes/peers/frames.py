"""Vote matrices to the long tables of crowd-kit, and its tables of probabilities back to rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from benchmarks.votes.peers.peer import Setting


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
