from hedgeclipper.console import pass_printer
from hedgeclipper.game.track import PassRecord


def test_a_line_has_pass_slack_and_gap(capsys):
    pass_printer()(PassRecord(3, -0.25, -0.5), None)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "pass    3  slack -0.250000  gap 2.50e-01" in captured.err
