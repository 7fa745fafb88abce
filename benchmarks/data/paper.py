"""What a data set's file defines."""

from __future__ import annotations

from dataclasses import dataclass, field

PUBLISHED_COLUMNS = (
    "hedgeclipper-paper",
    "random-forest",
    "base-forest",
    "adaboost",
    "mart",
    "logistic-unscaled",
)


@dataclass(frozen=True)
class PaperData:
    """A data set of the paper.

    Parameters
    ----------
    name : str
        Its name in ``datasets.toml``.
    budgets : tuple of int
        Numbers of labels that are run.
    published : dict
        Number of labels to the AUCs in the paper's table, in the order of ``PUBLISHED_COLUMNS``.
    remarks : dict
        Number of labels to a sentence on why our figures may be far from the published ones.
    """

    name: str
    budgets: tuple[int, ...]
    published: dict[int, tuple[float, ...]]
    remarks: dict[int, str] = field(default_factory=dict)
