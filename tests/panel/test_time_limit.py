"""A time limit, with a clock that only slow members move."""

from types import SimpleNamespace

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

from hedgeclipper import HedgedVotingClassifier, MemberFailedWarning, TimeLimitWarning
from hedgeclipper.base.inspection import inspect_estimator
from hedgeclipper.panel.time_limit import FOR_FITS, LEAST_ROWS

X, Y = make_classification(3000, 4, n_informative=3, n_redundant=0, random_state=0)
N_LABELED, N_UNLABELED = 60, 2 * LEAST_ROWS
ROWS = X[:N_LABELED], Y[:N_LABELED]
UNLABELED = X[N_LABELED:][:N_UNLABELED]
N_FITS = 3  # two folds, and all labels
CLOCK = SimpleNamespace(now=0.0, fits=[], scored=[])


class Slow(GaussianNB):
    """Stands in for a model that takes seconds to fit, or for each row that it predicts."""

    def __init__(self, name="slow", to_fit=0.0, per_row=0.0, fails=False):
        super().__init__()
        self.name = name
        self.to_fit = to_fit
        self.per_row = per_row
        self.fails = fails

    def fit(self, X, y):
        CLOCK.now += self.to_fit
        CLOCK.fits.append(self.name)
        if self.fails:
            raise RuntimeError("out of order")
        return super().fit(X, y)

    def predict_proba(self, X):
        CLOCK.now += self.per_row * X.shape[0]
        CLOCK.scored.append(X.shape[0])
        return super().predict_proba(X)


@pytest.fixture(autouse=True)
def _clock(monkeypatch):
    CLOCK.now, CLOCK.fits, CLOCK.scored = 0.0, [], []
    clock = SimpleNamespace(perf_counter=lambda: CLOCK.now)
    for module in ("time_limit", "members"):
        monkeypatch.setattr(f"hedgeclipper.panel.{module}.time", clock)


def panel(members, **options):
    return HedgedVotingClassifier(members, cv=2, random_state=0, **options)


def named(**to_fit):
    return [(name, Slow(name, seconds)) for name, seconds in to_fit.items()]


def fit(model):
    return model.fit(*ROWS, X_unlabeled=UNLABELED)


def test_members_are_fitted_in_their_order_while_there_is_time():
    model = panel(named(a=3.0, b=1.0, c=1.0, d=1.0), time_limit=4.0 * N_FITS / FOR_FITS + 0.1)
    with pytest.warns(TimeLimitWarning, match=r"left out 2 of 4 members \(c, d\)"):
        fit(model)
    assert model.member_names_.tolist() == ["a", "b"]
    assert model.left_out_ == ["c", "d"]
    assert CLOCK.fits == ["a"] * N_FITS + ["b"] * N_FITS + ["c"]


def test_a_member_that_will_not_end_in_time_is_given_up_after_its_first_fit():
    model = panel(named(quick=1.0, slow=10.0, last=1.0), time_limit=25.0 / FOR_FITS)
    with pytest.warns(TimeLimitWarning, match=r"1 of 3 members \(slow\)"):
        fit(model)
    assert CLOCK.fits.count("slow") == 1
    assert model.member_names_.tolist() == ["quick", "last"]


def test_one_member_is_fitted_in_any_case():
    members = [("bad", Slow("bad", 5.0, fails=True)), *named(slow=10.0, more=1.0)]
    with pytest.warns(MemberFailedWarning, match="bad"), pytest.warns(TimeLimitWarning):
        model = fit(panel(members, time_limit=1.0))
    assert model.member_names_.tolist() == ["slow"]
    assert model.left_out_ == ["more"]


def test_the_summary_says_what_is_left_out():
    with pytest.warns(TimeLimitWarning):
        model = fit(panel(named(a=1.0, b=1.0), time_limit=1.0))
    assert ("left out", "b, by the time limit") in inspect_estimator(model, "A test").remarks
    assert "b, by the time limit" in model._repr_html_()


def test_seconds_of_members():
    members = [("a", Slow("a", 1.0)), ("b", Slow("b", 2.0, per_row=0.01)), ("c", GaussianNB())]
    summary = fit(panel(members)).member_summary().set_index("member")
    n_scored = N_LABELED + N_LABELED + N_UNLABELED  # out of fold, once more, and the unlabeled rows
    assert summary.seconds.to_dict() == pytest.approx(
        {"a": N_FITS, "b": 2.0 * N_FITS + 0.01 * n_scored, "c": 0.0}
    )


def test_a_limit_that_is_not_reached_changes_nothing():
    members = [("slow", Slow()), ("linear", LinearDiscriminantAnalysis())]
    ours, theirs = (fit(panel(members, time_limit=limit)) for limit in (1e9, None))
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    np.testing.assert_array_equal(ours.transduction_, theirs.transduction_)


@pytest.mark.parametrize("confidence_level", [None, 0.9])
def test_slow_members_score_a_sample_of_the_rows(confidence_level):
    members = [("slow", Slow(per_row=1.0)), ("linear", LinearDiscriminantAnalysis())]
    options = {"time_limit": 1.3 * N_UNLABELED, "confidence_level": confidence_level}
    with pytest.warns(TimeLimitWarning, match=r"drew 1,\d\d\d of 2,000 unlabeled rows"):
        model = fit(panel(members, **options))
    assert LEAST_ROWS < model.n_unlabeled_ < N_UNLABELED
    assert options["time_limit"] - 3 < CLOCK.now <= options["time_limit"]
    assert model.certificate_.n_unlabeled == model.n_unlabeled_
    assert "unlabeled rows that were drawn" in model.certificate_.describe()
    if confidence_level:
        assert model.certificate_.n_tested == N_LABELED // 2
    with pytest.raises(AttributeError, match="time_limit"):
        _ = model.transduction_
    assert model.predict(X[:5]).shape == (5,)


def test_there_is_always_a_sample():
    with pytest.warns(TimeLimitWarning, match="drew 1,000 of 2,000"):
        model = fit(panel([("slow", Slow(per_row=1.0))], time_limit=1.0))
    assert model.n_unlabeled_ == LEAST_ROWS
    assert max(CLOCK.scored) == LEAST_ROWS


@pytest.mark.parametrize("time_limit", [0, -1.0, "soon"])
def test_a_limit_is_a_positive_number(time_limit):
    with pytest.raises(ValueError, match="'time_limit' parameter"):
        fit(panel(named(a=1.0), time_limit=time_limit))


def test_two_jobs(monkeypatch):
    ticks = iter(range(1000))
    clock = SimpleNamespace(perf_counter=lambda: float(next(ticks)))
    monkeypatch.setattr("hedgeclipper.panel.time_limit.time", clock)
    members = [(name, LinearDiscriminantAnalysis()) for name in "abcd"]
    left_out = pytest.warns(TimeLimitWarning, match=r"left out 3 of 4 members \(b, c, d\)")
    with left_out, parallel_config("threading"):
        model = fit(panel(members, time_limit=1.0, n_jobs=2))
    assert model.member_names_.tolist() == ["a"]
