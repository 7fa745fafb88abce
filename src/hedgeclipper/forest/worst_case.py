"""The worst case of a forest: its largest error under any labels that its trees allow.

A tree is awake on all rows, so that far more labeled rows tell its correlation than a leaf's; the
class balance is one more voter, which always votes +. What is known of them are estimates, and so
is the bound.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from hedgeclipper.bounds.certificate import certify
from hedgeclipper.bounds.intervals import wilson_bounds
from hedgeclipper.forest.leaf_correlations import Labeled, label_correlations
from hedgeclipper.forest.leaves import LeafBlock, LeafSpecialists, leaf_table, sum_scores
from hedgeclipper.game.equations import Game, WeightTerms
from hedgeclipper.game.losses import absolute_loss

MAX_ITER = 12


def worst_case_error(
    labeled: Labeled,
    specialists: LeafSpecialists,
    leaf_scores: np.ndarray,
    offset: float,
    delta: float,
) -> float:
    """Return a bound on the error of the sign of the summed leaf scores and the offset.

    ``delta`` is the probability that Wilson's bound on the correlation of a tree fails.
    """
    n_voters = labeled.finder.n_trees + 1
    trees = leaf_table(labeled.finder, ["trees"])
    votes = trees.votes(labeled.scores, np.ones_like(labeled.scores))
    b = label_correlations(labeled, trees, votes, "wilson", delta)
    balance, width = _class_balance(labeled, delta)
    # every row is in one leaf of the first tree: a vote of + in all of these is + everywhere
    voters = replace(
        specialists,
        votes=sparse.hstack([votes, trees.awake[:, :1]], format="csr"),
        coverage=np.ones(n_voters),
    )
    none = np.zeros(n_voters)
    terms = WeightTerms(
        edge=np.append(b, balance),
        width=np.append(none[1:], width),
        curvature=none,
        anchor=none,
        lower=np.append(none[1:], -np.inf),
        upper=np.full(n_voters, np.inf),
    )

    def predict(block: LeafBlock) -> np.ndarray:
        awake = sum_scores(block.leaves, block.offsets, leaf_scores) + offset
        return np.where(awake > 0, 1.0, -1.0)

    return certify(
        Game(voters, terms, absolute_loss(), 1.0),
        predict,
        np.append(np.maximum(b, 0.0) / b.size, 0.0),
        rule="hard",
        knowledge=b,
        max_iter=MAX_ITER,
        both_ends=False,
    ).error_upper


def _class_balance(labeled: Labeled, delta: float) -> tuple[float, float]:
    """Return the mean label, and how far that of the unlabeled rows may be from it."""
    unseen = labeled.unseen.any(axis=0)
    mean = float(np.average(labeled.signs[unseen], weights=labeled.weights[unseen]))
    low, high = wilson_bounds(np.array([mean]), np.array([float(unseen.sum())]), delta / 2)
    return mean, float(max(high[0] - mean, mean - low[0]))
