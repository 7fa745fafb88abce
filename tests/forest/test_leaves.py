import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from hedgeclipper.forest.leaf_rows import LeafArray
from hedgeclipper.forest.leaves import LeafPredictor, LeafSpecialists, count_in_leaves, leaf_table
from hedgeclipper.forest.trees import leaf_finder
from hedgeclipper.game.losses import cost_weighted_loss, resolve_loss

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


@pytest.mark.parametrize("kinds", [["leaves"], ["nodes"], ["trees"], ["trees", "leaves"]])
def test_blocks_act_like_the_matrix(kinds):
    table = leaf_table(FINDER, kinds)
    counts = count_in_leaves(LeafArray(LEAVES), FINDER)
    votes = table.votes(RNG.normal(size=N_LEAVES), counts)
    coverage = table.sum_leaves(counts) / 300
    specialists = LeafSpecialists(LeafArray(LEAVES), FINDER.offsets, votes, coverage)
    matrix = dense_matrix(table, votes)
    theta, z = RNG.random(votes.shape[1]), RNG.choice([-1.0, 0.0, 0.5], 300)
    (block,) = specialists.blocks()
    np.testing.assert_allclose(block @ theta, matrix @ theta)
    np.testing.assert_allclose(z @ block, z @ matrix)
    np.testing.assert_allclose(block[7:20] @ theta, matrix[7:20] @ theta)
    np.testing.assert_allclose(specialists.coverage, np.abs(matrix).mean(axis=0))


def test_votes_of_leaves_nodes_and_trees():
    table = leaf_table(FINDER, ["nodes", "trees"])
    scores, counts = RNG.normal(size=N_LEAVES), np.ones(N_LEAVES)
    votes = table.votes(scores, counts).toarray()
    is_leaf = table.own_leaf >= 0
    own = table.own_leaf[is_leaf]
    np.testing.assert_array_equal(votes[own, np.flatnonzero(is_leaf)], np.sign(scores[own]))
    for tree in np.flatnonzero(table.is_tree):
        inside = votes[:, tree] != 0
        np.testing.assert_array_equal(votes[inside, tree], np.sign(scores[inside]))
    inner = np.flatnonzero(~is_leaf & ~table.is_tree)
    for node in inner:
        assert np.unique(votes[votes[:, node] != 0, node]).size == 1


def test_nodes_are_nested_and_leave_out_the_roots():
    table = leaf_table(FINDER, ["nodes"])
    n_nodes = sum(tree.tree_.node_count for tree in FOREST.estimators_)
    assert table.awake.shape == (N_LEAVES, n_nodes - 5)
    depths = [tree.decision_path(X[:1]).sum() - 1 for tree in FOREST.estimators_]
    rows = FINDER.offsets + LEAVES[:, 0]
    assert table.awake[rows].sum() == sum(depths)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_nodes_of_boosters_are_nested_too(library):
    """A leaf is awake in itself and in the nodes above it: its depth, as the booster counts it."""
    module = pytest.importorskip(library)
    if library == "lightgbm":
        model = module.LGBMClassifier(n_estimators=3, verbose=-1).fit(X, Y)
        frame = model.booster_.trees_to_dataframe()
        is_leaf = frame["node_index"].str.contains("L")
        theirs = frame["node_depth"][is_leaf].sort_values().to_numpy() - 1
    else:
        model = module.XGBClassifier(n_estimators=3).fit(X, Y)
        theirs = np.sort([line.count("\t") for line in leaf_lines(model)])
    finder = leaf_finder(model)
    table = leaf_table(finder, ["nodes"])
    np.testing.assert_array_equal(np.sort(table.awake.sum(axis=1)), theirs)
    assert np.sum(table.own_leaf >= 0) == finder.n_leaves.sum()


def leaf_lines(model):
    """Lines of the leaves in XGBoost's own text, which indents them by their depth."""
    lines = "".join(model.get_booster().get_dump()).splitlines()
    return [line for line in lines if "leaf=" in line]


def test_thinned_and_threads():
    table = leaf_table(FINDER, ["leaves"])
    votes = table.votes(np.ones(N_LEAVES), np.ones(N_LEAVES))
    many = np.tile(LEAVES, (1, 200))
    scores = RNG.normal(size=N_LEAVES)
    whole = LeafSpecialists(LeafArray(many), FINDER.offsets, votes, np.ones(N_LEAVES))
    assert 950 <= whole.thinned(60).n_samples <= 1050
    few = LeafSpecialists(LeafArray(LEAVES), FINDER.offsets, votes, np.ones(N_LEAVES))
    assert few.thinned(7).n_samples == 43
    threaded = LeafSpecialists(LeafArray(many), FINDER.offsets, votes, np.ones(N_LEAVES), n_jobs=2)

    def first_row(block):
        return [float((block @ scores)[0])]

    sums = [specialists.sum_blocks(first_row) for specialists in (whole, threaded)]
    assert sums[0] == sums[1]
    assert len(set(sums[0])) > 2


def predictor(n_games=1, loss="square"):
    return LeafPredictor(None, np.zeros((0, n_games)), resolve_loss(loss))


@pytest.mark.parametrize("loss", ["square", "log", "zero_one", cost_weighted_loss(3.0, 1.0)])
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
