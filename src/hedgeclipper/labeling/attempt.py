"""An attempt to prove: frozen predictions, and rows that test them in an order fixed beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hedgeclipper.bounds.sample import draw_sample
from hedgeclipper.bounds.whole_file import (
    AcceptedRows,
    accept_rows,
    allowed_errors,
    order_by_uncertainty,
)
from hedgeclipper.labeling.marks import NONE
from hedgeclipper.labeling.policy import ErrorCurve, Proof, rows_kept

# each attempt draws by a stream of its own
ATTEMPT_STREAM = 0x10AB


def attempt_seed(seed: int, number: int) -> int:
    """Return the seed of an attempt's draw."""
    sequence = np.random.SeedSequence(seed, spawn_key=(ATTEMPT_STREAM, number))
    return int(sequence.generate_state(1)[0])


def draw_order(codes: np.ndarray, seed: int) -> np.ndarray:
    """Return the rows without a label in random order."""
    n_left = int(np.count_nonzero(codes == NONE))
    if n_left == 0:
        return np.zeros(0, np.int64)
    return draw_sample(codes.size, n_left, seed=seed, excluded=codes != NONE).rows


@dataclass(frozen=True, eq=False)
class Attempt:
    """One attempt: its pool are the rows that had no label when it began.

    The first ``n_test`` rows of a random order of the pool test the predictions, once all of them
    have a label, were skipped or are disputed. Order, number, predictions and uncertainties are
    fixed before the first of these labels, so other rows that people label meanwhile, for whatever
    reason, have no influence on what is proved.

    Parameters
    ----------
    level : float
        Probability that more labels are wrong than is proved.
    limit : int
        Errors that may be left.
    n_test : int
        Number of test rows.
    seed : int
        Seed of the draw, and of the order of equal uncertainties.
    order : ndarray of int of shape (n_pool,)
        Rows of the pool in the order of the draw.
    predicted, uncertainties : ndarray of shape (n_rows,)
        Of all rows, as they were when the attempt began.
    """

    level: float
    limit: int
    n_test: int
    seed: int
    order: np.ndarray
    predicted: np.ndarray
    uncertainties: np.ndarray

    @cached_property
    def pool(self) -> np.ndarray:
        """Rows of the pool in the order of the file."""
        return np.sort(self.order)

    @cached_property
    def by_uncertainty(self) -> np.ndarray:
        """Positions in the pool, the least uncertain row first."""
        return order_by_uncertainty(self.uncertainties[self.pool], self.seed)

    def untested(self, codes: np.ndarray) -> np.ndarray:
        """Return the test rows without a label, in their order."""
        rows = self.order[: self.n_test]
        return rows[codes[rows] == NONE]

    def tested(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the test rows that have a label or were skipped, and which of them are wrong."""
        rows = self.order[: self.n_test]
        rows = rows[codes[rows] != NONE]
        return rows, codes[rows] != self.predicted[rows]

    def accept(self, codes: np.ndarray) -> AcceptedRows | None:
        """Return which rows of the pool keep their predictions; None before all tests are there."""
        rows, wrong = self.tested(codes)
        if rows.size < self.n_test:
            return None
        positions = np.searchsorted(self.pool, rows)
        return accept_rows(
            self.by_uncertainty, positions, wrong, limit=self.limit, delta=self.level
        )

    def accepted_rows(self, codes: np.ndarray) -> np.ndarray:
        """Return a mask of the rows of the file that keep their predictions."""
        mask, found = np.zeros(codes.size, bool), self.accept(codes)
        if found is not None:
            mask[self.pool[found.is_accepted]] = True
        return mask & (codes == NONE)

    def proportions(self, codes: np.ndarray, n_classes: int) -> np.ndarray:
        """Return estimated proportions of the classes in the file: test rows stand for the pool."""
        parts = np.delete(codes, self.pool), codes[self.order[: self.n_test]]
        before, tested = (np.bincount(part[part >= 0], minlength=n_classes) for part in parts)
        counts = before + tested * (self.pool.size / max(tested.sum(), 1))
        return counts / counts.sum()

    def expected(self, codes: np.ndarray, curve: ErrorCurve) -> Proof:
        """Return how many test labels are missing, and how many rows are to be reviewed then."""
        rows, wrong = self.tested(codes)
        ranks = np.empty(self.pool.size, np.int64)
        ranks[self.by_uncertainty] = np.arange(self.pool.size)
        found = np.sort(ranks[np.searchsorted(self.pool, rows[wrong])])
        ordered = self.uncertainties[self.pool][self.by_uncertainty]
        allowed = allowed_errors(self.pool.size, self.n_test, self.limit, self.level)
        n_more = self.n_test - rows.size
        n_kept = rows_kept(np.cumsum(curve(ordered).mean(axis=0)), allowed, n_more, found)
        left = (self.pool.size - n_kept) * (1.0 - self.n_test / self.pool.size)
        return Proof(n_more, round(left))
