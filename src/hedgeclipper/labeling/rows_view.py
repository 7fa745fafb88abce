"""How a row is shown: its cells as text, numbers beside the usual range of their column, images.

Whatever is in a cell is text. An image is a file below the folder of the data, once links are
resolved, of a format that cannot hold a script.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import numpy as np
import pandas as pd

from hedgeclipper.io.frames import is_missing

MOST_CHARACTERS = 20_000
MOST_IMAGE_BYTES = 20_000_000
# of each media type the bytes with which files begin, so that the suffix alone decides nothing
IMAGE_TYPES = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}
RESERVED_KEYS, DIGITS = "noqsu?", tuple("0123456789")


class ImageError(Exception):
    """An image that is not shown, and why."""


@dataclass(frozen=True, eq=False)
class RowView:
    """Shows rows of a frame.

    Parameters
    ----------
    frame : DataFrame
        The rows; the number of a row is its position.
    text : str, optional
        Column of text that is shown large.
    image : str, optional
        Column of paths of images, relative to the folder.
    folder : Path
        Folder of the data: no image outside of it is read.
    """

    frame: pd.DataFrame
    text: str | None = None
    image: str | None = None
    folder: Path = Path()
    _ranges: dict[Any, np.ndarray] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        names = self.frame.select_dtypes("number").columns
        object.__setattr__(self, "_ranges", {n: _range_of(self.frame[n]) for n in names})

    def show(self, row: int) -> dict[str, Any]:
        """Return a row as JSON: its number, the large text, whether it has an image, its cells."""
        values = {str(name): self.frame[name].iloc[row] for name in self.frame}
        text = None if self.text is None else as_shown(values.pop(self.text))
        image = None if self.image is None else as_shown(values[self.image])
        cells = [
            {"name": name, "value": as_shown(value), "range": self._place(name, value)}
            for name, value in values.items()
        ]
        return {"row": row, "text": text, "image": image, "cells": cells}

    def _place(self, name: str, value: Any) -> dict[str, float] | None:
        """Return where a number is between the ends of its column, and where the usual ones are."""
        ends = self._ranges.get(name)
        if ends is None or is_missing(value) or not ends[3] > ends[0]:
            return None
        places = (np.array([value, *ends[1:3]], float) - ends[0]) / (ends[3] - ends[0])
        return dict(zip(("at", "low", "high"), places.clip(0, 1).round(4).tolist(), strict=True))

    def read_image(self, row: int) -> tuple[str, bytes]:
        """Return the media type and the bytes of the image of a row."""
        cell = None if self.image is None else self.frame[self.image].iloc[row]
        if not isinstance(cell, str) or not cell.strip():
            raise ImageError("This row has no image.")
        return read_image(self.folder, cell.strip())


def read_image(folder: Path, name: str) -> tuple[str, bytes]:
    """Return the media type and the bytes of an image below a folder.

    Paths that lead out of the folder, links resolved, files that are no image of `IMAGE_TYPES`, and
    large ones are an `ImageError`.
    """
    folder = folder.resolve()
    try:
        path = (folder / name).resolve(strict=True)
        if not path.is_relative_to(folder) or not path.is_file():
            raise ImageError("Images must be files in the folder of the data.")
        if path.stat().st_size > MOST_IMAGE_BYTES:
            raise ImageError(f"The image has more than {MOST_IMAGE_BYTES // 10**6} MB.")
        content = path.read_bytes()
    except (OSError, ValueError, RuntimeError) as error:  # a loop of links, or a zero byte
        raise ImageError("The image cannot be read.") from error
    for kind, starts in IMAGE_TYPES.items():
        if content.startswith(starts) and (kind != "image/webp" or content[8:12] == b"WEBP"):
            return kind, content
    raise ImageError("The file is no PNG, JPEG, GIF or WebP image.")


def as_shown(value: Any) -> str | None:
    """Return a value as text, None if it is missing; of a long text the beginning."""
    if is_missing(value):
        return None
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        number = float(value)
        if number != 0 and not 1e-4 <= abs(number) < 1e15:
            return f"{number:.6g}"
        digits = max(6, len(str(int(abs(number)))))
        return np.format_float_positional(number, digits, unique=False, fractional=False, trim="-")
    text = str(value)
    if isinstance(value, pd.Timestamp):
        text = text.removesuffix(" 00:00:00")
    more = len(text) - MOST_CHARACTERS
    return text if more <= 0 else f"{text[:MOST_CHARACTERS]} ... and {more:,} more characters"


def class_keys(classes: Sequence[Any]) -> list[list[str]]:
    """Return the keys of each class: its number up to 9, and its first letter if that is its own.

    Where a class is a digit, that is its key, and no other class has a number. A class that has
    neither gets a free letter, of its name if there is one.

    Examples
    --------
    >>> class_keys(["benign", "malignant", "mixed", "normal"])
    [['1', 'b'], ['2'], ['3'], ['4']]
    >>> class_keys([0, 1, "unknown"])
    [['0'], ['1'], ['k']]
    """
    names = [str(name).strip().lower() for name in classes]
    letters = [name[:1] for name in names]
    own = [c * (c.isalpha() and c not in RESERVED_KEYS and letters.count(c) == 1) for c in letters]
    numbers = [name if name in DIGITS else "" for name in names]
    if not any(numbers):
        numbers = [str(k) * (k < 10) for k in range(1, len(names) + 1)]
    taken = {*RESERVED_KEYS, *own}
    for k, name in enumerate(names):
        if not numbers[k] and not own[k]:
            free = [c for c in name + ascii_lowercase if c in ascii_lowercase and c not in taken]
            own[k] = free[0] if free else ""
            taken.add(own[k])
    return [[key for key in keys if key] for keys in zip(numbers, own, strict=True)]


def _range_of(column: pd.Series) -> np.ndarray:
    """Return the ends of a column of numbers, with those of its middle half between them."""
    numbers = column.to_numpy(float, na_value=np.nan)
    numbers = numbers[np.isfinite(numbers)]
    return np.quantile(numbers, (0.01, 0.25, 0.75, 0.99)) if numbers.size else np.zeros(4)
