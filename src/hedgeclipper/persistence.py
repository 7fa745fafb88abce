"""Models in files that are safe to load, whoever made them: nothing in them is run.

A file is that of skops, a zip of arrays and of a description in JSON, and one more entry with the
format and the version that wrote it. The last bytes of the file, the comment of the zip, are a
checksum over all others: a damaged file is not loaded. It does not tell who made a file, since
whoever changes a file can compute it again. So sizes are checked before anything is unpacked, and
what compiled code relies on before the model is returned (`model_checks`, and ``check_arrays`` of
our types).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from hedgeclipper import __version__, saved_types
from hedgeclipper.io.atomic import atomic_path
from hedgeclipper.io.messages import import_extra
from hedgeclipper.model_checks import TYPES_OF_OTHERS, check_model

# raised whenever a saved type is renamed or moved, or stores something else
FORMAT = 11
HEADER = "hedgeclipper.json"
_ZIP_MAGIC = b"PK\x03\x04"
_CHECKSUM_BYTES = 64
# what a file may unpack to: models that we saved take 3 to 12 times the size of their files
_FREE_BYTES, _MOST_TIMES = 16 * 2**20, 32
_OWN_TYPES = [found for found in vars(saved_types).values() if isinstance(found, type)]
TRUSTED = (*(f"{own.__module__}.{own.__name__}" for own in _OWN_TYPES), *TYPES_OF_OTHERS)


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
        _check_sizes(content, _room(len(content)))
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
                rest = iter(partial(file.read, 1 << 20), b"")
                n_bytes = len(start) + sum(map(len, rest))
            part.file_size -= 1
            if n_bytes != part.file_size:
                raise ValueError("a part of it is longer or shorter than it says")
            if start == _ZIP_MAGIC:
                room = _check_sizes(archive.read(part), room)
    return room
