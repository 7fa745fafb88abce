"""What the benchmark of files writes on docs/large_data.md, from made-up numbers."""

import pytest

pytest.importorskip("pyarrow")

from benchmarks import out_of_core


def runs(millions):
    """Return one run of each kind, as `out_of_core.main` would find it."""
    fit = {"growing": 1.0, "slack": -0.25}
    files = {
        ("trees, from files", n): [{"seconds": 1.0 + n, "bytes": 1e8 + n, **fit}] for n in millions
    }
    peer = {("predict_proba", out_of_core.peer_of(millions)): [{"seconds": 4.0}]}
    return files | peer


@pytest.mark.parametrize(
    ("millions", "peer"), [((1, 5, 20), 5), ((1, 20), 1), ((3, 4), 4), ((20,), 20)]
)
def test_the_forest_itself_is_timed_on_rows_that_are_run(millions, peer):
    assert out_of_core.peer_of(millions) == peer
    text = out_of_core.render(runs(millions), peer)
    assert f"`predict_proba`, {peer} million rows: {(1 + peer) / 4:.2f}" in text


def test_growth_is_that_of_fits_from_files():
    found = runs((1, 5, 20))
    found["trees, from files", 20][0].update(bytes=2e8, seconds=61.0)
    text = out_of_core.render(found, 5)
    assert "trees, memory from files, largest over smallest: 2.000" in text
    assert "trees, time a row from files, largest over smallest: 3.000" in text
