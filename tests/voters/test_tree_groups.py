"""Groups of trees against scikit-learn's forests, and the shrinkage of their leaves."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from hedgeclipper import ShiftWarning
from hedgeclipper.voters import tree_groups
from hedgeclipper.voters.classifiers import LabeledRows
from hedgeclipper.voters.tree_groups import (
    STRENGTHS,
    check_shift,
    choose_strength,
    fit_trees,
    see,
    shrink,
)
from hedgeclipper.voters.trees import leaf_proportions, pack_trees
from hedgeclipper.voters.views import Components
from hedgeclipper.voters.voters import VoterScorer

X, Y = make_classification(700, 6, n_informative=4, flip_y=0.1, random_state=0)
X = X.astype(np.float32)
THREE = Y + (X[:, 0] > 0.5)
L, NEW = slice(0, 200), slice(200, 700)
PARTS = ("random forest", "extra trees on components", "extra trees on columns and components")


def fitted(y=Y, rows=X, n_trees=16, unlabeled=NEW, seed=0, n_labeled=200):
    some = None if unlabeled is None else rows[unlabeled]
    games = [1] if y.max() == 1 else list(range(y.max() + 1))
    return fit_trees(
        LabeledRows(rows[:n_labeled], y[:n_labeled], np.unique(y), some),
        games,
        n_trees=n_trees,
        random_state=np.random.RandomState(seed),
        n_jobs=None,
    )


def ensembles(y=Y, rows=X):
    """View and model of scikit-learn that each group of ``fitted`` must be the same as."""
    random_state = np.random.RandomState(0)
    seed = random_state.randint(np.iinfo(np.int32).max)
    views = see(rows[L], Components(random_state=seed).fit(np.concatenate([rows[L], rows[NEW]])))
    plan = {"columns": (RandomForestClassifier, 8), "components": (ExtraTreesClassifier, 4)}
    plan["both"] = plan["components"]
    for view, (kind, size) in plan.items():
        seed = random_state.randint(np.iinfo(np.int32).max)
        model = kind(size, bootstrap=True, random_state=seed)
        yield view, model.fit(views[view], y[L])


@pytest.fixture
def no_shrinkage(monkeypatch):
    monkeypatch.setattr(tree_groups, "STRENGTHS", np.array([0.0]))


def columns_of(y):
    return slice(1, 2) if y is Y else slice(None)


# What is grown.


@pytest.mark.parametrize("n_trees", [1, 8, 11])
def test_there_are_as_many_trees_as_asked_for_and_half_are_a_forest(n_trees):
    found = fitted(n_trees=n_trees).scorer.groups
    sizes = [one.trees.n_trees for one in found]
    assert tuple(one.name for one in found) == PARTS
    assert sum(sizes) == max(n_trees, 3)  # one in each group at least
    assert abs(sizes[0] - n_trees / 2) <= 0.5
    assert abs(sizes[1] - sizes[2]) <= 1


def test_two_columns_have_no_components():
    found = fitted(rows=X[:, :2])
    assert found.scorer.components is None
    assert [one.name for one in found.scorer.groups] == ["random forest", "extra trees"]


def test_components_are_learned_from_all_rows_and_no_labels():
    ours, turned, alone = (
        fitted(y, unlabeled=own).scorer.components.directions_
        for y, own in ((Y, NEW), (1 - Y, NEW), (Y, None))
    )
    np.testing.assert_array_equal(ours, turned)
    theirs, of_labeled = (Components(random_state=0).fit(rows) for rows in (X, X[L]))
    np.testing.assert_allclose(np.abs(ours), np.abs(theirs.directions_), atol=1e-4)
    np.testing.assert_allclose(np.abs(alone), np.abs(of_labeled.directions_), atol=1e-4)
    assert np.abs(np.abs(alone) - np.abs(ours)).max() > 1e-3


def test_sparse_and_dense_rows_are_seen_alike():
    dense = np.where(np.abs(X) < 0.5, np.float32(0), X)
    components = Components(random_state=0).fit(dense)
    ours, theirs = (see(rows, components) for rows in (sparse.csr_array(dense), dense))
    np.testing.assert_array_equal(ours["both"].toarray(), theirs["both"])
    np.testing.assert_array_equal(ours["components"], theirs["components"])


# Scores.


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("y", [Y, THREE], ids=["two", "three"])
@pytest.mark.usefixtures("no_shrinkage")
def test_scores_of_new_rows_are_the_probabilities_of_each_forest(y, missing):
    holes = np.random.default_rng(0).random(X.shape) < 0.1 * missing
    rows = np.where(holes, np.float32(np.nan), X)
    found = fitted(y, rows)
    scores, views = found.scorer.score(rows[NEW]), see(rows[NEW], found.scorer.components)
    assert scores.dtype == np.float32
    for number, (view, model) in enumerate(ensembles(y, rows)):
        theirs = model.predict_proba(views[view])[:, columns_of(y)]
        np.testing.assert_allclose(scores[:, number], theirs, atol=1e-6)


def test_scores_do_not_depend_on_blocks_and_threads(monkeypatch):
    scorer = fitted().scorer
    whole = scorer.score(X[NEW])
    for module in ("trees", "voters"):
        monkeypatch.setattr(f"hedgeclipper.voters.{module}.ROWS_PER_BLOCK", 1024)
    many = np.tile(X[NEW], (5, 1))
    ours = VoterScorer(scorer, {}, {}).score(many, 2)
    np.testing.assert_array_equal(ours, np.tile(whole, (5, 1, 1)))
    assert scorer.score(X[:0]).shape == (0, 3, 1)


@pytest.mark.parametrize("y", [Y, THREE], ids=["two", "three"])
@pytest.mark.usefixtures("no_shrinkage")
def test_out_of_bag_scores_are_means_over_trees_without_the_row(y):
    """Plus what the samples of these trees lack of the class, compared with those of all trees."""
    found = fitted(y)
    views = see(X[L], found.scorer.components)
    for number, (view, model) in enumerate(ensembles(y)):
        sums, roots = np.zeros((2, 200, y.max() + 1))
        n_unseen = np.zeros((200, 1))
        for tree, bag in zip(model.estimators_, model.estimators_samples_, strict=True):
            out = np.setdiff1d(np.arange(200), bag)
            sums[out] += tree.predict_proba(views[view][out])
            roots[out] += tree.tree_.value[0, 0]
            n_unseen[out] += 1
        mean_root = np.mean([tree.tree_.value[0, 0] for tree in model.estimators_], axis=0)
        with np.errstate(invalid="ignore"):
            theirs = (sums - roots) / n_unseen + mean_root
        ours = found.out_of_bag[:, number]
        np.testing.assert_allclose(ours, theirs[:, columns_of(y)], atol=1e-9)
        assert np.isnan(ours[n_unseen[:, 0] == 0]).all()


def test_a_rare_class_is_not_scored_low_out_of_bag():
    """Columns that know nothing of 4 labels in 60 rank them at one half, on average."""
    aucs = []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        rows, codes = rng.normal(size=(60, 3)), (rng.permutation(60) < 4).astype(int)
        found = fitted(codes, rows.astype(np.float32), 120, None, seed, 60)
        aucs.append(roc_auc_score(codes, found.out_of_bag.mean(axis=(1, 2))))
    assert abs(np.mean(aucs) - 0.5) < 2.5 * np.std(aucs) / np.sqrt(len(aucs))


def test_the_strength_of_each_group_is_that_of_the_lowest_log_loss_out_of_bag(monkeypatch):
    auto, losses, scores = fitted(), [], []
    for strength in STRENGTHS:
        monkeypatch.setattr(tree_groups, "STRENGTHS", np.array([strength]))
        scores.append(fitted())
        p = np.clip(scores[-1].out_of_bag[:, :, 0], 1e-6, 1 - 1e-6)
        losses.append(np.nanmean(-np.log(np.where(Y[L, None] == 1, p, 1 - p)), axis=0))
    best = np.argmin(losses, axis=0)
    np.testing.assert_array_equal(auto.strengths, STRENGTHS[best])
    for group, number in enumerate(best):
        np.testing.assert_array_equal(
            auto.scorer.score(X[NEW])[:, group], scores[number].scorer.score(X[NEW])[:, group]
        )


@pytest.mark.parametrize("y", [Y, THREE], ids=["two", "three"])
def test_one_table_at_a_time_gives_what_the_tables_of_all_strengths_do(y):
    """Values of all games and strengths in one array, as NumPy would choose among them."""
    found, games = fitted(y), [1] if y is Y else [0, 1, 2]
    is_positive = y[L, None] == np.array(games)
    pairs = zip(found.grown, ensembles(y), strict=True)
    for number, (one, (_, model)) in enumerate(pairs):
        tables = [
            shrink(one.trees, leaf_proportions(model.estimators_).toarray()[:, k], STRENGTHS)
            for k in games
        ]
        table, places = np.stack(tables) / one.trees.n_trees, one.trees.offsets[:, None]
        unseen, n_unseen = one.unseen, one.unseen.sum(axis=0)
        values = np.where(unseen, table[:, :, places + one.leaves], 0.0)  # games, strengths, trees
        roots = np.array([tree.tree_.value[0, 0, games] for tree in model]) / one.trees.n_trees
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = one.trees.n_trees / n_unseen
            lacking = roots.sum(axis=0)[:, None] - scale * (roots.T @ unseen)
            scores = np.moveaxis(values.sum(axis=2) * scale + lacking[:, None], 0, 2)
        best = choose_strength(scores, is_positive)
        assert found.strengths[number] == STRENGTHS[best]
        np.testing.assert_allclose(found.out_of_bag[:, number], scores[best], atol=1e-9)
        ours = found.scorer.groups[number].leaf_values
        assert ours.dtype == np.float32
        np.testing.assert_allclose(ours, table[:, best], rtol=1e-6)


def test_trees_grown_in_parts_are_those_grown_together(monkeypatch):
    together = fitted(THREE)
    monkeypatch.setattr(tree_groups, "TREE_ENTRIES", 3 * 200 * 3)  # three at a time
    in_parts = fitted(THREE)
    np.testing.assert_array_equal(in_parts.out_of_bag, together.out_of_bag)
    np.testing.assert_array_equal(in_parts.scorer.score(X), together.scorer.score(X))


def test_memory_is_that_of_the_leaf_values_that_are_kept():
    """With many classes, values of all strengths would take 24 times as much as those kept."""
    rng = np.random.default_rng(0)
    rows, codes = rng.normal(size=(1000, 4)).astype(np.float32), rng.integers(0, 40, 1000)
    fitted(np.arange(100) % 3, rows[:100], 3, None, n_labeled=100)  # compiles
    tracemalloc.start()
    found = fitted(codes, rows, 100, None, n_labeled=1000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    kept = sum(group.leaf_values.nbytes for group in found.scorer.groups)
    assert kept == sum(4 * 40 * group.trees.n_leaves.sum() for group in found.scorer.groups)
    assert peak < 4 * kept


def test_noise_is_shrunk_and_labels_without_it_are_not():
    noise = np.random.default_rng(0).integers(0, 2, 700)
    assert np.all(fitted(noise, n_trees=32).strengths >= 30)
    assert fitted((X[:, 0] > 0).astype(int), n_trees=32).strengths[0] < 30


def test_scores_that_are_made_again_from_the_same_rows_are_the_same():
    found = fitted(THREE)
    again = found.out_of_bag_in(see(X[L], found.scorer.components))
    np.testing.assert_allclose(again, found.out_of_bag, atol=1e-6)  # of leaf values in float32


# Shift.


def test_shift_score_is_small_for_like_rows_and_large_for_others(monkeypatch):
    found = fitted(n_trees=40)
    assert check_shift(found, None) == 0.0
    assert check_shift(found, X[NEW]) < 4
    assert check_shift(found, X[200:220]) < 4
    with pytest.warns(ShiftWarning, match="unlike the labeled ones"):
        assert check_shift(found, X[NEW] + np.float32(2.0)) > 10
    mixed = np.concatenate([X[NEW], *[X[NEW] + np.float32(2.0)] * 3])
    monkeypatch.setattr(tree_groups, "ROWS_FOR_SHIFT", 400)  # not the first ones
    with pytest.warns(ShiftWarning, match="unlike the labeled ones"):
        assert check_shift(found, mixed) > 10
    within = replace(found, grown=[replace(one, unseen=one.unseen & False) for one in found.grown])
    assert check_shift(within, X[NEW] + 2) == 0.0  # no labeled row is unseen


# Shrinkage of leaves, and the choice of its strength.

WEIGHTS = np.random.default_rng(0).uniform(0.5, 2.0, 200)
FOREST = RandomForestClassifier(4, random_state=0).fit(X[L], Y[L], sample_weight=WEIGHTS)
TREES = pack_trees(FOREST.estimators_)
SOME = np.array([0.0, 5.0, 40.0])


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
    ours = shrink(TREES, leaf_proportions(FOREST.estimators_).toarray()[:, 1], SOME)
    for strength, own in zip(SOME, ours, strict=True):
        theirs = [shrunk_by_recursion(tree.tree_, strength) for tree in FOREST.estimators_]
        np.testing.assert_allclose(own, np.concatenate(theirs), atol=1e-12)


def test_from_none_to_the_mean_of_the_tree_which_stays():
    values = leaf_proportions(FOREST.estimators_).toarray()[:, 1]
    none, some, all_of_it = shrink(TREES, values, np.array([0.0, 5.0, 1e15]))
    np.testing.assert_allclose(none, values, atol=1e-12)
    means = [tree.tree_.value[0, 0, 1] for tree in FOREST.estimators_]
    np.testing.assert_allclose(all_of_it, np.repeat(means, TREES.n_leaves))
    sizes, starts = TREES.leaf_sizes, TREES.offsets
    roots = np.add.reduceat(some * sizes, starts) / np.add.reduceat(sizes, starts)
    np.testing.assert_allclose(roots, means)


def test_a_leaf_alone_has_its_mean():
    leaf = pack_trees([DecisionTreeClassifier().fit(X[:7], np.zeros(7))])
    np.testing.assert_array_equal(shrink(leaf, np.array([0.3]), STRENGTHS), 0.3)


def test_the_strength_is_that_of_the_lowest_log_loss():
    rng = np.random.default_rng(0)
    for _ in range(10):
        scores, is_positive = rng.random((4, 50, 1)), rng.random((50, 1)) < 0.5
        losses = [log_loss(is_positive[:, 0], own[:, 0]) for own in scores]
        assert choose_strength(scores, is_positive) == np.argmin(losses)


def test_rows_without_a_score_do_not_count_and_sure_errors_stay_finite():
    scores = np.array([[0.0, 0.9, 0.5], [0.5, 0.5, np.nan]])[:, :, None]
    assert choose_strength(scores, np.ones((3, 1), bool)) == 1
    assert choose_strength(np.full((3, 4, 1), np.nan), np.ones((4, 1), bool)) == 0


def test_the_losses_of_several_games_add_up():
    """The second strength is a little worse in the first game, and much better in the other."""
    scores = np.array([[[0.7, 0.1]], [[0.6, 0.8]]])
    assert choose_strength(scores, np.array([[True, True]])) == 1
    assert choose_strength(scores[:, :, :1], np.array([[True]])) == 0
