"""The pictures beside the margins: convergence, voters, abstention."""

import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.calibration import CalibrationDisplay, calibration_curve
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from hedgeclipper import (
    AbstentionDisplay,
    ConvergenceDisplay,
    HedgeClipperClassifier,
    HedgedVotingClassifier,
    VoteAggregator,
    VoterDisplay,
    solve_game,
)

X, Y = make_classification(600, n_informative=4, flip_y=0.1, random_state=0)
THREE = np.arange(Y.size) % 3
MEMBERS = [("linear", LogisticRegression()), ("bayes", GaussianNB())]
RNG = np.random.default_rng(0)
VOTES = np.where(RNG.random((600, 5)) < 0.7, Y[:, None], 1 - Y[:, None])
VOTES[RNG.random((600, 5)) < 0.3] = -1
SHARES = RNG.beta(2, 2, 600)
LABELS = (RNG.random(600) < SHARES).astype(int)


def new_ax():
    return Figure().subplots()


@pytest.fixture(scope="module")
def models():
    forest = HedgeClipperClassifier(n_estimators=10, random_state=0)
    panel = HedgedVotingClassifier(MEMBERS, random_state=0)
    votes = VoteAggregator()
    return {
        "forest": forest.fit(X[:200], Y[:200], X_unlabeled=X[200:]),
        "panel": panel.fit(X[:200], Y[:200], X_unlabeled=X[200:]),
        "votes": votes.fit(VOTES, np.where(np.arange(600) < 60, Y, -1)),
    }


@pytest.fixture(scope="module")
def of_three():
    model = HedgeClipperClassifier(n_estimators=5, random_state=0)
    return model.fit(X[:200], THREE[:200], X_unlabeled=X[200:])


def rows_of(kind):
    return (VOTES, Y) if kind == "votes" else (X[200:], Y[200:])


@pytest.mark.parametrize("kind", ["forest", "panel"])
def test_the_last_pass_is_what_the_model_reached(models, kind):
    model = models[kind]
    display = ConvergenceDisplay.from_estimator(model, ax=new_ax())
    assert display.passes[0][-1] == model.n_iter_[0]
    assert display.gaps[0][-1] == pytest.approx(model.duality_gap_[0])
    assert display.gap_ax_ is not None
    assert display.name == type(model).__name__


@pytest.mark.parametrize("kind", ["forest", "panel", "votes"])
def test_the_best_slack_never_rises(models, kind):
    slacks = ConvergenceDisplay.from_estimator(models[kind], ax=new_ax()).slacks[0]
    assert np.all(np.diff(slacks) <= 0)


def test_votes_have_both_curves_too(models):
    model = models["votes"]
    display = ConvergenceDisplay.from_estimator(model, ax=new_ax())
    assert display.passes[0].tolist() == list(range(1, model.n_iter_[0] + 1))
    assert len(display.slack_lines_) == len(display.gap_lines_) == 1
    assert display.tol == model.tol


def test_each_class_has_its_game(of_three):
    display = ConvergenceDisplay.from_estimator(of_three, ax=new_ax())
    assert display.names == ["0", "1", "2"]
    assert len(display.slack_lines_) == len(display.gap_lines_) == 3


def test_a_history_can_be_drawn_and_ticks_are_plain_text():
    votes = np.sign(RNG.normal(0.3, 1.0, (300, 6)))
    solution = solve_game(votes, [0.3] * 6, method="batch", tol=1e-4)
    display = ConvergenceDisplay.from_history(solution.history, tol=1e-4, ax=new_ax())
    np.testing.assert_array_equal(display.slacks[0], [record.primal for record in solution.history])
    display.figure_.canvas.draw()
    assert all("$" not in text.get_text() for text in display.gap_ax_.get_yticklabels())


def test_convergence_needs_passes_and_an_estimator_of_ours():
    with pytest.raises(ValueError, match="no pass to draw"):
        ConvergenceDisplay.from_history([], ax=new_ax())
    with pytest.raises(TypeError, match=r"ConvergenceDisplay is for Hedge.* Got GaussianNB"):
        ConvergenceDisplay.from_estimator(GaussianNB().fit(X, Y), ax=new_ax())


def test_members_are_drawn_as_their_summary_has_them(models):
    display = VoterDisplay.from_estimator(models["panel"], ax=new_ax())
    summary = models["panel"].member_summary().set_index("member").loc[display.voters]
    np.testing.assert_allclose(display.weights, summary["weight"])
    np.testing.assert_allclose(display.correlations, summary["correlation"])
    np.testing.assert_allclose(display.errors, summary["standard_error"])
    assert {text.get_text() for text in display.texts_} <= {"linear", "bayes"}


def test_leaves_are_drawn_by_weight_and_correlation(models):
    model = models["forest"]
    display = VoterDisplay.from_estimator(model, ax=new_ax())
    np.testing.assert_array_equal(display.weights, model.specialist_weights_[0])
    np.testing.assert_array_equal(display.correlations, model.label_correlations_[0])
    np.testing.assert_array_equal(display.sizes, model.coverage_[0])
    assert display.texts_ == []  # too many
    assert "leaf" in display.ax_.get_xlabel()


def test_correlation_of_votes_is_twice_the_accuracy_less_one(models):
    display = VoterDisplay.from_estimator(models["votes"], ax=new_ax())
    summary = models["votes"].voter_summary()
    np.testing.assert_allclose(display.correlations, 2 * summary["Emp. Acc."] - 1)
    np.testing.assert_allclose(display.weights, summary["Weight"])


def test_one_class_of_many_can_be_drawn(of_three, models):
    whole = VoterDisplay.from_estimator(of_three, ax=new_ax())
    one = VoterDisplay.from_estimator(of_three, target=1, ax=new_ax())
    np.testing.assert_array_equal(one.weights, of_three.specialist_weights_[1])
    assert whole.weights.size == sum(w.size for w in of_three.specialist_weights_)
    with pytest.raises(ValueError, match=r"one of the classes \[0, 1, 2\]. Got 7"):
        VoterDisplay.from_estimator(of_three, target=7, ax=new_ax())
    with pytest.raises(ValueError, match="one game for all classes"):
        VoterDisplay.from_estimator(models["votes"], target=1, ax=new_ax())


def test_names_do_not_lie_upon_each_other():
    crowd = VoterDisplay.from_weights(
        [0.1, 0.101, 0.9], [1.0, 0.999, 0.2], voters=["a", "b", "c"], ax=new_ax()
    )
    assert [text.get_text() for text in crowd.texts_] == ["a", "c"]


def test_voters_without_labels_are_left_out_of_the_names():
    display = VoterDisplay.from_weights([np.nan, 0.5], [9.0, 1.0], voters="ab", ax=new_ax())
    assert [text.get_text() for text in display.texts_] == ["b"]


def test_every_voter_has_one_value():
    with pytest.raises(ValueError, match=r"one value for each voter. Got weights of shape \(2,\)"):
        VoterDisplay.from_weights([0.1], [1.0, 2.0], ax=new_ax())
    with pytest.raises(TypeError, match=r"VoterDisplay is for Hedge.* Got GaussianNB"):
        VoterDisplay.from_estimator(GaussianNB().fit(X, Y), ax=new_ax())


@pytest.mark.parametrize("kind", ["forest", "panel", "votes"])
def test_who_answers_all_has_the_error_of_predict(models, kind):
    rows, y = rows_of(kind)
    display = AbstentionDisplay.from_estimator(models[kind], rows, y, ax=new_ax())
    assert display.abstained[0] == 0
    assert display.errors[0] == pytest.approx(np.mean(models[kind].predict(rows) != y), abs=0.01)
    assert np.all(np.diff(display.abstained) > 0)
    assert np.all((display.lower <= display.errors) & (display.errors <= display.upper))


def test_error_is_that_of_the_rows_above_the_threshold():
    display = AbstentionDisplay.from_predictions(LABELS, SHARES, ax=new_ax())
    middle = display.errors.size // 2
    sure = np.maximum(SHARES, 1 - SHARES) >= display.thresholds[middle]
    assert display.errors[middle] == pytest.approx(np.mean((SHARES > 0.5)[sure] != LABELS[sure]))
    assert display.abstained[middle] == pytest.approx(np.mean(~sure))


def test_equally_sure_rows_are_given_up_together():
    display = AbstentionDisplay.from_predictions([0, 1] * 10, [0.3, 0.7] * 10, ax=new_ax())
    assert display.abstained.tolist() == [0.0]


def test_abstention_is_for_many_classes_too(of_three):
    display = AbstentionDisplay.from_estimator(of_three, X[200:], THREE[200:], ax=new_ax())
    error = np.mean(of_three.predict(X[200:]) != THREE[200:])
    assert display.errors[0] == pytest.approx(error)


@pytest.mark.parametrize("kind", ["forest", "panel", "votes"])
def test_the_calibration_display_of_scikit_learn_takes_our_estimators(models, kind):
    rows, y = rows_of(kind)
    display = CalibrationDisplay.from_estimator(models[kind], rows, y, n_bins=7, ax=new_ax())
    true, predicted = calibration_curve(y, models[kind].predict_proba(rows)[:, 1], n_bins=7)
    np.testing.assert_array_equal(display.prob_true, true)
    np.testing.assert_array_equal(display.prob_pred, predicted)


def test_a_pipeline_is_named_by_its_classifier(models):
    whole = make_pipeline(StandardScaler(with_mean=False, with_std=False).fit(X), models["forest"])
    display = AbstentionDisplay.from_estimator(whole, X[200:], Y[200:], ax=new_ax())
    assert display.name == "HedgeClipperClassifier"
    assert ConvergenceDisplay.from_estimator(whole, ax=new_ax()).name == "HedgeClipperClassifier"


def test_labels_and_probabilities_are_checked(models):
    display, name = AbstentionDisplay, "AbstentionDisplay"
    with pytest.raises(TypeError, match=f"{name} needs predict_proba. Got LinearSVC"):
        display.from_estimator(LinearSVC().fit(X, Y), X, Y, ax=new_ax())
    with pytest.raises(TypeError, match=f"{name} is for classifiers. Got StandardScaler"):
        display.from_estimator(StandardScaler().fit(X), X, Y, ax=new_ax())
    with pytest.raises(ValueError, match=r"y has 5 unlabeled rows"):
        display.from_estimator(models["forest"], X, np.where(np.arange(600) < 5, -1, Y))
    with pytest.raises(ValueError, match=r"must be probabilities"):
        display.from_predictions(LABELS, SHARES * 3, ax=new_ax())
    with pytest.raises(ValueError, match="not fitted"):
        display.from_estimator(HedgeClipperClassifier(), X, Y)


@pytest.mark.parametrize(
    "draw",
    [
        lambda ax: ConvergenceDisplay.from_history(
            solve_game(np.ones((9, 2)), [0.5, 0.5], method="batch").history, ax=ax
        ),
        lambda ax: VoterDisplay.from_weights([0.1], [1.0], ax=ax),
        lambda ax: AbstentionDisplay.from_predictions(LABELS, SHARES, ax=ax),
    ],
)
def test_plot_draws_again_elsewhere_and_returns_itself(draw):
    display, ax = draw(new_ax()), new_ax()
    assert display.plot(ax=ax) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"AbstentionDisplay needs matplotlib.*\[plots\]"):
        AbstentionDisplay.from_predictions(LABELS, SHARES)
    with pytest.raises(ImportError, match="VoterDisplay needs matplotlib"):
        VoterDisplay.from_weights([0.1], [1.0])
