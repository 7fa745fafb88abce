import numpy as np

from hedgeclipper.labeling.choosing import EXPLORED, MOST_CANDIDATES, choose_rows


def test_most_rows_are_of_the_most_uncertain_ones_and_some_of_all():
    uncertainties = np.random.default_rng(0).random(5000)
    candidates = np.arange(0, 5000, 2)
    most = candidates[np.argsort(-uncertainties[candidates])[:MOST_CANDIDATES]]
    draws = [
        choose_rows(candidates, uncertainties, 20, np.random.default_rng(s)) for s in range(50)
    ]
    assert all(np.unique(rows).size == 20 for rows in draws)
    assert set(draws[0].tolist()) != set(draws[1].tolist())
    drawn = np.concatenate(draws)
    assert np.isin(drawn, candidates).all()
    assert abs(np.mean(~np.isin(drawn, most)) - EXPLORED) < 0.05


def test_fewer_candidates_than_rows():
    assert sorted(choose_rows(np.array([4, 7]), np.ones(9), 5, np.random.default_rng(0))) == [4, 7]
