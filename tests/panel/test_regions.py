import numpy as np
import pytest

from hedgeclipper.panel.regions import with_regions

VOTES = np.array([[0.9, -0.2], [0.3, 0.7], [-0.5, 0.0]])


def test_without_regions_the_votes_are_as_they_were():
    assert with_regions(VOTES, None) is VOTES


@pytest.mark.parametrize(("kind", "n_regions"), [("signs", 2), ("bins", 4)])
def test_each_vote_is_in_one_region_of_its_member(kind, n_regions):
    found = with_regions(VOTES, kind)
    assert found.shape == (3, 2 * (1 + n_regions))
    np.testing.assert_array_equal(found[:, :2], VOTES)
    regions = found[:, 2:].reshape(3, n_regions, 2)
    np.testing.assert_array_equal((~np.isnan(regions)).sum(axis=1), 1)
    np.testing.assert_array_equal(np.nansum(regions, axis=1), VOTES)


def test_signs_are_apart_and_zero_is_negative():
    positive, negative = with_regions(VOTES, "signs")[:, 2:].reshape(3, 2, 2).swapaxes(0, 1)
    np.testing.assert_array_equal(~np.isnan(positive), VOTES > 0)
    np.testing.assert_array_equal(~np.isnan(negative), VOTES <= 0)


def test_sure_votes_are_apart_from_unsure_ones():
    unsure, sure, unsure_not, sure_not = (
        ~np.isnan(part)
        for part in with_regions(VOTES, "bins")[:, 2:].reshape(3, 4, 2).swapaxes(0, 1)
    )
    np.testing.assert_array_equal(sure | sure_not, np.abs(VOTES) >= 0.5)
    np.testing.assert_array_equal(unsure | unsure_not, np.abs(VOTES) < 0.5)
    np.testing.assert_array_equal(sure | unsure, VOTES > 0)
