from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hedgeclipper.io import as_classes, as_source, is_missing, missing_labels
from tests.written_tables import A_B, ROWS, every_format, labels_of, stacked, write


@pytest.mark.parametrize(
    "make",
    [pa.table, pl.DataFrame, pd.DataFrame, lambda rows: pa.table(rows).to_batches()[0]],
    ids=["arrow", "polars", "pandas", "record batch"],
)
@pytest.mark.parametrize("in_batches", [False, True])
def test_frames_are_matched_by_name(make, in_batches):
    frame = make(ROWS)
    turned = make({name: ROWS[name] for name in ("y", "b", "a")})
    source = as_source([frame, turned] if in_batches else turned, columns=["a", "b"], label="y")
    assert source.column_names == ["a", "b"]
    assert len(list(source)) == 1 + in_batches
    np.testing.assert_array_equal(stacked(source), A_B * (2 if in_batches else 1))
    np.testing.assert_array_equal(labels_of(source)[:3], [1.0, np.nan, 0.0])


def test_two_columns_of_one_name(tmp_path):
    table = pa.table([[1.0], [2.0]], names=["a", "a"])
    with pytest.raises(ValueError, match=r"x\.parquet has 2 columns with the name 'a'"):
        as_source(write(tmp_path / "x.parquet", table))


def test_the_index_of_a_pandas_frame_is_no_column(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0]}, index=[7, 3])
    frame.to_parquet(tmp_path / "x.parquet")
    assert stacked(as_source(tmp_path)).tolist() == [[1.0], [2.0]]
    assert stacked(as_source(pa.Table.from_pandas(frame))).tolist() == [[1.0], [2.0]]
    frame.to_csv(tmp_path / "x.csv")
    with pytest.raises(ValueError, match=r"x\.csv has a column without a name.*index=False"):
        as_source(tmp_path / "x.csv")


def test_names_of_batches_are_those_of_the_first():
    source = as_source([pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"b": [4], "a": [3]})])
    assert source.column_names == ["a", "b"]
    assert np.vstack(list(source)).tolist() == [[1, 2], [3, 4]]
    source = as_source([pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [1]})])
    with pytest.raises(ValueError, match=r"Batch 1 of votes has no column 'a'\. It has 'b'"):
        list(source)


@pytest.mark.parametrize("frame", [pd.DataFrame({1: [1.0], 2: [2.0]}), pd.DataFrame([[1.0, 2.0]])])
def test_numbered_columns_are_taken_by_position(frame):
    source = as_source(frame, columns=["a", "b"])
    assert next(iter(source)).tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize(
    "column",
    [
        pd.array([1, None, 0], dtype="Int64"),
        pd.array([True, None, False], dtype="boolean"),
        pd.array([1.0, None, 0.0], dtype="Float32"),
        pd.Categorical([1, None, 0]),
        pd.array([1, None, 0], dtype="int64[pyarrow]"),
        pl.Series([1, None, 0]),
        pl.Series([True, None, False]),
        pl.Series([1.0, None, 0.0], dtype=pl.Float32),
    ],
    ids=lambda column: f"{type(column).__name__}-{column.dtype}",
)
def test_missing_numbers_of_frames_are_nan(column):
    library = pl if isinstance(column, pl.Series) else pd
    source = as_source(library.DataFrame({"a": column, "y": column}), label="y")
    ((rows, labels),) = source.labeled_batches()
    np.testing.assert_array_equal(rows.ravel(), [1.0, np.nan, 0.0])
    np.testing.assert_array_equal(labels, [1.0, np.nan, 0.0])
    assert missing_labels(labels).tolist() == [False, True, False]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["dog", None, "cat"]),
        pd.Series(["dog", None, "cat"], dtype=object),
        pd.Series(["dog", np.nan, "cat"], dtype=object),
        pd.Series(["dog", None, "cat"], dtype="category"),
        pl.Series(["dog", None, "cat"]),
        pl.Series(["dog", None, "cat"], dtype=pl.Categorical),
        pl.Series(["dog", None, "cat"], dtype=pl.Enum(["cat", "dog"])),
    ],
    ids=lambda column: f"{type(column).__module__[:6]}-{column.dtype}",
)
def test_string_labels_of_frames(column):
    library = pl if isinstance(column, pl.Series) else pd
    frame = library.DataFrame({"a": [1.0, 2.0, 3.0], "y": column})
    ((_, labels),) = as_source(frame, label="y").labeled_batches()
    assert labels.tolist() == ["dog", None, "cat"]
    with pytest.raises(TypeError, match="Column 'y' of votes must hold numbers"):
        as_source(frame)


def test_boolean_frames_stay_boolean():
    for frame in (pd.DataFrame({"a": [True]}), pl.DataFrame({"a": [True]})):
        assert next(iter(as_source(frame))).dtype == bool


@pytest.mark.parametrize(
    "values",
    [
        pa.array([True, None]),
        pa.array([1, 0], pa.uint8()),
        pa.array([np.float16(0.5), None], pa.float16()),
        pa.array([1, None], pa.int32()),
        pa.array([2**40, None]),
        pa.array([5, None]).dictionary_encode(),
        pa.nulls(2),
    ],
    ids=lambda values: str(values.type),
)
def test_numbers_of_every_type(tmp_path, values):
    (batch,) = as_source(write(tmp_path / "x.parquet", {"a": values}))
    wanted = [[np.nan if value is None else float(value)] for value in values.to_pylist()]
    np.testing.assert_array_equal(batch, wanted)


@pytest.mark.parametrize(
    "values",
    [
        pa.array(["one"]),
        pa.array(["one"]).dictionary_encode(),
        pa.array([pd.Timestamp("2020-01-01")]),
        pa.array([[1, 2]]),
        pa.array([Decimal("1.5")]),
        pa.array([b"x"]),
        pa.array([{"b": 1}]),
    ],
    ids=lambda values: str(values.type)[:10],
)
def test_a_column_that_does_not_hold_numbers(tmp_path, values):
    path = write(tmp_path / "x.parquet", {"a": [1.0], "b": values})
    message = r"Column 'b' of .*x\.parquet must hold numbers\. Got type .*leave it out"
    with pytest.raises(TypeError, match=message):
        list(as_source(path))
    with pytest.raises(TypeError, match="Column 'b' of votes must hold numbers"):
        as_source(pq.read_table(path))
    assert stacked(as_source(path, columns=["a"])).tolist() == [[1.0]]


def test_a_label_that_is_a_date(tmp_path):
    path = write(tmp_path / "x.parquet", {"a": [1.0], "y": [pd.Timestamp("2020-01-01")]})
    with pytest.raises(TypeError, match=r"'y' of .*is the label and must hold.*timestamp"):
        list(as_source(path, label="y").labeled_batches())


def test_labels_of_a_dictionary(tmp_path):
    labels = pa.array(["dog", None, "cat"]).dictionary_encode()
    path = write(tmp_path / "x.parquet", {"a": [1.0, 2.0, 3.0], "y": labels})
    assert labels_of(as_source(path, label="y")).tolist() == ["dog", None, "cat"]


@every_format
def test_string_labels_have_none_where_they_are_missing(tmp_path, name):
    path = write(tmp_path / name, {"a": [1.0, 2.0, 3.0], "y": ["dog", None, "cat"]})
    labels = labels_of(as_source(path, label="y"))
    assert labels.tolist() == ["dog", None, "cat"]
    assert missing_labels(labels).tolist() == [False, True, False]


def test_labels_of_no_one_kind():
    frame = pd.DataFrame({"a": [1.0, 2.0], "y": pd.Series([1, "dog"], dtype=object)})
    with pytest.raises(TypeError, match="'y' of votes must hold either all numbers, all bool"):
        as_source(frame, label="y")
    frame["y"] = [2**60, 2**60 + 1]
    with pytest.raises(ValueError, match=r"beyond 2\*\*53"):
        as_source(frame, label="y")


@pytest.mark.parametrize(
    ("labels", "classes", "kind"),
    [
        ([True, False], [True, False], "b"),
        ([1.0, 2.0], [1, 2], "i"),
        ([0.5, 1.0], [0.5, 1.0], "f"),
        ([2**60, 1.0], [float(2**60), 1.0], "f"),
        (["b", "a"], ["b", "a"], "U"),
        ([True, 2], [1, 2], "i"),
    ],
)
def test_classes_are_of_the_narrowest_type_that_holds_them(labels, classes, kind):
    found = as_classes(labels, "y")
    assert found.dtype.kind == kind
    assert found.tolist() == classes


def test_what_is_missing():
    for value in (None, np.nan, pd.NA, pd.NaT, np.datetime64("NaT")):
        assert is_missing(value)
    for value in (0, "", False, -1, "nan", [np.nan, 1.0]):
        assert not is_missing(value)
