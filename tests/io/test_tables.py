import bz2
import gzip
import os
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from hedgeclipper.io import as_source, formats, missing_labels
from hedgeclipper.io import source as sources
from hedgeclipper.io.as_source import find_files

ROWS = {"a": [1.0, 2.0, 3.0], "b": [0.5, None, -0.5], "y": [1, None, 0]}
A_B = [[1.0, 0.5], [2.0, np.nan], [3.0, -0.5]]


def stacked(source):
    return np.vstack(list(source))


def labels_of(source):
    return np.concatenate([labels for _, labels in source.labeled_batches()])


def write_stream(table, path):
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)


def write_csv(table, path):
    pack = {".gz": gzip.compress, ".bz2": bz2.compress}.get(path.suffix, bytes)
    separator = "\t" if ".tsv" in path.name else ","
    text = table.to_pandas().to_csv(index=False, sep=separator)
    path.write_bytes(pack(text.encode()))


WRITERS = {
    "x.parquet": pq.write_table,
    "x.pq": pq.write_table,
    "x.feather": lambda table, path: feather.write_feather(table, path, compression="lz4"),
    "x.arrow": lambda table, path: feather.write_feather(table, path, compression="uncompressed"),
    "x.ipc": write_stream,
    "x.csv": write_csv,
    "x.csv.gz": write_csv,
    "x.csv.bz2": write_csv,
    "x.tsv": write_csv,
}


def write(path, columns):
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    WRITERS[f"x{''.join(path.suffixes)}"](table, path)
    return path


every_format = pytest.mark.parametrize("name", WRITERS)


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


@pytest.mark.parametrize(
    ("name", "n_rows"), [("x.parquet", 6), ("x.feather", 6), ("x.ipc", None), ("x.csv", None)]
)
def test_number_of_rows_where_it_is_cheap(tmp_path, name, n_rows):
    for number in range(2):
        write(tmp_path / f"{number}{Path(name).suffix}", ROWS)
    assert as_source(tmp_path).n_rows == n_rows


@every_format
def test_string_labels_have_none_where_they_are_missing(tmp_path, name):
    path = write(tmp_path / name, {"a": [1.0, 2.0, 3.0], "y": ["dog", None, "cat"]})
    labels = labels_of(as_source(path, label="y"))
    assert labels.tolist() == ["dog", None, "cat"]
    assert missing_labels(labels).tolist() == [False, True, False]


def test_labels_of_a_dictionary(tmp_path):
    labels = pa.array(["dog", None, "cat"]).dictionary_encode()
    path = write(tmp_path / "x.parquet", {"a": [1.0, 2.0, 3.0], "y": labels})
    assert labels_of(as_source(path, label="y")).tolist() == ["dog", None, "cat"]


def test_a_file_without_rows_among_others(tmp_path):
    write(tmp_path / "0.parquet", pa.table(ROWS).slice(0, 0))
    write(tmp_path / "1.parquet", ROWS)
    assert [len(batch) for batch in as_source(tmp_path)] == [3]


def test_pyarrow_is_asked_for_where_it_is_missing(tmp_path, monkeypatch):
    path = write(tmp_path / "x.parquet", ROWS)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r"needs pyarrow.*pip install 'hedgeclipper\[io\]'"):
        as_source(path)


def test_labels_that_were_not_asked_for(tmp_path):
    source = as_source(write(tmp_path / "x.parquet", ROWS))
    with pytest.raises(ValueError, match=r"votes has no labels.*Pass label"):
        next(source.labeled_batches())


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


def test_names_with_dots_and_spaces(tmp_path):
    columns = {"a": [1.0], "a.b": [2.0], "a b, c": [3.0]}
    for name in ("x.parquet", "x.feather", "x.csv"):
        path = write(tmp_path / name, columns)
        assert stacked(as_source(path)).tolist() == [[1.0, 2.0, 3.0]]
        assert stacked(as_source(path, columns=["a.b", "a"])).tolist() == [[2.0, 1.0]]
    dataset = ds.dataset(tmp_path / "x.parquet")
    assert stacked(as_source(dataset, columns=["a.b", "a"])).tolist() == [[2.0, 1.0]]


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


def test_numbers_too_large_for_float32(tmp_path):
    source = as_source(write(tmp_path / "x.parquet", {"a": [1e300]}), dtype=np.float32)
    with pytest.raises(ValueError, match=r"'a' of .*too large for float32, .*Rescale"):
        list(source)
    assert stacked(as_source(tmp_path)).tolist() == [[1e300]]


def test_the_index_of_a_pandas_frame_is_no_column(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0]}, index=[7, 3])
    frame.to_parquet(tmp_path / "x.parquet")
    assert stacked(as_source(tmp_path)).tolist() == [[1.0], [2.0]]
    assert stacked(as_source(pa.Table.from_pandas(frame))).tolist() == [[1.0], [2.0]]
    frame.to_csv(tmp_path / "x.csv")
    with pytest.raises(ValueError, match=r"x\.csv has a column without a name.*index=False"):
        as_source(tmp_path / "x.csv")


def test_no_column_but_the_label(tmp_path):
    with pytest.raises(ValueError, match=r"no columns for the rows. It has 'y'"):
        as_source(write(tmp_path / "x.parquet", {"y": [1]}), label="y")


def test_two_columns_of_one_name(tmp_path):
    table = pa.table([[1.0], [2.0]], names=["a", "a"])
    with pytest.raises(ValueError, match=r"x\.parquet has 2 columns with the name 'a'"):
        as_source(write(tmp_path / "x.parquet", table))


@pytest.mark.parametrize("columns", ["abc", ["a", "a"]])
def test_columns_must_be_a_list_of_different_names(tmp_path, columns):
    with pytest.raises(ValueError, match="columns must be a list of different names"):
        as_source(write(tmp_path / "x.parquet", ROWS), columns=columns)


def test_the_label_is_no_column_of_the_rows(tmp_path):
    with pytest.raises(ValueError, match="'y' is the label, and it is in columns too"):
        as_source(write(tmp_path / "x.parquet", ROWS), columns=["a", "y"], label="y")


def test_width_that_was_not_expected(tmp_path):
    path = write(tmp_path / "x.parquet", ROWS)
    assert stacked(as_source(path, n_columns=3)).shape == (3, 3)
    with pytest.raises(ValueError, match=r"x\.parquet must have 2 columns\. Got 3"):
        as_source(path, n_columns=2)


# The rows that are read at once


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


@pytest.mark.parametrize(("n_columns", "n_rows"), [(1, 65536), (1000, 4194), (10**6, 256)])
def test_rows_of_a_batch(n_columns, n_rows):
    assert sources.rows_per_batch(n_columns) == n_rows


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


# CSV


def test_numbers_of_csv_do_not_depend_on_the_first_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "_CSV_BLOCK_BYTES", 64)
    lines = ["a,b,y", *["1,,"] * 50, "0.5,2.5,1", "1e3,-inf,", ",nan,0"]
    path = tmp_path / "x.csv"
    path.write_text("\n".join(lines))
    source = as_source(path, label="y")
    np.testing.assert_array_equal(stacked(source)[50:], [[0.5, 2.5], [1e3, -np.inf], [np.nan] * 2])
    np.testing.assert_array_equal(labels_of(source)[49:], [np.nan, 1.0, np.nan, 0.0])


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
        ("0.5,1\n2,3\n", r"x\.csv has no heading: its first line is 0\.5,1"),
    ],
)
def test_csv_that_cannot_be_read(tmp_path, monkeypatch, text, message):
    monkeypatch.setattr(formats, "_CSV_BLOCK_BYTES", 8)
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        list(as_source(path))
    assert isinstance(caught.value.__cause__, pa.ArrowInvalid) or "heading" in message


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


# Damage


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


def test_a_file_that_may_not_be_read(tmp_path):
    path = write(tmp_path / "x.parquet", ROWS)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(PermissionError, match=r"x\.parquet"):
        as_source(path)


# pyarrow's own


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


def test_a_reader_can_be_read_only_once():
    table = pa.table(ROWS)
    with pytest.raises(TypeError, match="can be read only once: got RecordBatchReader"):
        as_source(table.to_reader())


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
    assert source.in_memory is not in_batches
    np.testing.assert_array_equal(stacked(source), A_B * (2 if in_batches else 1))
    np.testing.assert_array_equal(labels_of(source)[:3], [1.0, np.nan, 0.0])


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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"a;y\n1;0\n", "seems to have semicolons between values"),
        ("a,y\n1,0\n".encode("utf-16"), "it may be UTF-16"),
        ("ä,y\n1,0\n".encode("latin-1"), "heading of .* is not text in UTF-8"),
    ],
)
def test_a_heading_that_is_not_one(tmp_path, text, message):
    path = tmp_path / "rows.csv"
    path.write_bytes(text)
    with pytest.raises(ValueError, match=message):
        as_source(path)
