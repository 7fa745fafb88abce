"""The same seed gives the same model, and many fits take no more memory than a few."""

import gc
import os
import threading
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from hedgeclipper import HedgeClipperClassifier, VoteAggregator
from tests.stress.tally import Tally, tries

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 4)).astype(np.float32).astype(np.float64)
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
N = 80
ROUNDING = 1e-6  # of float32 beside float64, and of sums in another order


def forest(**options):
    return HedgeClipperClassifier(
        **{"estimators": "trees", "n_estimators": 20, "random_state": 0, **options}
    )


def panel(**options):
    return HedgeClipperClassifier([("linear", LogisticRegression())], random_state=0, **options)


MODELS = {"forest": forest, "panel": panel}
# what is changed: parameters, rows given to fit (the labeled, the unlabeled), and the tolerance
CHANGES = {
    "nothing": ({}, lambda X: (X[:N], X[N:]), 0.0),
    "n_jobs": ({"n_jobs": 2}, lambda X: (X[:N], X[N:]), 0.0),
    "Fortran order": ({}, lambda X: tuple(map(np.asfortranarray, (X[:N], X[N:]))), ROUNDING),
    "strides": ({}, lambda X: (np.repeat(X[:N], 2, axis=0)[::2], X[N:]), 0.0),
    "frame": ({}, lambda X: (pd.DataFrame(X[:N]), pd.DataFrame(X[N:])), ROUNDING),
    "batches": ({}, lambda X: (X[:N], np.array_split(X[N:], 7)), ROUNDING),
    "other batches": ({}, lambda X: (X[:N], [X[N:300], X[300:]]), ROUNDING),
    "float32": ({}, lambda X: (X[:N].astype(np.float32), X[N:].astype(np.float32)), ROUNDING),
    "order of rows": ({}, lambda X: (X[:N], X[N:][::-1]), 0.02),
    "sparse": ({}, lambda X: (sparse.csr_array(X[:N]), sparse.csr_array(X[N:])), ROUNDING),
}


@cache
def usual_probabilities(kind):
    return MODELS[kind]().fit(X[:N], Y[:N], X_unlabeled=X[N:]).predict_proba(X)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("change", CHANGES)
def test_the_same_seed_gives_the_same_model(kind, change):
    options, rows, tolerance = CHANGES[change]
    expected = usual_probabilities(kind)
    labeled, unlabeled = rows(X)
    with Tally("determinism") as tally, tally.attempt(f"{kind} {change}"):
        other = MODELS[kind](**options).fit(labeled, Y[:N], X_unlabeled=unlabeled)
        names = getattr(other, "feature_names_in_", None)
        new = X if names is None else pd.DataFrame(X, columns=names)
        np.testing.assert_allclose(other.predict_proba(new), expected, atol=tolerance, rtol=0)


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs Linux")
def test_many_fits_take_no_more_than_a_few(rng):
    votes = rng.integers(-1, 2, size=(200, 5))
    gold = np.where(np.arange(200) < 50, votes[:, 0], -1)

    def fit(number):
        if number % 5 == 3:
            VoteAggregator(random_state=0).fit(votes, gold).predict(votes)
            return
        model = panel() if number % 5 == 4 else forest()
        model.fit(X[:N], Y[:N], X_unlabeled=X[N:]).predict(X)

    def used():
        gc.collect()
        return resident_bytes(), len(os.listdir("/proc/self/fd")), threading.active_count()

    with Tally("fits in one process, for leaks") as tally:
        for number in range(tries(5, 15)):
            fit(number)
        before = used()
        for number in range(tries(5, 200)):
            with tally.attempt(f"fit {number}"):
                fit(number)
        after = used()
        assert after[0] - before[0] < 50e6, (before, after)
        assert after[1:] == before[1:], (before, after)
