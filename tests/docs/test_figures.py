"""Every figure on README and pages comes from a results file, an example or a declared setting."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "tools" / "figures.py"
spec = importlib.util.spec_from_file_location("figures", PATH)
figures = importlib.util.module_from_spec(spec)
spec.loader.exec_module(figures)


def test_no_figure_is_without_an_origin(capsys):
    assert figures.main(is_listing=False) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("It has an AUC of 0.931.", ""),
        ("It is wrong in 7.3% of the files.", ""),
        ("It is better by +3 points.", ""),
        ("It takes 20,000 rows.", ""),
        ("| ours | 0.93 of the labels |", ""),
        ("<!-- begin unknown -->\n0.5\n<!-- end unknown -->", ""),
        ("<!-- begin promise -->\n3.2%\n<!-- end promise -->", "benchmarks/results/bounds.csv"),
        ("```python\n>>> 7.3\n7.3\n\n```", "doctest"),
        ("The file has 32,561 people.", "src/hedgeclipper/datasets.py"),
        ("At most 5% are wrong.", "limit"),
        ("Up to 62% are held out.", "src/hedgeclipper/bounds/hold_out.py"),
    ],
)
def test_where_a_figure_comes_from(text, origin):
    assert {found for _, _, found in figures.figures(text)} == {origin}


def test_a_page_is_no_source(monkeypatch):
    monkeypatch.setitem(figures.SETTINGS, "12,345", "docs/index.md")
    with pytest.raises(ValueError, match="A page is no source"):
        figures.check_declarations()
