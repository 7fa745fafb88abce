"""Two data sets that come with the package: the Adult data, and verdicts of language models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch

from hedgeclipper.io.messages import import_extra

__all__ = ["load_adult", "load_judges"]

DATA = Path(__file__).parent / "data"
VERDICTS = np.array(["A", "B", None], dtype=object)


def load_adult(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Return the Adult data, on who earns more than 50,000 dollars a year.

    32,561 rows x 123 columns in random order, 24% of them positive. The columns are indicators of
    values or ranges of the original attributes, in the form known as a1a.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` alone.
    as_frame : bool, default=False
        Whether data and target are pandas objects (needs the "io" extra); rows are then dense.

    Returns
    -------
    Bunch or tuple
        ``(data, target)`` if ``return_X_y`` is True, else a Bunch with

        - ``data``: float32 csr_array of shape (32561, 123);
        - ``target``: int64 array of shape (32561,), 1 for an income over 50,000 dollars, else 0;
        - ``n_train``: 1605, how many of the leading rows are the training rows of a1a;
        - ``feature_names``: list of the names of the columns;
        - ``frame``: DataFrame of data and target, or None unless ``as_frame`` is True;
        - ``DESCR``: where the data come from, and their license.

    References
    ----------
    B. Becker, R. Kohavi. Adult. UCI Machine Learning Repository, 1996.
    https://doi.org/10.24432/C5XW20

    Examples
    --------
    >>> from hedgeclipper.datasets import load_adult
    >>> X, y = load_adult(return_X_y=True)
    >>> X.shape
    (32561, 123)
    """
    with np.load(DATA / "a1a.npz", allow_pickle=False) as file:
        parts = [_csr(file, "X_train"), _csr(file, "X_test")]
        labels = [file["y_train"], file["y_test"]]
    X: Any = sparse.vstack(parts, format="csr")
    y: Any = np.concatenate(labels).astype(np.int64)
    names, frame = [f"column_{k}" for k in range(1, X.shape[1] + 1)], None
    if as_frame:
        pandas = import_extra("pandas", "io", "load_adult(as_frame=True)")
        X = pandas.DataFrame(X.toarray(), columns=names)
        y = pandas.Series(y, name="income_over_50k")
        frame = X.assign(income_over_50k=y)
    if return_X_y:
        return X, y
    return Bunch(
        data=X,
        target=y,
        n_train=labels[0].size,
        feature_names=names,
        frame=frame,
        DESCR=_about(),
    )


def load_judges() -> Bunch:
    """Return verdicts of 65 prompts of language models, in both orders, on 419 pairs of LLMBar.

    It needs pandas.

    Returns
    -------
    Bunch
        ``verdicts``, a frame with a row for each pair and a column for each judge and order, of
        "A", "B" and missing ones; ``gold``, a Series of the better answers; ``subset``, a Series
        of the part of LLMBar that each pair is from; ``DESCR``, where they come from. All three
        have the same index.

    References
    ----------
    Z. Zeng, J. Yu, T. Gao, Y. Meng, T. Goyal, D. Chen. Evaluating Large Language Models at
    Evaluating Instruction Following. ICLR 2024.

    Examples
    --------
    >>> judges = load_judges()
    >>> judges.verdicts.shape
    (419, 130)
    """
    pandas = import_extra("pandas", "io", "load_judges")
    with np.load(DATA / "judges_llmbar.npz", allow_pickle=False) as file:
        votes, gold, voters, subset = (file[name] for name in ("L", "y", "voters", "subset"))
    index = pandas.Index([f"pair-{k}" for k in range(len(gold))], name="pair")
    return Bunch(
        verdicts=pandas.DataFrame(VERDICTS[votes], index=index, columns=voters.tolist()),
        gold=pandas.Series(VERDICTS[gold], index=index, name="gold"),
        subset=pandas.Series(subset.tolist(), index=index, name="subset"),
        DESCR=_about(),
    )


def _csr(file: Any, name: str) -> sparse.csr_array:
    values, indices, starts, shape = (
        file[f"{name}_{part}"] for part in ("data", "indices", "indptr", "shape")
    )
    rows = sparse.csr_array((values.astype(np.float32), indices, starts), shape=tuple(shape))
    rows.sort_indices()
    return rows


def _about() -> str:
    return (DATA / "README.md").read_text(encoding="utf-8")
