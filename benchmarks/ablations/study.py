"""What a study's file defines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.draws import Draw, make_draw

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from benchmarks.ablations.summary import Summary

N_DRAWS = 8
MAX_UNLABELED = 10_000


class Row(NamedTuple):
    """A data set and a number of labels."""

    data: str
    n_labels: int


class Outcome(NamedTuple):
    """What a setting gives on a draw.

    Parameters
    ----------
    scores : ndarray of shape (n_scored,)
        Probability of class 1 of each scored row.
    slack, gap : float
        What the solver reached; nothing where there is no game.
    """

    scores: np.ndarray
    slack: float = np.nan
    gap: float = np.nan


Setting = Callable[[Draw], Outcome]

ROWS = (Row("a1a", 1000), Row("covtype", 1000), Row("kagg-prot", 100), Row("ssl-secstr", 1000))


@dataclass(frozen=True, eq=False)
class Study:
    """One question, what is varied to answer it, and how the answer is shown.

    Parameters
    ----------
    name : str
        Key in the results and name of the picture.
    title, question : str
        Heading and what is asked.
    settings : dict
        Name of each setting to the function from a draw to what it gives.
    sentence : callable
        From the summary of the results to a few sentences; every figure and claim is computed.
    plot : callable
        From the summary to the picture.
    rows : tuple of Row
        Data sets and numbers of labels.
    draw : callable
        Makes a draw of a row; called like ``make_draw``.
    same : frozenset of frozenset of str
        Pairs of settings that may come out the same; the study's file says why.
    """

    name: str
    title: str
    question: str
    settings: dict[str, Setting]
    sentence: Callable[[Summary], str]
    plot: Callable[[Summary], Figure]
    rows: tuple[Row, ...] = ROWS
    draw: Callable[..., Draw] = make_draw
    same: frozenset[frozenset[str]] = frozenset()


def at(series: str, x: object) -> str:
    """Return the name of the setting of a series at a point of the x axis."""
    return f"{series}: {x}"
