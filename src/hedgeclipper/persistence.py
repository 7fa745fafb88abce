"""Models in files that are safe to load, whoever made them: nothing in them is run.

A file is that of skops, a zip of arrays and of a description in JSON, and one more entry with the
format and the versions that wrote it. The description names our types as `saved_types` does, so
that a file can be read after classes were moved or renamed, and can name no others.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

import sklearn
from sklearn.exceptions import InconsistentVersionWarning

from hedgeclipper import __version__, saved_types
from hedgeclipper.io.atomic import atomic_path
from hedgeclipper.io.extras import import_extra
from hedgeclipper.model_parts import check_trees, without_tree_seeds

FORMAT = 1
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
            archive.writestr(HEADER, json.dumps({"format": FORMAT, **_versions()}))
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
    _check_header(path, *_read_header(path, content))
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


def _versions() -> dict[str, str]:
    return {"hedgeclipper": __version__, "scikit-learn": sklearn.__version__}


def _read_header(path: Path, content: bytes) -> tuple[int, dict[str, str]]:
    """Return format and versions of the file, or say that it is not ours or is cut short."""
    try:
        with ZipFile(BytesIO(content)) as archive:
            header = json.loads(archive.read(HEADER))
            return int(header.get("format", 0)), {name: str(header[name]) for name in _versions()}
    except (BadZipFile, EOFError, AttributeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, (BadZipFile, EOFError)) and content.startswith(_ZIP_MAGIC):
            raise ModelFileError(
                f"{path} is cut short or damaged ({error}). Replace it with a whole copy."
            ) from error
        raise ModelFileError(
            f"{path} is no model of HedgeClipper. Pass a file that hedgeclipper.save or "
            "`hedgeclipper fit` has written."
        ) from error


def _check_header(path: Path, its_format: int, versions: dict[str, str]) -> None:
    """Raise if the format is another one; warn if scikit-learn's version is."""
    theirs = versions["hedgeclipper"]
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
    if versions["scikit-learn"] != sklearn.__version__:
        warnings.warn(
            f"{path} was saved with scikit-learn {versions['scikit-learn']}, and this is "
            f"{sklearn.__version__}: predictions may differ. Fit the model again to be sure.",
            OtherVersionWarning,
            stacklevel=3,
        )


def _release(version: str) -> tuple[int, ...]:
    """Return major and minor number; files are the same within these."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])
