"""A file that is whole or not there."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4


def check_free(path: str | Path, force: bool) -> Path:
    """Return the path if a file may be written there, or raise before any work is done."""
    path = Path(path).expanduser().resolve()
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Pass the path of a file to write.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path.parent} does not exist. Make the folder first.")
    if path.exists() and not force:
        raise FileExistsError(
            f"{path} exists and is not overwritten. Pass force=True to replace it, or another path."
        )
    return path


def write_whole(path: Path, text: str, force: bool) -> None:
    """Write a text file under another name and rename it at the end.

    Without ``force`` a file that has come to the path in the meantime stays.
    """
    draft = path.with_name(f".{path.name}.{uuid4().hex[:8]}.tmp")
    try:
        with draft.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        check_free(path, force)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
