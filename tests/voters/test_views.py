import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.preprocessing import StandardScaler, normalize

from hedgeclipper.voters.views import FARTHEST, Components, QuantileColumns, reach

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


def test_columns_of_0_and_1_are_centered_only(rng):
    """Those of rare categories, too, whose standardized values would be large."""
    rare = (rng.random((400, 6)) < [0.5, 0.3, 0.2, 0.1, 0.02, 0.01]).astype(np.float32)
    ours = Components(3, random_state=0).fit_transform(rare)
    assert_same_up_to_sign(ours, PCA(3, svd_solver="full").fit_transform(rare), atol=1e-4)
    holes = np.where(rng.random(rare.shape) < 0.1, np.nan, rare)
    filled = np.where(np.isnan(holes), np.nanmedian(holes, axis=0), holes)
    ours = Components(3, random_state=0).fit_transform(holes)
    assert_same_up_to_sign(ours, PCA(3, svd_solver="full").fit_transform(filled), atol=1e-4)


def test_outliers_are_cut(rng):
    usual = Components(2, random_state=0).fit(X)
    far = X[:1].copy()
    far[0, 0] = 1e6
    at_the_end = X[:1].copy()
    at_the_end[0, 0] = usual.highest_[0]
    np.testing.assert_allclose(usual.transform(far), usual.transform(at_the_end), rtol=1e-5)
    column = np.append(np.zeros(95), [1e3, 1e4, 1e5, 1e6, 1e7])
    view = Components(1).fit(np.column_stack([column, rng.normal(size=(100, 2))]))
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


def test_wide_rows_that_are_mostly_zero_are_scaled_to_unit_length(rng):
    """A truncated decomposition of these, without centering."""
    topic = np.where(rng.random(600) < 0.05, 3.0, 0.0)  # words that come together in some rows
    rows = sparse.csr_array(COUNTS + COUNTS[:, [0]].toarray() * topic).astype(np.float32)
    unit = normalize(rows)
    ours = Components(3, random_state=0).fit(rows)
    theirs = TruncatedSVD(3, random_state=0, n_iter=10).fit(unit)
    assert_same_up_to_sign(ours.transform(rows)[:, :1], theirs.transform(unit)[:, :1], atol=1e-3)
    np.testing.assert_allclose(ours.transform(2 * rows), ours.transform(rows), rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(ours.offset_, 0)
    nothing = sparse.csr_array((1, 600), dtype=np.float32)
    np.testing.assert_array_equal(ours.transform(nothing), 0)


@pytest.mark.parametrize("n_columns", [1, 600])
def test_rows_without_any_entry_have_finite_components(n_columns):
    """A single column of zeros, and rows without a word."""
    rows = sparse.csr_array((20, n_columns), dtype=np.float32)
    np.testing.assert_array_equal(Components(random_state=0).fit_transform(rows), 0)


def test_there_are_no_more_components_than_columns_or_rows():
    assert Components(30).fit_transform(X).shape == (400, 8)
    assert Components(30).fit_transform(X[:4]).shape == (4, 4)
    assert Components(2).fit_transform(X).shape == (400, 2)


def test_rows_of_another_width_are_refused():
    with pytest.raises(ValueError, match="8 features"):
        Components(2).fit(X).transform(X[:, :5])


# Quantile-normalized columns.

COLUMNS = RNG.normal(size=(200, 2))


def test_columns_become_normal_whatever_their_tails():
    long = np.column_stack([np.exp(3 * COLUMNS[:, 0]), COLUMNS[:, 1]])
    found = QuantileColumns().fit(long).transform(long)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(np.quantile(found, 0.84, axis=0), 1, atol=0.15)
    np.testing.assert_array_equal(np.argsort(found[:, 0]), np.argsort(long[:, 0]))


def test_columns_of_two_values_are_standardized_and_rare_values_cut(rng):
    binary = np.column_stack([rng.integers(0, 2, 1_000), np.arange(1_000) == 0]).astype(float)
    found = QuantileColumns().fit(binary).transform(binary)
    theirs = StandardScaler().fit_transform(binary)
    np.testing.assert_allclose(found, np.clip(theirs, -FARTHEST, FARTHEST))
    assert found[0, 1] == FARTHEST < theirs[0, 1]


def test_values_between_those_seen_lie_between_and_others_at_the_ends():
    view = QuantileColumns().fit(COLUMNS[:, :1])
    found = view.transform(np.array([[-0.5], [0.0], [0.5], [1e9], [-1e9]]))[:, 0]
    assert -1 < found[0] < found[1] < found[2] < 1
    seen = view.transform(COLUMNS[:, :1])
    assert (found[3], found[4]) == (seen.max(), seen.min())


def test_missing_values_become_the_median_and_empty_columns_zero():
    holes = np.column_stack([COLUMNS[:, 0], np.full(200, np.nan)])
    holes[::3, 0] = np.nan
    found = QuantileColumns().fit(holes).transform(holes)
    assert np.ptp(found[::3, 0]) == 0
    np.testing.assert_array_equal(found[:, 1], 0)
