"""Labels without any gold label, from how voters agree."""

from __future__ import annotations

import numpy as np

from hedgeclipper.io.progress import warn_user
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.dawid_skene import AuxiliaryVoters
from hedgeclipper.votes.initial_model import PRIOR_WEIGHTS, ComponentModel, majority_votes
from hedgeclipper.votes.matrix import Votes
from hedgeclipper.votes.vote_game import most_probable


class AgreementWarning(UserWarning):
    """Labels rest on the agreement of voters alone."""


def labels_by_agreement(votes: Votes) -> np.ndarray:
    """Return labels of majority vote and Dawid-Skene, weighted as the prior of the mixture does."""
    warn_user(
        "There are no gold labels: these labels rest on how voters agree. Voters that err together "
        "make them wrong, and nothing bounds their error. Label a few rows, and pass them as y.",
        AgreementWarning,
    )
    ballots, n_classes = Ballots(votes), votes.n_classes
    if n_classes < 2:
        raise ValueError("The votes must have at least two classes.")
    agreement = AuxiliaryVoters.fit(ballots).model
    nothing, no_rows = np.zeros(n_classes), np.empty((0, n_classes))
    tables = {"majority vote": majority_votes(ballots.shape), "Dawid-Skene": agreement.weights}
    scores = np.zeros((ballots.n_rows, n_classes))
    for name, table in tables.items():
        part = ComponentModel(nothing, table, no_rows).scaled(ballots)
        scores += PRIOR_WEIGHTS[name] * ballots.scores(part.votes)
    frequency = ballots.votes_cast.sum(axis=0)
    return votes.classes[most_probable(scores, frequency + 1.0)]
