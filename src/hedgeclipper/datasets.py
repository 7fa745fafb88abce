"""Named real data."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch

from hedgeclipper.extras import import_extra

_PADDING = 255
_N_COLUMNS_A1A = 123


def load_a1a(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Return the a1a data: who earns more than 50,000 dollars a year.

    The Adult data of the UCI repository (CC BY 4.0) as 123 indicator columns; 32,561 rows, of which
    the first 1,605 are the training set of a1a and the others its test set; 24 % are positive.

    Parameters
    ----------
    return_X_y : bool
        Whether to return ``(data, target)`` alone.
    as_frame : bool
        Whether data and target are a pandas frame and series (needs the "io" extra).

    Returns
    -------
    Bunch
        ``data`` (CSR matrix of float32, shape (32561, 123)), ``target`` (0 or 1), ``n_train``
        (1605), ``feature_names``, ``DESCR``; ``frame`` where ``as_frame``.

    Examples
    --------
    >>> X, y = load_a1a(return_X_y=True)
    >>> X.shape, round(float(y.mean()), 3)
    ((32561, 123), 0.241)
    """
    folder = files("hedgeclipper") / "data"
    with (folder / "a1a.npz").open("rb") as file, np.load(file, allow_pickle=False) as archive:
        data = _indicator_matrix(archive["columns"], _N_COLUMNS_A1A)
        target = archive["labels"].astype(np.int64)
        n_train = int(archive["n_train"])
    names = [f"column_{number}" for number in range(1, _N_COLUMNS_A1A + 1)]
    bunch = Bunch(
        data=data,
        target=target,
        n_train=n_train,
        feature_names=names,
        frame=None,
        DESCR=(folder / "README.md").read_text(encoding="utf-8"),
    )
    if as_frame:
        pandas = import_extra("pandas", "io", "load_a1a(as_frame=True)")
        bunch.data = pandas.DataFrame(data.toarray(), columns=names)
        bunch.target = pandas.Series(target, name="income_over_50k")
        bunch.frame = bunch.data.assign(income_over_50k=target)
    return (bunch.data, bunch.target) if return_X_y else bunch


def _indicator_matrix(columns: np.ndarray, n_columns: int) -> sparse.csr_array:
    """Return ones at the listed columns of each row, padding left out."""
    present = columns != _PADDING
    starts = np.concatenate([[0], np.cumsum(present.sum(axis=1))]).astype(np.int32)
    indices = columns[present].astype(np.int32)
    values = np.ones(indices.size, dtype=np.float32)
    return sparse.csr_array((values, indices, starts), shape=(columns.shape[0], n_columns))
