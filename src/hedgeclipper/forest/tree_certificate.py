"""The certificate of a forest: a bound on its error from what the labels tell of whole trees.

A tree is awake on all rows, so that far more labeled rows tell its correlation than a leaf's; the
class balance is one more voter, which always votes +.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from hedgeclipper.bounds.certificate import Certificate, certify
from hedgeclipper.bounds.intervals import transductive_radius, wilson_bounds
from hedgeclipper.forest.leaf_correlations import Labeled, natural_correlations
from hedgeclipper.forest.leaves import LeafBlock, LeafSpecialists, leaf_table, sum_scores
from hedgeclipper.game.equations import Game, WeightTerms
from hedgeclipper.game.losses import absolute_loss
from hedgeclipper.game.setup import LabelCorrelations

MAX_ITER = 12


def tree_certificate(
    labeled: Labeled,
    specialists: LeafSpecialists,
    leaf_scores: np.ndarray,
    offset: float,
    *,
    method: str,
    delta: float,
    is_guarantee: bool,
) -> Certificate:
    """Return a bound on the error of the sign of the summed leaf scores and the offset.

    The method of the bounds on the trees' correlations is "transductive", which holds for all of
    them together with probability 1 - delta, or "wilson".
    """
    n_rows, n_voters = specialists.n_samples, labeled.finder.n_trees + 1
    trees = leaf_table(labeled.finder, ["trees"])
    votes = trees.votes(labeled.scores, np.ones_like(labeled.scores))
    n_awake = np.full(n_voters, float(n_rows))
    b = natural_correlations(labeled, trees, votes, method, delta, n_awake[1:], n_voters)
    balance, width, n_labels = _class_balance(labeled, n_rows, method, delta, n_voters)
    known = LabelCorrelations(
        estimate=np.append(b, balance),
        lower=np.append(b, balance - width),
        upper=np.append(np.ones_like(b), balance + width),
        n_labeled=np.append(labeled.unseen.sum(axis=1).astype(float), n_labels),
        method=method,
        confidence_level=1.0 - delta,
        is_guarantee=is_guarantee,
        n_unlabeled=n_awake,
    )
    # every row is in one leaf of the first tree: a vote of + in all of these is + everywhere
    voters = replace(
        specialists,
        votes=sparse.hstack([votes, trees.awake[:, :1]], format="csr"),
        coverage=np.ones(n_voters),
    )
    none = np.zeros(n_voters)
    terms = WeightTerms(
        edge=known.estimate,
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
        knowledge=known,
        max_iter=MAX_ITER,
        both_ends=False,
    )


def _class_balance(
    labeled: Labeled, n_rows: int, method: str, delta: float, n_compared: int
) -> tuple[float, float, int]:
    """Return the mean label, how far that of the unlabeled rows may be from it, and the count."""
    unseen = labeled.unseen.any(axis=0)
    mean = float(np.average(labeled.signs[unseen], weights=labeled.weights[unseen]))
    count = np.array([float(unseen.sum())])
    if method == "transductive":
        radius = transductive_radius(count, np.array([float(n_rows)]), delta, n_compared)
        return mean, min(2.0, float(radius[0])), int(count[0])
    low, high = wilson_bounds(np.array([mean]), count, delta / 2)
    return mean, float(max(high[0] - mean, mean - low[0])), int(count[0])
