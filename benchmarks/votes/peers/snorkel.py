"""Snorkel's LabelModel with its defaults; it gets the class prior of the labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from snorkel.labeling.model import LabelModel

from benchmarks.votes.peers.peer import Peer, Setting


def prepare(L: Any) -> np.ndarray:
    """Return the votes as a dense matrix, the only form that the model takes."""
    if not sparse.issparse(L):
        return L
    votes = L.toarray()
    votes -= 1
    return votes


def fit(L: np.ndarray, setting: Setting) -> np.ndarray:
    """Return the probabilities of a fitted model; it refuses labels without one of each class."""
    model = LabelModel(cardinality=setting.n_classes)
    labels = setting.known if setting.has_every_class else None
    model.fit(L, Y_dev=labels, seed=setting.seed, progress_bar=False)
    return model.predict_proba(L)


def collect(probabilities: np.ndarray, L: np.ndarray, setting: Setting) -> np.ndarray:
    """Return the probabilities, NaN in rows without a vote."""
    has_votes = (L >= 0).any(axis=1)
    return np.where(has_votes[:, None], probabilities, np.nan)


PEERS = {"label_model": Peer(prepare, fit, collect, least_voters=3)}
