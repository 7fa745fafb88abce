import gzip
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from hedgeclipper.io import as_source, formats
from hedgeclipper.io.as_source import find_files
from tests.written_tables import A_B, ROWS, every_format, labels_of, stacked, write


@pytest.mark.parametrize(
    ("name", "n_rows"), [("x.parquet", 6), ("x.feather", 6), ("x.ipc", None), ("x.csv", None)]
)
def test_number_of_rows_where_it_is_cheap(tmp_path, name, n_rows):
    for number in range(2):
        write(tmp_path / f"{number}{Path(name).suffix}", ROWS)
    assert as_source(tmp_path).n_rows == n_rows


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


def open_files():
    folder = Path("/proc/self/fd")
    if not folder.exists():
        pytest.skip("the system does not list open files")
    return sorted(os.readlink(entry) for entry in folder.iterdir() if entry.exists())


@pytest.mark.parametrize("name", ["x.parquet", "x.feather", "x.ipc", "x.csv.gz"])
def test_no_file_stays_open(tmp_path, name):
    path = write(tmp_path / name, {"a": np.random.default_rng(0).random(200_000)})
    source = as_source(path)
    before = [path for path in open_files() if str(tmp_path) in path]
    list(source)
    batches = iter(source)
    next(batches)
    batches.close()
    assert before == [path for path in open_files() if str(tmp_path) in path] == []


def test_numbers_of_csv_do_not_depend_on_the_first_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "_CSV_BLOCK_BYTES", 64)
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
    monkeypatch.setattr(formats, "_CSV_BLOCK_BYTES", 8)
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        list(as_source(path))
    assert isinstance(caught.value.__cause__, pa.ArrowInvalid) or "header row" in message


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("width", [1, 15])
def test_lines_of_csv_that_are_longer_than_a_block(tmp_path, monkeypatch, name, end, width):
    monkeypatch.setattr(formats, "_CSV_BLOCK_BYTES", 64)
    names = [f"column{number}" for number in range(30)]
    lines = [names, *[[f"{number:0{width}d}"] * 30 for number in range(20)]]
    text = "".join(",".join(line) + end for line in lines).encode()
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    source = as_source(tmp_path / name)
    assert source.column_names == names
    np.testing.assert_array_equal(stacked(source)[:, -1], np.arange(20))


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
@pytest.mark.parametrize("name", ["x.parquet", "x.feather", "x.arrow", "x.csv.gz", "x.csv.bz2"])
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


def test_damaged_row_group_is_named(tmp_path):
    table = pa.table({"a": np.random.default_rng(0).random(3000)})
    path = tmp_path / "x.parquet"
    pq.write_table(table, path, row_group_size=1000, write_page_checksum=True, use_dictionary=False)
    chunk = pq.ParquetFile(path).metadata.row_group(1).column(0)
    content = bytearray(path.read_bytes())
    middle = chunk.data_page_offset + chunk.total_compressed_size // 2
    content[middle : middle + 8] = b"\0" * 8
    path.write_bytes(content)
    with pytest.raises(OSError, match=r"x\.parquet is damaged.*in row group 0 to 2, from row 0 on"):
        list(as_source(path))


def test_damaged_offsets_of_strings_are_noticed(tmp_path):
    path = tmp_path / "x.arrow"
    write(path, {"a": [1.0, 2.0], "y": ["some", "word"]})
    offsets = np.int32([0, 4, 8]).tobytes()
    content = path.read_bytes()
    assert content.count(offsets) == 1
    path.write_bytes(content.replace(offsets, np.int32([0, 4, 2**30]).tobytes()))
    source = as_source(path, label="y")
    assert len(stacked(source)) == 2
    with pytest.raises(OSError, match=r"x\.arrow is damaged"):
        list(source.labeled_batches())


def test_a_row_group_is_found_by_its_rows(tmp_path):
    pq.write_table(pa.table({"a": np.arange(3000.0)}), tmp_path / "x.parquet", row_group_size=1000)
    metadata = pq.ParquetFile(tmp_path / "x.parquet").metadata
    assert formats._row_groups(metadata, 1000, 1000) == "in row group 1, from row 1,000 on"
    assert formats._row_groups(metadata, 1500, 1000) == "in row group 1 to 2, from row 1,500 on"


def test_a_dataset_is_read_by_name(tmp_path):
    for number in range(2):
        write(tmp_path / f"{number}.parquet", ROWS)
    source = as_source(ds.dataset(tmp_path), columns=["b", "a"], label="y", dtype=np.float32)
    assert source.n_rows == 6
    for _ in range(2):
        np.testing.assert_array_equal(stacked(source), np.vstack([A_B, A_B])[:, ::-1])
    np.testing.assert_array_equal(labels_of(source)[:3], [1.0, np.nan, 0.0])


def test_a_filtered_and_partitioned_dataset(tmp_path):
    table = pa.table({"a": [1.0, 2.0, 3.0], "year": pa.array([2020, 2021, 2021], pa.int16())})
    ds.write_dataset(
        table,
        tmp_path,
        format="parquet",
        partitioning=ds.partitioning(pa.schema([("year", pa.int16())]), flavor="hive"),
    )
    dataset = ds.dataset(tmp_path, partitioning="hive")
    assert as_source(dataset).column_names == ["a", "year"]
    chosen = dataset.filter(ds.field("year") == 2021)
    assert stacked(as_source(chosen, columns=["a"])).ravel().tolist() == [2.0, 3.0]


def test_damage_in_a_dataset(tmp_path):
    path = write(tmp_path / "x.parquet", ROWS)
    dataset = ds.dataset(path)
    source = as_source(dataset, columns=["a"])
    path.write_bytes(b"PAR1")
    with pytest.raises(OSError, match="votes is damaged"):
        list(source)


@every_format
def test_a_whole_table_is_what_was_written(tmp_path, name):
    table = pa.table({"a": [1.5, None], "kind": ["x", None], "b": [1, 2]})
    kind, (path,) = find_files(write(tmp_path / name, table))
    read = formats.FORMATS[kind](path).table(["kind", "a"])
    assert read.to_pydict() == table.select(["kind", "a"]).to_pydict()


def test_a_damaged_table_is_not_read(tmp_path):
    path = write(tmp_path / "x.arrow", {"y": ["some", "word"]})
    wrong = np.int32([0, 4, 2**30]).tobytes()
    path.write_bytes(path.read_bytes().replace(np.int32([0, 4, 8]).tobytes(), wrong))
    with pytest.raises(OSError, match=r"x\.arrow is damaged"):
        formats.ArrowFile(path).table(["y"])


def test_a_whole_table_of_csv_has_types_that_hold_all_rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n" + "1,2\n" * 400_000 + "x,?\n")
    file = formats.CsvFile(path)
    table = file.table(["a", "b"], missing=["", "?"])
    assert table.schema.types == [pa.string(), pa.int64()]
    assert table.column("b").null_count == 1
    assert file.column_of_strings("b").to_pylist() == ["2"] * 400_000 + ["?"]
