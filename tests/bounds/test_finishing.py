import pytest

from hedgeclipper.bounds.finishing import FileClaim

CLAIM = FileClaim(1000, 600, 50, 0.05, 0.95, "guarantee", False)


def test_corrections_leave_fewer_errors():
    assert CLAIM.after_review(10, 4).errors_left == 46
    assert CLAIM.after_review(580, 4).errors_left == 20
    assert CLAIM.after_review(600, 60).errors_left == 0


def test_an_estimate_is_not_called_a_guarantee():
    found = FileClaim(1000, 600, 50, 0.05, 0.95, "estimate", True)
    for n_open in (0, 5):
        assert "guarantee" not in found.describe(n_open)
        assert "an estimate at 95% confidence" in found.describe(n_open)
    assert "assumes that the labels are a random sample" in CLAIM.describe(0)


@pytest.mark.parametrize("change", [{"kind": "sure"}, {"errors": "many"}, {"recorded": ""}])
def test_a_record_that_was_changed(change):
    with pytest.raises(ValueError, match="cannot be read"):
        FileClaim.from_record({**CLAIM.to_record(), **change})
