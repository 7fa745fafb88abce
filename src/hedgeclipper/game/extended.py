"""Voters beside other voters: one that always says + (class balance), or a given prediction.

A prediction whose weight is fixed at 1 (`WeightTerms.and_offset`) is an offset of the scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from hedgeclipper.game.vote_matrix import Specialists


@dataclass(frozen=True)
class ExtendedBlock:
    """A block of awake votes with one more column, which is never copied into it."""

    block: Any
    column: np.ndarray
    __array_ufunc__ = None  # so that NumPy leaves ``z @ block`` to us

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and voters, the extra one included."""
        return self.block.shape[0], self.block.shape[1] + 1

    def __matmul__(self, weights: np.ndarray) -> np.ndarray:
        return self.block @ weights[:-1] + weights[-1] * self.column

    def __rmatmul__(self, signs: np.ndarray) -> np.ndarray:
        # transposed, columns of scores that are each in one piece are not copied
        return np.append(signs @ self.block, np.vdot(signs.T, self.column.T))

    def tocsr(self) -> sparse.csr_array:
        """Return the block and the column as one sparse matrix."""
        return sparse.hstack([sparse.csr_array(self.block), self.column[:, None]], format="csr")

    def __getitem__(self, rows: slice) -> ExtendedBlock:
        return ExtendedBlock(self.block[rows], self.column[rows])


@dataclass(frozen=True)
class ExtendedSpecialists:
    """Specialists and one more voter who is awake everywhere and comes last.

    Parameters
    ----------
    base : Specialists
        The others.
    column : callable
        Takes a block of the others and returns the extra voter's votes on its rows.
    """

    base: Specialists
    column: Callable[[Any], np.ndarray]

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.base.n_samples

    @property
    def n_voters(self) -> int:
        """Number of voters, the extra one included."""
        return self.base.n_voters + 1

    @property
    def coverage(self) -> np.ndarray:
        """Coverage of the others, then 1."""
        return np.append(self.base.coverage, 1.0)

    @property
    def in_memory(self) -> bool:
        """Whether a pass over the others reads memory only."""
        return self.base.in_memory

    def blocks(self) -> Iterator[ExtendedBlock]:
        """Yield the blocks of the others with the extra voter's column."""
        for block in self.base.blocks():
            yield ExtendedBlock(block, self.column(block))

    def sum_blocks(self, work: Callable[[Any], Any]) -> Any:
        """Return the sum of the results of the work on each block, as the others do it."""
        column = self.column
        return self.base.sum_blocks(lambda block: work(ExtendedBlock(block, column(block))))

    def thinned(self, stride: int) -> ExtendedSpecialists | None:
        """Return every stride-th row, or None where the others cannot."""
        base = self.base.thinned(stride)
        return None if base is None else replace(self, base=base)


def with_constant_voter(specialists: Specialists) -> ExtendedSpecialists:
    """Return the specialists and one who always votes +, through whom class balance is known."""
    return ExtendedSpecialists(specialists, _always_plus)


def _always_plus(block: Any) -> np.ndarray:
    return np.ones(block.shape[0])
