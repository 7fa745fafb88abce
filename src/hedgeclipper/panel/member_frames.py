"""Rows of pandas frames, as members want them.

Classifiers one has named get frames, as in scikit-learn, so that they can pick columns by name.
The default panel wants numbers: text and categories become one column for each value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from hedgeclipper.io.extras import import_extra

NUMBERS, WORDS = "biuf", "OUST"
MOST_VALUES = 50


@dataclass(frozen=True)
class NamedColumns:
    """Makes frames of rows without names, those of files for instance; others stay as they are."""

    names: Sequence[Any]

    def __call__(self, X: Any) -> Any:
        """Return the rows with names."""
        if not isinstance(X, np.ndarray):
            return X
        return import_extra("pandas", "io", "A frame").DataFrame(X, columns=self.names)


@dataclass(frozen=True, eq=False)
class ColumnCodes:
    """Makes numbers of frames: 0 and 1 for each value of a column of words."""

    encoder: Any

    @classmethod
    def of(cls, frame: Any) -> ColumnCodes:
        """Return the codes of a frame; of a column with many values the rarest share one.

        Parameters
        ----------
        frame : pandas.DataFrame of shape (n_samples, n_features)
            Rows, labeled and not.
        """
        words = word_columns(frame)
        one_hot = OneHotEncoder(
            handle_unknown="infrequent_if_exist", max_categories=MOST_VALUES, sparse_output=False
        )
        numbers = [k for k in range(frame.shape[1]) if k not in words]
        encoder = ColumnTransformer(
            [
                ("numbers", FunctionTransformer(_as_numbers), numbers),
                ("words", make_pipeline(FunctionTransformer(_as_text), one_hot), words),
            ]
        )
        return cls(encoder.fit(frame))

    def __call__(self, X: Any) -> np.ndarray:
        """Return the rows as numbers."""
        return self.encoder.transform(X)


def word_columns(frame: Any) -> list[int]:
    """Return the places of the columns with text or categories.

    Parameters
    ----------
    frame : pandas.DataFrame
        Rows; columns that are neither words nor numbers are an error.
    """
    kinds = [dtype.kind for dtype in frame.infer_objects().dtypes]
    for name, kind, dtype in zip(frame.columns, kinds, frame.dtypes, strict=True):
        if kind not in NUMBERS + WORDS:
            raise ValueError(
                f"Column {name!r} must have numbers, text or categories. Got {dtype}. Make numbers "
                "of it, leave it out, or pass estimators that can use it."
            )
    return [place for place, kind in enumerate(kinds) if kind in WORDS]


def _as_numbers(frame: Any) -> np.ndarray:
    return frame.to_numpy(dtype=np.float64, na_value=np.nan)


def _as_text(frame: Any) -> np.ndarray:
    missing = frame.isna().to_numpy()
    return np.where(missing, "", frame.astype(object).to_numpy().astype(str)).astype(object)
