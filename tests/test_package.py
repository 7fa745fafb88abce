import subprocess
import sys
from importlib.util import find_spec

import pytest

import hedgeclipper

EXTRAS = [
    "matplotlib",
    "pandas",
    "pyarrow",
    "dask",
    "lightgbm",
    "xgboost",
    "rich",
    "skops",
    "typer",
]


def test_every_public_name_is_there():
    for name in hedgeclipper.__all__:
        assert getattr(hedgeclipper, name).__doc__
        assert name in dir(hedgeclipper)


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        hedgeclipper.nonsense


def test_importing_loads_next_to_nothing_and_all_public_names_no_extra():
    """What scikit-learn imports by itself does not count."""
    assert all(find_spec(name) for name in EXTRAS)
    code = (
        "import sys, hedgeclipper\n"
        "print(*(name for name in ['numba', 'scipy', 'sklearn', 'numpy'] if name in sys.modules))\n"
        "import sklearn.ensemble\n"
        f"before = [name for name in {EXTRAS} if name in sys.modules]\n"
        "[getattr(hedgeclipper, name) for name in hedgeclipper.__all__]\n"
        f"print(*(name for name in {EXTRAS} if name in sys.modules and name not in before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.split()) == (0, []), done.stderr
