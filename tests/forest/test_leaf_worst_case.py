import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import norm
from sklearn.ensemble import RandomForestClassifier

from hedgeclipper.forest.leaf_rows import LeafBlocks
from hedgeclipper.forest.leaves import LeafSpecialists, leaf_table, worst_case_error
from tests.forest.grown import grow, labeled

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4)).astype(np.float32)
Y = (X[:, 0] + 0.3 * RNG.normal(size=400) > 0.3).astype(int)


def wilson(mean, n, delta):
    """Wilson's bounds on a mean of -1 and 1 from n rows."""
    z, share = norm.isf(delta), (1 + mean) / 2
    center, spread = share + z**2 / (2 * n), z * np.sqrt(share * (1 - share) / n + (z / n) ** 2 / 4)
    return tuple(2 * (center + side * spread) / (1 + z**2 / n) - 1 for side in (-1, 1))


def forest_of(n_labeled=300, n_trees=5):
    """Trees grown on labeled rows, and as voters on the others."""
    model = RandomForestClassifier(n_trees, max_leaf_nodes=6)
    rows, y = X[:n_labeled], Y[:n_labeled]
    grown = grow(model, rows, y)
    known = labeled(grown, y)
    leaves = LeafBlocks([grown.finder.find(X[n_labeled:])])
    trees = leaf_table(grown.finder, ["trees"])
    votes = trees.votes(known.scores)
    return grown, known, LeafSpecialists(leaves, grown.finder.offsets, votes, np.ones(n_trees))


@pytest.mark.parametrize("offset", [0.0, 0.4])
def test_it_is_the_largest_error_that_the_trees_allow(offset):
    """A linear program over labels z in [-1, 1]: Wilson's bounds on trees and class balance."""
    grown, known, voters = forest_of()
    scores = known.scores / 5
    ours = worst_case_error(known, voters, scores, offset, delta=0.05)
    signs = 2.0 * Y[:300] - 1
    sums = grown.finder.offsets[:, None] + grown.finder.find(X[300:])
    rule = np.where(scores[sums].sum(axis=0) + offset > 0, 1.0, -1.0)
    rows, limits = [], []
    for number, tree in enumerate(grown.models["forest"].estimators_):
        seen = grown.unseen[number]
        right = signs * np.sign(tree.predict_proba(X[:300])[:, 1] - 0.5)
        rows.append(-np.sign(tree.predict_proba(X[300:])[:, 1] - 0.5) / 100)
        limits.append(-wilson(right[seen].mean(), seen.sum(), 0.05)[0])
    any_unseen = grown.unseen.any(axis=0)
    mean = signs[any_unseen].mean()
    low, high = wilson(mean, any_unseen.sum(), 0.025)
    width = max(high - mean, mean - low)
    rows += [np.full(100, 0.01), np.full(100, -0.01)]
    limits += [mean + width, width - mean]
    worst = linprog(rule / 100, np.array(rows), np.array(limits), bounds=(-1, 1))
    theirs = (1 - worst.fun) / 2
    assert theirs - 1e-6 <= ours <= theirs + 0.05  # twelve passes come so near
    assert np.mean(rule != 2 * Y[300:] - 1) <= ours


def test_more_labels_and_a_larger_delta_tell_more():
    bounds = []
    for n_labeled in (60, 300):
        _, known, voters = forest_of(n_labeled)
        bounds += [worst_case_error(known, voters, known.scores, 0.0, d) for d in (0.01, 0.2)]
    assert bounds[0] > bounds[1]
    assert bounds[2] > bounds[3]
    assert bounds[0] > bounds[2]
