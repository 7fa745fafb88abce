"""Bad parameters: what is wrong, what was got, what to do."""

import numpy as np
import pytest

from hedgeclipper import lower_bounds, solve_game

VOTES = np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
B = [0.2, 0.1]


@pytest.mark.parametrize(
    ("b", "message"),
    [
        ([0.2], r"one entry per voter, shape \(2,\). Got shape \(1,\)"),
        ([[0.2, 0.1]], r"Got shape \(1, 2\)"),
        ([0.2, 1.5], r"must lie in \[-1, 1\]. Got 1.5 for voter 1.*2 \* accuracy - 1"),
        ([0.2, np.nan], "NaN for voter 1.*pass -1, which claims nothing"),
        ([0.2, -np.inf], r"must lie in \[-1, 1\]"),
    ],
)
def test_bad_correlations(b, message):
    with pytest.raises(ValueError, match=message):
        solve_game(VOTES, b)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cap", 0.0),
        ("cap", -1.0),
        ("cap", np.nan),
        ("cap", "big"),
        ("tol", 0.0),
        ("tol", -1e-3),
        ("unlabeled_weight", 0.0),
        ("unlabeled_weight", np.inf),
        ("ridge", -1.0),
        ("max_iter", 0),
        ("max_iter", 2.5),
        ("tol", None),
        ("loss", ["log"]),
        ("method", "newton"),
        ("loss", "hinge"),
    ],
)
def test_bad_parameter_is_named(name, value):
    with pytest.raises((ValueError, TypeError), match=f"'{name}' parameter must be"):
        solve_game(VOTES, B, **{name: value})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"widths": [0.1]}, r"widths must be a number or have one entry per voter"),
        ({"widths": -0.1}, "widths must not be negative"),
        ({"widths": np.nan}, "widths must be finite"),
        ({"anchor": [0.1, 0.2, 0.3]}, "anchor must be a number or have one entry per voter"),
        ({"class_balance": 1.2}, r"proportion of \+ among the rows"),
        ({"class_balance": (0.5, -0.1)}, r"proportion of \+ among the rows"),
        ({"abstain_cost": 0.7}, r"abstain_cost must lie in \(0, 0.5\]"),
        ({"class_balance": (0.1, 0.2, 0.3)}, r"proportion of \+ among the rows"),
        ({"class_balance": "x"}, "class_balance must be numbers"),
        ({"anchor": 0.5}, "An anchor acts only with a ridge"),
        ({"widths": "bounds"}, "takes them from LabelCorrelations"),
        ({"loss": "log", "method": "exact"}, "needs a piecewise linear loss"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        solve_game(VOTES, B, **options)


def test_correlations_of_a_label_correlations_object_are_its_lower_bounds():
    known = lower_bounds(VOTES, [1, 1, -1], method="wilson")
    ours, theirs = solve_game(VOTES, known), solve_game(VOTES, known.lower)
    assert ours.slack == theirs.slack


def test_both_bounds_of_a_label_correlations_object():
    known = lower_bounds(VOTES, [1, 1, -1], method="wilson")
    ours = solve_game(VOTES, known, widths="bounds")
    theirs = solve_game(VOTES, known.centers, widths=known.widths)
    assert ours.slack == theirs.slack
    with pytest.raises(ValueError, match="have bounds of their own"):
        solve_game(VOTES, known, widths=known.widths)
