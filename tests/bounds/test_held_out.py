"""Guarantees of both estimators against the exact test of their final predictions."""

import pickle
import warnings
from functools import cache
from itertools import product

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, hypergeom
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from hedgeclipper import (
    HedgeClipperClassifier,
    NoUnlabeledRowsWarning,
    VoteAggregator,
    load,
    save,
)
from hedgeclipper.base.row_reader import SemiSupervisedRows, hold_out_rows
from hedgeclipper.bounds.hold_out import differ_in_rank, draw_held_out
from hedgeclipper.bounds.intervals import proportion_bounds
from hedgeclipper.bounds.whole_file import allowed_errors, error_limit, least_tested

N_LABELED, N_ROWS = 120, 600
TABLES = ["trees", "own"]
KINDS = [*TABLES, "votes"]
OWN = [("linear", LinearDiscriminantAnalysis()), ("bayes", GaussianNB())]
MAX_ERROR = 0.3


def problem(kind, n_classes=2, seed=0):
    """Rows, or votes, and their labels: numbers, or strings for more than two classes."""
    X, y = make_classification(
        N_ROWS, 6, n_informative=5, n_redundant=0, n_classes=n_classes, random_state=seed
    )
    if kind == "votes":
        rng = np.random.default_rng(seed)
        wrong = (y[:, None] + rng.integers(1, n_classes, (N_ROWS, 5))) % n_classes
        X = np.where(rng.random((N_ROWS, 5)) < 0.7, y[:, None], wrong)
    if n_classes == 2:
        return X.astype(np.float32), y
    names = np.array(["ant", "bee", "cat", "dog"])
    return (names[X] if kind == "votes" else X.astype(np.float32)), names[y]


def estimator(kind, **options):
    options = {"random_state": 0, **options}
    if kind == "votes":
        return VoteAggregator(**options)
    voters = OWN if kind == "own" else kind
    return HedgeClipperClassifier(voters, n_estimators=24, **options)


@cache
def pickled(kind, n_classes=2, n_labeled=N_LABELED, **options):
    X, y = problem(kind, n_classes)
    model = estimator(kind, **options)
    return pickle.dumps(model.fit(X[:n_labeled], y[:n_labeled], X[n_labeled:]))


def fitted(*arguments, **options):
    """A model of its own for each test: it knows what it has been asked."""
    return pickle.loads(pickled(*arguments, **options))


# those that a fit with the random state 0 holds out
HELD = np.sort(np.random.RandomState(0).choice(N_LABELED, N_LABELED // 2, replace=False))


def exact_bounds(k, v, n, delta):
    """The smallest and the largest error among n rows that k errors among v others allow."""
    totals = np.arange(k, n + k + 1)
    law = hypergeom(n + v, totals, v)
    low = totals[law.sf(k - 1) > delta][0] - k
    high = totals[law.cdf(k) > delta][-1] - k
    return low / n, high / n


# The guarantee.


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_a_guarantee_is_the_exact_test_of_the_final_predictions(kind, n_classes):
    model = fitted(kind, n_classes, confidence_level=0.9)
    X, y = problem(kind, n_classes)
    k = int(np.sum(model.predict(X[HELD]) != y[HELD]))
    found = model.certificate_
    assert (found.kind, found.confidence_level, found.reason) == ("guarantee", 0.9, "")
    assert (found.n_errors, found.n_tested, found.n_unlabeled) == (k, 60, 480)
    assert found.error == pytest.approx(k / 60)
    bounds = exact_bounds(k, 60, 480, delta=0.1)
    assert (found.error_lower, found.error_upper) == pytest.approx(bounds)
    counts = pd.Series(y[:N_LABELED]).value_counts()
    assert found.baseline == pytest.approx(1 - counts.max() / N_LABELED)
    assert (model.n_labeled_, model.n_unlabeled_) == (120, 480)
    assert fitted(kind, confidence_level=0.95, holdout=0.2).certificate_.n_tested == 24


@pytest.mark.parametrize("kind", ["default", *KINDS])
def test_which_rows_test_changes_no_prediction(kind, monkeypatch):
    """Marks of other rows, given the same rows to fit to: the guarantee rests on this."""
    X, y = problem(kind)
    fit, test, other = np.split(np.random.default_rng(0).permutation(N_ROWS)[:180], 3)
    models = []
    for held in (test, other):
        labeled = np.sort(np.append(fit, held))
        places = np.searchsorted(labeled, np.sort(held))
        monkeypatch.setattr(
            "hedgeclipper.bounds.hold_out.draw_held_out",
            lambda *_, places=places: places,
        )
        marked = np.where(np.isin(np.arange(N_ROWS), labeled), y, -1)
        models.append(estimator(kind, confidence_level=0.9).fit(X, marked))
        wrong = models[-1].predict(X[held]) != y[held]
        assert models[-1].certificate_.n_errors == wrong.sum()
    ours, theirs = (model.predict_proba(X) for model in models)
    np.testing.assert_array_equal(ours, theirs)
    one, two = (model.tested_predictions_.order_of_pool() for model in models)
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("kind", KINDS)
def test_marked_rows_are_the_unlabeled_ones(kind):
    X, y = problem(kind)
    marks = np.random.default_rng(0).permutation(N_ROWS) < N_LABELED
    model = estimator(kind, confidence_level=0.9).fit(X, np.where(marks, y, -1))
    held = np.flatnonzero(marks)[HELD]
    assert model.certificate_.n_errors == np.sum(model.predict(X[held]) != y[held])
    np.testing.assert_array_equal(model.transduction_[marks], y[marks])
    found, again = model.auto_label(max_error=MAX_ERROR), model.auto_label(MAX_ERROR, X[~marks])
    np.testing.assert_array_equal(found.labels, model.predict(X[~marks]))
    assert again.kind == "guarantee"
    np.testing.assert_array_equal(again.needs_review, found.needs_review)


@pytest.mark.parametrize("kind", KINDS)
def test_without_unlabeled_rows_the_bound_is_for_new_rows(kind):
    """That is Clopper and Pearson's."""
    X, y = problem(kind)
    with pytest.warns(NoUnlabeledRowsWarning):
        model = estimator(kind, confidence_level=0.95).fit(X[:N_LABELED], y[:N_LABELED])
    found, k = model.certificate_, int(np.sum(model.predict(X[HELD]) != y[HELD]))
    assert (found.kind, found.n_unlabeled) == ("guarantee", 0)
    assert (found.n_errors, found.n_tested) == (k, 60)
    assert found.error_upper == pytest.approx(beta.ppf(0.95, k + 1, 60 - k))
    np.testing.assert_array_equal(model.transduction_, y[:N_LABELED])
    assert model.auto_label(MAX_ERROR, X[N_LABELED:]).kind == "guarantee"
    assert model.auto_label(max_error=MAX_ERROR).labels.size == 0


def test_classifiers_that_came_fitted_are_tested_by_held_out_labels():
    X, y = problem("own", 4)
    voters = [(name, FrozenEstimator(model.fit(X[300:], y[300:]))) for name, model in OWN]
    model = HedgeClipperClassifier(voters, confidence_level=0.9, random_state=0)
    found = model.fit(X[:N_LABELED], y[:N_LABELED], X[N_LABELED:300]).certificate_
    assert found.kind == "guarantee"
    assert found.n_errors == np.sum(model.predict(X[HELD]) != y[HELD])


def test_voters_that_learn_from_all_rows_know_the_held_out_ones():
    """Else a guarantee would compare rows they have seen with rows they have not."""

    class Knows(GaussianNB):
        def fit(self, X, y, X_unlabeled=None):
            seen.append((X, X_unlabeled))
            return super().fit(X, y)

    X, y = problem("own")
    seen = []
    model = HedgeClipperClassifier([("it", Knows())], confidence_level=0.9, random_state=0)
    model.fit(X[:N_LABELED], y[:N_LABELED], X[N_LABELED:])
    labeled, unlabeled = seen[-1]
    assert (len(labeled), len(unlabeled)) == (60, 540)
    everything = np.vstack([labeled, unlabeled])
    np.testing.assert_array_equal(np.unique(everything, axis=0), np.unique(X, axis=0))


@cache
def fitted_to_frames(kind):
    X, y = problem(kind)
    frame = pd.DataFrame(X.astype(float), columns=list("abcdef"))
    model = estimator(kind, confidence_level=0.9)
    return model.fit(frame[:N_LABELED], y[:N_LABELED], frame[N_LABELED:])


FORMS = ["parquet", "batches", "dask array", "dask frame", "labels too"]


@pytest.mark.parametrize(
    ("kind", "form"), [*product(TABLES, FORMS), ("default", "parquet"), ("default", "dask frame")]
)
def test_rows_elsewhere_give_what_memory_gives(kind, form, tmp_path):
    X, y = problem(kind)
    names = list("abcdef")
    frame = pd.DataFrame(X.astype(float), columns=names)
    labeled, rest = frame[:N_LABELED], frame[N_LABELED:]
    model, theirs = estimator(kind, confidence_level=0.9), fitted_to_frames(kind)
    path = tmp_path / "rows.parquet"
    with dask.config.set(scheduler="threads"):
        if form == "labels too":
            marks = np.where(np.arange(N_ROWS) < N_LABELED, y, np.nan)
            frame.assign(label=marks).to_parquet(path, row_group_size=100)
            model.fit(path, "label")
        else:
            rest.assign(other=1.0).to_parquet(path, row_group_size=100)
            table = dd.from_pandas(rest[names[::-1]].assign(other="text"), npartitions=3)
            rows = {
                "parquet": path,
                "batches": [rest[:200], rest[200:]],
                "dask array": da.from_array(X[N_LABELED:], chunks=(200, 4)),
                "dask frame": table,
            }[form]
            known = X[:N_LABELED] if form == "dask array" else labeled
            model.fit(known, y[:N_LABELED], rows)
    again = X[N_LABELED:] if form == "dask array" else rest
    ours, wanted = model.certificate_, theirs.certificate_
    assert (ours.kind, ours.n_errors, ours.n_tested) == ("guarantee", wanted.n_errors, 60)
    assert ours.n_unlabeled == model.n_unlabeled_ == 480
    assert ours.error_upper == pytest.approx(wanted.error_upper)
    np.testing.assert_allclose(
        model.predict_proba(again), theirs.predict_proba(rest), atol=1e-4 if kind == "own" else 1e-6
    )
    auto, wanted = model.auto_label(MAX_ERROR, again), theirs.auto_label(max_error=MAX_ERROR)
    assert auto.kind == wanted.kind == "guarantee"
    np.testing.assert_array_equal(auto.labels, wanted.labels)
    assert auto.coverage == pytest.approx(wanted.coverage, abs=0.01)
    with pytest.raises(AttributeError, match="kept only where fit had these in memory"):
        model.auto_label()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_guarantees_fail_as_rarely_as_they_say(kind):
    """Of all draws of the labels, at a level of 0.8; their number is binomial."""
    X, y = problem(kind)
    rng, n_draws = np.random.default_rng(0), 60
    model, failed, n_made = estimator(kind, confidence_level=0.8, random_state=None), 0, 0
    for _ in range(n_draws):
        labeled, rest = np.split(rng.permutation(N_ROWS), [80])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X[labeled], y[labeled], X[rest])
        error = np.mean(model.transduction_ != y[rest])
        n_made += model.certificate_.is_guarantee
        failed += model.certificate_.is_guarantee and error > model.certificate_.error_upper
    assert n_made >= n_draws * 5 / 6
    assert failed <= 0.2 * n_draws + 3 * np.sqrt(n_draws * 0.2 * 0.8)


# Without a guarantee.


@pytest.mark.parametrize("kind", KINDS)
def test_the_default_holds_nothing_out(kind):
    X, y = problem(kind)
    model = estimator(kind).fit(X[:N_LABELED], y[:N_LABELED], X[N_LABELED:])
    found = model.certificate_
    assert found.kind == "estimate"
    assert "the fit used the labels" in found.reason
    n_tested = N_LABELED
    if kind == "trees":  # some rows are in all bags of a group
        in_all = [~one.unseen.any(axis=0) for one in model._voters.trees.grown]
        n_tested -= np.any(in_all, axis=0).sum()
    assert found.n_tested == n_tested
    assert found.error_lower <= found.error <= found.error_upper
    auto = model.auto_label(max_error=2 * MAX_ERROR)
    assert auto.kind == "estimate"
    assert not auto.needs_review.all()


class Column(ClassifierMixin, BaseEstimator):
    """Ranks rows by a column, whatever their labels are."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, self.column]


def test_weights_that_fit_labels_at_random_do_not_flatter_the_estimate():
    """Of twelve columns of noise, weights fitted to 60 labels make an error of 35% on these."""
    rng, errors = np.random.default_rng(0), []
    voters = [(f"column {k}", Column(k)) for k in range(12)]
    for _ in range(8):
        X, y = rng.normal(size=(260, 12)), rng.permutation(np.arange(60) % 2)
        model = HedgeClipperClassifier(voters, random_state=0).fit(X[:60], y, X[60:])
        errors.append(model.certificate_.error)
    assert np.mean(errors) == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(8 * 60))


# Bad input.


@pytest.mark.parametrize("kind", KINDS)
def test_levels_and_errors_that_are_none(kind):
    for level in (0, 1, 95, "0.95"):
        with pytest.raises(ValueError, match="'confidence_level' parameter"):
            fitted(kind, confidence_level=level)
    with pytest.raises(ValueError, match=r"Got holdout=0.5 and no confidence_level: pass one"):
        fitted(kind, holdout=0.5)
    with pytest.raises(NotFittedError):
        estimator(kind).auto_label()
    model = fitted(kind)
    if kind != "votes":
        with pytest.raises(TypeError, match=r"Got a Dask collection: pass X.compute\(\), or"):
            model.auto_label(0.1, da.zeros((9, 6)))
    for max_error in (0, 1, 5, np.nan, "0.05", None):
        with pytest.raises(
            ValueError, match=r"max_error must lie strictly between 0 and 1, as 0.05 for 5%\. Got"
        ):
            model.auto_label(max_error=max_error)
    for level in (0, 1, 95, None):
        with pytest.raises(ValueError, match="'confidence_level' parameter must lie strictly"):
            model.auto_label(confidence_level=level)


@pytest.mark.parametrize("kind", KINDS)
def test_too_few_labels_say_how_many_are_needed(kind):
    with pytest.raises(ValueError, match=r"Got 9 labels, of which 4 .* Label at least 10 rows"):
        fitted(kind, n_labeled=9, confidence_level=0.95)
    with pytest.raises(ValueError, match=r"Got 30 labels, of which 3 .* Label at least 50 rows"):
        fitted(kind, n_labeled=30, confidence_level=0.95, holdout=0.1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_that_is_only_among_the_held_out_labels(kind):
    """Nothing is learned of it, so that its rows are errors; of votes the classes are one more."""
    X, y = problem(kind)
    lonely = HELD[3]
    names = np.where(y == 1, "yes", "no").astype(object)
    names[lonely] = "perhaps"
    rows = np.array(["no", "yes"], dtype=object)[X.astype(int)] if kind == "votes" else X
    model = estimator(kind, confidence_level=0.9)
    model.fit(rows[:N_LABELED], names[:N_LABELED], rows[N_LABELED:])
    found = model.certificate_
    assert found.kind == ("estimate" if kind == "votes" else "guarantee")
    assert found.n_errors == np.sum(model.predict(rows[HELD]) != names[HELD])
    assert model.predict(rows[[lonely]]) != "perhaps"


def test_one_class_left_to_fit_to():
    X, _ = problem("own")
    y = np.zeros(N_LABELED, dtype=int)
    y[HELD[:5]] = 1
    model = estimator("own", confidence_level=0.9)
    with pytest.raises(ValueError, match=r"holds 60 of the 120 labels out.* are all of class 0"):
        model.fit(X[:N_LABELED], y, X[N_LABELED:])
    clone(model).set_params(confidence_level=None).fit(X[:N_LABELED], y, X[N_LABELED:])


# What is held out.


@pytest.mark.parametrize(
    ("n_labels", "holdout", "n_held"),
    [
        (10, None, 5), (11, None, 5), (4000, None, 2000), (9000, None, 2000), (9000, 0.5, 4500),
        # 59 labels are needed to prove 5%, and 299 for 1%
        (99, None, 49), (100, None, 62), (117, None, 62), (118, None, 59), (100, 0.5, 50),
        (486, None, 243), (500, None, 302), (598, None, 299),
    ],
)  # fmt: skip
def test_half_is_held_out_but_at_most_2000_or_what_proves_5_or_1_percent(n_labels, holdout, n_held):
    held = draw_held_out(n_labels, 0.95, holdout, 0)
    assert held.size == np.unique(held).size == n_held
    assert np.all(np.diff(held) > 0)
    assert held.max() < n_labels


def test_held_out_labels_are_a_simple_random_sample():
    """Not one by class: how many are of a class is hypergeometric."""
    rare = np.arange(40) < 8
    counts = [rare[draw_held_out(40, 0.9, None, seed)].sum() for seed in range(400)]
    expected = hypergeom(40, 8, 20)
    assert np.mean(counts) == pytest.approx(expected.mean(), abs=4 * expected.std() / 20)
    assert np.var(counts) == pytest.approx(expected.var(), rel=0.4)


def test_held_out_rows_come_last_or_stay_where_they_are_in_their_table():
    X, y, held = np.arange(12.0)[:, None], np.arange(12) % 2, np.array([1, 4, 6])
    rows = SemiSupervisedRows(X[:8], y[:8], X[8:], None)
    kept, out = hold_out_rows(rows, held)
    assert kept.X_labeled.ravel().tolist() == [0, 2, 3, 5, 7]
    assert kept.y_labeled.tolist() == [0, 0, 1, 1, 1]
    assert kept.X_unlabeled.ravel().tolist() == [8, 9, 10, 11, 1, 4, 6]
    assert (out.X.ravel().tolist(), out.y.tolist()) == ([1, 4, 6], [1, 0, 0])
    assert out.positions_in(7).tolist() == [4, 5, 6]
    marked = np.arange(12) % 3 == 0
    rows = SemiSupervisedRows(X[~marked], y[~marked], X[marked], marked)
    kept, out = hold_out_rows(rows, held)  # rows 2, 7 and 10 of the table
    assert kept.X_unlabeled.ravel().tolist() == [0, 2, 3, 6, 7, 9, 10]
    assert out.positions_in(7).tolist() == [1, 4, 6]


def test_a_sample_of_rows_in_files_is_of_unlabeled_and_not_of_held_out_ones(tmp_path, monkeypatch):
    monkeypatch.setattr("hedgeclipper.voters.voters.ROWS_IN_GAME", 100)
    X, y = problem("trees")
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame[N_LABELED:].to_parquet(tmp_path / "rows.parquet")
    model = estimator("trees", confidence_level=0.9)
    model.fit(frame[:N_LABELED], y[:N_LABELED], X_unlabeled=str(tmp_path / "rows.parquet"))
    found = model.tested_predictions_
    uncertainties = 1.0 - model.predict_proba(frame[N_LABELED:]).max(axis=1)
    assert found.unlabeled_uncertainties.size < 100 < found.n_unlabeled == N_ROWS - N_LABELED
    assert np.isin(found.unlabeled_uncertainties.round(9), uncertainties.round(9)).all()
    assert model.auto_label(0.4, tmp_path / "rows.parquet").kind == "guarantee"


def test_random_samples_hardly_ever_seem_shifted_and_the_first_rows_do():
    """At 5e-4: one test in two thousand."""
    rng = np.random.default_rng(0)
    draws = (rng.permutation(300) for _ in range(1000))
    assert sum(differ_in_rank(rows[:60], rows[60:]) for rows in draws) <= 4
    assert differ_in_rank(np.arange(60), np.arange(60, 300))


def labeled_by_choice(kind, chosen):
    """Rows whose label is easy to tell, or as many of a rare class as of the other; and others."""
    rng = np.random.default_rng(0)
    y = (rng.random(4000) < 0.2).astype(int)
    X = (y[:, None] + rng.normal(size=(4000, 5))).astype(np.float32)
    score = X.mean(axis=1)
    if kind == "votes":
        X = (X > 0.5).astype(int)
    picked = np.argsort(-np.abs(score - score.mean()))[:1600]
    if chosen == "by class":
        picked = np.concatenate([np.flatnonzero(y == k)[:700] for k in (0, 1)])
    labeled = rng.permutation(picked)[:600]
    rest = np.setdiff1d(np.arange(4000), labeled)
    return X[labeled], y[labeled], X[rest]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chosen", ["easy", "by class"])
@pytest.mark.filterwarnings("ignore")  # of a shift in the rows, and of no unlabeled ones
def test_labels_that_are_no_random_sample_make_an_estimate_that_says_so(kind, chosen):
    X, y, others = labeled_by_choice(kind, chosen)
    model, alone = (estimator(kind, confidence_level=0.95) for _ in range(2))
    model.fit(X, y, others)
    found = [model.certificate_, model.auto_label(0.3), model.auto_label(0.3, others)]
    for one in (*found, alone.fit(X, y).auto_label(0.3, others)):
        assert one.kind == "estimate"
        assert "no guarantee, since labeled and unlabeled rows differ" in one.describe()
    if kind == "votes":
        assert model.class_rates().kind == "estimate"


# Automatic labels.


def rule_of(kind, n_classes, model):
    """Held-out errors, and uncertainties of held-out and of unlabeled rows."""
    X, y = problem(kind, n_classes)
    uncertainties = 1 - model.predict_proba(X).max(axis=1)
    wrong = model.predict(X[HELD]) != y[HELD]
    return X, wrong, uncertainties[HELD], uncertainties[N_LABELED:]


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_the_file_is_tested_by_the_held_out_rows(kind, n_classes):
    """Accepted are rows before the first wrong test row that is not allowed."""
    model = fitted(kind, n_classes, confidence_level=0.9)
    max_error = 0.1 if n_classes == 2 else 0.3
    found = model.auto_label(max_error, confidence_level=0.8)
    assert (found.kind, found.reason, found.confidence_level) == ("guarantee", "", 0.8)
    X, wrong, tested, others = rule_of(kind, n_classes, model)
    np.testing.assert_array_equal(found.labels, model.predict(X[N_LABELED:]))
    allowed = allowed_errors(540, 60, error_limit(max_error, 600), 0.2)
    first = np.sort(tested[wrong])[allowed] if wrong.sum() > allowed else np.inf
    is_tied = np.isclose(others, first, atol=1e-9)
    np.testing.assert_array_equal(found.needs_review[~is_tied], others[~is_tied] > first)
    assert found.coverage > 0
    assert found.n_rows == 600
    assert found.error_upper <= max_error
    left = round(found.error_upper * 600)
    assert found.automatic_error_upper == pytest.approx(left / np.sum(~found.needs_review))
    assert np.all(np.diff(others[found.review_order]) <= 1e-9)
    np.testing.assert_array_equal(np.sort(found.review_order), np.flatnonzero(found.needs_review))


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_automatic_labels_alone_are_tested_together_with_rows_as_certain(kind, n_classes):
    model = fitted(kind, n_classes, confidence_level=0.9)
    max_error = MAX_ERROR if n_classes == 2 else 0.6
    found = model.auto_label(max_error, among="automatic", confidence_level=0.8)
    assert (found.kind, found.among) == ("guarantee", "automatic")
    _, wrong, tested, others = rule_of(kind, n_classes, model)
    sure = ~found.needs_review
    assert sure.any()
    assert others[sure].max() < others[~sure].min(initial=1.0)
    order = np.argsort(tested)[: found.n_tested]
    assert found.n_errors == wrong[order].sum()
    _, upper = proportion_bounds(found.n_errors, found.n_tested, sure.sum(), 0.2)
    together = (found.n_errors + upper * sure.sum()) / (found.n_tested + sure.sum())
    assert together <= max_error
    left = error_limit(max_error, found.n_tested + sure.sum()) - found.n_errors
    assert found.automatic_error_upper == min(left / sure.sum(), 1.0)
    assert found.coverage <= model.auto_label(max_error, confidence_level=0.8).coverage


@pytest.mark.parametrize("kind", KINDS)
def test_limits_per_class_hold_for_rows_predicted_to_be_of_it(kind):
    model = fitted(kind, confidence_level=0.9)
    found = model.auto_label({0: 0.3, 1: 0.5}, confidence_level=0.8)
    assert found.kind == "guarantee"
    assert {0, 1} == set(found.labels[~found.needs_review])
    stricter = model.auto_label({0: 0.3, 1: 0.01}, confidence_level=0.8)
    assert not np.any(stricter.labels[~stricter.needs_review] == 1)
    assert "30% of those predicted 0 and 50% of those predicted 1 are wrong" in found.describe()
    with pytest.raises(ValueError, match="no limit for rows predicted to be of"):
        model.auto_label({1: 0.5})
    with pytest.raises(ValueError, match=r"limits for \['maybe'\], which no row is predicted"):
        model.auto_label({"maybe": 0.5, None: 0.2})
    with pytest.raises(ValueError, match="per class go with among='file'"):
        model.auto_label({0: 0.3, 1: 0.5}, among="automatic")
    with pytest.raises(ValueError, match=r"among must be one of .*Got 'rows'"):
        model.auto_label(among="rows")


@pytest.mark.parametrize("kind", KINDS)
def test_of_other_rows_it_is_an_estimate(kind):
    """Also where they are as many, and one row is there twice in place of its like."""
    model, rows = fitted(kind, confidence_level=0.9), problem(kind)[0][N_LABELED:]
    assert model.auto_label(MAX_ERROR, rows[::-1]).kind == "guarantee"
    twice = np.concatenate([rows[1:2], rows[1:]])
    for others in (rows[:-1], np.concatenate([rows[:-3], rows[:3]]), twice):
        found = model.auto_label(MAX_ERROR, others)
        assert found.kind == "estimate"
        assert "not the unlabeled rows of the fit" in found.reason
        np.testing.assert_array_equal(found.labels, model.predict(others))


@pytest.mark.parametrize("kind", KINDS)
def test_too_small_an_error_needs_more_labels(kind):
    found = fitted(kind, confidence_level=0.9).auto_label(max_error=0.01)
    assert found.needs_review.all()
    assert found.n_needed == least_tested(540, 6, 0.05) > 60
    assert f"at least {found.n_needed} random test labels are needed; there are 60" in str(found)


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_model_can_do_it_too(kind, tmp_path):
    model = fitted(kind, 4, confidence_level=0.9)
    save(model, tmp_path / "model")
    found, again = model.auto_label(max_error=MAX_ERROR), load(tmp_path / "model")
    assert again.certificate_ == model.certificate_
    assert again.auto_label(max_error=MAX_ERROR).kind == "guarantee"
    np.testing.assert_array_equal(again.auto_label(MAX_ERROR).needs_review, found.needs_review)
    theirs = again.auto_label(MAX_ERROR, problem(kind, 4)[0][N_LABELED:])
    assert theirs.kind == "guarantee"
    np.testing.assert_array_equal(theirs.labels, found.labels)
