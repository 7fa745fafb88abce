from datetime import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hedgeclipper.io import as_classes, as_source, formats, is_missing, missing_labels
from tests.written_tables import every_format, labels_of, stacked, write


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (pa.array([True, None]), np.float32),
        (pa.array([1, None], pa.int16()), np.float32),
        (pa.array([1, 0], pa.uint8()), np.float32),
        (pa.array([0.5, None], pa.float32()), np.float32),
        (pa.array([np.float16(0.5), None], pa.float16()), np.float32),
        (pa.array([1, None], pa.int32()), np.float64),
        (pa.array([2**40, None]), np.float64),
        (pa.array([0.1, None]), np.float64),
        (pa.array([5, None]).dictionary_encode(), np.float64),
        (pa.array([5, None], pa.int8()).dictionary_encode(), np.float32),
        (pa.nulls(2), np.float32),
    ],
    ids=lambda value: str(getattr(value, "type", value)),
)
@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_numbers_of_every_type(tmp_path, suffix, values, dtype):
    (batch,) = as_source(write(tmp_path / f"x{suffix}", {"a": values}))
    assert batch.dtype == dtype
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
        as_source(path)
    with pytest.raises(TypeError, match="Column 'b' of votes must hold numbers"):
        as_source(pq.read_table(path))
    assert stacked(as_source(path, columns=["a"])).tolist() == [[1.0]]


def test_a_label_that_is_a_date(tmp_path):
    path = write(tmp_path / "x.parquet", {"a": [1.0], "y": [pd.Timestamp("2020-01-01")]})
    with pytest.raises(TypeError, match=r"'y' of .*is the label and must hold.*timestamp"):
        as_source(path, label="y")


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


def test_strings_of_csv_after_many_missing_labels(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "_CSV_BLOCK_BYTES", 64)
    path = tmp_path / "x.csv"
    path.write_text("\n".join(["a,y", *["1,"] * 50, "1,dog"]))
    labels = [part for _, part in as_source(path, label="y").labeled_batches()]
    assert all(missing_labels(part).all() for part in labels[:-1])
    assert labels[-1][-1] == "dog"


def test_numbers_and_strings_as_labels_of_csv(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,y\n1,0\n1,1\n1,dog\n")
    with pytest.raises(ValueError, match=r"'y' of .*begins with numbers, and then there is 'dog'"):
        list(as_source(path, label="y").labeled_batches())


def test_labels_of_no_one_kind():
    frame = pd.DataFrame({"a": [1.0, 2.0], "y": pd.Series([1, "dog"], dtype=object)})
    with pytest.raises(TypeError, match="'y' of votes must hold either all numbers, all bool"):
        as_source(frame, label="y")
    frame["y"] = [2**60, 2**60 + 1]
    with pytest.raises(ValueError, match=r"beyond 2\*\*53"):
        as_source(frame, label="y")


@pytest.mark.parametrize("library", [pd, pl])
def test_dates_of_frames_are_no_numbers(library):
    frame = library.DataFrame({"a": [1.0], "day": [datetime(2020, 1, 1)]})
    with pytest.raises(TypeError, match=r"Column 'day' of votes must hold numbers\. Got type"):
        as_source(frame)
    with pytest.raises(TypeError, match="Column 'day' of votes is the label and must hold"):
        as_source(frame, label="day")
    assert as_source(frame, columns=["a"]).column_names == ["a"]


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
