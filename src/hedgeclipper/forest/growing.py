"""Growing the trees, noting which labeled rows each was grown from, and if rows have shifted."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import has_fit_parameter

from hedgeclipper.base.semi_supervised import RowSlices, SemiSupervisedRows, ShiftWarning
from hedgeclipper.base.semi_supervised_classifier import NO_UNLABELED_ROWS
from hedgeclipper.base.threads import n_workers
from hedgeclipper.forest.trees import LeafFinder, leaf_finder
from hedgeclipper.forest.views import (
    ROWS_FOR_VIEWS,
    ViewedTrees,
    fit_views,
    side_by_side,
    view_names,
)
from hedgeclipper.io.arrays import MAX_SEED, is_in_memory
from hedgeclipper.io.progress import warn_user
from hedgeclipper.sklearn_private import _is_fitted

FEW_LABELS = 1000
# of all trees; the best of six plans in four draws of 28 rows of the benchmarks (docs/ablations.md)
FOREST_PART = 0.5
LEAST_IN_CELL = 5
SHIFT_THRESHOLD = 8.0


@dataclass(frozen=True, eq=False)
class GrownTrees:
    """Fitted tree ensembles, each a group of trees, and which rows these were not grown from."""

    models: dict[str, Any]  # the ensembles by their names
    finder: LeafFinder
    groups: np.ndarray  # (n_trees,): number of the ensemble that each tree is in
    unseen: np.ndarray  # (n_trees, n_labeled): whether the tree was grown without the row
    leaves: np.ndarray  # (n_trees, n_labeled): leaf numbers, counted in each tree


@dataclass(frozen=True, eq=False)
class Ensemble:
    """A tree ensemble to grow, and what it looks at, side by side: numbers of tables.

    0 is the columns as they are, 1 what the first view makes of them, and so on.
    """

    name: str
    model: Any
    look: tuple[int, ...] = (0,)


def plan_ensembles(model: Any, n_labeled: int, views: Sequence[Any]) -> list[Ensemble]:
    """Return the ensembles of a `HedgeClipperClassifier`, not fitted, given its fitted views.

    Without shrinkage it is the paper's forest, whose leaves must not be too small: they have at
    least 10 rows, or 4 if there are fewer than 1,000 labels.
    """
    names, n_jobs = view_names(views), n_workers(model.n_jobs)
    looks: dict[tuple[int, ...], str] = {(0,): ""}
    looks |= {(k,): f" on {name}" for k, name in enumerate(names, 1)}
    if model.estimator is not None:
        return [Ensemble(f"estimator{on}", model.estimator, look) for look, on in looks.items()]
    if model.shrinkage is not None:
        return default_ensembles(model.n_estimators, names, n_jobs)
    least = 10 if n_labeled >= FEW_LABELS else 4
    forest = RandomForestClassifier(min_samples_leaf=least, n_jobs=n_jobs)
    return _groups(forest, model.n_estimators, looks)


def default_ensembles(n_trees: int, names: Sequence[str], n_jobs: int | None) -> list[Ensemble]:
    """Return a random forest on the columns, and extra trees on views, all bootstrapped.

    The others, in equal parts, look at each of the views of these names, and at the columns and all
    views together.
    """
    n_forest = round(FOREST_PART * n_trees)
    forest = RandomForestClassifier(max(1, n_forest), n_jobs=n_jobs)
    extra = ExtraTreesClassifier(bootstrap=True, n_jobs=n_jobs)
    looks: dict[tuple[int, ...], str] = {(k,): f" on {name}" for k, name in enumerate(names, 1)}
    both = f" on columns and {names[0] if len(names) == 1 else 'views'}" if names else ""
    looks[tuple(range(len(names) + 1))] = both
    return [Ensemble("random forest", forest), *_groups(extra, n_trees - n_forest, looks)]


def _groups(model: Any, n_trees: int, looks: dict[tuple[int, ...], str]) -> list[Ensemble]:
    """Return the ensemble with each of these looks, the trees in equal parts, at least one each."""
    kind = "random forest" if isinstance(model, RandomForestClassifier) else "extra trees"
    parts = [len(part) for part in np.array_split(np.arange(n_trees), len(looks))]
    return [
        Ensemble(f"{kind}{suffix}", clone(model).set_params(n_estimators=max(1, part)), look)
        for part, (look, suffix) in zip(parts, looks.items(), strict=True)
    ]


def draw_some(
    model: Any, rows: SemiSupervisedRows, random_state: np.random.RandomState
) -> Any | None:
    """Return some of the unlabeled rows, for views and to see if rows have shifted.

    They are drawn in batches, and by a copy of the generator, so that the same rows are drawn from
    memory, files and Dask collections, and the same trees grown.
    """
    if not rows.has_unlabeled:
        return None
    X = RowSlices(rows.X_unlabeled) if is_in_memory(rows.X_unlabeled) else rows.X_unlabeled
    some = model._draw_rows(X, ROWS_FOR_VIEWS, deepcopy(random_state))
    if some.shape[0] == 0:
        raise ValueError(NO_UNLABELED_ROWS)
    return some


def grow_forest(
    model: Any,
    rows: SemiSupervisedRows,
    codes: np.ndarray,
    some: Any | None,
    random_state: np.random.RandomState,
) -> GrownTrees:
    """Return the trees of a `HedgeClipperClassifier` on all views, grown as its parameters demand.

    Views are learned from labeled and ``some`` unlabeled rows.
    """
    has_default_views = isinstance(model.views, str)
    views = None if has_default_views and model.estimator is not None else model.views
    fitted = fit_views(views, rows.X_labeled, some, random_state)
    return grow_trees(
        plan_ensembles(model, codes.size, fitted),
        fitted,
        rows.X_labeled,
        codes,
        rows.weight_labeled,
        random_state=random_state,
        classes=model.classes_,
        names=getattr(model, "feature_names_in_", None),
        n_jobs=model.n_jobs,
    )


def grow_trees(
    ensembles: Sequence[Ensemble],
    views: Sequence[Any],
    X: Any,
    y: np.ndarray,
    sample_weight: np.ndarray | None,
    *,
    random_state: np.random.RandomState,
    classes: np.ndarray | None = None,
    names: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> GrownTrees:
    """Fit each ensemble to what it looks at, and note what each of its trees was grown from.

    Out-of-bag rows are the unseen ones. They need a bootstrap; an ensemble without one is grown
    on half of the labels, stratified by class, and the other half is unseen. For a fitted ensemble,
    whose ``classes`` and feature ``names`` must be these, all rows are unseen. Views are fitted
    transformers.
    """
    first = ensembles[0].model
    if isinstance(first, FrozenEstimator):
        first = first.estimator
    if _is_fitted(first):
        return _use_fitted(first, views, X, classes, names, n_jobs)
    has_bags = getattr(first, "bootstrap", False)
    is_grown = np.ones(y.size, bool) if has_bags else _draw_half(y, random_state)
    weights = None if sample_weight is None else sample_weight[is_grown] / sample_weight.mean()
    rows = X[is_grown]
    tables = [rows, *(view.transform(rows) for view in views)]
    models = {
        one.name: _fit(
            one.model, side_by_side(tables, one.look), y[is_grown], weights, random_state
        )
        for one in ensembles
    }
    parts = [leaf_finder(model) for model in models.values()]
    looks = [one.look for one in ensembles]
    finder = parts[0] if len(parts) == 1 else ViewedTrees(views, looks, parts)
    unseen = np.tile(~is_grown, (finder.n_trees, 1))
    if has_bags:
        samples = (sample for model in models.values() for sample in model.estimators_samples_)
        unseen = np.array([np.bincount(sample, minlength=y.size) == 0 for sample in samples])
    return GrownTrees(
        models=models,
        finder=finder,
        groups=np.repeat(np.arange(len(parts)), [part.n_trees for part in parts]),
        unseen=unseen,
        leaves=finder.find(X, n_jobs),
    )


def _use_fitted(
    model: Any,
    views: Sequence[Any],
    X: Any,
    classes: np.ndarray | None,
    names: np.ndarray | None,
    n_jobs: int | None,
) -> GrownTrees:
    """Return the trees of a fitted ensemble, to which all rows are new."""
    if views:
        raise ValueError(
            "A fitted estimator knows its own columns alone. Got views for it: leave them out, "
            "or pass an estimator that is not fitted."
        )
    finder = leaf_finder(model)
    _check_fitted(model, X, classes, names)
    groups, unseen = np.zeros(finder.n_trees, int), np.ones((finder.n_trees, X.shape[0]), bool)
    return GrownTrees({"estimator": model}, finder, groups, unseen, finder.find(X, n_jobs))


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


def _draw_half(y: np.ndarray, random_state: Any) -> np.ndarray:
    """Return which rows grow the trees, half of them, some of every class."""
    classes, counts = np.unique(y, return_counts=True)
    if counts.min() < 2:
        raise ValueError(
            "An ensemble without a bootstrap is grown on half of the labels and scored on the "
            f"other half, which needs two rows of every class. Got {counts.min()} of class "
            f"{classes[counts.argmin()]!r}. Label more rows, or pass a bootstrapped forest."
        )
    n_unseen = int(np.clip(round(y.size / 2), classes.size, y.size - classes.size))
    grown, _ = train_test_split(
        np.arange(y.size), test_size=n_unseen, stratify=y, random_state=random_state
    )
    return np.isin(np.arange(y.size), grown)


def check_shift(grown: GrownTrees, some: Any | None, n_jobs: int | None) -> float:
    """Return how far unlabeled rows are from labeled ones in the leaves, and warn if it is far.

    The median over the trees of the chi-square statistic of two samples, in standard deviations
    from its mean under no shift; leaves with few rows of either kind are taken together. Of the
    labeled rows only unseen ones count: a tree's own rows are spread evenly over its leaves by
    design. ``some`` are unlabeled rows; None if there are none.
    """
    if some is None:
        return 0.0
    scores, unlabeled = [], grown.finder.find(some, n_jobs)
    for tree, n_leaves in enumerate(grown.finder.n_leaves):
        rows = grown.leaves[tree, grown.unseen[tree]]
        own_counts = np.bincount(unlabeled[tree], minlength=n_leaves)
        found = np.array([np.bincount(rows, minlength=n_leaves), own_counts])
        large = found.sum(axis=0) >= LEAST_IN_CELL
        cells = np.column_stack([found[:, large], found[:, ~large].sum(axis=1)])
        cells = cells[:, cells.sum(axis=0) > 0]
        degrees = cells.shape[1] - 1
        if degrees < 1 or rows.size == 0:
            continue
        ratio = np.sqrt(own_counts.sum() / rows.size)
        statistic = np.sum((ratio * cells[0] - cells[1] / ratio) ** 2 / cells.sum(axis=0))
        scores.append((statistic - degrees) / np.sqrt(2.0 * degrees))
    score = float(np.median(scores)) if scores else 0.0
    if score > SHIFT_THRESHOLD:
        warn_user(
            "The unlabeled rows look unlike the labeled ones: they fall into the leaves of the "
            f"trees in significantly different proportions (score {score:.0f}, up to 3 is usual). "
            "What the labels tell of a leaf may not hold for them.",
            ShiftWarning,
        )
    return score
