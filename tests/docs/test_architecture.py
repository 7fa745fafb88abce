"""Pages for developers name files, modules, classes and functions that exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "hedgeclipper"
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
MODULES = re.findall(r"[\w/]+\.py\b", TEXT)
NAMES = re.findall(r"`([a-z]\w*)\.(\w+(?:\.\w+)?)(?:\(\))?`", TEXT)


FILES = {
    name
    for page in ("ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md")
    for name in re.findall(r"\b(?:docs|tests|tools)/[\w/]+\.\w+", (ROOT / page).read_text("utf-8"))
}


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_named_file_exists(name):
    assert (ROOT / name).is_file()


@cache
def defined(stem):
    """Return what the modules of this name define: functions, classes, and their methods."""
    found = set()
    for path in SOURCES.rglob(f"{stem}.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.add(node.name)
                inner = node.body if isinstance(node, ast.ClassDef) else []
                found |= {f"{node.name}.{own.name}" for own in inner if hasattr(own, "name")}
    return found


@pytest.mark.parametrize("module", sorted(set(MODULES)))
def test_a_named_module_exists(module):
    folder, _, name = module.rpartition("/")
    assert any(path.as_posix().endswith(f"{folder}/{name}") for path in SOURCES.rglob(name))


@pytest.mark.parametrize(
    ("module", "name"), sorted({pair for pair in NAMES if pair[1] not in ("py", "toml")})
)
def test_a_named_function_or_class_exists(module, name):
    assert name in defined(module)


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`([A-Z]\w*\.\w+)`", TEXT))))
def test_a_named_method_exists(name):
    assert any(name in defined(path.stem) for path in SOURCES.rglob("*.py"))


@pytest.mark.parametrize("folder", sorted({*re.findall(r"^  (\w+)/", TEXT, re.MULTILINE)}))
def test_a_named_folder_exists(folder):
    assert (SOURCES / folder).is_dir()
