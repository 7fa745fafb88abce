import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hedgeclipper.io import arrays, as_source, sources
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


def test_files_of_different_kinds(tmp_path):
    write(tmp_path / "x.parquet", ROWS)
    write(tmp_path / "x.csv", ROWS)
    with pytest.raises(ValueError, match=r"x\.csv is CSV, .*x\.parquet is Parquet.*one kind"):
        as_source(tmp_path)
    (tmp_path / "x.doc").touch()
    with pytest.raises(ValueError, match=r"x\.doc has an unknown suffix.*\.parquet"):
        as_source(tmp_path / "x.doc")


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
        ({"columns": ["a", "y"]}, {"label": "y"}, "'y' is the label, and it is in columns too"),
    ],
    ids=["columns", "label", "label among columns"],
)
def test_a_source_that_was_made_with_something_else(tmp_path, had, wanted, message):
    source = as_source(write(tmp_path / "x.parquet", ROWS), **had)
    with pytest.raises(ValueError, match=message):
        as_source(source, name="X", **wanted)


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


def test_iterator_is_refused():
    with pytest.raises(TypeError, match=r"can be read only once: got generator.*several passes"):
        as_source(batch for batch in [np.zeros((2, 3))])


def test_an_iterator_will_do_where_it_is_read_once():
    source = as_source(iter([np.zeros((2, 3))]), once=True)
    assert [batch.shape for batch in source] == [(2, 3)]
    with pytest.raises(ValueError, match="changed between passes: 2 rows at first, then 0"):
        list(source)


def test_frame_and_nested_lists_are_arrays():
    for data in (pd.DataFrame({"a": [1, 1], "b": [-1, 1]}), [[1, -1], [1, 1]]):
        assert [batch.tolist() for batch in as_source(data)] == [[[1, -1], [1, 1]]]


@every_format
def test_rows_and_labels_by_name_on_every_pass(tmp_path, name):
    path = write(tmp_path / name, ROWS)
    source = as_source(path, label="y")
    for _ in range(2):
        np.testing.assert_array_equal(stacked(source), A_B)
        np.testing.assert_array_equal(labels_of(source), [1.0, np.nan, 0.0])
    assert source.column_names == ["a", "b"]


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


def test_columns_of_files_are_matched_by_name(tmp_path):
    write(tmp_path / "0.parquet", {"a": [1.0], "b": [2.0]})
    write(tmp_path / "1.parquet", {"b": [4.0], "a": [3.0]})
    assert stacked(as_source(tmp_path)).tolist() == [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_a_column_that_one_file_lacks(tmp_path, suffix):
    write(tmp_path / f"0{suffix}", {"a": [1.0], "b": [2.0]})
    write(tmp_path / f"1{suffix}", {"a": [1.0]})
    write(tmp_path / f"2{suffix}", {"a": [1.0], "z": [1.0]})
    zero, one, _ = (tmp_path / f"{number}{suffix}" for number in range(3))
    with pytest.raises(ValueError, match=rf"1\{suffix} has no column 'b'\. It has 'a'"):
        as_source([zero, one])
    with pytest.raises(ValueError, match=rf"1\{suffix} has no column 'b'"):
        as_source([zero, one], columns=["a"], label="b")
    assert stacked(as_source(tmp_path, columns=["a"])).shape == (3, 1)


def test_batches_are_bounded_whatever_the_row_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "MOST_ROWS_PER_BATCH", 300)
    table = pa.table({"a": np.arange(1000.0)})
    pq.write_table(table, tmp_path / "large.parquet", row_group_size=1000)
    pq.write_table(table, tmp_path / "small.parquet", row_group_size=70)
    for path in tmp_path.iterdir():
        batches = list(as_source(path))
        assert [len(batch) for batch in batches] == [300, 300, 300, 100]
        np.testing.assert_array_equal(np.vstack(batches).ravel(), np.arange(1000.0))


def test_batches_of_frames_are_as_small_as_their_columns_are_many(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "rows_per_batch", lambda n_columns: 300 // n_columns)
    table = pa.table({name: np.zeros(250) for name in "abc"})
    pq.write_table(table, tmp_path / "rows.parquet")
    assert [len(batch) for batch in as_source(tmp_path, frames=1)] == [100, 100, 50]
    assert len(next(iter(as_source(tmp_path, frames=30)))) == 10


def arrow_peak(where):
    """Most bytes that Arrow held at once, seen from batch to batch."""
    pool = pa.default_memory_pool()
    before = pool.bytes_allocated()  # first, since a heading's reader lets go of its own later
    return max(pool.bytes_allocated() - before for _ in as_source(where))


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_memory_does_not_grow_with_rows_and_files(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(arrays, "MOST_ROWS_PER_BATCH", 2000)
    monkeypatch.setattr(sources, "CSV_BLOCK_BYTES", 1 << 14)
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


def test_labels_that_were_not_asked_for(tmp_path):
    source = as_source(write(tmp_path / "x.parquet", ROWS))
    with pytest.raises(ValueError, match=r"votes has no labels.*Pass label"):
        next(source.labeled_batches())


@pytest.mark.parametrize("name", ["x.parquet", "x.csv"])
def test_a_file_that_disappears_between_passes(tmp_path, name):
    path = write(tmp_path / name, ROWS)
    source = as_source(path)
    list(source)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"x\..* is gone\. Keep files in place"):
        list(source)


@pytest.mark.parametrize("name", ["x.parquet", "x.csv"])
def test_rows_that_change_between_passes(tmp_path, name):
    path = write(tmp_path / name, {"a": [1.0, 2.0]})
    source = as_source(path)
    list(source)
    write(path, {"a": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match=r"x\..* changed between passes: 2 rows at first, then 3"):
        list(source)


def memory_map(folder, array):
    np.save(folder / "x.npy", array)
    return np.load(folder / "x.npy", mmap_mode="r")


@pytest.mark.parametrize("view", [lambda m: m, lambda m: m[::2]])
def test_memory_map_is_read_in_blocks_and_not_copied(tmp_path, monkeypatch, view):
    monkeypatch.setattr(arrays, "MOST_ROWS_PER_BATCH", 300)
    mapped = view(memory_map(tmp_path, np.arange(2000.0).reshape(1000, 2)))
    source = as_source(mapped)
    blocks = list(source)
    assert max(len(block) for block in blocks) == 300
    assert all(np.shares_memory(block, mapped) for block in blocks)
    np.testing.assert_array_equal(np.vstack(blocks), mapped)
    assert len(list(as_source(mapped.copy()))) == 1
    assert sum(map(len, as_source(memory_map(tmp_path, np.empty((0, 2)))))) == 0


def test_arrays_have_no_column_to_be_the_label(tmp_path):
    for data in (np.ones((2, 2)), memory_map(tmp_path, np.ones((2, 2))), [np.ones((2, 2))]):
        with pytest.raises(TypeError, match=r"has no column 'y': \w+ has no names of columns"):
            list(as_source(data, label="y"))


@pytest.mark.parametrize("data", [np.zeros(3), np.zeros((2, 2, 2)), 5.0])
def test_wrong_number_of_dimensions(data):
    with pytest.raises(ValueError, match=r"must be two-dimensional, \(rows, columns\)\."):
        as_source(data)


def open_files():
    folder = Path("/proc/self/fd")
    if not folder.exists():
        pytest.skip("the system does not list open files")
    return sorted(os.readlink(entry) for entry in folder.iterdir() if entry.exists())


@pytest.mark.parametrize("name", ["x.parquet", "x.csv.gz"])
def test_no_file_stays_open(tmp_path, name):
    path = write(tmp_path / name, {"a": np.random.default_rng(0).random(200_000)})
    source = as_source(path)
    before = [path for path in open_files() if str(tmp_path) in path]
    list(source)
    batches = iter(source)
    next(batches)
    batches.close()
    assert before == [path for path in open_files() if str(tmp_path) in path] == []


def test_a_function_makes_batches_of_an_arrow_dataset(tmp_path):
    dataset = pytest.importorskip("pyarrow.dataset").dataset(write(tmp_path / "x.parquet", ROWS))
    source = as_source(dataset.to_batches, columns=["b", "a"], label="y")
    for _ in range(2):
        np.testing.assert_array_equal(stacked(source), np.array(A_B)[:, ::-1])
    np.testing.assert_array_equal(labels_of(source), [1.0, np.nan, 0.0])
