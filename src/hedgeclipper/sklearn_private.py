"""What this package imports of scikit-learn that is not public, all in one place.

Any version of scikit-learn may change it. ``tests/test_sklearn_private.py`` tells with the oldest
and the newest version allowed whether all of it is there and does what we rely on. Other compiled
types in saved models are known by name only, in `persistence`.
"""

# ruff: noqa: F401
from sklearn.base import _fit_context
from sklearn.tree._tree import Tree
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import _is_fitted
