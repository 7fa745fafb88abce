"""The two sums over votes that everything is computed from, by row and by voter, and their kernels.

In the game weights theta, and what they are about, are one vector: of the voters, of their votes,
by voter and class, and of the classes. f is the matrix that makes scores of the classes on each row
of weights.

Kernels take arrays and fill arrays that the caller allocates. They release the interpreter's lock.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numba import njit

from hedgeclipper.votes.matrix import Votes


class VoteKernel:
    """Votes with the sums over them.

    ``shape`` is the number of voters, of votes they can cast, and of classes; ``n_votes`` of shape
    (n_rows,) is the number of votes on each row.
    """

    def __init__(self, votes: Votes):
        if not isinstance(votes, Votes):  # whose arrays `Votes.check_arrays` has checked
            raise TypeError(f"A VoteKernel needs Votes. Got {type(votes).__name__}.")
        self.votes, matrix = votes, votes.matrix
        self._entries = matrix.indptr, matrix.indices, matrix.data
        self.n_rows, self.n_classes = votes.n_rows, votes.n_classes
        self.shape = votes.n_voters, votes.n_classes, votes.n_classes
        self.n_votes = np.diff(matrix.indptr)

    @cached_property
    def votes_cast(self) -> np.ndarray:
        """How often each voter votes for each class, shape (n_voters, n_classes)."""
        _, voters, codes = self.votes.triplets()
        n_voters, n_classes, _ = self.shape
        counts = np.bincount(voters * n_classes + codes, minlength=n_voters * n_classes)
        return counts.reshape(n_voters, n_classes).astype(float)

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """Return the sum of weights[voter, vote] over the votes on each row.

        ``weights`` of shape (n_voters, n_classes, n_columns) are what a voter's vote for a class
        adds to each column, as a rule one for each class.
        """
        _check_shape(weights.shape[:2], self.shape[:2])
        out = np.empty((self.n_rows, weights.shape[2]), order="F")
        sum_vote_scores(*self._entries, weights, out)
        return out

    def sums(self, probabilities: np.ndarray) -> np.ndarray:
        """Return the sum of probabilities over the rows on which each voter casts each vote.

        From shape (n_rows, n_classes) to (n_voters, n_classes, n_classes), by voter, vote and
        class.
        """
        _check_shape(probabilities.shape, (self.n_rows, self.n_classes))
        out = np.zeros(self.shape)
        add_vote_sums(*self._entries, probabilities, out)
        return out

    def weighted(self, theta: np.ndarray) -> np.ndarray:
        """Return f theta, the scores that weights give each class on each row."""
        voters, votes, classes = split_weights(theta, *self.shape[:2])
        out = np.empty((self.n_rows, self.n_classes), order="F")
        out[:] = classes
        add_own_weights(*self._entries, voters[:, None] + votes, out)
        return out

    def agreement(self, z: np.ndarray) -> np.ndarray:
        """Return the sum over rows of f z: how often z agrees with voters, votes and classes."""
        _check_shape(z.shape, (self.n_rows, self.n_classes))
        right = np.zeros(self.shape[:2])
        add_own_sums(*self._entries, z, right)
        return np.concatenate([right.sum(axis=1), right.ravel(), z.sum(axis=0)])

    @property
    def rows_about(self) -> np.ndarray:
        """How many rows each weight is about: those where a voter votes, or votes so, or all."""
        cast, all_rows = self.votes_cast, np.full(self.n_classes, float(self.n_rows))
        return np.concatenate([cast.sum(axis=1), cast.ravel(), all_rows])

    def take(self, rows: np.ndarray | slice) -> VoteKernel:
        """Return the votes on some rows."""
        return VoteKernel(self.votes.take(rows))

    def blocks(self) -> Iterator[tuple[slice, VoteKernel]]:
        """Yield the rows in parts, so that what is computed of a part stays small."""
        for start in range(0, self.n_rows, step := 1 << 15):
            rows = slice(start, start + step)
            yield rows, self.take(rows)


def split_weights(values: np.ndarray, n_voters: int, n_classes: int) -> tuple[np.ndarray, ...]:
    """Return the parts of a vector: of voters, of votes by voter and class, and of classes."""
    voters, votes, classes = np.split(values, [n_voters, n_voters * (n_classes + 1)])
    return voters, votes.reshape(n_voters, n_classes), classes


def _check_shape(shape: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    """Raise before a kernel would read or write where there is nothing."""
    if shape != wanted:
        raise ValueError(f"An array for the votes must have the shape {wanted}. Got {shape}.")


@njit(cache=True, nogil=True)
def sum_vote_scores(indptr, voters, values, weights, out):
    """out[j] = sum of weights[i, v] over the votes v of voters i on row j.

    indptr (rows + 1,), voters, values (votes,), the class voted for plus 1; weights (voters,
    classes, columns), by voter, vote and column; out (rows, columns), fastest if columns are
    contiguous. Two columns at a time are summed in registers; the last may be summed twice.
    """
    n_columns = out.shape[1]
    for row in range(out.shape[0]):
        for k in range(0, n_columns, 2):
            one, other = np.uintp(k), np.uintp(min(k + 1, n_columns - 1))
            total = total_of_other = 0.0
            for entry in range(indptr[row], indptr[row + 1]):
                voter, value = np.uintp(voters[entry]), np.uintp(values[entry] - 1)
                total += weights[voter, value, one]
                total_of_other += weights[voter, value, other]
            out[row, one], out[row, other] = total, total_of_other


@njit(cache=True, nogil=True)
def add_own_weights(indptr, voters, values, weights, out):
    """out[j, v] += weights[i, v] for each vote v of a voter i on row j.

    As above, but a vote counts for its own class alone, so that time does not grow with the number
    of classes: weights (voters, classes), out (rows, classes).
    """
    for row in range(out.shape[0]):
        for entry in range(indptr[row], indptr[row + 1]):
            voter, value = np.uintp(voters[entry]), np.uintp(values[entry] - 1)
            out[row, value] += weights[voter, value]


@njit(cache=True, nogil=True)
def add_own_sums(indptr, voters, values, probabilities, out):
    """out[i, v] += probabilities[j, v] for each vote v of a voter i on row j; as above."""
    for row in range(probabilities.shape[0]):
        for entry in range(indptr[row], indptr[row + 1]):
            voter, value = np.uintp(voters[entry]), np.uintp(values[entry] - 1)
            out[voter, value] += probabilities[row, value]


@njit(cache=True, nogil=True)
def add_vote_sums(indptr, voters, values, probabilities, out):
    """out[i, v] += probabilities[j] for each vote v of a voter i on row j.

    As above; probabilities (rows, classes); out (voters, classes, classes).
    """
    n_classes = probabilities.shape[1]
    for row in range(probabilities.shape[0]):
        for entry in range(indptr[row], indptr[row + 1]):
            voter, value = np.uintp(voters[entry]), np.uintp(values[entry] - 1)
            for k in range(n_classes):
                out[voter, value, k] += probabilities[row, k]
