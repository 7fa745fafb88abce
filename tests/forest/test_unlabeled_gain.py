import numpy as np
import pytest
from hedgeclipper.forest.forest_inspection import (
    UnlabeledGain,
    auc_difference,
    out_of_bag_log_odds,
    unlabeled_gain,
)
from scipy.special import expit
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss, roc_auc_score

from hedgeclipper import HedgeClipperClassifier, NoUnlabeledRowsWarning
from hedgeclipper.base.evaluation import placements
from tests.forest.grown import grow, scored

RNG = np.random.default_rng(0)
X, Y = make_classification(500, 6, n_informative=4, flip_y=0.1, random_state=0)
X = X.astype(np.float32)


def pairs(is_positive, scores):
    """For each positive and each negative row: 1 if the positive one is above, 1/2 if they tie."""
    difference = scores[is_positive][:, None] - scores[~is_positive]
    return (np.sign(difference) + 1) / 2


def noisy_scores(n_rows=80):
    is_positive = RNG.random(n_rows) < 0.4
    # with ties
    scores = [(is_positive + RNG.normal(size=n_rows)).round(1) for _ in range(2)]
    return is_positive, *scores


def test_the_difference_is_that_of_two_areas_and_its_variance_that_of_delong():
    is_positive, scores, others = noisy_scores()
    gain, variance = auc_difference(is_positive, scores, others)
    theirs = roc_auc_score(is_positive, scores) - roc_auc_score(is_positive, others)
    assert gain == pytest.approx(theirs)
    table = pairs(is_positive, scores) - pairs(is_positive, others)
    n_positive, n_negative = table.shape
    delong = table.mean(axis=1).var(ddof=1) / n_positive
    delong += table.mean(axis=0).var(ddof=1) / n_negative
    assert variance == pytest.approx(delong)


def test_placements_are_means_of_pairs():
    is_positive, scores, _ = noisy_scores()
    below, above = placements(is_positive, scores)
    table = pairs(is_positive, scores)
    np.testing.assert_allclose(below, table.mean(axis=1))
    np.testing.assert_allclose(above, table.mean(axis=0))


def test_the_variance_is_that_of_repeated_draws():
    found = [auc_difference(*noisy_scores(200)) for _ in range(400)]
    gains, variances = np.array(found).T
    assert np.sqrt(np.mean(variances)) == pytest.approx(gains.std(), rel=0.15)


def groups_of(y, games, seed_rows=200):
    grown = grow(RandomForestClassifier(30, min_samples_leaf=3), X[:seed_rows], y[:seed_rows])
    return scored(grown, y[:seed_rows], games=games)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_model_gains_nothing_over_itself(n_classes):
    y = Y if n_classes == 2 else Y + (X[:, 0] > 0.5)
    groups = groups_of(y, [1] if n_classes == 2 else [0, 1, 2])
    found = unlabeled_gain(groups, groups)
    assert (found.auc, found.auc_error, found.log_loss, found.log_loss_error) == (0, 0, 0, 0)


def test_both_measures_are_those_of_the_out_of_bag_predictions():
    good = groups_of(Y, [1])
    bad = type(good)(**{**vars(good), "out_of_bag": 0.5 + 0.3 * (good.out_of_bag - 0.5) + NOISE})
    found = unlabeled_gain(good, bad)
    ours, theirs = (out_of_bag_log_odds(groups)[:, 0] for groups in (good, bad))
    known = ~np.isnan(ours)
    areas = [roc_auc_score(Y[:200][known], own[known]) for own in (ours, theirs)]
    losses = [log_loss(Y[:200][known], expit(own[known])) for own in (ours, theirs)]
    assert found.auc == pytest.approx(areas[0] - areas[1])
    assert found.log_loss == pytest.approx(losses[0] - losses[1], abs=1e-6)
    assert found.auc > 0
    assert found.log_loss < 0


NOISE = 0.1 * RNG.normal(size=(200, 1, 1))


def fitted(rows=X, y=Y, n_labeled=200, **parameters):
    model = HedgeClipperClassifier(n_estimators=60, random_state=0, **parameters)
    return model.fit(rows[:n_labeled], y[:n_labeled], X_unlabeled=rows[n_labeled:])


def test_without_views_there_is_nothing_to_compare():
    with pytest.raises(AttributeError, match="about views, and this forest has none"):
        fitted(views=None).unlabeled_gain_


def test_a_class_of_one_label_tells_nothing():
    """Its game is left out; if there is no other, it says so."""
    y = Y[:200].copy()
    y[y == 1] = 0
    y[:3] = 1, 1, 2
    groups = groups_of(y, [0, 1, 2])
    found = unlabeled_gain(groups, groups)
    assert found.auc == 0
    y[1] = 0
    y[2] = 0
    alone = groups_of(y, [1])
    found = unlabeled_gain(alone, alone)
    assert np.isnan(found.auc)
    assert not found.is_significant
    assert found.describe() == "unlabeled rows: too few labels to measure what they bring"


@pytest.mark.filterwarnings("ignore::hedgeclipper.NoUnlabeledRowsWarning")
def test_without_unlabeled_rows_they_bring_nothing():
    with pytest.warns(NoUnlabeledRowsWarning):
        model = HedgeClipperClassifier(n_estimators=60, random_state=0).fit(X[:200], Y[:200])
    assert model.unlabeled_gain_.auc == 0


class NeedsManyRows(TransformerMixin, BaseEstimator):
    """The mean of all columns, or the first one alone if it is fitted to too few rows."""

    def fit(self, X, y=None):
        self.has_enough_ = X.shape[0] > 1000
        return self

    def transform(self, X):
        return X.mean(axis=1, keepdims=True) if self.has_enough_ else X[:, :1]


def test_the_control_learns_its_views_from_the_labeled_rows_alone():
    """Sixty columns of noise with a common factor, which their mean shows."""
    rng = np.random.default_rng(1)
    factor = rng.normal(size=3000)
    rows = (rng.normal(size=(3000, 60)) + 0.2 * factor[:, None]).astype(np.float32)
    y = (factor > 0).astype(int)
    found = fitted(rows, y, views=NeedsManyRows()).unlabeled_gain_
    assert found.is_significant
    assert found.log_loss < 0
    assert found.describe().startswith("unlabeled rows: +0.")
    few = fitted(rows[:900], y[:900], views=NeedsManyRows()).unlabeled_gain_
    assert (few.auc, few.log_loss) == (0, 0)


def test_it_is_measured_once_and_anew_after_another_fit():
    model = fitted()
    first = model.unlabeled_gain_
    assert model.unlabeled_gain_ is first
    model.fit(X[:100], Y[:100], X_unlabeled=X[100:])
    assert model.unlabeled_gain_ != first


def test_a_gain_of_two_standard_errors_is_significant():
    assert UnlabeledGain(0.021, 0.01, 0.0, 0.0).is_significant
    assert not UnlabeledGain(0.019, 0.01, 0.0, 0.0).is_significant
    assert not UnlabeledGain(-0.1, 0.01, 0.0, 0.0).is_significant
