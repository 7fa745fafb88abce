import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.naive_bayes import GaussianNB

from hedgeclipper import VoterDisplay
from tests.inspection.conftest import X, Y


def new_ax():
    return Figure().subplots()


def test_members_are_drawn_as_their_summary_has_them(models):
    display = VoterDisplay.from_estimator(models["panel"], ax=new_ax())
    summary = models["panel"].member_summary().set_index("member").loc[display.voters]
    np.testing.assert_allclose(display.weights, summary["weight"])
    np.testing.assert_allclose(display.correlations, summary["correlation"])
    np.testing.assert_allclose(display.errors, summary["standard_error"])
    assert {text.get_text() for text in display.texts_} <= {"linear", "bayes"}


def test_groups_are_drawn_by_weight_and_correlation(models):
    model = models["forest"]
    display = VoterDisplay.from_estimator(model, ax=new_ax())
    np.testing.assert_array_equal(display.weights, model.weights_[0])
    np.testing.assert_array_equal(display.correlations, model.label_correlations_[0])
    assert {text.get_text() for text in display.texts_} <= set(model.estimators_)
    assert "group" in display.ax_.get_xlabel()


def test_correlation_of_votes_is_twice_the_accuracy_less_one(models):
    display = VoterDisplay.from_estimator(models["votes"], ax=new_ax())
    summary = models["votes"].voter_summary()
    np.testing.assert_allclose(display.correlations, 2 * summary["Emp. Acc."] - 1)
    np.testing.assert_allclose(display.weights, summary["Weight"])


def test_one_class_of_many_can_be_drawn(of_three, models):
    whole = VoterDisplay.from_estimator(of_three, ax=new_ax())
    one = VoterDisplay.from_estimator(of_three, target=1, ax=new_ax())
    np.testing.assert_array_equal(one.weights, of_three.weights_[1])
    assert whole.weights.size == of_three.weights_.size
    with pytest.raises(ValueError, match=r"one of the classes \[0, 1, 2\]. Got 7"):
        VoterDisplay.from_estimator(of_three, target=7, ax=new_ax())
    with pytest.raises(ValueError, match="one game for all classes"):
        VoterDisplay.from_estimator(models["votes"], target=1, ax=new_ax())


def test_names_do_not_overlap():
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
