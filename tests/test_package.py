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


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_public_name_is_there():
    for name in hedgeclipper.__all__:
        assert getattr(hedgeclipper, name).__doc__
        assert name in dir(hedgeclipper)


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        hedgeclipper.nonsense


def test_importing_everything_public_loads_no_extra_that_scikit_learn_does_not():
    assert all(find_spec(name) for name in EXTRAS)
    code = (
        "import sys, sklearn.ensemble\n"
        f"before = [name for name in {EXTRAS} if name in sys.modules]\n"
        "import hedgeclipper\n"
        "[getattr(hedgeclipper, name) for name in hedgeclipper.__all__]\n"
        f"print([name for name in {EXTRAS} if name in sys.modules and name not in before])"
    )
    assert run(code).strip() == "[]"


def test_importing_the_package_loads_next_to_nothing():
    code = (
        "import sys, hedgeclipper\n"
        "heavy = ['numba', 'scipy', 'sklearn', 'numpy']\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    assert run(code).strip() == "[]"
