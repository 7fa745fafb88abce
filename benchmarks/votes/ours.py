"""VoteAggregator as a peer, with its defaults."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from benchmarks.votes.peers.peer import Peer, Setting
from hedgeclipper import VoteAggregator


class Fitted(NamedTuple):
    """Known classes, their probabilities for all rows, and what predicts a class of votes."""

    classes: np.ndarray
    probabilities: np.ndarray
    predict: Callable[[Any], np.ndarray]


def prepare(L: Any) -> Any:
    """Return the votes; in a sparse matrix a stored 0 is a vote for class 0."""
    if not sparse.issparse(L):
        return L
    return sparse.csr_array((L.data - 1, L.indices, L.indptr), shape=L.shape)


def fit_quietly(model: Any, *data: Any) -> Any:
    """Return the fitted model; what it warns of, another mix of rows, is part of comparisons."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*data)


def fit(L: Any, setting: Setting) -> Fitted:
    """Return what the aggregator predicts; the more frequent class in a tie."""
    model = fit_quietly(VoteAggregator(random_state=setting.seed), L, setting.gold)
    return Fitted(model.classes_, model.predict_proba(L), model.predict)


def collect(fitted: Fitted, L: Any, setting: Setting) -> np.ndarray:
    """Return the probabilities, 0 for a class that is not known."""
    probabilities = np.zeros((setting.gold.size, setting.n_classes))
    probabilities[:, fitted.classes] = fitted.probabilities
    return probabilities


def decide(fitted: Fitted, L: Any, probabilities: np.ndarray) -> np.ndarray:
    """Return its own labels."""
    return fitted.predict(L)


PEERS = {"hedgeclipper": Peer(prepare, fit, collect, decide)}
