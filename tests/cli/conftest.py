import pytest

from hedgeclipper import HedgeClipperClassifier


@pytest.fixture(scope="package", autouse=True)
def few_trees():
    """Commands fit forests of few trees: what they print and write does not depend on it."""
    defaults = HedgeClipperClassifier.__init__.__kwdefaults__
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(defaults, "n_estimators", 12)
        yield
