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


@pytest.mark.parametrize(
    ("millions", "peer"), [((1, 5, 20), 5), ((1, 20), 1), ((3, 4), 4), ((20,), 20)]
)
def test_the_forest_itself_is_timed_on_rows_that_are_run(millions, peer):
    assert out_of_core.peer_of(millions) == peer
    text = out_of_core.render(runs(millions), peer)
    assert f"`predict_proba`, {peer} million rows: {(1 + peer) / 4:.2f}" in text


def test_growth_is_that_of_fits_from_files():
    found = runs((1, 5, 20))
    found["from files", 20][0].update(bytes=2e8, seconds=61.0)
    assert [text.rsplit(" ", 1)[1] for text in out_of_core.growth(found)] == ["2.000", "3.000"]
    assert out_of_core.growth(runs((5,))) == []


def test_places_differ_by_their_largest_difference():
    memory = Fit("memory", 0.8004, -0.25, 0.002, 6, 3.0)
    far = Fit("two Dask workers", 0.8010, -0.2530, 0.001, 6, 9.0)
    text = covtype_everywhere.render([memory, far])
    assert "| two Dask workers | 0.801000 | -0.253000 | 0.001000 | 6 | 9.0 |" in text
    assert "0.000600" in text
    assert "0.003000" in text


@pytest.mark.parametrize("name", ["out-of-core", "covtype"])
def test_the_page_has_a_place_for_each(name):
    page = (DOCS / "large_data.md").read_text(encoding="utf-8")
    assert "some text" in with_section(page, name, "some text")
