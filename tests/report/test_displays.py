import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hedgeclipper import PlanDisplay, VoteAggregator
from hedgeclipper.bounds.finishing import Plan
from tests.report.conftest import VOTES, X, Y

ERRORS = [0.1, 0.2, 0.3, 0.4]


def new_ax():
    return Figure().subplots()


def test_a_pipeline_is_named_by_its_classifier(models):
    whole = make_pipeline(StandardScaler(with_mean=False, with_std=False).fit(X), models["forest"])
    assert PlanDisplay.from_estimator(whole, ax=new_ax()).name == "HedgeClipperClassifier"


def test_plot_draws_on_given_axes_and_without_them_needs_matplotlib(monkeypatch):
    display = PlanDisplay(Plan(np.array([0.1]), np.ones(1, int), {}, 10, 20, 0.95))
    assert display.plot(ax := new_ax()) is display
    assert display.ax_ is ax
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"PlanDisplay needs matplotlib.*\[plots\]"):
        display.plot()


@pytest.fixture
def guaranteed():
    model = VoteAggregator(confidence_level=0.9, random_state=0)
    return model.fit(VOTES, np.where(np.arange(500) < 200, Y, -1))


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
    # the guarantee is for the first error asked of the labels
    again = PlanDisplay.from_estimator(
        model, max_error=ERRORS[0], confidence_level=level, ax=new_ax()
    )
    assert again.point_ is None


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
