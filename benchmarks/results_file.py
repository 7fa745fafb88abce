"""The results: one CSV line per data set, number of labels, draw and method."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent / "results"
PACKAGES = ("hedgeclipper", "scikit-learn", "lightgbm", "numpy", "scipy", "numba")


class Key(NamedTuple):
    """What is run: a row of the table, a draw of it, and a column."""

    data: str
    n_labels: int
    draw: int
    method: str


@dataclass(frozen=True)
class Result:
    """What came out; NaN where there were more rows than the method can take.

    ``auc_hard`` is the AUC of the predicted classes, as in the paper. ``seconds`` is wall time, one
    process for each core running side by side; those of the mean and of the stacking include their
    members'. ``calibration_error`` is NaN in results that are older than it.
    """

    data: str
    n_labels: int
    draw: int
    method: str
    auc: float
    auc_hard: float
    log_loss: float
    accuracy: float
    n_unlabeled: int
    n_scored: int
    seconds: float
    date: str
    versions: str
    calibration_error: float = float("nan")

    @property
    def key(self) -> Key:
        """Return what was run."""
        return Key(self.data, self.n_labels, self.draw, self.method)


@cache
def versions(names: tuple[str, ...] = PACKAGES) -> str:
    """Return the versions that a result depends on, of those packages that are there."""
    return "; ".join([f"python {python_version()}", *filter(None, map(_version, names))])


def _version(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return ""


def today() -> str:
    """Return the date."""
    return datetime.now(UTC).date().isoformat()


def read_results(path: Path, kind: type = Result) -> list[Any]:
    """Return the results in the file, lines of that kind; none where it is absent."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [kind(**_typed(line, kind)) for line in csv.DictReader(file)]


def write_results(path: Path, results: Iterable[Any], kind: type = Result) -> None:
    """Write results in a fixed order, under a temporary name that then replaces the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".partial")
    with temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(kind)])
        writer.writeheader()
        writer.writerows(asdict(result) for result in sorted(results, key=lambda r: r.key))
    os.replace(temporary, path)


def _typed(line: dict[str, str], kind: type) -> dict:
    casts = {"int": int, "float": float, "str": str}
    known = [field for field in fields(kind) if field.name in line]
    return {field.name: casts[str(field.type)](line[field.name]) for field in known}
