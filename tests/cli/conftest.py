import shutil

import pytest

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.cli import main


@pytest.fixture(scope="package", autouse=True)
def few_trees():
    """Commands fit forests of few trees: what they print and write does not depend on it."""
    defaults = HedgeClipperClassifier.__init__.__kwdefaults__
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(defaults, "n_estimators", 12)
        yield


@pytest.fixture(scope="module")
def made(request, tmp_path_factory):
    """A folder in which the function ``make`` of a module has run once, and what it returned."""
    folder = tmp_path_factory.mktemp("made")

    def run(*words):
        assert main([str(word) for word in (*words, "-q")]) == 0

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return folder, request.module.make(run)


@pytest.fixture
def truth(made, command, tmp_path):
    """The true labels, in a copy of the folder with the files of the module."""
    shutil.copytree(made[0], tmp_path, dirs_exist_ok=True)
    return made[1]
