import numpy as np
import pytest
from scipy import stats
from sklearn.ensemble import RandomForestClassifier

from hedgeclipper.forest.leaf_rows import LeafBlocks
from hedgeclipper.forest.leaves import (
    LeafPredictor,
    LeafSpecialists,
    count_in_leaves,
    label_correlations,
    leaf_table,
)
from hedgeclipper.forest.trees import leaf_finder
from hedgeclipper.game.losses import resolve_loss
from tests.forest.grown import grow, labeled

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4)).astype(np.float32)
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
FOREST = RandomForestClassifier(5, min_samples_leaf=20, random_state=0).fit(X, Y)
FINDER = leaf_finder(FOREST)
LEAVES = FINDER.find(X)
N_LEAVES = int(FINDER.n_leaves.sum())


def dense_matrix(table, votes):
    """The awake votes (rows x specialists), spelled out."""
    where = np.zeros((300, N_LEAVES))
    for tree, offset in enumerate(FINDER.offsets):
        where[np.arange(300), offset + LEAVES[tree].astype(int)] = 1
    return where @ votes.toarray()


@pytest.mark.parametrize("kinds", [["leaves"], ["trees"], ["trees", "leaves"]])
def test_blocks_act_like_the_matrix(kinds):
    table = leaf_table(FINDER, kinds)
    counts = count_in_leaves(LeafBlocks([LEAVES]), FINDER)
    votes = table.votes(RNG.normal(size=N_LEAVES))
    coverage = table.sum_leaves(counts) / 300
    specialists = LeafSpecialists(LeafBlocks([LEAVES]), FINDER.offsets, votes, coverage)
    matrix = dense_matrix(table, votes)
    theta, z = RNG.random(votes.shape[1]), RNG.choice([-1.0, 0.0, 0.5], 300)
    (block,) = specialists.blocks()
    np.testing.assert_allclose(block @ theta, matrix @ theta)
    np.testing.assert_allclose(z @ block, z @ matrix)
    np.testing.assert_allclose(block[7:20] @ theta, matrix[7:20] @ theta)
    np.testing.assert_allclose(specialists.coverage, np.abs(matrix).mean(axis=0))


@pytest.mark.parametrize("are_hard", [True, False])
def test_leaves_and_trees_vote_as_the_leaf_of_a_row_does(are_hard):
    table = leaf_table(FINDER, ["leaves", "trees"])
    scores = RNG.normal(size=N_LEAVES)
    votes = table.votes(scores, are_hard=are_hard).toarray()
    own = np.sign(scores) if are_hard else scores
    np.testing.assert_array_equal(votes[:, :N_LEAVES], np.diag(own))
    of_trees = votes[:, N_LEAVES:]
    np.testing.assert_array_equal(np.count_nonzero(of_trees, axis=1), 1)
    np.testing.assert_array_equal(of_trees.sum(axis=1), own)


def test_thinned_and_threads():
    table = leaf_table(FINDER, ["leaves"])
    votes = table.votes(np.ones(N_LEAVES))
    many = np.tile(LEAVES, (1, 200))
    scores = RNG.normal(size=N_LEAVES)
    whole = LeafSpecialists(LeafBlocks([many]), FINDER.offsets, votes, np.ones(N_LEAVES))
    assert 950 <= whole.thinned(60).n_samples <= 1050
    few = LeafSpecialists(LeafBlocks([LEAVES]), FINDER.offsets, votes, np.ones(N_LEAVES))
    assert few.thinned(7).n_samples == 43
    threaded = LeafSpecialists(
        LeafBlocks([many]), FINDER.offsets, votes, np.ones(N_LEAVES), n_jobs=2
    )

    def first_row(block):
        return [float((block @ scores)[0])]

    sums = [specialists.sum_blocks(first_row) for specialists in (whole, threaded)]
    assert sums[0] == sums[1]
    assert len(set(sums[0])) > 2


def predictor(n_games=1, loss="square"):
    return LeafPredictor(None, np.zeros((0, n_games)), resolve_loss(loss))


@pytest.mark.parametrize("loss", ["square", "log", "zero_one"])
def test_sign_probability_and_class_agree_for_one_game(loss):
    one = predictor(loss=loss)
    raw = np.linspace(-3, 3, 601)[:, None] + one.offset
    probability = one.probabilities(raw)[:, 1]
    np.testing.assert_array_equal(one.classes(raw), (raw[:, 0] > 0).astype(int))
    clear = np.abs(raw[:, 0]) > 1e-9
    np.testing.assert_array_equal((probability > 0.5)[clear], (raw[:, 0] > 0)[clear])
    assert np.all(np.diff(probability) >= 0)
    np.testing.assert_array_equal(one.decision(raw), raw[:, 0])


def test_several_games_are_normalized_and_the_largest_wins():
    three = predictor(3)
    awake = np.array([[0.5, -0.2, 0.1], [-0.9, -0.8, 0.2]])
    probabilities = three.probabilities(awake)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert three.classes(awake).tolist() == probabilities.argmax(axis=1).tolist() == [0, 2]
    assert three.decision(awake).argmax(axis=1).tolist() == [0, 2]


# What labels tell of the leaves.

ROWS = np.random.default_rng(0).normal(size=(900, 4)).astype(np.float32)
LABELS = (ROWS[:, 0] + 0.5 * np.random.default_rng(1).normal(size=900) > 0.7).astype(int)
GROWN = grow(RandomForestClassifier(20, min_samples_leaf=10), ROWS[:300], LABELS[:300])
GROWN_FOREST, GROWN_TABLE = GROWN.models["forest"], leaf_table(GROWN.finder, ["leaves"])
LABELED = labeled(GROWN, LABELS[:300])


def test_scores_are_twice_the_proportions_less_one():
    places = GROWN.finder.offsets[:, None] + GROWN.finder.find(ROWS[300:])
    theirs = 2 * GROWN_FOREST.predict_proba(ROWS[300:])[:, 1] - 1
    np.testing.assert_allclose(LABELED.scores[places].mean(axis=0), theirs)


def test_a_leaf_with_as_much_of_both_classes_has_no_vote():
    """Also of 49 trees: 0.5 / 49 * 49 is not 0.5."""
    grown = grow(RandomForestClassifier(49, max_depth=3), ROWS[:40], LABELS[:40] ^ 1)
    scores = labeled(grown, LABELS[:40] ^ 1).scores
    np.testing.assert_array_equal(scores == 0, grown.finder.leaf_values[:, 1] == 0.5)
    assert np.any(scores == 0)


def test_scores_of_trees_that_were_fitted_elsewhere_are_centered_on_the_labeled_rows():
    grown = grow(GROWN_FOREST, ROWS[300:400], LABELS[300:400])
    scores = labeled(grown, LABELS[300:400]).scores
    places = GROWN.finder.offsets[:, None] + GROWN.finder.find(ROWS[300:])[:, :100]
    np.testing.assert_allclose(scores[places].mean(axis=1), 0, atol=1e-12)
    own = GROWN.finder.leaf_values[places, 1]
    np.testing.assert_allclose(scores[places], own - own.mean(axis=1, keepdims=True), atol=1e-12)


def test_unseen_vote_is_that_of_trees_without_the_row():
    vote, has_vote = LABELED.unseen_vote(GROWN.finder.leaf_values[:, 1])
    row = int(np.flatnonzero(has_vote)[0])
    trees = np.flatnonzero(GROWN.unseen[:, row])
    proportions = [
        GROWN_FOREST.estimators_[t].predict_proba(ROWS[row : row + 1])[0, 1] for t in trees
    ]
    assert vote[row] == pytest.approx(np.mean(proportions))


def unseen_rows():
    """Yield each leaf with the labeled rows in it that its tree has not seen."""
    for tree, n_leaves in enumerate(GROWN.finder.n_leaves):
        for leaf in range(n_leaves):
            yield (
                GROWN.finder.offsets[tree] + leaf,
                GROWN.unseen[tree] & (GROWN.leaves[tree] == leaf),
            )


def test_plug_in_correlations_by_hand():
    votes = GROWN_TABLE.votes(LABELED.scores)
    b, wilson = (
        label_correlations(LABELED, GROWN_TABLE, votes, bound, 0.05)
        for bound in ("plug_in", "wilson")
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
