"""What rows of files are called, so that one finds them again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class RowNames:
    """Rows of several files, numbered through from 0, by the name of their file and their line.

    Parameters
    ----------
    paths : sequence of Path
        The files.
    n_rows : sequence of int
        How many rows each has.
    first : sequence of int
        What the first row of each is called: 2 below a heading, else 1.
    """

    paths: Sequence[Path]
    n_rows: Sequence[int]
    first: Sequence[int]

    def of(self, numbers: np.ndarray) -> list[str]:
        """Return names like ``rows.csv:97`` of the rows with these numbers."""
        starts = np.cumsum([0, *self.n_rows])
        files = np.searchsorted(starts, numbers, side="right") - 1
        return [
            f"{self.paths[file]}:{number - starts[file] + self.first[file]}"
            for file, number in zip(files.tolist(), numbers.tolist(), strict=True)
        ]
