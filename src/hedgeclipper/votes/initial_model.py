"""The initial model: the prediction before the game, a mixture of up to three component models.

The majority vote and Dawid-Skene use all rows, but treat votes as independent of each other; a game
from labels alone does not, but only knows voters with labels. Each predicts log-odds, which are cut
off, since they tend to be overconfident. Their mixture weights, never negative, are fitted to the
labels by a logistic regression with a prior: a quarter for the first, three quarters for the
second, and, with a smaller variance, nothing for the third.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from hedgeclipper.game.multiclass_losses import MULTICLASS_LOSSES, row_sums, soft_maximum
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.dawid_skene import fit_dawid_skene, prior_votes
from hedgeclipper.votes.evidence import Evidence
from hedgeclipper.votes.vote_game import solve_vote_game, vote_table
from hedgeclipper.votes.voter_bounds import VoterBounds, parted

KINDS = ("mixture", "majority")
PRIOR_WEIGHTS, PRIOR_VARIANCES, BIAS_VARIANCE = (0.25, 0.75, 0.0), (0.25, 0.25, 0.05), 1.0
TOL, MAX_ITER = 1e-4, 100
MAX_LOG_ODDS = 10.0


class ComponentModel(NamedTuple):
    """Terms that add up to log-odds: one for each class, and one for each vote and class."""

    classes: np.ndarray
    votes: np.ndarray

    def scores(self, ballots: Ballots) -> np.ndarray:
        """Return the log-odds of each class for each row, up to a constant."""
        return self.classes + ballots.scores(self.votes)


@dataclass(frozen=True, eq=False)
class InitialModel:
    """A mixture of component models: majority vote, Dawid-Skene and labels, the first, or none.

    ``log_balance`` are the logarithms of the class frequencies, which rows without votes get;
    ``weights`` are the mixture weights, and ``bias`` is added for each class where there are votes.
    """

    log_balance: np.ndarray
    components: tuple[ComponentModel, ...] = ()
    weights: tuple[float, ...] = ()
    bias: np.ndarray | float = 0.0

    def log_probabilities(self, ballots: Ballots) -> np.ndarray:
        """Return the logarithm of the probability of each class for each row."""
        if not self.components:
            return _uniform(ballots)
        parts = np.split(ballots.scores(self._tables), len(self.components), axis=1)
        scores = self._mixed(parts)
        scores[ballots.n_votes == 0] = self.log_balance
        return scores - soft_maximum(scores)[0][:, None]

    def class_scores(self) -> np.ndarray:
        """Return the scores of the classes before any vote is counted, on rows with votes."""
        zeros = np.zeros((1, self.log_balance.size))
        return self._mixed([zeros] * len(self.components))[0] if self.components else zeros[0]

    def _mixed(self, parts: list[np.ndarray]) -> np.ndarray:
        """Return the weighted log-odds of all components, given the sums of their votes' terms."""
        scores = np.zeros_like(parts[0]) + self.bias
        for weight, component, part in zip(self.weights, self.components, parts, strict=True):
            scores += weight * log_odds(component.classes + part)
        return scores

    def vote_weights(self, shape: tuple[int, int, int]) -> np.ndarray:
        """Return what a voter's vote adds to the score of each class, by voter, vote and class."""
        pairs = zip(self.weights, self.components, strict=True)
        return sum((weight * component.votes for weight, component in pairs), np.zeros(shape))

    @cached_property
    def _tables(self) -> np.ndarray:
        """Terms of the votes side by side, so that one pass over the votes adds up all of them."""
        return np.concatenate([component.votes for component in self.components], axis=2)


def fit_initial_model(
    kind: str | None, evidence: Evidence, bounds: VoterBounds
) -> tuple[InitialModel, np.ndarray]:
    """Return the model before the game: a mixture, the majority vote, or all classes alike.

    With it come its log-probabilities for the labeled rows, in which the accuracies of the voters
    are estimated without the label of the row itself.
    """
    unlabeled, labeled, codes = evidence.sample, evidence.labeled, evidence.codes
    log_balance = np.log(evidence.balance)
    if kind is None:
        return InitialModel(log_balance), _uniform(labeled)
    majority = majority_vote(unlabeled.shape, log_balance)
    components, scores = [majority], [majority.scores(labeled)]
    prior: tuple[float, ...] = PRIOR_WEIGHTS if kind == "mixture" else (1.0,)
    if kind == "mixture":
        model = fit_dawid_skene(unlabeled, labeled, codes, evidence.balance)
        loss, limits = MULTICLASS_LOSSES["log"], {"tol": TOL, "max_iter": MAX_ITER}
        start, n_labeled = _uniform(unlabeled), codes.size
        game = solve_vote_game(unlabeled, bounds, start, loss, n_labeled=n_labeled, **limits)
        classes = parted(game.weights, *unlabeled.shape[:2])[2]
        by_labels = ComponentModel(classes, vote_table(game.weights, unlabeled.shape))
        components += [ComponentModel(model.log_balance, model.weights), by_labels]
        scores += [model.scores_without_own(labeled, codes), by_labels.scores(labeled)]
    voted = labeled.n_votes > 0
    parts = [log_odds(part) for part in scores]
    weights, bias = _fit_weights([part[voted] for part in parts], codes[voted], prior)
    mixed = np.tensordot(weights, parts, axes=1) + bias
    mixed[~voted] = log_balance
    mixture = InitialModel(log_balance, tuple(components), weights, bias)
    return mixture, mixed - soft_maximum(mixed)[0][:, None]


def _uniform(ballots: Ballots) -> np.ndarray:
    """Return the logarithms of probabilities that are the same for all classes."""
    shape = ballots.n_rows, ballots.n_classes
    return np.full(shape, -np.log(ballots.n_classes), order="F")


def majority_vote(shape: tuple[int, int, int], log_balance: np.ndarray) -> ComponentModel:
    """Return the unweighted vote: all votes have the prior's accuracy."""
    prior = prior_votes(shape[1])
    weights = np.log(prior) - np.log(prior.sum(axis=0))
    return ComponentModel(log_balance, np.broadcast_to(weights, shape))


def log_odds(scores: np.ndarray) -> np.ndarray:
    """Return log-probabilities, less their mean in each row, and cut off."""
    odds = scores - row_sums(scores)[:, None] / scores.shape[1]
    return np.clip(odds, -MAX_LOG_ODDS, MAX_LOG_ODDS, out=odds)


# as in the game, BLAS is faster with one thread
@threadpool_limits.wrap(limits=1, user_api="blas")
def _fit_weights(
    scores: list[np.ndarray], codes: np.ndarray, prior: tuple[float, ...]
) -> tuple[tuple[float, ...], np.ndarray]:
    """Return the mixture weights that fit the labels, and a bias for each class."""
    start, parts = np.array(prior), np.array(scores)
    variances, n_classes = np.array(PRIOR_VARIANCES[: len(prior)]), parts.shape[2]
    gold = np.eye(n_classes)[codes]

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        weights, bias = values[: start.size], values[start.size :]
        mixed = bias + np.tensordot(weights, parts, axes=1)
        potential, predicted = soft_maximum(mixed)
        excess, off = predicted - gold, weights - start
        value = potential.sum() - np.sum(gold * mixed)
        value += off @ (off / variances) / 2 + bias @ bias / (2 * BIAS_VARIANCE)
        slopes = np.sum(parts * excess, axis=(1, 2)) + off / variances
        return value, np.append(slopes, excess.sum(axis=0) + bias / BIAS_VARIANCE)

    # with weights that are not negative, a vote for a class never lowers its probability
    limits = [(0.0, None)] * start.size + [(None, None)] * n_classes
    first_guess = np.append(start, np.zeros(n_classes))
    found = minimize(loss, first_guess, jac=True, method="L-BFGS-B", bounds=limits)
    return tuple(found.x[: start.size].tolist()), found.x[start.size :]
