"""From votes to probabilities; all a new row needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgeclipper.game.multiclass_losses import MulticlassLoss
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.knowledge import parted
from hedgeclipper.votes.opening import Opening
from hedgeclipper.votes.vote_game import scores_of, vote_table


@dataclass(frozen=True, eq=False)
class VotePredictor:
    """Opening and game.

    Parameters
    ----------
    opening : Opening
        The prediction before the game.
    weights : ndarray
        theta.
    loss : MulticlassLoss
        How scores become predictions.
    """

    opening: Opening
    weights: np.ndarray
    loss: MulticlassLoss

    def probabilities(self, ballots: Ballots) -> np.ndarray:
        """Return the probability of each class for each row; the class balance without votes."""
        out = np.empty((ballots.n_rows, ballots.n_classes), order="F")
        for rows, block in ballots.blocks():
            opening = self.opening.log_probabilities(block)
            scores = self.loss.scores(opening)
            if self.weights.any():  # often the game leaves the opening as it is
                scores += scores_of(block, self.weights)
            out[rows] = self.loss.link(scores)
        out[ballots.n_votes == 0] = np.exp(self.opening.log_balance)
        return out

    def class_weights(self, shape: tuple[int, int, int]) -> np.ndarray:
        """Return the scores of the classes before a vote is heard."""
        return self.opening.class_scores() + parted(self.weights, shape[0], shape[1])[2]

    def vote_weights(self, shape: tuple[int, int, int]) -> np.ndarray:
        """Return what a vote adds to the log-odds of each class, by voter, vote and class.

        Opening and game are counted together, where log-odds are not cut off.
        """
        table = self.opening.vote_weights(shape) + vote_table(self.weights, shape)
        return table - table.mean(axis=2, keepdims=True)

    def game_weights(self, shape: tuple[int, int, int]) -> np.ndarray:
        """Return what the game adds to the score of a class for which a voter votes."""
        return np.diagonal(vote_table(self.weights, shape), axis1=1, axis2=2).copy()
