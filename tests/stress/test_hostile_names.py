"""Names with HTML, quotes and script, in a report and in tables: nothing of them is run."""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hedgeclipper import HedgeClipperClassifier, VoteAggregator
from hedgeclipper.cli import main
from tests.browser import needs_browser
from tests.report.test_page_browser import Visit
from tests.stress.tally import Tally, tries

RUN = "document.title='run'"
HOSTILE = [
    f"<script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f'"><svg onload="{RUN}">',
    f"'-{RUN}-'",
    f"javascript:{RUN}",
    f"</title><script>{RUN}</script>",
    f"</style><script>{RUN}</script>",
    "{{ 7 * 7 }} {% raw %}",
    "&lt;script&gt;",
    f"<!-- --><iframe srcdoc='<script>parent.{RUN}</script>'>",
    "a\u202eb\u0000c".replace("\u0000", ""),
    "$(x)$ \\input{/etc/passwd} $x^2$",
]


@pytest.mark.slow
@needs_browser
@pytest.mark.filterwarnings("ignore")
def test_nothing_in_a_name_runs_in_a_report(browser, tmp_path):
    from sklearn.linear_model import LogisticRegression

    from hedgeclipper import write_report

    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    members = [("linear", LogisticRegression()), ("other", LogisticRegression(C=0.1))]
    with Tally("hostile names in a report, in a browser") as tally:
        for number, name in enumerate(HOSTILE[: tries(2, None)]):
            other = HOSTILE[number - 1]
            rows = pd.DataFrame(X, columns=[name, other, f"{name} 2", "plain"])
            y = np.where(X[:, 0] > 0, name, other)
            given = {"X": rows[:40], "y": y[:40], "X_unlabeled": rows[40:]}
            about = {"file": name, name: other}
            names = [f"{name} {k}" for k in range(110)]
            votes = np.where(rng.random((150, 3)) < 0.7, y[:, None], other).astype(object)
            frame = pd.DataFrame(votes, columns=[name, other, "plain"])
            gold = pd.Series(np.where(np.arange(150) < 50, y, None), dtype=object)
            models = {
                "forest": HedgeClipperClassifier("trees", n_estimators=8, random_state=0).fit(
                    **given
                ),
                "panel": HedgeClipperClassifier(members, random_state=0).fit(**given),
                "votes": VoteAggregator(random_state=0).fit(frame, gold),
            }
            for kind, model in models.items():
                with tally.attempt(f"{kind} {name}"):
                    rows_of_fit = {"X_unlabeled": rows[40:], "row_names": names}
                    options = {} if kind == "votes" else rows_of_fit
                    path = write_report(
                        model, tmp_path / f"{number}{kind}.html", about=about, **options
                    )
                    with Visit(browser, path) as visit:
                        assert visit.page.title() != "run"
                        assert visit.page.locator("iframe").count() == 0
                        assert not visit.complaints
                        assert len(visit.asked) == 1  # the page itself, and nothing else


FORMULAS = ["=1+1", "+a1", "-a+2", "@SUM(A1)", "=HYPERLINK(1)", "\t=1"]


def test_labels_that_spreadsheets_take_for_formulas_are_written_as_they_are(tmp_path, monkeypatch):
    """The docs say so: a label that is changed would no longer be that of the class."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    with Tally("labels like formulas in CSV") as tally:
        for formula in FORMULAS:
            votes = pd.DataFrame(
                np.where(rng.random((60, 3)) < 0.8, formula, "no"), columns=["a", "b", "c"]
            )
            votes.insert(0, "item", [f"{formula}{k}" for k in range(60)])
            votes.to_csv("votes.csv", index=False)
            gold = votes[["item"]].assign(label=[formula, "no"] * 30)[:20]
            gold.to_csv("gold.csv", index=False)
            words = ["votes", "votes.csv", "--gold", "gold.csv", "-o", "out.csv", "-q", "-f"]
            with tally.attempt(formula):
                assert main(words) == 0
                with Path("out.csv").open(newline="") as file:
                    rows = list(csv.DictReader(file))
                assert [row["item"].strip() for row in rows] == votes["item"].str.strip().tolist()
                assert {row["label"].strip() for row in rows} <= {formula.strip(), "no"}
