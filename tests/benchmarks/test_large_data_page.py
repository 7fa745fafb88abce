"""What the benchmarks of files and places write on docs/large_data.md, from made-up numbers."""

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("distributed")

from benchmarks import covtype_everywhere, out_of_core
from benchmarks.covtype_everywhere import Fit
from benchmarks.pages import DOCS, with_section


def runs(millions, seconds_per_million=1.0, n_bytes=1e8):
    """Return one run of each kind, as `out_of_core.main` would find it."""
    peer = out_of_core.peer_of(millions)
    fit = {"growing": 1.0, "slack": -0.25}
    files = {
        ("from files", n): [{"seconds": 1 + n * seconds_per_million, "bytes": n_bytes + n, **fit}]
        for n in millions
    }
    memory = {("in memory", n): found for (_, n), found in files.items() if n <= 5}
    return {**files, **memory, ("predict_proba", peer): [{"seconds": 4.0}]}


def verdicts(text):
    """Return the verdicts by how their aim begins."""
    lines = [line[2:].split(": ", 1) for line in text.splitlines() if line.startswith("- ")]
    return {aim.split(",")[0]: said for said, aim in lines}


@pytest.mark.parametrize(
    ("millions", "peer"), [((1, 5, 20), 5), ((1, 20), 1), ((3, 4), 4), ((20,), 20)]
)
def test_the_forest_itself_is_timed_on_rows_that_are_run(millions, peer):
    assert out_of_core.peer_of(millions) == peer
    text = out_of_core.render(runs(millions), peer)
    assert f"`predict_proba`, {peer} million rows, {(1 + peer) / 4:.2f}" in text


def test_every_aim_has_a_verdict():
    said = verdicts(out_of_core.render(runs((1, 5, 20)), 5))
    assert said == {
        "memory": "Aim met",
        "time a row": "Aim met",
        "files over memory": "Aim met",
        "files over the forest's `predict_proba`": "Aim not met",
    }


def test_missed_aims_are_reported_with_the_figure():
    found = runs((1, 5, 20))
    found["from files", 20][0].update(bytes=2e8, seconds=61.0)
    text = out_of_core.render(found, 5)
    assert "- Aim not met: memory, largest over smallest, 2.000 (aim: under 1.05)." in text
    assert "- Aim not met: time a row, largest over smallest, 3.000 (aim: under 1.15)." in text


def test_one_number_of_rows_says_nothing_of_growth():
    assert next(iter(verdicts(out_of_core.render(runs((5,)), 5)))) == "files over memory"


def test_places_agree_or_not():
    memory = Fit("memory", 0.8004, -0.25, 0.002, 6, 3.0)
    near = Fit("Parquet", 0.8006, -0.2515, 0.001, 6, 4.0)
    far = Fit("two Dask workers", 0.8010, -0.2530, 0.001, 6, 9.0)
    same = {"the same AUC to three digits": "Aim met", "the same slack to the gap": "Aim met"}
    assert verdicts(covtype_everywhere.render([memory, near])) == same
    text = covtype_everywhere.render([memory, near, far])
    assert set(verdicts(text).values()) == {"Aim not met"}
    assert "| two Dask workers | 0.801000 | -0.253000 | 0.001000 | 6 | 9.0 |" in text


@pytest.mark.parametrize("name", ["out-of-core", "covtype"])
def test_the_page_has_a_place_for_each(name):
    page = (DOCS / "large_data.md").read_text(encoding="utf-8")
    assert "some text" in with_section(page, name, "some text")
