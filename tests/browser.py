"""Which browser tests use; those of a machine without one are skipped, and say so."""

import os
import shutil

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = os.environ.get("HEDGECLIPPER_CHROMIUM") or next(
    filter(None, map(shutil.which, NAMES)), None
)
needs_browser = pytest.mark.skipif(
    BROWSER is None,
    reason=f"no browser: none of {NAMES} is on the PATH, nor HEDGECLIPPER_CHROMIUM set",
)
