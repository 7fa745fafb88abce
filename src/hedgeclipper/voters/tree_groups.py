"""Groups of trees as voters: grown on columns and components, shrunk, scored out of bag.

Half of the trees form an ordinary random forest. The others are extra trees, one half of them on
components that all rows teach (`views.Components`), the other half on columns and components. All
are bootstrapped, so that a labeled row is scored by the trees that were grown without it. Leaves
are shrunk toward the nodes above them, which takes the place of a smallest leaf size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from hedgeclipper.base.evaluation import LEAST_PROBABILITY
from hedgeclipper.base.row_reader import ShiftWarning
from hedgeclipper.io.arrays import MAX_SEED, draw_rows, is_array, stack_rows
from hedgeclipper.io.messages import warn_user
from hedgeclipper.voters.classifiers import LabeledRows
from hedgeclipper.voters.trees import (
    PackedTrees,
    TreeSplits,
    leaf_proportions,
    n_workers,
    pack_trees,
    shrink_leaves,
    sum_leaf_scores,
    sum_unseen_scores,
)
from hedgeclipper.voters.views import Components

# trees are grown so many at a time that their number times labels and classes is at most this
TREE_ENTRIES = 1 << 24
# trees of fewer rows grow faster in one thread: two took 1.4 times as long for 100 rows, 0.7 times
# for 1,000
ROWS_FOR_THREADS = 500
# from no shrinkage to one that leaves little but the first splits of a hundred rows
STRENGTHS = np.array([0.0, 2.0, 8.0, 30.0, 100.0, 300.0])
# with 1,000 labels 5,000 rows show four fifths of the score that 20,000 show, with 200 all of it
ROWS_FOR_SHIFT, SHIFT_THRESHOLD = 5_000, 8.0


@dataclass(frozen=True, eq=False)
class TreeGroup:
    """Trees of one kind, what they look at, and the values of their leaves.

    ``view`` is "columns", "components" or "both".
    """

    name: str
    view: str
    trees: PackedTrees
    leaf_values: np.ndarray  # (n_games, all leaves): shrunk proportions over the number of trees

    def check_arrays(self) -> None:
        """Raise unless each leaf has a value in each game."""
        values, trees = self.leaf_values, self.trees
        fits = isinstance(trees, PackedTrees) and self.view in ("columns", "components", "both")
        fits = fits and is_array(values, "f", None, trees.n_leaves.sum()) and values.size > 0
        if not (fits and np.isfinite(values).all()):
            raise ValueError("its groups do not fit their trees")


@dataclass(frozen=True, eq=False)
class TreeScorer:
    """Scores rows by groups of trees, for each class that has a game: all that new rows need."""

    groups: list[TreeGroup]
    components: Components | None

    def score(self, X: Any) -> np.ndarray:
        """Return mean leaf values of rows as float32, shape (n_samples, n_groups, n_games)."""
        sums = np.empty((len(self.groups), self.groups[0].leaf_values.shape[0], X.shape[0]))
        views = see(X, self.components)
        for group, own in zip(self.groups, sums, strict=True):
            leaves, offsets = group.trees.apply(views[group.view]), group.trees.offsets
            for values, out in zip(group.leaf_values, own, strict=True):
                sum_leaf_scores(leaves, offsets, values, out)
        return np.moveaxis(sums, 2, 0).astype(np.float32, order="C")


def see(X: Any, components: Components | None) -> dict[str, Any]:
    """Return rows as the groups look at them, by the name of the view."""
    if components is None:
        return {"columns": X}
    found = components.transform(X)
    if sparse.issparse(X):
        both = sparse.hstack([X, found], format="csr", dtype=np.float32)
    else:
        both = np.hstack([X, found], dtype=np.float32, casting="same_kind")
    return {"columns": X, "components": found, "both": both}


@dataclass(frozen=True, eq=False)
class GrownGroup:
    """Trees of one kind, and which labeled rows each was grown without."""

    view: str
    trees: PackedTrees
    leaves: np.ndarray  # (n_trees, n_labeled): leaf numbers
    unseen: np.ndarray  # (n_trees, n_labeled): whether the tree was grown without the row


@dataclass(frozen=True, eq=False)
class FittedTrees:
    """Groups of trees with shrunk leaves, and their scores of labeled rows.

    ``out_of_bag`` are by trees grown without the row, NaN if some group has no such tree.
    """

    scorer: TreeScorer
    grown: list[GrownGroup]
    sizes: np.ndarray  # (n_groups,): each group's part of all trees
    strengths: np.ndarray  # (n_groups,): shrinkage
    out_of_bag: np.ndarray  # (n_labeled, n_groups, n_games)

    def out_of_bag_in(self, views: dict[str, Any]) -> np.ndarray:
        """Return what ``out_of_bag`` would be if the labeled rows had these values."""
        scores = np.empty_like(self.out_of_bag)
        for number, (one, group) in enumerate(zip(self.grown, self.scorer.groups, strict=True)):
            moved = replace(one, leaves=one.trees.apply(views[one.view]))
            for column, values in enumerate(group.leaf_values):
                scores[:, number, column] = score_unseen(moved, values)
        return scores


def fit_trees(
    rows: LabeledRows,
    games: Sequence[int],
    *,
    n_trees: int,
    random_state: np.random.RandomState,
    n_jobs: int | None,
) -> FittedTrees:
    """Grow the groups on labeled rows, shrink their leaves, and score the rows out of bag.

    Parameters
    ----------
    rows : LabeledRows
        Labeled rows, arrays or CSR matrices; unlabeled ones teach the components, too.
    games : sequence of int
        Classes that have a game.
    n_trees : int
        Number of trees in all.
    random_state : RandomState
        Source of all seeds.
    n_jobs : int or None
        Threads.
    """
    X, codes, components, seed = rows.X, rows.codes, None, random_state.randint(MAX_SEED)
    if X.shape[1] > 2:  # else components would add nothing
        everything = X if rows.X_unlabeled is None else stack_rows(X, rows.X_unlabeled)
        components = Components(random_state=seed).fit(everything)
    n_threads = n_workers(n_jobs) if codes.size >= ROWS_FOR_THREADS else 1
    views = see(X, components)
    grown, groups, strengths, scores = [], [], [], []
    for name, view, ensemble in _plan(n_trees, components is not None):
        seeds = np.random.RandomState(random_state.randint(MAX_SEED))
        ensemble.set_params(random_state=seeds, n_jobs=n_threads)
        trees, proportions, unseen = _grow(ensemble, views[view], codes)
        one = GrownGroup(view, trees, trees.apply(views[view]), unseen)
        strength, values, out_of_bag = _shrink_leaves(one, proportions, codes, games)
        grown.append(one)
        groups.append(TreeGroup(name, view, trees, values))
        strengths.append(strength)
        scores.append(out_of_bag)
    sizes = np.array([one.trees.n_trees for one in grown])
    return FittedTrees(
        TreeScorer(groups, components),
        grown,
        sizes / sizes.sum(),
        np.array(strengths),
        np.stack(scores, axis=1),
    )


def _plan(n_trees: int, has_components: bool) -> list[tuple[str, str, Any]]:
    """Return name, view and ensemble of each group: a forest of half the trees, and extra trees.

    That was the best of six plans in four draws of 28 rows of the benchmarks (docs/ablations.md).
    """
    n_forest = max(1, round(0.5 * n_trees))
    others = [("extra trees", "columns")]
    if has_components:
        others = [
            ("extra trees on components", "components"),
            ("extra trees on columns and components", "both"),
        ]
    parts = np.array_split(np.arange(max(n_trees - n_forest, len(others))), len(others))
    extra = [ExtraTreesClassifier(len(part), bootstrap=True) for part in parts]
    return [
        ("random forest", "columns", RandomForestClassifier(n_forest)),
        *((*own, ensemble) for own, ensemble in zip(others, extra, strict=True)),
    ]


def _grow(
    ensemble: Any, X: Any, codes: np.ndarray
) -> tuple[PackedTrees, sparse.csc_array, np.ndarray]:
    """Return the trees of an ensemble, classes in their leaves, and which rows are unseen.

    Classes are proportions, shape (all leaves, n_classes). scikit-learn's trees hold all classes in
    all nodes, which with many classes and labels takes gigabytes. So a part of them is grown at a
    time, the same as if all were grown together: their seeds come from one generator.
    """
    size = ensemble.n_estimators
    at_once = max(1, TREE_ENTRIES // (codes.size * (int(codes.max()) + 1)))
    splits: list[TreeSplits] = []
    proportions, unseen = [], []
    while len(splits) < size:
        ensemble.set_params(n_estimators=min(at_once, size - len(splits)))
        ensemble.fit(X, codes)
        splits += [TreeSplits.of(tree) for tree in ensemble.estimators_]
        proportions.append(leaf_proportions(ensemble.estimators_))
        bags = (np.bincount(own, minlength=codes.size) for own in ensemble.estimators_samples_)
        unseen += [bag == 0 for bag in bags]
        del ensemble.estimators_  # before the next ones are grown
    return pack_trees(splits), sparse.vstack(proportions, format="csc"), np.array(unseen)


def _shrink_leaves(
    one: GrownGroup, proportions: sparse.csc_array, codes: np.ndarray, games: Sequence[int]
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the best strength, the values of all leaves with it, and the rows' scores out of bag.

    The values of one game are held at a time, and only those of the chosen strength are kept: with
    many classes those of all strengths would take gigabytes, too.
    """
    scores = np.empty((STRENGTHS.size, codes.size, len(games)))
    for column, game in enumerate(games):
        own = proportions[:, [game]].toarray()[:, 0]
        for number, values in enumerate(shrink(one.trees, own, STRENGTHS)):
            scores[number, :, column] = score_unseen(one, values / one.trees.n_trees)
    chosen = choose_strength(scores, codes[:, None] == np.asarray(games))
    kept = np.empty((len(games), one.trees.leaf_sizes.size), np.float32)
    for column, game in enumerate(games):
        own = proportions[:, [game]].toarray()[:, 0]
        kept[column] = shrink(one.trees, own, STRENGTHS[[chosen]])[0] / one.trees.n_trees
    return STRENGTHS[chosen], kept, scores[chosen]


def shrink(trees: PackedTrees, values: np.ndarray, strengths: np.ndarray) -> np.ndarray:
    """Return the values of leaves, each drawn toward those of the nodes above it.

    A node's value is that of its parent plus (its own mean - the parent's mean) / (1 + lambda / n),
    lambda the strength and n the training rows in the parent, summed along the path [1]_. Every
    node votes, and splits of few rows count little. So trees can be grown freely.

    Parameters
    ----------
    trees : PackedTrees
        The trees.
    values : ndarray of shape (all leaves,)
        The mean of the training rows in each leaf.
    strengths : ndarray of shape (n_strengths,)
        Rows of a parent at which what its children add is halved; 0 changes nothing.

    Returns
    -------
    ndarray of shape (n_strengths, all leaves)

    References
    ----------
    .. [1] A. Agarwal, Y. S. Tan, O. Ronen, C. Singh and B. Yu, "Hierarchical shrinkage: improving
       the accuracy and interpretability of tree-based methods", ICML 2022.

    Examples
    --------
    A root of 4 rows with the mean 1/2, whose leaves have the means 0 and 1:

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0], [0], [1], [1]], [0, 0, 1, 1])
    >>> shrink(pack_trees([tree]), np.array([0.0, 1.0]), np.array([0.0, 4.0]))
    array([[0.  , 1.  ],
           [0.25, 0.75]])
    """
    (sums, sizes), is_leaf = np.zeros((2, trees.parent.size)), trees.left < 0
    sums[is_leaf], sizes[is_leaf] = values * trees.leaf_sizes, trees.leaf_sizes
    out = np.empty((strengths.size, values.size))
    shrink_leaves(trees.parent, is_leaf, sums, sizes, strengths, out)
    return out


def choose_strength(scores: np.ndarray, is_positive: np.ndarray) -> int:
    """Return the number of the strength whose scores predict labels best, by log loss.

    Scores, of shape (n_strengths, n_labeled, n_games), are probabilities of each game's class, by
    trees that were grown without the row; NaN if there are none.
    """
    known = ~np.isnan(scores).any(axis=(0, 2))
    if not known.any():
        return 0
    p = np.clip(scores[:, known], LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)
    losses = -np.where(is_positive[known], np.log(p), np.log1p(-p)).sum(axis=2)
    return int(np.argmin(losses.mean(axis=1)))


def score_unseen(group: GrownGroup, values: np.ndarray) -> np.ndarray:
    """Return scores of labeled rows in one game by unseen trees, scaled to all trees of the group.

    ``values`` are those of all leaves. Scores are NaN if no tree is unseen.

    Trees grown without a row have seen fewer rows of its class. Where that class is rare, its rows
    would score too low, so the class proportions in the samples of these trees are replaced by
    those in the samples of all trees.
    """
    trees, unseen = group.trees, group.unseen
    sums, n_unseen = np.empty(unseen.shape[1]), unseen.sum(axis=0)
    sum_unseen_scores(group.leaves, unseen, trees.offsets, values, sums)
    scale = np.full(n_unseen.size, np.nan)
    np.divide(trees.n_trees, n_unseen, out=scale, where=n_unseen > 0)
    # a class's proportion in a tree's sample is the mean of its leaf values, whatever the strength
    totals = np.add.reduceat(trees.leaf_sizes, trees.offsets)
    roots = np.add.reduceat(trees.leaf_sizes * values, trees.offsets) / totals
    return sums * scale + (roots.sum() - scale * (roots @ unseen))


def check_shift(fitted: FittedTrees | None, some: Any | None) -> float:
    """Return how far unlabeled rows are from labeled ones in the leaves, and warn if it is far.

    The median over the trees of the chi-square statistic of two samples, in standard deviations
    from its mean under no shift; leaves with few rows of either kind are taken together. Of the
    labeled rows only unseen ones count: a tree's own rows are spread evenly over its leaves by
    design. ``some`` are unlabeled rows, of which some are drawn; None if there are none. Without
    trees it is 0.
    """
    if fitted is None or some is None:
        return 0.0
    some = draw_rows(some, ROWS_FOR_SHIFT, np.random.RandomState(0))
    scores: list[float] = []
    views = see(some, fitted.scorer.components)
    for group in fitted.grown:
        unlabeled = group.trees.apply(views[group.view])
        for tree, n_leaves in enumerate(group.trees.n_leaves):
            labeled = group.leaves[tree, group.unseen[tree]]
            pair = labeled, unlabeled[tree]
            found = np.array([np.bincount(own, minlength=n_leaves) for own in pair])
            large = found.sum(axis=0) >= 5
            cells = np.column_stack([found[:, large], found[:, ~large].sum(axis=1)])
            cells = cells[:, cells.sum(axis=0) > 0]
            degrees = cells.shape[1] - 1
            if degrees > 0 and labeled.size > 0:
                ratio = np.sqrt(some.shape[0] / labeled.size)
                chi_square = np.sum((ratio * cells[0] - cells[1] / ratio) ** 2 / cells.sum(axis=0))
                scores.append((chi_square - degrees) / np.sqrt(2.0 * degrees))
    score = float(np.median(scores)) if scores else 0.0
    if score > SHIFT_THRESHOLD:
        warn_user(
            "The unlabeled rows look unlike the labeled ones: they fall into the leaves of the "
            f"trees in significantly different proportions (score {score:.0f}, up to 3 is usual). "
            "What the labels tell of a leaf may not hold for them.",
            ShiftWarning,
        )
    return score
