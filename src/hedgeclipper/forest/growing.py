"""Growing the trees, and noting which labeled rows each of them was grown from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import _is_fitted, has_fit_parameter

from hedgeclipper.base.threads import n_workers
from hedgeclipper.forest.leaf_correlations import Labeled
from hedgeclipper.forest.trees import LeafFinder, leaf_finder

FEW_LABELS = 1000
HOLDOUT = 0.5
MAX_SEED = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False)
class GrownTrees:
    """A fitted tree ensemble, and which labeled rows its trees were grown from."""

    model: Any
    finder: LeafFinder
    bags: np.ndarray  # (n_trees, n_labeled): how often each row is in each tree's sample
    unseen: np.ndarray  # (n_trees, n_labeled): whether the tree was grown without the row
    source: str  # where unseen rows come from: "oob", "holdout" or "prefit"

    def labeled(
        self, leaves: np.ndarray, codes: np.ndarray, weights: np.ndarray | None, k: int
    ) -> Labeled:
        """Return the labeled rows in the leaves, class k against the rest.

        A forest grown here predicts the proportion of the class in a leaf. Of other models, each
        tree's values are centered on the labeled rows, without those that are held out. ``leaves``
        are the leaf numbers of the labeled rows, ``codes`` the numbers of their classes.
        """
        finder = self.finder
        assert finder.leaf_values is not None
        column = 0 if finder.leaf_values.shape[1] == 1 else k
        values = finder.leaf_values[:, column].copy()
        are_proportions = finder.tree_output is None and self.source != "prefit"
        for tree, offset in enumerate(finder.offsets if not are_proportions else ()):
            own = slice(offset, offset + finder.n_leaves[tree])
            rows = self.bags[tree] > 0 if self.source == "holdout" else slice(None)
            if finder.tree_output is None or finder.tree_output[tree] == column:
                values[own] -= values[offset + leaves[tree, rows].astype(np.int64)].mean()
        return Labeled(
            finder=finder,
            leaves=leaves,
            signs=np.where(codes == k, 1.0, -1.0),
            weights=np.ones(codes.size) if weights is None else weights,
            unseen=self.unseen,
            bags=self.bags,
            values=values,
            are_proportions=are_proportions,
        )


def default_forest(
    n_estimators: int,
    n_labeled: int,
    min_specialist_size: int | None,
    n_jobs: int | None,
    random_state: Any,
) -> RandomForestClassifier:
    """Return the paper's forest, not fitted: bootstrapped, its leaves not too small.

    A leaf has at least 10 rows as in the paper, or 4 if there are fewer than 1,000 labels; or 1 if
    it is specialists that must not be too small.
    """
    least = 10 if n_labeled >= FEW_LABELS else 4
    return RandomForestClassifier(
        n_estimators,
        min_samples_leaf=least if min_specialist_size is None else 1,
        n_jobs=n_workers(n_jobs),
        random_state=random_state,
    )


def grow_trees(
    estimator: Any,
    X: Any,
    y: np.ndarray,
    sample_weight: np.ndarray | None,
    *,
    holdout: float | None,
    stratify: bool,
    random_state: np.random.RandomState,
    classes: np.ndarray | None = None,
    names: np.ndarray | None = None,
) -> GrownTrees:
    """Fit the ensemble unless it is fitted already, and note what each tree was grown from.

    Without a ``holdout``, out-of-bag rows are the unseen ones. They need a bootstrap; an ensemble
    without one gets half of the labels held out, stratified by class or, as a guarantee needs it,
    wholly at random: a stratified half would depend on the class balance of the other one. For a
    fitted ensemble, whose ``classes`` and feature ``names`` must be these, all rows are unseen.
    """
    if isinstance(estimator, FrozenEstimator):
        estimator = estimator.estimator
    if _is_fitted(estimator):
        finder = leaf_finder(estimator)
        _check_fitted(estimator, X, classes, names)
        shape = (finder.n_trees, X.shape[0])
        return GrownTrees(estimator, finder, np.zeros(shape), np.ones(shape, bool), "prefit")
    if holdout is None and getattr(estimator, "bootstrap", False):
        model = _fit(estimator, X, y, sample_weight, random_state)
        bags = np.array(
            [np.bincount(rows, minlength=X.shape[0]) for rows in model.estimators_samples_]
        )
        return GrownTrees(model, leaf_finder(model), bags, bags == 0, "oob")
    is_grown = _draw_grown(y, HOLDOUT if holdout is None else holdout, stratify, random_state)
    weights = None if sample_weight is None else sample_weight[is_grown]
    model = _fit(estimator, X[is_grown], y[is_grown], weights, random_state)
    finder = leaf_finder(model)
    bags = np.tile(is_grown.astype(float), (finder.n_trees, 1))
    return GrownTrees(model, finder, bags, bags == 0, "holdout")


def _check_fitted(model: Any, X: Any, classes: np.ndarray | None, names: np.ndarray | None) -> None:
    """Raise if a fitted estimator knows other columns, in another order, or other classes."""
    theirs = getattr(model, "feature_names_in_", None)
    if theirs is not None and names is not None and not np.array_equal(theirs, names):
        raise ValueError(
            "The fitted estimator knows other feature names, or in another order. Got "
            f"{list(names)[:5]}, expected {list(theirs)[:5]}; order the columns alike."
        )
    expected = getattr(model, "n_features_in_", X.shape[1])
    if expected != X.shape[1]:
        raise ValueError(
            f"The fitted estimator expects {expected} features. Got rows with {X.shape[1]}."
        )
    if classes is not None and not np.array_equal(model.classes_, classes):
        raise ValueError(
            f"The fitted estimator knows the classes {model.classes_!r}. Got labeled rows of the "
            f"classes {classes!r}; both must be the same."
        )


def _fit(
    estimator: Any,
    X: Any,
    y: np.ndarray,
    sample_weight: np.ndarray | None,
    random_state: np.random.RandomState,
) -> Any:
    model = clone(estimator)
    if "random_state" in model.get_params(deep=False) and model.random_state is None:
        model.set_params(random_state=random_state.randint(MAX_SEED))
    if sample_weight is None:
        return model.fit(X, y)
    if not has_fit_parameter(model, "sample_weight"):
        raise ValueError(f"{type(model).__name__}.fit takes no sample_weight. Leave it out.")
    return model.fit(X, y, sample_weight=sample_weight)


def _draw_grown(y: np.ndarray, holdout: float, stratify: bool, random_state: Any) -> np.ndarray:
    """Return which rows grow the trees, some of every class; the others are held out."""
    classes, counts = np.unique(y, return_counts=True)
    if counts.min() < 2:
        raise ValueError(
            f"Holding out labels needs two rows of every class. Got {counts.min()} of class "
            f"{classes[counts.argmin()]!r}. Label more rows, or leave out holdout and "
            "confidence_level with a bootstrapped forest."
        )
    n_held = int(np.clip(round(holdout * y.size), classes.size, y.size - classes.size))
    grown, _ = train_test_split(
        np.arange(y.size),
        test_size=n_held,
        stratify=y if stratify else None,
        random_state=random_state,
    )
    if np.unique(y[grown]).size < classes.size:
        raise ValueError(
            "Holding out labels at random has left no row of some class to grow trees on. Label "
            "more rows, hold out fewer, or do without a guarantee."
        )
    return np.isin(np.arange(y.size), grown)
