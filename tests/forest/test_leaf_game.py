import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from hedgeclipper import HedgeClipperClassifier, LeafGame
from hedgeclipper.base.semi_supervised import SemiSupervisedRows
from hedgeclipper.forest.growing import grow_trees
from hedgeclipper.forest.leaf_game import LeafGameOptions, leaf_evidence, set_up_leaf_game
from hedgeclipper.forest.leaf_rows import LeafArray
from hedgeclipper.forest.leaves import count_in_leaves

X, Y = make_classification(2000, 6, n_informative=4, n_redundant=0, random_state=1)
X = X.astype(np.float32)


def fitted(**parameters):
    model = HedgeClipperClassifier(n_estimators=20, random_state=0, **parameters)
    return model.fit(X[:300], Y[:300], X_unlabeled=X[300:])


def test_weights_stay_between_half_and_three_times_the_forests():
    (anchor,) = fitted(game=LeafGame(ridge=1e9)).specialist_weights_
    (free,) = fitted(game=LeafGame(ridge=1e-6)).specialist_weights_
    assert np.all(free >= 0.5 * anchor - 1e-6)
    assert np.all(free[anchor > 0] <= 3 * anchor[anchor > 0] + 1e-6)
    assert np.max(np.abs(free - anchor)) > 1e-3


def test_a_number_as_cap_is_one():
    (weights,) = fitted(game=LeafGame(cap=0.01), bound="plug_in").specialist_weights_
    assert weights.max() <= 0.01 + 1e-12


def test_specialists_without_a_positive_correlation_are_dropped_unless_shrunk():
    assert np.all(fitted(bound="wilson").label_correlations_[0] > 0)
    n_leaves = sum(tree.tree_.n_leaves for tree in fitted().estimator_.estimators_)
    assert fitted(bound="wilson").n_specialists_ < fitted().n_specialists_ <= n_leaves


def test_nobody_left():
    noise = np.random.default_rng(0).integers(0, 2, 300)
    model = HedgeClipperClassifier(n_estimators=2, confidence_level=0.95, random_state=0)
    with pytest.raises(ValueError, match="No specialist is left"):
        model.fit(X[:40], noise[:40], X_unlabeled=X[300:])


def test_gap_is_within_tol():
    model = fitted(tol=1e-4)
    assert model.stop_reason_ == "converged"
    assert model.duality_gap_ <= 1e-4 * 2


def leaf_game(kinds, bound="shrunk"):
    """Return b, the game of 5 trees on 60 rows, and its dense votes."""
    model = HedgeClipperClassifier(specialists=kinds, bound=bound)
    options = LeafGameOptions.of(model, LeafGame(unlabeled_weight=1.5), 0)
    grown = grow_trees(
        RandomForestClassifier(5, max_leaf_nodes=6),
        X[:80],
        Y[:80],
        None,
        holdout=None,
        stratify=True,
        random_state=np.random.RandomState(0),
    )
    finder = grown.finder
    new = LeafArray(finder.find(X[300:360]))
    rows = SemiSupervisedRows(X[:80], Y[:80], None, X[300:360], None)
    (evidence,) = leaf_evidence(grown, rows, Y[:80], [1], options)
    _, b, game = set_up_leaf_game(evidence, new, count_in_leaves(new, finder))
    places = finder.find(X[300:360]) + finder.offsets[:, None]  # trees, rows
    return b, game, game.specialists.votes.toarray()[places].sum(axis=0)


@pytest.mark.parametrize("kinds", [["leaves"], ["nodes"], ["trees"], ["leaves", "trees"]])
@pytest.mark.parametrize("bound", ["shrunk", "plug_in"])
def test_objective_is_that_of_the_paper_on_dense_votes(kinds, bound):
    """Slack for square loss and alpha, and the anchor's ridge; its gradient by differences."""
    b, game, votes = leaf_game(kinds, bound)
    c, terms = np.mean(votes != 0, axis=0), game.terms
    np.testing.assert_allclose(game.specialists.coverage, c)
    ridge = (30.0 if bound == "shrunk" else 100.0) * 5 / (2 * min(Y[:80].sum(), 80 - Y[:80].sum()))

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


def test_box_is_around_the_forests_weights():
    """From half to three times what a leaf weighs in the vote, never below 0."""
    terms = leaf_game(["leaves"])[1].terms
    weighs = terms.anchor > 0
    np.testing.assert_allclose(terms.lower, 0.5 * terms.anchor)
    np.testing.assert_allclose(terms.upper[weighs], 3 * terms.anchor[weighs])
    np.testing.assert_allclose(terms.upper[~weighs], terms.anchor[weighs].mean())
