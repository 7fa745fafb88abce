"""Guarantees of the three estimators against the exact test of their final predictions."""

import pickle
import warnings
from functools import cache

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, hypergeom
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB

from hedgeclipper import (
    HedgeClipperClassifier,
    HedgedVotingClassifier,
    NoUnlabeledRowsWarning,
    VoteAggregator,
    load,
    save,
)
from hedgeclipper.base.semi_supervised import SemiSupervisedRows, hold_out_rows
from hedgeclipper.bounds.checked_rule import draw_held_out
from hedgeclipper.bounds.intervals import proportion_bounds

N_LABELED, N_ROWS = 120, 600
KINDS = ["forest", "panel", "votes"]


def problem(kind, n_classes, seed=0):
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
    if kind == "forest":
        return HedgeClipperClassifier(n_estimators=20, **options)
    if kind == "votes":
        return VoteAggregator(**options)
    members = [("linear", LinearDiscriminantAnalysis()), ("bayes", GaussianNB())]
    return HedgedVotingClassifier(members, cv=3, **options)


def fitted(kind, n_classes=2, n_labeled=N_LABELED, **options):
    X, y = problem(kind, n_classes)
    return estimator(kind, **options).fit(X[:n_labeled], y[:n_labeled], X[n_labeled:])


def held_out(kind, n_labels=N_LABELED, n_held=N_LABELED // 2):
    """Numbers of the labels that a fit with the random state 0 holds out."""
    random_state = np.random.RandomState(0)
    if kind == "panel":  # it draws rows first
        random_state.randint(np.iinfo(np.int32).max)
    return np.sort(random_state.choice(n_labels, n_held, replace=False))


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
    held = held_out(kind)
    k = int(np.sum(model.predict(X[held]) != y[held]))
    found = model.certificate_
    assert (found.kind, found.confidence_level) == ("guarantee", 0.9)
    assert (found.n_errors, found.n_tested) == (k, 60)
    assert found.error == pytest.approx(k / 60)
    low, high = exact_bounds(k, 60, 480, delta=0.1)
    assert (found.error_lower, found.error_upper) == pytest.approx((low, high))
    counts = pd.Series(y[:N_LABELED]).value_counts()
    assert found.baseline == pytest.approx(1 - counts.max() / N_LABELED)
    assert f"{k} errors on 60 held-out labels" in str(found)


@pytest.mark.parametrize("kind", KINDS)
def test_held_out_labels_change_the_test_and_nothing_else(kind):
    X, y = problem(kind, 2)
    held = held_out(kind)
    model = fitted(kind, confidence_level=0.9)
    flipped = y.copy()
    flipped[held] = 1 - flipped[held]
    other = estimator(kind, confidence_level=0.9).fit(
        X[:N_LABELED], flipped[:N_LABELED], X[N_LABELED:]
    )
    np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(other.slack_, model.slack_)
    assert other.certificate_.n_errors == 60 - model.certificate_.n_errors


@pytest.mark.parametrize("kind", KINDS)
def test_a_level_given_in_parts_of_the_labels(kind):
    found = fitted(kind, confidence_level=0.95, holdout=0.2).certificate_
    assert found.n_tested == 24


@pytest.mark.parametrize("kind", KINDS)
def test_marks_give_what_rows_of_their_own_give(kind):
    X, y = problem(kind, 2)
    marked = np.where(np.arange(N_ROWS) < N_LABELED, y, -1)
    model = estimator(kind, confidence_level=0.9).fit(X, marked)
    assert model.certificate_ == fitted(kind, confidence_level=0.9).certificate_
    np.testing.assert_array_equal(model.transduction_[:N_LABELED], y[:N_LABELED])
    np.testing.assert_array_equal(model.transduction_[N_LABELED:], model.predict(X[N_LABELED:]))


@pytest.mark.parametrize("kind", KINDS)
def test_without_unlabeled_rows_the_bound_is_for_new_rows(kind):
    """That is Clopper and Pearson's."""
    X, y = problem(kind, 2)
    with pytest.warns(NoUnlabeledRowsWarning):
        model = estimator(kind, confidence_level=0.95).fit(X[:N_LABELED], y[:N_LABELED])
    found = model.certificate_
    assert (found.kind, found.n_unlabeled) == ("guarantee", 0)
    held = held_out(kind)
    k = int(np.sum(model.predict(X[held]) != y[held]))
    assert (found.n_errors, found.n_tested) == (k, 60)
    assert found.error_upper == pytest.approx(beta.ppf(0.95, k + 1, 60 - k))
    assert "on new rows" in str(found)
    np.testing.assert_array_equal(model.transduction_, y[:N_LABELED])


def test_a_forest_that_came_fitted_is_tested_by_held_out_labels():
    X, y = problem("forest", 2)
    forest = RandomForestClassifier(10, random_state=0).fit(X[300:], y[300:])
    model = HedgeClipperClassifier(forest, confidence_level=0.9, random_state=0)
    found = model.fit(X[:N_LABELED], y[:N_LABELED], X[N_LABELED:300]).certificate_
    held = held_out("forest")
    assert found.kind == "guarantee"
    assert found.n_errors == np.sum(model.predict(X[held]) != y[held])


def test_members_that_came_fitted_are_tested_by_held_out_labels():
    X, y = problem("panel", 4)
    members = [("bayes", GaussianNB()), ("linear", LinearDiscriminantAnalysis())]
    members = [(name, model.fit(X[300:], y[300:])) for name, model in members]
    model = HedgedVotingClassifier(members, cv="prefit", confidence_level=0.9, random_state=0)
    found = model.fit(X[:N_LABELED], y[:N_LABELED], X[N_LABELED:300]).certificate_
    held = held_out("panel")
    assert found.kind == "guarantee"
    assert found.n_errors == np.sum(model.predict(X[held]) != y[held])


@pytest.mark.parametrize("kind", ["forest", "panel"])
def test_columns_of_strings_are_tested_as_codes_are(kind, monkeypatch):
    members = [("extra_trees", GaussianNB()), ("linear", LinearDiscriminantAnalysis())]
    monkeypatch.setattr("hedgeclipper.panel.members.default_panel", lambda *_, **__: members)
    X, y = problem(kind, 2)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["g"] = np.where(X[:, 0] > 0, "up", "down")
    model = estimator(kind, confidence_level=0.9)
    if kind == "panel":
        model.set_params(estimators=None)
    model.fit(frame[:60], y[:60], frame[60:200])
    held = held_out(kind, 60, 30)
    assert model.certificate_.n_errors == np.sum(model.predict(frame.iloc[held]) != y[held])


@cache
def fitted_to_frames(kind):
    X, y = problem(kind, 2)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = estimator(kind, confidence_level=0.9)
    return model.fit(frame[:N_LABELED], y[:N_LABELED], frame[N_LABELED:])


@pytest.mark.parametrize("form", ["parquet", "batches", "dask array", "dask frame", "labels too"])
@pytest.mark.parametrize("kind", ["forest", "panel"])
def test_rows_elsewhere_give_what_memory_gives(kind, form, tmp_path):
    X, y = problem(kind, 2)
    names = list("abcdef")
    frame = pd.DataFrame(X, columns=names)
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
    ours = model.certificate_
    assert ours.kind == "guarantee"
    assert (ours.n_errors, ours.n_tested) == (
        theirs.certificate_.n_errors,
        theirs.certificate_.n_tested,
    )
    assert ours.n_unlabeled == model.n_unlabeled_ == 480
    assert ours.error_upper == pytest.approx(theirs.certificate_.error_upper)
    again = X[N_LABELED:] if form == "dask array" else rest
    auto, wanted = model.auto_label(again, 0.3), theirs.auto_label(max_error=0.3)
    assert auto.kind == wanted.kind == "guarantee"
    np.testing.assert_array_equal(auto.labels, wanted.labels)
    assert auto.coverage == pytest.approx(wanted.coverage, abs=0.01)
    with pytest.raises(AttributeError, match="kept only where fit had these in memory"):
        model.auto_label() if form != "batches" else model.transduction_


@pytest.mark.parametrize("n_draws", [10, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_guarantees_fail_as_rarely_as_they_say(kind, n_draws):
    """Of all draws of the labels, at a level of 0.8; their number is binomial."""
    X, y = problem(kind, 2)
    rng = np.random.default_rng(0)
    model, failed, n_made = estimator(kind, confidence_level=0.8, random_state=None), 0, 0
    for _ in range(n_draws):
        order = rng.permutation(N_ROWS)
        labeled, rest = order[:80], order[80:]
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
def test_the_default_holds_nothing_out_and_draws_nothing(kind):
    """Its random numbers are those of a fit that knows of no held-out labels."""
    model = fitted(kind)
    found = model.certificate_
    assert found.kind == "estimate"
    assert "labels were used in the fit" in found.reason
    n_tested = N_LABELED
    if kind == "forest":  # some rows are in all bags of a group
        forests = model.estimators_.values()
        in_all = [set.intersection(*map(set, one.estimators_samples_)) for one in forests]
        n_tested -= len(set.union(*in_all))
    assert found.n_tested == n_tested
    assert found.error_lower <= found.error <= found.error_upper
    first, second = np.random.RandomState(0), np.random.RandomState(0)
    assert draw_held_out(100, None, None, first) is None
    assert first.randint(1000) == second.randint(1000)


@pytest.mark.parametrize("kind", ["forest", "panel"])
def test_sample_weights_make_an_estimate(kind):
    X, y = problem(kind, 2)
    weights = np.linspace(1, 2, N_LABELED)
    model = estimator(kind, confidence_level=0.9)
    model.fit(X[:N_LABELED], y[:N_LABELED], X[N_LABELED:], sample_weight=weights)
    assert model.certificate_.kind == "estimate"
    assert model.certificate_.reason == "sample weights do not go with a guarantee"
    assert model.certificate_.n_tested == 60


# Bad input.


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, "0.95"])
@pytest.mark.parametrize("kind", KINDS)
def test_levels_that_are_none(kind, level):
    with pytest.raises(ValueError, match="'confidence_level' parameter"):
        fitted(kind, confidence_level=level)


@pytest.mark.parametrize("kind", KINDS)
def test_a_holdout_without_a_level(kind):
    with pytest.raises(ValueError, match=r"Got holdout=0.5 and no confidence_level: pass one"):
        fitted(kind, holdout=0.5)


@pytest.mark.parametrize("kind", KINDS)
def test_too_few_labels_say_how_many_are_needed(kind):
    with pytest.raises(ValueError, match=r"Got 9 labels, of which 4 .* Label at least 10 rows"):
        fitted(kind, n_labeled=9, confidence_level=0.95)
    with pytest.raises(ValueError, match=r"Got 30 labels, of which 3 .* Label at least 50 rows"):
        fitted(kind, n_labeled=30, confidence_level=0.95, holdout=0.1)
    assert fitted(kind, n_labeled=50, confidence_level=0.95, holdout=0.1).certificate_.n_tested == 5


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_that_is_only_among_the_held_out_labels(kind):
    """Nothing is learned of it, so that its rows are errors; of votes the classes are one more."""
    X, y = problem(kind, 2)
    lonely = held_out(kind)[3]
    names = np.where(y == 1, "yes", "no").astype(object)
    names[lonely] = "perhaps"
    rows = np.array(["no", "yes"], dtype=object)[X.astype(int)] if kind == "votes" else X
    model = estimator(kind, confidence_level=0.9)
    model.fit(rows[:N_LABELED], names[:N_LABELED], rows[N_LABELED:])
    held, found = held_out(kind), model.certificate_
    assert found.kind == ("estimate" if kind == "votes" else "guarantee")
    assert "has all its labels among the held-out ones" in found.reason or kind != "votes"
    assert model.certificate_.n_errors == np.sum(model.predict(rows[held]) != names[held])
    assert model.predict(rows[[lonely]]) != "perhaps"


@pytest.mark.parametrize("kind", ["forest", "panel"])
def test_one_class_left_to_fit_to(kind):
    X, _ = problem(kind, 2)
    y = np.zeros(N_LABELED, dtype=int)
    y[held_out(kind)[:5]] = 1
    model = estimator(kind, confidence_level=0.9)
    with pytest.raises(ValueError, match=r"holds 60 of the 120 labels out.* are all of class 0"):
        model.fit(X[:N_LABELED], y, X[N_LABELED:])
    clone(model).set_params(confidence_level=None).fit(X[:N_LABELED], y, X[N_LABELED:])
    with pytest.raises(ValueError, match=r"Got one class or none, \[0\]"):
        model.fit(X[:N_LABELED], 0 * y, X[N_LABELED:])


# What is held out.


@pytest.mark.parametrize(
    ("n_labels", "holdout", "n_held"),
    [(10, None, 5), (11, None, 5), (4000, None, 2000), (9000, None, 2000), (9000, 0.5, 4500)],
)
def test_half_is_held_out_but_at_most_2000(n_labels, holdout, n_held):
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


def test_held_out_rows_are_the_last_of_the_unlabeled_ones():
    X, y = np.arange(12.0)[:, None], np.arange(12) % 2
    rows = SemiSupervisedRows(X[:8], y[:8], np.arange(8.0), X[8:], None)
    kept, out = hold_out_rows(rows, np.array([1, 4, 6]))
    assert kept.X_labeled.ravel().tolist() == [0, 2, 3, 5, 7]
    assert kept.y_labeled.tolist() == [0, 0, 1, 1, 1]
    assert kept.weight_labeled.tolist() == [0, 2, 3, 5, 7]
    assert kept.X_unlabeled.ravel().tolist() == [8, 9, 10, 11, 1, 4, 6]
    assert (out.X.ravel().tolist(), out.y.tolist()) == ([1, 4, 6], [1, 0, 0])


@pytest.mark.parametrize("kind", KINDS)
def test_held_out_and_unlabeled_rows_are_treated_alike(kind, monkeypatch):
    """If they change places the model is the same: the guarantee rests on this."""
    X, y = problem(kind, 2)
    held = draw_held_out(N_LABELED, 0.9, None, 0)
    for module in ("base.semi_supervised_classifier", "votes.aggregator"):
        monkeypatch.setattr(f"hedgeclipper.{module}.draw_held_out", lambda *_: held)
    others = N_LABELED + np.arange(held.size)
    swapped = np.arange(N_ROWS)
    swapped[held], swapped[others] = others, held
    options = {"confidence_level": 0.9} | ({"views": None} if kind == "forest" else {})
    models = [
        estimator(kind, **options).fit(
            X[rows[:N_LABELED]], y[rows[:N_LABELED]], X[rows[N_LABELED:]]
        )
        for rows in (np.arange(N_ROWS), swapped)
    ]
    ours, theirs = (model.predict_proba(X) for model in models)
    np.testing.assert_allclose(ours, theirs, atol=2e-3)


def test_doubts_of_unlabeled_rows_in_files_are_not_those_of_held_out_ones(tmp_path, monkeypatch):
    """Of few rows in the sample, and of automatic labels all rows are counted."""
    monkeypatch.setattr("hedgeclipper.forest.unlabeled.ROWS_IN_GAME", 100)
    X, y = problem("forest", 2)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame[N_LABELED:].to_parquet(tmp_path / "rows.parquet")
    model = estimator("forest", confidence_level=0.9)
    model.fit(frame[:N_LABELED], y[:N_LABELED], X_unlabeled=str(tmp_path / "rows.parquet"))
    rule = model._checked
    assert rule.unlabeled_doubts.size < 100 < rule.n_unlabeled == N_ROWS - N_LABELED
    doubts = 1.0 - model.predict_proba(X[N_LABELED:]).max(axis=1)
    near = np.abs(rule.unlabeled_doubts[:, None] - doubts).min(axis=1)
    np.testing.assert_allclose(near, 0.0, atol=1e-9)
    assert "sample" in rule.about(None)[1]
    found = model.auto_label(tmp_path / "rows.parquet", max_error=0.4)
    assert found.kind == "guarantee"
    # the threshold is a rank among all doubts: tested rows may lie between it and the surest rows
    least_sure = doubts[~found.is_sure].min(initial=1.0)
    assert np.sum(rule.doubts <= doubts[found.is_sure].max()) <= found.n_tested
    assert found.n_tested <= np.sum(rule.doubts < least_sure)


MAX_ERROR = 0.3


def rest(kind, n_classes=2):
    return problem(kind, n_classes)[0][N_LABELED:]


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_sure_rows_are_those_of_the_exact_test(kind, n_classes):
    """The held-out rows that are as sure test them."""
    model = fitted(kind, n_classes, confidence_level=0.9)
    max_error = MAX_ERROR if n_classes == 2 else 0.6
    found = model.auto_label(max_error=max_error, confidence_level=0.8)
    assert (found.kind, found.reason, found.confidence_level) == ("guarantee", "", 0.8)
    X, y = problem(kind, n_classes)
    np.testing.assert_array_equal(found.labels, model.predict(rest(kind, n_classes)))
    doubts, held = 1 - model.predict_proba(X).max(axis=1), held_out(kind)
    assert found.is_sure.any()
    limit = doubts[N_LABELED:][found.is_sure].max()
    first_unsure = doubts[N_LABELED:][~found.is_sure].min(initial=1.0)
    assert limit < first_unsure
    # the threshold lies between these, and may be the doubt of a held-out row
    tested = held[np.argsort(doubts[held])][: found.n_tested]
    assert np.sum(doubts[held] <= limit - 1e-12) <= found.n_tested
    assert doubts[tested].max() < first_unsure
    k = np.sum(model.predict(X[tested]) != y[tested])
    assert found.n_errors == k
    _, upper = proportion_bounds(k, tested.size, found.is_sure.sum(), 0.2)
    assert found.error_upper == pytest.approx(upper)
    assert upper <= max_error


@pytest.mark.parametrize("kind", KINDS)
def test_the_rows_of_the_fit_may_be_passed_again(kind):
    model = fitted(kind, confidence_level=0.9)
    ours, theirs = model.auto_label(rest(kind), MAX_ERROR), model.auto_label(max_error=MAX_ERROR)
    assert ours.kind == theirs.kind == "guarantee"
    np.testing.assert_array_equal(ours.labels, theirs.labels)
    np.testing.assert_array_equal(ours.is_sure, theirs.is_sure)


@pytest.mark.parametrize("kind", KINDS)
def test_of_other_rows_it_is_an_estimate(kind):
    model, rows = fitted(kind, confidence_level=0.9), rest(kind)
    for others in (rows[:-1], np.concatenate([rows[:-3], rows[:3]])):
        found = model.auto_label(others, MAX_ERROR)
        assert found.kind == "estimate"
        assert "not the unlabeled rows of the fit" in found.reason
        np.testing.assert_array_equal(found.labels, model.predict(others))
        assert "an estimate" in str(found) or not found.is_sure.any()


@pytest.mark.parametrize("kind", KINDS)
def test_without_held_out_labels_it_is_an_estimate(kind):
    found = fitted(kind).auto_label(max_error=2 * MAX_ERROR)
    assert found.kind == "estimate"
    assert "labels were used in the fit" in found.reason
    assert found.is_sure.any()


@pytest.mark.parametrize("kind", KINDS)
def test_marked_rows_are_the_unlabeled_ones(kind):
    X, y = problem(kind, 2)
    marks = np.random.default_rng(0).permutation(N_ROWS) < N_LABELED
    model = estimator(kind, confidence_level=0.9).fit(X, np.where(marks, y, -1))
    found = model.auto_label(max_error=MAX_ERROR)
    assert found.labels.shape == found.is_sure.shape == (N_ROWS - N_LABELED,)
    np.testing.assert_array_equal(found.labels, model.predict(X[~marks]))
    again = model.auto_label(X[~marks], MAX_ERROR)
    assert again.kind == "guarantee"
    np.testing.assert_array_equal(again.is_sure, found.is_sure)


@pytest.mark.parametrize("kind", KINDS)
def test_without_unlabeled_rows_new_ones_have_a_guarantee(kind):
    X, y = problem(kind, 2)
    with pytest.warns(NoUnlabeledRowsWarning):
        model = estimator(kind, confidence_level=0.9).fit(X[:N_LABELED], y[:N_LABELED])
    found = model.auto_label(X[N_LABELED:], MAX_ERROR)
    assert found.kind == "guarantee"
    assert found.labels.size == N_ROWS - N_LABELED
    nothing = model.auto_label(max_error=MAX_ERROR)
    assert nothing.labels.size == nothing.is_sure.size == 0
    assert nothing.coverage == 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_too_small_an_error_needs_more_labels(kind):
    found = fitted(kind, confidence_level=0.9).auto_label(max_error=0.01)
    assert not found.is_sure.any()
    assert found.n_needed == np.ceil(1.3 * np.log(20) / -np.log(0.99))
    assert "labels are needed to test it, there are 60" in str(found)


@pytest.mark.parametrize("max_error", [0, 1, -0.1, 5, np.nan, "0.05", None])
@pytest.mark.parametrize("kind", KINDS)
def test_errors_that_are_none(kind, max_error):
    with pytest.raises(ValueError, match=r"max_error must lie strictly between 0 and 1\. Got"):
        fitted(kind).auto_label(max_error=max_error)


@pytest.mark.parametrize("kind", KINDS)
def test_bad_calls(kind):
    with pytest.raises(NotFittedError):
        estimator(kind).auto_label()
    for level in (0, 1, 95, None):
        with pytest.raises(ValueError, match="'confidence_level' parameter must lie strictly"):
            fitted(kind).auto_label(confidence_level=level)


@pytest.mark.parametrize("kind", ["forest", "panel"])
def test_dask_collections_cannot_be_labeled_here(kind):
    with pytest.raises(TypeError, match=r"Got a Dask collection: pass its files, or X.compute"):
        fitted(kind).auto_label(da.zeros((9, 6)))


def test_of_some_rows_in_the_game_labels_tell_of_these(monkeypatch):
    monkeypatch.setattr("hedgeclipper.panel.classifier.ROWS_IN_GAME", 300)
    monkeypatch.setattr("hedgeclipper.panel.classifier.ROWS_FOR_VIEWS", 300)
    model = fitted("panel", confidence_level=0.9)
    X, y = problem("panel", 2)
    held = held_out("panel")
    assert model.certificate_.n_unlabeled == model.n_unlabeled_ == 300
    assert model.certificate_.n_errors == np.sum(model.predict(X[held]) != y[held])
    assert model.transduction_.size == 480
    with pytest.raises(ValueError, match="300 of the 480 unlabeled rows of the fit were drawn"):
        model.auto_label()
    found = model.auto_label(rest("panel"), MAX_ERROR)
    assert (found.kind, found.labels.size) == ("estimate", 480)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_model_can_do_it_too(kind, n_classes, tmp_path):
    model = fitted(kind, n_classes, confidence_level=0.9)
    save(model, tmp_path / "model")
    found = model.auto_label(max_error=MAX_ERROR)
    for again in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert again.certificate_ == model.certificate_
        assert again.auto_label(max_error=MAX_ERROR).kind == "guarantee"
        np.testing.assert_array_equal(again.auto_label(max_error=MAX_ERROR).is_sure, found.is_sure)
        theirs = again.auto_label(rest(kind, n_classes), MAX_ERROR)
        assert theirs.kind == "guarantee"
        np.testing.assert_array_equal(theirs.labels, found.labels)
