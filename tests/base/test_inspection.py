from html import escape

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import estimator_html_repr

from hedgeclipper import HedgeClipperClassifier, VoteAggregator
from hedgeclipper.base.inspection import (
    VoterTable,
    contributions_of,
    inspect_estimator,
    main_figures,
)

X, Y = make_classification(400, n_informative=4, random_state=0)
RNG = np.random.default_rng(0)
VOTES = np.where(RNG.random((400, 4)) < 0.75, Y[:, None], 1 - Y[:, None])
GOLD = np.where(np.arange(400) < 60, Y, -1)
THREE_X, THREE_Y = make_classification(300, n_informative=5, n_classes=3, random_state=0)
THREE_VOTES = np.where(np.random.default_rng(0).random((300, 4)) < 0.7, THREE_Y[:, None], 0)
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
def test_contributions_add_up_to_one(models, kind):
    table = models[kind]._inspect().voters
    assert table.contributions.sum() == pytest.approx(1.0)
    assert len(table.names) == table.weights.size == table.correlations.size


def test_contributions_are_zero_where_all_weights_are():
    np.testing.assert_array_equal(contributions_of(np.zeros(3)), 0.0)
    np.testing.assert_allclose(contributions_of(np.array([1.0, np.nan, -3.0])), [0.25, 0.0, 0.75])


def test_a_part_of_a_table_keeps_its_columns():
    table = VoterTable("voter", ["a", "b"], *[np.arange(2.0)] * 3, more={"n": [5, 6]})
    part = table.take(np.array([1]))
    assert part.names == ["b"]
    assert part.more == {"n": [6]}
    assert part.coverage is None


def fitted(kind, n_classes):
    y = THREE_Y if n_classes == 3 else np.minimum(THREE_Y, 1)
    if kind == "votes":
        return VoteAggregator().fit(
            np.minimum(THREE_VOTES, n_classes - 1), np.where(THREE_X[:, 0] > 0, y, -1)
        )
    return unfitted()[kind].fit(THREE_X[:150], y[:150], X_unlabeled=THREE_X[150:])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_an_inspection_has_what_the_estimator_has(kind, n_classes):
    model = fitted(kind, n_classes)
    found = inspect_estimator(model, "a test")
    n_games = n_classes if n_classes > 2 and kind != "votes" else 1
    assert found.kind == ("votes" if kind == "votes" else "table")
    assert found.n_labeled == model.n_labeled_
    assert found.certificate is model.certificate_
    assert len(found.stop_reasons) == n_games
    assert found.n_iter == np.sum(model.n_iter_)
    rows = THREE_VOTES[:50] if kind == "votes" else THREE_X[:50]
    rows = np.minimum(rows, n_classes - 1) if kind == "votes" else rows
    given = (rows, None) if kind == "votes" else (None, None, rows)
    read = found.read_rows(*given).X_unlabeled
    probabilities = model.predict_proba(rows)
    np.testing.assert_allclose(found.predict_rows(read), probabilities)
    np.testing.assert_allclose(found.uncertainties_of(rows), 1.0 - probabilities.max(axis=1))
    found_again = found.checked.certificate(model.confidence_level)
    assert found_again.describe() == model.certificate_.describe()


@pytest.mark.parametrize("kind", ["trees", "own"])
def test_reading_rows_leaves_the_estimator_as_it_was(kind):
    model = fitted(kind, 2)
    before = {name: id(value) for name, value in vars(model).items()}
    rows = inspect_estimator(model, "a test").read_rows(THREE_X[:20, ::-1], np.arange(20) % 2, None)
    assert rows.X_labeled.shape == (20, 20)
    assert {name: id(value) for name, value in vars(model).items()} == before


def test_others_and_unfitted_ones_cannot_be_inspected():
    with pytest.raises(TypeError, match=r"A test is for HedgeClipperClassifier.*Got GaussianNB"):
        inspect_estimator(GaussianNB(), "A test")
    with pytest.raises(NotFittedError):
        inspect_estimator(VoteAggregator(), "A test")


def test_the_error_in_the_summary_is_that_of_the_certificate():
    model = VoteAggregator(confidence_level=0.9, random_state=0)
    model.fit(THREE_VOTES, np.where(np.arange(300) < 20, THREE_Y, -1))
    figures = dict(main_figures(model._inspect()))
    assert "error " + figures["error"] == model.certificate_.describe()
    assert "guaranteed with 90% confidence" in figures["error"]
