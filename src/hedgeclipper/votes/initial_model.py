"""The initial model: the prediction before the game, a mixture of four component models.

Dawid-Skene, the majority vote, naive Bayes and a logistic regression with a ridge each predict
log-odds that are sums over the votes on a row. The first two rest on how voters agree, and hold
with few labels; the others rest on labels, and the last one takes account of voters that err
together. Log-odds of many votes are overconfident, so each component is scaled down to a moderate
mean size. The mixture weights, never negative, and a term for each class are fitted to the gold
labels, each predicted without itself, by a logistic regression with a prior. The terms of the
classes make up for class frequencies that few labels, or voters that prefer a class, get wrong. The
prior trusts labels as far as voters have labels: of a thousand workers with a label each agreement
tells more, of a few voters labels do. As far as Dawid-Skene's log-odds fall short of the moderate
size the majority vote is trusted, too: of voters that only ever vote for one class Dawid-Skene
learns next to nothing.

What the labels say of the mixture is found over ten folds of them: weights and terms are fitted
again without a fold, and its rows are predicted by these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from hedgeclipper.game.losses import soft_maximum
from hedgeclipper.game.solvers import minimize_by_newton
from hedgeclipper.votes.component_models import (
    ComponentModel,
    fit_dawid_skene,
    fit_naive_bayes,
    fit_ridge,
    majority_vote,
)
from hedgeclipper.votes.labeled_votes import (
    Evidence,
    cautious_frequencies,
    class_frequencies,
)
from hedgeclipper.votes.matrix import VoteKernel, split_weights

# Chosen with 20 and 100 labels on some 60 sets of votes: the real ones, subsets of their voters,
# generated crowds and panels, and classifiers of few rows of tables. In the mean of any of these
# kinds 100 votes of agreement up to any number, 5 to 15 labels of a voter, variances of 0.05 to 0.2
# and sizes of 2 to 3 differ by less than a point of accuracy, most of them by less than 0.2. Trust
# in the majority vote where Dawid-Skene says little: +0.9 ± 0.3 points on 16 generated panels of
# voters for one class each with 20 labels, and within 0.1 points of nothing elsewhere. Terms of the
# classes: +0.4 points on generated crowds with 20 labels, which come from unequal classes, and
# within 0.1 points of nothing on real votes. Folds in the place of the counts less a row's own:
# +0.1 points and -0.005 log loss on the former, -0.1 to -0.2 points on the latter, and an estimate
# of the error without bias. Class frequencies by EM, with abstentions as one more vote, bring up to
# a point more on generated crowds, and cost one to three on real votes.
VOTES_OF_AGREEMENT = 300.0
LABELS_FOR_HALF_TRUST = 10.0
PRIOR_VARIANCE = 0.1
MEAN_SIZE = 2.0


@dataclass(frozen=True, eq=False)
class VoteModel:
    """From votes to probabilities: the mixture, before the game has moved it and after.

    ``log_balance`` are the logarithms of the class frequencies, which rows without votes get.
    Log-odds of other rows are sums of ``classes``, a term for each class, and of ``votes``, terms
    by voter, vote and class.
    """

    log_balance: np.ndarray
    classes: np.ndarray
    votes: np.ndarray

    def log_probabilities(self, votes: VoteKernel) -> np.ndarray:
        """Return the logarithm of the probability of each class for each row."""
        scores = votes.scores(self.votes)
        scores += self.classes
        scores[votes.n_votes == 0] = self.log_balance
        scores -= soft_maximum(scores)[0][:, None]
        return scores

    def probabilities(self, votes: VoteKernel) -> np.ndarray:
        """Return the probability of each class for each row."""
        out = np.empty((votes.n_rows, votes.n_classes), order="F")
        for rows, block in votes.blocks():
            out[rows] = np.exp(self.log_probabilities(block))
        return out

    def moved(self, theta: np.ndarray) -> VoteModel:
        """Return the model with weights of the game added to its terms."""
        voters, votes, classes = split_weights(theta, *self.votes.shape[:2])
        table, each = self.votes.copy(), np.arange(classes.size)
        table[:, each, each] += voters[:, None] + votes
        return VoteModel(self.log_balance, self.classes + classes, table)

    def check_arrays(self) -> None:
        """Raise unless all numbers that predictions are made of are finite, and add up."""
        if not all(np.isfinite(part).all() for part in vars(self).values()):
            raise ValueError("its weights are not finite")
        if not np.isclose(np.exp(self.log_balance).sum(), 1.0):
            raise ValueError("its class frequencies do not add up to 1")


def fit_initial_model(evidence: Evidence) -> tuple[VoteModel, np.ndarray]:
    """Return the mixture, and log-probabilities of the labeled rows.

    In these, components are fitted without the label of the row itself, and their weights without
    those of its fold.
    """
    labeled, codes, log_balance = evidence.labeled, evidence.codes, np.log(evidence.balance)
    sample, is_known = evidence.searched, evidence.is_balance_known
    fold = np.random.default_rng(0).permutation(codes.size) % 10
    found = [part.scaled(sample, MEAN_SIZE) for part in _fit_components(evidence, fold)]
    n_labels = labeled.n_votes.sum() / evidence.n_active
    covered = sample.take(np.flatnonzero(sample.n_votes > 0))
    prior = _prior_weights(n_labels, found[0].mean_size(covered))
    voted = labeled.n_votes > 0
    parts = np.array([part.without_own for part in found])
    weights, own = _fit_weights(parts[:, voted], codes[voted], prior, is_known)
    classes = own + sum(w * part.classes for w, part in zip(weights, found, strict=True))
    votes = sum(w * part.votes for w, part in zip(weights, found, strict=True))
    mixed = np.empty_like(parts[0])
    for k in np.unique(fold):
        others = voted & (fold != k)
        weights, own = _fit_weights(parts[:, others], codes[others], prior, is_known)
        mixed[fold == k] = np.tensordot(weights, parts[:, fold == k], axes=1) + own
    if not is_known:
        log_balance = _balance_without_folds(evidence, fold, partial(class_frequencies, "labeled"))
    mixed = np.where(voted[:, None], mixed, log_balance)
    model = VoteModel(np.log(evidence.balance), classes, votes)
    return model, mixed - soft_maximum(mixed)[0][:, None]


def _balance_without_folds(
    evidence: Evidence, fold: np.ndarray, frequencies: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Return logarithms of class frequencies for each labeled row, without the labels of its fold.

    Few labels that decide ties of votes by their own class frequencies would flatter them.
    """
    classes = np.eye(evidence.balance.size)[evidence.codes]
    out, counts = np.empty(classes.shape), classes.sum(axis=0)
    for k in np.unique(fold):
        out[fold == k] = np.log(frequencies(counts - classes[fold == k].sum(axis=0)))
    return out


def _prior_weights(n_labels: float, size: float) -> np.ndarray:
    """Return the means of the prior, in the order of `_fit_components`.

    ``n_labels`` are the labels that a voter has on average, ``size`` is the mean size of
    Dawid-Skene's log-odds.
    """
    by_labels = n_labels / (n_labels + LABELS_FOR_HALF_TRUST)
    by_agreement, lack = 1.0 - by_labels, max(0.0, 1.0 - size / MEAN_SIZE)
    return np.array([by_agreement, lack * by_agreement, by_labels / 2.0, by_labels / 2.0])


def _fit_components(evidence: Evidence, fold: np.ndarray) -> list[ComponentModel]:
    """Return the component models; ``fold`` has the numbers of folds of the labels."""
    labeled, codes, balance = evidence.labeled, evidence.codes, evidence.cautious_balance
    # voters that err together make agreement less certain than the number of rows says
    n_votes = evidence.sample.n_votes.sum() / evidence.n_active
    unlabeled_weight = VOTES_OF_AGREEMENT / (VOTES_OF_AGREEMENT + n_votes)
    # of so many votes a label has little part, and ten more models would take seconds
    is_large = evidence.sample.n_votes.sum() * balance.size > 500_000
    folds = None if is_large else fold
    with_balance = [
        fit_dawid_skene(evidence.sample, labeled, codes, balance, unlabeled_weight, folds),
        majority_vote(labeled, balance),
        fit_naive_bayes(labeled, codes, balance),
    ]
    if not evidence.is_balance_known:
        change = _balance_without_folds(evidence, fold, cautious_frequencies) - np.log(balance)
        with_balance = [
            replace(part, without_own=part.without_own + change) for part in with_balance
        ]
    return [*with_balance, fit_ridge(labeled, codes)]


# as in the game, BLAS is faster with one thread
@threadpool_limits.wrap(limits=1, user_api="blas")
def _fit_weights(
    parts: np.ndarray, codes: np.ndarray, start: np.ndarray, is_balance_known: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mixture weights and the terms of the classes with the largest posterior.

    ``parts`` of shape (n_components, n_labeled, n_classes) are the log-odds, ``start`` the means of
    the prior of the weights; that of the terms is around 0, where they stay if the class
    frequencies are known.
    """
    n_parts, n_labeled, n_classes = parts.shape
    # so few numbers need no more labels than these
    rows = np.unique(np.linspace(0, n_labeled - 1, 5_000).astype(np.intp))[:n_labeled]
    parts, gold = parts[:, rows], np.eye(n_classes)[codes[rows]]
    flat, start = parts.reshape(n_parts, -1), np.append(start, np.zeros(n_classes))
    is_class = np.arange(start.size) >= n_parts

    def posterior(values: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        mixed = np.tensordot(values[:n_parts], parts, axes=1) + values[n_parts:]
        potential, expected = soft_maximum(mixed)
        penalty = np.sum((values - start) ** 2) / (2.0 * PRIOR_VARIANCE)
        excess, weighted = expected - gold, parts * expected
        slope = np.append(flat @ excess.ravel(), excess.sum(axis=0))
        slope += (values - start) / PRIOR_VARIANCE
        means = weighted.sum(axis=2)
        cross = weighted.sum(axis=1) - means @ expected
        hessian = np.block(
            [
                [weighted.reshape(flat.shape) @ flat.T - means @ means.T, cross],
                [cross.T, np.diag(expected.sum(axis=0)) - expected.T @ expected],
            ]
        )
        hessian.flat[:: len(hessian) + 1] += 1.0 / PRIOR_VARIANCE
        return float(potential.sum() - np.sum(gold * mixed) + penalty), slope, hessian

    lower, is_fixed = np.where(is_class, -np.inf, 0.0), is_class & is_balance_known
    values = minimize_by_newton(posterior, start, lower=lower, is_fixed=is_fixed)
    return values[:n_parts], values[n_parts:]
