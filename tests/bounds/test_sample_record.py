import numpy as np
import pandas as pd
import pytest

from hedgeclipper import draw_sample
from hedgeclipper.bounds import sample_record
from hedgeclipper.bounds.sample_record import read_record, record_columns


@pytest.mark.parametrize("excluded", [(), (3, 4, 5, 9), range(0, 300, 2)], ids=["0", "4", "150"])
def test_a_record_is_read_back(monkeypatch, excluded):
    monkeypatch.setattr(sample_record, "CELL", 60)  # so that it takes many cells
    sample = draw_sample(np.arange(300.0), 40, seed=2, excluded=list(excluded)).extended(50)
    columns = {name: cells[::-1] for name, cells in record_columns(sample, 1).items()}
    found, places, n_columns = read_record(columns)
    assert np.array_equal(found.rows, sample.rows)
    assert np.array_equal(found.excluded, list(excluded))
    assert (found.seed, found.n_first, found.n_rows, found.digest) == (2, 40, 300, sample.digest)
    assert np.array_equal(places, np.arange(50)[::-1])
    assert n_columns == 1


def test_a_record_is_checked_against_the_rows():
    rows = np.random.default_rng(0).normal(size=(30, 2))
    columns = pd.DataFrame(record_columns(draw_sample(rows, 4), 2))
    read_record(columns, rows)
    read_record(columns, pd.DataFrame(rows).astype(str))
    for others in (rows[::-1], rows[:29], 31):
        with pytest.raises(ValueError, match="drawn from"):
            read_record(columns, others)


def changed(**cells):
    columns = record_columns(draw_sample(30, 4, excluded=[1, 2]), 0)
    for name, (place, value) in cells.items():
        columns[name][place] = value
    return columns


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (changed(row=(2, 1)), "row 1 is at position 3"),
        (changed(row=(2, "x")), "whole numbers. Got 'x'"),
        (changed(position=(0, 9)), "position 1 is missing"),
        (changed(position=(3, 9)), "Position 9 is not in the sample, which has 4 rows"),
        (changed(record=(0, "seed=1")), "must have one record. Got 2"),
        ({**changed(), "record": ["seed=1"] * 4}, "has no 'drawn'"),
        ({**changed(), "record": [None] * 4}, "must have one record. Got 0"),
    ],
)
def test_a_record_that_was_changed(columns, message):
    with pytest.raises(ValueError, match=message):
        read_record(columns)


def test_more_rows_left_out_than_can_be_recorded(monkeypatch):
    monkeypatch.setattr(sample_record, "CELL", 20)
    with pytest.raises(ValueError, match="cannot be recorded in 2 lines"):
        record_columns(draw_sample(500, 2, excluded=range(0, 400, 2)), 0)
