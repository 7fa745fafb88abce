import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from hedgeclipper.io.arrays import MODULUS, digest_rows, hash_rows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 4)) * (RNG.random((50, 4)) < 0.6)


def test_order_and_batches_do_not_matter():
    parts = sum(digest_rows(part) for part in np.array_split(X[RNG.permutation(50)], 7)) % MODULUS
    assert parts == digest_rows(X) == digest_rows(sparse.csr_array(X))


def test_float32_rows_have_the_digest_of_their_values():
    single = X.astype(np.float32)
    assert digest_rows(single) == digest_rows(single.astype(float)) != digest_rows(X)


@pytest.mark.parametrize("change", ["a digit", "columns", "two rows", "a row twice", "sum"])
def test_other_rows_have_another_digest(change):
    other = X.copy()
    if change == "a digit":
        other[7, 2] = np.nextafter(other[7, 2], 1.0)
    elif change == "columns":
        other = other[:, [1, 0, 2, 3]]
    elif change == "two rows":
        other[[0, 1], 0] = other[[1, 0], 0]
    elif change == "a row twice":
        other[1] = other[0]
    else:  # the sums of all columns stay the same
        other[0, 0] += 1.0
        other[1, 0] -= 1.0
    assert digest_rows(other) != digest_rows(X)


def test_zeros_and_missing_values_are_alike_whatever_their_bits():
    some = np.array([[0.0, np.nan], [1.0, 2.0]])
    other = np.array([[-0.0, -np.nan], [1.0, 2.0]])
    assert digest_rows(some) == digest_rows(other) != digest_rows(np.nan_to_num(some))


def test_frames_of_numbers_are_like_arrays_and_strings_count():
    assert digest_rows(pd.DataFrame(X)) == digest_rows(X)
    frame = pd.DataFrame({"x": [1.0, 2.0], "name": ["a", None]})
    assert digest_rows(frame) == digest_rows(frame[::-1].copy())
    assert digest_rows(frame) != digest_rows(frame.assign(name=["b", None]))


@pytest.mark.parametrize("values", [[0, 1], [-1, 0, 1], range(8)])
def test_rows_of_small_integers_have_different_hashes(values):
    drawn = np.random.default_rng(0).choice(values, (20_000, 30))
    rows = np.unique(drawn, axis=0).astype(float)
    assert np.unique(hash_rows(rows)).size == len(rows)
    np.testing.assert_array_equal(hash_rows(rows), hash_rows(sparse.csr_array(rows)))
    np.testing.assert_array_equal(hash_rows(rows), hash_rows(pd.DataFrame(rows)))
