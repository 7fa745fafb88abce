import numpy as np
import pytest

from benchmarks.bounds_table import (
    RESULTS,
    BoundResult,
    correlation,
    plan,
    resplit,
    tuned_threshold,
)
from benchmarks.pages import with_section
from benchmarks.render_bounds import PAGE, gain, gain_findings, sections
from benchmarks.results_file import read_results, write_results
from hedgeclipper.bounds.checked_rule import CheckedRule


def test_the_committed_page_is_what_the_committed_results_say():
    page = PAGE.read_text(encoding="utf-8")
    for name, text in sections(read_results(RESULTS, BoundResult)).items():
        assert with_section(page, name, text) == page


def test_splits_of_a_rule_that_is_never_wrong_all_hold():
    assert resplit(np.zeros(100, bool), np.zeros(100), 20, seed=0) == (1.0,)


@pytest.mark.parametrize(("most", "threshold"), [(0.0, 0.2), (0.25, 0.4), (0.01, 0.2)])
def test_a_tuned_threshold_has_as_few_errors_among_its_own_labels(most, threshold):
    wrong, doubts = np.array([False, False, True, False]), np.array([0.1, 0.2, 0.3, 0.4])
    rule = CheckedRule(wrong, doubts, np.zeros(9), 9, 0.5)
    assert tuned_threshold(rule, most) == threshold


def fit_with(error, uncorrected, rho, draw=0):
    """Return a fit whose estimate and uncorrected error are off by so much."""
    nothing = [float("nan")] * 2
    return BoundResult(
        "rows", 100, draw, "forest", 0.2, 0.3, 50, 1.0, 0.2, 0.2 + error, *nothing,
        0.2 + uncorrected,
        rho=rho,
    )  # fmt: skip


def test_the_gain_of_an_estimate_is_a_ratio_of_errors_beside_that_of_its_correlation():
    # the uncorrected error of the second group is three times as large, and its doubts say nothing
    groups = [[fit_with(0.008, 0.01, 0.6), fit_with(-0.008, 0.01, 0.6)], [fit_with(0.03, 0.03, 0)]]
    np.testing.assert_allclose(gain(groups), (0.038 / 0.04, (0.8 + 3) / 4))


def test_the_gain_of_an_estimate_needs_the_correlation_of_two_draws():
    fits = [fit_with(0.01, 0.01, float("nan"), 0), fit_with(0.01, 0.01, 0.6, 1)]
    assert gain_findings([fits]) == ""
    text = gain_findings([[*fits, fit_with(0.01, 0.01, 0.6, 2)]])
    assert "1.000 (standard error 0.000)" in text
    assert "0.800" in text


@pytest.mark.parametrize(
    ("doubts", "rho"), [([0.1, 0.1, 0.4, 0.4], 1.0), ([0.4, 0.4, 0.1, 0.1], 0.0), ([0.3] * 4, 0.0)]
)
def test_correlation_of_errors_and_doubts_is_that_of_the_models_that_predicted(doubts, rho):
    wrong = np.array([False, False, True, True])
    rule = CheckedRule(wrong, np.zeros(4), np.zeros(9), 9, 0.5, own_doubts=np.array(doubts))
    assert correlation(rule) == pytest.approx(rho)


def test_first_draws_are_run_before_second_ones():
    draws = [key.draw for key in plan(["panel"])]
    assert draws == sorted(draws)


def test_a_column_that_old_results_lack_has_its_default(tmp_path):
    path = tmp_path / "results.csv"
    write_results(path, [fit_with(0.1, 0.1, 0.5)], BoundResult)
    lines = [line.rsplit(",", 1)[0] for line in path.read_text().splitlines()]
    path.write_text("\n".join(lines))
    (read,) = read_results(path, BoundResult)
    assert np.isnan(read.rho)
    assert read.versions == ""
