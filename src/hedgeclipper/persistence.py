"""Models in files that are safe to load, whoever made them: nothing in them is run.

A file is that of skops, a zip of arrays and of a description in JSON, and one more entry with the
format and the versions that wrote it. The description names our types as `saved_types` does, so
that a file can be read after classes were moved or renamed, and can name no others.

Trees are walked by compiled code that does not check whether a child or a column exists. In a
hostile file they need not, so that `check_trees` does.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator, Sequence
from copy import deepcopy
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

import numpy as np
import sklearn
from scipy import sparse
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.neighbors import BallTree, KDTree
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import BaseDecisionTree
from sklearn.tree._tree import Tree

from hedgeclipper import __version__, saved_types
from hedgeclipper.forest.groups import GroupScorer
from hedgeclipper.forest.leaf_game import LeafStream
from hedgeclipper.forest.leaves import LeafPredictor
from hedgeclipper.forest.trees import LeafFinder, PackedTrees, ViewedTrees
from hedgeclipper.forest.views import Components
from hedgeclipper.io.atomic import atomic_path
from hedgeclipper.io.extras import import_extra
from hedgeclipper.io.progress import warn_user

FORMAT = 2
HEADER = "hedgeclipper.json"
_SCHEMA = "schema.json"
_ZIP_MAGIC = b"PK\x03\x04"
_FAST = 1

# beyond those that skops trusts by itself: scikit-learn's estimators, and NumPy's arrays
_TYPES_OF_OTHERS = [
    "numpy.dtype",
    "scipy.sparse._csc.csc_array",
    "scipy.sparse._csc.csc_matrix",
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
    "sklearn.compose._column_transformer._RemainderColsList",  # a list, until scikit-learn 1.9
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.tree._tree.Tree",
]
# today's full name of each of our types -> its name in a file
_NAMES = {
    f"{type_.__module__}.{type_.__name__}": name
    for name, type_ in vars(saved_types).items()
    if isinstance(type_, type)
}
TRUSTED = (*(f"{saved_types.__name__}.{name}" for name in _NAMES.values()), *_TYPES_OF_OTHERS)


class ModelFileError(ValueError):
    """A file is no model, is damaged, comes from a newer version, or holds what is not trusted."""


class OtherVersionWarning(UserWarning):
    """A model was saved with another version of scikit-learn."""


def save(model: Any, path: str | Path, *, force: bool = False) -> Path:
    """Write a model to a file that `load` reads without running any code in it.

    The file appears when all is written; on an error, a file that was there before stays. It holds
    the number of its format and stable names of types, so that later versions of HedgeClipper can
    read it. A model that holds estimators of other libraries, such as members of a panel, can be
    saved too, but `load` must be told that it may trust their types.

    Parameters
    ----------
    model : estimator
        A classifier or aggregator of this package, fitted or not, or a pipeline around one. It is
        not changed.
    path : str or Path
        The file to write, by convention with the suffix ``.skops``.
    force : bool, default=False
        Whether a file that exists may be replaced; if not, it is an error.

    Returns
    -------
    Path
        The absolute path of the file.

    See Also
    --------
    load : Read the file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from hedgeclipper import VoteAggregator
    >>> votes, gold = [[0, 0, 1], [1, 1, 1], [0, -1, 0], [1, 0, 1]], [0, 1, -1, -1]
    >>> model = VoteAggregator().fit(votes, gold)
    >>> with TemporaryDirectory() as folder:
    ...     load(save(model, f"{folder}/votes.skops")).predict(votes)
    array([0, 1, 0, 1])
    """
    skops = import_extra("skops.io", "cli", "Saving a model")
    with atomic_path(path, force=force) as draft:
        content = BytesIO()
        skops.dump(without_tree_seeds(model), content)
        with (
            ZipFile(content) as parts,
            ZipFile(draft, "w", ZIP_DEFLATED, compresslevel=_FAST) as archive,
        ):
            for name in parts.namelist():
                part = parts.read(name)
                archive.writestr(name, _with_stable_names(part) if name == _SCHEMA else part)
            versions = {"hedgeclipper": __version__, "scikit-learn": sklearn.__version__}
            archive.writestr(HEADER, json.dumps({"format": FORMAT, **versions}))
    return Path(path).expanduser().resolve()


def load(path: str | Path, *, trusted: Sequence[str] = ()) -> Any:
    """Return the model of a file that `save` has written.

    The file may come from anyone: only types that are known to be harmless are created, those of
    this package, scikit-learn, NumPy and SciPy that a model can hold, and the trees in it are
    checked before they are used. A file that holds another type is refused before anything is
    created. What the model predicts is still up to whoever made the file. Another version of
    scikit-learn than the one that saved the model causes a warning.

    Parameters
    ----------
    path : str or Path
        The file.
    trusted : sequence of str, default=()
        Full names of other types to create, such as ``"lightgbm.sklearn.LGBMClassifier"`` for a
        member of a panel. The error message names those that are missing; pass them only if you
        trust whoever made the file, since creating them may run code.

    Returns
    -------
    estimator
        The model, with the same predictions.

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged, has another format or comes from a newer version,
        or holds a type that is not trusted.

    See Also
    --------
    save : Write the file; its example reads one, too.
    """
    skops = import_extra("skops.io", "cli", "Loading a model")
    path = Path(path).expanduser()
    content = path.read_bytes()
    _check_header(path, content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InconsistentVersionWarning)
            model = skops.loads(content, trusted=[*TRUSTED, *trusted])
        check_trees(model)
    except import_extra("skops.io.exceptions", "cli", "A model").UntrustedTypesFoundException:
        found = set(skops.get_untrusted_types(data=content)) - {*TRUSTED, *trusted}
        raise ModelFileError(
            f"{path} holds {', '.join(sorted(found))}, which is not trusted: loading it could run "
            "code. Nothing was loaded. If you trust who made the file, pass these names to "
            "hedgeclipper.load as trusted."
        ) from None
    except Exception as error:
        raise ModelFileError(
            f"{path} is damaged ({error}). Replace it with a whole copy."
        ) from error
    return model


def _with_stable_names(schema: bytes) -> str:
    """Return a description of skops in which our types have the names of `saved_types`."""

    def rename(node: dict[str, Any]) -> dict[str, Any]:
        name = _NAMES.get(f"{node.get('__module__')}.{node.get('__class__')}")
        known = {} if name is None else {"__module__": saved_types.__name__, "__class__": name}
        return {**node, **known}

    return json.dumps(json.loads(schema, object_hook=rename))


def _check_header(path: Path, content: bytes) -> None:
    """Raise if the file is not ours or of another format; warn if scikit-learn's version is."""
    try:
        with ZipFile(BytesIO(content)) as archive:
            header = json.loads(archive.read(HEADER))
            its_format, theirs = int(header.get("format", 0)), str(header["hedgeclipper"])
            its_sklearn = str(header["scikit-learn"])
    except (BadZipFile, EOFError, AttributeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, (BadZipFile, EOFError)) and content.startswith(_ZIP_MAGIC):
            raise ModelFileError(
                f"{path} is cut short or damaged ({error}). Replace it with a whole copy."
            ) from error
        raise ModelFileError(
            f"{path} is no model of HedgeClipper. Pass a file that hedgeclipper.save or "
            "`hedgeclipper fit` has written."
        ) from error
    if its_format > FORMAT or _release(theirs) > _release(__version__):
        raise ModelFileError(
            f"{path} was saved by HedgeClipper {theirs} in format {its_format}, which is newer "
            f"than this one, {__version__} with format {FORMAT}. Update with pip install --upgrade "
            "hedgeclipper."
        )
    if its_format < FORMAT:
        raise ModelFileError(
            f"{path} was saved by HedgeClipper {theirs} in format {its_format}, which is no longer "
            f"read; this version reads format {FORMAT}. Fit the model again and save it."
        )
    if its_sklearn != sklearn.__version__:
        warn_user(
            f"{path} was saved with scikit-learn {its_sklearn}, and this is "
            f"{sklearn.__version__}: predictions may differ. Fit the model again to be sure.",
            OtherVersionWarning,
        )


def _release(version: str) -> tuple[int, ...]:
    """Return major and minor number; files are the same within these."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])


def parts_of(model: Any) -> Iterator[Any]:
    """Yield every object that can be reached from a model, once each."""
    seen, waiting = set(), [model]
    while waiting:
        part = waiting.pop()
        # kept alive by the model, so that no number is used twice
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, (list, tuple, set)):
            waiting.extend(part)
        elif isinstance(part, np.ndarray):
            waiting.extend(part.ravel().tolist() if part.dtype == object else [])
        elif hasattr(part, "__dict__"):
            waiting.extend(vars(part).values())


def without_tree_seeds(model: Any) -> Any:
    """Return a copy whose fitted trees have no random state, which boosters keep in each."""
    copy = deepcopy(model)
    for part in parts_of(copy):
        is_fitted_tree = isinstance(part, BaseDecisionTree) and hasattr(part, "tree_")
        if is_fitted_tree and isinstance(part.random_state, np.random.RandomState):
            part.random_state = None
    return copy


def check_trees(model: Any) -> None:
    """Raise unless all trees and views of a model refer to nodes, rows and columns that exist."""
    for part in parts_of(model):
        if isinstance(part, Tree):
            _check_links(part.children_left, part.children_right, part.children_left == -1)
            _check_range(part.feature[part.children_left != -1], part.n_features)
        elif isinstance(part, TreePredictor):
            nodes = part.nodes
            _check_links(nodes["left"].astype(int), nodes["right"].astype(int), nodes["is_leaf"])
            _check_categories(part)
        elif isinstance(part, KDTree | BallTree):
            _check_neighbors(part)
        elif isinstance(part, PackedTrees):
            _check_packed(part)
        elif isinstance(part, ViewedTrees):
            _check_viewed(part)
        elif isinstance(part, Components):
            _check_components(part)
        elif isinstance(part, LeafPredictor):
            _require(part.leaf_scores.shape == (part.finder.n_leaves.sum(), part.n_games))
        elif isinstance(part, GroupScorer):
            _check_groups(part)
        elif isinstance(part, LeafStream):
            _check_sample(part)
        elif sparse.issparse(part) and hasattr(part, "check_format"):
            part.check_format(full_check=True)
        elif hasattr(part, "n_features_in_") and hasattr(part, "__dict__"):
            _check_width(part)


def _check_width(model: Any) -> None:
    """Raise if a tree of an ensemble uses columns that the ensemble does not require."""
    members = np.ravel(np.asarray(getattr(model, "estimators_", [model]), dtype=object))
    trees = [getattr(member, "tree_", None) for member in members]
    columns = getattr(model, "estimators_features_", None) or [[model.n_features_in_ - 1]]
    widest = max(int(np.max(own, initial=-1)) for own in columns) + 1
    _require(widest <= model.n_features_in_)
    if not hasattr(model, "estimators_features_"):
        _require(all(tree.n_features <= widest for tree in trees if tree is not None))
    if hasattr(model, "_predictors"):
        _check_booster(model)


def _check_booster(model: Any) -> None:
    """Raise unless boosted trees use columns that exist, and categories of categorical ones."""
    known = np.asarray(model._bin_mapper.is_categorical_)
    _require(known.shape == (model.n_features_in_,))
    for one in (one for predictors in model._predictors for one in predictors):
        columns = one.nodes["feature_idx"]
        _check_range(columns, model.n_features_in_)
        _require(np.all(known[columns[_splits_categories(one)]]))
    if getattr(model, "_preprocessor", None) is not None:
        # scikit-learn's own keeps all columns; the function in it is loaded only if it is trusted
        steps = [step for _, step, _ in model._preprocessor.transformers_]
        functions = [step.func for step in steps if isinstance(step, FunctionTransformer)]
        _require(any(isinstance(function, partial) for function in functions))


def _splits_categories(tree: TreePredictor) -> np.ndarray:
    return (tree.nodes["is_categorical"] != 0) & (tree.nodes["is_leaf"] == 0)


def _check_categories(tree: TreePredictor) -> None:
    """Raise unless each node that splits categories has its set of them, 256 bits."""
    numbers = tree.nodes["bitset_idx"][_splits_categories(tree)]
    for sets in (tree.raw_left_cat_bitsets, tree.binned_left_cat_bitsets):
        _require(sets.ndim == 2 and sets.shape[1] == 8)
        _check_range(numbers, len(sets))


def _check_neighbors(tree: KDTree | BallTree) -> None:
    """Raise unless a tree of neighbors has all its nodes, and these have rows that exist."""
    rows, order, nodes, bounds = (np.asarray(array) for array in tree.get_arrays())
    n_rows, n_columns = rows.shape
    n_bounds = 2 if isinstance(tree, KDTree) else 1
    _require(order.shape == (n_rows,))
    _check_range(order, n_rows)
    _require(nodes.size > 0 and bounds.shape == (n_bounds, nodes.size, n_columns))
    starts, ends = nodes["idx_start"], nodes["idx_end"]
    _require(np.all((starts >= 0) & (starts <= ends) & (ends <= n_rows)))
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    _check_range(2 * inner + 2, nodes.size)
    _require(all(field is not None for field in tree.__getstate__()[:-1]))


def _check_packed(trees: PackedTrees) -> None:
    is_leaf = trees.left < 0
    n_nodes = is_leaf.size
    arrays = (trees.feature, trees.threshold, trees.right, trees.missing_left, trees.leaf)
    _require(all(array.shape == (n_nodes,) for array in (*arrays, trees.parent)))
    _check_links(trees.left, trees.right, is_leaf)
    _check_parents(trees, np.flatnonzero(~is_leaf))
    _check_range(trees.feature[~is_leaf], trees.used.size)
    _require(np.all(trees.used >= 0))
    _check_range(trees.roots, n_nodes)
    _require(trees.roots.shape == trees.n_leaves.shape)
    _check_range(trees.n_leaves, n_nodes + 1)  # so that their sum is what it seems
    n_leaves = int(trees.n_leaves.sum())
    _require(n_leaves == is_leaf.sum() == len(trees.leaf_values))
    _require(trees.leaf_sizes.shape == (n_leaves,))
    level, depth = np.stack([trees.roots, np.arange(trees.n_trees)]), -1
    while level.size:
        depth += 1
        node, tree = level
        leaves = is_leaf[node]
        _require(np.all(trees.leaf[node[leaves]] < trees.n_leaves[tree[leaves]]))
        inner = level[:, ~leaves]
        below = [np.stack([side[inner[0]], inner[1]]) for side in (trees.left, trees.right)]
        level = np.concatenate(below, axis=1)
    _require(depth <= trees.depth)


def _check_parents(trees: PackedTrees, inner: np.ndarray) -> None:
    """Raise unless every node but the roots has one parent, which is noted."""
    children = np.concatenate([trees.left[inner], trees.right[inner]])
    every = np.sort(np.concatenate([trees.roots, children]))
    _require(np.array_equal(every, np.arange(trees.left.size)))
    parent = np.full(trees.left.size, -1)
    parent[children] = np.tile(inner, 2)
    _require(np.array_equal(trees.parent, parent))


def _check_viewed(trees: ViewedTrees) -> None:
    """Raise unless trees on each view are there, and their leaves are those of all together."""
    _require(len(trees.views) == len(trees.parts) > 0)
    _require(all(isinstance(part, LeafFinder) for part in trees.parts))
    counts = np.concatenate([part.n_leaves for part in trees.parts])
    _require(np.array_equal(trees.n_leaves, counts))
    _require(len(trees.leaf_values) == counts.sum())


def _check_components(view: Components) -> None:
    """Raise unless all columns, and no others, have what their components are made of."""
    if not hasattr(view, "directions_"):  # not fitted
        return
    n_columns, n_components = view.directions_.shape
    _require(view.n_features_in_ == n_columns and view.offset_.shape == (n_components,))
    columns = view.fill_, view.lowest_, view.highest_
    _require(all(column.shape == (n_columns,) for column in columns))
    _require(
        all(np.isfinite(array).all() for array in (view.directions_, view.offset_, columns[0]))
    )
    _require(not np.isnan(columns[1:]).any())


def _check_groups(scorer: GroupScorer) -> None:
    """Raise unless each tree is in a group, and each leaf has a value in each game."""
    finder, groups, values = scorer.finder, scorer.groups, scorer.leaf_values
    _require(isinstance(finder, LeafFinder) and groups.shape == (finder.n_trees,))
    _require(groups.size > 0 and groups[0] == 0 and np.isin(np.diff(groups), (0, 1)).all())
    _require(values.ndim == 2 and values.shape[0] > 0)
    _require(values.shape[1] == finder.n_leaves.sum())


def _check_sample(stream: LeafStream) -> None:
    """Raise unless the rows that a game goes on with are in leaves that exist."""
    sample, finder = stream.reservoir._sample, stream.finder
    n_leaves = finder.n_leaves.sum()
    _require(all(one.labeled.finder is finder for one in stream.evidence))
    _require(all(one.table.awake.shape[0] == n_leaves for one in stream.evidence))
    if sample is None:
        return
    _require(sample.dtype.kind == "u" and sample.ndim == 2 and len(sample) == finder.n_trees)
    _require(np.all(sample < finder.n_leaves[:, None]))


def _check_links(left: np.ndarray, right: np.ndarray, is_leaf: np.ndarray) -> None:
    """Raise unless each inner node has two children further down, so that every path ends."""
    _require(left.size > 0)
    inner = np.flatnonzero(np.asarray(is_leaf) == 0)
    for children in (left, right):
        _check_range(children[inner], left.size)
        _require(np.all(children[inner] > inner))


def _check_range(numbers: np.ndarray, size: int) -> None:
    _require(np.all((numbers >= 0) & (numbers < size)))


def _require(holds: bool | np.bool_) -> None:
    if not holds:
        raise ValueError("a tree in it refers to a node, row or column that does not exist")
