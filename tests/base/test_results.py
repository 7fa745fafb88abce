from html import escape

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import estimator_html_repr

from hedgeclipper import HedgeClipperClassifier, VoteAggregator
from hedgeclipper.bounds.auto_labels import surest_rows

X, Y = make_classification(400, n_informative=4, random_state=0)
RNG = np.random.default_rng(0)
VOTES = np.where(RNG.random((400, 4)) < 0.75, Y[:, None], 1 - Y[:, None])
GOLD = np.where(np.arange(400) < 60, Y, -1)
OWN = [("linear", LogisticRegression()), ("bayes", GaussianNB())]
KINDS = ["trees", "own", "votes"]


def unfitted():
    return {
        "trees": HedgeClipperClassifier("trees", n_estimators=20, random_state=0),
        "own": HedgeClipperClassifier(OWN, random_state=0),
        "votes": VoteAggregator(),
    }


@pytest.fixture(scope="module")
def models():
    found = unfitted()
    for kind in ("trees", "own"):
        found[kind].fit(X[:100], Y[:100], X_unlabeled=X[100:])
    found["votes"].fit(VOTES, GOLD)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_the_summary_is_shown_below_the_diagram(models, kind):
    model = models[kind]
    page = model._repr_html_()
    assert "sk-container-id" in page
    assert 'class="hedgeclipper-fitted"' in page
    assert f"{model.n_unlabeled_:,}" in page
    assert escape(model.certificate_.describe().removeprefix("error ")) in page
    assert model._repr_mimebundle_()["text/html"].count("hedgeclipper-fitted") == 1


@pytest.mark.parametrize("kind", KINDS)
def test_an_unfitted_estimator_is_shown_as_scikit_learn_does(kind):
    model = unfitted()[kind]
    assert "hedgeclipper-fitted" not in model._repr_html_()
    assert "sk-container-id" in model._repr_html_()
    assert "sk-container-id" in estimator_html_repr(model)


def test_with_display_as_text_there_is_no_html(models):
    with sklearn.config_context(display="text"):
        assert not hasattr(models["trees"], "_repr_html_")
        assert list(models["trees"]._repr_mimebundle_()) == ["text/plain"]


def test_what_comes_from_data_is_escaped():
    hostile = "<script>alert(1)</script>"
    frame = pd.DataFrame(VOTES, columns=[hostile, "b", "c", "d"])
    labels = np.array(["<i>", "no"], dtype=object)
    model = VoteAggregator(abstain_label=None).fit(
        frame.apply(lambda column: labels[column]),
        np.where(GOLD >= 0, labels[GOLD], None),
    )
    page = model._repr_html_()
    summary = page[page.index("hedgeclipper-fitted") :]
    assert hostile not in summary
    assert "<i>" not in summary
    assert "&lt;i&gt;" in summary


@pytest.mark.parametrize("kind", KINDS)
def test_tested_predictions_are_those_of_the_certificate(models, kind):
    model = models[kind]
    found = model.tested_predictions_
    assert found.certificate(model.confidence_level) == model.certificate_
    wanted = model.auto_label(0.3, among="automatic", confidence_level=0.8)
    sure = surest_rows(found, 0.3, 0.8).is_accepted[~found.is_tested]
    np.testing.assert_array_equal(wanted.needs_review, ~sure)


@pytest.mark.parametrize("kind", KINDS)
def test_the_voter_of_the_largest_contribution_is_named(models, kind):
    summary = models[kind].voter_summary()
    contribution = "Contribution" if kind == "votes" else "contribution"
    names = summary.index if kind == "votes" else summary["voter"]
    heaviest = names[summary[contribution].to_numpy().argmax()]
    assert f"{len(summary)}, largest contribution from {heaviest}" in models[kind]._repr_html_()
