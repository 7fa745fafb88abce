"""Models in files that are safe to load, whoever made them: nothing in them is run.

A file is that of skops, a zip of arrays and of a description in JSON, and one more entry with the
format and the version that wrote it. The last bytes of the file, the comment of the zip, are a
checksum over all others: a damaged file is not loaded. It does not tell who made a file, since
whoever changes a file can compute it again. So sizes are checked before anything is unpacked, and
what compiled code relies on before the model is returned.

Compiled code does not look whether a node, row, column or class exists, and skops restores objects
without their constructors. So each class of ours whose arrays are indices in a kernel has a method
``check_arrays``; functions here do the same for compiled code of scikit-learn and SciPy. Then the
model predicts once, which shows whether its parts fit together.
"""

from __future__ import annotations

import hashlib
import json
import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
from numpy.lib import format as npy_format
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.tree import BaseDecisionTree

from hedgeclipper import __version__
from hedgeclipper.base.predictions import TablePredictor
from hedgeclipper.classifier import HedgeClipperClassifier
from hedgeclipper.io.arrays import is_array
from hedgeclipper.io.atomic import atomic_path
from hedgeclipper.io.messages import import_extra
from hedgeclipper.sklearn_private import Tree
from hedgeclipper.votes.aggregator import VoteAggregator
from hedgeclipper.votes.initial_model import VoteModel

# raised whenever a saved type is renamed or moved, or stores something else
FORMAT = 19
HEADER = "hedgeclipper.json"
_ZIP_MAGIC = b"PK\x03\x04"
# NumPy reads no longer header of an array
_MOST_HEADER = 10_000
_CHECKSUM_BYTES = 64
# what a file may unpack to: models that we saved take 3 to 12 times the size of their files
_FREE_BYTES, _MOST_TIMES = 16 * 2**20, 32


class ModelFileError(ValueError):
    """A file is not a model, is damaged, of another version, or holds what is not trusted."""


def save(model: Any, path: str | Path, *, force: bool = False) -> Path:
    """Write a model to a file that `load` reads without running any code in it.

    The file appears when all is written; on an error, a file that was there before stays. A model
    that holds estimators of other libraries, such as voters of your own, can be saved too, but
    `load` must be told that it may trust their types.

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
        content = skops.dumps(model)
        with ZipFile(BytesIO(content)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        header = json.dumps({"format": FORMAT, "hedgeclipper": __version__}).encode()
        draft.write_bytes(archive_of({**parts, HEADER: header}))
    return Path(path).expanduser().resolve()


def archive_of(parts: Mapping[str, bytes]) -> bytes:
    """Return a file with the parts of a model by name, compressed if they may be."""
    for method in (ZIP_DEFLATED, ZIP_STORED):
        buffer = BytesIO()
        with ZipFile(buffer, "w", method, compresslevel=1) as archive:
            for name, part in parts.items():
                archive.writestr(name, part)
            archive.comment = bytes(_CHECKSUM_BYTES)
        content = buffer.getvalue()[:-_CHECKSUM_BYTES]
        if sum(map(len, parts.values())) <= _room(len(content)):
            break
    return content + _checksum(content)


def load(path: str | Path, *, trusted: Sequence[str] = ()) -> Any:
    """Return the model of a file that `save` has written.

    The file may come from anyone: only types that are known to be harmless are created, those of
    this package, scikit-learn, NumPy and SciPy that a model can hold. A file that holds another
    type, has a byte changed, or unpacks to far more than a model does is refused before anything
    is created. So is, before it is returned, a model in which compiled code would look for a node,
    row, column or class that does not exist. What the model predicts is still up to whoever made
    the file. scikit-learn warns where another version of it has saved the model.

    Parameters
    ----------
    path : str or Path
        The file.
    trusted : sequence of str, default=()
        Full names of other types to create, such as ``"lightgbm.sklearn.LGBMClassifier"`` for a
        voter of your own. The error message names those that are missing; pass them only if you
        trust whoever made the file, since creating them may run code.

    Returns
    -------
    estimator
        The model, with the same predictions.

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged, has the format of another version, or holds a type
        that is not trusted.

    See Also
    --------
    save : Write the file; its example reads one, too.
    """
    skops = import_extra("skops.io", "cli", "Loading a model")
    path = Path(path).expanduser()
    content = path.read_bytes()
    _check_header(path, content)
    try:
        if _checksum(memoryview(content)[:-_CHECKSUM_BYTES]) != content[-_CHECKSUM_BYTES:]:
            raise ValueError("its checksum is not that of its content")
        sizes = _check_sizes(content, _room(len(content)))
        _check_reads(content, sizes, _room(len(content)))
        refused = sorted({*skops.get_untrusted_types(data=content)} - {*TRUSTED, *trusted})
        if not refused:
            model = skops.loads(content, trusted=[*TRUSTED, *trusted])
            check_model(model)
            return model
    except Exception as error:
        raise ModelFileError(
            f"{path} is damaged ({error}). Replace it with a whole copy."
        ) from error
    raise ModelFileError(
        f"{path} holds {', '.join(refused)}, which is not trusted: loading it could run code. "
        "Nothing was loaded. If you trust who made the file, pass these names to hedgeclipper.load "
        "as trusted."
    )


def _check_header(path: Path, content: bytes) -> None:
    """Raise if the file is not ours, or of another format."""
    try:
        with ZipFile(BytesIO(content)) as archive, archive.open(HEADER) as file:
            header = json.loads(file.read(1 << 16))
            its_format, version = int(header["format"]), str(header["hedgeclipper"])
    except Exception as error:
        raise ModelFileError(
            f"{path} is not a HedgeClipper model, or is damaged ({error}). Pass a whole file that "
            "hedgeclipper.save or `hedgeclipper fit` has written."
        ) from error
    if its_format != FORMAT:
        advice = "Fit the model again and save it."
        if its_format > FORMAT:
            advice = "Update with pip install --upgrade hedgeclipper."
        raise ModelFileError(
            f"{path} was saved by HedgeClipper {version} in format {its_format}. This version, "
            f"{__version__}, reads format {FORMAT}. {advice}"
        )


def _checksum(content: bytes | memoryview) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _room(n_bytes: int) -> int:
    """Return how many bytes a file of this size may unpack to."""
    return _FREE_BYTES + _MOST_TIMES * n_bytes


def _check_sizes(content: bytes, room: int) -> Counter[str]:
    """Return how many bytes each part takes when it is unpacked; raise if there is no room.

    What parts say of their sizes is compared with what they are. They are unpacked for it bit by
    bit, and those that are archives themselves, sparse matrices, in turn.
    """
    sizes: Counter[str] = Counter()
    with ZipFile(BytesIO(content)) as archive:
        for part in archive.infolist():
            if part.file_size > room or part.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
                raise ValueError("it unpacks to far more than a model")
            room -= part.file_size
            sizes[part.filename] += part.file_size
            part.file_size += 1  # so that one byte more would be read
            with archive.open(part) as file:
                start = file.read(_MOST_HEADER)
                rest = iter(partial(file.read, 1 << 20), b"")
                n_bytes = len(start) + sum(map(len, rest))
            part.file_size -= 1
            if n_bytes != part.file_size or _array_size(start, n_bytes) != n_bytes:
                raise ValueError("a part of it is longer or shorter than it says")
            if start.startswith(_ZIP_MAGIC):
                n_inside = _check_sizes(archive.read(part), room).total()
                room -= n_inside
                sizes[part.filename] += n_inside
    return sizes


def _array_size(start: bytes, otherwise: int) -> int:
    """Return how many bytes an array with this header takes; NumPy allocates them unseen.

    ``otherwise`` is returned for what is no array.
    """
    if not start.startswith(npy_format.MAGIC_PREFIX):
        return otherwise
    header = BytesIO(start)
    if npy_format.read_magic(header) != (1, 0):
        raise ValueError("an array has a header that no model has")
    shape, _, dtype = npy_format.read_array_header_1_0(header)
    # entries of no bytes would cost nothing here, and memory as objects
    return header.tell() + math.prod(shape) * max(dtype.itemsize, 1)


def _check_reads(content: bytes, sizes: Counter[str], room: int) -> None:
    """Raise if parts take too much memory as often as the description has them read."""
    reads: Counter[str] = Counter()
    known = set()

    def count_read(node: dict[str, Any]) -> None:
        name, identity = node.get("file"), node.get("__id__")
        if name is not None and not (identity and (name, identity) in known):
            reads[name] += 1
        known.add((name, identity))  # which skops reads only once

    with ZipFile(BytesIO(content)) as archive:
        json.loads(archive.read("schema.json"), object_hook=count_read)
    if sum(sizes[name] * n_reads for name, n_reads in reads.items()) > room:
        raise ValueError("it unpacks to far more than a model")


def parts_of(model: Any) -> Iterator[Any]:
    """Yield every object that can be reached from a model, once each."""
    seen, waiting = set(), [model]
    while waiting:
        part = waiting.pop()
        # kept alive by the model, so that no number is used twice
        if id(part) not in seen:
            seen.add(id(part))
            yield part
            waiting.extend(_held_by(part))


def _held_by(part: Any) -> Iterable[Any]:
    if isinstance(part, dict):
        return part.values()
    if isinstance(part, (list, tuple, set)):
        return part
    if isinstance(part, np.ndarray):
        return part.ravel().tolist() if part.dtype == object else ()
    return getattr(part, "__dict__", {}).values()


def check_model(model: Any) -> None:
    """Raise unless what the parts of a model refer to exists, and it predicts probabilities."""
    parts = list(parts_of(model))
    for part in parts:
        _check_part(part)
    for part in parts:
        if isinstance(part, HedgeClipperClassifier | VoteAggregator):
            _try_predictions(part)


def _check_part(part: Any) -> None:
    kind = type(part)
    if kind.__module__.startswith(("hedgeclipper.", "scipy.")):
        own = getattr(part, "__dict__", {})  # is looked into before the methods of the class
        _require(not any(callable(getattr(kind, name, None)) for name in own), "methods")
    if not isinstance(part, BaseDecisionTree):  # others would not check the rows of a tree
        _require(not any(isinstance(held, Tree) for held in _held_by(part)), "trees")
    if hasattr(kind, "check_arrays"):
        part.check_arrays()
    elif check := TYPES_OF_OTHERS.get(f"{kind.__module__}.{kind.__name__}"):
        check(part)
    elif sparse.issparse(part):
        _check_sparse(part)
    elif isinstance(part, BaseEstimator):
        _check_columns(part)


def _require(holds: bool | np.bool_, what: str) -> None:
    if not holds:
        raise ValueError(f"its {what} do not fit together")


def _check_sparse(matrix: Any) -> None:
    """Raise unless entries are in rows and columns that exist, whatever the file calls the type."""
    _require(matrix.format in ("csr", "csc"), "sparse matrices")
    indices = matrix.indices, matrix.indptr  # SciPy only warns of other dtypes
    _require(all(is_array(array, "iu", None) for array in indices), "sparse matrices")
    matrix.check_format(full_check=True)


def _check_nodes(left: Any, right: Any, is_inner: Any, columns: Any, n_columns: int) -> None:
    """Raise unless inner nodes have columns, and children further down, so that paths end."""
    inner = np.flatnonzero(is_inner)
    children = np.concatenate([left[inner], right[inner]]).astype(int)
    _require(len(left) > 0 and np.all(children > np.tile(inner, 2)), "nodes")
    _require(np.all(children < len(left)), "nodes")
    _require(np.all((columns[inner] >= 0) & (columns[inner] < n_columns)), "trees and columns")


def _check_tree(tree: Any) -> None:
    left, right = tree.children_left, tree.children_right
    _check_nodes(left, right, left != -1, tree.feature, tree.n_features)


def _check_columns(model: Any) -> None:
    """Raise if trees of an estimator use columns that its rows need not have."""
    members = getattr(model, "estimators_", [])
    if isinstance(members, np.ndarray):  # gradient boosting takes all of them for trees
        members = members.ravel().tolist()
        _require(all(isinstance(one, BaseDecisionTree) for one in members), "trees")
    for one in (model, *members):
        if isinstance(one, BaseDecisionTree) and hasattr(one, "tree_"):
            widths = [len(columns) for columns in getattr(model, "estimators_features_", [])]
            fits = isinstance(one.tree_, Tree)
            fits = fits and one.tree_.n_features <= min([model.n_features_in_, *widths])
            _require(fits, "trees and columns")
    for tree in (tree for trees in getattr(model, "_predictors", []) for tree in trees):
        _check_boosted_tree(tree, model)
    if getattr(model, "_preprocessor", None) is not None:
        # scikit-learn's own keeps all columns; the function in it is loaded only if it is trusted
        steps = [step for _, step, _ in model._preprocessor.transformers_]
        _require(any(isinstance(getattr(step, "func", 0), partial) for step in steps), "columns")


def _check_boosted_tree(tree: Any, model: Any) -> None:
    """Raise unless nodes and columns exist, and each split of categories has a set of 256 bits."""
    nodes, n_columns = tree.nodes, model.n_features_in_
    is_inner, column = nodes["is_leaf"] == 0, nodes["feature_idx"]
    _check_nodes(nodes["left"], nodes["right"], is_inner, column, n_columns)
    is_known, has_set = model._bin_mapper.is_categorical_, (nodes["is_categorical"] != 0) & is_inner
    _require(is_array(is_known, "bu", n_columns) and is_known[column[has_set]].all(), "categories")
    for sets in (tree.raw_left_cat_bitsets, tree.binned_left_cat_bitsets):
        exist = is_array(sets, "u", None, 8) and np.all(nodes["bitset_idx"][has_set] < len(sets))
        _require(exist, "categories")


def _try_predictions(model: Any) -> None:
    """Raise unless a fitted model predicts probabilities, where all voters predict 0.5."""
    predictor: Any = getattr(model, "_predictor", None)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if isinstance(predictor, VoteModel):
            labels = np.array([[model.classes_[0]], [None]], dtype=object)
            found = model.predict_proba(np.repeat(labels, model.voters_.size, axis=1))
        elif isinstance(predictor, TablePredictor):
            shape = (1, len(predictor.scorer.names), len(predictor.votes))
            found = predictor.probabilities(predictor.raw_of(np.full(shape, 0.5)))
        else:
            return
    _require(model.classes_.shape == found.shape[1:], "classes")
    _require(np.all(found >= 0) and np.allclose(found.sum(axis=1), 1.0), "probabilities")


# Types that models may hold, by their full names, beyond those that skops trusts by itself
# (scikit-learn's estimators, NumPy's arrays), and how each is checked. By name: a type that
# scikit-learn renames is refused, and not used without its check.
TYPES_OF_OTHERS: dict[str, Callable[[Any], None] | None] = {
    "numpy.dtype": None,
    "scipy.sparse._csc.csc_array": None,
    "scipy.sparse._csc.csc_matrix": None,
    "scipy.sparse._csr.csr_array": None,
    "scipy.sparse._csr.csr_matrix": None,
    # a list, until scikit-learn 1.9
    "sklearn.compose._column_transformer._RemainderColsList": None,
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor": None,
    "sklearn.pipeline.Pipeline": None,
    "sklearn.tree._tree.Tree": _check_tree,
}

# our own types that a saved model is made of, by module and class, as files name them
OWN_TYPES = (
    "base.columns.ColumnEncoder",
    "base.columns.ColumnPlan",
    "base.columns.ColumnScale",
    "base.columns.TextView",
    "base.predictions.TablePredictor",
    "base.row_reader.RowReader",
    "base.semi_supervised.SemiSupervisedSplit",
    "bounds.certificate.Certificate",
    "bounds.certificate.RateEvidence",
    "bounds.tested_predictions.TestedPredictions",
    "bounds.sample.FirstQuestion",
    "classifier.HedgeClipperClassifier",
    "out_of_sample.TestedRows",
    "table_inspection.UnlabeledGain",
    "voters.tree_groups.TreeGroup",
    "voters.tree_groups.TreeScorer",
    "voters.trees.PackedTrees",
    "voters.views.Components",
    "voters.views.QuantileColumns",
    "voters.voters.VoterScorer",
    "votes.aggregator.VoteAggregator",
    "votes.initial_model.VoteModel",
    "votes.labeled_votes.LabeledVotes",
    "votes.matrix.Votes",
    "votes.vote_game.Constraints",
    "votes.vote_game.VoterBounds",
    "weighing.RankScale",
    "weighing.VoteScales",
    "weighing.WeightedVote",
)

TRUSTED = (*(f"hedgeclipper.{name}" for name in OWN_TYPES), *TYPES_OF_OTHERS)
