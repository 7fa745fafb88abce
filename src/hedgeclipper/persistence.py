"""Models in files that are safe to load, whoever made them: nothing in them is run.

A file is that of skops, a zip of arrays and of a description in JSON, and one more entry with the
format and the versions that wrote it. The description names our types as `saved_types` does, so
that a file can be read after classes were moved or renamed, and can name no others.

The last bytes of the file, the comment of the zip, are a checksum over all others: a damaged file
is not loaded. It does not tell who made a file, since whoever changes a file can compute it again.
So sizes are checked before anything is unpacked, and what compiled code relies on before the model
is returned (`model_checks`, and ``check_arrays`` of our types).
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import partial
from importlib import import_module
from inspect import isabstract
from io import BytesIO
from itertools import takewhile
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
import sklearn
from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.tree import BaseDecisionTree

from hedgeclipper import __version__, saved_types
from hedgeclipper.io.atomic import atomic_path
from hedgeclipper.io.extras import import_extra
from hedgeclipper.io.progress import warn_user
from hedgeclipper.model_checks import TYPES_OF_OTHERS, check_model, parts_of

FORMAT = 8
HEADER = "hedgeclipper.json"
_SCHEMA = "schema.json"
_ZIP_MAGIC = b"PK\x03\x04"
_FAST = 1
_CHUNK = 1 << 20
_MOST_IN_HEADER = 1 << 16
_CHECKSUM_BYTES = 64
# what a file may unpack to: models that we saved take 3 to 12 times the size of their files
_FREE_BYTES, _MOST_TIMES = 16 * 2**20, 32
# parts of scikit-learn in which there is no estimator for users
_NOT_LISTED = {"tests", "externals", "conftest", "experimental", "estimator_checks"}

# today's full name of each of our types -> its name in a file
_NAMES = {
    f"{type_.__module__}.{type_.__name__}": name
    for name, type_ in vars(saved_types).items()
    if isinstance(type_, type)
}
TRUSTED = (*(f"{saved_types.__name__}.{name}" for name in _NAMES.values()), *TYPES_OF_OTHERS)


class ModelFileError(ValueError):
    """A file is not a model, is damaged, of a newer version, or holds what is not trusted."""


class OtherVersionWarning(UserWarning):
    """A model was saved with another version of scikit-learn."""


def save(model: Any, path: str | Path, *, force: bool = False) -> Path:
    """Write a model to a file that `load` reads without running any code in it.

    The file appears when all is written; on an error, a file that was there before stays. It holds
    the number of its format and stable names of types, so that later versions of HedgeClipper can
    read it. A model that holds estimators of other libraries, such as members of a panel, can be
    saved too, but `load` must be told that it may trust their types. The trees of a forest are
    saved as predictions use them, and not a second time as ``estimators_``.

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
        skops.dump(_lean_copy(model), content)
        with ZipFile(content) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        versions = {"hedgeclipper": __version__, "scikit-learn": sklearn.__version__}
        header = json.dumps({"format": FORMAT, **versions}).encode()
        schema = _with_stable_names(parts[_SCHEMA]).encode()
        draft.write_bytes(archive_of({**parts, _SCHEMA: schema, HEADER: header}))
    return Path(path).expanduser().resolve()


def archive_of(parts: Mapping[str, bytes]) -> bytes:
    """Return a file with the parts of a model by name, compressed if they may be."""
    for method in (ZIP_DEFLATED, ZIP_STORED):
        buffer = BytesIO()
        with ZipFile(buffer, "w", method, compresslevel=_FAST) as archive:
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
    the file. Another version of scikit-learn than the one that saved the model causes a warning.

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
        _check_whole(content)
        _check_sizes(content, _room(len(content)))
        found = set(skops.get_untrusted_types(data=content)) - {*TRUSTED, *trusted}
        refused = sorted(name for name in found if not _is_sklearn_estimator(name))
        if not refused:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", InconsistentVersionWarning)
                model = skops.loads(content, trusted=[*TRUSTED, *trusted, *found])
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


def _is_sklearn_estimator(name: str) -> bool:
    """Return whether this is the full name of one of the estimators that scikit-learn lists.

    skops trusts them by itself, unless it was imported without their list. To look in one public
    module is faster than to make the list.
    """
    module, _, class_name = name.rpartition(".")
    package, *parts = module.split(".")
    if package != "sklearn" or _NOT_LISTED.intersection(parts) or class_name.startswith("_"):
        return False
    public = takewhile(lambda part: not part.startswith("_"), [package, *parts])
    try:
        found = getattr(import_module(".".join(public)), class_name, None)
    except ImportError:
        return False
    if not (isinstance(found, type) and issubclass(found, BaseEstimator)):
        return False
    return found.__module__ == module and found is not BaseEstimator and not isabstract(found)


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
        with ZipFile(BytesIO(content)) as archive, archive.open(HEADER) as file:
            header = json.loads(file.read(_MOST_IN_HEADER))
            its_format, theirs = int(header.get("format", 0)), str(header["hedgeclipper"])
            its_sklearn = str(header["scikit-learn"])
    except Exception as error:
        is_other = isinstance(error, (AttributeError, KeyError, TypeError, ValueError))
        if content.startswith(_ZIP_MAGIC) and not is_other:
            raise ModelFileError(
                f"{path} is cut short or damaged ({error}). Replace it with a whole copy."
            ) from error
        raise ModelFileError(
            f"{path} is not a HedgeClipper model. Pass a file that hedgeclipper.save or "
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


def _checksum(content: bytes | memoryview) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _check_whole(content: bytes) -> None:
    """Raise unless the last bytes are the checksum of the others."""
    if _checksum(memoryview(content)[:-_CHECKSUM_BYTES]) != content[-_CHECKSUM_BYTES:]:
        raise ValueError("its checksum is not that of its content")


def _room(n_bytes: int) -> int:
    """Return how many bytes a file of this size may unpack to."""
    return _FREE_BYTES + _MOST_TIMES * n_bytes


def _check_sizes(content: bytes, room: int) -> int:
    """Return the room that is left when all parts are unpacked; raise if there is none.

    What parts say of their sizes is compared with what they are. They are unpacked for it bit by
    bit, and those that are archives themselves, sparse matrices, in turn.
    """
    with ZipFile(BytesIO(content)) as archive:
        for part in archive.infolist():
            if part.file_size > room or part.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
                raise ValueError("it unpacks to far more than a model")
            room -= part.file_size
            part.file_size += 1  # so that one byte more would be read
            with archive.open(part) as file:
                start = file.read(len(_ZIP_MAGIC))
                rest = iter(partial(file.read, _CHUNK), b"")
                n_bytes = len(start) + sum(map(len, rest))
            part.file_size -= 1
            if n_bytes != part.file_size:
                raise ValueError("a part of it is longer or shorter than it says")
            if start == _ZIP_MAGIC:
                room = _check_sizes(archive.read(part), room)
    return room


def _release(version: str) -> tuple[int, ...]:
    """Return major and minor number; files are the same within these."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])


def _lean_copy(model: Any) -> Any:
    """Return a copy without what predictions do not need.

    That are the ensembles of a forest, which has their trees in a packed form, too, and random
    states of fitted trees, which boosters keep in each.
    """
    copy = deepcopy(model)
    for part in parts_of(copy):
        if isinstance(part, saved_types.HedgeClipperClassifier) and hasattr(part, "estimators_"):
            del part.estimators_
        is_fitted_tree = isinstance(part, BaseDecisionTree) and hasattr(part, "tree_")
        if is_fitted_tree and isinstance(part.random_state, np.random.RandomState):
            part.random_state = None
    return copy
