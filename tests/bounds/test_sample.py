import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import chisquare

from hedgeclipper import draw_sample
from hedgeclipper.bounds import sample as sample_module
from hedgeclipper.bounds.sample import read_record, record_columns
from hedgeclipper.bounds.whole_file import order_by_uncertainty


def test_all_rows_are_drawn_equally_often():
    counts = np.bincount(np.concatenate([draw_sample(20, 5, seed=s).rows for s in range(2000)]))
    assert chisquare(counts).pvalue > 1e-6


def test_excluded_rows_are_not_drawn_and_a_mask_is_as_good():
    sample = draw_sample(10, 7, excluded=[2, 5, 9])
    assert sorted(sample.rows) == [0, 1, 3, 4, 6, 7, 8] == sample.pool.tolist()
    again = draw_sample(10, 7, excluded=np.isin(np.arange(10), [2, 5, 9]))
    assert np.array_equal(again.rows, sample.rows)
    assert "3 more rows had a label already" in sample.describe()


def test_the_order_tells_nothing_of_how_ties_are_broken():
    order = order_by_uncertainty(np.zeros(500), seed=7)
    assert not np.array_equal(order, draw_sample(500, 500, seed=7).rows)


X = np.random.default_rng(0).normal(size=(30, 3))


@pytest.mark.parametrize(
    "changed", [X[::-1], X + 1e-9, X[:-1], np.vstack([X, X[:1]])], ids=["order", "value", "-", "+"]
)
def test_a_changed_file_is_recognized(changed):
    sample = draw_sample(X, 5)
    sample.check(X.copy())
    sample.check(sparse.csr_array(X))
    sample.check(pd.DataFrame(X))
    with pytest.raises(ValueError, match="the rows"):
        sample.check(changed)


def test_labels_of_a_sample_can_be_kept_without_a_column():
    sample = draw_sample(X, 5, seed=1, excluded=[3])
    with pytest.raises(ValueError, match="same n, seed and excluded"):
        sample.check(X[:, :2])
    again = draw_sample(X[:, :2], 5, seed=1, excluded=[3])
    np.testing.assert_array_equal(again.rows, sample.rows)


@pytest.mark.parametrize("make", [list, np.array, lambda ids: pd.DataFrame({"id": ids})])
def test_long_ids_are_told_apart(make):
    """Beyond 2**53 floats do not know each whole number."""
    ids = [2**53, 2**53 + 1, 2**62 + 1]
    sample = draw_sample(make(ids), 1)
    sample.check(pd.DataFrame({"id": [str(one) for one in ids]}))
    with pytest.raises(ValueError, match="order has changed"):
        sample.check(make([2**53 + 1, 2**53, 2**62 + 1]))


def test_changed_strings_are_recognized():
    frame = pd.DataFrame({"text": ["a", "b", None], "n": [1, 2, 3]})
    sample = draw_sample(frame, 2)
    sample.check(frame.copy())
    with pytest.raises(ValueError, match="digest"):
        sample.check(frame.assign(text=["a", "c", None]))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n": 0}, "at least 1"),
        ({"n": 2.5}, "at least 1"),
        ({"n": True}, "at least 1"),
        ({"rows": -3}, "must not be negative. Got -3"),
        ({"rows": np.zeros((3, 3, 3))}, "an array of 3 dimensions"),
        ({"n": 11}, "there are 10"),
        ({"n": 9, "excluded": [1, 2]}, "there are 8 rows without a label"),
        ({"seed": -1}, "seed"),
        ({"excluded": [10]}, "Got row 10"),
        ({"excluded": [0.5]}, "positions"),
        ({"rows": "rows.csv"}, "Got str"),
    ],
    ids=str,
)
def test_bad_input(given, message):
    with pytest.raises((ValueError, TypeError), match=message):
        draw_sample(**{"rows": 10, "n": 3, **given})


@pytest.mark.parametrize("n", [4, 5])
def test_a_sample_is_extended_by_a_row_at_least(n):
    with pytest.raises(ValueError, match=f"Got n={n}, and 5 rows were drawn"):
        draw_sample(10, 5).extended(n)


def test_rows_of_strings_are_recognized():
    rows = np.array([["a", "1"], ["b", "2"], ["c", "3"]])
    sample = draw_sample(rows, 2)
    sample.check(rows.tolist())
    with pytest.raises(ValueError, match="order has changed"):
        sample.check(rows[::-1])


# The record as columns.


@pytest.mark.parametrize("excluded", [(), (3, 4, 5, 9), range(0, 300, 2)], ids=["0", "4", "150"])
def test_a_record_is_read_back(monkeypatch, excluded):
    monkeypatch.setattr(sample_module, "CELL", 60)  # so that it takes many cells
    sample = draw_sample(np.arange(300.0), 40, seed=2, excluded=list(excluded)).extended(50)
    written = record_columns(sample, 1)
    columns = {name: [f"{cell} " for cell in cells[::-1]] for name, cells in written.items()}
    found, places, n_columns = read_record(columns, 300)
    assert np.array_equal(found.rows, sample.rows)
    assert np.array_equal(found.excluded, list(excluded))
    assert (found.seed, found.n_first, found.n_rows, found.digest) == (2, 40, 300, sample.digest)
    assert np.array_equal(places, np.arange(50)[::-1])
    assert n_columns == 1


def test_a_record_is_checked_against_the_rows():
    rows = np.random.default_rng(0).normal(size=(30, 2))
    columns = pd.DataFrame(record_columns(draw_sample(rows, 4), 2))
    found, _, _ = read_record(columns, 30)
    found.check(rows)
    found.check(pd.DataFrame(rows).astype(str))
    for others in (rows[::-1], rows[:29], 31):
        with pytest.raises(ValueError, match="drawn from"):
            found.check(others)


def test_a_record_of_more_rows_than_there_are_draws_nothing():
    """Any number may be written there, also one that takes all memory."""
    columns = record_columns(draw_sample(30, 4), 0)
    columns["record"] = [text.replace("rows=30", f"rows={10**15}") for text in columns["record"]]
    with pytest.raises(ValueError, match="drawn from 1,000,000,000,000,000 rows"):
        read_record(columns, 30)


def test_a_long_seed_is_read_back():
    sample = draw_sample(30, 4, seed=2**128 - 1)
    assert np.array_equal(read_record(record_columns(sample, 0), 30)[0].rows, sample.rows)


def changed(**cells):
    columns = record_columns(draw_sample(30, 4, excluded=[1, 2]), 0)
    for name, (place, value) in cells.items():
        columns[name][place] = value
    return columns


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (changed(row=(2, 1)), "row 1 is at position 3"),
        (changed(row=(2, "x")), "whole numbers from 0 to 29. Got 'x'"),
        (changed(position=(0, 2)), "position 1 is missing"),
        (changed(position=(3, 9)), "whole numbers from 1 to 4. Got '9'"),
        (changed(position=(3, 0)), "whole numbers from 1 to 4. Got '0'"),
        (changed(position=(3, 10**30)), "whole numbers from 1 to 4"),
        (changed(row=(2, "9" * 5000)), "whole numbers from 0 to 29"),
        (changed(record=(0, "seed=1")), "must have one record. Got 2"),
        (changed(excluded=(0, f"1..{10**15}")), "from 0 to 29. Got '1000000000000000'"),
        (changed(excluded=(0, "2..1")), "ascending order. Got '2..1'"),
        (changed(excluded=(0, "1..9 " * 4000)), "ascending order. Got '1..9' after row 9"),
        ({**changed(), "record": ["seed=1"] * 4}, "has no 'drawn'"),
        (
            {**changed(), "record": ["seed=0 drawn=4 first=5 rows=30 columns=0 digest=none"] * 4},
            "5 of 4 rows were drawn at first",
        ),
        ({**changed(), "record": [None] * 4}, "must have one record. Got 0"),
    ],
)
def test_a_record_that_was_changed(columns, message):
    with pytest.raises(ValueError, match=message):
        read_record(columns, 30)


def test_more_rows_left_out_than_can_be_recorded(monkeypatch):
    monkeypatch.setattr(sample_module, "CELL", 20)
    with pytest.raises(ValueError, match="cannot be recorded in 2 lines"):
        record_columns(draw_sample(500, 2, excluded=range(0, 400, 2)), 0)
