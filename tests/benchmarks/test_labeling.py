import numpy as np
from sklearn.naive_bayes import GaussianNB

from benchmarks.labeling import PAGE, Fits, run_loop, run_random, sections
from benchmarks.pages import with_section
from tests.labeling.conftest import make_rows


def test_the_committed_page_is_what_the_committed_results_say():
    page = PAGE.read_text(encoding="utf-8")
    for name, text in sections().items():
        assert with_section(page, name, text) == page


def test_fits_are_shared_and_all_methods_finish_the_file():
    X, names = make_rows(500)
    y, fits = (names == "yes").astype(int), Fits()
    n_by_hand, n_test, labels = run_random(X, y, GaussianNB(), 0.1, 0, fits)
    assert np.mean(labels != y) <= 0.1
    assert 0 < n_test < n_by_hand < 500
    for _ in range(2):
        loop, labels = run_loop(X, y, GaussianNB(), 0.1, 0, 1, fits)
        n_fits = len(fits.known)
        assert np.mean(labels != y) <= 0.1
    run_loop(X, y, GaussianNB(), 0.1, 0, 1, fits)
    assert len(fits.known) == n_fits
    assert loop.n_attempts == 1
