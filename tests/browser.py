"""Which browser tests use; without one they are skipped, and fail where one is needed."""

import os
import shutil

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = os.environ.get("HEDGECLIPPER_CHROMIUM") or next(
    filter(None, map(shutil.which, NAMES)), None
)
MISSING = f"no browser: none of {NAMES} is on the PATH, nor HEDGECLIPPER_CHROMIUM set"
if BROWSER is None and os.environ.get("HEDGECLIPPER_NEEDS_BROWSER"):
    raise RuntimeError(f"{MISSING}, and HEDGECLIPPER_NEEDS_BROWSER says that there is one.")
needs_browser = pytest.mark.skipif(BROWSER is None, reason=MISSING)
