"""What this package imports of scikit-learn that is not public, all in one place.

Any version of scikit-learn may change it: tests run with the oldest and the newest version allowed,
and ``tests/test_sklearn_private.py`` tells whether trees have the arrays that `persistence` checks.
Other compiled types in saved models are known by name only, there.
"""

# ruff: noqa: F401
from sklearn.base import _fit_context
from sklearn.tree._tree import Tree
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import _is_fitted
