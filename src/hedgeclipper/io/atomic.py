"""Files that are whole or not there: written under another name, renamed at the end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


def check_output(path: str | Path, *, force: bool = True) -> Path:
    """Return the whole path of a file that can be written, or say why it cannot.

    Parameters
    ----------
    path : str or Path
        The file to write.
    force : bool
        Whether one that exists may be replaced.
    """
    path = Path(path).expanduser().resolve()
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Pass the path of a file to write.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path.parent} does not exist. Make the folder first.")
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists already. Pass force=True to replace it.")
    return path


@contextmanager
def draft_of(path: str | Path, *, force: bool = True) -> Iterator[Path]:
    """Give the path of a hidden file that is renamed at the end of the ``with`` block.

    On any error that file is removed, and what was at the path before is still there.

    Parameters
    ----------
    path : str or Path
        The file to write.
    force : bool
        Whether one that exists may be replaced.
    """
    path = check_output(path, force=force)
    draft = path.with_name(f".{path.name}.{uuid4().hex[:8]}.tmp")
    try:
        yield draft
        _flush_to_disk(draft)
        check_output(path, force=force)  # somebody else may have written there meanwhile
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _flush_to_disk(path: Path) -> None:
    with path.open("r+b") as file:
        os.fsync(file.fileno())
