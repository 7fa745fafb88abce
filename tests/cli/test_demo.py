import pytest
from sklearn.linear_model import LogisticRegression

from hedgeclipper import HedgedVotingClassifier
from hedgeclipper.cli import demo
from hedgeclipper.cli.output import Output
from hedgeclipper.datasets import load_adult


def small_panel(**options):
    """A panel of one member in place of the default one, for speed."""
    return HedgedVotingClassifier([("linear", LogisticRegression())], **options)


def test_demo_prints_scores_the_error_and_writes_a_report(tmp_path, capsys, monkeypatch):
    pytest.importorskip("jinja2")
    X, y = load_adult(return_X_y=True)
    monkeypatch.setattr(demo, "load_adult", lambda return_X_y: (X[:2000], y[:2000]))
    monkeypatch.setattr(demo, "HedgedVotingClassifier", small_panel)
    monkeypatch.setattr(demo, "MANY", 1000)
    demo.compare_methods(Output(), tmp_path)
    out = capsys.readouterr().out
    for text in ("random forest", "HedgeClipper", "hedged panel", "AUC", "an estimate"):
        assert text in out
    assert "guaranteed with 95% confidence" in out
    (report,) = tmp_path.iterdir()
    assert str(report) in out
