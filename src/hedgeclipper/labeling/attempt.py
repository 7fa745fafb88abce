"""An attempt to prove: frozen predictions, and rows that test them in an order fixed beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hedgeclipper.bounds.random_sample import draw_sample
from hedgeclipper.bounds.sequential import accept_rows_so_far
from hedgeclipper.bounds.whole_file import AcceptedRows, order_by_uncertainty
from hedgeclipper.labeling.marks import NONE
from hedgeclipper.labeling.stopping import Proof, error_factor, expected_proof

# each attempt draws by a stream of its own
ATTEMPT_STREAM = 0x10AB


def attempt_seed(seed: int, number: int) -> int:
    """Return the seed of an attempt's draw."""
    return int(
        np.random.SeedSequence(seed, spawn_key=(ATTEMPT_STREAM, number)).generate_state(1)[0]
    )


def draw_order(codes: np.ndarray, seed: int) -> np.ndarray:
    """Return the rows without a label in random order."""
    pool = int(np.count_nonzero(codes == NONE))
    if pool == 0:
        return np.zeros(0, np.int64)
    return draw_sample(codes.size, pool, seed=seed, excluded=codes != NONE).rows


@dataclass(eq=False)
class Attempt:
    """One attempt: its pool are the rows that had no label when it began.

    A label tests a prediction once all rows before it in the order have a label, were skipped or
    are disputed. Which rows people label besides has no influence on what is proved, since the test
    holds at every look and the order was there before.

    Parameters
    ----------
    level : float
        Probability that more labels are wrong than is proved.
    limit : int
        Errors that may be left.
    seed : int
        Seed of the draw, and of the order of equal uncertainties.
    order : ndarray of int of shape (n_pool,)
        Rows of the pool in the order of the draw.
    predicted, uncertainties : ndarray of shape (n_rows,)
        Of all rows, as they were when the attempt began.
    factor : float
        How many errors were expected for each unit of uncertainty.
    """

    level: float
    limit: int
    seed: int
    order: np.ndarray
    predicted: np.ndarray
    uncertainties: np.ndarray
    factor: float
    is_open: bool = True

    @cached_property
    def pool(self) -> np.ndarray:
        """Rows of the pool in the order of the file."""
        return np.sort(self.order)

    @cached_property
    def by_uncertainty(self) -> np.ndarray:
        """Positions in the pool, the least uncertain row first."""
        return order_by_uncertainty(self.uncertainties[self.pool], self.seed)

    def drawn(self, codes: np.ndarray) -> np.ndarray:
        """Return the rows that test so far: the first ones of the order, up to the first open."""
        is_open = codes[self.order] == NONE
        return self.order[: int(is_open.argmax())] if is_open.any() else self.order

    def accept(self, codes: np.ndarray) -> AcceptedRows:
        """Return which rows of the pool keep their predictions, with what is proved of them."""
        rows = self.drawn(codes)
        return accept_rows_so_far(
            self.by_uncertainty,
            np.searchsorted(self.pool, rows),
            codes[rows] != self.predicted[rows],
            limit=self.limit,
            delta=self.level,
            skipped=codes[rows] < 0,
        )

    def accepted_rows(self, codes: np.ndarray) -> np.ndarray:
        """Return a mask of the rows of the file that keep their predictions."""
        mask = np.zeros(codes.size, bool)
        mask[self.pool[self.accept(codes).is_accepted]] = True
        return mask & (codes == NONE)

    def plan(self, codes: np.ndarray, limit: int | None = None) -> Proof:
        """Return how many more test labels pay, and how many rows are to be reviewed then."""
        rows = self.drawn(codes)
        wrong = codes[rows] != self.predicted[rows]
        expected = self.factor * self.uncertainties
        factor, _ = error_factor(wrong, expected[rows])
        errors = np.minimum(factor * expected[self.pool][self.by_uncertainty], 1.0)
        ranks = np.empty(self.pool.size, np.int64)
        ranks[self.by_uncertainty] = np.arange(self.pool.size)
        return expected_proof(
            errors,
            limit=self.limit if limit is None else limit,
            delta=self.level,
            n_drawn=rows.size,
            wrong_ranks=ranks[np.searchsorted(self.pool, rows[wrong])],
        )
