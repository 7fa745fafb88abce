"""Votes in every form that they may come in, and what is done with them."""

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from hedgeclipper import Votes

NAN = np.nan
NUMBERS = np.array([[0, 1, -1], [2, -1, -1], [-1, -1, -1], [0, 0, -1]])
WORDS = np.array(["cat", "dog", "eel", None], dtype=object)[NUMBERS]
VOTERS = ["ann", "bob", "eve"]
FRAME = pd.DataFrame(WORDS, columns=VOTERS)


def as_sparse(table, kind=sparse.csr_array, abstain=-1):
    row, voter = np.nonzero(table != abstain)
    return kind(sparse.coo_array((table[row, voter], (row, voter)), shape=table.shape))


def as_lines(table):
    """A long table, with a line for each abstention too, so that names keep their order."""
    table = np.asarray(table, dtype=object)
    row, voter = np.indices(table.shape).reshape(2, -1)
    label = [None if word in (-1, None) else word for word in table.ravel()]
    return {"task": row, "worker": voter, "label": label}


def as_dense(votes):
    """Labels as objects, None for an abstention."""
    labels = np.append(votes.classes.astype(object), None)
    return labels[votes.matrix.toarray().astype(int) - 1]


def assert_same(ours, theirs):
    np.testing.assert_array_equal(ours.matrix.toarray(), theirs.matrix.toarray())
    assert ours.classes.tolist() == theirs.classes.tolist()
    assert ours.voters.tolist() == theirs.voters.tolist()


def assert_canonical(votes):
    matrix = votes.matrix
    assert isinstance(matrix, sparse.csr_array)
    fresh = sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
    assert fresh.has_canonical_format
    assert np.all(matrix.data > 0)


NUMBER_TABLES = {
    "list": NUMBERS.tolist(),
    "int8": NUMBERS.astype(np.int8),
    "fortran": np.asfortranarray(NUMBERS),
    "float with NaN": np.where(NUMBERS == -1, NAN, NUMBERS),
    "float32 with NaN": np.where(NUMBERS == -1, NAN, NUMBERS).astype(np.float32),
    "list with None": [[None if v == -1 else v for v in row] for row in NUMBERS.tolist()],
    "objects with NA": np.where(NUMBERS == -1, pd.NA, NUMBERS.astype(object)),
    "objects with floats": np.where(NUMBERS == -1, NAN, NUMBERS).astype(object),
    "masked": np.ma.masked_array(NUMBERS, NUMBERS == -1),
    "csr": as_sparse(NUMBERS),
    "csr matrix": as_sparse(NUMBERS, sparse.csr_matrix),
    "csc": as_sparse(NUMBERS, sparse.csc_array),
    "coo": as_sparse(NUMBERS, sparse.coo_array),
    "stored abstentions": as_sparse(NUMBERS, abstain=-2),
    "pandas": pd.DataFrame(NUMBERS),
    "pandas Int64": pd.DataFrame(NUMBERS).astype("Int64").replace(-1, pd.NA),
    "pandas Arrow": pd.DataFrame(NUMBERS).astype("int64[pyarrow]").replace(-1, pd.NA),
}


@pytest.mark.parametrize("name", NUMBER_TABLES)
def test_tables_of_class_numbers_are_the_same_in_every_form(name):
    votes = Votes.of(NUMBER_TABLES[name])
    np.testing.assert_array_equal(votes.matrix.toarray(), NUMBERS + 1)
    assert votes.matrix.dtype == np.int8
    assert votes.classes.tolist() == [0, 1, 2]
    assert votes.voters.tolist() == [0, 1, 2]
    assert votes.named == name.startswith("pandas")
    assert_canonical(votes)


ARROW = pa.table({name: pa.array(WORDS[:, k], "string") for k, name in enumerate(VOTERS)})
POLARS = pl.DataFrame({name: WORDS[:, k].tolist() for k, name in enumerate(VOTERS)})
WORD_TABLES = {
    "objects": WORDS,
    "list with NaN": [[NAN if v is None else v for v in row] for row in WORDS.tolist()],
    "fixed width": np.where(WORDS == None, "-", WORDS).astype(str),  # noqa: E711
    "pandas": FRAME,
    "pandas string": FRAME.astype("string"),
    "pandas category": FRAME.astype("category"),
    "arrow": ARROW,
    "arrow batch": ARROW.to_batches()[0],
    "arrow dictionary": pa.table({name: ARROW.column(name).dictionary_encode() for name in VOTERS}),
    "polars": POLARS,
    "polars categories": POLARS.with_columns(pl.all().cast(pl.String).cast(pl.Categorical)),
}


@pytest.mark.parametrize("name", WORD_TABLES)
def test_tables_of_class_names_are_the_same_in_every_form(name):
    votes = Votes.of(WORD_TABLES[name], abstain_label="-")
    np.testing.assert_array_equal(votes.matrix.toarray(), NUMBERS + 1)
    assert votes.classes.tolist() == ["cat", "dog", "eel"]
    assert (votes.voters.tolist() == VOTERS) == hasattr(WORD_TABLES[name], "columns")
    assert_canonical(votes)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_give_the_same_as_frames(tmp_path, suffix):
    paths = [tmp_path / f"{part}.{suffix}" for part in "ab"]
    for path, part in zip(paths, (FRAME[:2], FRAME[2:]), strict=True):
        part.to_csv(path, index=False) if suffix == "csv" else part.to_parquet(path, index=False)
    assert_same(Votes.of(paths), Votes.of(FRAME))
    assert Votes.of(str(paths[0])).n_rows == 2


def test_numbers_are_strings_where_other_voters_have_strings(tmp_path):
    """One of the voters happens to vote for no class but 1 and 2."""
    frame = pd.DataFrame({"a": [1, 2, None, -1], "b": ["other", "1", None, "2"]})
    frame.to_csv(tmp_path / "votes.csv", index=False)
    frame.to_parquet(tmp_path / "votes.parquet")
    for table in (frame, tmp_path / "votes.csv", tmp_path / "votes.parquet"):
        votes = Votes.of(table)
        assert votes.classes.tolist() == ["1", "2", "other"]
        assert votes.matrix.toarray().tolist() == [[1, 3], [2, 1], [0, 0], [0, 2]]
    (tmp_path / "codes.csv").write_text("a,b\n01,01\n02,other\n")
    assert Votes.of(tmp_path / "codes.csv").classes.tolist() == ["01", "02", "other"]
    alone = Votes.of(frame[["a"]]).align(["a", "b"], ["1", "2", "other"])
    assert alone.matrix.toarray().tolist() == [[1, 0], [2, 0], [0, 0], [0, 0]]
    with pytest.raises(TypeError, match="either all numbers"):
        Votes.of(frame.assign(b=[True, False, None, True], c="other"))


def test_the_index_of_pandas_names_the_rows():
    frame = pd.DataFrame({"a": [1, 0]}, index=["first", "second"])
    assert Votes.of(frame).rows.tolist() == ["first", "second"]
    assert Votes.of(frame.to_numpy()).rows is None
    assert Votes.of(pa.Table.from_pandas(frame)).voters.tolist() == ["a"]


def test_columns_of_different_types_share_their_classes():
    frame = pd.DataFrame(
        {"a": [1.0, NAN, 0.0], "b": pd.array([2, None, 1], dtype="Int64"), "c": [True, False, True]}
    )
    votes = Votes.of(frame)
    assert votes.classes.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(votes.matrix.toarray(), [[2, 3, 2], [0, 0, 1], [1, 2, 2]])


def test_booleans_are_classes():
    votes = Votes.of(np.array([[True, False], [True, True]]))
    assert votes.classes.dtype == bool
    np.testing.assert_array_equal(votes.matrix.toarray(), [[2, 1], [2, 2]])


@pytest.mark.parametrize("abstain_label", [None, NAN, pd.NA])
def test_without_abstain_label_minus_one_is_a_class(abstain_label):
    votes = Votes.of([[-1, 1], [NAN, -1]], abstain_label=abstain_label)
    assert votes.classes.tolist() == [-1, 1]
    np.testing.assert_array_equal(votes.matrix.toarray(), [[1, 2], [0, 1]])


def test_the_matrix_of_the_user_stays_as_it_is():
    matrix = sparse.csr_array((np.array([2, 1, 3]), np.array([2, 0, 1]), np.array([0, 2, 3])))
    votes = Votes.of(matrix)
    matrix.data[:] = 9
    matrix.indices[:] = 0
    np.testing.assert_array_equal(votes.matrix.toarray(), [[1, 0, 2], [0, 3, 0]])


@pytest.mark.parametrize(("n_classes", "dtype"), [(127, np.int8), (128, np.int16), (40_000, "i4")])
def test_integers_are_as_small_as_the_classes_allow(n_classes, dtype):
    votes = Votes.of(np.arange(n_classes)[:, None])
    assert votes.matrix.dtype == dtype
    np.testing.assert_array_equal(votes.matrix.data, np.arange(1, n_classes + 1))


def test_labels_far_apart_and_far_from_zero():
    labels = [[10**15, -(10**15)], [7, 2**40]]
    for table in (labels, np.array(labels, dtype=float), np.array(labels, dtype=object)):
        assert Votes.of(table).classes.tolist() == [-(10**15), 7, 2**40, 10**15]


def test_blocks_of_rows_make_no_difference(monkeypatch):
    table = np.random.default_rng(0).integers(-1, 40, (50, 7))
    pairs = [slice(start, start + 2) for start in range(0, 50, 2)]
    monkeypatch.setattr("hedgeclipper.votes.readers.cut", lambda n_rows, batch: pairs)
    np.testing.assert_array_equal(Votes.of(table).matrix.toarray(), table + 1)


tables = hnp.arrays(
    np.int64, st.tuples(st.integers(1, 8), st.integers(1, 5)), elements=st.integers(-1, 3)
).filter(lambda table: (table >= 0).any())


@given(tables, st.booleans())
def test_dense_sparse_long_and_wide_say_the_same(table, words):
    labels = np.array(["b", "a", "d", "c", None] if words else [3, 0, 7, 1, None], dtype=object)
    named = labels[table]
    votes = Votes.of(named)
    assert_canonical(votes)
    assert as_dense(votes).tolist() == named.tolist()
    assert_same(Votes.of(pd.DataFrame(named)), votes)
    lines = as_lines(named)
    assert_same(Votes.from_long(lines), votes)
    assert_same(Votes.from_long(pd.DataFrame(lines)), votes)
    if not words:
        numbers = named.copy()
        numbers[table == -1] = -1
        assert_same(Votes.of(as_sparse(numbers.astype(int))), votes)


# Long tables.

LINES = {
    "task": ["t2", "t1", "t2", "t3", "t1"],
    "worker": ["eve", "ann", "ann", "bob", "eve"],
    "label": ["dog", "cat", "cat", None, "cat"],
}
LONG_TABLES = {
    "mapping": LINES,
    "pandas": pd.DataFrame(LINES),
    "pandas category": pd.DataFrame(LINES).astype("category"),
    "pandas string": pd.DataFrame(LINES).astype("string"),
    "arrow": pa.table(LINES),
    "arrow batch": pa.table(LINES).to_batches()[0],
    "polars": pl.DataFrame(LINES),
    "polars categories": pl.DataFrame(LINES).with_columns(pl.all().cast(pl.Categorical)),
}


@pytest.mark.parametrize("name", LONG_TABLES)
def test_long_tables_are_the_same_in_every_form(name):
    votes = Votes.from_long(LONG_TABLES[name])
    assert votes.rows.tolist() == ["t2", "t1", "t3"]
    assert votes.voters.tolist() == ["eve", "ann", "bob"]
    assert votes.classes.tolist() == ["cat", "dog"]
    np.testing.assert_array_equal(votes.matrix.toarray(), [[2, 1, 0], [1, 1, 0], [0, 0, 0]])
    assert votes.named
    assert_canonical(votes)


def test_names_that_are_large_numbers_keep_all_digits():
    lines = {"task": [2**60 + 1, 2**60, 2**60 + 1], "worker": [7, 7, 3], "label": [1, None, 0]}
    votes = Votes.from_long(pl.DataFrame(lines))
    assert votes.rows.tolist() == [2**60 + 1, 2**60]
    assert votes.voters.tolist() == [7, 3]
    np.testing.assert_array_equal(votes.matrix.toarray(), [[2, 1], [0, 0]])


def test_columns_of_long_tables_by_other_names():
    frame = pd.DataFrame(LINES).rename(columns={"worker": "annotator", "task": "text"})
    votes = Votes.from_long(frame, task="text", worker="annotator")
    assert_same(votes, Votes.from_long(LINES))


def test_a_long_table_may_name_a_label_that_is_no_vote():
    table = {"task": [1, 1, 2], "worker": ["a", "b", "a"], "label": [0, -1, 1]}
    votes = Votes.from_long(table, abstain_label=-1)
    assert votes.matrix.toarray().tolist() == [[1, 0], [2, 0]]


@pytest.mark.parametrize("label", ["cat", None])
def test_the_same_vote_again_counts_once(label):
    table = {"task": [1, 2, 1, 1], "worker": list("aaba"), "label": ["cat", "dog", "dog", label]}
    np.testing.assert_array_equal(Votes.from_long(table).matrix.toarray(), [[1, 2], [2, 0]])


def test_votes_that_contradict_each_other_are_an_error():
    table = {"task": [1, 1, 2, 1, 2], "worker": list("abbab"), "label": [0, 0, 1, 0, 2]}
    with pytest.raises(ValueError, match="Worker 'b' votes more than once on task 2: for 1 and"):
        Votes.from_long(table)


# What is done with votes.


def test_counts_and_triplets():
    votes = Votes.of(NUMBERS)
    assert (votes.n_rows, votes.n_voters, votes.n_classes, votes.n_votes) == (4, 3, 3, 5)
    np.testing.assert_array_equal(votes.counts(), [[1, 1, 0], [0, 0, 1], [0, 0, 0], [2, 0, 0]])
    row, voter, code = votes.triplets()
    np.testing.assert_array_equal(row, [0, 0, 1, 3, 3])
    np.testing.assert_array_equal(code, NUMBERS[row, voter])


@pytest.mark.parametrize(
    "rows",
    [
        slice(1, 3),
        slice(3, 1),
        slice(7, 9),
        slice(None, None, -1),
        [3, 0],
        np.array([-1, 1, 1]),
        [True, False, False, True],
        [],
    ],
)
def test_rows_are_taken_as_from_an_array(rows):
    votes = Votes.of(FRAME.set_index(pd.Index(list("abcd"))))
    taken = votes.take(rows)
    np.testing.assert_array_equal(taken.matrix.toarray(), (NUMBERS + 1)[rows])
    assert taken.rows.tolist() == np.array(list("abcd"))[rows].tolist()
    assert taken.classes.tolist() == ["cat", "dog", "eel"]
    assert_canonical(taken)


def test_align_moves_columns_and_codes():
    votes = Votes.of(FRAME)
    aligned = votes.align(["eve", "new", "bob", "ann"], ["owl", "eel", "dog", "cat"])
    expected = np.hstack([WORDS[:, [2]], np.full((4, 1), None), WORDS[:, [1, 0]]])
    assert as_dense(aligned).tolist() == expected.tolist()
    assert aligned.rows.tolist() == [0, 1, 2, 3]
    assert_canonical(aligned)
    assert_same(votes, Votes.of(FRAME))


def test_align_needs_to_know_only_classes_with_votes():
    votes = Votes.of([["a", "b"], ["a", "a"]])
    aligned = votes.take([1]).align([0, 1], ["c", "a"], named=False)
    assert aligned.matrix.toarray().tolist() == [[2, 2]]
    with pytest.raises(ValueError, match="has the class 'b', which is none of the classes 'c', 'a"):
        votes.align([0, 1], ["c", "a"], named=False)


def test_voters_are_matched_by_position_if_one_side_has_no_names():
    named, numbered = Votes.of(pd.DataFrame({"b": [0], "a": [1]})), Votes.of([[0, 1]])
    assert numbered.align(["y", "x"], [0, 1]).matrix.toarray().tolist() == [[1, 2]]
    assert named.align([0, 1], [0, 1], named=False).matrix.toarray().tolist() == [[1, 2]]
    with pytest.raises(ValueError, match="have 2 voters without names, and 3 are expected"):
        numbered.align(["x", "y", "z"], [0, 1])
    with pytest.raises(ValueError, match=r"1 of 2 voters are not known: 'b'. Known are 'c', 'a'"):
        named.align(["c", "a"], [0, 1])


def test_stack_joins_voters_classes_and_rows():
    upper = Votes.from_long({"task": ["t1"], "worker": ["bob"], "label": ["dog"]})
    lower = Votes.from_long({"task": ["t2"] * 2, "worker": ["ann", "bob"], "label": ["cat", "dog"]})
    stacked = Votes.stack(upper, lower)
    assert stacked.rows.tolist() == ["t1", "t2"]
    assert stacked.voters.tolist() == ["bob", "ann"]
    assert as_dense(stacked).tolist() == [["dog", None], ["dog", "cat"]]


def test_stack_matches_voters_without_names_by_position():
    parts = Votes.of(NUMBERS[:1]), Votes.of(NUMBERS[1:2]), Votes.of(NUMBERS[3:])
    assert_same(Votes.stack(*parts), Votes.of(NUMBERS[[0, 1, 3]]))
    stacked = Votes.stack(Votes.of([[0, 1]]), Votes.of(pd.DataFrame({"a": [1], "b": [1]})))
    assert stacked.voters.tolist() == ["a", "b"]
    assert stacked.matrix.toarray().tolist() == [[1, 2], [2, 2]]


def test_workers_named_by_numbers_keep_their_names():
    """0, 1, 2 are names here, as 7 is, and not places of columns."""
    first = Votes.from_long({"task": [1, 1, 1], "worker": [0, 1, 2], "label": [0, 1, 1]})
    other = Votes.from_long({"task": [2, 2, 2], "worker": [2, 7, 0], "label": [0, 1, 1]})
    both = Votes.stack(first, other)
    assert both.voters.tolist() == [0, 1, 2, 7]
    assert both.matrix.toarray().tolist() == [[1, 2, 2, 0], [2, 0, 1, 2]]


def test_tables_in_which_everybody_abstains_have_no_classes():
    assert Votes.of([[-1, None]]).n_classes == 0
    both = Votes.stack(Votes.of([[-1, None]]), Votes.of([["no", "yes"]]))
    assert both.matrix.toarray().tolist() == [[0, 0], [1, 2]]


# What is wrong.


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        (np.empty((0, 2), int), ValueError, "Got 0 rows and 2 voters"),
        (sparse.csr_array((0, 3)), ValueError, "Got 0 rows and 3 voters"),
        (pd.DataFrame({"a": []}), ValueError, "Got 0 rows and 1 voters"),
        ([0, 1], ValueError, r"a column for each voter. Got list of shape \(2,\)"),
        (pl.DataFrame({"a": [1]}).lazy(), ValueError, r"Got LazyFrame of shape \(\)"),
        ("votes.csv", FileNotFoundError, "does not exist"),
        ([[0.25, 1.0]], ValueError, r"must be whole. Got 0.25. .*, not probabilities"),
        (np.array([[0.5, None]], dtype=object), ValueError, "must be whole. Got 0.5"),
        ([["a", 1]], TypeError, "either all numbers, all booleans or all strings. Got int, str"),
        (np.array([[1j]]), TypeError, "Got dtype complex128"),
        (np.array([[{}, 1]], dtype=object), TypeError, "Got something else: .*unhashable"),
        (np.array([[0, 2**63]], dtype=np.uint64), ValueError, "fit into 64 bits"),
        (sparse.coo_array(([1, 1], ([0, 0], [1, 1]))), ValueError, "store some votes twice"),
        (sparse.dia_array(np.eye(2)), TypeError, "csr, csc or coo.* Got dia"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "2 columns with the name 'a'"),
    ],
)
def test_what_is_no_table_of_votes(table, error, message):
    with pytest.raises(error, match=message):
        Votes.of(table)


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        ({"task": [1], "label": [1]}, ValueError, "The long table has no column 'worker'"),
        (pd.DataFrame({"worker": [1]}), ValueError, "The long table has no column 'task'"),
        ([("t", "w", 1)], TypeError, "must be a frame .* Got list"),
        ({"task": [1, 2], "worker": [1], "label": [1]}, ValueError, r"shapes \(2,\), \(1,\), "),
        ({name: [] for name in LINES}, ValueError, "Got 0 rows and 0 voters"),
        ({"task": [1], "worker": ["w"], "label": [0.5]}, ValueError, "'label' must hold .* 0.5"),
        ({"task": [1, 1], "worker": [1, 2], "label": [0, "a"]}, TypeError, "'label' .* int, str"),
    ],
)
def test_what_is_no_long_table(table, error, message):
    with pytest.raises(error, match=message):
        Votes.from_long(table)


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pa.table, pl.DataFrame])
@pytest.mark.parametrize("names", [["a", "b", None], [1.0, 2.0, None]])
def test_tasks_must_not_be_missing(make, names):
    table = make({"task": names, "worker": [1, 2, 3], "label": [0, 1, 1]})
    with pytest.raises(ValueError, match=r"'task' must not have missing .* in row 2"):
        Votes.from_long(table)


def test_a_million_rows_and_thousands_of_voters_need_little_memory():
    random = np.random.default_rng(0)
    row, voter = random.integers(0, 10**6, 10**6), random.integers(0, 2_000, 10**6)
    _, kept = np.unique(row * 2_000 + voter, return_index=True)
    row, voter, label = row[kept], voter[kept], random.integers(0, 5, kept.size)
    matrix = sparse.csr_array((label, (row, voter)), shape=(10**6, 2_000))
    tracemalloc.start()
    votes = Votes.of(matrix)
    aligned = votes.take(slice(None, None, -1)).align(np.arange(2_000), np.arange(5)[::-1])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(aligned.counts()[::-1, ::-1], votes.counts())
    assert peak < 200e6  # a dense matrix of bytes has 2e9
