import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hedgeclipper import (
    AutoLabelDisplay,
    HedgeClipperClassifier,
    HedgedVotingClassifier,
    VoteAggregator,
)
from tests.inspection.conftest import MEMBERS, VOTES, X, Y

ERRORS = [0.1, 0.2, 0.3, 0.4]


def draw(model, *args, **options):
    return AutoLabelDisplay.from_estimator(model, *args, ax=Figure().subplots(), **options)


@pytest.fixture(scope="module")
def guaranteed():
    forest = HedgeClipperClassifier(n_estimators=40, confidence_level=0.9, random_state=0)
    panel = HedgedVotingClassifier(MEMBERS, confidence_level=0.9, random_state=0)
    votes = VoteAggregator(confidence_level=0.9, random_state=0)
    return {
        "forest": forest.fit(X[:200], Y[:200], X_unlabeled=X[200:]),
        "panel": panel.fit(X[:200], Y[:200], X_unlabeled=X[200:]),
        "votes": votes.fit(VOTES, np.where(np.arange(600) < 200, Y, -1)),
    }


@pytest.mark.parametrize("kind", ["forest", "panel", "votes"])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_curve_is_the_coverage_of_auto_label(models, guaranteed, kind, level):
    rows = VOTES if kind == "votes" else X
    for model in (models[kind], guaranteed[kind]):
        for given in ((), (rows[:50],), (rows[200:],)):
            display = draw(model, *given, max_errors=ERRORS, confidence_level=level)
            for one, coverage in zip(ERRORS, display.coverages, strict=True):
                found = model.auto_label(*given, max_error=one, confidence_level=level)
                assert found.coverage == pytest.approx(coverage)
                assert found.kind == display.kind
        assert display.coverages.max() > 0
        np.testing.assert_array_equal(display.line_.get_xydata().T, [ERRORS, display.coverages])


def test_the_legend_says_whether_it_is_guaranteed(models, guaranteed):
    text = "VoteAggregator (guaranteed with 95% confidence)"
    assert draw(guaranteed["votes"]).ax_.get_legend_handles_labels()[1] == [text]
    text = "VoteAggregator (estimate at 80% confidence)"
    other = draw(models["votes"], confidence_level=0.8)
    assert other.ax_.get_legend_handles_labels()[1] == [text]


def test_by_default_the_curve_ends_where_all_rows_can_be_labeled(guaranteed):
    model = guaranteed["votes"]
    display = draw(model, confidence_level=0.9)
    assert display.max_errors[-1] == pytest.approx(model.certificate_.error_upper)
    assert display.max_errors.size == 40
    assert np.all(np.diff(display.max_errors) > 0)


def test_rows_go_through_the_steps_of_a_pipeline():
    marked = np.where(np.arange(600) < 200, Y, -1)
    model = HedgeClipperClassifier(n_estimators=40, confidence_level=0.9, random_state=0)
    whole = make_pipeline(StandardScaler(), model).fit(X, marked)
    scaled = whole[0].transform(X[:50])
    ours, theirs = draw(whole, X[:50], max_errors=ERRORS), draw(model, scaled, max_errors=ERRORS)
    np.testing.assert_array_equal(ours.coverages, theirs.coverages)


def test_bad_arguments_say_what_is_wrong(models):
    with pytest.raises(ValueError, match=r"max_errors must lie strictly between.*Got \[0.0, 0.1\]"):
        draw(models["votes"], max_errors=[0.0, 0.1])
    with pytest.raises(ValueError, match=r"'confidence_level' parameter must lie.*Got 1.5"):
        draw(models["votes"], confidence_level=1.5)
    with pytest.raises(TypeError, match=r"AutoLabelDisplay is for Hedge.*Got GaussianNB"):
        draw(GaussianNB().fit(X, Y))
    with pytest.raises(ValueError, match="not fitted"):
        draw(VoteAggregator())
