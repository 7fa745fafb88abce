import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from hedgeclipper.labeling import LabelingLoop
from tests.labeling.served import Served, write_rows

NAMES = np.array(["no", "yes"])


def make_rows(n=800, noise=0.9, seed=0):
    """Return rows of two classes that overlap, and their labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 3)) * noise + y[:, None], NAMES[y]


def make_loop(X, **options):
    return LabelingLoop(X, **{"classes": NAMES, "model": GaussianNB(), **options})


def run(loop, truth, n=20, until=None, skip=lambda row: False):
    """Answer what a loop asks, until it is in a phase or finished."""
    while loop.phase != until and (rows := loop.ask(n)).size and loop.phase != until:
        loop.tell(rows, [None if skip(row) else truth[row] for row in rows])
    return loop


@pytest.fixture
def rows():
    return make_rows()


@pytest.fixture(scope="package")
def served(tmp_path_factory):
    """A server that all tests may ask, and whose labels they may change."""
    folder = tmp_path_factory.mktemp("rows")
    truth = write_rows(folder)
    with Served(folder, "--annotator", "Ann") as served:
        served.folder, served.truth = folder, truth
        yield served
