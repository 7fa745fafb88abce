import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from hedgeclipper.io import is_missing
from hedgeclipper.votes import Votes

NAN = np.nan
NUMBERS = np.array([[0, 1, -1], [2, -1, -1], [-1, -1, -1], [0, 0, -1]])
WORDS = np.array(["cat", "dog", "eel", None], dtype=object)[NUMBERS]
VOTERS = ["ann", "bob", "eve"]


def polars():
    return pytest.importorskip("polars")


def as_sparse(table, kind=sparse.csr_array, abstain=-1):
    row, voter = np.nonzero(table != abstain)
    return kind(sparse.coo_array((table[row, voter], (row, voter)), shape=table.shape))


def as_frame(table, missing=(-1, None)):
    words = np.asarray(table, dtype=object)
    columns = {
        name: [None if label in missing else label for label in column]
        for name, column in zip(VOTERS, words.T, strict=False)
    }
    return pd.DataFrame(columns)


def as_lines(table, rows=None, voters=None):
    """A long table, with a line for each abstention too, so that names keep their order."""
    table = np.asarray(table, dtype=object)
    row, voter = np.indices(table.shape).reshape(2, -1)
    label = [None if word in (-1, None) else word for word in table.ravel()]
    names = np.arange(len(table)) if rows is None else np.asarray(rows)
    voters = np.arange(table.shape[1]) if voters is None else np.asarray(voters)
    return {"task": names[row], "worker": voters[voter], "label": label}


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
    assert matrix.data.max(initial=0) <= votes.n_classes


NUMBER_TABLES = {
    "list": NUMBERS.tolist(),
    "int8": NUMBERS.astype(np.int8),
    "fortran": np.asfortranarray(NUMBERS),
    "float": NUMBERS.astype(float),
    "float with NaN": np.where(NUMBERS == -1, NAN, NUMBERS),
    "float32 with NaN": np.where(NUMBERS == -1, NAN, NUMBERS).astype(np.float32),
    "list with None": [[None if v == -1 else v for v in row] for row in NUMBERS.tolist()],
    "objects": NUMBERS.astype(object),
    "objects with NA": np.where(NUMBERS == -1, pd.NA, NUMBERS.astype(object)),
    "objects with floats": np.where(NUMBERS == -1, NAN, NUMBERS).astype(object),
    "masked": np.ma.masked_equal(NUMBERS, -1),
    "masked floats": np.ma.masked_equal(NUMBERS.astype(float), -1),
    "csr": as_sparse(NUMBERS),
    "csr matrix": as_sparse(NUMBERS, sparse.csr_matrix),
    "csc": as_sparse(NUMBERS, sparse.csc_array),
    "coo": as_sparse(NUMBERS, sparse.coo_array),
    "float coo": as_sparse(NUMBERS.astype(float), sparse.coo_matrix),
    "stored abstentions": as_sparse(NUMBERS, abstain=-2),
    "pandas": pd.DataFrame(NUMBERS),
    "pandas float": pd.DataFrame(np.where(NUMBERS == -1, NAN, NUMBERS)),
    "pandas Int64": pd.DataFrame(NUMBERS).astype("Int64").replace(-1, pd.NA),
    "pandas Arrow": pd.DataFrame(NUMBERS).astype("int64[pyarrow]").replace(-1, pd.NA),
}


@pytest.mark.parametrize("name", NUMBER_TABLES)
def test_tables_of_class_numbers_are_the_same_in_every_form(name):
    votes = Votes.of(NUMBER_TABLES[name])
    np.testing.assert_array_equal(votes.matrix.toarray(), NUMBERS + 1)
    assert votes.matrix.dtype == np.int8
    assert votes.classes.dtype == np.int64
    assert votes.classes.tolist() == [0, 1, 2]
    assert votes.voters.tolist() == [0, 1, 2]
    assert not votes.named
    assert_canonical(votes)


def word_tables():
    frame = as_frame(WORDS)
    arrow = pa.table({name: pa.array(WORDS[:, k], "string") for k, name in enumerate(VOTERS)})
    tables = {
        "objects": WORDS,
        "list": WORDS.tolist(),
        "list with NaN": [[NAN if v is None else v for v in row] for row in WORDS.tolist()],
        "fixed width": np.where(WORDS == None, "-", WORDS).astype(str),  # noqa: E711
        "pandas": frame,
        "pandas objects": frame.astype(object),
        "pandas string": frame.astype("string"),
        "pandas category": frame.astype("category"),
        "arrow": arrow,
        "arrow batch": arrow.to_batches()[0],
        "arrow dictionary": pa.table(
            {name: arrow.column(name).dictionary_encode() for name in VOTERS}
        ),
    }
    try:
        import polars as pl
    except ImportError:
        return tables
    wide = pl.DataFrame({name: WORDS[:, k].tolist() for k, name in enumerate(VOTERS)})
    words = wide.with_columns(pl.all().cast(pl.String))
    return tables | {
        "polars": words,
        "polars categories": words.with_columns(pl.all().cast(pl.Categorical)),
        "polars enum": words.with_columns(pl.all().cast(pl.Enum(["eel", "dog", "cat"]))),
    }


WORD_TABLES = word_tables()


@pytest.mark.parametrize("name", WORD_TABLES)
def test_tables_of_class_names_are_the_same_in_every_form(name):
    votes = Votes.of(WORD_TABLES[name], abstain_label="-")
    np.testing.assert_array_equal(votes.matrix.toarray(), NUMBERS + 1)
    assert votes.classes.dtype.kind == "U"
    assert votes.classes.tolist() == ["cat", "dog", "eel"]
    assert_canonical(votes)


@pytest.mark.parametrize("name", [n for n in WORD_TABLES if hasattr(WORD_TABLES[n], "columns")])
def test_columns_of_frames_name_the_voters(name):
    votes = Votes.of(WORD_TABLES[name])
    assert votes.voters.tolist() == VOTERS
    assert votes.named


@pytest.mark.parametrize("name", [n for n in WORD_TABLES if n.startswith("polars")] or ["polars"])
def test_polars_gives_what_pandas_gives(name):
    polars()
    assert_same(Votes.from_frame(WORD_TABLES[name]), Votes.from_frame(WORD_TABLES["pandas"]))


def test_polars_numbers_and_booleans_with_nulls():
    frame = polars().DataFrame({"a": [1, None, 0], "b": [0, 0, None]})
    assert as_dense(Votes.of(frame)).tolist() == [[1, 0], [None, 0], [0, None]]
    frame = polars().DataFrame({"a": [True, None], "b": [False, True]})
    votes = Votes.of(frame)
    assert as_dense(votes).tolist() == [[True, False], [None, True]]
    assert votes.rows is None


def test_the_index_of_pandas_names_the_rows():
    frame = pd.DataFrame({"a": [1, 0]}, index=["first", "second"])
    assert Votes.of(frame).rows.tolist() == ["first", "second"]
    assert Votes.of(frame.to_numpy()).rows is None


def test_the_index_that_pandas_leaves_in_arrow_is_no_voter():
    frame = pd.DataFrame({"a": [1, 0]}, index=["first", "second"])
    assert Votes.of(pa.Table.from_pandas(frame)).voters.tolist() == ["a"]


def test_columns_of_a_frame_are_chosen_and_ordered_by_voters():
    frame = as_frame(WORDS).assign(text="some words")
    votes = Votes.from_frame(frame, voters=["bob", "ann"])
    assert votes.voters.tolist() == ["bob", "ann"]
    np.testing.assert_array_equal(votes.matrix.toarray(), NUMBERS[:, [1, 0]] + 1)
    assert_same(Votes.of(frame, voters=["bob", "ann"]), votes)


def test_in_frames_minus_one_abstains_only_if_said_so():
    frame = pd.DataFrame({"a": [-1, 1], "b": [1, -1]})
    assert Votes.from_frame(frame).classes.tolist() == [-1, 1]
    assert Votes.from_frame(frame, abstain_label=-1).n_votes == 2
    assert Votes.of(frame).n_votes == 2


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


def test_zeros_that_a_sparse_matrix_stores_are_votes():
    matrix = sparse.csr_array(([0, 1, 0], ([0, 0, 1], [0, 1, 1])), shape=(3, 2))
    votes = Votes.of(matrix)
    np.testing.assert_array_equal(votes.matrix.toarray(), [[1, 2], [0, 1], [0, 0]])
    assert votes.n_votes == 3


def test_the_matrix_of_the_user_stays_as_it_is():
    matrix = sparse.csr_array((np.array([2, 1, 3]), np.array([2, 0, 1]), np.array([0, 2, 3])))
    votes = Votes.of(matrix)
    assert matrix.indices.tolist() == [2, 0, 1]
    np.testing.assert_array_equal(votes.matrix.toarray(), [[1, 0, 2], [0, 3, 0]])
    matrix.data[:] = 9
    matrix.indices[:] = 0
    np.testing.assert_array_equal(votes.matrix.toarray(), [[1, 0, 2], [0, 3, 0]])


def test_votes_are_returned_as_they_are():
    votes = Votes.of(NUMBERS)
    assert Votes.of(votes) is votes


def test_given_classes_set_the_codes():
    votes = Votes.of(WORDS, classes=["eel", "owl", "cat", "dog"])
    assert votes.classes.tolist() == ["eel", "owl", "cat", "dog"]
    assert votes.n_classes == 4
    assert as_dense(votes).tolist() == WORDS.tolist()


def test_everybody_may_abstain_if_the_classes_are_given():
    votes = Votes.of([[-1, -1]], classes=[0, 1])
    assert (votes.n_votes, votes.counts().tolist()) == (0, [[0, 0]])


@pytest.mark.parametrize(("n_classes", "dtype"), [(127, np.int8), (128, np.int16), (40_000, "i4")])
def test_integers_are_as_small_as_the_classes_allow(n_classes, dtype):
    votes = Votes.of(np.arange(n_classes)[:, None])
    assert votes.matrix.dtype == dtype
    np.testing.assert_array_equal(votes.matrix.data, np.arange(1, n_classes + 1))


def test_labels_far_apart_and_far_from_zero():
    labels = [[10**15, -(10**15)], [7, 2**40]]
    for table in (labels, np.array(labels, dtype=float), np.array(labels, dtype=object)):
        assert Votes.of(table).classes.tolist() == [-(10**15), 7, 2**40, 10**15]


def test_blocks_of_rows_and_of_labels_make_no_difference(monkeypatch):
    table = np.random.default_rng(0).integers(-1, 40, (50, 7))
    words = np.array([f"w{k}" for k in range(40)] + [None], dtype=object)[table]
    whole, lines = Votes.of(words), Votes.from_long(as_lines(words))
    monkeypatch.setattr("hedgeclipper.votes.readers.BLOCK", 16)
    assert_same(Votes.of(words), whole)
    assert_same(Votes.from_long(as_lines(words)), lines)
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


@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_lines_changes_only_the_order_of_names(table, random):
    lines = as_lines(table)
    order = list(range(table.size))
    random.shuffle(order)
    shuffled = {name: np.asarray(column, dtype=object)[order] for name, column in lines.items()}
    votes = Votes.from_long(shuffled)
    assert votes.rows.tolist() == list(dict.fromkeys(shuffled["task"].tolist()))
    back = votes.take(np.argsort(votes.rows)).align(np.arange(table.shape[1]), votes.classes)
    assert_same(back, Votes.of(table))


LINES = {
    "task": ["t2", "t1", "t2", "t3", "t1"],
    "worker": ["eve", "ann", "ann", "bob", "eve"],
    "label": ["dog", "cat", "cat", None, "cat"],
}


def long_tables():
    frame, table = pd.DataFrame(LINES), pa.table(LINES)
    tables = {
        "mapping": LINES,
        "arrays": {name: np.array(column) for name, column in LINES.items()},
        "pandas": frame,
        "pandas objects": frame.astype(object),
        "pandas category": frame.astype("category"),
        "pandas string": frame.astype("string"),
        "arrow": table,
        "arrow in chunks": pa.concat_tables([table.slice(0, 2), table.slice(2)]),
        "arrow batch": table.to_batches()[0],
        "arrow dictionary": pa.table(
            {name: table.column(name).dictionary_encode() for name in LINES}
        ),
    }
    try:
        import polars as pl
    except ImportError:
        return tables
    lines = pl.DataFrame(LINES)
    categories = lines.with_columns(pl.all().cast(pl.Categorical))
    return tables | {"polars": lines, "polars categories": categories}


LONG_TABLES = long_tables()


@pytest.mark.parametrize("name", LONG_TABLES)
def test_long_tables_are_the_same_in_every_form(name):
    votes = Votes.from_long(LONG_TABLES[name])
    assert votes.rows.tolist() == ["t2", "t1", "t3"]
    assert votes.voters.tolist() == ["eve", "ann", "bob"]
    assert votes.classes.tolist() == ["cat", "dog"]
    np.testing.assert_array_equal(votes.matrix.toarray(), [[2, 1, 0], [1, 1, 0], [0, 0, 0]])
    assert votes.named
    assert_canonical(votes)


def test_long_tables_of_polars_with_numbers():
    lines = {"task": [2**60 + 1, 2**60, 2**60 + 1], "worker": [7, 7, 3], "label": [1, None, 0]}
    votes = Votes.from_long(polars().DataFrame(lines))
    assert votes.rows.tolist() == [2**60 + 1, 2**60]
    assert votes.voters.tolist() == [7, 3]
    np.testing.assert_array_equal(votes.matrix.toarray(), [[2, 1], [0, 0]])


def test_columns_of_long_tables_by_other_names():
    frame = pd.DataFrame(LINES).rename(columns={"worker": "annotator", "task": "text"})
    votes = Votes.from_long(frame, task="text", worker="annotator")
    assert_same(votes, Votes.from_long(LINES))


def repeat(label):
    return {
        "task": ["t1", "t2", "t1", "t1"],
        "worker": ["ann", "ann", "bob", "ann"],
        "label": ["cat", "dog", "dog", label],
    }


@pytest.mark.parametrize("repeated", ["error", "first", "last"])
@pytest.mark.parametrize("label", ["cat", None])
def test_the_same_vote_again_counts_once(label, repeated):
    votes = Votes.from_long(repeat(label), repeated=repeated)
    np.testing.assert_array_equal(votes.matrix.toarray(), [[1, 2], [2, 0]])


def test_contradicting_votes_count_first_or_last_if_said_so():
    first = Votes.from_long(repeat("eel"), repeated="first")
    last = Votes.from_long(repeat("eel"), repeated="last")
    assert as_dense(first).tolist() == [["cat", "dog"], ["dog", None]]
    assert as_dense(last).tolist() == [["eel", "dog"], ["dog", None]]
    assert first.classes.tolist() == ["cat", "dog", "eel"]


def test_the_first_contradiction_in_the_table_is_named():
    lines = {
        "task": [1, 1, 2, 1, 2, 1],
        "worker": ["ann", "bob", "bob", "ann", "bob", "ann"],
        "label": [0, 0, 1, 0, 2, 1],
    }
    with pytest.raises(ValueError, match="Worker 'bob' votes more than once on task 2: for 1 and"):
        Votes.from_long(lines)


def test_snorkel_numbers_classes_from_zero_and_abstains_with_minus_one():
    votes = Votes.from_snorkel([[2, -1], [-1, 0]], voters=["f", "g"])
    assert votes.classes.tolist() == [0, 1, 2]
    assert votes.voters.tolist() == ["f", "g"]
    np.testing.assert_array_equal(votes.matrix.toarray(), [[3, 0], [0, 1]])


def test_snorkel_has_two_classes_or_as_many_as_said():
    assert Votes.from_snorkel([[0], [-1]]).classes.tolist() == [0, 1]
    assert Votes.from_snorkel([[0], [-1]], n_classes=5).n_classes == 5
    assert Votes.from_snorkel([[-1], [-1]]).n_votes == 0


def test_numbers_of_things():
    votes = Votes.of(NUMBERS)
    assert (votes.n_rows, votes.n_voters, votes.n_classes, votes.n_votes) == (4, 3, 3, 5)
    assert repr(votes) == "Votes(4 rows, 3 voters, 3 classes, 5 votes)"


def test_counts_and_triplets():
    votes = Votes.of(NUMBERS)
    np.testing.assert_array_equal(votes.counts(), [[1, 1, 0], [0, 0, 1], [0, 0, 0], [2, 0, 0]])
    row, voter, code = votes.triplets()
    assert {part.dtype for part in (row, voter, code)} == {np.dtype(np.intp)}
    np.testing.assert_array_equal(row, [0, 0, 1, 3, 3])
    np.testing.assert_array_equal(code, NUMBERS[row, voter])


@given(tables)
def test_counts_are_sums_over_voters(table):
    votes = Votes.of(table, classes=range(4))
    expected = (table[:, :, None] == np.arange(4)).sum(axis=1)
    np.testing.assert_array_equal(votes.counts(), expected)


@pytest.mark.parametrize(
    "rows",
    [
        slice(1, 3),
        slice(2, None),
        slice(3, 1),
        slice(7, 9),
        slice(None, None, 2),
        slice(None, None, -1),
        [3, 0],
        np.array([-1, 1, 1]),
        [True, False, False, True],
        np.array([False, True, True, False]),
        [],
        2,
    ],
)
def test_rows_are_taken_as_from_an_array(rows):
    votes = Votes.of(as_frame(WORDS).set_index(pd.Index(list("abcd"))))
    taken = votes.take(rows)
    expected = np.atleast_2d((NUMBERS + 1)[rows])
    np.testing.assert_array_equal(taken.matrix.toarray(), expected)
    assert taken.rows.tolist() == np.atleast_1d(np.array(list("abcd"))[rows]).tolist()
    assert taken.classes.tolist() == ["cat", "dog", "eel"]
    assert taken.voters.tolist() == VOTERS
    assert_canonical(taken)


def test_too_many_rows_or_too_short_a_mask():
    votes = Votes.of(NUMBERS)
    with pytest.raises(IndexError, match="out of bounds"):
        votes.take([4])
    with pytest.raises(IndexError, match="boolean"):
        votes.take([True, False])


def test_align_moves_columns_and_codes():
    votes = Votes.of(as_frame(WORDS))
    aligned = votes.align(["eve", "new", "bob", "ann"], ["owl", "eel", "dog", "cat"])
    assert aligned.voters.tolist() == ["eve", "new", "bob", "ann"]
    assert aligned.classes.tolist() == ["owl", "eel", "dog", "cat"]
    nobody = np.full((4, 1), None)
    expected = np.hstack([WORDS[:, [2]], nobody, WORDS[:, [1, 0]]])
    assert as_dense(aligned).tolist() == expected.tolist()
    assert aligned.rows.tolist() == [0, 1, 2, 3]
    assert_canonical(aligned)
    assert_same(votes, Votes.of(as_frame(WORDS)))


def test_align_to_more_classes_takes_wider_integers():
    aligned = Votes.of([[3, 5]]).align([0, 1], np.arange(200))
    assert aligned.matrix.dtype == np.int16
    assert aligned.matrix.toarray().tolist() == [[4, 6]]


def test_align_needs_to_know_only_classes_with_votes():
    votes = Votes.of([["a", "b"], ["a", "a"]])
    assert votes.take([1]).align([0, 1], ["c", "a"]).matrix.toarray().tolist() == [[2, 2]]
    with pytest.raises(ValueError, match="has the class 'b', which is none of the classes 'c', 'a"):
        votes.align([0, 1], ["c", "a"])


def test_align_by_position_if_one_side_has_no_names():
    named, numbered = Votes.of([[0, 1]], voters=["b", "a"]), Votes.of([[0, 1]])
    assert numbered.align(["y", "x"], [0, 1]).matrix.toarray().tolist() == [[1, 2]]
    assert numbered.align(["y", "x"], [0, 1]).voters.tolist() == ["y", "x"]
    assert named.align([0, 1], [0, 1]).matrix.toarray().tolist() == [[1, 2]]


def test_align_by_name_if_workers_are_named_by_numbers():
    votes = Votes.from_long({"task": [0, 0], "worker": [0, 1], "label": ["a", "b"]})
    assert votes.align([1, 2, 0], ["a", "b"]).matrix.toarray().tolist() == [[2, 0, 1]]


def test_align_does_not_guess():
    with pytest.raises(ValueError, match="either order may be meant"):
        Votes.of([[0, 1]]).align([1, 0], [0, 1])
    with pytest.raises(ValueError, match="have 2 voters without names, and 3 are expected"):
        Votes.of([[0, 1]]).align([0, 1, 2], [0, 1])
    named = Votes.of([[0, 1]], voters=["a", "b"])
    with pytest.raises(ValueError, match=r"2 of 2 voters are not known: 'a', 'b'. Known are 0, 1,"):
        named.align([0, 1, 2], [0, 1])
    with pytest.raises(ValueError, match=r"1 of 2 voters are not known: 'b'. Known are 'c', 'a'"):
        named.align(["c", "a"], [0, 1])
    numbers = Votes.of([[0, 1]], voters=[1, 5])
    with pytest.raises(ValueError, match=r"1 of 2 voters are not known: 5"):
        numbers.align([0, 1], [0, 1])


def test_stack_puts_rows_below_each_other():
    stacked = Votes.stack(Votes.of(NUMBERS[:1]), Votes.of(NUMBERS[1:2]), Votes.of(NUMBERS[3:]))
    assert_same(stacked, Votes.of(NUMBERS[[0, 1, 3]]))
    assert not stacked.named
    assert stacked.rows is None
    assert_canonical(stacked)


def test_stack_joins_voters_classes_and_rows():
    upper = Votes.from_long({"task": ["t1"], "worker": ["bob"], "label": ["dog"]})
    lower = Votes.from_long({"task": ["t2"] * 2, "worker": ["ann", "bob"], "label": ["cat", "dog"]})
    stacked = Votes.stack(upper, lower)
    assert stacked.rows.tolist() == ["t1", "t2"]
    assert stacked.voters.tolist() == ["bob", "ann"]
    assert stacked.classes.tolist() == ["cat", "dog"]
    assert as_dense(stacked).tolist() == [["dog", None], ["dog", "cat"]]
    assert upper.classes.tolist() == ["dog"]


def test_stack_keeps_the_order_of_classes_if_it_is_the_same():
    parts = [Votes.of([[label]], classes=["no", "maybe", "yes"]) for label in ("yes", "no")]
    assert Votes.stack(*parts).classes.tolist() == ["no", "maybe", "yes"]
    assert Votes.stack(parts[0]).matrix.toarray().tolist() == [[3]]


def test_stack_gives_names_to_voters_without():
    stacked = Votes.stack(Votes.of([[0, 1]]), Votes.of([[1, 1]], voters=["a", "b"]))
    assert stacked.voters.tolist() == ["a", "b"]
    assert stacked.matrix.toarray().tolist() == [[1, 2], [2, 2]]


def test_stack_errors():
    with pytest.raises(ValueError, match="one set of rows at least"):
        Votes.stack()
    with pytest.raises(ValueError, match="have 1 voters without names, and 2 are expected"):
        Votes.stack(Votes.of([[0, 1]]), Votes.of([[0]]))
    with pytest.raises(TypeError, match="The classes of the votes must hold either all numbers"):
        Votes.stack(Votes.of([[0]]), Votes.of([["a"]]))


def duplicated():
    return sparse.coo_array(([1, 1], ([0, 0], [1, 1])), shape=(2, 2))


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        (np.empty((0, 2), int), ValueError, "Got 0 rows and 2 voters"),
        (np.empty((2, 0)), ValueError, "Got 2 rows and 0 voters"),
        (sparse.csr_array((0, 3)), ValueError, "Got 0 rows and 3 voters"),
        (pd.DataFrame({"a": []}), ValueError, "Got 0 rows and 1 voters"),
        (pd.DataFrame(index=[0, 1]), ValueError, "Got 2 rows and 0 voters"),
        ([0, 1], ValueError, r"a column for each voter. Got list of shape \(2,\)"),
        ("votes.csv", ValueError, "Got str of shape"),
        ([[0, 1], [0]], ValueError, "all rows of the same length"),
        ([[0.25, 1.0]], ValueError, r"must be whole. Got 0.25. .*, not probabilities"),
        ([[np.inf, 1.0]], ValueError, "must be whole. Got inf"),
        (np.array([[0.5, None]], dtype=object), ValueError, "must be whole. Got 0.5"),
        (as_sparse(np.array([[0.5]])), ValueError, "must be whole. Got 0.5"),
        ([["a", 1]], TypeError, "either all numbers, all booleans or all strings. Got int, str"),
        (pd.DataFrame({"a": ["x"], "b": [1]}), TypeError, "all strings. Got int, str"),
        (np.array([[True, "a"]], dtype=object), TypeError, "all strings. Got bool, str"),
        (np.array([[b"a"]]), TypeError, "numbers, booleans or strings. Got dtype |S1"),
        (np.array([[1j]]), TypeError, "Got dtype complex128"),
        (np.array([["2020-01-01"]], "M8[D]"), TypeError, "Got dtype datetime64"),
        (np.array([[{}, 1]], dtype=object), TypeError, "Got something else: .*unhashable"),
        (duplicated(), ValueError, "store some votes twice"),
        (sparse.dia_array(np.eye(2)), TypeError, r"csr, csc, coo, lil, dok.* Got dia"),
        (sparse.bsr_array(np.eye(2)), TypeError, "which tell a stored 0 from nothing. Got bsr"),
        (sparse.coo_array([1, 0]), TypeError, r"two dimensions .* Got coo of shape \(2,\)"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "2 columns with the name 'a'"),
    ],
)
def test_what_is_no_table_of_votes(table, error, message):
    with pytest.raises(error, match=message):
        Votes.of(table)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"voters": ["a"]}, ValueError, "one name for each of the 2 columns. Got 1"),
        ({"voters": ["a", "a"]}, ValueError, "Two voters have the name 'a'"),
        ({"classes": [0]}, ValueError, "has the class 1, which is none of the classes 0."),
        ({"classes": ["0", "1"]}, ValueError, "which is none of the classes '0', '1'"),
        ({"classes": [0, 1, 0]}, ValueError, "'classes' parameter has the label 0 twice"),
        ({"classes": [0, "1"]}, TypeError, "'classes' parameter must hold either all numbers"),
        ({"classes": [0, None]}, TypeError, "Got NoneType, int"),
        ({"classes": []}, ValueError, r"one label or more. Got an array of shape \(0,\)"),
        ({"classes": 2}, ValueError, r"Got an array of shape \(\)"),
        ({"classes": [-1, 0, 1]}, ValueError, "label -1 is both one of the classes and abstain_"),
        ({"abstain_label": 1, "classes": [0, 1]}, ValueError, "label 1 is both"),
    ],
)
def test_wrong_parameters(parameters, error, message):
    with pytest.raises(error, match=message):
        Votes.of([[0, 1]], **parameters)


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        ({"task": [1], "label": [1]}, ValueError, "no column 'worker'. It has 'task', 'label'"),
        (pd.DataFrame({"worker": [1]}), ValueError, "The long table has no column 'task'"),
        ([("t", "w", 1)], TypeError, "must be a frame .* Got list"),
        ({"task": [1, 2], "worker": [1], "label": [1]}, ValueError, r"shapes \(2,\), \(1,\), "),
        ({name: [[1]] for name in LINES}, ValueError, r"one dimension .*\(1, 1\)"),
        ({name: [] for name in LINES}, ValueError, "Got 0 rows and 0 voters"),
        (pa.table({name: [] for name in LINES}), ValueError, "Got 0 rows and 0 voters"),
        ({"task": [1], "worker": ["w"], "label": [0.5]}, ValueError, "'label' must hold .* 0.5"),
        ({"task": [1, 1], "worker": [1, 2], "label": [0, "a"]}, TypeError, "'label' .* int, str"),
    ],
)
def test_what_is_no_long_table(table, error, message):
    with pytest.raises(error, match=message):
        Votes.from_long(table)


@pytest.mark.parametrize("column", ["task", "worker"])
@pytest.mark.parametrize("kind", ["mapping", "pandas", "arrow", "polars"])
@pytest.mark.parametrize("names", [["a", "b", None], [1.0, 2.0, None]])
def test_tasks_and_workers_must_not_be_missing(kind, column, names):
    make = {"mapping": dict, "pandas": pd.DataFrame, "arrow": pa.table}
    lines = {"task": [1, 2, 3], "worker": [1, 2, 3], "label": [0, 1, 1], column: names}
    table = polars().DataFrame(lines) if kind == "polars" else make[kind](lines)
    with pytest.raises(ValueError, match=f"'{column}' must not have missing .* in row 2 of the"):
        Votes.from_long(table)


def test_other_errors():
    with pytest.raises(
        ValueError, match=r"'repeated' parameter must be one of .* Got 'any' instead"
    ):
        Votes.from_long(LINES, repeated="any")
    with pytest.raises(TypeError, match=r"from_frame takes a frame .* Got ndarray. Votes.of takes"):
        Votes.from_frame(NUMBERS)
    with pytest.raises(
        ValueError, match=r"frame of votes has no column 'zoe'. It has 'ann', 'bob'"
    ):
        Votes.from_frame(as_frame(WORDS), voters=["zoe"])


@pytest.mark.parametrize("table", [[[0.0, 1.0]], [[0, None]], [["0", "1"]]])
def test_snorkel_has_integers_only(table):
    with pytest.raises(TypeError, match=r"from_snorkel takes integers. Got list of dtype"):
        Votes.from_snorkel(table)


def test_snorkels_classes_from_a_sparse_matrix():
    stored = sparse.csr_array(([0, 0, -1], ([0, 1, 1], [0, 0, 1])), shape=(3, 2))
    votes = Votes.from_snorkel(stored)
    assert votes.classes.tolist() == [0, 1]
    assert votes.matrix.toarray().tolist() == [[1, 0], [1, 0], [0, 0]]


def test_a_sparse_copy_of_snorkels_matrix_has_lost_its_class_0():
    with pytest.raises(ValueError, match="store -1, and no 0"):
        Votes.from_snorkel(sparse.csr_array(np.array([[0, 1], [-1, 0]])))


def test_tables_in_which_everybody_abstains_have_no_classes():
    long = {"task": [1], "worker": ["w"], "label": [None]}
    for votes in (Votes.of([[-1, None]]), Votes.from_long(long)):
        assert (votes.n_votes, votes.n_classes) == (0, 0)
    both = Votes.stack(Votes.of([[-1, None]]), Votes.of([["no", "yes"]]))
    assert both.matrix.toarray().tolist() == [[0, 0], [1, 2]]


def test_a_long_table_may_name_a_label_that_is_no_vote():
    table = {"task": [1, 1, 2], "worker": ["a", "b", "a"], "label": [0, -1, 1]}
    votes = Votes.from_long(table, abstain_label=-1)
    assert votes.matrix.toarray().tolist() == [[1, 0], [2, 0]]


def test_workers_named_by_numbers_keep_their_names():
    """0, 1, 2 are names here, as 7 is, and not places of columns."""
    first = Votes.from_long({"task": [1, 1, 1], "worker": [0, 1, 2], "label": [0, 1, 1]})
    other = Votes.from_long({"task": [2, 2, 2], "worker": [2, 7, 0], "label": [0, 1, 1]})
    both = Votes.stack(first, other)
    assert both.voters.tolist() == [0, 1, 2, 7]
    assert both.matrix.toarray().tolist() == [[1, 2, 2, 0], [2, 0, 1, 2]]
    alone = Votes.stack(first, first)
    assert alone.named
    with pytest.raises(ValueError, match="1 of 3 voters are not known: 7"):
        other.align(alone.voters, alone.classes, named=alone.named)


@pytest.mark.parametrize("label", [-2, 2])
def test_snorkel_has_no_other_classes(label):
    with pytest.raises(ValueError, match=f"has the class {label}, which is none of the classes 0,"):
        Votes.from_snorkel([[label, 0]], n_classes=2)


def test_votes_cannot_be_changed():
    votes = Votes.of(NUMBERS)
    with pytest.raises(AttributeError, match="cannot assign"):
        votes.classes = np.array([1, 2, 3])


def test_what_stands_for_nothing():
    assert all(map(is_missing, [None, NAN, np.float32(NAN), pd.NA, pd.NaT]))
    assert not any(map(is_missing, [0, "", "nan", False, -1.0]))


def large_sparse():
    random = np.random.default_rng(0)
    row, voter = random.integers(0, 10**6, 10**6), random.integers(0, 2_000, 10**6)
    label = random.integers(0, 5, 10**6)
    _, kept = np.unique(row * 2_000 + voter, return_index=True)
    return row[kept], voter[kept], label[kept]


def test_a_million_rows_and_thousands_of_voters_need_little_memory():
    row, voter, label = large_sparse()
    matrix = sparse.csr_array((label, (row, voter)), shape=(10**6, 2_000))
    tracemalloc.start()
    votes = Votes.of(matrix)
    aligned = votes.take(slice(None, None, -1)).align(np.arange(2_000), np.arange(5)[::-1])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert votes.n_votes == label.size
    np.testing.assert_array_equal(votes.counts().sum(axis=0), np.bincount(label))
    np.testing.assert_array_equal(aligned.counts()[::-1, ::-1], votes.counts())
    assert peak < 200e6  # a dense matrix of bytes has 2e9


def test_a_million_lines_of_a_long_table():
    row, voter, label = large_sparse()
    order = np.random.default_rng(1).permutation(row.size)
    lines = {"task": row[order], "worker": voter[order], "label": label[order]}
    votes = Votes.from_long(lines)
    tasks, workers, codes = votes.triplets()
    found = votes.rows[tasks] * 2_000 + votes.voters[workers]
    by_place = np.argsort(found)
    np.testing.assert_array_equal(found[by_place], row * 2_000 + voter)
    np.testing.assert_array_equal(codes[by_place], label)


def test_dense_votes_need_little_more_memory_than_they_end_up_with():
    table = np.random.default_rng(0).integers(-1, 2, (200_000, 100), dtype=np.int8)
    tracemalloc.start()
    votes = Votes.of(table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    kept = votes.matrix.data.nbytes + votes.matrix.indices.nbytes + votes.matrix.indptr.nbytes
    assert peak < 3 * kept + 50e6


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
def test_snorkel_matrices_of_unsigned_labels(dtype):
    votes = Votes.from_snorkel(np.array([[0, 2], [1, 1]], dtype=dtype))
    assert votes.matrix.toarray().tolist() == [[1, 3], [2, 2]]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_one_wrong_label_does_not_decide_the_memory(dtype):
    """A table of voters x classes^2 for these two votes would take 16 exabytes."""
    with pytest.raises(ValueError, match=r"would make 1,000,000,001 classes. Correct it"):
        Votes.from_snorkel(np.array([[0, 10**9]], dtype=dtype))
    assert Votes.from_snorkel(np.array([[0, 2000]]), n_classes=2001).n_classes == 2001
    assert Votes.from_snorkel(np.arange(2000)[None, :]).n_classes == 2000


@pytest.mark.parametrize("label", [2**63, 2**64 - 1, 10**30])
def test_labels_that_do_not_fit_into_64_bits(label):
    table = np.array([[0, label]], dtype=np.uint64 if label < 2**64 else object)
    with pytest.raises(ValueError, match="fit into 64 bits"):
        Votes.of(table)


def test_one_label_that_does_not_fit_into_64_bits():
    """Found by generated input: a table of this label alone was an OverflowError."""
    table = np.array([[2**64 - 1], [2**64 - 1]], dtype=np.uint64)
    assert Votes.of(table).classes.tolist() == [2**64 - 1]
