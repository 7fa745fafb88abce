"""Frames for members that were named: these may pick columns by name, as in scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgeclipper.io.extras import import_extra


@dataclass(frozen=True)
class NamedColumns:
    """Makes frames of rows without names, those of files for instance; others stay as they are."""

    names: Sequence[Any]

    def __call__(self, X: Any) -> Any:
        """Return the rows with names."""
        if not isinstance(X, np.ndarray):
            return X
        return import_extra("pandas", "io", "A frame").DataFrame(X, columns=self.names)
