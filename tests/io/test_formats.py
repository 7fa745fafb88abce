import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.io import as_source, missing_labels, sources
from hedgeclipper.io.csv_dialect import CsvDialect
from hedgeclipper.io.sources import CsvFile, open_files
from tests.written_tables import ROWS, every_format, labels_of, stacked, write


def whole(file, names, strings=()):
    return pa.Table.from_batches(file.batches(names, strings=strings))


def test_only_the_wanted_columns_of_a_parquet_file_are_read(tmp_path, monkeypatch):
    path = write(tmp_path / "x.parquet", ROWS)
    asked = []
    iter_batches = pq.ParquetFile.iter_batches

    def spied(self, *args, columns, **options):
        asked.append(columns)
        return iter_batches(self, *args, columns=columns, **options)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", spied)
    source = as_source(path, columns=["b"], label="y")
    list(source)
    list(source.labeled_batches())
    assert asked == [["b"], ["b", "y"]]


def test_numbers_of_csv_do_not_depend_on_the_first_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "CSV_BLOCK_BYTES", 64)
    lines = ["a,b,y", *["1,,"] * 50, "0.5,2.5,1", "1e3,-inf,", ",nan,0"]
    path = tmp_path / "x.csv"
    path.write_text("\n".join(lines))
    source = as_source(path, label="y")
    np.testing.assert_array_equal(stacked(source)[50:], [[0.5, 2.5], [1e3, -np.inf], [np.nan] * 2])
    np.testing.assert_array_equal(labels_of(source)[49:], [np.nan, 1.0, np.nan, 0.0])


def test_booleans_and_line_breaks_in_csv(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text('a,text,b\ntrue,"two\nlines",1\nfalse,"a ""word""",2\n')
    assert stacked(as_source(path, columns=["a", "b"])).tolist() == [[1.0, 1.0], [0.0, 2.0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a,b\n1,2\n3,4\n5,6\n7,six",
            r"x\.csv cannot be read in column 'b'.*Row #5.*'six'.*Correct",
        ),
        ("a,b\n1,2\n3\n", r"x\.csv cannot be read: .*Row #3: Expected 2 columns, got 1"),
        ("", r"x\.csv is empty\. Write a heading"),
        ("0.5,1\n2,3\n", r"x\.csv has no header row: its first line is 0\.5,1"),
    ],
)
def test_csv_that_cannot_be_read(tmp_path, monkeypatch, text, message):
    monkeypatch.setattr(sources, "CSV_BLOCK_BYTES", 8)
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        list(as_source(path))
    assert isinstance(caught.value.__cause__, pa.ArrowInvalid) or "header row" in message


def test_csv_with_a_heading_and_no_rows(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n")
    source = as_source(path)
    assert source.column_names == ["a", "b"]
    assert list(source) == []


def test_numbered_columns_are_a_heading(tmp_path):
    pd.DataFrame(np.ones((2, 3))).to_csv(tmp_path / "x.csv", index=False)
    assert as_source(tmp_path).column_names == ["0", "1", "2"]
    (tmp_path / "x.csv").write_text("2019,2020\n1,2\n")
    assert stacked(as_source(tmp_path, columns=["2020"])).tolist() == [[2.0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,y\n1,0\n".encode("utf-16-le"), "it may be UTF-16"),
        ("ä,y\n1,0\n".encode("latin-1"), "heading of .* is not text in UTF-8"),
    ],
)
def test_a_heading_that_is_not_one(tmp_path, text, message):
    path = tmp_path / "rows.csv"
    path.write_bytes(text)
    with pytest.raises(ValueError, match=message):
        as_source(path)


@pytest.mark.parametrize("fraction", [0.0, 0.3, 0.7, 0.95])
@pytest.mark.parametrize("name", ["x.parquet", "x.csv.gz", "x.csv.bz2"])
def test_file_cut_short(tmp_path, name, fraction):
    path = write(tmp_path / name, {"a": np.random.default_rng(0).random(20_000)})
    whole = path.read_bytes()
    path.write_bytes(whole[: int(fraction * len(whole))])
    empty = fraction == 0.0 and ".csv" in name
    with pytest.raises(
        ValueError if empty else OSError, match=r"x\..*is (empty|damaged or cut short).*\."
    ) as caught:
        list(as_source(path))
    assert caught.value.__cause__ is not None


@every_format
def test_a_whole_table_is_what_was_written(tmp_path, name):
    table = pa.table({"a": [1.5, None], "kind": ["x", None], "b": [1, 2]})
    (file,) = open_files(write(tmp_path / name, table))
    read = whole(file, ["kind", "a"])
    assert read.to_pydict() == table.select(["kind", "a"]).to_pydict()


def test_a_whole_table_of_csv_has_types_that_hold_all_rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n" + "1,2\n" * 400_000 + "x,?\n")
    table = whole(CsvFile(path), ["a", "b"])
    assert table.schema.types == [pa.string(), pa.int64()]
    assert table.column("b").null_count == 1
    assert whole(CsvFile(path), ["b"], ["b"]).schema.types == [pa.string()]


def test_strings_of_csv_after_many_missing_labels(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "CSV_BLOCK_BYTES", 64)
    path = tmp_path / "x.csv"
    path.write_text("\n".join(["a,y", *["1,"] * 50, "1,dog"]))
    labels = [part for _, part in as_source(path, label="y").labeled_batches()]
    assert all(missing_labels(part).all() for part in labels[:-1])
    assert labels[-1][-1] == "dog"


def test_numbers_and_strings_as_labels_of_csv(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,y\n1,0\n1,1\n1,dog\n")
    with pytest.raises(ValueError, match=r"x\.csv cannot be read: Failed to parse string: 'dog'"):
        list(as_source(path, label="y").labeled_batches())


WRITTEN = {
    "commas": (b"a,b\n1.5,2\n", CsvDialect(",", ".", "utf8")),
    "semicolons and commas": (b"a;b\n1,5;2\n", CsvDialect(";", ",", "utf8")),
    "semicolons and points": (b"a;b\n1.5;2\n", CsvDialect(";", ".", "utf8")),
    "tabs": (b"a\tb\n1.5\t2\n", CsvDialect("\t", ".", "utf8")),
    "bars": (b"a|b\n1.5|2\n", CsvDialect("|", ".", "utf8")),
    "a comma in a quoted name": (b'"a, c";b\n1,5;2\n', CsvDialect(";", ",", "utf8")),
    "a comma in a bare name": (b"a, c;b\n1.5;2\n", CsvDialect(";", ".", "utf8")),
    "one column": (b"a\n1.5\n", CsvDialect(",", ".", "utf8")),
    "UTF-16": ("a,b\n1.5,2\n".encode("utf-16"), CsvDialect(",", ".", "utf-16")),
}


@pytest.mark.parametrize(("content", "dialect"), WRITTEN.values(), ids=WRITTEN.keys())
def test_files_are_read_as_they_are_written(tmp_path, content, dialect):
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    assert CsvFile(path).dialect == dialect
    rows = np.concatenate(list(as_source(path)))
    np.testing.assert_array_equal(rows[0, :1], [1.5])
    assert rows.shape[0] == 1


def test_what_is_given_is_not_looked_for(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes("größe:n\n1;5:2\n".encode("latin-1"))
    file = CsvFile(path, given=CsvDialect(":", ";", "latin-1"))
    assert whole(file, ["größe", "n"]).to_pydict() == {"größe": [1.5], "n": [2]}


def test_digits_that_begin_with_0_are_strings_where_zeros_are_kept(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"code,n,f\n10115,0,0.5\n01067,10,0.1\n")
    table = whole(CsvFile(path, keep_zeros=True), ["code", "n", "f"])
    assert table.to_pydict() == {"code": ["10115", "01067"], "n": [0, 10], "f": [0.5, 0.1]}
    assert whole(CsvFile(path), ["code"]).to_pydict() == {"code": [10115, 1067]}


@pytest.mark.parametrize("name", ["rows", "rows.txt", "rows.data"])
def test_a_file_that_is_named_may_have_any_suffix_of_text(tmp_path, name):
    (tmp_path / name).write_bytes(b"a,b\n1,2\n")
    assert next(iter(as_source(tmp_path / name))).tolist() == [[1, 2]]


def test_a_compressed_file_without_the_suffix_is_named(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n"))
    with pytest.raises(ValueError, match=r"rows\.csv is compressed.*suffix such as \.csv\.gz"):
        as_source(path)
    with pytest.raises(ValueError, match="is compressed"):
        HedgeClipperClassifier("trees").fit(path, "b")
