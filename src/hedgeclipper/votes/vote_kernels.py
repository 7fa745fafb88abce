"""Numba twins of the sums over votes: arrays in, arrays out.

No objects, no options, no messages; the caller allocates. All of them release the interpreter's
lock, so that blocks of rows can run side by side.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def sum_vote_scores(indptr, voters, values, weights, out):
    """out[j] = sum of weights[i, v] over the votes v of voters i on row j.

    indptr (rows + 1,), voters, values (votes,), the class voted for plus 1; weights (voters,
    classes, columns), by voter, vote and column; out (rows, columns), quickest if each column is in
    one piece. Two columns at a time are summed outside of memory; the last may be summed twice.
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
def add_vote_shares(indptr, voters, values, shares, out):
    """out[i, v] += shares[j] for each vote v of a voter i on row j.

    As above; shares (rows, classes); out (voters, classes, classes).
    """
    n_classes = shares.shape[1]
    for row in range(shares.shape[0]):
        for entry in range(indptr[row], indptr[row + 1]):
            voter, value = np.uintp(voters[entry]), np.uintp(values[entry] - 1)
            for k in range(n_classes):
                out[voter, value, k] += shares[row, k]


@njit(cache=True, nogil=True)
def count_votes(voters, values, out):
    """out[i, v] += 1 for each vote v of a voter i.

    voters, values (votes,), the class voted for plus 1; out (voters, classes).
    """
    for entry in range(voters.shape[0]):
        out[voters[entry], values[entry] - 1] += 1.0


@njit(cache=True, nogil=True)
def append_votes(indptr, voters, values, first, more, new_indptr, new_voters, new_values):
    """Copy all votes, and put those of a few voters more behind those on each row.

    indptr (rows + 1,), voters, values (votes,); first, the number of the first voter added; more
    (rows, voters added), 0 where one of them abstains; new_indptr (rows + 1,), made already;
    new_voters, new_values (votes in all,).
    """
    n_added = more.shape[1]
    for row in range(more.shape[0]):
        to = new_indptr[row]
        for entry in range(indptr[row], indptr[row + 1]):
            new_voters[to], new_values[to] = voters[entry], values[entry]
            to += 1
        for k in range(n_added):
            if more[row, k] > 0:
                new_voters[to], new_values[to] = first + k, more[row, k]
                to += 1
