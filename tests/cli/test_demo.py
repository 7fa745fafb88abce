import pytest

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.cli import demo
from hedgeclipper.cli.app import Demo
from hedgeclipper.cli.output import Output
from hedgeclipper.datasets import load_adult


def small(estimators=(("trees", "default"), ("linear", "default")), **options):
    """A few trees and one more voter in place of the default ones, for speed."""
    return HedgeClipperClassifier(estimators, n_estimators=12, **options)


def test_demo_prints_scores_the_error_and_writes_a_report(tmp_path, capsys, monkeypatch):
    pytest.importorskip("jinja2")
    X, y = load_adult(return_X_y=True)
    monkeypatch.setattr(demo, "load_adult", lambda return_X_y: (X[:2000], y[:2000]))
    monkeypatch.setattr(demo, "HedgeClipperClassifier", small)
    monkeypatch.setattr(demo, "MANY", 1000)
    demo.compare_methods(Demo(), Output(), tmp_path)
    out = capsys.readouterr().out
    for text in ("random forest", "HedgeClipper", "trees alone", "AUC", "an estimate"):
        assert text in out
    assert "guaranteed with 95% confidence" in out
    (report,) = tmp_path.iterdir()
    assert str(report) in out
