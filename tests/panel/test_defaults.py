import warnings

import numpy as np
import pytest
from scipy import sparse

from hedgeclipper.panel.defaults import (
    MANY_LABELS,
    TOO_MANY_LABELS,
    TOO_MANY_TO_SORT,
    default_panel,
)
from hedgeclipper.panel.members import MemberRows, cross_fit, score_members

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
    panel = default_panel(rows, n, np.random.RandomState(0))
    given = MemberRows(rows[:n], y[:n], y.max() + 1, None, rows[n:])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        members = cross_fit(panel, given, [])
        left, scores = score_members(members, rows, given.n_classes)
    assert len(left) == len(panel)
    assert scores.shape == (150, len(panel), given.n_columns)
    assert np.all((scores >= 0) & (scores <= 1))


def test_members_depend_on_the_number_of_labels():
    few, many, most = names(40), names(MANY_LABELS), names(TOO_MANY_LABELS + 1)
    assert many - few == {"boosting_large"}
    assert few - most == {"support_vectors"}
    assert "boosting_large" not in names(MANY_LABELS, SPARSE)


def test_slow_boosters_are_left_out_where_there_is_much_to_sort():
    rows = RNG.normal(size=(60, 4))
    few = dict(default_panel(rows, TOO_MANY_TO_SORT // 2, np.random.RandomState(0)))
    many = dict(default_panel(rows, TOO_MANY_TO_SORT // 2, np.random.RandomState(0), n_classes=3))
    assert set(few) - set(many) == {"boosting_plain"}


def test_some_learn_from_the_unlabeled_rows():
    assert {"self_trained", "spreading", "hedgeclipper"} <= names(40)
