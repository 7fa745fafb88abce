"""How files are written is found in their first lines, and what is found is read."""

from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest

from hedgeclipper.io import as_source
from hedgeclipper.io.csv_dialect import CsvDialect
from hedgeclipper.io.formats import CsvFile, ExcelFile, JsonLinesFile
from tests.workbooks import write_workbook

WRITTEN = {
    "commas": (b"a,b\n1.5,2\n", CsvDialect(",", ".", "utf8")),
    "semicolons and commas": (b"a;b\n1,5;2\n", CsvDialect(";", ",", "utf8")),
    "semicolons and points": (b"a;b\n1.5;2\n", CsvDialect(";", ".", "utf8")),
    "tabs": (b"a\tb\n1.5\t2\n", CsvDialect("\t", ".", "utf8")),
    "bars": (b"a|b\n1.5|2\n", CsvDialect("|", ".", "utf8")),
    "a comma in a quoted name": (b'"a, c";b\n1,5;2\n', CsvDialect(";", ",", "utf8")),
    "a comma in a bare name": (b"a, c;b\n1.5;2\n", CsvDialect(";", ".", "utf8")),
    "one column": (b"a\n1.5\n", CsvDialect(",", ".", "utf8")),
    "comments": (b"# made\n# today\na,b\n1.5,2\n", CsvDialect(",", ".", "utf8", 2)),
    "a heading like a comment": (b"# made\n#a,b\n1.5,2\n", CsvDialect(",", ".", "utf8", 1)),
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
    assert file.table(["größe", "n"]).to_pydict() == {"größe": [1.5], "n": [2]}


def test_comments_further_down_are_left_out(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,b\n1,2\n# the end\n")
    assert CsvFile(path).table(["a"]).num_rows == 1


def test_a_wrong_line_that_is_not_text_is_an_error_and_nothing_more(tmp_path):
    # an exception that Arrow can only print would be PytestUnraisableExceptionWarning, an error
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,b\n1,2\n3,\xff\xfe,4\n")
    with pytest.raises(OSError, match="Expected 2 columns, got 3"):
        CsvFile(path).table(["a"])


def test_digits_that_begin_with_0_are_strings_where_zeros_are_kept(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"code,n,f\n10115,0,0.5\n01067,10,0.1\n")
    table = CsvFile(path, keep_zeros=True).table(["code", "n", "f"])
    assert table.to_pydict() == {"code": ["10115", "01067"], "n": [0, 10], "f": [0.5, 0.1]}
    assert CsvFile(path).table(["code"]).to_pydict() == {"code": [10115, 1067]}


@pytest.mark.parametrize("name", ["rows", "rows.txt", "rows.data"])
def test_a_file_that_is_named_may_have_any_suffix_of_text(tmp_path, name):
    (tmp_path / name).write_bytes(b"a,b\n1,2\n")
    assert next(iter(as_source(tmp_path / name))).tolist() == [[1, 2]]


def test_an_archive_has_one_file(tmp_path):
    with ZipFile(tmp_path / "rows.zip", "w") as archive:
        archive.writestr("inner/rows.csv", "a;b\n1,5;2\n")
        archive.writestr("__MACOSX/rows.csv", "nothing")
    assert next(iter(as_source(tmp_path / "rows.zip"))).tolist() == [[1.5, 2]]
    with ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a.csv", "a\n1\n")
        archive.writestr("b.csv", "a\n1\n")
    with pytest.raises(ValueError, match=r"one CSV file in it\. It has 2: a\.csv, b\.csv"):
        as_source(tmp_path / "two.zip")
    (tmp_path / "no.zip").write_bytes(b"a,b\n1,2\n")
    with pytest.raises(OSError, match=r"no\.zip is damaged or cut short"):
        as_source(tmp_path / "no.zip")


def test_json_lines(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1, "b": 2.5}\n{"a": 3, "b": null}\n')
    rows = np.concatenate(list(as_source(path)))
    np.testing.assert_array_equal(rows, [[1, 2.5], [3, np.nan]])
    assert JsonLinesFile(path).head()[1] == 2
    path.write_text("no JSON\n")
    with pytest.raises(OSError, match=r"rows\.jsonl is damaged"):
        as_source(path)


def test_cells_of_a_workbook_are_read_as_in_csv(tmp_path):
    day = pd.Timestamp("2020-01-31")
    columns = {
        "number": ([1, None, 2.5], [1, None, 2.5]),
        "date": ([day, None, day], [day, None, day]),
        "text": (["12", None, "13.5"], [12, None, 13.5]),
        "code": (["01067", None, "10115"], ["01067", None, "10115"]),
        "both": (["x", None, 3], ["x", None, "3"]),
        "numbers": (["4", None, 5], [4, None, 5]),
        "whole": ([1, 2, 3], [1, 2, 3]),
    }
    cells = {name: pd.Series(values, dtype=object) for name, (values, _) in columns.items()}
    write_workbook(tmp_path / "rows.xlsx", pd.DataFrame(cells))
    table = ExcelFile(tmp_path / "rows.xlsx").table(list(columns))
    assert table.to_pydict() == {name: read for name, (_, read) in columns.items()}
    assert str(table.schema.field("whole").type) == "int64"
