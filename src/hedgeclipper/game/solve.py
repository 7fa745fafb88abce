"""`solve_game`: check votes and what is known of voters, set up a game, solve it, describe it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from hedgeclipper.game.equations import (
    Contradiction,
    Game,
    WeightTerms,
    find_contradiction,
    relative_gap,
)
from hedgeclipper.game.losses import ZeroOneLoss
from hedgeclipper.game.solvers import Solution, solve_batch, solve_exact
from hedgeclipper.io import cut, listed, row_slice


@dataclass(frozen=True, eq=False, kw_only=True)
class GameSolution(Solution):
    """Weights of the voters and what they guarantee on the rows of the game.

    Its other parameters are those of `Solution`: ``weights``, ``slack``, ``objective``,
    ``duality_gap``, ``n_iter`` and ``stop_reason``.

    Parameters
    ----------
    worst_case_correlation : float
        V: whatever the labels are, if the correlations hold then clip(m) has at least this mean
        correlation with them (at least -1). Always at alpha = 1, with neither box nor anchor. Above
        1 it shows a contradiction.
    worst_case_error : float
        (1 - V) / 2, not below 0: error of the randomized prediction clip(m) at the worst.
    contradiction : Contradiction or None
        Proof that the correlations cannot all hold, if these weights are one. If they are not,
        others may be.
    """

    worst_case_correlation: float
    worst_case_error: float
    contradiction: Contradiction | None

    def awake_predictions(self, votes: Any, *, participation: Any = None) -> np.ndarray:
        """Return m, the weighted sum of the awake votes, for each row of votes.

        Parameters
        ----------
        votes, participation
            As in `solve_game`; new rows too, and voters may abstain on all of them.

        Returns
        -------
        ndarray of shape (n_samples,)
            Awake predictions.
        """
        matrix = VoteMatrix.of(votes, participation)
        if matrix.coverage.size != self.weights.size:
            raise ValueError(
                f"The game was solved for {self.weights.size} voters. Got votes of "
                f"{matrix.coverage.size}."
            )
        return np.concatenate([block @ self.weights for block in matrix.blocks()])

    def predictions(self, votes: Any, *, participation: Any = None) -> np.ndarray:
        """Return the minimax prediction g in [-1, 1] for each row of votes: m, clipped.

        (1 + g) / 2 is the probability of +. ``worst_case_error`` bounds the expected error of
        predictions that are drawn with this probability.

        Parameters
        ----------
        votes, participation
            As in `solve_game`; new rows too.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions.
        """
        return np.clip(self.awake_predictions(votes, participation=participation), -1.0, 1.0)

    def __str__(self) -> str:
        lines = [
            f"{self.weights.size} voters, {np.count_nonzero(self.weights)} with weight; "
            f"{self.stop_reason} after {self.n_iter} pass{'es' * (self.n_iter > 1)}, "
            f"relative gap {relative_gap(self.duality_gap, self.objective):.1e}",
            f"worst-case correlation {self.worst_case_correlation:.4f}, worst-case error "
            f"{self.worst_case_error:.4f}, if the given correlations hold on these rows",
        ]
        if self.contradiction is not None:
            lines.append(str(self.contradiction))
        return "\n".join(lines)


def solve_game(
    votes: Any,
    label_correlations: Any,
    *,
    participation: Any = None,
    unlabeled_weight: float = 1.0,
    cap: float = 1.0,
    ridge: float = 0.0,
    anchor: Any = None,
    tol: float = 1e-3,
) -> GameSolution:
    """Solve for the minimax-optimal voter weights.

    A predictor picks a prediction for every row, an adversary then picks the labels, limited only
    by the correlation each voter is known to have with them. The predictor's best play is a
    function of a weighted sum of the votes, and the weights solve one convex problem [1]_.

    Parameters
    ----------
    votes : array-like or sparse matrix of shape (n_samples, n_voters)
        Votes in [-1, 1] on the unlabeled rows (h). A voter abstains where a dense entry is NaN or a
        sparse entry absent (a stored 0, like a dense 0, is a vote of 0). Integer and float32 votes
        are converted a block of rows at a time, so that votes may be a memory map.
    label_correlations : array-like of shape (n_voters,)
        Lower bound (b), in [-1, 1], on the mean of vote times label over the rows a voter is awake
        on; for votes of -1 and 1 it is 2 * accuracy - 1. Labeled rows that no voter was fitted to
        estimate it, and for votes of -1 and 1 ``hedgeclipper.bounds.intervals.proportion_bounds``
        bounds the accuracy. Known class frequencies are two more voters, who always vote 1 and
        always -1.
    participation : like votes, default=None
        Probability of voting (v), in [0, 1], where voters take part at random. By default a voter
        takes part wherever it does not abstain.
    unlabeled_weight : float, default=1.0
        Weight of the rows' term (alpha). Below 1 it stands for label noise, and larger weights
        result; above 1 weights are smaller and more rows are hedged.
    cap : float, default=1.0
        Largest size of a weight; the adversary may break the constraint of voter i at the cost of
        cap * c_i per unit, where c_i is the voter's coverage. 1 is right for votes of -1 and 1.
        Set it higher for votes in between. In the paper there is no limit, and the problem has no
        minimum if the correlations contradict each other; a large one shows that in
        `GameSolution.contradiction`.
    ridge : float, default=0.0
        Strength of the anchor: (ridge / 2) * sum c_i (theta_i - anchor_i)^2 is added to the
        objective. Set it above 0 where correlations rest on few labels.
    anchor : float or array-like of shape (n_voters,), default=None
        Weights that the ridge pulls to, those of a majority vote for instance; None is 0. It needs
        a positive ridge.
    tol : float, default=1e-3
        Stop when the duality gap is at most tol times the objective (which counts as at least
        0.001). A smaller value takes more passes, of which there are at most 500.

    Returns
    -------
    GameSolution
        Weights, worst cases, and the gap to the optimum.

    References
    ----------
    .. [1] A. Balsubramani and Y. Freund. Scalable Semi-Supervised Aggregation of Classifiers.
       NIPS 2015.

    Examples
    --------
    Three voters that are right two times out of three beat three that are right five times out of
    six, because of where they disagree (the first example of the paper):

    >>> a_rules = [[-1, 1, 1], [-1, 1, 1], [1, -1, 1], [1, -1, 1], [1, 1, -1], [1, 1, -1]]
    >>> b_rules = [[1, 1, 1]] * 5 + [[-1, -1, -1]]
    >>> votes = np.hstack([a_rules, b_rules])
    >>> solution = solve_game(votes, [1 / 3] * 3 + [2 / 3] * 3)
    >>> round(abs(solution.worst_case_error), 6)
    0.0
    >>> solution.predictions(votes).round(6).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    _check_positive("tol", tol)
    game = set_up_game(
        votes,
        label_correlations,
        participation=participation,
        unlabeled_weight=unlabeled_weight,
        cap=cap,
        ridge=ridge,
        anchor=anchor,
    )
    return play(game, tol)


def play(game: Game, tol: float, max_iter: int = 500, method: str | None = None) -> GameSolution:
    """Solve a game of zero-one loss and return the solution with its worst cases at alpha = 1.

    ``method`` is "exact" or "batch"; by default it is "exact" for small games without a ridge,
    which are linear programs, and else "batch".
    """
    if method is None:
        n_voters = game.specialists.coverage.size
        # the program then takes less than a second
        is_small = n_voters <= 100 and game.specialists.n_samples * n_voters <= 20_000
        method = "exact" if is_small and not np.any(game.terms.curvature) else "batch"
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # `Progress` finds these
        found = (solve_exact if method == "exact" else solve_batch)(game, tol, max_iter)
    sizes = np.zeros(2)  # of the awake predictions, and what is clipped of them
    for block in game.specialists.blocks():
        size = np.abs(block @ found.weights)
        sizes += size.sum(), np.maximum(size - 1.0, 0.0).sum()
    mean_size, mean_excess = sizes / game.specialists.n_samples
    linear_term = -game.terms.slack(found.weights)
    correlation = max(linear_term - float(mean_excess), -1.0)
    load = game.specialists.coverage * np.abs(found.weights)
    return GameSolution(
        **vars(found),
        worst_case_correlation=correlation,
        worst_case_error=max((1.0 - correlation) / 2.0, 0.0),
        contradiction=find_contradiction(linear_term - float(mean_size), load),
    )


def set_up_game(
    votes: Any,
    label_correlations: Any,
    *,
    participation: Any = None,
    unlabeled_weight: float = 1.0,
    cap: float = 1.0,
    ridge: float = 0.0,
    anchor: Any = None,
) -> Game:
    """Check everything and return the game; parameters as in `solve_game`."""
    alpha = _check_positive("unlabeled_weight", unlabeled_weight)
    upper = _check_positive("cap", cap)
    strength = _check_positive("ridge", ridge, or_zero=True)
    voters = VoteMatrix.of(votes, participation)
    voters.check_all_vote()
    b = _check_correlations(label_correlations, voters.coverage.size)
    center = _check_anchor(anchor, strength, voters.coverage.size)
    terms = WeightTerms.of(voters.coverage, b, ridge=strength, anchor=center, upper=upper)
    return Game(voters, terms, ZeroOneLoss(), baseline=1.0, unlabeled_weight=alpha)


def _check_positive(name: str, value: Any, *, or_zero: bool = False) -> float:
    """Return the parameter as a float if it is a positive finite number, else raise."""
    is_number = isinstance(value, (int, float, np.number)) and np.isfinite(value)
    if not (is_number and (value > 0 or (or_zero and value == 0))):
        wanted = "a number >= 0" if or_zero else "a positive number"
        raise ValueError(f"The '{name}' parameter must be {wanted}. Got {value!r}.")
    return float(value)


def _check_correlations(known: Any, n_voters: int) -> np.ndarray:
    """Return lower bounds on the correlations of all voters."""
    b = _numbers("label_correlations", known)
    if b.shape != (n_voters,):
        raise ValueError(
            f"label_correlations must have one entry per voter, shape ({n_voters},). Got shape "
            f"{b.shape}."
        )
    unknown = np.flatnonzero(np.isnan(b))
    if unknown.size:
        raise ValueError(
            f"label_correlations has NaN for voter {unknown[0]} ({unknown.size} in all). Drop "
            "voters nothing is known of from votes and label_correlations, or pass -1, which "
            "claims nothing."
        )
    outside = np.flatnonzero(np.abs(b) > 1)
    if outside.size:
        raise ValueError(
            f"label_correlations must lie in [-1, 1]. Got {b[outside[0]]:g} for voter "
            f"{outside[0]}. From an accuracy it is 2 * accuracy - 1."
        )
    return b


def _check_anchor(anchor: Any, ridge: float, n_voters: int) -> np.ndarray | float:
    """Return the weights that the ridge pulls to."""
    if anchor is None:
        return 0.0
    if ridge == 0:
        raise ValueError("An anchor acts only with a ridge. Got ridge=0: set it, or no anchor.")
    array = _numbers("anchor", anchor)
    if array.shape not in ((), (n_voters,)):
        raise ValueError(
            f"anchor must be a number or have one entry per voter, shape ({n_voters},). Got shape "
            f"{array.shape}."
        )
    if not np.all(np.isfinite(array)):
        raise ValueError(f"anchor must be finite. Got {array[~np.isfinite(array)].flat[0]}.")
    return array


def _numbers(name: str, value: Any) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} must be numbers. Got {value!r} of dtype {array.dtype}.")
    return array.astype(float)


_HINTS = {
    "votes": "Rescale votes to -1 and 1, or between; NaN (dense) or no entry (sparse) abstains.",
    "participation": "It is the probability of voting: 1 where a voter takes part, 0 where not.",
}


@dataclass(frozen=True, eq=False)
class VoteMatrix:
    """The votes of `solve_game`, checked, as the specialists of a game.

    ``votes`` and ``participation`` are arrays or CSR matrices of one shape. ``has_nan``: some dense
    vote abstains by NaN.
    """

    votes: Any
    participation: Any
    has_nan: bool
    coverage: np.ndarray

    @classmethod
    def of(cls, votes: Any, participation: Any = None) -> VoteMatrix:
        """Check votes and participation, as for `solve_game`, and return them."""
        votes = _as_table("votes", votes)
        has_nan = _check_range("votes", votes, -1.0)
        if has_nan and sparse.issparse(votes):
            raise ValueError(
                "Sparse votes contain NaN. In a sparse matrix an absent entry abstains: remove "
                "these entries."
            )
        if participation is not None:
            participation = _as_table("participation", participation)
            if participation.shape != votes.shape:
                raise ValueError(
                    f"participation must have the shape of votes, {votes.shape}. Got "
                    f"{participation.shape}."
                )
            if _check_range("participation", participation, 0.0):
                raise ValueError("participation contains NaN. Pass 0 where a voter abstains.")
        found = cls(votes, participation, has_nan, np.zeros(votes.shape[1]))
        for block, part in found._pairs():
            found.coverage[:] += _awake_counts(block, part)
        found.coverage[:] /= max(found.n_samples, 1)
        return found

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.votes.shape[0]

    def blocks(self) -> Iterator[Any]:
        """Yield the awake votes v h in blocks: float64 arrays or CSR matrices, 0 for no vote."""
        for votes, participation in self._pairs():
            if sparse.issparse(votes):
                awake = votes.astype(np.float64, copy=False)
            else:
                awake = np.ascontiguousarray(votes, dtype=np.float64)
                awake = np.nan_to_num(awake, nan=0.0) if self.has_nan else awake
            yield awake if participation is None else _times(awake, participation)

    def check_all_vote(self) -> None:
        """Raise unless there are rows and voters, and each voter votes on some row."""
        n_samples, n_voters = self.votes.shape
        if n_samples == 0:
            raise ValueError("votes has no rows. The game needs at least one unlabeled row.")
        if n_voters == 0:
            raise ValueError("votes has no voters (columns). The game needs at least one.")
        never = np.flatnonzero(self.coverage <= 0)
        if never.size:
            raise ValueError(
                f"{never.size} of {n_voters} voters never vote on these rows: "
                f"{listed(never.tolist())}. Drop these columns (and their correlations): without "
                "votes nothing is known of them."
            )

    def _pairs(self) -> Iterator[tuple[Any, Any]]:
        """Yield blocks of votes beside their participation (None where there is none)."""
        part = self.participation
        for rows in cut(self.n_samples, self.votes):
            yield row_slice(self.votes, rows), None if part is None else row_slice(part, rows)


def _as_table(name: str, given: Any) -> Any:
    """Return an array or a CSR matrix of numbers."""
    table = given.tocsr() if sparse.issparse(given) else np.asarray(given)
    if table.ndim != 2:
        raise ValueError(
            f"{name} must be two-dimensional, rows by voters. Got {type(given).__name__} of shape "
            f"{table.shape}."
        )
    if table.dtype.kind not in ("fiub" if name == "participation" else "fiu"):
        low = 0 if name == "participation" else -1
        raise TypeError(
            f"{name} must be numbers in [{low}, 1]. Got dtype {table.dtype}. {_HINTS[name]}"
        )
    return table


def _check_range(name: str, table: Any, low: float) -> bool:
    """Raise unless all entries but NaN lie in [low, 1]; return whether there is a NaN.

    Entries may be outside by a millionth, as sums and float32 are rounded.
    """
    values, rounding = table.data if sparse.issparse(table) else table, 1e-6
    if values.size == 0:
        return False
    least, most = values.min(), values.max()
    has_nan = bool(np.isnan(least))
    if has_nan:
        least, most = np.fmin.reduce(values, axis=None), np.fmax.reduce(values, axis=None)
    if least < low - rounding or most > 1.0 + rounding:
        entries = sparse.coo_array(table)
        is_out = (entries.data < low - rounding) | (entries.data > 1.0 + rounding)
        at = np.flatnonzero(is_out)[0]
        raise ValueError(
            f"{name} must lie in [{low:g}, 1]. Got {entries.data[at]:.8g} in row "
            f"{entries.row[at]}, voter {entries.col[at]}. {_HINTS[name]}"
        )
    return has_nan


def _awake_counts(votes: Any, participation: Any) -> np.ndarray:
    """Return the sum of the participation of each voter over a block of rows."""
    if sparse.issparse(votes):
        ones = np.ones(votes.indices.size)
        awake: Any = sparse.csr_array((ones, votes.indices, votes.indptr), shape=votes.shape)
    else:
        awake = (~np.isnan(votes)).astype(float)
    taking_part = awake if participation is None else _times(awake, participation)
    return np.asarray(taking_part.sum(axis=0, dtype=np.float64)).ravel()


def _times(left: Any, right: Any) -> Any:
    """Multiply elementwise, dense or sparse; the result is an array or a CSR matrix."""
    if sparse.issparse(left):
        return left.multiply(right).tocsr()
    if sparse.issparse(right):
        return right.multiply(left).tocsr()
    return left * right
