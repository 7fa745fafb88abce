import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.calibration import CalibrationDisplay, calibration_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hedgeclipper import AutoLabelDisplay, VoterDisplay
from tests.inspection.conftest import X


def new_ax():
    return Figure().subplots()


@pytest.mark.parametrize("kind", ["forest", "panel", "votes"])
def test_the_calibration_display_of_scikit_learn_takes_our_estimators(models, rows_of, kind):
    rows, y = rows_of(kind)
    display = CalibrationDisplay.from_estimator(models[kind], rows, y, n_bins=7, ax=new_ax())
    true, predicted = calibration_curve(y, models[kind].predict_proba(rows)[:, 1], n_bins=7)
    np.testing.assert_array_equal(display.prob_true, true)
    np.testing.assert_array_equal(display.prob_pred, predicted)


def test_a_pipeline_is_named_by_its_classifier(models):
    whole = make_pipeline(StandardScaler(with_mean=False, with_std=False).fit(X), models["forest"])
    assert VoterDisplay.from_estimator(whole, ax=new_ax()).name == "HedgeClipperClassifier"


@pytest.mark.parametrize(
    "draw",
    [
        lambda ax: VoterDisplay.from_weights([0.1], [1.0], ax=ax),
        lambda ax: AutoLabelDisplay(np.array([0.1]), np.ones(1), "estimate", 0.95).plot(ax),
    ],
)
def test_plot_draws_again_elsewhere_and_returns_itself(draw):
    display, ax = draw(new_ax()), new_ax()
    assert display.plot(ax=ax) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"VoterDisplay needs matplotlib.*\[plots\]"):
        VoterDisplay.from_weights([0.1], [1.0])
