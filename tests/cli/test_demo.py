import re

import pytest
from sklearn.linear_model import LogisticRegression

from hedgeclipper import HedgedVotingClassifier
from hedgeclipper.cli import demo
from hedgeclipper.datasets import load_adult


def small_panel(**options):
    """A panel of one member in place of the default one, for speed."""
    return HedgedVotingClassifier([("linear", LogisticRegression())], **options)


@pytest.fixture
def small_data(monkeypatch):
    X, y = load_adult(return_X_y=True)
    monkeypatch.setattr(demo, "load_adult", lambda return_X_y: (X[:2000], y[:2000]))
    monkeypatch.setattr(demo, "HedgedVotingClassifier", small_panel)
    monkeypatch.setattr(demo, "N_GUARANTEED", 1000)


def test_demo_prints_aucs_what_is_known_of_errors_and_the_report(small_data, tmp_path, capsys):
    pytest.importorskip("hedgeclipper.inspection.report")
    demo.main(tmp_path)
    out = capsys.readouterr().out
    text = " ".join(out.split())
    assert "Of 2,000 people (Adult data, a1a) 100 have a label." in text
    assert re.search(
        r"1,900 unlabeled rows brought .*: (no measurable gain \()?[+-]0\.\d+ AUC", text
    )
    assert all(name in out for name in ("random forest", "HedgeClipper", "hedged panel"))
    assert "The better ranking need not have the lower error" in out
    estimate = r"error about \d+\.\d% on the 1,900 unlabeled rows, an estimate \(95% interval"
    assert re.search("What the hedged panel knows of its error with 100 labels: " + estimate, text)
    guarantee = r"error at most \d+\.\d% on the 1,000 unlabeled rows, guaranteed with 95%"
    assert re.search("held out for a guarantee: " + guarantee, text)
    assert re.search(r"automatically with at most 5% of them wrong", text)
    assert max(len(line) for line in out.splitlines() if str(tmp_path) not in line) <= 100
    (report,) = tmp_path.iterdir()
    assert str(report) in out.replace("\n", "")
    assert "a1a with 100 labels" in report.read_text(encoding="utf-8")


def test_a_line_has_the_figures_of_predictions():
    X, y = load_adult(return_X_y=True)
    rows = demo.Split(X[:300], y[:300], X[300:2000], y[300:2000])
    model = LogisticRegression().fit(rows.X, rows.y)
    name, _, error, _ = demo._line("random forest", model, rows)
    assert (name, error) == (
        "random forest",
        f"{1 - model.score(rows.X_unlabeled, rows.hidden):.3f}",
    )
