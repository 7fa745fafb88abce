"""Readers of the files of the paper's data sets."""

import bz2
import gzip
import lzma
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from benchmarks.data import readers
from benchmarks.data.fetching import load
from benchmarks.data.readers import read_files
from benchmarks.data.sources import DATASETS

PACK = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
LIBSVM = b"+1 1:0.5 3:1\n-1 2:2\n1 3:0.25\n"
LIBSVM_ROWS = [[0.5, 0, 1], [0, 2, 0], [0, 0, 0.25]]
NUMBERS = np.array([[1, 0.25, -1.5], [0, 3.0, 2.0], [1, 0.125, 4.0]])


def small(name, n_rows, n_columns, n_train=None, **changes):
    n_test = 0 if n_train is None else n_rows - n_train
    return replace(DATASETS[name], shape=(n_rows, n_columns), n_test=n_test, **changes)


def write(path, text, pack=bytes):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(pack(text))
    return path


def scientific(numbers):
    """Return CSV text in the form of SUSY and HIGGS."""
    return "".join(",".join(f"{v:.18e}" for v in row) + "\n" for row in numbers).encode()


@pytest.mark.parametrize("suffix", PACK)
def test_libsvm_sparse_in_any_packing(tmp_path, suffix):
    path = write(tmp_path / f"webspam{suffix}", LIBSVM, PACK[suffix])
    contents = read_files(small("webspam-uni", 3, 3), (path,))
    assert sparse.issparse(contents.data)
    np.testing.assert_array_equal(contents.data.toarray(), LIBSVM_ROWS)
    assert contents.target.tolist() == [1, 0, 1]


def test_libsvm_dense_with_test_rows_below(tmp_path):
    paths = tuple(write(tmp_path / name, LIBSVM) for name in ("train", "test"))
    contents = read_files(small("epsilon", 6, 3, n_train=3), paths)
    np.testing.assert_array_equal(contents.data, LIBSVM_ROWS * 2)
    assert contents.data.dtype == np.float32
    assert contents.n_train == 3


@pytest.mark.parametrize("name", ["epsilon", "webspam-uni"])
def test_blocks_of_lines_make_no_difference(tmp_path, monkeypatch, name):
    monkeypatch.setattr(readers, "LIBSVM_BYTES", 5)
    path = write(tmp_path / "file", LIBSVM)
    data = read_files(small(name, 3, 3), (path,)).data
    np.testing.assert_array_equal(data.toarray() if name != "epsilon" else data, LIBSVM_ROWS)


def test_columns_absent_from_a_libsvm_file_are_counted(tmp_path):
    path = write(tmp_path / "file", LIBSVM)
    assert read_files(small("w1a", 3, 300), (path,)).data.shape == (3, 300)


@pytest.mark.parametrize("suffix", PACK)
def test_libsvm_without_a_line_end_at_the_end(tmp_path, suffix):
    path = write(tmp_path / f"file{suffix}", LIBSVM[:-1], PACK[suffix])
    contents = read_files(small("w1a", 3, 3), (path,))
    np.testing.assert_array_equal(contents.data.toarray(), LIBSVM_ROWS)


def test_libsvm_cut_within_the_last_line(tmp_path):
    path = write(tmp_path / "file", LIBSVM[:-6])
    with pytest.raises(OSError, match="file is damaged or cut short"):
        read_files(small("w1a", 3, 3), (path,))


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("name", ["SUSY", "webspam-uni"])
def test_packed_file_cut_short(tmp_path, name, suffix):
    text = {"SUSY": scientific(NUMBERS), "webspam-uni": LIBSVM}[name]
    whole = PACK[suffix](text)
    path = write(tmp_path / f"file{suffix}", whole[: len(whole) * 2 // 3])
    with pytest.raises(OSError, match=rf"file\{suffix} is damaged or cut short"):
        read_files(small(name, 3, 2), (path,))


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_page_in_place_of_a_packed_file(tmp_path, suffix):
    path = write(tmp_path / f"file{suffix}", b"<html>not found</html>\n")
    with pytest.raises(OSError, match="is damaged"):
        read_files(small("SUSY", 3, 2), (path,))


def test_more_columns_than_expected_in_libsvm(tmp_path):
    path = write(tmp_path / "file", LIBSVM)
    with pytest.raises(OSError, match="is damaged"):
        read_files(small("w1a", 3, 2), (path,))


@pytest.mark.parametrize("name", ["SUSY", "HIGGS"])
def test_csv_with_the_label_first(tmp_path, monkeypatch, name):
    monkeypatch.setattr(readers, "CSV_ROWS", 2)
    path = write(tmp_path / "file.csv.gz", scientific(NUMBERS), gzip.compress)
    contents = read_files(small(name, 3, 2, n_train=2), (path,))
    np.testing.assert_array_equal(contents.data, NUMBERS[:, 1:])
    assert contents.data.dtype == np.float32
    assert contents.target.tolist() == [1, 0, 1]
    assert contents.n_train == 2


@pytest.mark.parametrize(("n_rows", "n_columns"), [(2, 2), (3, 1), (3, 3)])
def test_csv_of_another_shape(tmp_path, n_rows, n_columns):
    path = write(tmp_path / "file.csv", scientific(NUMBERS))
    with pytest.raises(ValueError, match=rf"SUSY should have {n_rows} rows x {n_columns} columns"):
        read_files(small("SUSY", n_rows, n_columns), (path,))


def test_covtype_has_the_class_last_and_asks_for_class_2(tmp_path):
    path = write(tmp_path / "covtype.data.gz", b"2596,51,5\n2804,139,2\n", gzip.compress)
    contents = read_files(small("covtype", 2, 2), (path,))
    np.testing.assert_array_equal(contents.data, [[2596, 51], [2804, 139]])
    assert contents.target.tolist() == [0, 1]


def test_kaggle_row_numbers_are_no_column_and_na_is_nan(tmp_path):
    train = b'"",SeriousDlqin2yrs,age,Debt-Ratio\n"1",1,45,0.8\r\n2,0,NA,0.25\n'
    test = b'"",SeriousDlqin2yrs,age,Debt-Ratio\n1,NA,43,NA'
    paths = (write(tmp_path / "train.csv", train), write(tmp_path / "test.csv", test))
    contents = read_files(small("kagg-cred", 2, 2), paths)
    np.testing.assert_array_equal(contents.data, np.float32([[45, 0.8], [np.nan, 0.25]]))
    np.testing.assert_array_equal(contents.data_unlabeled, [[43, np.nan]])
    assert contents.target.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [(b"D1,D2\n1,2\n", "Activity"), (b"<html>log in</html>", "Activity"), (b"", "")],
)
def test_kaggle_file_that_is_not_the_one(tmp_path, text, reason):
    paths = (write(tmp_path / "train.csv", text), tmp_path / "test.csv")
    with pytest.raises(OSError, match=rf"train\.csv is damaged.*{reason}"):
        read_files(small("kagg-prot", 1, 2), paths)


def matlab_file(folder, **options):
    X = sparse.csc_array(np.array(LIBSVM_ROWS))
    y = np.array([[1.0], [-1.0], [1.0]])
    savemat(folder / "data.mat", {"X": X, "y": y}, **options)
    return folder / "data.mat"


def test_matlab_rows(tmp_path):
    contents = read_files(small("ssl-text", 3, 3), (matlab_file(tmp_path),))
    np.testing.assert_array_equal(contents.data.toarray(), LIBSVM_ROWS)
    assert contents.target.tolist() == [1, 0, 1]


@pytest.mark.parametrize("fraction", [0.0, 0.2, 0.5, 0.8, 0.95])
@pytest.mark.parametrize("packed", [False, True])
def test_matlab_file_cut_short(tmp_path, fraction, packed):
    path = matlab_file(tmp_path, do_compression=packed)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(fraction * len(whole))])
    with pytest.raises(OSError, match=r"data\.mat is damaged"):
        read_files(small("ssl-text", 3, 3), (path,))


ROWS = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, np.nan]], dtype=np.float32)
LABELS = np.array([0, 1], dtype=np.uint8)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HEDGECLIPPER_DATA", str(tmp_path))
    return tmp_path


def csr_parts(name, matrix):
    matrix = sparse.csr_array(matrix)
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
    return {f"{name}_{part}": value for part, value in (parts | {"shape": matrix.shape}).items()}


def test_dense_archive_with_unlabeled_rows_apart(folder):
    np.savez(folder / "kagg_cred.npz", X=ROWS, y=LABELS)
    np.savez(folder / "kagg_cred_unlabeled.npz", X=ROWS[:1])
    bunch = load(small("kagg-cred", 2, 3, n_unlabeled=1))
    np.testing.assert_array_equal(bunch.data, ROWS)
    np.testing.assert_array_equal(bunch.data_unlabeled, ROWS[:1])
    assert bunch.target.tolist() == [0, 1]
    assert bunch.target.dtype == np.int64


def test_sparse_archive_of_training_and_test_rows(folder):
    X = np.nan_to_num(ROWS)
    train, test = csr_parts("X_train", X[:1]), csr_parts("X_test", X[1:])
    np.savez(folder / "w1a.npz", **train, **test, y_train=LABELS[:1], y_test=LABELS[1:])
    bunch = load(small("w1a", 2, 3, n_train=1))
    np.testing.assert_array_equal(bunch.data.toarray(), X)
    assert bunch.n_train == 1
    assert bunch.data.indices.dtype == bunch.data.indptr.dtype == np.int32


def test_symbols_become_one_column_for_each_place_and_symbol(folder):
    symbols = np.array([[0, 20], [3, 1]], dtype=np.uint8)
    np.savez(folder / "ssl_secstr.npz", T=symbols, T_extra=symbols[:1], y=LABELS)
    bunch = load(small("ssl-secstr", 2, 42, n_unlabeled=1))
    assert [row.indices.tolist() for row in bunch.data] == [[0, 41], [3, 22]]
    assert bunch.data_unlabeled.shape == (1, 42)


def test_symbol_out_of_range(folder):
    symbols = np.array([[1, 21], [0, 0]], dtype=np.uint8)
    np.savez(folder / "ssl_secstr.npz", T=symbols, T_extra=symbols, y=LABELS)
    with pytest.raises(OSError, match=r"ssl_secstr\.npz is damaged.*unknown categories.*21"):
        load(small("ssl-secstr", 2, 42))


def test_wrong_number_of_rows_names_the_file(folder):
    np.savez(folder / "covtype.npz", X=ROWS, y=LABELS)
    with pytest.raises(ValueError, match=r"have 581,012 labeled rows, but 2 .*covtype\.npz"):
        load(DATASETS["covtype"])


def test_wrong_number_of_columns(folder):
    np.savez(folder / "covtype.npz", X=ROWS, y=LABELS)
    with pytest.raises(ValueError, match="should have 54 columns, but 3 were read"):
        load(small("covtype", 2, 54))


def test_fewer_labels_than_rows(folder):
    np.savez(folder / "covtype.npz", X=ROWS, y=LABELS[:1])
    with pytest.raises(ValueError, match="should have 2 labels, but 1 were read"):
        load(small("covtype", 2, 54))


@pytest.mark.parametrize("fraction", [0.0, 0.5, 0.99])
def test_archive_cut_short(folder, fraction):
    path = folder / "covtype.npz"
    np.savez_compressed(path, X=ROWS, y=LABELS)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(fraction * len(whole))])
    with pytest.raises(OSError, match=r"covtype\.npz is damaged or cut short"):
        load(DATASETS["covtype"])


def test_archive_with_altered_bytes(folder):
    path = folder / "covtype.npz"
    np.savez(path, X=ROWS, y=LABELS)
    bytes_ = bytearray(path.read_bytes())
    bytes_[150] ^= 0xFF
    path.write_bytes(bytes_)
    with pytest.raises(OSError, match=r"covtype\.npz is damaged"):
        load(DATASETS["covtype"])


def test_archive_of_something_else(folder):
    np.savez(folder / "covtype.npz", votes=ROWS)
    with pytest.raises(OSError, match=r"covtype\.npz is damaged"):
        load(DATASETS["covtype"])
