"""VoteAggregator in the steps of a peer: it takes the votes unchanged, and all labels."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.votes.peers.peer import Peer, Setting
from hedgeclipper import ContradictionWarning, ShiftWarning, VoteAggregator

# What these warn of is part of the comparison: the rows with labels are another mix.
EXPECTED = (ContradictionWarning, ShiftWarning)
Fitted = tuple[VoteAggregator, np.ndarray]


def as_peer(**settings: Any) -> Peer:
    """Return VoteAggregator with some settings, as a peer."""

    def fit(L: Any, setting: Setting) -> Fitted:
        model = VoteAggregator(random_state=setting.seed, **settings)
        fit_quietly(model, L, setting.gold)
        return model, model.predict_proba(L)

    return Peer(prepare, fit, collect, decide=decide)


def prepare(L: Any) -> Any:
    """Return the votes; in a sparse matrix a stored 0 is a vote for class 0."""
    if not sparse.issparse(L):
        return L
    return sparse.csr_array((L.data - 1, L.indices, L.indptr), shape=L.shape)


def fit_quietly(model: VoteAggregator, L: Any, gold: np.ndarray) -> VoteAggregator:
    """Return the fitted model, without the warnings that are part of the comparison."""
    with warnings.catch_warnings():
        for category in EXPECTED:
            warnings.simplefilter("ignore", category)
        return model.fit(L, gold)


def collect(fitted: Fitted, L: Any, setting: Setting) -> np.ndarray:
    """Return the probabilities, 0 for a class that the model does not know."""
    model, found = fitted
    probabilities = np.zeros((setting.gold.size, setting.n_classes))
    probabilities[:, model.classes_] = found
    return probabilities


def decide(fitted: Fitted, L: Any, probabilities: np.ndarray) -> np.ndarray:
    """Return the model's own labels: the more frequent class in a tie."""
    return fitted[0].predict(L)
