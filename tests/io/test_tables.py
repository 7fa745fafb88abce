import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from hedgeclipper.io import as_source, formats
from hedgeclipper.io import source as sources
from tests.written_tables import A_B, ROWS, every_format, labels_of, stacked, write


@every_format
def test_rows_and_labels_by_name_on_every_pass(tmp_path, name):
    path = write(tmp_path / name, ROWS)
    source = as_source(path, label="y")
    for _ in range(2):
        np.testing.assert_array_equal(stacked(source), A_B)
        np.testing.assert_array_equal(labels_of(source), [1.0, np.nan, 0.0])
    assert source.column_names == ["a", "b"]
    assert source.label == "y"
    assert not source.in_memory


@every_format
def test_columns_are_picked_in_the_order_asked_for(tmp_path, name):
    path = write(tmp_path / name, {**ROWS, "text": ["p", "q", "r"]})
    source = as_source(path, columns=np.array(["b", "a"]), dtype=np.float32)
    np.testing.assert_array_equal(stacked(source), np.array(A_B)[:, ::-1])
    assert stacked(source).dtype == np.float32


def test_a_file_without_rows_among_others(tmp_path):
    write(tmp_path / "0.parquet", pa.table(ROWS).slice(0, 0))
    write(tmp_path / "1.parquet", ROWS)
    assert [len(batch) for batch in as_source(tmp_path)] == [3]


def test_pyarrow_is_asked_for_where_it_is_missing(tmp_path, monkeypatch):
    path = write(tmp_path / "x.parquet", ROWS)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r"needs pyarrow.*pip install 'hedgeclipper\[io\]'"):
        as_source(path)


def test_names_with_dots_and_spaces(tmp_path):
    columns = {"a": [1.0], "a.b": [2.0], "a b, c": [3.0]}
    for name in ("x.parquet", "x.feather", "x.csv"):
        path = write(tmp_path / name, columns)
        assert stacked(as_source(path)).tolist() == [[1.0, 2.0, 3.0]]
        assert stacked(as_source(path, columns=["a.b", "a"])).tolist() == [[2.0, 1.0]]
    dataset = ds.dataset(tmp_path / "x.parquet")
    assert stacked(as_source(dataset, columns=["a.b", "a"])).tolist() == [[2.0, 1.0]]


def test_columns_of_files_are_matched_by_name(tmp_path):
    write(tmp_path / "0.parquet", {"a": [1.0], "b": [2.0]})
    write(tmp_path / "1.parquet", {"b": [4.0], "a": [3.0]})
    assert stacked(as_source(tmp_path)).tolist() == [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".feather"])
def test_a_column_that_one_file_lacks(tmp_path, suffix):
    write(tmp_path / f"0{suffix}", {"a": [1.0], "b": [2.0]})
    write(tmp_path / f"1{suffix}", {"a": [1.0]})
    write(tmp_path / f"2{suffix}", {"a": [1.0], "z": [1.0]})
    zero, one, two = (tmp_path / f"{number}{suffix}" for number in range(3))
    with pytest.raises(ValueError, match=rf"1\{suffix} has no column 'b'\. It has 'a'"):
        as_source([zero, one])
    with pytest.raises(ValueError, match=rf"1\{suffix} has no column 'b'"):
        as_source([zero, one], columns=["a"], label="b")
    with pytest.raises(ValueError, match=rf"1\{suffix} has no column 'z', but .*2\{suffix} has"):
        as_source([one, two])
    assert stacked(as_source(tmp_path, columns=["a"])).shape == (3, 1)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_types_of_files_that_do_not_go_together(tmp_path, suffix):
    write(tmp_path / f"0{suffix}", {"a": [1]})
    write(tmp_path / f"1{suffix}", {"a": [1.5]})
    assert stacked(as_source(tmp_path)).ravel().tolist() == [1.0, 1.5]
    write(tmp_path / f"2{suffix}", {"a": ["one"]})
    message = rf"'a' of .*2\{suffix} must hold numbers.*string, but numbers in .*0\{suffix}"
    with pytest.raises(TypeError, match=message):
        as_source(tmp_path)
    for number in range(3):
        table = pq.read_table(tmp_path / f"{number}.parquet") if suffix == ".parquet" else None
        table = table or pa.Table.from_pandas(pd.read_csv(tmp_path / f"{number}.csv"))
        write(tmp_path / f"{number}{suffix}", table.append_column("x", pa.array([1.0])))
    message = rf"'a' of .*2\{suffix} is string, but (int64|double) in .*0\{suffix}"
    with pytest.raises(TypeError, match=message):
        as_source(tmp_path, columns=["x"], label="a")


def test_no_column_but_the_label(tmp_path):
    with pytest.raises(ValueError, match=r"no columns for the rows. It has 'y'"):
        as_source(write(tmp_path / "x.parquet", {"y": [1]}), label="y")


def test_batches_are_bounded_whatever_the_row_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "_MOST_ROWS", 300)
    table = pa.table({"a": np.arange(1000.0)})
    pq.write_table(table, tmp_path / "large.parquet", row_group_size=1000)
    pq.write_table(table, tmp_path / "small.parquet", row_group_size=70)
    feather.write_feather(table, tmp_path / "large.arrow")
    for path in tmp_path.iterdir():
        batches = list(as_source(path))
        assert [len(batch) for batch in batches] == [300, 300, 300, 100]
        np.testing.assert_array_equal(np.vstack(batches).ravel(), np.arange(1000.0))


def arrow_peak(where):
    """Most bytes that Arrow held at once, seen from batch to batch."""
    pool = pa.default_memory_pool()
    before = pool.bytes_allocated()  # first, since a heading's reader lets go of its own later
    return max(pool.bytes_allocated() - before for _ in as_source(where))


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".csv"])
def test_memory_does_not_grow_with_rows_and_files(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(sources, "_MOST_ROWS", 2000)
    monkeypatch.setattr(formats, "_CSV_BLOCK_BYTES", 1 << 14)
    rng = np.random.default_rng(0)
    # A page holds up to 20,000 rows, so that a shorter file would hold less than one.
    some = pa.table({name: rng.random(40_000) for name in "abc"})
    if suffix == ".csv":
        some = some.slice(0, 20_000)
    many = pa.concat_tables([some] * 10).combine_chunks()
    (tmp_path / "many").mkdir()
    for path, table in [("some", some), ("many/0", many), ("many/1", many)]:
        write(tmp_path / f"{path}{suffix}", table)
    few = arrow_peak(tmp_path / f"some{suffix}")
    more = arrow_peak(tmp_path / "many")
    assert more < 1.5 * few + 500_000


def test_memory_is_given_back_after_a_pass(tmp_path):
    source = as_source(write(tmp_path / "x.parquet", {"a": np.random.default_rng(0).random(10**5)}))
    before = pa.total_allocated_bytes()
    list(source)
    assert pa.total_allocated_bytes() == before


@pytest.mark.parametrize("name", ["x.parquet", "x.feather", "x.ipc", "x.csv"])
def test_columns_that_change_between_passes(tmp_path, name):
    path = write(tmp_path / name, {"a": [1.0], "b": [2.0]})
    source = as_source(path)
    write(path, {"a": [1.0], "c": [2.0]})
    with pytest.raises(ValueError, match=r"x\..* has no column 'b'\. It has 'a', 'c'"):
        list(source)
    write(path, {"a": [1.0], "b": ["word"]})
    with pytest.raises(TypeError, match=r"'b' of .*x\..* must hold numbers"):
        list(source)
