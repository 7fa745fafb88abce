import sys
from pathlib import Path

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


@pytest.mark.parametrize("as_path", [str, Path, lambda path: f"{path}/*.parquet"])
def test_a_folder_is_read_in_the_order_of_the_names(tmp_path, as_path):
    for number in (2, 0, 1):
        write(tmp_path / f"{number}.parquet", {"a": [float(number)]})
    for hidden in ("_SUCCESS", "_x.parquet", ".x.parquet", "notes.md"):
        (tmp_path / hidden).write_text("no rows")
    (tmp_path / "below.parquet").mkdir()
    assert stacked(as_source(as_path(tmp_path))).ravel().tolist() == [0.0, 1.0, 2.0]


def test_a_list_of_paths_keeps_its_order(tmp_path):
    paths = [write(tmp_path / f"{number}.parquet", {"a": [float(number)]}) for number in (1, 0)]
    assert stacked(as_source(paths)).ravel().tolist() == [1.0, 0.0]
    with pytest.raises(ValueError, match=r"1\.parquet is named twice"):
        as_source([*paths, str(paths[0])])


def test_a_name_that_looks_like_a_pattern_is_a_file_if_there_is_one(tmp_path):
    path = write(tmp_path / "x[1].parquet", ROWS)
    assert stacked(as_source(str(path))).shape == (3, 3)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("x.parquet", r"x\.parquet does not exist\. Pass"),
        ("*.parquet", r"No file matches .*\*\.parquet'\. Check"),
        ("", r"has no data files in it.*pattern like"),
    ],
)
def test_no_files(tmp_path, where, message):
    with pytest.raises(FileNotFoundError, match=message):
        as_source(str(tmp_path / where) if where else tmp_path)


@pytest.mark.parametrize("where", ["s3://bucket/rows/*.parquet", ["https://x.org/a.csv"]])
def test_addresses_are_not_paths(where):
    with pytest.raises(ValueError, match=r"is an address.*pyarrow\.dataset\.dataset\(address\)"):
        as_source(where)


def test_files_of_different_kinds(tmp_path):
    write(tmp_path / "x.parquet", ROWS)
    write(tmp_path / "x.csv", ROWS)
    with pytest.raises(ValueError, match=r"x\.csv is CSV, .*x\.parquet is Parquet.*one kind"):
        as_source(tmp_path)
    (tmp_path / "x.doc").touch()
    with pytest.raises(ValueError, match=r"x\.doc has an unknown suffix.*\.parquet"):
        as_source(tmp_path / "x.doc")


@pytest.mark.parametrize("columns", ["abc", ["a", "a"]])
def test_columns_must_be_a_list_of_different_names(tmp_path, columns):
    with pytest.raises(ValueError, match="columns must be a list of different names"):
        as_source(write(tmp_path / "x.parquet", ROWS), columns=columns)


def test_the_label_is_no_column_of_the_rows(tmp_path):
    with pytest.raises(ValueError, match="'y' is the label, and it is in columns too"):
        as_source(write(tmp_path / "x.parquet", ROWS), columns=["a", "y"], label="y")


@every_format
def test_a_source_takes_what_is_asked_for_later(tmp_path, name):
    path = write(tmp_path / name, {**ROWS, "word": ["p", "q", None]})
    first = as_source(path, columns=["b", "a"])
    assert as_source(first) is first
    assert as_source(first, name="X", columns=["b", "a"]) is first
    source = as_source(first, name="X", label="y", dtype=np.float32)
    assert source.column_names == ["b", "a"]
    assert {batch.dtype for batch in source} == {np.dtype(np.float32)}
    np.testing.assert_array_equal(stacked(source), np.array(A_B)[:, ::-1])
    np.testing.assert_array_equal(labels_of(source), [1.0, np.nan, 0.0])
    assert first.label is None


@pytest.mark.parametrize("make", [pa.table, lambda rows: [pa.table(rows)]], ids=["frame", "list"])
def test_columns_of_a_source_are_picked_by_name(make):
    source = as_source(as_source(make(ROWS)), columns=["b", "a"], label="y")
    np.testing.assert_array_equal(stacked(source), np.array(A_B)[:, ::-1])
    np.testing.assert_array_equal(labels_of(source), [1.0, np.nan, 0.0])


@pytest.mark.parametrize(
    ("had", "wanted", "message"),
    [
        (
            {"columns": ["a", "b"]},
            {"columns": ["b", "a"]},
            r"X is a source that was made with columns=\['a', 'b'\]\. Here columns=\['b', 'a'\] is "
            r"wanted\. Make the source with that, or without columns\.",
        ),
        ({"label": "y"}, {"label": "b"}, "made with label='y'. Here label='b' is wanted"),
        ({"n_columns": 3}, {"n_columns": 2}, "made with n_columns=3. Here n_columns=2 is wanted"),
        ({"columns": ["a", "y"]}, {"label": "y"}, "'y' is the label, and it is in columns too"),
    ],
    ids=["columns", "label", "width", "label among columns"],
)
def test_a_source_that_was_made_with_something_else(tmp_path, had, wanted, message):
    source = as_source(write(tmp_path / "x.parquet", ROWS), **had)
    with pytest.raises(ValueError, match=message):
        as_source(source, name="X", **wanted)


def test_a_reader_can_be_read_only_once():
    table = pa.table(ROWS)
    with pytest.raises(TypeError, match="can be read only once: got RecordBatchReader"):
        as_source(table.to_reader())


class Reiterable:
    def __iter__(self):
        return iter([np.zeros((2, 3)), np.ones((1, 3))])


@pytest.mark.parametrize(
    "data",
    [
        [np.zeros((2, 3)), np.ones((1, 3))],
        Reiterable(),
        lambda: (batch for batch in [np.zeros((2, 3)), np.ones((1, 3))]),
    ],
    ids=["list", "object", "function"],
)
def test_batches_can_be_read_twice(data):
    source = as_source(data)
    assert [batch.shape for batch in source] == [(2, 3), (1, 3)]
    assert [batch.shape for batch in source] == [(2, 3), (1, 3)]
    assert not source.in_memory


def test_iterator_is_refused():
    with pytest.raises(TypeError, match=r"can be read only once: got generator.*several passes"):
        as_source(batch for batch in [np.zeros((2, 3))])


def test_an_iterator_will_do_where_it_is_read_once():
    source = as_source(iter([np.zeros((2, 3))]), once=True)
    assert [batch.shape for batch in source] == [(2, 3)]
    with pytest.raises(ValueError, match="changed between passes: 2 rows at first, then 0"):
        list(source)


def test_frame_and_nested_lists_are_arrays():
    assert as_source(pd.DataFrame({"a": [1, -1], "b": [1, 1]})).in_memory
    assert as_source([[1, -1], [1, 1]]).in_memory


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
