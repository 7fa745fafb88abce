import errno
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hedgeclipper.io import as_source
from hedgeclipper.io.atomic import NotWrittenError, atomic_path, check_output, write_parquet


def test_the_file_appears_at_the_end(tmp_path):
    path = tmp_path / "out.txt"
    with atomic_path(path) as temporary:
        temporary.write_text("whole")
        assert not path.exists()
    assert path.read_text() == "whole"
    assert list(tmp_path.iterdir()) == [path]


def write_half(path, error):
    with atomic_path(path) as temporary:
        temporary.write_text("half")
        raise error


def test_a_file_that_is_written_after_the_last_look_is_kept_unless_forced(tmp_path, monkeypatch):
    path, looks = tmp_path / "out.txt", []

    def look(path, *, force):
        found = check_output(path, force=force)
        looks.append(found)
        if len(looks) == 2:
            path.write_text("theirs")
        return found

    monkeypatch.setattr("hedgeclipper.io.atomic.check_output", look)
    with (
        pytest.raises(FileExistsError, match="exists already"),
        atomic_path(path, force=False) as temporary,
    ):
        temporary.write_text("ours")
    assert path.read_text() == "theirs"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_what_was_there(tmp_path, error):
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(error):
        write_half(path, error)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_exists_is_kept_unless_forced(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(FileExistsError, match=r"exists already. Pass force=True"):
        check_output(path, force=False)
    assert check_output(path) == path


@pytest.mark.parametrize(
    ("name", "error"), [("", IsADirectoryError), ("none/out.txt", FileNotFoundError)]
)
def test_a_place_where_no_file_can_be(tmp_path, name, error):
    with pytest.raises(error), atomic_path(tmp_path / name):
        pytest.fail("must not come here")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_device_is_not_replaced_by_a_file(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(OSError, match="pipe is not a regular file"), atomic_path(path):
        pytest.fail("must not come here")


def rows_of(path):
    return np.vstack(list(as_source(path))).tolist()


def test_tables_below_each_other(tmp_path):
    path = tmp_path / "x.parquet"
    tables = {"a": [1.0, 2.0], "word": ["p", None]}, {"a": np.float32([3.0]), "word": ["q"]}
    assert write_parquet(path, tables) == 3
    table = pq.read_table(path)
    assert table.to_pydict() == {"a": [1.0, 2.0, 3.0], "word": ["p", None, "q"]}
    assert os.listdir(tmp_path) == ["x.parquet"]


def test_no_rows_are_a_file_with_columns(tmp_path):
    path = tmp_path / "x.parquet"
    write_parquet(path, [{"a": np.zeros(0)}])
    assert pq.read_table(path).to_pydict() == {"a": []}


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt(), RuntimeError("x")]
)
@pytest.mark.parametrize("when", ["in a batch", "in a table", "in the footer", "in the renaming"])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, error, when):
    path = tmp_path / "x.parquet"
    write_parquet(path, [{"a": np.ones(1)}])

    def fail(*args, **options):
        raise error

    if when == "in a table":
        monkeypatch.setattr(pq.ParquetWriter, "write_table", fail)
    if when == "in the footer":
        monkeypatch.setattr(pq.ParquetWriter, "close", fail)
    if when == "in the renaming":
        monkeypatch.setattr(os, "replace", fail)

    def tables():
        yield {"a": [2.0]}
        yield {"a": fail() if when == "in a batch" else [3.0]}

    with pytest.raises(type(error)) as caught:
        write_parquet(path, tables())
    assert error in (caught.value, caught.value.__cause__)
    if isinstance(error, OSError) and when in ("in a table", "in the footer"):
        assert "x.parquet could not be written" in str(caught.value)
    assert os.listdir(tmp_path) == ["x.parquet"]
    assert rows_of(path) == [[1.0]]


def test_tables_that_do_not_go_together(tmp_path):
    path = tmp_path / "x.parquet"
    with pytest.raises(KeyError, match="a"):
        write_parquet(path, [{"a": [1.0]}, {"b": [1.0]}])
    with pytest.raises(pa.ArrowException):
        write_parquet(path, [{"a": [1.0]}, {"a": ["word"]}])
    assert os.listdir(tmp_path) == []


def test_a_link_stays_a_link(tmp_path):
    path = tmp_path / "x.parquet"
    write_parquet(path, [{"a": np.ones(1)}])
    (tmp_path / "link.parquet").symlink_to(path)
    write_parquet(tmp_path / "link.parquet", [{"a": np.zeros(1)}])
    assert (tmp_path / "link.parquet").is_symlink()
    assert rows_of(path) == [[0.0]]


def test_a_full_disk_is_named_with_the_file(tmp_path):
    path = tmp_path / "m.skops"
    with pytest.raises(NotWrittenError, match=r"m.skops could not be written .*Make room"):
        write_half(path, OSError(errno.ENOSPC, "No space left on device"))
    with pytest.raises(OSError, match=r"rows\.csv") as caught:
        write_half(path, FileNotFoundError(errno.ENOENT, "No such file", "rows.csv"))
    assert not isinstance(caught.value, NotWrittenError)  # what was read, not what is written
