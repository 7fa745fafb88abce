import numpy as np
import pytest

from benchmarks.bounds_table import RESULTS, BoundResult, resplit, tuned_threshold
from benchmarks.pages import with_section
from benchmarks.render_bounds import PAGE, root_mean_square, sections
from benchmarks.results_file import read_results
from hedgeclipper.bounds.tested_predictions import TestedPredictions


def test_the_committed_page_is_what_the_committed_results_say():
    page = PAGE.read_text(encoding="utf-8")
    for name, text in sections(read_results(RESULTS, BoundResult)).items():
        assert with_section(page, name, text) == page


def test_splits_of_a_rule_that_is_never_wrong_all_hold():
    assert resplit(np.zeros(100, bool), np.zeros(100), 20, seed=0) == (1.0,)


@pytest.mark.parametrize(("most", "threshold"), [(0.0, 0.2), (0.25, 0.4), (0.01, 0.2)])
def test_a_tuned_threshold_has_as_few_errors_among_its_own_labels(most, threshold):
    wrong, uncertainties = np.array([False, False, True, False]), np.array([0.1, 0.2, 0.3, 0.4])
    rule = TestedPredictions(wrong, uncertainties, np.zeros(9), 9, 0.5)
    assert tuned_threshold(rule, most) == threshold


def test_errors_of_estimates_are_from_the_truth_of_their_own_fit():
    nothing = [float("nan")] * 2
    fits = [
        BoundResult("rows", 100, draw, "votes", 0.2, 0.3, 50, 1.0, 0.2, 0.2 + off, *nothing, 0.25)
        for draw, off in enumerate((0.03, -0.04))
    ]
    assert root_mean_square(fits, "estimate") == pytest.approx(np.sqrt((9 + 16) / 2) / 100)
    assert root_mean_square(fits, "out_of_sample") == pytest.approx(0.05)
