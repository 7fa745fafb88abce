"""Results as CSV files, and the runner that adds to them what is missing."""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent / "results"
PACKAGES = ("hedgeclipper", "scikit-learn", "lightgbm", "numpy", "scipy", "numba")
SECONDS_BETWEEN_WRITES = 5.0


class Key(NamedTuple):
    """What is run: a row of a table, a draw of it, and a column."""

    data: str
    n_labels: int
    draw: int
    method: str


@dataclass(frozen=True)
class Line:
    """The first fields of a line of a results file: what was run."""

    data: str
    n_labels: int
    draw: int
    method: str

    @property
    def key(self) -> Key:
        """Return what was run."""
        return Key(self.data, self.n_labels, self.draw, self.method)


@dataclass(frozen=True)
class Result(Line):
    """What a method makes of a draw.

    ``auc_hard`` is the AUC of the predicted classes, as in the paper. ``seconds`` is wall time;
    those of the mean and of the stacking include their members'. ``calibration_error`` is NaN in
    results that are older than it.
    """

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


def read_options(
    description: str,
    methods: Iterable[str] = (),
    names: Iterable[str] = (),
    arguments: list[str] | None = None,
) -> argparse.Namespace:
    """Return the options that benchmarks have in common; those not given are None.

    Parameters
    ----------
    description : str
        Its first line is shown as help.
    methods, names : iterable of str
        Methods to choose from, all by default, and names of comparisons, the first one by default.
    arguments : list of str, optional
        Those of the command line by default.
    """
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    if names:
        parser.add_argument("name", nargs="?", choices=[*names], default=next(iter(names)))
    parser.add_argument("--methods", nargs="+", choices=[*methods], default=[*methods])
    parser.add_argument("--draws", type=int, default=None, help="draws of the labels")
    parser.add_argument("--results", type=Path, default=None, help="CSV file of the results")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--again", action="store_true", help="run also what is in the file")
    return parser.parse_args(arguments)


def run_missing(
    keys: Iterable[Any],
    work: Callable[[list[Any]], list[Any]],
    path: Path,
    kind: type = Result,
    *,
    together: Callable[[Any], Hashable] = lambda key: key,
    n_jobs: int = 1,
    again: bool = False,
) -> list[Any]:
    """Return all results of a file, after what is missing has been run and added.

    It may be stopped at any time: what was run is in the file, but for the last seconds.

    Parameters
    ----------
    keys : iterable of tuple
        What there should be.
    work : callable
        From keys that belong together to their results.
    path : Path
        The file.
    kind : type
        What its lines are.
    together : callable
        From a key to what it has in common with others that are run at once.
    n_jobs : int
        Number of processes.
    again : bool
        Whether to run these keys also if they are in the file.
    """
    keys = list(keys)
    forgotten = set(keys) if again else set()
    stored = {one.key: one for one in read_results(path, kind)}
    results = {key: one for key, one in stored.items() if key not in forgotten}
    tasks: dict[Hashable, list[Any]] = {}
    for key in keys:
        if key not in results:
            tasks.setdefault(together(key), []).append(key)
    print(f"{len(tasks)} runs on {n_jobs} processes, results in {path}", flush=True)
    written = started = time.monotonic()
    try:
        for number, new in enumerate(_work_on(list(tasks.values()), work, n_jobs), start=1):
            results |= {one.key: one for one in new}
            if time.monotonic() - written > SECONDS_BETWEEN_WRITES:
                write_results(path, results.values(), kind)
                written = time.monotonic()
                last = ", ".join(map(str, new[-1].key)) if new else ""
                print(f"{number} in {written - started:.0f} s: {last}", flush=True)
    finally:
        if tasks:
            write_results(path, results.values(), kind)
    return list(results.values())


def _work_on(tasks: list[Any], work: Callable[[Any], list[Any]], n_jobs: int) -> Iterator[Any]:
    if n_jobs == 1:
        return map(work, tasks)
    from joblib import Parallel, delayed  # not in all environments that import this file

    workers = Parallel(n_jobs, return_as="generator_unordered", batch_size=1, pre_dispatch=n_jobs)
    return workers(delayed(work)(task) for task in tasks)
