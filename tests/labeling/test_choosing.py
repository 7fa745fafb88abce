import numpy as np

from hedgeclipper.labeling.choosing import LEAST_CANDIDATES, choose_rows


def test_rows_are_of_the_most_uncertain_ones_and_differ_by_seed():
    uncertainties = np.random.default_rng(0).random(5000)
    candidates = np.arange(0, 5000, 2)
    most = candidates[np.argsort(-uncertainties[candidates])[:LEAST_CANDIDATES]]
    draws = [choose_rows(candidates, uncertainties, 20, np.random.default_rng(s)) for s in (0, 1)]
    for rows in draws:
        assert np.unique(rows).size == 20
        assert np.isin(rows, most).all()
    assert set(draws[0].tolist()) != set(draws[1].tolist())


def test_fewer_candidates_than_rows():
    assert sorted(choose_rows(np.array([4, 7]), np.ones(9), 5, np.random.default_rng(0))) == [4, 7]
