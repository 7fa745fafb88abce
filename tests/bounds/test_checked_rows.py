import numpy as np
import pytest

from hedgeclipper.bounds.checked_rows import cohen_kappa, settle_labels


def test_kappa_is_unknown_where_all_labels_are_of_one_class():
    assert np.isnan(cohen_kappa(np.array(["a"]), np.array(["a"])))
    assert np.isnan(cohen_kappa(np.array([]), np.array([])))


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
