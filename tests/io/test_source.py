import os

import numpy as np
import pytest

from hedgeclipper.io import as_source
from hedgeclipper.io import source as sources
from tests.written_tables import ROWS, stacked, write


def test_labels_that_were_not_asked_for(tmp_path):
    source = as_source(write(tmp_path / "x.parquet", ROWS))
    with pytest.raises(ValueError, match=r"votes has no labels.*Pass label"):
        next(source.labeled_batches())


@pytest.mark.parametrize(("n_columns", "n_rows"), [(1, 65536), (1000, 4194), (10**6, 256)])
def test_rows_of_a_batch(n_columns, n_rows):
    assert sources.rows_per_batch(n_columns) == n_rows


def test_numbers_too_large_for_float32(tmp_path):
    source = as_source(write(tmp_path / "x.parquet", {"a": [1e300]}), dtype=np.float32)
    with pytest.raises(ValueError, match=r"'a' of .*too large for float32, .*Rescale"):
        list(source)
    assert stacked(as_source(tmp_path)).tolist() == [[1e300]]


def test_width_that_was_not_expected(tmp_path):
    path = write(tmp_path / "x.parquet", ROWS)
    assert stacked(as_source(path, n_columns=3)).shape == (3, 3)
    with pytest.raises(ValueError, match=r"x\.parquet must have 2 columns\. Got 3"):
        as_source(path, n_columns=2)


@pytest.mark.parametrize("name", ["x.parquet", "x.feather", "x.csv"])
def test_a_file_that_disappears_between_passes(tmp_path, name):
    path = write(tmp_path / name, ROWS)
    source = as_source(path)
    list(source)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"x\..* is gone\. Keep files in place"):
        list(source)


@pytest.mark.parametrize("name", ["x.parquet", "x.feather", "x.ipc", "x.csv"])
def test_rows_that_change_between_passes(tmp_path, name):
    path = write(tmp_path / name, {"a": [1.0, 2.0]})
    source = as_source(path)
    list(source)
    write(path, {"a": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match=r"x\..* changed between passes: 2 rows at first, then 3"):
        list(source)


def test_a_file_that_may_not_be_read(tmp_path):
    path = write(tmp_path / "x.parquet", ROWS)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(PermissionError, match=r"x\.parquet"):
        as_source(path)


def test_batches_that_change_are_noticed():
    lengths = iter([3, 2])
    source = as_source(lambda: [np.ones((next(lengths), 1))])
    list(source)
    with pytest.raises(ValueError, match=r"batches of votes changed .*: 3 rows at first, then 2"):
        list(source)


def test_a_damaged_file_is_named_once():
    message = r"^x is damaged or cut short at the end \(broken\)\. Put a whole copy in its place\.$"
    with (
        pytest.raises(OSError, match=message),
        sources.naming_damaged_file("x", ValueError, where=lambda: "elsewhere"),
        sources.naming_damaged_file("x", ValueError, where=lambda: "at the end"),
    ):
        raise ValueError("broken")
