"""Generated input through the public functions and estimators."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from hedgeclipper import (
    HedgeClipperClassifier,
    VoteAggregator,
    Votes,
    solve_game,
)
from hedgeclipper.io import as_source
from tests.stress.outcomes import assert_classifier, outcome
from tests.stress.tally import RESULTS, Tally, in_time, tries

pytestmark = pytest.mark.filterwarnings("ignore")
SPECIALS = [0.0, 1.0, -1.0, 0.5, 2.0, np.nan, np.inf, -np.inf, 1e300, -1e300, 1e-300, 5e-324, 3e38]
LABELS = [0, 1, 2, -1, 7, "a", "b", "", None, np.nan, True, 0.5, 10**9, "<b>", "=1+1", "ä"]
NAMES = ["a", "b", "", "a ", "0", "<script>", '"', "ä", "a,b", "nan", "probability_0", "\n"]


@st.composite
def tables(draw, least_rows=0, kinds=("dense", "sparse", "frame", "strings")):
    """Draw rows of numbers and strings, usual and not, in any form."""
    n_rows, n_columns = draw(st.integers(least_rows, 24)), draw(st.integers(0, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n_rows, n_columns)) * 10.0 ** draw(st.sampled_from([0, 0, 0, 3, 30, -30]))
    how = draw(st.sampled_from(["usual", "usual", "whole", "constant", "repeated", "special"]))
    if how == "whole":
        X = X.round()
    elif how == "constant" and n_columns:
        X[:, 0] = draw(st.sampled_from([0.0, 1.0, 1e30, np.nan]))
    elif how == "repeated" and n_rows:
        X = X[rng.integers(n_rows, size=n_rows)]
    elif how == "special":
        X[rng.random(X.shape) < 0.2] = draw(st.sampled_from(SPECIALS))
    kind = draw(st.sampled_from(kinds))
    if kind == "sparse":
        return draw(st.sampled_from([sparse.csr_array, sparse.csc_array]))(X)
    if kind in ("frame", "strings"):
        names = draw(st.lists(st.sampled_from(NAMES), min_size=n_columns, max_size=n_columns))
        frame = pd.DataFrame(X, columns=names)
        if kind == "strings" and n_columns:
            words = draw(st.sampled_from([["a", "b"], ["x", None], ["", "é"], ["1", "2"]]))
            frame.isetitem(0, rng.choice(np.array(words, dtype=object), n_rows))
        return frame
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    with np.errstate(all="ignore"):
        return np.asarray(X.astype(dtype), order=draw(st.sampled_from("CF")))


@st.composite
def labels(draw, n_rows):
    """Draw a label for each row, of one kind as a rule, many of them missing."""
    few = draw(
        st.sampled_from([[0, 1], [0, 1, 2], ["a", "b"], [True, False], [3], list(range(9)), LABELS])
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    found = np.array(few, dtype=object)[rng.integers(len(few), size=n_rows)]
    missing = draw(st.sampled_from([-1, None, np.nan]))
    found[rng.random(n_rows) < draw(st.sampled_from([0.0, 0.5, 0.9]))] = missing
    kind = draw(st.sampled_from([object, None, None]))
    return found if kind else np.array(found.tolist()) if n_rows else found


def check_forest(data):
    X = data.draw(tables())
    y = data.draw(labels(X.shape[0]))
    options = data.draw(st.sampled_from([{}, {"estimators": "trees"}, {"confidence_level": 0.9}]))
    if data.draw(st.booleans()):
        options = {**options, "random_state": 0}
    model = HedgeClipperClassifier(n_estimators=8, **options)
    if (model := outcome(lambda: model.fit(X, y))) is not None:
        assert_classifier(model, X, X.shape[0])


def check_panel(data):
    X = data.draw(tables())
    y = data.draw(labels(X.shape[0]))
    members = [("linear", LogisticRegression(max_iter=20)), ("tree", DecisionTreeClassifier())]
    model = HedgeClipperClassifier(members, random_state=0)
    if (model := outcome(lambda: model.fit(X, y))) is not None:
        assert_classifier(model, X, X.shape[0])


@st.composite
def vote_tables(draw):
    n_rows, n_voters = draw(st.integers(0, 20)), draw(st.integers(0, 4))
    few = draw(st.sampled_from([[0, 1, -1], [0, 1, 2, -1], ["a", "b", None], [0], LABELS]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    table = np.array(few, dtype=object)[rng.integers(len(few), size=(n_rows, n_voters))]
    kind = draw(st.sampled_from(["object", "plain", "frame", "sparse"]))
    if kind == "frame":
        names = draw(st.lists(st.sampled_from(NAMES), min_size=n_voters, max_size=n_voters))
        return pd.DataFrame(table, columns=names)
    if kind == "object" or not all(isinstance(label, int) for label in few):
        return table
    table = table.astype(np.int64)
    table = table.astype(draw(st.sampled_from([np.int8, np.int64, np.uint8, np.uint64])))
    return sparse.csr_array(table) if kind == "sparse" else table


def check_aggregator(data):
    L = data.draw(vote_tables())
    y = data.draw(labels(L.shape[0]))
    options = data.draw(st.sampled_from([{}, {"class_balance": "uniform"}]))
    model = VoteAggregator(random_state=0, **options)
    if (model := outcome(lambda: model.fit(L, y))) is not None:
        assert_classifier(model, L, L.shape[0])
        model.voter_summary()


def check_votes(data):
    table = data.draw(vote_tables())
    read = data.draw(st.sampled_from([Votes.of, from_long]))
    if (votes := outcome(lambda: read(table))) is not None:
        assert votes.counts().sum() == votes.n_votes
        assert votes.counts().shape == (votes.n_rows, votes.n_classes)
        rows, voters, codes = votes.triplets()
        assert ((rows >= 0) & (rows < votes.n_rows)).all()
        assert ((voters >= 0) & (voters < votes.n_voters)).all()
        assert ((codes >= 0) & (codes < votes.n_classes)).all()


def from_long(table):
    cells = np.asarray(table.toarray() if sparse.issparse(table) else table, dtype=object)
    task, worker = (numbers.ravel() for numbers in np.indices(cells.shape))
    return Votes.from_long({"task": task, "worker": worker, "label": cells.ravel()})


def check_game(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    shape = data.draw(st.integers(0, 12)), data.draw(st.integers(0, 4))
    votes = rng.choice([-1.0, 1.0, 0.3, np.nan], shape)
    special = data.draw(st.sampled_from([None, None, None, *SPECIALS]))
    if special is not None and votes.size:
        votes.flat[0] = special
    size = st.sampled_from([1.0, 1.0, 0.0, 1e-300, 1e16, 1e300, -1.0, np.nan, np.inf])
    names = data.draw(st.lists(st.sampled_from(["cap", "ridge", "unlabeled_weight"]), max_size=2))
    options = {name: data.draw(size) for name in names}
    b = rng.uniform(-1, 1, shape[1])
    solution = outcome(lambda: solve_game(votes, b, **options))
    if solution is None:
        return
    assert np.isfinite(solution.weights).all()
    assert 0.0 <= solution.worst_case_error <= 1.0
    assert (np.abs(solution.predictions(votes)) <= 1.0).all()


def check_files(data, folder):
    frame = data.draw(tables(kinds=("frame", "strings")))
    kind = data.draw(st.sampled_from(["csv", "parquet", "tsv.gz"]))
    path = folder / f"rows.{kind}"
    try:
        if kind == "parquet":
            frame.to_parquet(path)
        else:
            frame.to_csv(path, index=False, sep="\t" if "tsv" in kind else ",")
    except ValueError:  # columns of the same name, which these formats do not write
        return
    frames = data.draw(st.integers(0, 1))
    source = outcome(lambda: as_source(path, frames=frames))
    if source is None:
        return
    batches = outcome(lambda: list(source))
    if batches is not None:
        assert sum(batch.shape[0] for batch in batches) <= len(frame)
        assert [batch.shape for batch in source] == [batch.shape for batch in batches]


CHECKS = {
    "games and bounds": (check_game, 25, 3600),
    "votes": (check_votes, 25, 2600),
    "sources of rows": (check_files, 30, 1000),
    "VoteAggregator": (check_aggregator, 20, 1500),
    "HedgeClipperClassifier": (check_forest, 15, 1000),
    "own voters": (check_panel, 8, 600),
}


@pytest.mark.parametrize("name", CHECKS)
def test_generated_input(name, tmp_path):
    check, few, many = CHECKS[name]
    check = partial(check, folder=tmp_path) if check is check_files else check
    with Tally(f"library: {name}") as tally:

        @settings(
            max_examples=tries(few, many),
            derandomize=not RESULTS,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(data=st.data())
        def run(data):
            with in_time(), warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                check(data)
            tally.n_tries += 1

        run()
