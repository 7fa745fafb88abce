import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import estimator_html_repr

from hedgeclipper import HedgeClipperClassifier, HedgedVotingClassifier, VoteAggregator
from hedgeclipper.base.summary import VoterTable, main_figures, shares_of

X, Y = make_classification(400, n_informative=4, random_state=0)
RNG = np.random.default_rng(0)
VOTES = np.where(RNG.random((400, 4)) < 0.75, Y[:, None], 1 - Y[:, None])
GOLD = np.where(np.arange(400) < 60, Y, -1)


def unfitted():
    members = [("linear", LogisticRegression()), ("bayes", GaussianNB())]
    return {
        "forest": HedgeClipperClassifier(n_estimators=5, random_state=0),
        "panel": HedgedVotingClassifier(members, random_state=0),
        "votes": VoteAggregator(),
    }


@pytest.fixture(scope="module")
def models():
    found = unfitted()
    for kind in ("forest", "panel"):
        found[kind].fit(X[:100], Y[:100], X_unlabeled=X[100:])
    found["votes"].fit(VOTES, GOLD)
    return found


@pytest.mark.parametrize("kind", ["forest", "panel", "votes"])
def test_the_summary_stands_beside_the_diagram(models, kind):
    model = models[kind]
    page = model._repr_html_()
    assert "sk-container-id" in page
    assert 'class="hedgeclipper-fitted"' in page
    assert f"{model.n_unlabeled_:,}" in page
    assert "(estimate)" in page
    assert f"{model.certificate_.error_upper:.1%}" in page
    assert model._repr_mimebundle_()["text/html"].count("hedgeclipper-fitted") == 1


@pytest.mark.parametrize("kind", ["forest", "panel", "votes"])
def test_an_unfitted_estimator_is_shown_as_scikit_learn_does(kind):
    model = unfitted()[kind]
    assert "hedgeclipper-fitted" not in model._repr_html_()
    assert "sk-container-id" in model._repr_html_()
    assert "sk-container-id" in estimator_html_repr(model)


def test_with_display_as_text_there_is_no_html(models):
    with sklearn.config_context(display="text"):
        assert not hasattr(models["forest"], "_repr_html_")
        assert list(models["forest"]._repr_mimebundle_()) == ["text/plain"]


def test_a_copy_for_prediction_shows_the_diagram_alone(models):
    assert "hedgeclipper-fitted" not in models["forest"].for_prediction()._repr_html_()


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


@pytest.mark.parametrize("kind", ["forest", "panel", "votes"])
def test_shares_add_up_to_one(models, kind):
    table = models[kind]._inspect().voters
    assert table.shares.sum() == pytest.approx(1.0)
    assert len(table.names) == table.weights.size == table.correlations.size


def test_leaves_have_names_and_words(models):
    model = models["forest"]
    table = model._inspect().voters
    assert len(set(table.names)) == len(table.names)
    words = model._inspect().describe_voters(np.arange(len(table.names)))
    leaves = model._predictor.finder.find(X.astype(np.float32))
    tree, leaf = (int(part.split()[1]) for part in table.names[3].split(", "))
    inside = np.ones(400, dtype=bool)
    for rule in words["rows where"][3].split(", "):
        parts = rule.replace("≤", "<=").split()
        column = next(k for k, part in enumerate(parts) if part.startswith("x"))
        values = X[:, int(parts[column][1:])]
        inside &= pd.eval(" ".join(parts), local_dict={parts[column]: values})
    found = leaves[tree] == leaf
    # thresholds are told with four digits
    assert np.mean(inside != found) < 0.01
    assert found.any()


def test_inner_nodes_and_trees_have_names_but_no_rule():
    model = HedgeClipperClassifier(n_estimators=3, specialists=("nodes", "trees"), random_state=0)
    model.fit(X[:100], Y[:100], X_unlabeled=X[100:])
    names = model._inspect().voters.names
    assert {"tree 0", "tree 1", "tree 2"} <= set(names)
    assert any(name.endswith("inner node") for name in names)
    assert model._inspect().describe_voters(np.arange(len(names))) == {}


def test_more_classes_say_whose_game_it_is():
    three = np.arange(400) % 3
    model = HedgeClipperClassifier(n_estimators=3, random_state=0)
    model.fit(X[:100], three[:100], X_unlabeled=X[100:])
    assert "worst class against the rest" in dict_of(model)
    table = model._inspect().voters
    assert set(table.targets) == {0, 1, 2}
    assert table.of_class(1).weights.size == model.specialist_weights_[1].size
    assert set(model._inspect().describe_voters(np.arange(5))["votes for"]) <= {
        "0",
        "the rest",
        "nobody",
    }


def dict_of(model):
    return " ".join(name for name, _ in main_figures(model))


def test_shares_of_nothing_are_nothing():
    np.testing.assert_array_equal(shares_of(np.zeros(3)), 0.0)
    np.testing.assert_allclose(shares_of(np.array([1.0, np.nan, -3.0])), [0.25, 0.0, 0.75])


def test_a_part_of_a_table_keeps_its_columns():
    table = VoterTable("voter", ["a", "b"], *[np.arange(2.0)] * 3, more={"n": [5, 6]})
    part = table.take(np.array([1]))
    assert part.names == ["b"]
    assert part.more == {"n": [6]}
    assert part.coverage is None
