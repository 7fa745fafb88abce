"""Methods that run in an environment of their own: a folder goes there with arrays, and back.

Both sides import this file, so it needs no more than NumPy and pandas.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Environment:
    """An environment below the root, or the interpreter that a variable names; else this one."""

    name: str
    folder: str = ""
    variable: str = ""

    @property
    def python(self) -> Path:
        """Return the path of its interpreter, which may be absent."""
        if not self.folder:
            return Path(sys.executable)
        return Path(os.environ.get(self.variable, ROOT / self.folder / "bin" / "python"))

    def why_absent(self) -> str:
        """Return how to build it if it is absent, or nothing."""
        if self.python.is_file():
            return ""
        return (
            f"The environment of {self.name} is absent: `make {self.folder}/.ready` builds it, or "
            f"{self.variable} names its interpreter."
        )

    def run(
        self, module: str, /, *, n_jobs: int = -1, timeout: float | None = None, **task: Any
    ) -> Any:
        """Return what a module of ours answers to a task in this environment.

        Parameters
        ----------
        module : str
            Its name; it is given a folder, with `load(folder, "task")` in it.
        n_jobs : int
            Threads that it may use, -1 for all.
        timeout : float or None
            Seconds, after which `subprocess.TimeoutExpired` is raised.
        **task
            Arrays, frames, numbers or strings.

        Returns
        -------
        dict
            What it has saved as "answer".
        """
        if self.why_absent():
            raise FileNotFoundError(self.why_absent())
        variables = dict(os.environ, PYTHONPATH=os.pathsep.join([str(ROOT), str(ROOT / "src")]))
        variables.pop("OMP_NUM_THREADS", None)
        if n_jobs > 0:
            variables["OMP_NUM_THREADS"] = str(n_jobs)
        with tempfile.TemporaryDirectory() as folder:
            save(folder, "task", **task)
            done = subprocess.run(
                [self.python, "-m", module, folder],
                env=variables, cwd=folder, timeout=timeout, capture_output=True, text=True,
            )  # fmt: skip
            if done.returncode:
                raise RuntimeError(f"{module}: exit code {done.returncode}\n{done.stderr[-2000:]}")
            return load(folder, "answer")


def save(folder: str | Path, name: str, /, **values: Any) -> None:
    """Write arrays, frames, numbers and strings."""
    frames = {key: value for key, value in values.items() if isinstance(value, pd.DataFrame)}
    np.savez(Path(folder) / name, **{key: values[key] for key in values.keys() - frames.keys()})
    for key, frame in frames.items():
        frame.to_parquet(Path(folder) / f"{name}-{key}.parquet")


def load(folder: str | Path, name: str) -> dict[str, Any]:
    """Return what was saved under the name."""
    with np.load(Path(folder) / f"{name}.npz", allow_pickle=False) as file:
        values = {key: file[key] if file[key].ndim else file[key].item() for key in file.files}
    paths = Path(folder).glob(f"{name}-*.parquet")
    frames = {path.stem.removeprefix(f"{name}-"): path for path in paths}
    return values | {key: pd.read_parquet(path) for key, path in frames.items()}
