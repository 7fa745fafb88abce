import numpy as np
import pytest
from hedgeclipper.base.weighing import panel_scores
from hedgeclipper.forest.groups import STRENGTHS, GroupScorer, choose_strength, shrink, weigh_groups
from hedgeclipper.forest.growing import Ensemble
from hedgeclipper.forest.trees import TreeNodes, leaf_finder
from hedgeclipper.forest.views import ViewedTrees
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.metrics import log_loss

from tests.forest.grown import grow, scored

X, Y = make_classification(700, 6, n_informative=4, flip_y=0.1, random_state=0)
X = X.astype(np.float32)
THREE = Y + (X[:, 0] > 0.5)
L, NEW = slice(0, 200), slice(200, 700)
VIEW = PCA(3).fit(X)
ENSEMBLES = [
    Ensemble("forest", RandomForestClassifier(6)),
    Ensemble("extra", ExtraTreesClassifier(4, bootstrap=True)),
    Ensemble("forest on PCA", RandomForestClassifier(6), (1,)),
    Ensemble("extra on both", ExtraTreesClassifier(4, bootstrap=True), (0, 1)),
]


def four_groups(y=Y, shrinkage=0, weights=None):
    """Trees of both kinds on several views, and their groups."""
    grown = grow(ENSEMBLES, X[L], y[L], weights, views=[VIEW])
    games = [1] if y is Y else [0, 1, 2]
    return grown, scored(grown, y[L], weights, games, shrinkage)


def rows_of(name, rows):
    if name.endswith("both"):
        return np.hstack([rows, VIEW.transform(rows)])
    return VIEW.transform(rows) if name.endswith("PCA") else rows


@pytest.mark.parametrize("y", [Y, THREE])
def test_scores_of_new_rows_are_the_probabilities_of_each_forest(y):
    grown, groups = four_groups(y)
    scores = groups.scorer.score(X[NEW])
    assert scores.shape == (500, 4, len(groups.games))
    for group, (name, model) in enumerate(grown.models.items()):
        theirs = model.predict_proba(rows_of(name, X[NEW]))[:, groups.games]
        np.testing.assert_allclose(scores[:, group], theirs, atol=1e-6)


def test_scores_do_not_depend_on_blocks_and_threads(monkeypatch):
    _, groups = four_groups()
    whole = groups.scorer.score(X[NEW])
    assert whole.dtype == np.float32
    monkeypatch.setattr("hedgeclipper.forest.trees.ROWS_PER_BLOCK", 1024)
    many = np.tile(X[NEW], (5, 1))
    np.testing.assert_array_equal(groups.scorer.score(many, 2), np.tile(whole, (5, 1, 1)))
    assert groups.scorer.score(X[:0]).shape == (0, 4, 1)


@pytest.mark.parametrize("y", [Y, THREE])
def test_out_of_bag_scores_are_means_over_trees_without_the_row(y):
    grown, groups = four_groups(y)
    for group, (name, model) in enumerate(grown.models.items()):
        own, unseen = np.zeros((200, len(groups.games))), np.zeros(200)
        for tree, bag in zip(model.estimators_, model.estimators_samples_, strict=True):
            out = np.setdiff1d(np.arange(200), bag)
            own[out] += tree.predict_proba(rows_of(name, X[out]))[:, groups.games]
            unseen[out] += 1
        known = unseen > 0
        theirs = own[known] / unseen[known, None]
        np.testing.assert_allclose(groups.out_of_bag[known, group], theirs, atol=1e-12)
        assert np.isnan(groups.out_of_bag[~known, group]).all()


def test_the_strength_of_each_group_is_that_of_the_lowest_log_loss_out_of_bag():
    _, auto = four_groups(shrinkage="auto")
    losses = []
    for strength in STRENGTHS:
        p = np.clip(four_groups(shrinkage=strength)[1].out_of_bag[:, :, 0], 1e-6, 1 - 1e-6)
        loss = -np.log(np.where(Y[L, None] == 1, p, 1 - p))
        losses.append(np.nanmean(loss, axis=0))
    np.testing.assert_array_equal(auto.strengths, STRENGTHS[np.argmin(losses, axis=0)])
    chosen = [four_groups(shrinkage=strength)[1] for strength in auto.strengths]
    for group, one in enumerate(chosen):
        np.testing.assert_allclose(auto.out_of_bag[:, group], one.out_of_bag[:, group])
        ours, theirs = (g.scorer.score(X[NEW]) for g in (auto, one))
        np.testing.assert_array_equal(ours[:, group], theirs[:, group])


def test_weights_of_rows_count_in_the_choice_of_the_strength():
    """Weights of the rows that trees are right about make weak shrinkage the better one."""
    _, auto = four_groups(shrinkage="auto")
    p = np.nan_to_num(four_groups()[1].out_of_bag[:, :, 0].mean(axis=1), nan=0.5)
    right = np.where((p > 0.5) == (Y[L] == 1), 100.0, 0.01)
    grown = grow(ENSEMBLES, X[L], Y[L], views=[VIEW])
    heavy = scored(grown, Y[L], right, shrinkage="auto")
    assert np.all(heavy.strengths <= auto.strengths)
    assert np.any(heavy.strengths < auto.strengths)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_boosters_score_with_the_sigmoid_of_their_decision_function(n_classes):
    y, games = (Y, [1]) if n_classes == 2 else (THREE, [0, 1, 2])
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X[NEW], y[NEW])
    grown = grow(model, X[L], y[L])
    groups = scored(grown, y[L], games=games, shrinkage=0)
    theirs = expit(model.decision_function(X[NEW]).reshape(500, -1))
    np.testing.assert_allclose(groups.scorer.score(X[NEW])[:, 0], theirs, atol=1e-6)
    # to a fitted model all labeled rows are new
    theirs = expit(model.decision_function(X[L]).reshape(200, -1))
    np.testing.assert_allclose(groups.out_of_bag[:, 0], theirs)


def test_scores_that_are_made_again_from_the_same_leaves_are_the_same():
    grown, groups = four_groups(THREE, shrinkage="auto")
    again = groups.unseen_scores(grown.finder.find(X[L]))
    np.testing.assert_allclose(again, groups.out_of_bag)


def test_scores_of_groups_add_up_to_those_of_all_trees():
    grown, groups = four_groups(THREE)
    alone = GroupScorer(grown.finder, np.zeros(20, int), groups.scorer.leaf_values, False)
    sizes = np.bincount(grown.groups)
    theirs = groups.scorer.score(X[NEW]).sum(axis=1)
    assert sizes.tolist() == [6, 4, 6, 4]
    np.testing.assert_allclose(alone.score(X[NEW])[:, 0], theirs, atol=1e-5)


# Their weights.


def weighed(groups, unlabeled, **options):
    (scores,) = panel_scores(
        groups.out_of_bag, unlabeled, groups.codes, groups.weights, groups.games
    )
    return scores, weigh_groups(scores, groups.scorer.prior_weights, **options)


def unlabeled_scores(groups):
    return groups.scorer.score(X[NEW]).astype(float)


def test_without_labels_of_a_class_the_weights_are_those_of_the_trees():
    _, groups = four_groups()
    (scores,) = panel_scores(groups.out_of_bag, unlabeled_scores(groups), groups.codes, None, [1])
    one_class = type(scores)(
        scores.labeled[scores.is_positive],
        np.ones(int(scores.is_positive.sum()), bool),
        scores.weights[scores.is_positive],
        scores.unlabeled,
    )
    weights = weigh_groups(one_class, groups.scorer.prior_weights).solution.weights
    np.testing.assert_allclose(weights / weights.sum(), [0.3, 0.2, 0.3, 0.2], atol=1e-3)


def test_trees_of_boosters_do_not_count():
    """One booster stops long before the other; both have the same weight before labels count."""
    boosters = [GradientBoostingClassifier(n_estimators=n, random_state=0) for n in (20, 5)]
    ensembles = [Ensemble(f"with {one.n_estimators}", one) for one in boosters]
    groups = scored(grow(ensembles, X[L], Y[L]), Y[L])
    np.testing.assert_array_equal(groups.scorer.prior_weights, 0.5)


def test_a_group_of_noise_has_less_weight_than_its_share():
    _, groups = four_groups()
    rng = np.random.default_rng(0)
    noisy = groups.out_of_bag.copy()
    noisy[:, 2] = rng.permutation(noisy[:, 2])
    unlabeled = unlabeled_scores(groups)
    unlabeled[:, 2] = rng.permutation(unlabeled[:, 2])
    (scores,) = panel_scores(noisy, unlabeled, groups.codes, None, [1])
    weights = weigh_groups(scores, groups.scorer.prior_weights).solution.weights
    assert weights[2] < 0.5 * weights.mean()


def test_log_odds_are_a_logistic_curve_through_the_weighted_probabilities():
    """The calibration of the weighted vote: its labels, and twenty more from the groups' mean."""
    _, groups = four_groups()
    unlabeled = unlabeled_scores(groups)
    scores, found = weighed(groups, unlabeled)
    center = found.game.scales[0].center
    vote, prior = (
        (p - center) @ found.solution.weights / max(center, 1 - center)
        for p in (scores.labeled, scores.unlabeled)
    )
    mean = scores.unlabeled @ [0.3, 0.2, 0.3, 0.2]

    def loss(line):
        own, more = line[0] * vote + line[1], line[0] * prior + line[1]
        fits = np.log1p(np.exp(-np.where(scores.is_positive, own, -own))).sum()
        expected = mean * np.log1p(np.exp(-more)) + (1 - mean) * np.log1p(np.exp(more))
        return fits + 20 * expected.mean()

    theirs = minimize(loss, [1.0, 0.0], tol=1e-10).x
    ours = found.game.calibration
    np.testing.assert_allclose([ours.slope, ours.intercept], theirs, rtol=2e-2, atol=2e-2)
    np.testing.assert_allclose(
        found.game.log_odds(scores.unlabeled), ours.slope * prior + ours.intercept
    )


# Shrinkage of leaves, and the choice of its strength.

ROWS, LABELS = make_classification(300, 6, n_informative=4, flip_y=0.1, random_state=0)
ROWS = ROWS.astype(np.float32)
WEIGHTS = np.random.default_rng(0).uniform(0.5, 2.0, 300)
FOREST = RandomForestClassifier(4, random_state=0).fit(ROWS, LABELS, sample_weight=WEIGHTS)
FINDER = leaf_finder(FOREST)
EVEN = np.array([0.0, 5.0, 40.0])


def shrunk_by_recursion(tree, strength, node=0, above=None):
    """Values of the leaves of scikit-learn's tree, left ones first, as Agarwal et al. write it."""
    mean = tree.value[node, 0, 1]
    value = mean
    if above is not None:
        value_above, mean_above, size_above = above
        value = value_above + (mean - mean_above) / (1 + strength / size_above)
    if tree.children_left[node] < 0:
        return [value]
    here = value, mean, tree.weighted_n_node_samples[node]
    left, right = tree.children_left[node], tree.children_right[node]
    return [
        *shrunk_by_recursion(tree, strength, left, here),
        *shrunk_by_recursion(tree, strength, right, here),
    ]


def test_it_is_a_recursion_from_the_root():
    ours = shrink(FINDER.nodes, FINDER.leaf_values[:, 1], EVEN)
    for strength, own in zip(EVEN, ours, strict=True):
        theirs = [
            value
            for tree in FOREST.estimators_
            for value in shrunk_by_recursion(tree.tree_, strength)
        ]
        np.testing.assert_allclose(own, theirs, atol=1e-12)


def test_from_none_to_the_mean_of_the_tree():
    values = FINDER.leaf_values[:, 1]
    none, all_of_it = shrink(FINDER.nodes, values, np.array([0.0, 1e15]))
    np.testing.assert_allclose(none, values, atol=1e-12)
    means = [tree.tree_.value[0, 0, 1] for tree in FOREST.estimators_]
    np.testing.assert_allclose(all_of_it, np.repeat(means, FINDER.n_leaves))


def test_sizes_are_those_of_the_trees():
    sizes = np.concatenate([tree.tree_.weighted_n_node_samples for tree in FOREST.estimators_])
    means = np.concatenate([tree.tree_.value[:, 0, 1] for tree in FOREST.estimators_])
    ours = FINDER.nodes.means_and_sizes(FINDER.leaf_values[:, 1])
    np.testing.assert_allclose(ours, (means, sizes))


def test_the_mean_over_the_training_rows_stays():
    """Within every node the steps of its children add up to nothing, weighted by their rows."""
    nodes = FINDER.nodes
    for own in shrink(nodes, FINDER.leaf_values[:, 1], EVEN):
        roots = nodes.means_and_sizes(own)[0][nodes.parent < 0]
        theirs = [tree.tree_.value[0, 0, 1] for tree in FOREST.estimators_]
        np.testing.assert_allclose(roots, theirs)


def booster(library):
    if library == "sklearn":
        return GradientBoostingClassifier(n_estimators=4, random_state=0).fit(ROWS, LABELS)
    module = pytest.importorskip(library)
    if library == "lightgbm":
        return module.LGBMClassifier(n_estimators=4, verbose=-1).fit(ROWS, LABELS)
    return module.XGBClassifier(n_estimators=4).fit(ROWS, LABELS)


@pytest.mark.parametrize("library", ["sklearn", "lightgbm", "xgboost"])
def test_nodes_of_boosters(library):
    """Parents come before their children, and every node but a root has a sibling."""
    finder = leaf_finder(booster(library))
    nodes, n_leaves = finder.nodes, int(finder.n_leaves.sum())
    assert np.all(nodes.parent < np.arange(nodes.parent.size))
    assert np.sum(nodes.parent < 0) == finder.n_trees
    assert nodes.leaf_nodes.shape == nodes.leaf_sizes.shape == (n_leaves,)
    assert not np.isin(nodes.leaf_nodes, nodes.parent).any()
    n_children = np.bincount(nodes.parent[nodes.parent >= 0], minlength=nodes.parent.size)
    assert set(n_children) == {0, 2}
    np.testing.assert_array_equal(np.sort(nodes.leaf_nodes), np.flatnonzero(n_children == 0))
    # leaves of a tree have its root above them
    climbing = nodes.leaf_nodes.copy()
    while np.any(nodes.parent[climbing] >= 0):
        climbing = np.where(nodes.parent[climbing] >= 0, nodes.parent[climbing], climbing)
    roots = np.flatnonzero(nodes.parent < 0)
    np.testing.assert_array_equal(climbing, np.repeat(roots, finder.n_leaves))
    assert np.all(nodes.leaf_sizes > 0)
    if library != "xgboost":  # which counts by second derivatives
        _, sizes = nodes.means_and_sizes(finder.leaf_values[:, 0])
        np.testing.assert_allclose(sizes[roots], 300)
        pairs = zip(finder.find(ROWS), finder.n_leaves, strict=True)
        counts = [np.bincount(own, minlength=n) for own, n in pairs]
        np.testing.assert_array_equal(nodes.leaf_sizes, np.concatenate(counts))


def test_nodes_of_several_views_are_those_of_each():
    other = leaf_finder(RandomForestClassifier(3, random_state=1).fit(ROWS, LABELS))
    both = ViewedTrees([], [(0,), (0,)], [FINDER, other])
    ours = shrink(both.nodes, both.leaf_values[:, 1], EVEN)
    theirs = [shrink(part.nodes, part.leaf_values[:, 1], EVEN) for part in (FINDER, other)]
    np.testing.assert_array_equal(ours, np.hstack(theirs))


def test_a_leaf_alone_has_its_mean():
    nodes = TreeNodes(np.array([-1]), np.array([0]), np.array([7.0]))
    np.testing.assert_array_equal(shrink(nodes, np.array([0.3]), STRENGTHS), 0.3)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_strength_is_that_of_the_lowest_log_loss(weighted):
    rng = np.random.default_rng(0)
    for _ in range(10):
        scores, is_positive = rng.random((4, 50, 1)), rng.random((50, 1)) < 0.5
        weights = rng.random(50) if weighted else None
        losses = [log_loss(is_positive[:, 0], own[:, 0], sample_weight=weights) for own in scores]
        assert choose_strength(scores, is_positive, weights) == np.argmin(losses)


def test_rows_without_a_score_do_not_count_and_sure_errors_stay_finite():
    scores = np.array([[0.0, 0.9, 0.5], [0.5, 0.5, np.nan]])[:, :, None]
    is_positive = np.array([[True], [True], [True]])
    assert choose_strength(scores, is_positive) == 1
    assert choose_strength(np.full((3, 4, 1), np.nan), np.ones((4, 1), bool)) == 0


def test_the_losses_of_several_games_add_up():
    """The second strength is a little worse in the first game, and much better in the other."""
    scores = np.array([[[0.7, 0.1]], [[0.6, 0.8]]])
    assert choose_strength(scores, np.array([[True, True]])) == 1
    assert choose_strength(scores[:, :, :1], np.array([[True]])) == 0
