import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from hedgeclipper import VoterFailedWarning
from hedgeclipper.voters.classifiers import LabeledRows, fit_classifiers
from hedgeclipper.voters.tree_groups import fit_trees
from hedgeclipper.voters.voters import fit_voters

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4)).astype(np.float32)
Y = np.digitize(X[:, 0] + 0.3 * RNG.normal(size=300), [-0.5, 0.5])
ROWS = LabeledRows(X[:80], Y[:80], np.arange(3), X[80:])
GAMES = [0, 1, 2]
OWN = [("linear", LogisticRegression()), ("bayes", GaussianNB())]


def fitted(estimators, rows=ROWS, n_jobs=None):
    random_state = np.random.RandomState(0)
    return fit_voters(estimators, rows, GAMES, n_trees=12, random_state=random_state, n_jobs=n_jobs)


def test_trees_come_first_and_others_in_the_order_given():
    found = fitted([OWN[0], ("trees", "default"), OWN[1]])
    assert found.scorer.names == [
        "random forest",
        "extra trees on components",
        "extra trees on columns and components",
        "linear",
        "bayes",
    ]
    assert found.labeled.shape == (80, 5, 3)
    assert found.seconds.shape == (5,)
    np.testing.assert_allclose(found.tree_sizes, [0.5, 0.25, 0.25])
    options = {"n_trees": 12, "random_state": np.random.RandomState(0), "n_jobs": None}
    trees = fit_trees(ROWS, GAMES, **options)
    np.testing.assert_array_equal(found.labeled[:, :3], trees.out_of_bag)
    scores = found.scorer.score(X)
    np.testing.assert_array_equal(scores[:, :3], trees.scorer.score(X))
    bayes = GaussianNB().fit(X[:80], Y[:80])
    np.testing.assert_allclose(scores[:, 4], bayes.predict_proba(X), atol=1e-6)


def test_without_trees_there_are_no_sizes_and_scores_are_out_of_fold():
    found = fitted(OWN)
    assert found.trees is None
    assert found.tree_sizes.size == 0
    seed = np.random.RandomState(0).randint(np.iinfo(np.int32).max)
    theirs = fit_classifiers(OWN, ROWS, seed)
    np.testing.assert_array_equal(
        found.labeled, np.stack([one.out_of_fold for one in theirs], axis=1)
    )


def test_boosting_is_left_out_of_defaults_beside_trees_where_rows_are_wide_and_sparse():
    rng = np.random.default_rng(0)
    words = rng.random((300, 600)) * (rng.random((300, 600)) < 0.02)
    words = sparse.csr_array(words.astype(np.float32))
    rows = LabeledRows(words[:80], Y[:80], np.arange(3), words[80:])
    plan = [(name, "default") for name in ("trees", "linear", "boosting")]
    assert fitted(plan, rows).scorer.names[3:] == ["linear"]
    assert fitted(plan).scorer.names[3:] == ["linear", "boosting"]
    assert fitted(plan[2:], rows).scorer.names == ["boosting"]


def test_many_rows_are_scored_in_parts_and_threads(monkeypatch):
    scorer = fitted([("trees", "default"), *OWN]).scorer
    whole = scorer.score(X)
    monkeypatch.setattr("hedgeclipper.voters.voters.ROWS_PER_SLICE", 37)
    np.testing.assert_allclose(scorer.score(X, 2), whole, rtol=1e-5, atol=1e-6)
    assert scorer.score(X[:0]).shape == (0, 5, 3)


def test_all_failing_is_an_error():
    class Fails(GaussianNB):
        def fit(self, X, y):
            raise RuntimeError("out of order")

    with (
        pytest.warns(VoterFailedWarning, match="'a' has failed .* RuntimeError: out of order"),
        pytest.raises(ValueError, match="No voter could be fitted"),
    ):
        fitted([("a", Fails())])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_one_who_cannot_score_new_rows_is_named():
    scorer = fitted(OWN).scorer
    scorer.classifiers["bayes"].theta_[:] = np.nan
    with pytest.raises(ValueError, match=r"Voter 'bayes' cannot score these rows: .*finite"):
        scorer.score(X)
