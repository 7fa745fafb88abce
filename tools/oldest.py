"""Make an environment with the lowest versions that pyproject.toml allows.

    python tools/oldest.py FOLDER

All extras but ``docs`` are installed, exactly at their lower bounds. An environment that already
has these versions is left as it is. The package itself is not installed.
"""

from __future__ import annotations

import platform
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
EXTRA = "dev"


def requirements(project: dict, extra: str) -> Iterator[Requirement]:
    """Yield the requirements of the package and of an extra, with the extras that it names."""
    yield from map(Requirement, project["dependencies"])
    waiting, seen = [extra], set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for requirement in map(Requirement, project["optional-dependencies"][name]):
            if requirement.name == project["name"]:
                waiting.extend(requirement.extras)
            else:
                yield requirement


def pinned(requirement: Requirement) -> str:
    """Return the requirement of the lowest version alone."""
    bounds = [part.version for part in requirement.specifier if part.operator == ">="]
    if len(bounds) != 1:
        raise SystemExit(f"A requirement must have one lower bound. Got {str(requirement)!r}.")
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    marker = f"; {requirement.marker}" if requirement.marker else ""
    return f"{requirement.name}{extras}=={bounds[0]}{marker}"


def lowest_versions() -> str:
    """Return the lowest versions, one requirement a line, below that of Python."""
    project = tomllib.loads(PYPROJECT.read_text())["project"]
    lines = sorted({pinned(requirement) for requirement in requirements(project, EXTRA)})
    return "\n".join([f"# Python {platform.python_version()}", *lines, ""])


def main(folder: str) -> None:
    """Build the environment, unless it is there."""
    environment, wanted = Path(folder), lowest_versions()
    installed = environment / "lowest_versions.txt"
    if installed.exists() and installed.read_text() == wanted:
        return
    venv.create(environment, clear=True, with_pip=True)
    asked = environment / "requirements.txt"
    asked.write_text(wanted)
    pip = [environment / "bin" / "python", "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "--upgrade", "pip"], check=True)
    subprocess.run([*pip, "--requirement", asked], check=True)
    asked.rename(installed)


if __name__ == "__main__":
    main(*sys.argv[1:])
