import os
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# numba's cache of compiled kernels does not bear several processes that fill it at the same time;
# workers inherit the folder of the process that starts them
CACHES = Path(sys.prefix) / "numba_cache"
if Path(os.environ.get("NUMBA_CACHE_DIR", CACHES / "alone")).parent == CACHES:
    worker = os.environ.get("PYTEST_XDIST_WORKER", "alone")
    os.environ["NUMBA_CACHE_DIR"] = str(CACHES / worker)

for name, max_examples in {"default": 20, "thorough": 500}.items():
    settings.register_profile(
        name,
        max_examples=max_examples,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
settings.load_profile("default")


@pytest.fixture
def rng():
    """A generator of the test's own, other than those that modules draw their rows from."""
    return np.random.default_rng(1)


@pytest.fixture
def command(capsys, tmp_path, monkeypatch):
    """The command line in a folder of its own, with forests of few trees, for speed."""
    from hedgeclipper import HedgeClipperClassifier
    from tests.command_line import Command

    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(HedgeClipperClassifier.__init__.__kwdefaults__, "n_estimators", 12)
    return Command(capsys)


@pytest.fixture
def other_sections(monkeypatch):
    """Reports without pictures, for tests that read their other sections."""
    drawn = "hedgeclipper.report.page.figure"
    monkeypatch.setattr(drawn, lambda label, *_, **__: f"<svg>{label}</svg>")


@pytest.fixture(scope="module")
def browser():
    """A real browser, for modules that are skipped where there is none."""
    from tests.browser import BROWSER, playwright

    with playwright.sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()
