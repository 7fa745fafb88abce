"""Automatic labels of the three estimators."""

import pickle

import dask.array as da
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from hedgeclipper import HedgeClipperClassifier, NoUnlabeledRowsWarning, load, save
from hedgeclipper.bounds.exact import proportion_bounds
from tests.base.test_held_out import (
    KINDS,
    N_LABELED,
    N_ROWS,
    estimator,
    fitted,
    held_out,
    problem,
)

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
    found = fitted(kind).auto_label(max_error=MAX_ERROR)
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


def test_more_rows_make_an_estimate_of_a_forest():
    model = fitted("forest", confidence_level=0.9)
    model.partial_fit(rest("forest") + 0.01)
    for found in (model.certificate_, model.auto_label(rest("forest"), MAX_ERROR)):
        assert found.kind == "estimate"
        assert "unlabeled rows were added" in found.reason
    assert model.certificate_.n_unlabeled == model.n_unlabeled_ == 2 * 480
    with pytest.raises(AttributeError, match="until partial_fit"):
        model.auto_label()


def test_more_votes_are_a_fit_to_all():
    L, y = problem("votes", 2)
    model = fitted("votes", confidence_level=0.9)
    model.partial_fit(L[:60], y[:60])
    assert (model.n_labeled_, model.certificate_.n_tested) == (180, 90)
    found = model.auto_label(max_error=MAX_ERROR)
    assert (found.kind, found.labels.size) == ("guarantee", 480)


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


def test_a_copy_for_prediction_knows_no_labels():
    model = fitted("forest").for_prediction()
    assert isinstance(model, HedgeClipperClassifier)
    with pytest.raises(TypeError, match="A copy for prediction knows no labels"):
        model.auto_label(rest("forest"))
