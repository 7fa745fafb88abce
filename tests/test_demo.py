import numpy as np

from hedgeclipper import demo


def test_demo_prints_the_guarantee_and_the_estimate(capsys):
    demo.main()
    out = capsys.readouterr().out
    assert "31,561 unlabelled rows" in out
    assert "\nestimate: error of the hard vote" in out
    assert "\nguarantee with probability 0.95: error of the hard vote" in out


def test_tree_votes_are_small_signs():
    from sklearn.ensemble import RandomForestClassifier

    X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    votes = demo.tree_votes(RandomForestClassifier(3, random_state=0).fit(X, y), X)
    assert votes.shape == (20, 3)
    assert votes.dtype == np.int8
    assert set(np.unique(votes)) == {-1, 1}
