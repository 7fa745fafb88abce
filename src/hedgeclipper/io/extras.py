"""Optional dependencies, each behind an extra of the package."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def import_extra(module: str, extra: str, wanted_by: str) -> ModuleType:
    """Return an optional module, or say which extra of this package brings what needs it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{wanted_by} needs {module}, which is not installed. Install it with "
            f"pip install 'hedgeclipper[{extra}]'."
        ) from error
