"""One contract for what goes in: both estimators, four containers, labels and columns alike.

What each case must equal is the plain form: an array of numbers, and -1 for unlabeled rows.
"""

from datetime import date, timedelta
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import OneHotEncoder

from hedgeclipper import (
    ColumnWarning,
    HedgeClipperClassifier,
    NoUnlabeledRowsWarning,
    VoteAggregator,
    load,
    save,
)

N, N_LABELED = 150, 60
RNG = np.random.default_rng(0)
TRUTH = (np.arange(N) % 3 == 0).astype(int)
X = np.round(RNG.normal(TRUTH[:, None] * [2.0, 1.0, 0.0], 1.0), 3)
VOTES = np.where(RNG.random((N, 5)) < 0.8, TRUTH[:, None], 1 - TRUTH[:, None])
KNOWN = np.arange(N) < N_LABELED
PLAIN = np.where(KNOWN, TRUTH, -1)


def trees(**options):
    return HedgeClipperClassifier("trees", n_estimators=12, random_state=0, **options)


def own():
    voters = [("linear", LogisticRegression()), ("bayes", GaussianNB())]
    return HedgeClipperClassifier(voters, random_state=0)


ESTIMATORS = {"trees": (trees, X), "own": (own, X), "votes": (VoteAggregator, VOTES)}
CONTAINERS = {
    "numpy": lambda rows: rows,
    "pandas": lambda rows: pd.DataFrame(rows, columns=[f"x{k}" for k in range(rows.shape[1])]),
    "polars": lambda rows: pl.DataFrame(rows, schema=[f"x{k}" for k in range(rows.shape[1])]),
    "lists": lambda rows: rows.tolist(),
}
CLASSES = {"numbers": [0, 1], "strings": ["no", "yes"], "booleans": [False, True]}
MARKS = {"-1": -1, "None": None, "NaN": np.nan, "NaT": pd.NaT, "NA": pd.NA}
PANDAS_TYPES = {"numbers": "Int64", "strings": "string", "booleans": "boolean"}


def labels_in(container, kind, mark):
    """Return y as the container has it: unlabeled rows are marked, the others have their class."""
    pairs = zip(TRUTH, KNOWN, strict=True)
    y = [CLASSES[kind][label] if known else MARKS[mark] for label, known in pairs]
    if container == "lists":
        return y
    if container == "numpy":
        return np.array(y, dtype=float if (kind, mark) == ("numbers", "NaN") else object)
    if container == "pandas":
        return pd.Series(y, dtype=PANDAS_TYPES[kind] if mark == "NA" else object)
    if mark == "-1" or (kind, mark) == ("numbers", "NaN"):
        return pl.Series([str(label) for label in y] if kind == "strings" else y, strict=False)
    return pl.Series([label if known else None for label, known in zip(y, KNOWN, strict=True)])


def of_kind(name, kind):
    """Return an estimator, and rows or votes for these classes."""
    make, rows = ESTIMATORS[name]
    return make, np.array(CLASSES[kind])[rows] if name == "votes" else rows


def assert_same(one, other, classes):
    """Check that predictions agree, and that the labels are those that were passed."""
    assert one.tolist() == [classes[label] for label in other]
    assert one.dtype.kind == np.array(classes).dtype.kind


@pytest.fixture(scope="module")
def plain():
    """Return what each estimator makes of the plain form."""
    found = {}
    for name, (make, rows) in ESTIMATORS.items():
        model = make().fit(rows, PLAIN)
        found[name] = model.predict(rows), model.predict_proba(rows), model.transduction_
    return found


def forms():
    """All forms for each estimator; of trees, which read rows as others do, slowly."""
    for name, container, kind, mark in product(ESTIMATORS, CONTAINERS, CLASSES, MARKS):
        is_slow = name == "trees" and (kind, mark) != ("strings", "None")
        marks = pytest.mark.slow if is_slow else ()
        yield pytest.param(name, container, kind, mark, marks=marks)


@pytest.mark.parametrize(("name", "container", "kind", "mark"), list(forms()))
def test_labels_and_rows_in_every_form_give_what_the_plain_form_gives(
    name, container, kind, mark, plain
):
    if (kind, mark) == ("booleans", "-1") and container == "polars":
        pytest.skip("a column of polars holds booleans or numbers")
    make, rows = of_kind(name, kind)
    given = CONTAINERS[container](rows)
    model = make().fit(given, labels_in(container, kind, mark))
    predicted, shares, all_labels = plain[name]
    assert_same(model.predict(given), predicted, CLASSES[kind])
    assert_same(model.transduction_, all_labels, CLASSES[kind])
    np.testing.assert_allclose(model.predict_proba(given), shares, atol=1e-9)


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_categorical_labels(name, kind, plain):
    make, rows = of_kind(name, kind)
    y = pd.Series(pd.Categorical(labels_in("lists", kind, "None")))
    assert_same(make().fit(rows, y).predict(rows), plain[name][0], CLASSES[kind])
    if kind == "strings":
        y = pl.Series(labels_in("lists", kind, "None"), dtype=pl.Categorical)
        assert_same(make().fit(rows, y).predict(rows), plain[name][0], CLASSES[kind])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_rows_of_their_own_and_missing_labels_are_unlabeled_together(name):
    """With unlabeled rows apart -1 is a class; rows with missing labels come before them."""
    make, rows = ESTIMATORS[name]
    signs = np.where(TRUTH == 1, 1, -1)
    options = {"abstain_label": None} if name == "votes" else {}
    votes = np.where(rows == 1, 1, -1) if name == "votes" else rows
    y = [int(sign) if known else None for sign, known in zip(signs, KNOWN, strict=True)]
    apart = make(**options).fit(votes[KNOWN], signs[KNOWN], votes[~KNOWN])
    mixed = make(**options).fit(votes[:100], y[:100], votes[100:])
    assert set(apart.predict(votes)) == {-1, 1}
    np.testing.assert_allclose(mixed.predict_proba(votes), apart.predict_proba(votes), atol=1e-9)
    np.testing.assert_array_equal(mixed.transduction_, apart.transduction_)


@pytest.mark.parametrize("make", [trees, own])
def test_no_unlabeled_rows_and_a_class_that_is_minus_one(make):
    with pytest.warns(NoUnlabeledRowsWarning):
        model = make().fit(X, np.where(TRUTH == 1, 1, -1), X_unlabeled=X[:0])
    with pytest.warns(NoUnlabeledRowsWarning):
        theirs = make().fit(X, TRUTH)
    assert model.classes_.tolist() == [-1, 1]
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X), atol=1e-9)


def test_what_cannot_be_a_label():
    with pytest.raises(TypeError, match=r"y must hold either all numbers, .* Got int, str"):
        trees().fit(X, [0, "yes"] * (N // 2))
    with pytest.raises(ValueError, match="y has no class once -1 and missing labels"):
        trees().fit(X, [None] * N)
    with pytest.raises(ValueError, match=r"90 missing labels, and X_unlabeled is not in memory"):
        trees().fit(X, np.where(KNOWN, TRUTH, np.nan), X_unlabeled=[X, X])


# Columns that are not numbers.

COLUMNS = {
    "numbers": X[:, 0].tolist(),
    "strings": np.where(X[:, 1] > 0.5, "plus", "minus").tolist(),
    "booleans": (X[:, 2] > 0).tolist(),
    "dates": [date(2024, 1, 1) + timedelta(days=int(10 * value)) for value in X[:, 0]],
    "gaps": [None if k % 7 == 0 else f"town {k % 5}" for k in range(N)],
}
CODES = np.column_stack(
    [
        COLUMNS["numbers"],
        COLUMNS["booleans"],
        OneHotEncoder(sparse_output=False).fit_transform(np.array(COLUMNS["strings"])[:, None]),
        OneHotEncoder(sparse_output=False).fit_transform(
            np.array([town or "" for town in COLUMNS["gaps"]])[:, None]
        ),
        [(day - date(1970, 1, 1)).days for day in COLUMNS["dates"]],
        [day.year for day in COLUMNS["dates"]],
        [day.month for day in COLUMNS["dates"]],
        [day.weekday() for day in COLUMNS["dates"]],
    ]
)


def of_pandas(columns):
    return pd.DataFrame(columns)


def of_nullable_pandas(columns):
    frame = pd.DataFrame(columns).convert_dtypes()
    return frame.astype({"gaps": "category", "dates": "datetime64[ns]"})


def of_polars(columns):
    return pl.DataFrame(columns)


def of_polars_categories(columns):
    return pl.DataFrame(columns).with_columns(pl.col("strings", "gaps").cast(pl.Categorical))


def defaults():
    return HedgeClipperClassifier(n_estimators=12, random_state=0)


FRAMES = of_pandas, of_nullable_pandas, of_polars, of_polars_categories
CASES = [*((trees, frame_of) for frame_of in FRAMES), (defaults, of_polars)]


@pytest.fixture(scope="module")
def coded():
    return {make: make().fit(CODES, PLAIN).predict_proba(CODES) for make in (trees, defaults)}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize(("make", "frame_of"), CASES)
def test_columns_of_every_kind_give_what_their_codes_give(make, frame_of, coded, tmp_path):
    rows = frame_of(COLUMNS)
    model = make().fit(rows, PLAIN)
    np.testing.assert_allclose(model.predict_proba(rows), coded[make], atol=1e-6)
    assert model.feature_names_in_.tolist() == list(COLUMNS)
    np.testing.assert_array_equal(model.transduction_[~KNOWN], model.predict(rows)[~KNOWN])
    again = load(save(model, tmp_path / "model.skops"))
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
    with pytest.raises(TypeError, match="Rows must be a frame with named columns"):
        model.predict(np.array([[0.0] * 5]))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("as_list", [False, True])
def test_rows_of_a_frame_with_strings_must_stay_a_frame(as_list):
    """The error was that a string is no number."""
    frame = pd.DataFrame({"size": X[:, 0], "town": np.where(X[:, 1] > 0.5, "Ulm", "Bern")})
    rows = frame.to_numpy().tolist() if as_list else frame.to_numpy()
    model, known, y = trees(), frame[:60], np.arange(60) % 2
    with pytest.raises(TypeError, match="Rows must be a frame with named columns"):
        model.fit(known, y, X_unlabeled=rows)
    model.fit(known, y, X_unlabeled=frame[60:])
    with pytest.raises(TypeError, match="Rows must be a frame with named columns"):
        model.predict(rows)


def test_a_model_of_one_library_predicts_frames_of_another():
    model = trees().fit(of_pandas(COLUMNS), PLAIN)
    expected = model.predict_proba(of_pandas(COLUMNS))
    np.testing.assert_allclose(model.predict_proba(of_polars(COLUMNS)), expected)
    new = of_polars(COLUMNS).with_columns(gaps=pl.lit("a new town"))
    with pytest.warns(ColumnWarning, match="'gaps' has no value of the fit"):
        assert np.isfinite(model.predict_proba(new)).all()


@pytest.mark.parametrize("frame_of", [of_pandas, of_polars])
@pytest.mark.parametrize("make", [trees, own])
def test_columns_of_unlabeled_rows_are_matched_by_name(make, frame_of):
    numbers = {f"x{k}": X[:, k] for k in range(3)}
    whole = frame_of(numbers if make is own else COLUMNS)
    names = list(whole.columns)
    other = whole[[*names[::-1]]]
    model = make().fit(whole[:N_LABELED], TRUTH[:N_LABELED], X_unlabeled=whole[N_LABELED:])
    turned = make().fit(whole[:N_LABELED], TRUTH[:N_LABELED], X_unlabeled=other[N_LABELED:])
    np.testing.assert_array_equal(turned.predict_proba(whole), model.predict_proba(whole))
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(other)
    with pytest.raises(ValueError, match=f"X_unlabeled has no column '{names[0]}'"):
        make().fit(whole[:N_LABELED], TRUTH[:N_LABELED], X_unlabeled=whole[names[1:]])


@pytest.mark.parametrize("frame_of", [of_pandas, of_polars])
def test_classifiers_get_the_frames(frame_of):
    """What they see has the names and the library of what was passed."""
    rows = frame_of(COLUMNS)
    model = HedgeClipperClassifier([("town", Towns()), ("sign", Signs())], random_state=0)
    model.fit(rows, PLAIN)
    assert np.isfinite(model.predict_proba(rows)).all()
    assert [type(one.seen_) for one in model.estimators_.values()] == [type(rows)] * 2


class Towns(LogisticRegression):
    column = "gaps"

    def fit(self, X, y):
        self.seen_ = X
        return super().fit(self._codes(X), y)

    def predict_proba(self, X):
        return super().predict_proba(self._codes(X))

    def _codes(self, X):
        values = X[self.column].to_list()
        return np.array([[len(v) if isinstance(v, str) else 0.0] for v in values])


class Signs(Towns):
    column = "strings"


# Scores.


@pytest.mark.parametrize("name", ESTIMATORS)
def test_scores_are_those_of_the_labeled_rows(name):
    make, rows = ESTIMATORS[name]
    model = make().fit(rows, PLAIN)
    right = model.predict(rows) == TRUTH
    half = np.where(np.arange(N) % 2 == 0, TRUTH, -1)
    weights = np.arange(N)
    assert model.score(rows, half) == np.mean(right[::2])
    weighted = np.average(right[::2], weights=weights[::2])
    assert model.score(rows, half, weights) == pytest.approx(weighted)
    missing = [None if label < 0 else int(label) for label in half]
    assert model.score(rows, missing) == np.mean(right[::2])
    with pytest.raises(ValueError, match=r"All rows are unlabeled .* nothing to score"):
        model.score(rows, np.full(N, -1))


def test_cross_validation_scores_labeled_rows():
    """By default a scorer calls ``score``."""
    order = np.random.default_rng(1).permutation(N)
    rows, y = X[order], PLAIN[order]
    for score, (train, test) in zip(
        cross_val_score(trees(), rows, y, cv=3), StratifiedKFold(3).split(rows, y), strict=True
    ):
        predicted = trees().fit(rows[train], y[train]).predict(rows[test])
        assert score == np.mean((predicted == y[test])[y[test] != -1])
