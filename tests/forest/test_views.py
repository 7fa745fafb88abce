import numpy as np
import pytest
from hedgeclipper.forest.views import FARTHEST, Components, fit_views, reach
from scipy import sparse
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.preprocessing import MaxAbsScaler, StandardScaler, normalize

RNG = np.random.default_rng(0)
# of three large directions and some noise, so that components are well apart
X = RNG.normal(size=(400, 3)) @ np.diag([5.0, 3.0, 2.0]) @ RNG.normal(size=(3, 8))
X = (X + 0.1 * RNG.normal(size=X.shape)).astype(np.float32)
COUNTS = sparse.random_array((200, 600), density=0.02, random_state=0, format="csr") * 5
COUNTS = COUNTS.astype(np.float32)


def assert_same_up_to_sign(ours, theirs, **options):
    signs = np.sign(np.sum(ours * theirs, axis=0))
    np.testing.assert_allclose(ours, signs * theirs, **options)


def test_components_of_columns_without_tails_are_those_of_pca():
    """Columns are cut at their first and last hundredth, which is done beforehand here."""
    cut = np.clip(X, *np.array([reach(column) for column in X.T]).T).astype(np.float32)
    ours = Components(3, random_state=0).fit_transform(cut)
    lowest, highest = np.array([reach(column) for column in cut.T]).T
    scaled = StandardScaler().fit_transform(np.clip(cut, lowest, highest))
    theirs = PCA(3, svd_solver="full").fit_transform(scaled)
    assert_same_up_to_sign(ours, theirs, atol=1e-2)
    assert np.abs(theirs).max() > 3


def test_outliers_are_cut():
    usual = Components(2, random_state=0).fit(X)
    far = X[:1].copy()
    far[0, 0] = 1e6
    at_the_end = X[:1].copy()
    at_the_end[0, 0] = usual.highest_[0]
    np.testing.assert_allclose(usual.transform(far), usual.transform(at_the_end), rtol=1e-5)
    column = np.append(np.zeros(95), [1e3, 1e4, 1e5, 1e6, 1e7])
    view = Components(1).fit(np.column_stack([column, RNG.normal(size=(100, 2))]))
    cut = np.clip(column, *reach(column))
    assert view.highest_[0] <= cut.mean() + FARTHEST * cut.std() + 1e-6


def test_in_a_column_that_is_mostly_zero_the_others_are_kept():
    column = np.zeros(1000)
    column[:5] = [1.0, 2.0, 3.0, 4.0, 5.0]
    low, high = reach(column)
    assert low == 0
    assert high == pytest.approx(np.quantile([1, 2, 3, 4, 5], 0.95))


def test_missing_values_become_the_median():
    view = Components(3, random_state=0).fit(X)
    holes, filled = X[:50].copy(), X[:50].copy()
    holes[:, 2] = np.nan
    filled[:, 2] = np.median(X[:, 2])
    np.testing.assert_allclose(view.transform(holes), view.transform(filled), rtol=1e-5)
    some = X.copy()
    some[::3, 2] = np.nan
    theirs = np.where(np.isnan(some), np.nanmedian(some, axis=0), some)
    ours = Components(3, random_state=0).fit(some).transform(some)
    theirs = Components(3, random_state=0).fit(theirs).transform(theirs)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_an_empty_column_and_a_constant_one_add_nothing():
    with_more = np.column_stack([X, np.full(400, np.nan), np.full(400, 7.0)]).astype(np.float32)
    ours = Components(3, random_state=0).fit(with_more)
    np.testing.assert_array_equal(ours.directions_[8:], 0)
    theirs = Components(3, random_state=0).fit_transform(X)
    assert_same_up_to_sign(ours.transform(with_more), theirs, atol=1e-3)
    other = with_more.copy()
    other[:, 9] = 8.0
    np.testing.assert_array_equal(ours.transform(other), ours.transform(with_more))


def test_all_constant_columns_have_components_of_zero():
    view = Components(random_state=0).fit(np.ones((10, 4), np.float32))
    np.testing.assert_array_equal(view.transform(np.ones((2, 4), np.float32)), 0)


@pytest.mark.parametrize("rows", [X, COUNTS, COUNTS.toarray()], ids=["dense", "sparse", "counts"])
def test_components_of_a_row_do_not_depend_on_the_rows_beside_it(rows):
    view = Components(5, random_state=0).fit(rows)
    whole = view.transform(rows)
    for part in (slice(0, 1), slice(7, 20), slice(0, 199)):
        np.testing.assert_array_equal(view.transform(rows[part]), whole[part])
    backwards = view.transform(rows[::-1])
    np.testing.assert_array_equal(backwards[::-1], whole)


@pytest.mark.parametrize("n_columns", [600, 20])
def test_sparse_rows_give_what_dense_ones_give(n_columns):
    rows = COUNTS[:, :n_columns]
    ours, theirs = (Components(5, random_state=0).fit(given) for given in (rows, rows.toarray()))
    assert ours.has_unit_rows_ == theirs.has_unit_rows_ == (n_columns > 500)
    np.testing.assert_allclose(
        ours.transform(rows), theirs.transform(rows.toarray()), rtol=1e-4, atol=1e-6
    )
    np.testing.assert_array_equal(ours.transform(rows), ours.transform(rows.toarray()))


def test_entries_of_sparse_rows_may_come_twice_and_in_any_order():
    view = Components(3, random_state=0).fit(COUNTS)
    indices, data = np.array([7, 3, 7]), np.array([1.0, 2.0, 4.0], np.float32)
    odd = sparse.csr_array((data, indices, np.array([0, 3])), shape=(1, 600))
    np.testing.assert_array_equal(view.transform(odd), view.transform(odd.toarray()))
    np.testing.assert_array_equal(odd.indices, [7, 3, 7])  # the rows stay as they are


def test_wide_rows_that_are_mostly_zero_are_scaled_to_unit_length():
    """A truncated decomposition of these, without centering."""
    topic = np.where(RNG.random(600) < 0.05, 3.0, 0.0)  # words that come together in some rows
    rows = sparse.csr_array(COUNTS + COUNTS[:, [0]].toarray() * topic).astype(np.float32)
    unit = normalize(rows)
    ours = Components(3, random_state=0).fit(rows)
    theirs = TruncatedSVD(3, random_state=0, n_iter=10).fit(unit)
    assert_same_up_to_sign(ours.transform(rows)[:, :1], theirs.transform(unit)[:, :1], atol=1e-3)
    np.testing.assert_allclose(ours.transform(2 * rows), ours.transform(rows), rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(ours.offset_, 0)
    nothing = sparse.csr_array((1, 600), dtype=np.float32)
    np.testing.assert_array_equal(ours.transform(nothing), 0)


def test_there_are_no_more_components_than_columns_or_rows():
    assert Components(30).fit_transform(X).shape == (400, 8)
    assert Components(30).fit_transform(X[:4]).shape == (4, 4)
    assert Components(2).fit_transform(X).shape == (400, 2)


def test_rows_of_another_width_are_refused():
    with pytest.raises(ValueError, match="8 features"):
        Components(2).fit(X).transform(X[:, :5])


# Which views there are.


def views_of(views, rows=X, unlabeled=None):
    return fit_views(views, rows, unlabeled, np.random.RandomState(0))


def test_auto_is_components_if_there_are_three_columns():
    (view,) = views_of("auto")
    assert isinstance(view, Components)
    assert views_of("auto", X[:, :3])[0].directions_.shape == (3, 3)
    assert views_of("auto", X[:, :2]) == []
    assert views_of(None) == []


def test_transformers_are_cloned_and_fitted_to_all_rows():
    given = [StandardScaler(), MaxAbsScaler()]
    for views in (given[:1], given[0], tuple(given)):
        fitted = views_of(views, X[:100], X[100:])
        assert fitted[0] is not given[0]
        assert not hasattr(given[0], "mean_")
        np.testing.assert_allclose(fitted[0].mean_, X.mean(axis=0), atol=1e-5)
    np.testing.assert_allclose(fitted[1].max_abs_, np.abs(X).max(axis=0))


def test_unlabeled_rows_change_the_directions():
    """Labeled rows lie along one direction, unlabeled ones along another."""
    along = RNG.normal(size=(50, 1)) * [[1.0, 1.0, 0.0, 0.0]] + 0.01 * RNG.normal(size=(50, 4))
    other = RNG.normal(size=(500, 1)) * [[0.0, 0.0, 1.0, 1.0]] + 0.01 * RNG.normal(size=(500, 4))
    alone, both = (views_of(PCA(1), along, unlabeled)[0] for unlabeled in (None, other))
    np.testing.assert_allclose(np.abs(alone.components_[0]), [0.7, 0.7, 0, 0], atol=0.05)
    np.testing.assert_allclose(np.abs(both.components_[0]), [0, 0, 0.7, 0.7], atol=0.05)


def test_sparse_and_dense_rows_may_be_mixed():
    rows = COUNTS[:, :20]
    view = views_of("auto", rows[:50].toarray(), rows[50:])[0]
    theirs = views_of("auto", rows)[0]
    np.testing.assert_allclose(view.directions_, theirs.directions_, rtol=1e-4, atol=1e-6)
