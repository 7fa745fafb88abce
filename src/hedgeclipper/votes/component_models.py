"""Component models of votes, whose log-odds are sums over the votes on a row.

**Naive Bayes, and Dawid and Skene's model.** Each voter has a table of how often it casts a vote
where the true class is another. Naive Bayes counts gold labels alone. In Dawid and Skene's model
class probabilities of the unlabeled rows follow from the tables, and the tables from these
probabilities, in turn (EM); labeled rows count with their labels. In both a voter's accuracy is
shrunk to the mean of the panel, and the frequencies of its votes within each class are shrunk to
that accuracy. Each prior counts as a few votes. For the mean of the panel the votes on a row count
as one, since voters err on the same rows. A voter without a vote has the accuracy of the panel.

**Logistic regression with a ridge.** It alone takes account of voters that err together. Each vote
of a voter is a column of zeros and ones. With more than two classes there is a regression for each
class against the others. The ridge is the one of a few with the least log loss on labeled rows,
each predicted without its own label. That prediction is a Newton step from the regression with all
labels (the approximate leave-one-out of Opper and Winther, 2000), so that nothing is fitted twice.

References
----------
A. P. Dawid and A. M. Skene, Maximum likelihood estimation of observer error-rates using the EM
algorithm, Applied Statistics 28 (1979).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import expit
from threadpoolctl import threadpool_limits

from hedgeclipper.game.losses import soft_maximum
from hedgeclipper.votes.matrix import VoteKernel

PRIOR_ACCURACY, PRIOR_VOTES = 0.7, 4.0
# 2 to 16 votes in the place of these, and strengths estimated from the spread of the voters, gave
# the same accuracy on real votes within its standard error, and less with copies of voters.
VOTES_FOR_ACCURACY, VOTES_FOR_CLASSES = 4.0, 8.0
EM_STEPS, EM_TOL = 50, 1e-3
# ridges are relative to the mean number of votes on a row
RIDGES = (0.5, 0.1, 0.02)
MAX_LABELS_OF_RIDGE = 500
NEWTON_TOL = 0.02


@dataclass(frozen=True, eq=False)
class ComponentModel:
    """Terms that add up to log-odds: one for each class, and one for each vote and class.

    ``classes`` are of shape (n_classes,), ``votes`` (n_voters, n_classes, n_classes), by voter,
    vote and class. ``without_own`` of shape (n_labeled, n_classes) are the log-odds of the labeled
    rows, each computed without its own label.
    """

    classes: np.ndarray
    votes: np.ndarray
    without_own: np.ndarray

    def scores(self, votes: VoteKernel) -> np.ndarray:
        """Return the log-odds of each class for each row, up to a constant."""
        return self.classes + votes.scores(self.votes)

    def mean_size(self, sample: VoteKernel) -> float:
        """Return the root mean square of the centered log-odds on a sample, 0 without rows."""
        scores = self.scores(sample)
        if scores.shape[0] == 0:
            return 0.0
        return float(np.sqrt(np.mean((scores - scores.mean(axis=1, keepdims=True)) ** 2)))

    def scaled(self, sample: VoteKernel, largest: float) -> ComponentModel:
        """Return the same with log-odds centered, and their mean size on a sample limited."""
        classes = self.classes - self.classes.mean()
        votes = self.votes - self.votes.mean(axis=2, keepdims=True)
        size = self.mean_size(sample)
        factor = min(1.0, largest / size) if size > 0 else 1.0
        centered = self.without_own - self.without_own.mean(axis=1, keepdims=True)
        return ComponentModel(factor * classes, factor * votes, factor * centered)


def majority_vote(labeled: VoteKernel, balance: np.ndarray) -> ComponentModel:
    """Return the majority vote: all votes have the prior's accuracy."""
    wrong = (1.0 - PRIOR_ACCURACY) / max(balance.size - 1, 1)
    table = np.log(np.where(np.eye(balance.size, dtype=bool), PRIOR_ACCURACY, wrong))
    log_balance, votes = np.log(balance), np.broadcast_to(table, labeled.shape)
    return ComponentModel(log_balance, votes, log_balance + labeled.scores(votes))


def fit_naive_bayes(labeled: VoteKernel, codes: np.ndarray, balance: np.ndarray) -> ComponentModel:
    """Return the model that counts the labeled rows, whose classes are ``codes``."""
    counts = labeled.sums(np.eye(balance.size)[codes])
    return _ShrunkenCounts(counts, labeled.n_rows).model(balance, labeled, codes)


def fit_dawid_skene(
    unlabeled: VoteKernel,
    labeled: VoteKernel,
    codes: np.ndarray,
    balance: np.ndarray,
    unlabeled_weight: float = 1.0,
    fold: np.ndarray | None = None,
) -> ComponentModel:
    """Return the model of unlabeled rows, and of labeled ones with their classes ``codes``.

    An unlabeled row counts ``unlabeled_weight`` times as much as a labeled one. Labeled rows are
    predicted by models to which the rows of their ``fold`` are unlabeled ones, or, without folds,
    by the same model less what they contribute to its counts. The latter is quick, and optimistic
    where voters are weak or have few votes: a label also decides what the model takes its voters'
    other votes for. (With three votes of such voters on a row, by six points of accuracy.)
    """
    log_balance, classes = np.log(balance), np.eye(balance.size)[codes]

    def fit_to(known: np.ndarray, kernels: list[VoteKernel], n_rows: float) -> _ShrunkenCounts:
        """Return the counts of the model, given those of labels, and the unlabeled rows."""
        found = [soft_maximum(majority_vote(part, balance).without_own)[1] for part in kernels]
        for _ in range(EM_STEPS):
            sums = sum(part.sums(own) for part, own in zip(kernels, found, strict=True))
            counted, before = _ShrunkenCounts(known + unlabeled_weight * sums, n_rows), found
            table = counted.log_frequencies()
            found = [soft_maximum(log_balance + part.scores(table))[1] for part in kernels]
            changes = (
                np.abs(new - old).max(initial=0.0) for new, old in zip(found, before, strict=True)
            )
            if max(changes) < EM_TOL:
                break
        return counted

    known, n_rows = labeled.sums(classes), labeled.n_rows + unlabeled_weight * unlabeled.n_rows
    model = fit_to(known, [unlabeled], n_rows).model(balance, labeled, codes)
    for rows in [] if fold is None else [np.flatnonzero(fold == k) for k in np.unique(fold)]:
        own, n_own = labeled.take(rows), rows.size * (1.0 - unlabeled_weight)
        counted = fit_to(known - own.sums(classes[rows]), [unlabeled, own], n_rows - n_own)
        model.without_own[rows] = log_balance + own.scores(counted.log_frequencies())
    return model


class _ShrunkenCounts:
    """Counts of shape (n_voters, n_classes, n_classes), by voter, vote and class, of some rows."""

    def __init__(self, counts: np.ndarray, n_rows: float):
        self.counts, self.in_class = counts, counts.sum(axis=1)
        self.right, self.total = np.trace(counts, axis1=1, axis2=2), counts.sum(axis=(1, 2))
        self.per_row = max(self.total.sum() / n_rows, 1.0) if n_rows else 1.0

    def log_frequencies(self) -> np.ndarray:
        """Return the logarithm of how often each vote is cast in each class."""
        panel = self._panel(self.right.sum(), self.total.sum())
        accuracy = _shrunk(self.right, self.total, panel)[:, None, None]
        is_own = np.eye(self.counts.shape[1], dtype=bool)
        return _log_frequencies(self.counts, self.in_class[:, None], accuracy, is_own)

    def model(self, balance: np.ndarray, labeled: VoteKernel, codes: np.ndarray) -> ComponentModel:
        """Return the component model, labeled rows without all that they contribute to counts."""
        rows, voters, votes = labeled.votes.triplets()
        is_right, own = votes == codes[rows], np.eye(balance.size)[codes[rows]]
        right = self.right.sum() - np.bincount(rows, is_right, minlength=labeled.n_rows)
        panel = self._panel(right, self.total.sum() - labeled.n_votes)[rows]
        accuracy = _shrunk(self.right[voters] - is_right, self.total[voters] - 1.0, panel)
        is_own = votes[:, None] == np.arange(balance.size)
        left, left_in_class = self.counts[voters, votes] - own, self.in_class[voters] - own
        log_balance = np.log(balance)
        without_own = np.tile(log_balance, (labeled.n_rows, 1))
        terms = _log_frequencies(left, left_in_class, accuracy[:, None], is_own)
        np.add.at(without_own, rows, terms)
        return ComponentModel(log_balance, self.log_frequencies(), without_own)

    def _panel(self, right: np.ndarray, total: np.ndarray) -> np.ndarray:
        """Return the mean accuracy of the panel, a row counting as one vote."""
        prior = PRIOR_ACCURACY * PRIOR_VOTES
        return (right / self.per_row + prior) / (total / self.per_row + PRIOR_VOTES)


def _shrunk(right: np.ndarray, total: np.ndarray, panel: np.ndarray) -> np.ndarray:
    return (right + VOTES_FOR_ACCURACY * panel) / (total + VOTES_FOR_ACCURACY)


def _log_frequencies(
    counts: np.ndarray, in_class: np.ndarray, accuracy: np.ndarray, is_own: np.ndarray
) -> np.ndarray:
    """Return the logarithm of how often votes are cast in each class, the last axis, shrunk.

    ``is_own`` tells where the class is the one voted for.
    """
    wrong = (1.0 - accuracy) / (counts.shape[-1] - 1)
    prior = VOTES_FOR_CLASSES * np.where(is_own, accuracy, wrong)
    return np.log(counts + prior) - np.log(in_class + VOTES_FOR_CLASSES)


# threads of BLAS wait for each other in matrices as small as these
@threadpool_limits.wrap(limits=1, user_api="blas")
def fit_ridge(labeled: VoteKernel, codes: np.ndarray) -> ComponentModel:
    """Return the regression with the best ridge, fitted to 500 labels at most.

    Time grows with the number of classes, and with the third power of that of labels: with more
    than five classes fewer labels are used, so that all regressions take as long as five.
    """
    n_voters, n_classes, _ = labeled.shape
    most = round(MAX_LABELS_OF_RIDGE * min(1.0, 5.0 / n_classes) ** (1.0 / 3.0))
    chosen = np.unique(np.linspace(0, codes.size - 1, most).astype(np.intp))
    scale = 1.0 / np.sqrt(max(labeled.n_votes.mean(), 1.0))
    ones = np.ones((labeled.n_rows, 1))
    columns = sparse.hstack([scale * labeled.cast, ones], format="csr")
    reduced, back = _reduced(columns[chosen])
    targets = np.eye(n_classes)[codes[chosen]]
    # with two classes one regression serves both, half of it for the one and half against the other
    by_class = np.array([[0.5], [-0.5]]) if n_classes == 2 else np.eye(n_classes)
    weights = np.zeros((by_class.shape[1], reduced.shape[1]))
    least = np.inf
    for ridge in RIDGES:
        fits = [_regress(reduced, targets[:, k], ridge, start) for k, start in enumerate(weights)]
        weights, without_own = (np.array(part) for part in zip(*fits, strict=True))
        scores = (by_class @ without_own).T
        loss = float(np.sum(soft_maximum(scores)[0]) - np.sum(targets * scores))
        if loss < least:
            least, best, best_scores = loss, weights, scores
    table = back @ (by_class @ best).T
    scores = np.asarray(columns @ table)
    scores[chosen] = best_scores
    votes = table[:-1].reshape(n_voters, n_classes, n_classes) * scale
    return ComponentModel(table[-1], votes, scores)


def _reduced(columns: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return as few columns as span all of them, and the matrix that turns weights back."""
    is_wide = columns.shape[0] <= columns.shape[1]
    values, vectors = np.linalg.eigh(
        (columns @ columns.T if is_wide else columns.T @ columns).toarray()
    )
    kept = values > 1e-9 * values[-1]
    roots, vectors = np.sqrt(values[kept]), vectors[:, kept]
    if is_wide:
        return vectors * roots, np.asarray(columns.T @ (vectors / roots))
    return np.asarray(columns @ vectors), vectors


def _regress(
    columns: np.ndarray, target: np.ndarray, ridge: float, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of a logistic regression, and scores of rows without their own label."""
    weights = start
    for _ in range(10):
        expected = expit(columns @ weights)
        hessian = _hessian(columns, expected, ridge)
        step = np.linalg.solve(hessian, columns.T @ (target - expected) - ridge * weights)
        weights = weights + step
        if np.abs(columns @ step).max() < NEWTON_TOL:
            break
    scores = columns @ weights
    expected = expit(scores)
    hessian = _hessian(columns, expected, ridge)
    leverage = np.sum(columns * np.linalg.solve(hessian, columns.T).T, axis=1)
    rest = np.maximum(1.0 - leverage * expected * (1.0 - expected), 1e-3)
    return weights, scores - leverage * (target - expected) / rest


def _hessian(columns: np.ndarray, expected: np.ndarray, ridge: float) -> np.ndarray:
    out = (columns * (expected * (1.0 - expected))[:, None]).T @ columns
    out.flat[:: len(out) + 1] += ridge
    return out
