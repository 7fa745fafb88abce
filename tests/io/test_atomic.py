import errno
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hedgeclipper.io import as_source, atomic, parquet_writer
from hedgeclipper.io.atomic import NotWrittenError, atomic_path, check_output


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


def write_beside(path):
    with atomic_path(path, force=False) as temporary:
        temporary.write_text("ours")
        path.write_text("theirs")


def test_a_file_that_comes_meanwhile_stays(tmp_path):
    path = tmp_path / "out.txt"
    with pytest.raises(FileExistsError):
        write_beside(path)
    assert path.read_text() == "theirs"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "error"), [("", IsADirectoryError), ("none/out.txt", FileNotFoundError)]
)
def test_a_place_where_no_file_can_be(tmp_path, name, error):
    with pytest.raises(error), atomic_path(tmp_path / name):
        pytest.fail("must not come here")


def rows_of(path):
    return np.vstack(list(as_source(path))).tolist()


def write_all(path, tables, then=None):
    with parquet_writer(path) as writer:
        for table in tables:
            writer.write(table)
        if then is not None:
            then()


def test_tables_below_each_other(tmp_path):
    path = tmp_path / "x.parquet"
    with parquet_writer(path) as writer:
        writer.write({"a": [1.0, 2.0], "word": ["p", None]})
        writer.write({"a": np.float32([3.0]), "word": ["q"]})
    table = pq.read_table(path)
    assert table.to_pydict() == {"a": [1.0, 2.0, 3.0], "word": ["p", None, "q"]}
    assert os.listdir(tmp_path) == ["x.parquet"]


@pytest.mark.parametrize(
    "sizes",
    [[1] * 1000, [99, 0, 1, 900], [1000], [30, 400, 7, 563], [40] * 25],
    ids=["single rows", "just full", "one table", "mixed", "even"],
)
def test_row_groups_do_not_depend_on_the_tables(tmp_path, monkeypatch, sizes):
    monkeypatch.setattr(atomic, "ROWS_PER_GROUP", 100)
    monkeypatch.setattr(atomic, "TABLES_TO_GATHER", 8)
    path, numbers = tmp_path / "x.parquet", np.arange(1000.0)
    words = numbers.astype(str)
    with parquet_writer(path) as writer:
        for size, stop in zip(sizes, np.cumsum(sizes), strict=True):
            rows = slice(stop - size, stop)
            writer.write({"a": numbers[rows], "word": words[rows]})
            assert len(writer._waiting) < 8
            assert sum(table.num_rows for table in writer._waiting) < 100
    groups = pq.ParquetFile(path).metadata
    assert [groups.row_group(k).num_rows for k in range(groups.num_row_groups)] == [100] * 10
    table = pq.read_table(path)
    np.testing.assert_array_equal(table["a"], numbers)
    assert table["word"].to_pylist() == words.tolist()


def test_the_last_row_group_is_what_is_left(tmp_path):
    path = tmp_path / "x.parquet"
    n_rows = atomic.ROWS_PER_GROUP + 7
    write_all(path, [{"a": np.zeros(n_rows)}, {"a": np.zeros(3)}])
    groups = pq.ParquetFile(path).metadata
    assert [groups.row_group(k).num_rows for k in range(groups.num_row_groups)] == [1 << 16, 10]


def test_no_rows_are_a_file_with_columns(tmp_path):
    path = tmp_path / "x.parquet"
    write_all(path, [{"a": np.zeros(0)}])
    assert pq.read_table(path).to_pydict() == {"a": []}


def test_arrays_may_be_used_again_once_they_are_written(tmp_path):
    path, column = tmp_path / "x.parquet", np.zeros(2)
    with parquet_writer(path) as writer:
        for value in (1.0, 2.0):
            column[:] = value
            writer.write({"a": column})
    assert rows_of(path) == [[1.0], [1.0], [2.0], [2.0]]


def test_a_parquet_file_appears_at_the_end(tmp_path):
    path = tmp_path / "x.parquet"
    with parquet_writer(str(path)) as writer:
        writer.write({"a": [1.0]})
        assert not path.exists()
        (temporary,) = os.listdir(tmp_path)
        assert temporary.startswith(".")
    assert path.exists()


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt(), RuntimeError("x")]
)
@pytest.mark.parametrize("when", ["in the block", "in a table", "in the footer", "in the renaming"])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, error, when):
    path = tmp_path / "x.parquet"
    write_all(path, [{"a": np.ones(1)}])

    def fail(*args, **options):
        raise error

    if when == "in a table":
        monkeypatch.setattr(pq.ParquetWriter, "write_table", fail)
    if when == "in the footer":
        monkeypatch.setattr(pq.ParquetWriter, "close", fail)
    if when == "in the renaming":
        monkeypatch.setattr(os, "replace", fail)
    tables = [{"a": [2.0]}, {"a": [3.0]}]
    with pytest.raises(type(error)) as caught:
        write_all(path, tables, fail if when == "in the block" else None)
    assert error in (caught.value, caught.value.__cause__)
    if isinstance(error, OSError) and when in ("in a table", "in the footer"):
        assert "x.parquet could not be written" in str(caught.value)
    assert os.listdir(tmp_path) == ["x.parquet"]
    assert rows_of(path) == [[1.0]]


@pytest.mark.parametrize(
    ("number", "advice"),
    [(errno.ENOSPC, "Make room"), (errno.EDQUOT, "Make room"), (errno.EACCES, "another place")],
)
def test_room_is_asked_for_where_it_lacks(tmp_path, monkeypatch, number, advice):
    def fail(*args, **options):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(pq.ParquetWriter, "write_table", fail)
    with pytest.raises(OSError, match=rf"x\.parquet could not be written .*{advice}") as caught:
        write_all(tmp_path / "x.parquet", [{"a": [1.0]}])
    assert caught.value.errno == number


def test_tables_that_do_not_go_together(tmp_path):
    path = tmp_path / "x.parquet"
    with pytest.raises(ValueError, match=r"columns of the first one, \['a'\]\. Got \['b'\]"):
        write_all(path, [{"a": [1.0]}, {"b": [1.0]}])
    with pytest.raises(pa.ArrowException):
        write_all(path, [{"a": [1.0]}, {"a": ["word"]}])
    assert os.listdir(tmp_path) == []


def test_nothing_written(tmp_path):
    with (
        pytest.raises(ValueError, match="Nothing was written"),
        parquet_writer(tmp_path / "x.parquet"),
    ):
        pass
    assert os.listdir(tmp_path) == []


def test_places_that_cannot_be_written_to(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder"), parquet_writer(tmp_path):
        pass
    with (
        pytest.raises(FileNotFoundError, match=r"no does not exist\. Create the folder first"),
        parquet_writer(tmp_path / "no" / "x.parquet"),
    ):
        pass


def test_a_link_stays_a_link(tmp_path):
    path = tmp_path / "x.parquet"
    write_all(path, [{"a": np.ones(1)}])
    (tmp_path / "link.parquet").symlink_to(path)
    write_all(tmp_path / "link.parquet", [{"a": np.zeros(1)}])
    assert (tmp_path / "link.parquet").is_symlink()
    assert rows_of(path) == [[0.0]]


FULL_DISK = """
import os, resource, sys
import numpy as np
from hedgeclipper.io import parquet_writer

resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
rng = np.random.default_rng(0)
try:
    with parquet_writer(sys.argv[1]) as writer:
        for _ in range(10):
            writer.write({"a": rng.random(20_000), "b": rng.random(20_000)})
except OSError as error:
    names = [os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")[:-1]]
    print(error.errno, [name for name in names if "parquet" in name])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_full_disk(tmp_path):
    path = tmp_path / "x.parquet"
    write_all(path, [{"a": np.ones(1)}])
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", FULL_DISK, str(path)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (run.stdout, run.stderr) == (f"{errno.EFBIG} []\n", "")
    assert os.listdir(tmp_path) == ["x.parquet"]
    assert rows_of(path) == [[1.0]]


def killed_process():
    """Return the number of a process that is no longer there."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.skipif(os.name != "posix", reason="needs to ask whether a process is there")
def test_what_a_kill_left_behind_is_removed_by_the_next_who_writes(tmp_path):
    path, dead = tmp_path / "m.skops", killed_process()
    with atomic_path(path) as draft:
        own = draft.name
        draft.write_text("whole")
    gone = own.replace(f"-{os.getpid()}-", f"-{dead}-")
    nested, others = f".{gone}{gone.removeprefix('.m.skops')}", gone.replace("m.skops", "n.skops")
    for name in (gone, nested, own, others, ".m.skops.notes.tmp"):
        (tmp_path / name).write_text("left")
    with atomic_path(path) as draft:
        draft.write_text("new")
    # this process is alive, and may be writing in another thread
    kept = {"m.skops", own, others, ".m.skops.notes.tmp"}
    assert {found.name for found in tmp_path.iterdir()} == kept


def test_who_comes_second_is_told(tmp_path):
    path = tmp_path / "m.skops"

    def write_twice():
        with atomic_path(path, force=False) as draft:
            draft.write_text("second")
            path.write_text("first")

    with pytest.raises(FileExistsError, match="has been written by somebody else meanwhile"):
        write_twice()
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_named_with_the_file(tmp_path):
    path = tmp_path / "m.skops"
    with pytest.raises(NotWrittenError, match=r"m.skops could not be written .*Make room"):
        write_half(path, OSError(errno.ENOSPC, "No space left on device"))
    with pytest.raises(OSError, match=r"rows\.csv") as caught:
        write_half(path, FileNotFoundError(errno.ENOENT, "No such file", "rows.csv"))
    assert not isinstance(caught.value, NotWrittenError)  # what was read, not what is written
