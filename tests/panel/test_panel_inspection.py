import numpy as np
import pytest

from hedgeclipper.panel.members import Member
from hedgeclipper.panel.panel_inspection import summarize
from hedgeclipper.panel.weighing import Aggregate, PanelScores, PanelSolution, ScoredVotes

RNG = np.random.default_rng(0)
IS_POSITIVE = np.arange(10) % 2 == 0


def summary(votes, weights, seen=None, is_positive=IS_POSITIVE):
    n_members = votes.shape[1]
    seen = np.tile(np.linspace(0, 1, 10)[:, None], n_members) if seen is None else seen
    b = np.linspace(0.1, 0.2, n_members)
    members = [Member(f"m{k}", None, None) for k in range(n_members)]
    scores = PanelScores(seen, is_positive, None, None)
    solution = PanelSolution(np.asarray(weights), b, b / 10, None)
    scored = ScoredVotes(None, is_positive, None, votes, n_members)
    return summarize(members, scores, Aggregate(None, solution, scored))


def test_each_member_has_an_entry_in_each_column():
    found = summary(RNG.normal(size=(50, 3)), [0.1, 0.2, 0.3])
    assert list(found) == [
        "member",
        "weight",
        "correlation",
        "standard_error",
        "auc",
        "agreement",
        "share",
    ]
    assert all(len(column) == 3 for column in found.values())
    assert found["member"] == ["m0", "m1", "m2"]
    assert found["correlation"] == pytest.approx([0.1, 0.15, 0.2])
    assert found["standard_error"] == pytest.approx([0.01, 0.015, 0.02])


def test_shares_are_of_weight_times_spread():
    votes = RNG.normal(size=(50, 2))
    votes /= votes.std(axis=0)
    found = summary(votes * [1, 2], [0.3, -0.3])
    assert found["share"] == pytest.approx([1 / 3, 2 / 3])
    assert summary(votes, [0, 0])["share"] == [0, 0]


def test_agreement_is_with_the_mean_of_the_others():
    first, other = RNG.normal(size=(2, 500))
    votes = np.column_stack([first, first, -first, other])
    found = summary(votes, np.ones(4))["agreement"]
    rest = votes[:, 1:].mean(axis=1)
    assert found[0] == pytest.approx(np.corrcoef(first, rest)[0, 1])
    assert found[2] < -0.5
    assert abs(found[3]) < 0.15
    assert np.isnan(summary(votes[:, :1], [1.0])["agreement"]).all()
    assert summary(np.column_stack([first, np.ones(500)]), np.ones(2))["agreement"] == [0, 0]


def test_area_under_the_curve_is_that_of_the_scores():
    seen = np.where(IS_POSITIVE, 0.9, 0.1)[:, None] * [1, -1, 0]
    assert summary(RNG.normal(size=(5, 3)), np.ones(3), seen)["auc"] == [1, 0, 0.5]
    one_class = summary(RNG.normal(size=(5, 3)), np.ones(3), seen, np.ones(10, dtype=bool))
    assert np.isnan(one_class["auc"]).all()
