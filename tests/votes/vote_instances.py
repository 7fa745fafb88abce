"""Small random games of votes, and what the tests compute of them independently."""

from dataclasses import replace

import numpy as np

from hedgeclipper.votes.matrix import VoteKernel, Votes
from hedgeclipper.votes.vote_game import bound_voters


def some_votes(rng, n_rows, n_voters, n_classes, accuracy=0.7, coverage=0.7, truth=None):
    """Truth, and votes that are right that often; -1 abstains."""
    truth = rng.integers(n_classes, size=n_rows) if truth is None else truth
    shape = (n_rows, n_voters)
    wrong = (truth[:, None] + rng.integers(1, n_classes, size=shape)) % n_classes
    votes = np.where(rng.random(shape) < accuracy, truth[:, None], wrong)
    return truth, np.where(rng.random(shape) < coverage, votes, -1)


def votes_of(table, n_classes):
    """Votes for classes 0, 1, ..., whether all of them have votes or not."""
    votes = Votes.of(table)
    return votes.align(votes.voters, np.arange(n_classes), named=False)


def kernel_of(table, n_classes):
    return VoteKernel(votes_of(table, n_classes))


def plug_in_bounds(labeled, codes, unlabeled):
    """Bounds that are the estimates themselves."""
    wide = bound_voters(labeled, codes, unlabeled)
    right = labeled.agreement(np.eye(labeled.n_classes)[codes])
    estimate = right / np.maximum(wide.n_labeled, 1)
    is_known = wide.n_labeled > 0
    lower, upper = np.where(is_known, estimate, 0.0), np.where(is_known, estimate, 1.0)
    return replace(wide, lower=lower, upper=upper)


def instance(
    seed, n_classes=3, n_rows=12, n_voters=3, n_labeled=8, make_bounds=bound_voters, **options
):
    """Votes on unlabeled rows, their truth, and what some labels say."""
    rng = np.random.default_rng(seed)
    truth, table = some_votes(rng, n_rows + n_labeled, n_voters, n_classes)
    table[0] = table[n_labeled] = np.arange(n_voters) % n_classes  # nobody sleeps all the time
    both = kernel_of(table, n_classes)
    labeled, unlabeled = (
        both.take(np.arange(n_labeled)),
        both.take(np.arange(n_labeled, len(table))),
    )
    bounds = make_bounds(labeled, truth[:n_labeled], unlabeled, **options)
    return unlabeled, truth[n_labeled:], bounds


def features(kernel, n_used):
    """f as a matrix, (n_rows * n_classes, n_weights): what weights add to scores."""
    units = np.eye(n_used)
    return np.stack([kernel.weighted(unit).ravel() for unit in units], axis=1)


def constraints(kernel, bounds):
    """A z <= b for labels z within bounds, and E z = 1, all rows behind each other."""
    f = features(kernel, bounds.is_used.size)[:, bounds.is_used].T / kernel.n_rows
    centers, widths = (part[bounds.is_used] for part in (bounds.centers, bounds.widths))
    simplex = np.kron(np.eye(kernel.n_rows), np.ones(kernel.n_classes))
    return np.vstack([f, -f]), np.r_[centers + widths, widths - centers], simplex
