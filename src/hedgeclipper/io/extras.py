"""Optional dependencies, each behind an extra of the package."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def import_extra(module: str, extra: str, wanted_by: str) -> ModuleType:
    """Return an optional module, or say how to install it.

    Parameters
    ----------
    module : str
        Name of the module.
    extra : str
        The extra of this package that brings it.
    wanted_by : str
        What needs it, as the user would call it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{wanted_by} needs {module}, which is not installed. Install it with "
            f"pip install 'hedgeclipper[{extra}]'."
        ) from error
