"""The results: one CSV line for each method on a draw."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.results_file import FOLDER, Key

VOTES, SPEED = FOLDER / "votes.csv", FOLDER / "votes_speed.csv"
STRESS, RATES = FOLDER / "votes_stress.csv", FOLDER / "votes_rates.csv"
CROWDS = FOLDER / "votes_crowds.csv"


@dataclass(frozen=True)
class VoteResult:
    """What a method made of a draw; NaN where it was not run or did not end, with the reason.

    ``seconds`` is wall time to fit and to give probabilities, ``conversion_seconds`` that to make
    the method's own form of the votes, ``peak_mb`` the peak of anonymous memory.
    """

    data: str
    n_labels: int
    draw: int
    method: str
    accuracy: float
    log_loss: float
    n_rows: int
    n_scored: int
    seconds: float
    conversion_seconds: float
    peak_mb: float
    reason: str
    date: str
    versions: str

    @property
    def key(self) -> Key:
        """Return what was run."""
        return Key(self.data, self.n_labels, self.draw, self.method)
