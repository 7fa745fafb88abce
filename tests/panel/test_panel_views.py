import numpy as np
import pytest
from hedgeclipper.panel.panel_views import (
    FARTHEST,
    N_COMPONENTS,
    WIDE,
    QuantileColumns,
    fit_views,
)
from scipy import sparse
from sklearn.base import clone

RNG = np.random.default_rng(0)
DENSE = RNG.normal(size=(200, 6))
TEXT = np.where(RNG.random((150, WIDE + 50)) < 0.02, RNG.random((150, WIDE + 50)), 0.0)
NAMES = ["quantiles", "components", "kernel"]


def with_missing(rows):
    rows = rows.copy()
    rows[::3, 0] = np.nan
    rows[:, 1] = np.nan
    return rows


CASES = {
    "dense": DENSE,
    "sparse": sparse.csr_array(np.where(np.abs(DENSE) > 1, DENSE, 0)),
    "missing": with_missing(DENSE),
    "constant": np.hstack([DENSE[:, :2], np.ones((200, 1)), np.zeros((200, 1))]),
    "all constant": np.ones((50, 3)),
    "one column": DENSE[:, :1],
    "one sparse column": sparse.csr_array(np.where(DENSE[:, :1] > 0, DENSE[:, :1], 0)),
    "two rows": DENSE[:2],
    "fewer rows than components": RNG.normal(size=(12, 80)),
    "like text": sparse.csr_array(TEXT),
    "dense, like text": TEXT,
    "empty text": sparse.csr_array((20, WIDE + 50)),
}


def views_of(X, seed=0):
    return fit_views(X, np.random.RandomState(seed))


def transformed(view, X):
    found = view.transform(X)
    return found.toarray() if sparse.issparse(found) else np.asarray(found)


@pytest.mark.parametrize("case", CASES)
def test_every_view_of_every_kind_of_rows_is_finite(case):
    X = CASES[case]
    views = views_of(X)
    for name in NAMES:
        found = transformed(getattr(views, name), X)
        assert found.shape[0] == X.shape[0], name
        assert found.shape[1] >= 1, name
        assert np.isfinite(found).all(), name


def test_components_are_few():
    assert views_of(RNG.normal(size=(300, 80))).components.transform(np.zeros((1, 80))).shape == (
        1,
        N_COMPONENTS,
    )
    assert views_of(DENSE).components.transform(DENSE).shape == (200, 5)


def test_views_stay_as_they_are_when_cloned_and_fitted():
    views = views_of(DENSE)
    for name in NAMES:
        view = getattr(views, name)
        again = clone(view).fit(DENSE[:10] + 5, None)
        np.testing.assert_array_equal(transformed(again, DENSE), transformed(view, DENSE))


def test_views_are_those_of_the_seed():
    one, same, other = (transformed(views_of(DENSE, s).kernel, DENSE) for s in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert one.shape != other.shape or not np.array_equal(one, other)


def test_sparse_rows_are_never_made_dense():
    X = CASES["like text"]
    views = views_of(X)
    assert sparse.issparse(views.quantiles.transform(X))


def test_components_of_text_do_not_depend_on_the_length():
    X = CASES["like text"]
    found = views_of(X).components
    np.testing.assert_allclose(found.transform(3 * X), found.transform(X))
    assert found.transform(X).std() == pytest.approx(1)


# Quantile-normalized columns.


def test_long_columns_become_normal_whatever_their_tails():
    X = np.column_stack([np.exp(3 * DENSE[:, 0]), DENSE[:, 1]])
    found = QuantileColumns().fit(X).transform(X)
    assert np.abs(found).max() <= FARTHEST
    np.testing.assert_allclose(np.quantile(found, 0.84, axis=0), 1, atol=0.15)
    np.testing.assert_array_equal(np.argsort(found[:, 0]), np.argsort(X[:, 0]))


def test_short_columns_are_standardized():
    X = np.column_stack([RNG.integers(0, 2, 200), DENSE[:, 0]]).astype(float)
    found = QuantileColumns().fit(X).transform(X)[:, 0]
    np.testing.assert_allclose(found, (X[:, 0] - X[:, 0].mean()) / X[:, 0].std())


def test_rare_values_do_not_go_far():
    X = np.zeros((1_000, 1))
    X[0] = 1.0
    assert QuantileColumns().fit(X).transform(X).max() == FARTHEST


def test_equal_values_share_a_rank_and_far_ones_leave_room_for_the_rest():
    X = np.repeat([0.0, 1.0, 2.0, 98.0], [840, 100, 50, 10])[:, None]
    found = np.unique(QuantileColumns().fit(X).transform(X))
    assert found.size == 4
    steps = np.diff(found)
    assert steps.max() < 5 * steps.min()


def test_values_between_those_seen_lie_between():
    X = DENSE[:, :1]
    even = QuantileColumns().fit(X)
    found = even.transform(np.array([[-0.5], [0.0], [0.5], [1e9], [-1e9]]))[:, 0]
    assert -1 < found[0] < found[1] < found[2] < 1
    assert found[3] == even.transform(X).max()
    assert found[4] == even.transform(X).min()


def test_missing_values_are_filled_with_the_median():
    X = with_missing(DENSE)
    found = QuantileColumns().fit(X).transform(X)
    assert np.ptp(found[::3, 0]) == 0
    np.testing.assert_array_equal(found[:, 1], 0)
