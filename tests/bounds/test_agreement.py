import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from hedgeclipper.bounds.agreement import cohen_kappa, settle_labels


def test_kappa_is_that_of_scikit_learn():
    one, other = np.random.default_rng(0).integers(3, size=(2, 50))
    assert cohen_kappa(one, other) == pytest.approx(cohen_kappa_score(one, other))
    assert np.isnan(cohen_kappa(["a"], ["a"]))
    assert np.isnan(cohen_kappa([], []))


def test_a_third_settles_only_where_two_differ():
    found = settle_labels(
        ["a", "a", "b", None, None], ["a", "b", "a", "b", None], ["b", "c", None, "a", "a"]
    )
    assert found.labels.tolist() == ["a", "c", None, "b", None]
    assert (found.n_both, found.n_agreed, found.n_settled, found.n_open) == (3, 1, 1, 1)
    assert "agree on 1 of 3 rows" in found.describe()
    assert "1 stay open" in found.describe()


def test_nobody_in_common():
    assert settle_labels(["a", None], [None, "b"]).describe().startswith("No row was labeled")


def test_other_rows():
    with pytest.raises(ValueError, match="same rows"):
        settle_labels(["a"], ["a", "b"])
