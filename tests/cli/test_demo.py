import numpy as np
import pytest

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.cli import demo
from hedgeclipper.cli.app import Demo
from hedgeclipper.cli.output import Output
from hedgeclipper.datasets import load_adult


def small(**options):
    """A few trees and one more voter in place of the default ones, for speed."""
    return HedgeClipperClassifier(
        [("trees", "default"), ("linear", "default")], n_estimators=12, **options
    )


def test_demo_finishes_a_file_keeps_its_promise_labels_in_a_loop_and_writes_a_report(
    tmp_path, capsys, monkeypatch
):
    pytest.importorskip("jinja2")
    frame, (X, y) = load_adult(as_frame=True), load_adult(return_X_y=True)
    frame.frame = frame.frame[:3000]
    monkeypatch.setattr(
        demo, "load_adult", lambda as_frame=False, return_X_y=False: frame if as_frame else (X, y)
    )
    monkeypatch.setattr(demo, "HedgeClipperClassifier", small)
    for name, value in {"N_LABELS": 500, "N_LOOP": 400, "N_DRAWS": 1, "N_SPLITS": 20}.items():
        monkeypatch.setattr(demo, name, value)
    demo.show_all(Demo(), Output(), tmp_path)
    out = " ".join(capsys.readouterr().out.split())
    assert out.count("guaranteed with 95% confidence") == 2
    assert "In fact" in out
    assert "logistic regression" in out
    (report,) = tmp_path.iterdir()
    assert report.name in out


def test_a_tuned_threshold_breaks_promises_that_the_exact_test_keeps(monkeypatch):
    """Uncertainties are the true probabilities of errors, so both have the best possible order."""
    monkeypatch.setattr(demo, "N_SPLITS", 60)
    rng = np.random.default_rng(0)
    uncertainties = 0.5 * rng.beta(0.4, 1.5, 5_000)
    wrong = rng.random(5_000) < uncertainties

    class Rule:
        pass

    rule = Rule()
    rule.wrong, rule.uncertainties = wrong[:300], uncertainties[:300]
    rule.unlabeled_uncertainties = uncertainties[300:]
    ours, tuned = demo.broken_promises(rule, wrong[300:], 5_300)
    assert ours <= 8
    assert tuned >= 15
