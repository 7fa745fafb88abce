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
# the ranges of a1a, up to and with these values
CUTS = {
    "age": [25, 32, 40, 49],
    "fnlwgt": [106627, 158656, 196332, 259865],
    "education-num": [8, 9, 10, 12],
    "capital-gain": [0],
    "capital-loss": [0],
    "hours-per-week": [34, 39, 40, 47],
}
INCOMES = np.array(["<=50K", ">50K"], dtype=object)
VERDICTS = np.array(["A", "B", None], dtype=object)


def load_adult(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Return the Adult data, on who earns more than 50,000 dollars a year.

    32,561 people in random order, 24% of whom earn more. As a data frame it has the 14 columns of
    the original file. As an array it has 123 indicators of their values and ranges, in the form
    known as a1a.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` alone.
    as_frame : bool, default=False
        Whether to return the original columns as a pandas data frame (needs the "io" extra).

    Returns
    -------
    Bunch or tuple
        ``(data, target)`` if ``return_X_y`` is True, else a Bunch with

        - ``data``: float32 csr_array of shape (32561, 123), or a DataFrame of 14 columns, numbers
          and strings, some of them missing (a capital gain of 99,999 means "or more" in the
          original, and is missing here);
        - ``target``: int64 array of shape (32561,), 1 for an income over 50,000 dollars, else 0;
          or a Series "income" of ">50K" and "<=50K";
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
    >>> load_adult(as_frame=True).frame[["age", "education", "income"]].head(2)
       age  education income
    0   39  Bachelors  <=50K
    1   34    7th-8th  <=50K
    """
    with np.load(DATA / "adult.npz", allow_pickle=False) as file:
        columns = {name: file[name] for name in file.files}
    y: Any = columns.pop("income").astype(np.int64)
    strings = {
        name: columns.pop(f"{name} values") for name in list(columns) if f"{name} values" in columns
    }
    frame = None
    if as_frame:
        pandas = import_extra("pandas", "io", "load_adult(as_frame=True)")
        X: Any = pandas.DataFrame(
            {
                name: np.array([*strings[name], None], dtype=object)[values]
                if name in strings
                else values.astype(np.int64)
                for name, values in columns.items()
            }
        )
        X["capital-gain"] = X["capital-gain"].mask(X["capital-gain"] == 99_999)
        y = pandas.Series(INCOMES[y], name="income")
        frame, names = X.assign(income=y), list(X.columns)
    else:
        X, names = _indicators(columns, strings)
    if return_X_y:
        return X, y
    return Bunch(data=X, target=y, n_train=1605, feature_names=names, frame=frame, DESCR=_about())


def _indicators(columns: Any, strings: Any) -> tuple[sparse.csr_array, list[str]]:
    """Return the rows as a1a has them, one indicator for each value or range, and their names."""
    parts, names = [], []
    for name, values in columns.items():
        if name in strings:
            kinds, codes = strings[name].tolist(), values
        else:
            kinds = [f"<={cut}" for cut in CUTS[name]] + [f">{CUTS[name][-1]}"]
            codes = np.searchsorted(CUTS[name], values)
        parts.append(sparse.csr_array(codes[:, None] == np.arange(len(kinds)), dtype=np.float32))
        names += [f"{name} {kind}" for kind in kinds]
    rows = sparse.hstack(parts, format="csr")
    rows.sort_indices()
    return rows, names


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


def _about() -> str:
    return (DATA / "README.md").read_text(encoding="utf-8")
