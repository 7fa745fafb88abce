"""The documentation is whole: names, pages, code that runs, drawings."""

import ast
import re
from pathlib import Path

import pytest

import hedgeclipper
from benchmarks import drawings
from hedgeclipper import datasets

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *DOCS.glob("*.rst")])
WITH_CODE = [ROOT / "README.md", *DOCS.glob("*.md")]
LINE = 90


def text_of(path):
    return path.read_text(encoding="utf-8")


def documented(module):
    """Return the names that the API reference lists below a ``currentmodule``."""
    parts = re.split(r"currentmodule:: (\S+)\n", text_of(DOCS / "api.rst"))
    blocks = dict(zip(parts[1::2], parts[2::2], strict=True))
    return re.findall(r"^   (\w+)$", blocks[module], flags=re.MULTILINE)


@pytest.mark.parametrize("module", [hedgeclipper, datasets], ids=lambda module: module.__name__)
def test_every_public_name_is_in_the_reference_once(module):
    assert sorted(documented(module.__name__)) == sorted(module.__all__)


def test_every_page_is_in_a_table_of_contents():
    blocks = [
        block
        for page in PAGES
        for block in re.findall(r"```\{toctree\}\n:hidden:\n(.*?)```", text_of(page), re.DOTALL)
    ]
    lines = [line for block in blocks for line in block.splitlines() if line]
    listed = [re.sub(r".*<(.*)>", r"\1", line) for line in lines]  # without their titles
    assert sorted({*listed, "index"}) == sorted({*(p.stem for p in PAGES), "auto_examples/index"})
    assert len(listed) == len(set(listed))


def test_the_configuration_can_be_loaded(monkeypatch):
    pytest.importorskip("sphinx_gallery")
    monkeypatch.chdir(DOCS)
    conf = {}
    exec(compile(text_of(DOCS / "conf.py"), "conf.py", "exec"), conf)
    assert conf["release"] == hedgeclipper.__version__
    assert (DOCS / conf["sphinx_gallery_conf"]["examples_dirs"]).is_dir()
    assert conf["is_foreign"](None, "method", "args", ValueError.args, False, None)
    assert not conf["is_foreign"](None, "method", "fit", hedgeclipper.VoteAggregator.fit, False, 0)


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda path: path.stem)
def test_all_python_on_a_page_is_run(page):
    """Blocks of Python are doctests, which ``make test`` runs, and no line is cut off."""
    for block in re.findall(r"^```python\n(.*?)^```", text_of(page), re.DOTALL | re.MULTILINE):
        assert block.startswith(">>>"), block
        assert block.endswith("\n\n"), f"a doctest ends with an empty line: {block}"
        assert all(len(line) <= LINE for line in block.splitlines()), block


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda path: path.stem)
def test_links_to_files_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text_of(page)):
        if not target.startswith(("http", "auto_examples/")):
            assert (page.parent / target).exists(), target


def test_every_warning_is_in_troubleshooting():
    page = text_of(DOCS / "troubleshooting.md")
    warnings = [name for name in hedgeclipper.__all__ if name.endswith("Warning")]
    assert all(f"### {name}\n" in page for name in [*warnings, "ConvergenceWarning"])


def test_messages_in_troubleshooting_are_those_of_the_code():
    """A quoted message is in the sources, once strings are put together and figures left out."""
    sources = " ".join(
        str(node.value)
        for path in (ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(text_of(path)))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    quoted = re.findall(r"^> (.*)$", text_of(DOCS / "troubleshooting.md"), re.MULTILINE)
    for message in quoted:
        for part in re.split(r": pass .*|'name'", message):
            assert " ".join(part.split()) in " ".join(sources.split()), part


def test_drawings_for_light_and_dark_pages(tmp_path):
    drawings.draw_all(tmp_path)
    names = {f"{name}-{page}.svg" for name in drawings.DRAWINGS for page in drawings.INKS}
    assert {path.name for path in tmp_path.iterdir()} == names
    assert all((DOCS / "figures" / name).exists() for name in names)
    light, dark = (text_of(tmp_path / f"six_by_six-{page}.svg") for page in ("light", "dark"))
    assert drawings.INKS["light"].plus in light
    assert drawings.INKS["dark"].plus in dark
    assert drawings.INKS["light"].plus not in dark
