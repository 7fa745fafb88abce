"""The initial model: the prediction before the game, a mixture of four component models.

Majority vote, Dawid-Skene, naive Bayes and a logistic regression with a ridge each predict
log-odds that are sums over the votes on a row. The first two rest on how voters agree and hold with
few labels; the others rest on labels, and the last one takes account of voters that err together.
Log-odds of many votes are overconfident, so each component is scaled down to a moderate mean size.
The mixture weights, never negative, are fitted to the gold labels, each predicted without itself,
by a logistic regression whose prior stands for few labels.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from threadpoolctl import threadpool_limits

from hedgeclipper.game.multiclass_losses import soft_maximum
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.dawid_skene import fit_dawid_skene, prior_votes
from hedgeclipper.votes.evidence import Evidence
from hedgeclipper.votes.naive_bayes import fit_naive_bayes
from hedgeclipper.votes.ridge_votes import fit_ridge

KINDS = ("mixture", "majority")
# Chosen on ten real sets with 10 to 500 labels and on generated votes, where means of 0.25 to 1,
# variances of 0.1 to 1 and sizes of 1 to 4 differ by less than half a point of accuracy.
PRIOR_WEIGHTS = {
    "majority vote": 0.25,
    "Dawid-Skene": 0.5,
    "naive Bayes": 0.25,
    "ridge regression": 0.25,
}
PRIOR_VARIANCE, BIAS_VARIANCE = 0.5, 0.1
MEAN_SIZE = 2.0
# Frequencies of few labels are too uncertain for Dawid-Skene, which is sensitive to them.
LABELS_PER_CLASS = 5.0
MAX_LABELS, MAX_STEPS, TOL = 5_000, 50, 1e-9


@dataclass(frozen=True, eq=False)
class ComponentModel:
    """Terms that add up to log-odds: one for each class, and one for each vote and class.

    ``without_own`` of shape (n_labeled, n_classes) are the log-odds of the labeled rows, each
    computed without its own label.
    """

    classes: np.ndarray
    votes: np.ndarray
    without_own: np.ndarray

    def scaled(self, sample: Ballots) -> ComponentModel:
        """Return the same with log-odds centered, and their mean size on a sample limited."""
        classes = self.classes - self.classes.mean()
        votes = self.votes - self.votes.mean(axis=2, keepdims=True)
        size = np.sqrt(np.mean((classes + sample.scores(votes)) ** 2))
        factor = min(1.0, MEAN_SIZE / size) if size > 0 else 1.0
        centered = self.without_own - self.without_own.mean(axis=1, keepdims=True)
        return ComponentModel(factor * classes, factor * votes, factor * centered)


@dataclass(frozen=True, eq=False)
class InitialModel:
    """A mixture of component models, the majority vote, or none: sums of terms over the votes.

    ``log_balance`` are the logarithms of the class frequencies, which rows without votes get.
    ``classes`` and ``votes`` are the terms of classes, and of votes by voter, vote and class; None
    if all classes are as probable. ``weights`` are the mixture weights by name.
    """

    log_balance: np.ndarray
    classes: np.ndarray | None = None
    votes: np.ndarray | None = None
    weights: dict[str, float] = field(default_factory=dict)

    def log_probabilities(self, ballots: Ballots) -> np.ndarray:
        """Return the logarithm of the probability of each class for each row."""
        scores = self._scores(ballots)
        scores -= soft_maximum(scores)[0][:, None]
        return scores

    def probabilities(self, ballots: Ballots) -> np.ndarray:
        """Return the probability of each class for each row; class frequencies without votes."""
        out = soft_maximum(self._scores(ballots))[1]
        out[ballots.n_votes == 0] = np.exp(self.log_balance)
        return out

    def _scores(self, ballots: Ballots) -> np.ndarray:
        if self.votes is None:
            return _uniform(ballots)
        scores = ballots.scores(self.votes)
        scores += self.classes
        scores[ballots.n_votes == 0] = self.log_balance
        return scores

    def class_scores(self) -> np.ndarray:
        """Return the scores of the classes before any vote is counted, on rows with votes."""
        return np.zeros_like(self.log_balance) if self.classes is None else self.classes

    def vote_weights(self, shape: tuple[int, int, int]) -> np.ndarray:
        """Return what a voter's vote adds to the score of each class, by voter, vote and class."""
        return np.zeros(shape) if self.votes is None else self.votes


def fit_initial_model(kind: str | None, evidence: Evidence) -> tuple[InitialModel, np.ndarray]:
    """Return the model before the game: a mixture, the majority vote, or all classes alike.

    With it come its log-probabilities for the labeled rows, in which components are fitted without
    the label of the row itself.
    """
    labeled, codes, log_balance = evidence.labeled, evidence.codes, np.log(evidence.balance)
    if kind is None:
        return InitialModel(log_balance), _uniform(labeled)
    prior = PRIOR_WEIGHTS if kind == "mixture" else {"majority vote": 1.0}
    sample = evidence.unlabeled.take(evidence.searched)
    found = [part.scaled(sample) for part in _fit_components(evidence)[: len(prior)]]
    voted = labeled.n_votes > 0
    parts = np.array([part.without_own for part in found])
    weights, bias = _fit_weights(parts[:, voted], codes[voted], np.array([*prior.values()]))
    classes = bias + sum(w * part.classes for w, part in zip(weights, found, strict=True))
    votes = sum(w * part.votes for w, part in zip(weights, found, strict=True))
    by_name = dict(zip(prior, weights.tolist(), strict=True))
    mixed = bias + np.tensordot(weights, parts, axes=1)
    mixed[~voted] = log_balance
    model = InitialModel(log_balance, classes, votes, by_name)
    return model, mixed - soft_maximum(mixed)[0][:, None]


def _fit_components(evidence: Evidence) -> list[ComponentModel]:
    """Return the component models in the order of ``PRIOR_WEIGHTS``."""
    labeled, codes, shape = evidence.labeled, evidence.codes, evidence.unlabeled.shape
    balance = evidence.shrunken_balance(LABELS_PER_CLASS)
    log_balance, majority = np.log(balance), majority_votes(shape)
    agreement = fit_dawid_skene(evidence.sample, labeled, codes, balance)
    bayes, bayes_sums = fit_naive_bayes(labeled, codes)
    ridge = fit_ridge(labeled, codes)
    return [
        ComponentModel(log_balance, majority, log_balance + labeled.scores(majority)),
        ComponentModel(
            log_balance, agreement.weights, agreement.scores_without_own(labeled, codes)
        ),
        ComponentModel(log_balance, bayes, log_balance + bayes_sums),
        ComponentModel(ridge.classes, ridge.votes, ridge.scores_without_own),
    ]


def _uniform(ballots: Ballots) -> np.ndarray:
    """Return the logarithms of probabilities that are the same for all classes."""
    shape = ballots.n_rows, ballots.n_classes
    return np.full(shape, -np.log(ballots.n_classes), order="F")


def majority_votes(shape: tuple[int, int, int]) -> np.ndarray:
    """Return the terms of the majority vote: all votes have the prior's accuracy."""
    prior = prior_votes(shape[1])
    return np.broadcast_to(np.log(prior) - np.log(prior.sum(axis=0)), shape)


# as in the game, BLAS is faster with one thread
@threadpool_limits.wrap(limits=1, user_api="blas")
def _fit_weights(
    parts: np.ndarray, codes: np.ndarray, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mixture weights with the largest posterior, and a bias for each class.

    ``parts`` of shape (n_components, n_labeled, n_classes) are the log-odds, ``start`` the means of
    the prior. Newton steps, in which weights stay at 0 where they would become negative.
    """
    n_parts, n_labeled, n_classes = parts.shape
    rows = np.unique(np.linspace(0, n_labeled - 1, MAX_LABELS).astype(np.intp))[:n_labeled]
    parts, gold = parts[:, rows], np.eye(n_classes)[codes[rows]]
    constants = np.broadcast_to(np.eye(n_classes)[:, None], (n_classes, len(gold), n_classes))
    columns = np.concatenate([parts, constants])
    precision = np.repeat([1.0 / PRIOR_VARIANCE, 1.0 / BIAS_VARIANCE], [n_parts, n_classes])
    center = np.append(start, np.zeros(n_classes))

    def posterior(values: np.ndarray) -> tuple[float, np.ndarray]:
        mixed = np.tensordot(values, columns, axes=1)
        potential, expected = soft_maximum(mixed)
        penalty = precision @ (values - center) ** 2 / 2.0
        return float(potential.sum() - np.sum(gold * mixed) + penalty), expected

    values, (value, expected) = center, posterior(center)
    for _ in range(MAX_STEPS):
        slope = np.sum(columns * (expected - gold), axis=(1, 2)) + precision * (values - center)
        is_free = np.append(
            (values[:n_parts] > 0) | (slope[:n_parts] < 0), np.ones(n_classes, bool)
        )
        weighted = (columns * expected)[is_free]
        means = weighted.sum(axis=2)
        flat = columns[is_free].reshape(is_free.sum(), -1)
        hessian = weighted.reshape(flat.shape) @ flat.T - means @ means.T
        step = np.zeros_like(values)
        step[is_free] = np.linalg.solve(hessian + np.diag(precision[is_free]), -slope[is_free])
        length, before = 1.0, value
        while length > TOL:
            tried = values + length * step
            tried[:n_parts] = np.maximum(tried[:n_parts], 0.0)
            value, expected = posterior(tried)
            if value <= before:
                break
            length /= 2.0
        values = tried
        if before - value < TOL * max(1.0, abs(value)):
            break
    return values[:n_parts], values[n_parts:]
