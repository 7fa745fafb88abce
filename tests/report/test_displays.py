import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hedgeclipper import PlanDisplay, VoteAggregator, VoterDisplay
from hedgeclipper.bounds.plan import Plan
from tests.report.conftest import VOTES, X, Y

ERRORS = [0.1, 0.2, 0.3, 0.4]


def new_ax():
    return Figure().subplots()


def test_a_pipeline_is_named_by_its_classifier(models):
    whole = make_pipeline(StandardScaler(with_mean=False, with_std=False).fit(X), models["forest"])
    assert VoterDisplay.from_estimator(whole, ax=new_ax()).name == "HedgeClipperClassifier"


def test_plot_draws_again_elsewhere_and_returns_itself():
    for display in (
        VoterDisplay(np.array([0.1]), np.array([1.0])),
        PlanDisplay(Plan(np.array([0.1]), np.ones(1, int), {}, 10, 20, 0.95)),
    ):
        ax = new_ax()
        assert display.plot(ax=ax) is display
        assert display.ax_ is ax
        assert display.figure_ is ax.figure


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"VoterDisplay needs matplotlib.*\[plots\]"):
        VoterDisplay(np.array([0.1]), np.array([1.0])).plot()


def test_members_are_drawn_as_their_summary_has_them(models):
    display = VoterDisplay.from_estimator(models["panel"], ax=new_ax())
    summary = models["panel"].voter_summary().set_index("voter").loc[display.voters]
    np.testing.assert_allclose(display.weights, summary["weight"])
    np.testing.assert_allclose(display.correlations, summary["correlation"])
    np.testing.assert_allclose(display.errors, summary["standard_error"])
    assert {text.get_text() for text in display.texts_} <= {"linear", "bayes"}


def test_correlation_of_votes_is_twice_the_accuracy_less_one(models):
    display = VoterDisplay.from_estimator(models["votes"], ax=new_ax())
    summary = models["votes"].voter_summary()
    np.testing.assert_allclose(display.correlations, 2 * summary["Emp. Acc."] - 1)
    np.testing.assert_allclose(display.weights, summary["Weight"])


def test_one_class_of_many_can_be_drawn(of_three, models):
    whole = VoterDisplay.from_estimator(of_three, ax=new_ax())
    one = VoterDisplay.from_estimator(of_three, target=1, ax=new_ax())
    np.testing.assert_array_equal(np.sort(one.weights), np.sort(of_three.weights_[1]))
    assert whole.weights.size == of_three.weights_.size
    with pytest.raises(ValueError, match=r"one of the classes \[0, 1, 2\]. Got 7"):
        VoterDisplay.from_estimator(of_three, target=7, ax=new_ax())
    with pytest.raises(ValueError, match="one game for all classes"):
        VoterDisplay.from_estimator(models["votes"], target=1, ax=new_ax())


def test_names_do_not_overlap_and_voters_without_labels_have_none():
    display = VoterDisplay(
        np.array([0.1, 0.101, 0.9, np.nan]), np.array([1.0, 0.999, 0.2, 9.0]), voters=[*"abcd"]
    )
    assert [text.get_text() for text in display.plot(new_ax()).texts_] == ["a", "c"]


@pytest.fixture(scope="module")
def guaranteed():
    model = VoteAggregator(confidence_level=0.9, random_state=0)
    return model.fit(VOTES, np.where(np.arange(600) < 200, Y, -1))


@pytest.mark.parametrize("kind", ["forest", "panel", "votes", "guaranteed"])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_plan_has_the_rows_that_auto_label_leaves_for_review(models, guaranteed, kind, level):
    model = {**models, "guaranteed": guaranteed}[kind]
    display = PlanDisplay.from_estimator(
        model, max_errors=ERRORS, max_error=ERRORS[-1], confidence_level=level, ax=new_ax()
    )
    for one, by_hand in zip(ERRORS, display.plan.n_by_hand, strict=True):
        found = model.auto_label(one, confidence_level=level)
        assert found.review_order.size == by_hand
    np.testing.assert_array_equal(display.line_.get_xydata().T, [ERRORS, display.plan.n_by_hand])
    labels = [f"{type(model).__name__} (an estimate)"]
    if kind == "guaranteed":
        labels.append(f"guaranteed with {100 * level:g}% confidence")
    assert display.ax_.get_legend_handles_labels()[1] == labels


def test_by_default_the_plan_ends_where_no_row_needs_review(guaranteed):
    display = PlanDisplay.from_estimator(guaranteed, confidence_level=0.9, ax=new_ax())
    errors = display.plan.max_errors
    assert errors[-1] == pytest.approx(guaranteed.certificate_.error_upper)
    assert np.all(np.diff(errors) > 0)
    more = PlanDisplay.from_estimator(guaranteed, more=[100], ax=new_ax())
    assert more.ax_.get_legend_handles_labels()[1][1] == "with 100 more random labels"


def test_bad_arguments_say_what_is_wrong(models):
    draw = PlanDisplay.from_estimator
    with pytest.raises(ValueError, match=r"max_errors must lie strictly between.*Got \[0.0, 0.1\]"):
        draw(models["votes"], max_errors=[0.0, 0.1])
    with pytest.raises(ValueError, match=r"'confidence_level' parameter must lie.*Got 1.5"):
        draw(models["votes"], confidence_level=1.5)
    with pytest.raises(TypeError, match=r"PlanDisplay is for Hedge.*Got GaussianNB"):
        draw(GaussianNB().fit(X, Y))
    with pytest.raises(ValueError, match="not fitted"):
        draw(VoteAggregator())
