from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from hedgeclipper.io import as_source
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
