"""What we use of scikit-learn that is not public, in whatever version runs this."""

import re
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

import hedgeclipper

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
