import warnings

import numpy as np
import pandas as pd
import pytest
from hedgeclipper.panel.defaults import DEFAULT_MEMBERS, LABELS_FOR_LARGE, default_panel
from hedgeclipper.panel.fitting import MemberRows
from hedgeclipper.panel.members import cross_fit, score_members
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from hedgeclipper import HedgedVotingClassifier, default_members
from tests.few_trees import panel_of_few_trees

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 2))
Y = (X[:, 0] > 0).astype(int)
MISSING = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
SPARSE = sparse.csr_array(np.where(np.abs(X) > 0.3, X, 0))

CASES = {
    "dense": (X, Y, 40),
    "sparse": (SPARSE, Y, 40),
    "missing": (MISSING, Y, 40),
    "six labels": (X, Y, 6),
    "three classes": (X, np.digitize(X[:, 0], [-0.5, 0.5]), 40),
    "one label in a class": (X, np.arange(150) % 150 == 0, 8),
}


def names(n_labels, rows=X):
    return {name for name, _ in default_panel(rows, n_labels, np.random.RandomState(0))}


@pytest.mark.parametrize("case", CASES)
def test_no_member_fails_or_warns(case):
    rows, y, n = CASES[case]
    y = np.asarray(y, dtype=int)
    panel = panel_of_few_trees(rows, n, np.random.RandomState(0))
    given = MemberRows(rows[:n], y[:n], y.max() + 1, None, rows[n:])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        members = cross_fit(panel, given, [])
        left, scores = score_members(members, rows, given.n_classes)
    assert len(left) == len(panel)
    assert scores.shape == (150, len(panel), given.n_columns)
    assert np.all((scores >= 0) & (scores <= 1))


def test_members_depend_on_the_number_of_labels():
    assert names(LABELS_FOR_LARGE) - names(LABELS_FOR_LARGE - 1) == {"boosting_large"}
    assert names(LABELS_FOR_LARGE, SPARSE) == names(40)


# Default members by name.


def few_defaults(*_, **__):
    return [("linear", LogisticRegression()), ("extra_trees", GaussianNB())]


def test_all_defaults_have_a_name_that_says_so():
    assert names(40) | names(LABELS_FOR_LARGE) == set(DEFAULT_MEMBERS)


def test_named_defaults_are_the_default_panel(monkeypatch):
    monkeypatch.setattr("hedgeclipper.panel.members.default_panel", few_defaults)
    parts = X[:40], Y[:40], X[40:]
    ours = HedgedVotingClassifier(default_members(), random_state=0).fit(*parts)
    theirs = HedgedVotingClassifier(random_state=0).fit(*parts)
    assert ours.member_names_.tolist() == [
        "linear",
        "extra_trees",
    ]  # the others do not suit the rows
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))


def test_others_beside_the_defaults(monkeypatch):
    monkeypatch.setattr("hedgeclipper.panel.members.default_panel", few_defaults)
    other = ("own", DecisionTreeClassifier(max_depth=2, random_state=0))
    model = HedgedVotingClassifier([*default_members(), other], random_state=0)
    model = clone(model).set_params(extra_trees="drop", own__max_depth=1)
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(c=np.where(X[:, 0] > 0, "up", "down"))
    model.fit(frame[:40], Y[:40], X_unlabeled=frame[40:])
    assert model.member_names_.tolist() == ["linear", "own"]
    tree = model.members_["own"]
    assert tree.max_depth == 1
    assert tree.n_features_in_ == 4  # strings are encoded for all


def test_a_default_must_be_one():
    model = HedgedVotingClassifier([("lineal", "default")])
    with pytest.raises(ValueError, match=r"'lineal' is no default member\. Choose from .*linear"):
        model.fit(X[:40], Y[:40], X_unlabeled=X[40:])


def test_defaults_are_not_prefit():
    model = HedgedVotingClassifier(default_members()[:1], cv="prefit")
    with pytest.raises(ValueError, match="cv='prefit' needs classifiers that are fitted"):
        model.fit(X[:40], Y[:40], X_unlabeled=X[40:])


def test_some_look_at_views_of_the_unlabeled_rows():
    assert {"components", "class_means", "kernel", "hedgeclipper"} <= names(40)
