"""What we use of scikit-learn that is not public, in whatever version runs this."""

import re
from numbers import Integral
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import hedgeclipper
from hedgeclipper import sklearn_private as private

X, Y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2


def test_one_file_imports_what_is_private():
    package = Path(hedgeclipper.__file__).parent
    line = re.compile(r"^\s*(from sklearn\S*\._|import sklearn\S*\._|from sklearn.* import .*\b_)")
    found = {
        path.name
        for path in package.rglob("*.py")
        if any(map(line.match, path.read_text(encoding="utf-8").splitlines()))
    }
    assert found == {"sklearn_private.py"}


def test_parameters_are_checked():
    class Estimator(BaseEstimator):
        _parameter_constraints: ClassVar[dict] = {
            "a": [private.Interval(Integral, 0, None, closed="left"), private.StrOptions({"auto"})],
        }

        def __init__(self, a=1):
            self.a = a

        @private._fit_context(prefer_skip_nested_validation=True)
        def fit(self, X=None, y=None):
            return self

    Estimator("auto").fit()
    for wrong in (Estimator(-1), Estimator("x")):
        with pytest.raises(ValueError, match="must be"):
            wrong.fit()


def test_rows_are_taken():
    np.testing.assert_array_equal(private._safe_indexing(X, [3, 1]), X[[3, 1]])
    frame = private._safe_indexing(pd.DataFrame(X), [3])
    assert frame.index.tolist() == [3]


def test_what_is_fitted_is_known():
    assert not private._is_fitted(LogisticRegression())
    assert private._is_fitted(LogisticRegression().fit(X, Y))
    with pytest.raises(NotFittedError):
        LogisticRegression().predict(X)


def test_compositions_set_parameters_of_members():
    class Panel(private._BaseComposition):
        def __init__(self, estimators):
            self.estimators = estimators

        def set_params(self, **params):
            return self._set_params("estimators", **params)

        def get_params(self, deep=True):
            return self._get_params("estimators", deep=deep)

    panel = Panel([("a", LogisticRegression())]).set_params(a__C=2.0)
    assert panel.get_params()["a__C"] == 2.0


def test_trees_have_the_arrays_that_are_checked():
    tree = DecisionTreeClassifier(random_state=0).fit(X, Y).tree_
    assert f"{type(tree).__module__}.{type(tree).__name__}" == "sklearn.tree._tree.Tree"
    for array in (tree.children_left, tree.children_right, tree.feature, tree.missing_go_to_left):
        assert array.shape == (tree.node_count,)
    assert tree.value.shape == (tree.node_count, 1, 2)


def test_boosted_histograms_have_the_arrays_that_are_checked():
    model = HistGradientBoostingClassifier(max_iter=1, min_samples_leaf=2).fit(X, Y)
    tree = model._predictors[0][0]
    name = "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"
    assert f"{type(tree).__module__}.{type(tree).__name__}" == name
    wanted = {"left", "right", "is_leaf", "feature_idx", "is_categorical", "bitset_idx", "value"}
    assert wanted <= set(tree.nodes.dtype.names)
    assert tree.raw_left_cat_bitsets.shape[1] == tree.binned_left_cat_bitsets.shape[1] == 8
    assert model._bin_mapper.is_categorical_.shape == (2,)
