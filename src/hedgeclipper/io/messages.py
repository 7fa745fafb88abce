"""What a user is told: warnings at the line that caused them, and which extra to install."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from types import ModuleType

# where warnings do not point to, since they concern the code that called
NOT_THE_USER = ("hedgeclipper", "sklearn", "contextlib")


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
