"""The results: one CSV line per study, row, draw and setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.ablations.study import Row


class AblationKey(NamedTuple):
    """What is run."""

    study: str
    data: str
    n_labels: int
    draw: int
    setting: str


@dataclass(frozen=True)
class AblationResult:
    """What came out: AUC by scores, and where the solver stopped."""

    study: str
    data: str
    n_labels: int
    draw: int
    setting: str
    auc: float
    slack: float
    gap: float
    n_unlabeled: int
    n_scored: int
    seconds: float
    date: str
    versions: str

    @property
    def key(self) -> AblationKey:
        """Return what was run."""
        return AblationKey(self.study, self.data, self.n_labels, self.draw, self.setting)

    @property
    def row(self) -> Row:
        """Return data set and number of labels."""
        return Row(self.data, self.n_labels)
