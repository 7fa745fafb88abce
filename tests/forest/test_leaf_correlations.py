import numpy as np
import pytest
from scipy import stats
from sklearn.ensemble import RandomForestClassifier

from hedgeclipper import ShiftWarning
from hedgeclipper.forest.leaf_correlations import check_shift, label_correlations
from hedgeclipper.forest.leaves import leaf_table
from tests.forest.grown import grow, labeled

RNG = np.random.default_rng(0)
X = RNG.normal(size=(900, 4)).astype(np.float32)
Y = (X[:, 0] + 0.5 * RNG.normal(size=900) > 0.7).astype(int)
GROWN = grow(RandomForestClassifier(20, min_samples_leaf=10), X[:300], Y[:300])
FOREST, FINDER = GROWN.models["forest"], GROWN.finder
SEEN, NEW = FINDER.find(X[:300]), FINDER.find(X[300:])
LABELED = labeled(GROWN, X[:300], Y[:300])
N_LEAVES = int(FINDER.n_leaves.sum())
TABLE = leaf_table(FINDER, ["leaves"])


def test_scores_are_twice_the_proportions_less_one():
    places = FINDER.offsets[:, None] + NEW
    theirs = 2 * FOREST.predict_proba(X[300:])[:, 1] - 1
    np.testing.assert_allclose(LABELED.scores[places].mean(axis=0), theirs)


def test_a_leaf_with_as_much_of_both_classes_has_no_vote():
    """Also of 49 trees: 0.5 / 49 * 49 is not 0.5."""
    grown = grow(RandomForestClassifier(49, max_depth=3), X[:40], Y[:40] ^ 1)
    scores = labeled(grown, X[:40], Y[:40] ^ 1).scores
    np.testing.assert_array_equal(scores == 0, grown.finder.leaf_values[:, 1] == 0.5)
    assert np.any(scores == 0)


def test_scores_of_trees_that_were_fitted_elsewhere_are_centered_on_the_labeled_rows():
    grown = grow(FOREST, X[300:400], Y[300:400])
    scores = labeled(grown, X[300:400], Y[300:400]).scores
    places = FINDER.offsets[:, None] + NEW[:, :100]
    np.testing.assert_allclose(scores[places].mean(axis=1), 0, atol=1e-12)
    own = FINDER.leaf_values[places, 1]
    np.testing.assert_allclose(scores[places], own - own.mean(axis=1, keepdims=True), atol=1e-12)


def test_unseen_vote_is_that_of_trees_without_the_row():
    vote, has_vote = LABELED.unseen_vote(FINDER.leaf_values[:, 1])
    row = int(np.flatnonzero(has_vote)[0])
    trees = np.flatnonzero(GROWN.unseen[:, row])
    proportions = [FOREST.estimators_[t].predict_proba(X[row : row + 1])[0, 1] for t in trees]
    assert vote[row] == pytest.approx(np.mean(proportions))


def unseen_rows():
    """Yield each leaf with the labeled rows in it that its tree has not seen."""
    for tree, n_leaves in enumerate(FINDER.n_leaves):
        for leaf in range(n_leaves):
            yield FINDER.offsets[tree] + leaf, GROWN.unseen[tree] & (SEEN[tree] == leaf)


def test_plug_in_correlations_by_hand():
    votes = TABLE.votes(LABELED.scores)
    b, wilson = (
        label_correlations(LABELED, TABLE, votes, bound, 0.05) for bound in ("plug_in", "wilson")
    )
    for leaf, rows in unseen_rows():
        side, n = np.sign(LABELED.scores[leaf]), int(rows.sum())
        theirs = np.mean(side * LABELED.signs[rows]) if n else -1.0
        assert b[leaf] == pytest.approx(theirs)
        assert wilson[leaf] == pytest.approx(wilson_lower(theirs, n) if n else -1.0)


def wilson_lower(mean, n, delta=0.05):
    """Wilson's lower bound of a proportion by its formula, as a correlation."""
    z, share = stats.norm.isf(delta), (1 + mean) / 2
    center = share + z**2 / (2 * n)
    spread = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return 2 * (center - spread) / (1 + z**2 / n) - 1


def test_shift_score_is_small_for_like_rows_and_large_for_others():
    assert check_shift(GROWN, SEEN, None, 1) == 0.0
    assert check_shift(GROWN, SEEN, X[300:], 1) < 4
    assert check_shift(GROWN, SEEN, X[300:320], 1) < 4
    with pytest.warns(ShiftWarning, match="unlike the labeled ones"):
        assert check_shift(GROWN, SEEN, X[300:] + np.float32(1.0), 1) > 10
