import numpy as np
import pytest
from joblib import cpu_count
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.voters.classifiers import one_thread
from hedgeclipper.voters.trees import n_workers

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 2)), np.arange(60) % 2


def widest_pool():
    """Return the number of threads of the largest pool of BLAS or OpenMP."""
    return max(pool["num_threads"] for pool in threadpool_info())


class Counts(ClassifierMixin, BaseEstimator):
    """Notes the threads it may use when it is fitted, and puts those of scoring into scores."""

    def __init__(self, n_jobs=None):
        self.n_jobs = n_jobs

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.at_fit_ = (widest_pool(), self.n_jobs)
        return self

    def predict_proba(self, X):
        self.at_scoring_ = (widest_pool(), self.n_jobs)
        return np.full((len(X), 2), 0.5)


@pytest.fixture(autouse=True)
def two_threads():
    """Pools of two threads outside, whatever the machine has."""
    with threadpool_limits(2):
        if widest_pool() < 2:
            pytest.skip("BLAS and OpenMP have one thread each")
        yield


def test_never_more_workers_than_cores():
    assert n_workers(None) == n_workers(1) == 1
    assert n_workers(-1) == n_workers(10_000) == cpu_count()


def test_jobs_of_a_model_are_one_where_it_shares_the_cores_and_as_before_afterwards():
    model = make_pipeline(StandardScaler(), Counts(n_jobs=7))
    with one_thread(model, ThreadpoolController()):
        assert model[-1].n_jobs == 1
    with one_thread(model, None):
        assert model[-1].n_jobs == 7
    with pytest.raises(RuntimeError), one_thread(model, ThreadpoolController()):
        raise RuntimeError
    assert model[-1].n_jobs == 7


def test_none_is_left_where_it_means_one_job():
    linear = make_pipeline(StandardScaler(), LogisticRegression())
    other, many = make_pipeline(StandardScaler(), Counts()), RandomForestClassifier(n_jobs=2)
    pools = ThreadpoolController()
    with one_thread(linear, pools), one_thread(other, pools), one_thread(many, pools):
        assert (linear[-1].n_jobs, other[-1].n_jobs, many.n_jobs) == (None, 1, 1)
    assert (linear[-1].n_jobs, other[-1].n_jobs, many.n_jobs) == (None, None, 2)


@pytest.mark.parametrize("is_fitted", [False, True])
def test_voters_that_run_side_by_side_take_one_thread_each(is_fitted, monkeypatch):
    monkeypatch.setattr("hedgeclipper.voters.classifiers.SECONDS_TO_START", 0.0)
    voters = [("a", Counts(n_jobs=5)), ("b", Counts(n_jobs=5))]
    if is_fitted:
        voters = [(name, FrozenEstimator(model.fit(X, Y))) for name, model in voters]
    model = HedgeClipperClassifier(voters, n_jobs=2).fit(X, Y, X_unlabeled=X)
    model.predict(X)
    own = 1 if n_workers(2) > 1 else 5
    for one in model.estimators_.values():
        one = one.estimator if is_fitted else one
        assert one.at_scoring_ == (1, own)
        assert is_fitted or one.at_fit_ == (1, own)
        assert one.n_jobs == 5


def test_without_jobs_voters_keep_their_own():
    model = HedgeClipperClassifier([("a", Counts(n_jobs=5))])
    model.fit(X, Y, X_unlabeled=X).predict(X)
    assert model.estimators_["a"].at_fit_ == model.estimators_["a"].at_scoring_ == (1, 5)
