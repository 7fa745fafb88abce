"""Bundled verdicts of language models, to try a panel of judges."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch

from hedgeclipper.datasets.registry import PACKAGE_DATA
from hedgeclipper.io.extras import import_extra

ANSWERS = np.array(["A", "B", None], dtype=object)


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
    with np.load(PACKAGE_DATA / "judges_llmbar.npz", allow_pickle=False) as file:
        votes, gold, voters, subset = (file[name] for name in ("L", "y", "voters", "subset"))
    index = pandas.Index([f"pair-{k}" for k in range(len(gold))], name="pair")
    return Bunch(
        verdicts=pandas.DataFrame(ANSWERS[votes], index=index, columns=voters.tolist()),
        gold=pandas.Series(ANSWERS[gold], index=index, name="gold"),
        subset=pandas.Series(subset.tolist(), index=index, name="subset"),
        DESCR=(PACKAGE_DATA / "README.md").read_text(encoding="utf-8"),
    )
