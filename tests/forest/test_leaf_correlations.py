import numpy as np
import pytest
from scipy import stats
from sklearn.ensemble import RandomForestClassifier

from hedgeclipper import ShiftWarning
from hedgeclipper.bounds.intervals import transductive_radius
from hedgeclipper.forest.growing import grow_trees
from hedgeclipper.forest.leaf_correlations import (
    balanced_vote,
    check_shift,
    natural_correlations,
    residual_correlations,
)
from hedgeclipper.forest.leaf_rows import LeafArray
from hedgeclipper.forest.leaves import count_in_leaves, leaf_table, sum_scores

RNG = np.random.default_rng(0)
X = RNG.normal(size=(900, 4)).astype(np.float32)
Y = (X[:, 0] + 0.5 * RNG.normal(size=900) > 0.7).astype(int)
GROWN = grow_trees(
    RandomForestClassifier(20, min_samples_leaf=10),
    X[:300],
    Y[:300],
    None,
    holdout=None,
    stratify=True,
    random_state=np.random.RandomState(0),
)
FINDER = GROWN.finder
SEEN, NEW = FINDER.find(X[:300]), FINDER.find(X[300:])
LABELED = GROWN.labeled(SEEN, Y[:300], None, 1)
N_LEAVES = int(FINDER.n_leaves.sum())
TABLE = leaf_table(FINDER, ["leaves"])


def counts_of(leaves):
    return count_in_leaves(LeafArray(leaves), FINDER)


def test_vote_without_unseen_rows_ranks_as_the_forest():
    vote = balanced_vote(LABELED, out_of_bag=0.0)
    ours = sum_scores(NEW, FINDER.offsets, vote.scores)
    theirs = GROWN.model.predict_proba(X[300:])[:, 1]
    np.testing.assert_allclose(np.corrcoef(ours, theirs)[0, 1], 1.0)
    np.testing.assert_array_equal(vote.scores, vote.in_bag)


def test_unseen_vote_is_that_of_trees_without_the_row():
    vote, has_vote = LABELED.unseen_vote(LABELED.values)
    row = int(np.flatnonzero(has_vote)[0])
    trees = np.flatnonzero(GROWN.unseen[:, row])
    proportions = [GROWN.model.estimators_[t].predict_proba(X[row : row + 1])[0, 1] for t in trees]
    assert vote[row] == pytest.approx(np.mean(proportions))


def test_balanced_weights_give_both_classes_the_same():
    weights = LABELED.balanced
    assert weights[Y[:300] == 1].sum() == pytest.approx(weights[Y[:300] == 0].sum())
    assert weights.sum() == pytest.approx(300)


def unseen_rows():
    """Yield each leaf with the labeled rows in it that its tree has not seen."""
    for tree, n_leaves in enumerate(FINDER.n_leaves):
        for leaf in range(n_leaves):
            yield FINDER.offsets[tree] + leaf, GROWN.unseen[tree] & (SEEN[tree] == leaf)


def test_plug_in_correlations_by_hand():
    counts = np.full(N_LEAVES, 50.0)
    votes = TABLE.votes(LABELED.scores, counts)
    b, wilson, transductive = (
        natural_correlations(LABELED, TABLE, votes, bound, 0.05, counts, counts.size)
        for bound in ("plug_in", "wilson", "transductive")
    )
    for leaf, rows in unseen_rows():
        side, n = np.sign(LABELED.scores[leaf]), int(rows.sum())
        theirs = np.mean(side * LABELED.signs[rows]) if n else -1.0
        assert b[leaf] == pytest.approx(theirs)
        assert wilson[leaf] == pytest.approx(wilson_lower(theirs, n) if n else -1.0)
        radius = transductive_radius(np.array([max(n, 1)]), counts[:1], 0.05, counts.size)[0]
        assert transductive[leaf] == pytest.approx(max(theirs - radius, -1.0) if n else -1.0)


def wilson_lower(mean, n, delta=0.05):
    """Wilson's lower bound of a proportion by its formula, as a correlation."""
    z, share = stats.norm.isf(delta), (1 + mean) / 2
    center = share + z**2 / (2 * n)
    spread = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return 2 * (center - spread) / (1 + z**2 / n) - 1


def test_residual_correlations_by_hand():
    """The vote's mean plus the labels' residual in the leaf, shrunk as by four rows without one."""
    vote = balanced_vote(LABELED, out_of_bag=0.5)
    votes = TABLE.votes(vote.in_bag, np.ones(N_LEAVES))
    mean_vote = np.random.default_rng(1).uniform(-0.5, 0.5, N_LEAVES)
    b = residual_correlations(LABELED, vote, TABLE, votes, mean_vote)
    weights = LABELED.balanced * vote.has_vote
    for leaf, rows in unseen_rows():
        side = np.sign(vote.in_bag[leaf])
        residual = np.sum(weights[rows] * side * (LABELED.signs - vote.on_labeled)[rows])
        theirs = mean_vote[leaf] + residual / (weights[rows].sum() + 4.0)
        assert b[leaf] == pytest.approx(np.clip(theirs, -1, 1))


def test_a_vote_that_is_right_leaves_the_mean_as_it_is():
    vote = balanced_vote(LABELED, out_of_bag=0.0)
    votes = TABLE.votes(vote.in_bag, np.ones(N_LEAVES))
    mean_vote = RNG.uniform(0, 0.5, N_LEAVES)
    right = type(vote)(vote.in_bag, vote.scores, LABELED.signs, vote.has_vote)
    b = residual_correlations(LABELED, right, TABLE, votes, mean_vote)
    np.testing.assert_allclose(b, mean_vote)


def test_shift_score_is_small_for_like_rows_and_large_for_others():
    moved = FINDER.find(X[300:] + np.float32(1.0))
    assert check_shift(LABELED, counts_of(NEW)) < 4
    assert check_shift(LABELED, counts_of(NEW[:, :20])) < 4
    with pytest.warns(ShiftWarning, match="unlike the labeled ones"):
        assert check_shift(LABELED, counts_of(moved)) > 10
