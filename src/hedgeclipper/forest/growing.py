"""Growing the trees, and keeping book of which labeled rows each of them has seen."""

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
from hedgeclipper.forest.leaf_correlations import Labeled, LeafValues
from hedgeclipper.forest.trees import LeafFinder, leaf_finder

FEW_LABELS = 1000
SHARE_HELD_OUT = 0.5


@dataclass(frozen=True, eq=False)
class GrownTrees:
    """A fitted tree ensemble and its view of the labeled rows.

    Parameters
    ----------
    model : estimator
        The fitted ensemble.
    finder : LeafFinder
        Its leaves.
    bags : ndarray of shape (n_trees, n_labeled)
        How often each labeled row is in each tree's sample.
    unseen : ndarray of shape (n_trees, n_labeled), bool
        Whether the tree was grown without the row, so that the row may judge it.
    source : {"oob", "holdout", "prefit"}
        Where unseen rows come from.
    """

    model: Any
    finder: LeafFinder
    bags: np.ndarray
    unseen: np.ndarray
    source: str

    def labeled(
        self, leaves: np.ndarray, is_positive: np.ndarray, weights: np.ndarray | None
    ) -> Labeled:
        """Return the labeled rows as the leaves see them, one class against the rest.

        Parameters
        ----------
        leaves : ndarray of shape (n_trees, n_labeled)
            Leaf numbers of the labeled rows.
        is_positive : ndarray of shape (n_labeled,), bool
            Whether they are of the class.
        weights : ndarray of shape (n_labeled,) or None
            Their weights.
        """
        return Labeled(
            leaves=leaves,
            offsets=self.finder.offsets,
            n_leaves=int(self.finder.n_leaves.sum()),
            signs=np.where(is_positive, 1.0, -1.0),
            weights=np.ones(is_positive.size) if weights is None else weights,
            unseen=self.unseen,
            bags=self.bags,
        )

    def leaf_values(self, leaves: np.ndarray, k: int) -> LeafValues:
        """Return what the model says in its leaves about class k.

        A forest grown here says the share of the class. Of other models, each tree's values are
        centered on the labeled rows, without those that are held out to judge it.

        Parameters
        ----------
        leaves : ndarray of shape (n_trees, n_labeled)
            Leaf numbers of the labeled rows.
        k : int
            Number of the class.
        """
        finder = self.finder
        assert finder.leaf_values is not None
        column = 0 if finder.leaf_values.shape[1] == 1 else k
        values = finder.leaf_values[:, column].copy()
        if finder.tree_output is None and self.source != "prefit":
            return LeafValues(values, are_shares=True)
        for tree, offset in enumerate(finder.offsets):
            own = slice(offset, offset + finder.n_leaves[tree])
            rows = self.bags[tree] > 0 if self.source == "holdout" else slice(None)
            if finder.tree_output is None or finder.tree_output[tree] == column:
                values[own] -= values[offset + leaves[tree, rows].astype(np.int64)].mean()
        return LeafValues(values, are_shares=False)


def default_forest(
    n_estimators: int, min_samples_leaf: int, n_jobs: int | None, random_state: Any
) -> RandomForestClassifier:
    """Return the paper's forest, not fitted: bootstrapped, its leaves not too small."""
    return RandomForestClassifier(
        n_estimators,
        min_samples_leaf=min_samples_leaf,
        n_jobs=n_workers(n_jobs),
        random_state=random_state,
    )


def leaf_size(min_specialist_size: int | None, n_labeled: int) -> int:
    """Return the least leaf of the default forest: the paper's 10, or 4 below 1,000 labels."""
    if min_specialist_size is not None:
        return 1
    return 10 if n_labeled >= FEW_LABELS else 4


def grow_trees(
    estimator: Any,
    X: Any,
    y: np.ndarray,
    sample_weight: np.ndarray | None,
    *,
    holdout: float | None,
    stratify: bool,
    random_state: np.random.RandomState,
) -> GrownTrees:
    """Fit the ensemble unless it is fitted already, and note what each tree has seen.

    Without a share of labels to hold out, out-of-bag rows are the unseen ones. They need a
    bootstrap; an ensemble without one gets half of the labels held out, ``stratify`` by class or,
    as a guarantee needs it, wholly at random: a stratified share would tell of the class balance
    of the rows that grew the trees. For a fitted ensemble all rows count as unseen.
    """
    if isinstance(estimator, FrozenEstimator):
        estimator = estimator.estimator
    if _is_fitted(estimator):
        _check_columns(estimator, X)
        finder = leaf_finder(estimator)
        shape = (finder.n_trees, X.shape[0])
        return GrownTrees(estimator, finder, np.zeros(shape), np.ones(shape, bool), "prefit")
    if holdout is None and getattr(estimator, "bootstrap", False):
        model = _fit(estimator, X, y, sample_weight, random_state)
        bags = np.array(
            [np.bincount(rows, minlength=X.shape[0]) for rows in model.estimators_samples_]
        )
        return GrownTrees(model, leaf_finder(model), bags, bags == 0, "oob")
    share = SHARE_HELD_OUT if holdout is None else holdout
    is_grown = _draw_grown(y, share, stratify, random_state)
    weights = None if sample_weight is None else sample_weight[is_grown]
    model = _fit(estimator, X[is_grown], y[is_grown], weights, random_state)
    finder = leaf_finder(model)
    bags = np.tile(is_grown.astype(float), (finder.n_trees, 1))
    return GrownTrees(model, finder, bags, bags == 0, "holdout")


def _check_columns(model: Any, X: Any) -> None:
    expected = getattr(model, "n_features_in_", X.shape[1])
    if expected != X.shape[1]:
        raise ValueError(
            f"The fitted estimator expects {expected} features. Got rows with {X.shape[1]}."
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
        model.set_params(random_state=random_state.randint(np.iinfo(np.int32).max))
    if sample_weight is None:
        return model.fit(X, y)
    if not has_fit_parameter(model, "sample_weight"):
        raise ValueError(f"{type(model).__name__}.fit takes no sample_weight. Leave it out.")
    return model.fit(X, y, sample_weight=sample_weight)


def _draw_grown(y: np.ndarray, holdout: float, stratify: bool, random_state: Any) -> np.ndarray:
    """Return which rows grow the trees, some of every class; the others judge them."""
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
