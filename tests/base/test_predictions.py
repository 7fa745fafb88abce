"""Votes of scores; and decisions by class weights and costs, and what is known of them."""

import warnings
from functools import cache

import numpy as np
import pytest
from scipy.special import expit
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB

from hedgeclipper import (
    HedgeClipperClassifier,
    HedgedVotingClassifier,
    NeverPredictedWarning,
    load,
    save,
)
from hedgeclipper.base.inspection import inspect_estimator, main_figures
from hedgeclipper.base.predictions import (
    LEAST_SCORE,
    MOST_VALUES,
    Calibration,
    PanelGame,
    ProbabilityScale,
    VoteScale,
    cheapest,
    decision_costs,
    make_votes,
)

X, SIX = make_classification(
    900, 6, n_informative=4, n_classes=3, weights=[0.75, 0.15], flip_y=0.1, random_state=0
)
TWO = (SIX == 0).astype(int)  # 1 is the frequent class
L, U = slice(0, 150), slice(150, 900)
MATRIX = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 1.0], [3.0, 4.0, 0.0]])
KINDS = ["forest", "panel"]
RNG = np.random.default_rng(0)
SCORES = expit(RNG.normal(size=500))


def make(kind, **parameters):
    members = [("linear", LogisticRegression()), ("bayes", GaussianNB())]
    if kind == "panel":
        return HedgedVotingClassifier(members, cv=2, random_state=0, **parameters)
    return HedgeClipperClassifier(n_estimators=40, random_state=0, **parameters)


def fit(kind, y, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NeverPredictedWarning)
        return make(kind, **parameters).fit(X[L], y[L], X_unlabeled=X[U])


@cache
def plain(kind, n_classes):
    return fit(kind, TWO if n_classes == 2 else SIX)


# Votes of scores.


def test_votes_rise_with_the_scores_and_stay_within_bounds():
    votes = VoteScale.of(SCORES)(np.linspace(0, 1, 1001))
    assert np.all(np.diff(votes) >= 0)
    assert votes.min() >= -1
    assert votes.max() <= 1


def test_a_vote_is_the_mean_of_rank_and_standardized_log_odds():
    scale = VoteScale.of(np.array([0.2, 0.2, 0.5, 0.8]))
    log_odds = np.log([0.25, 0.25, 1, 4])
    deviation = (np.log(4) - log_odds.mean()) / log_odds.std()
    rank = 2 * 3.5 / 4 - 1
    assert scale(np.array([0.8])) == pytest.approx((rank + deviation / 2) / 2)


def test_equal_scores_share_a_rank_and_ranks_add_up_to_nothing():
    scores = np.repeat([0.1, 0.4, 0.9], [5, 2, 3])
    scale = VoteScale.of(scores)
    np.testing.assert_allclose(scale.ranks, [-0.5, 0.2, 0.7])
    assert np.repeat(scale.ranks, [5, 2, 3]).sum() == pytest.approx(0)


def test_ranks_do_not_depend_on_the_scale_of_the_scores():
    np.testing.assert_allclose(VoteScale.of(SCORES).ranks, VoteScale.of(SCORES**3).ranks)


@pytest.mark.parametrize("score", [0.0, 0.3, 1.0])
def test_one_who_always_says_the_same_has_no_vote(score):
    scale = VoteScale.of(np.full(10, score))
    np.testing.assert_allclose(scale(np.full(3, score)), 0, atol=1e-12)
    assert np.isfinite(scale(np.array([0.0, 1.0]))).all()


def test_certainty_is_cut_off():
    scale = VoteScale.of(SCORES)
    assert scale(np.array([1.0])) == scale(np.array([1.0 - LEAST_SCORE / 2]))


def test_many_values_are_thinned_and_ends_kept():
    scores = RNG.random(3 * MOST_VALUES)
    scale = VoteScale.of(scores)
    assert scale.values.size == scale.ranks.size == MOST_VALUES
    assert (scale.values[0], scale.values[-1]) == (scores.min(), scores.max())
    exact = 2 * (np.argsort(np.argsort(scores)) + 0.5) / scores.size - 1
    np.testing.assert_allclose(np.interp(scores, scale.values, scale.ranks), exact, atol=1e-3)


# Log-odds.


def test_log_odds_are_a_line():
    np.testing.assert_array_equal(Calibration(2.0, -1.0).log_odds(np.array([0.0, 3.0])), [-1, 5])


# Votes that are probabilities.


def test_equal_weights_of_probability_votes_are_the_mean_probability():
    probabilities = RNG.random((50, 3))
    scale = ProbabilityScale(0.3)
    vote = make_votes([scale] * 3, probabilities) @ np.full(3, 1 / 3)
    np.testing.assert_allclose(vote, scale(probabilities.mean(axis=1)))
    np.testing.assert_allclose(vote * 0.7 + 0.3, probabilities.mean(axis=1))


@pytest.mark.parametrize("center", [0.0, 0.2, 0.5, 0.9, 1.0])
def test_probability_votes_reach_one_at_the_farther_end_and_none_at_the_center(center):
    votes = ProbabilityScale(center)(np.array([0.0, center, 1.0]))
    assert votes[1] == 0
    assert np.abs(votes).max() == 1
    np.testing.assert_allclose(votes[2] - votes[0], 1 / max(center, 1 - center))


def test_rounding_does_not_take_probability_votes_beyond_their_bounds():
    above = np.nextafter(np.float32(1), np.float32(2))
    assert ProbabilityScale(0.25)(np.array([above]))[0] == 1.0


def test_log_odds_of_a_game_are_a_line_through_the_weighted_vote():
    scales, weights = [ProbabilityScale(0.5)] * 2, np.array([0.2, 0.6])
    game = PanelGame(scales, weights, Calibration(3.0, -1.0))
    probabilities = RNG.random((20, 2))
    theirs = 3.0 * ((2 * probabilities - 1) @ weights) - 1.0
    np.testing.assert_allclose(game.log_odds(probabilities), theirs)


# What is decided.


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weight", [0.02, 0.3, 4.0, 80.0])
def test_two_classes_have_a_threshold(kind, weight):
    model = fit(kind, TWO, class_weight={0: weight})
    p = model.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(p, plain(kind, 2).predict_proba(X)[:, 1])
    np.testing.assert_array_equal(model.predict(X), p > weight / (1.0 + weight))
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X) > 0)
    shift = model.decision_function(X) - plain(kind, 2).decision_function(X)
    np.testing.assert_allclose(shift, shift[0])
    np.testing.assert_allclose(model.hedged_range_ - plain(kind, 2).hedged_range_, shift[0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("class_weight", [{1: 3.0, 2: 0.5}, MATRIX, "balanced"], ids=str)
def test_several_classes_have_expected_costs(kind, class_weight):
    model = fit(kind, SIX, class_weight=class_weight)
    p = model.predict_proba(X)
    np.testing.assert_array_equal(p, plain(kind, 3).predict_proba(X))
    costs = class_weight
    if not isinstance(costs, np.ndarray):
        weights = {0: 1.0, 1: 3.0, 2: 0.5}
        if class_weight == "balanced":
            weights = {k: 1.0 / np.mean(SIX[L] == k) for k in range(3)}
        costs = [[weights[true] * (true != k) for k in range(3)] for true in range(3)]
    np.testing.assert_array_equal(model.predict(X), np.argmin(p @ np.array(costs), axis=1))
    np.testing.assert_array_equal(model.decision_function(X).argmax(axis=1), model.predict(X))


def test_a_matrix_for_two_classes_and_what_right_predictions_cost():
    ours = fit("panel", TWO, class_weight=[[-1.0, 1.0], [4.0, 0.0]])
    theirs = fit("panel", TWO, class_weight={0: 2.0, 1: 4.0})
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("kind", KINDS)
def test_balanced_weights_find_rare_classes(kind):
    found, before = (
        balanced_accuracy_score(SIX[U], model.predict(X[U]))
        for model in (fit(kind, SIX, class_weight="balanced"), plain(kind, 3))
    )
    assert found > before + 0.02


def test_costs_of_equal_weights_change_nothing():
    p = np.random.default_rng(0).dirichlet(np.ones(4), 200)
    costs = decision_costs({2: 1.0}, np.arange(4), np.arange(4))
    np.testing.assert_array_equal(cheapest(p, costs), cheapest(p, None))


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({"yes": 2.0}, r"class_weight has weights for \['yes'\], .* labels of \[0, 1\]"),
        ({0: 0.0}, "must be positive and finite"),
        ({0: np.inf}, "must be positive and finite"),
        ([1.0, 2.0], r"2 x 2. Got the shape \(2,\)"),
        (np.eye(2), "each error must cost more than a correct prediction"),
        ("equal", "'class_weight' parameter"),
    ],
)
def test_weights_that_are_none(class_weight, message):
    with pytest.raises(ValueError, match=message):
        fit("panel", TWO, class_weight=class_weight)


# What is known of it.


@pytest.mark.parametrize("kind", KINDS)
def test_errors_and_doubts_are_those_of_the_decisions(kind):
    model = fit(kind, TWO, class_weight={0: 5.0}, confidence_level=0.9)
    p, predicted = model.predict_proba(X[U]), model.predict(X[U])
    doubts = 1.0 - p[np.arange(len(p)), predicted]
    np.testing.assert_allclose(model._checked.unlabeled_doubts, doubts)
    np.testing.assert_array_equal(model.transduction_, predicted)
    other = fit(kind, TWO, confidence_level=0.9)
    assert model.certificate_.kind == "guarantee"
    assert model.certificate_.n_tested == other.certificate_.n_tested
    found = model.auto_label(X[U])
    np.testing.assert_array_equal(found.labels, predicted)


@pytest.mark.parametrize("kind", KINDS)
def test_the_certificate_counts_the_errors_of_predict(kind):
    """Errors of held-out labels, which are the same for all weights: other rules, other counts."""
    counts = []
    for weight in (1e-6, 1e6):  # the frequent class for all, and the other one
        model = fit(kind, TWO, class_weight={0: weight}, confidence_level=0.9)
        assert np.unique(model.predict(X[U])).size == 1
        counts.append(model.certificate_.n_errors)
    assert sum(counts) == model.certificate_.n_tested


def test_balanced_weights_do_not_look_at_held_out_labels():
    y = TWO.astype(float)
    model = fit("forest", TWO, class_weight="balanced", confidence_level=0.9, holdout=0.4)
    rng = np.random.RandomState(0)
    held = np.sort(rng.choice(150, 60, replace=False))
    kept = np.setdiff1d(np.arange(150), held)
    expected = decision_costs("balanced", np.arange(2), TWO[L][kept])
    np.testing.assert_allclose(model._costs, expected)
    assert not np.allclose(expected, decision_costs("balanced", np.arange(2), y[L].astype(int)))


# In scikit-learn.


@pytest.mark.parametrize("kind", KINDS)
def test_thresholds_can_be_tuned(kind):
    with config_context(enable_metadata_routing=True):
        model = TunedThresholdClassifierCV(
            make(kind).set_fit_request(X_unlabeled=True), scoring="balanced_accuracy", cv=2
        ).fit(X[L], TWO[L], X_unlabeled=X[U])
    fitted = model.estimator_
    assert fitted.n_unlabeled_ == 750
    p = fitted.predict_proba(X[U])[:, 1]
    np.testing.assert_array_equal(model.predict(X[U]), p >= model.best_threshold_)


@pytest.mark.parametrize("kind", KINDS)
def test_thresholds_of_a_fitted_model_can_be_tuned(kind):
    tuned = TunedThresholdClassifierCV(
        plain(kind, 2), scoring="balanced_accuracy", cv="prefit", refit=False
    ).fit(X[U][:300], TWO[U][:300])
    predicted = tuned.predict(X[U][300:])
    p = plain(kind, 2).predict_proba(X[U][300:])[:, 1]
    np.testing.assert_array_equal(predicted, p >= tuned.best_threshold_)


@pytest.mark.filterwarnings("ignore::hedgeclipper.NoUnlabeledRowsWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_can_be_calibrated_again(kind):
    model = CalibratedClassifierCV(make(kind, class_weight="balanced"), cv=2)
    p = model.fit(X[L], SIX[L]).predict_proba(X[U])
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.abs(p.mean(axis=0) - np.bincount(SIX[U]) / 750).max() < 0.1


# Classes that are never predicted.

NOISE = np.random.default_rng(0).normal(size=(600, 3))
RARE = np.where(np.arange(600) % 10 == 0, "rare", "common")


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_that_is_never_predicted(kind):
    told = "Class 'rare' has 10 labels and is predicted for none of 500 unlabeled rows"
    model = make(kind)
    if kind != "panel":
        model.set_params(estimator=None, shrinkage=1e6)  # leaves that all say the same
    with pytest.warns(NeverPredictedWarning, match=told):
        model.fit(NOISE[:100], RARE[:100], X_unlabeled=NOISE[100:])
    assert set(model.predict(NOISE[100:])) == {"common"}
    assert model.never_predicted_ == {"rare": 10}
    remark = ("never predicted", "rare, which 10 labels have")
    assert remark in main_figures(inspect_estimator(model, "A test"))
    assert remark[1] in model._repr_html_()
    weighed = clone(model).set_params(class_weight={"rare": 100.0})
    with pytest.warns(NeverPredictedWarning, match="Class 'common' has 90 labels"):
        weighed.fit(NOISE[:100], RARE[:100], X_unlabeled=NOISE[100:])
    assert weighed.never_predicted_ == {"common": 90}


def test_too_few_rows_to_expect_any_of_a_class():
    model = make("panel").fit(NOISE[:100], RARE[:100], X_unlabeled=NOISE[100:105])
    assert set(model.predict(NOISE[100:105])) == {"common"}
    assert model.never_predicted_ == {}


@pytest.mark.parametrize("kind", KINDS)
def test_decisions_and_what_is_never_predicted_are_saved(kind, tmp_path):
    model = fit(kind, SIX, class_weight=MATRIX)
    save(model, tmp_path / "m.skops")
    again = load(tmp_path / "m.skops")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.never_predicted_ == model.never_predicted_
