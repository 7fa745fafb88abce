"""PaperHedgeClipper as a classifier: rows in any form, classes, its guarantee."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.utils.estimator_checks import parametrize_with_checks

from hedgeclipper.paper import ContradictoryCorrelationsWarning, PaperHedgeClipper
from hedgeclipper.paper.classifier import separation

pytestmark = pytest.mark.filterwarnings(
    "ignore::hedgeclipper.paper.ContradictoryCorrelationsWarning"
)

X, Y = make_classification(3000, 8, n_informative=5, flip_y=0.05, random_state=0)
X = X.astype(np.float32)
L, U = slice(0, 300), slice(300, 3000)


def fitted(rows=X, y=Y, **parameters):
    model = PaperHedgeClipper(**{"n_estimators": 20, "random_state": 0, **parameters})
    return model.fit(rows[L], y[L], X_unlabeled=rows[U])


@pytest.mark.filterwarnings("ignore::hedgeclipper.NoUnlabeledRowsWarning")
@pytest.mark.filterwarnings("ignore:.*:FutureWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@parametrize_with_checks(
    [PaperHedgeClipper(n_estimators=12)],
    expected_failed_checks=lambda estimator: {
        "check_classifiers_classes": "labels -1 and 1 without X_unlabeled: -1 is unlabeled"
    },
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_awake_predictions_are_weighted_votes_of_leaves_and_trees():
    """m = sum of h_i sigma_i / c_i over the leaves and trees that a row is awake in."""
    model, rows = fitted(), X[U][:50]
    theta = model.weights_[0] / model.coverage_[0]
    n_leaves = theta.size - 20
    m, first = np.zeros(50), 0
    for number, tree in enumerate(model.forest_.estimators_):
        is_leaf = tree.tree_.children_left < 0
        place = np.cumsum(is_leaf) - 1
        at = tree.apply(rows)
        vote = np.sign(tree.tree_.value[at, 0, 1] - 0.5)
        m += vote * (theta[first + place[at]] + theta[n_leaves + number])
        first += is_leaf.sum()
    np.testing.assert_allclose(model.decision_function(rows), m)
    g = 2 * model.predict_proba(rows)[:, 1] - 1
    np.testing.assert_allclose(g, np.clip(m, -1, 1))
    np.testing.assert_array_equal(model.predict(rows), m > 0)


def test_rows_in_any_form_give_the_same(tmp_path):
    """All but the weights, for which minibatches of files and batches are other ones."""
    frame = pd.DataFrame(X[U], columns=list("abcdefgh"))
    frame.to_parquet(tmp_path / "rows.parquet")
    parts = [X[U][:1000], X[U][1000:]]
    named = pd.DataFrame(X, columns=list("abcdefgh"))
    options = {"n_estimators": 10, "random_state": 0}
    expected = fitted(**options)
    for labeled, unlabeled in [
        (X[L], parts),
        (X[L], sparse.csr_array(X[U])),
        (named[L], tmp_path / "rows.parquet"),
        (named[L], frame[list("hgfedcba")]),
    ]:
        if isinstance(unlabeled, pd.DataFrame):
            unlabeled = unlabeled[list("abcdefgh")]
        model = PaperHedgeClipper(**options).fit(labeled, Y[L], X_unlabeled=unlabeled)
        for name in ("coverage_", "label_correlations_"):
            np.testing.assert_array_equal(getattr(model, name)[0], getattr(expected, name)[0])
        m = model.decision_function(unlabeled if labeled is not X[L] else X[U])
        assert np.corrcoef(m, expected.decision_function(X[U]))[0, 1] > 0.99
        assert model.n_unlabeled_ == 2700


def test_labels_may_be_a_column_of_files_and_those_of_all_rows_are_kept(tmp_path):
    labels = np.where(np.arange(3000) < 300, Y, np.nan)
    rows = pd.DataFrame(X).add_prefix("x")
    rows.assign(label=labels).to_parquet(tmp_path / "rows.parquet")
    options = {"n_estimators": 10, "random_state": 0}
    from_file = PaperHedgeClipper(**options).fit(tmp_path / "rows.parquet", "label")
    in_memory = PaperHedgeClipper(**options).fit(rows, labels)
    expected = in_memory.predict(rows)
    assert np.mean(from_file.predict(rows) == expected) > 0.97
    np.testing.assert_array_equal(in_memory.transduction_, np.r_[Y[L], expected[U]])
    with pytest.raises(AttributeError, match="only where fit had these in memory"):
        _ = from_file.transduction_


def test_many_classes_have_a_game_each():
    y = np.array(["low", "mid", "top"])[np.digitize(X[:, 0], [-0.7, 0.7])]
    model = fitted(y=y)
    assert len(model.weights_) == 3
    scores = model.decision_function(X[U])
    assert scores.shape == (2700, 3)
    np.testing.assert_array_equal(model.predict(X[U]), model.classes_[scores.argmax(axis=1)])
    np.testing.assert_allclose(model.predict_proba(X[U]).sum(axis=1), 1.0)
    assert np.mean(model.predict(X[U]) == y[U]) > 0.7
    assert model.describe().count("against the rest") == 3


def test_a_contradiction_is_said():
    with pytest.warns(ContradictoryCorrelationsWarning, match=r"worst_case_error_ is NaN"):
        model = fitted()
    assert np.isnan(model.worst_case_error_).all()
    assert model.describe().startswith("no bound on the error: the correlations b contradict")


def test_the_papers_guarantee_holds_and_says_what_it_assumes():
    rng, broken, bounds = np.random.default_rng(0), 0, []
    for _ in range(10):
        order = rng.permutation(3000)
        labeled, rest = order[:1000], order[1000:]
        model = PaperHedgeClipper(20, confidence_level=0.9, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # exact lower bounds do not contradict each other
            model.fit(X[labeled], Y[labeled], X_unlabeled=X[rest])
        g = np.clip(model.decision_function(X[rest]), -1, 1)
        broken += np.mean(1 - g * (2 * Y[rest] - 1)) / 2 > model.worst_case_error_[0]
        bounds.append(model.worst_case_error_[0])
    assert broken <= 3, "at most one in ten is expected; four or more have probability 0.013"
    assert max(bounds) < 0.45
    assert "with 90% confidence, if the labeled rows are a simple random" in model.describe()


def test_nothing_to_weigh_is_said():
    y = np.random.default_rng(0).integers(0, 2, 12)
    with pytest.warns(UserWarning, match="no leaf and no tree: all weights are 0"):
        model = PaperHedgeClipper(3, min_leaf_size=6, random_state=1).fit(X[:12], y, X[U])
    assert not model.decision_function(X[U]).any()


def test_alpha_is_chosen_by_the_separation_of_the_classes():
    model = fitted(unlabeled_weight="auto")
    assert model.unlabeled_weight_[0] in (0.3, 1.0, 3.0)
    same = fitted(unlabeled_weight=float(model.unlabeled_weight_[0]))
    # minibatches are other ones, so that the weights differ a little
    assert np.corrcoef(*(m.decision_function(X[U]) for m in (model, same)))[0, 1] > 0.99
    assert separation(np.array([0.0, 2.0, 4.0, 6.0]), np.array([False, False, True, True])) == 4.0


def test_a_larger_alpha_hedges_more():
    clipped = [
        np.mean(np.abs(fitted(unlabeled_weight=alpha).decision_function(X[U])) >= 1)
        for alpha in (0.3, 1.0, 3.0)
    ]
    assert clipped[0] > clipped[1] > clipped[2]


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="X_unlabeled has no rows"):
        PaperHedgeClipper(2).fit(X[L], Y[L], X_unlabeled=[X[:0]])
    with pytest.raises(ValueError, match=r"nothing to weigh.* leave confidence_level out"):
        PaperHedgeClipper(2, confidence_level=0.99).fit(X[:20], Y[:20], X_unlabeled=X[U])
    with pytest.raises(ValueError, match="at least two classes"):
        PaperHedgeClipper(2).fit(X[L], np.zeros(300), X_unlabeled=X[U])
    with pytest.raises(ValueError, match="'b_from' parameter"):
        PaperHedgeClipper(b_from="labels").fit(X[L], Y[L], X_unlabeled=X[U])
