import numpy as np
from sklearn.naive_bayes import GaussianNB

from benchmarks.labeling import METHODS, Fits, run_loop
from tests.labeling.conftest import make_rows


def test_fits_are_shared_and_all_methods_finish_the_file():
    X, names = make_rows(500)
    y, fits = (names == "yes").astype(int), Fits()
    for method in METHODS:
        loop, labels = run_loop(X, y, GaussianNB(), 0.1, 0, method, fits)
        assert np.mean(labels != y) <= 0.1
        assert 0 < loop.status().n_labeled < 500
        reasons = {loop.reason(row) for row in np.flatnonzero(loop.result().by_hand).tolist()}
        assert reasons >= {"start", "chosen", "test"}
    n_fits = len(fits.known)
    run_loop(X, y, GaussianNB(), 0.1, 0, method, fits)
    assert len(fits.known) == n_fits
