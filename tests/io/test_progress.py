import pytest

from hedgeclipper.io import progress
from hedgeclipper.io.progress import row_reporter


@pytest.mark.parametrize(("n_all", "percent"), [(20, "  100%"), (None, "")])
def test_a_line_comes_now_and_then_and_at_the_end(monkeypatch, capsys, n_all, percent):
    with row_reporter(1, "scoring rows", n_all) as report:
        report(10)
        assert capsys.readouterr().err == ""
        report(20)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("scoring rows  20 rows  ")
    assert line.endswith(f" s{percent}")
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", -1.0)
    with row_reporter(1, "fitting members", n_all, "fits") as report:
        report(20)
        assert "fitting members  20 fits" in capsys.readouterr().err
    assert capsys.readouterr().err == ""


def test_nothing_is_shown_unless_verbose(capsys):
    with row_reporter(0, "scoring rows", 20) as report:
        report(20)
    assert capsys.readouterr().err == ""
