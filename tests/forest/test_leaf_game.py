import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from hedgeclipper import HedgeClipperClassifier, LeafGame, UnboundedGameWarning
from hedgeclipper.forest.leaf_game import LeafGameOptions, leaf_evidence, set_up_leaf_game
from hedgeclipper.forest.leaf_rows import LeafBlocks
from hedgeclipper.forest.leaves import count_in_leaves
from tests.forest.grown import grow, scored

X, Y = make_classification(2000, 6, n_informative=4, n_redundant=0, random_state=1)
X = X.astype(np.float32)


def fitted(tol=1e-3, **settings):
    """A game of the leaves of the paper's forest."""
    model = HedgeClipperClassifier(
        n_estimators=20, shrinkage=None, views=None, tol=tol, game=LeafGame(**settings)
    )
    return model.set_params(random_state=0).fit(X[:300], Y[:300], X_unlabeled=X[300:])


def test_a_very_strong_ridge_gives_the_forests_vote():
    """Of leaves with a positive correlation: 2 p - 1, the mean over the trees."""
    model = fitted(ridge=1e9, cap=None)
    (forest,) = model.estimators_.values()
    kept = np.concatenate(model._stream.kept)
    scores = np.abs(2 * model._predictor.finder.leaf_values[:, 1] - 1) / forest.n_estimators
    np.testing.assert_allclose(model.specialist_weights_[0], scores[kept], atol=1e-6)


def test_without_ridge_weights_go_up_to_the_cap():
    (weights,) = fitted(cap=0.01, ridge=0.0).specialist_weights_
    assert weights.min() >= 0
    assert weights.max() == pytest.approx(0.01)


def test_specialists_without_a_positive_correlation_are_dropped():
    plug_in, wilson = fitted(), fitted(bound="wilson")
    assert np.all(wilson.label_correlations_[0] > 0)
    (forest,) = plug_in.estimators_.values()
    n_leaves = sum(tree.tree_.n_leaves for tree in forest.estimators_)
    assert wilson.n_specialists_ < plug_in.n_specialists_ < n_leaves


def test_leaves_of_all_groups_play():
    """Leaves are counted through all trees, those on components after the forest's."""
    model = HedgeClipperClassifier(n_estimators=20, game=LeafGame(), random_state=0)
    model.fit(X[:300], Y[:300], X_unlabeled=X[300:])
    assert len(model.estimators_) == 3
    finder = model._predictor.finder
    trees = np.searchsorted(finder.offsets, np.concatenate(model._stream.kept), side="right") - 1
    assert np.unique(trees).tolist() == list(range(20))
    on_components = int(np.searchsorted(trees, 10))
    described = model._inspect().describe_voters(np.array([0, on_components]))
    assert "component" not in described["rows where"][0]
    assert "component" in described["rows where"][1]


def test_leaf_votes_are_shrunk_as_the_groups_are():
    """With very strong shrinkage all leaves of a tree vote for the larger class of its sample."""
    model = HedgeClipperClassifier(
        n_estimators=10, shrinkage=1e9, views=None, game=LeafGame(), random_state=0
    )
    minority = np.r_[np.flatnonzero(Y == 1)[:40], np.flatnonzero(Y == 0)[:160]]
    model.fit(X[minority], Y[minority], X_unlabeled=X[300:])
    assert np.all(model._predictor.leaf_scores <= 0)


@pytest.mark.parametrize("votes", ["hard", "soft"])
def test_if_no_specialist_is_good_the_forest_votes(votes):
    """Wilson's bounds of trees that learned from noise are negative; a guarantee is had anyway."""
    noise = np.random.default_rng(0).integers(0, 2, 300)
    game = LeafGame(specialists="leaves", bound="wilson", votes=votes)
    model = HedgeClipperClassifier(
        n_estimators=4, views=None, game=game, confidence_level=0.9, random_state=0
    )
    model.fit(X[:24], noise[:24], X_unlabeled=X[300:])
    (b,), (weights,) = model.label_correlations_, model.specialist_weights_
    assert b.max() <= 0 < weights.max()
    groups = model._stream.evidence[0].labeled.scores / model._predictor.finder.n_trees
    np.testing.assert_allclose(model._predictor.leaf_scores[:, 0], groups, atol=1e-3)
    assert model.certificate_.kind == "guarantee"


def test_leaves_that_are_too_small_are_an_error():
    model = HedgeClipperClassifier(
        n_estimators=8, game=LeafGame(min_specialist_size=1000), random_state=0
    )
    with pytest.raises(ValueError, match="No specialist is left"):
        model.fit(X[:40], Y[:40], X_unlabeled=X[300:])


def test_soft_votes_of_leaves_are_their_scores():
    """With a very strong ridge they give the forest's vote, and b is the mean of vote and label."""
    game = LeafGame(votes="soft", ridge=1e9, cap=None)
    model = HedgeClipperClassifier(n_estimators=10, views=None, game=game, random_state=0)
    model.fit(X[:200], Y[:200], X_unlabeled=X[300:])
    (evidence,) = model._stream.evidence
    scores, (kept,) = evidence.labeled.scores, model._stream.kept
    leaves = evidence.table.own_leaf[kept]
    found = model._predictor.leaf_scores[leaves, 0]
    n_trees = model._predictor.finder.n_trees
    np.testing.assert_allclose(found, scores[leaves] / n_trees, atol=1e-6)
    own = evidence.labeled
    unseen = own.sum_in_leaves(own.signs, own.unseen)[leaves]
    counts = own.sum_in_leaves(np.ones(200), own.unseen)[leaves]
    np.testing.assert_allclose(model.label_correlations_[0], scores[leaves] * unseen / counts)


def test_a_guarantee_needs_no_good_specialist():
    """At worst it is the test of a forest that has learned nothing."""
    noise = np.random.default_rng(0).integers(0, 2, 300)
    model = HedgeClipperClassifier(n_estimators=8, confidence_level=0.95, random_state=0)
    bound = model.fit(X[:40], noise[:40], X_unlabeled=X[300:]).certificate_
    assert (bound.kind, bound.n_tested) == ("guarantee", 20)


def test_without_cap_and_ridge_the_warning_is_at_the_callers_line():
    model = HedgeClipperClassifier.as_in_paper(n_estimators=5, method="batch", random_state=0)
    with pytest.warns(UnboundedGameWarning, match="no minimum") as found:
        model.fit(X[:100], Y[:100], X_unlabeled=X[300:700])
    assert found[0].filename == __file__


def test_gap_is_within_tol():
    model = fitted(tol=1e-4)
    assert model.stop_reason_ == "converged"
    assert model.duality_gap_ <= 1e-4 * 2


def leaf_game(kinds, shrinkage=None):
    """Return b, the game of 5 trees on 60 rows, and its dense votes."""
    game = LeafGame(specialists=kinds, unlabeled_weight=1.5)
    options = LeafGameOptions.of(HedgeClipperClassifier(game=game), 0)
    grown = grow(RandomForestClassifier(5, max_leaf_nodes=6), X[:80], Y[:80])
    finder = grown.finder
    groups = scored(grown, Y[:80], shrinkage=shrinkage)
    new = LeafBlocks([finder.find(X[300:360])])
    (evidence,) = leaf_evidence(grown, groups, options)
    _, b, game = set_up_leaf_game(evidence, new, count_in_leaves(new, finder))
    places = finder.find(X[300:360]) + finder.offsets[:, None]  # trees, rows
    return b, game, game.specialists.votes.toarray()[places].sum(axis=0)


@pytest.mark.parametrize("kinds", [["leaves"], ["trees"], ["leaves", "trees"]])
@pytest.mark.parametrize("shrinkage", [None, 10.0])
def test_objective_is_that_of_the_paper_on_dense_votes(kinds, shrinkage):
    """Slack for square loss and alpha, and the anchor's ridge; its gradient by differences."""
    b, game, votes = leaf_game(kinds, shrinkage)
    c, terms = np.mean(votes != 0, axis=0), game.terms
    np.testing.assert_allclose(game.specialists.coverage, c)
    ridge = 100.0 * 5 / (2 * min(Y[:80].sum(), 80 - Y[:80].sum()))

    def objective(theta):
        m = votes @ theta
        potential = np.where(np.abs(m) <= 1, (1 + m**2) / 2, np.abs(m))
        slack = -np.sum(c * b * theta) + 1.5 * np.mean(potential - 0.5)
        return slack + ridge / 2 * np.sum(c * (theta - terms.anchor) ** 2)

    theta = terms.anchor + np.random.default_rng(0).uniform(0, 0.3, c.size)
    evaluation = game.evaluate(theta, 0.0)
    assert evaluation.primal == pytest.approx(objective(theta))
    slope = terms.slope(theta, evaluation.tilt)
    np.testing.assert_allclose(slope, approx_fprime(theta, objective), atol=1e-5)


def test_weights_lie_between_none_and_the_cap():
    terms = leaf_game(["leaves"])[1].terms
    np.testing.assert_array_equal(terms.lower, 0.0)
    np.testing.assert_array_equal(terms.upper, 1.0)
