import bz2
import gzip
import lzma

import numpy as np
import pytest
from scipy import sparse

from hedgeclipper.io import as_source, libsvm

TEXT = b"+1 1:0.5 3:1\nnan 2:2\n-1 3:0.25\n"
ROWS = [[0.5, 0, 1], [0, 2, 0], [0, 0, 0.25]]
PACK = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def write(path, content=TEXT):
    path.write_bytes(content)
    return path


def stacked(source):
    return sparse.vstack(list(source)).toarray()


@pytest.mark.parametrize("suffix", [".svm", ".libsvm", ".svmlight"])
@pytest.mark.parametrize("pack", PACK)
def test_rows_and_labels_on_every_pass(tmp_path, suffix, pack):
    path = write(tmp_path / f"x{suffix}{pack}", PACK[pack](TEXT))
    source = as_source(path, label=True, n_columns=3)
    for _ in range(2):
        np.testing.assert_array_equal(stacked(source), ROWS)
        labels = np.concatenate([part for _, part in source.labeled_batches()])
        np.testing.assert_array_equal(labels, [1.0, np.nan, -1.0])
    assert not source.in_memory
    assert source.column_names is None


def test_without_a_width_the_files_are_counted_first(tmp_path):
    write(tmp_path / "0.svm")
    write(tmp_path / "1.svm", b"1 7:1\n1\n")
    source = as_source(tmp_path)
    assert source.n_rows == 5
    assert [batch.shape for batch in source] == [(3, 7), (2, 7)]
    assert as_source(tmp_path, n_columns=9).n_rows is None
    assert {batch.shape[1] for batch in as_source(tmp_path, n_columns=9)} == {9}


@pytest.mark.parametrize("dtype", [None, np.float32])
def test_rows_are_csr_arrays_with_narrow_indices(tmp_path, dtype):
    (rows,) = as_source(write(tmp_path / "x.svm"), dtype=dtype)
    assert isinstance(rows, sparse.csr_array)
    assert rows.dtype == (dtype or np.float64)
    assert rows.indices.dtype == rows.indptr.dtype == np.int32
    assert rows.has_canonical_format


def test_names_stand_for_the_columns(tmp_path):
    source = as_source(write(tmp_path / "x.svm"), columns=["a", "b", "c", "d"])
    assert source.column_names == ["a", "b", "c", "d"]
    assert stacked(source).shape == (3, 4)


@pytest.mark.parametrize("content", [TEXT[:-1], TEXT.replace(b"\n", b"\r\n"), b"\n# x\n" + TEXT])
def test_line_ends_comments_and_empty_lines(tmp_path, content):
    np.testing.assert_array_equal(stacked(as_source(write(tmp_path / "x.svm", content))), ROWS)


def test_blocks_of_lines_and_rows_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(libsvm, "BLOCK_BYTES", 5000)
    monkeypatch.setattr(libsvm, "_MOST_ROWS", 100)
    lines = [f"{row % 2} 1:{row} 2:1" for row in range(2000)]
    source = as_source(write(tmp_path / "x.svm", "\n".join(lines).encode()))
    assert max(batch.shape[0] for batch in source) == 100
    np.testing.assert_array_equal(stacked(source)[:, 0], np.arange(2000))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1 4:1", "4 features"),
        ("1 0:1", "index 0"),
        ("1 2:1 1:1", "sorted"),
        ("x 1:1", "float"),
        ("1 a:1", "int"),
        ("1:0.5", "float"),
    ],
)
@pytest.mark.parametrize("number", [1, 2, 57, 100])
def test_a_line_that_cannot_be_read_is_named(tmp_path, monkeypatch, line, reason, number):
    monkeypatch.setattr(libsvm, "BLOCK_BYTES", 300)
    lines = ["1 1:0.5 3:1"] * 100
    lines[number - 1] = line
    path = write(tmp_path / "x.svm", "\n".join(lines).encode())
    with pytest.raises(ValueError, match=rf"Line {number} of .*x\.svm is not .*{reason}.*Write"):
        list(as_source(path, n_columns=3))


@pytest.mark.parametrize(
    ("end", "is_cut"), [(b"-1 3:", True), (b"-1 3", True), (b"-1 3:\n", False)]
)
def test_a_last_line_that_may_be_cut_says_so(tmp_path, end, is_cut):
    path = write(tmp_path / "x.svm", TEXT + end)
    with pytest.raises(ValueError, match=r"Line 4 of .*x\.svm is not") as caught:
        as_source(path)
    assert ("may be cut short" in str(caught.value)) is is_cut


@pytest.mark.parametrize("pack", [".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("fraction", [0.3, 0.9])
def test_packed_file_cut_short(tmp_path, pack, fraction):
    rng = np.random.default_rng(0)
    whole = PACK[pack]("".join(f"1 1:{x}\n" for x in rng.random(5000)).encode())
    path = write(tmp_path / f"x.svm{pack}", whole[: int(fraction * len(whole))])
    with pytest.raises(OSError, match=r"x\.svm.* is damaged or cut short") as caught:
        list(as_source(path))
    assert caught.value.__cause__ is not None


def test_a_file_that_is_not_packed_as_it_says(tmp_path):
    with pytest.raises(OSError, match=r"x\.svm\.gz is damaged"):
        as_source(write(tmp_path / "x.svm.gz"))


@pytest.mark.parametrize("n_columns", [None, 3])
@pytest.mark.parametrize("content", [b"", b"\n", b"# no rows"])
def test_file_without_rows(tmp_path, n_columns, content):
    with pytest.raises(ValueError, match=r"x\.svm has no rows"):
        list(as_source(write(tmp_path / "x.svm", content), n_columns=n_columns))


def test_one_line_without_an_end(tmp_path):
    assert stacked(as_source(write(tmp_path / "x.svm", b"1 2:3"))).tolist() == [[0.0, 3.0]]


def test_files_that_change_between_passes(tmp_path):
    path = write(tmp_path / "x.svm")
    source = as_source(path, n_columns=3)
    list(source)
    write(path, TEXT + TEXT)
    with pytest.raises(ValueError, match=r"x\.svm changed between passes: 3 rows at first, then 6"):
        list(source)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"x\.svm is gone"):
        list(source)


def test_labels_that_were_not_asked_for(tmp_path):
    with pytest.raises(ValueError, match="has no labels"):
        next(as_source(write(tmp_path / "x.svm")).labeled_batches())
