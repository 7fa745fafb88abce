"""What a user is told: warnings at the line that caused them, extras to install, and JSON."""

from __future__ import annotations

import math
import sys
import warnings
from importlib import import_module
from types import ModuleType
from typing import Any

# where warnings do not point to, since they concern the code that called
NOT_THE_USER = ("hedgeclipper", "sklearn", "contextlib")
ROWS_CHANGED = (
    "The rows changed between passes. Pass a source that yields the same rows every time, and "
    "leave files as they are while they are read, several times."
)


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line outside this package and scikit-learn that led here."""
    frame, level = sys._getframe(), 1
    while frame.f_globals.get("__name__", "").split(".")[0] in NOT_THE_USER and frame.f_back:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def import_extra(module: str, extra: str, wanted_by: str) -> ModuleType:
    """Return an optional module, or say which extra of this package brings what needs it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{wanted_by} needs {module}, which is not installed. Install it with "
            f"pip install 'hedgeclipper[{extra}]'."
        ) from error


def counted(n: int, one: str, many: str | None = None) -> str:
    """Return a number of things.

    Examples
    --------
    >>> counted(1, "error"), counted(2000, "error"), counted(0, "pass", "passes")
    ('1 error', '2,000 errors', '0 passes')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def as_json(value: Any) -> Any:
    """Return values as JSON knows them: lists for arrays, fields of objects, None for NaN."""
    if isinstance(value, dict):
        return {str(name): as_json(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(one) for one in value]
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        return as_json(value.tolist())
    if hasattr(value, "__dataclass_fields__"):
        return as_json(vars(value))
    return None if isinstance(value, float) and not math.isfinite(value) else value
