import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from hedgeclipper.grow import grow_trees
from hedgeclipper.leaf_correlations import (
    balanced_vote,
    natural_correlations,
    residual_correlations,
    shift_score,
)
from hedgeclipper.specialists.leaf_rows import LeafArray
from hedgeclipper.specialists.leaves import count_in_leaves, leaf_table, sum_scores

RNG = np.random.default_rng(0)
X = RNG.normal(size=(900, 4)).astype(np.float32)
Y = (X[:, 0] + 0.5 * RNG.normal(size=900) > 0.7).astype(int)
GROWN = grow_trees(
    RandomForestClassifier(20, min_samples_leaf=10),
    X[:300],
    Y[:300],
    None,
    correlations="oob",
    holdout=0.5,
    stratify=True,
    random_state=np.random.RandomState(0),
)
FINDER = GROWN.finder
SEEN, NEW = FINDER.find(X[:300]), FINDER.find(X[300:])
LABELED = GROWN.labeled(SEEN, Y[:300] == 1, None)
VALUES = GROWN.leaf_values(SEEN, 1)
TABLE = leaf_table(FINDER, ["leaves"])


def counts_of(leaves):
    return count_in_leaves(LeafArray(leaves), FINDER.offsets, LABELED.n_leaves)


def test_vote_without_unseen_rows_ranks_as_the_forest():
    vote = balanced_vote(LABELED, VALUES, out_of_bag=0.0)
    ours = sum_scores(NEW, FINDER.offsets, vote.scores)
    theirs = GROWN.model.predict_proba(X[300:])[:, 1]
    np.testing.assert_allclose(np.corrcoef(ours, theirs)[0, 1], 1.0)
    np.testing.assert_array_equal(vote.scores, vote.in_bag)


def test_unseen_vote_is_that_of_trees_without_the_row():
    vote, has_vote = LABELED.unseen_vote(VALUES.values)
    row = int(np.flatnonzero(has_vote)[0])
    trees = np.flatnonzero(GROWN.unseen[:, row])
    shares = [GROWN.model.estimators_[t].predict_proba(X[row : row + 1])[0, 1] for t in trees]
    assert vote[row] == pytest.approx(np.mean(shares))


def test_balanced_weights_give_both_classes_the_same():
    weights = LABELED.balanced
    assert weights[Y[:300] == 1].sum() == pytest.approx(weights[Y[:300] == 0].sum())
    assert weights.sum() == pytest.approx(300)


def test_plug_in_correlations_by_hand():
    counts = np.ones(LABELED.n_leaves)
    says = TABLE.votes(VALUES.plain(), counts)
    b = natural_correlations(LABELED, TABLE, says, "plug_in", 0.05, counts, counts.size)
    leaf = int(SEEN[0, np.flatnonzero(GROWN.unseen[0])[0]])
    judges = GROWN.unseen[0] & (SEEN[0] == leaf)
    side = np.sign(VALUES.plain()[leaf])
    assert b[leaf] == pytest.approx(np.mean(side * LABELED.signs[judges]))
    lowered = natural_correlations(LABELED, TABLE, says, "wilson", 0.05, counts, counts.size)
    assert np.all(lowered <= b + 1e-12)


def test_a_vote_that_is_right_leaves_the_mean_as_it_is():
    vote = balanced_vote(LABELED, VALUES, out_of_bag=0.0)
    says = TABLE.votes(vote.in_bag, np.ones(LABELED.n_leaves))
    mean_vote = RNG.uniform(0, 0.5, LABELED.n_leaves)
    right = type(vote)(vote.in_bag, vote.scores, LABELED.signs, vote.has_vote)
    b = residual_correlations(LABELED, right, TABLE, says, mean_vote)
    np.testing.assert_allclose(b, mean_vote)


def test_shift_score_is_small_by_chance_and_large_for_other_rows():
    moved = FINDER.find(X[300:] + np.float32(1.0))
    assert shift_score(SEEN, counts_of(NEW), FINDER.n_leaves, GROWN.unseen) < 4
    assert shift_score(SEEN, counts_of(NEW[:, :20]), FINDER.n_leaves, GROWN.unseen) < 4
    assert shift_score(SEEN, counts_of(moved), FINDER.n_leaves, GROWN.unseen) > 10
