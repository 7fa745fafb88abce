"""What a few labels prove about each voter: label correlations and their lower bounds.

A voter's label correlation is the mean of h_i(x) y over the labeled rows it is awake on, in
[-1, 1]; for votes of -1 and 1 it is 2 * accuracy - 1. The rows must be ones the voter was not
fitted on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from hedgeclipper.game.setup import LabelCorrelations
from hedgeclipper.game.specialists import VoteMatrix, as_vote_matrix, signed_sums

METHODS = ("plug_in", "wilson", "transductive")


def lower_bounds(
    votes: Any,
    labels: Any,
    *,
    participation: Any = None,
    method: str = "plug_in",
    confidence_level: float = 0.95,
    two_sided: bool = False,
    n_unlabeled: Any = None,
) -> LabelCorrelations:
    """Return the correlation of each voter with the label, and bounds on it, from labeled rows.

    Parameters
    ----------
    votes : array-like or sparse matrix of shape (n_labeled, n_voters)
        Votes in [-1, 1] on labeled rows; abstentions as in `solve_game`. Pass all voters, also
        those that will be dropped for their correlation: the bounds have to count them.
    labels : array-like of shape (n_labeled,)
        Labels, -1 or 1.
    participation : array-like or sparse matrix of the shape of votes, default=None
        Probability of voting, in [0, 1], where voters take part at random. Values other than 0 and
        1 weigh the rows, and are no guarantee.
    method : {"plug_in", "wilson", "transductive"}, default="plug_in"
        - "plug_in": the estimate itself, as in the paper; too optimistic where labels are few
        - "wilson": Wilson's score bound [1]_, each voter's by itself; for votes of -1 or 1 and a
          cautious estimate
        - "transductive": Hoeffding's bound [2]_ on the correlation on the unlabeled rows
          themselves, for all voters together; the widest, and the only one for a guarantee:
          estimate - 2 sqrt((m + n) ln(2 p / delta) / (2 m n)), with m labeled and n unlabeled rows
          a voter is awake on, p voters, and delta = 1 - confidence_level
    confidence_level : float, default=0.95
        Probability that the bounds hold, in (0, 1), at least 1/2 for "wilson"; a higher level
        makes them wider. "plug_in" does not use it. See `LabelCorrelations`.
    two_sided : bool, default=False
        Whether the "wilson" bounds of a voter hold together on both sides; set it to use both
        (``widths="bounds"`` in `solve_game`). "transductive" bounds always do.
    n_unlabeled : int or array-like of shape (n_voters,), default=None
        Needed for "transductive": the unlabeled rows each voter is awake on, or their number if all
        voters are awake on all of them. A `certificate` for fewer rows is no guarantee.

    Returns
    -------
    LabelCorrelations
        A guarantee only for "transductive", and only if no voter was fitted on the labeled rows
        and these and the unlabeled rows are different draws from one population.

    References
    ----------
    .. [1] E. B. Wilson. Probable Inference, the Law of Succession, and Statistical Inference.
       Journal of the American Statistical Association, 1927.
    .. [2] W. Hoeffding. Probability Inequalities for Sums of Bounded Random Variables. Journal of
       the American Statistical Association, 1963.

    Examples
    --------
    >>> votes = np.array([[1, 1], [1, -1], [-1, -1], [1, np.nan]])
    >>> lower_bounds(votes, [1, 1, -1, -1]).lower.round(3)
    array([0.5  , 0.333])
    """
    if method not in METHODS:
        raise ValueError(f"The 'method' parameter must be one of {METHODS}. Got {method!r}.")
    lowest = 0.5 if method == "wilson" else 0.0
    is_number = isinstance(confidence_level, (int, float, np.number))
    if not (is_number and 0.0 < confidence_level < 1.0 and confidence_level >= lowest):
        raise ValueError(
            "The 'confidence_level' parameter must lie strictly between 0 and 1, and not below 0.5 "
            f"for method='wilson'. Got {confidence_level!r}."
        )
    matrix = as_vote_matrix(votes, participation, allow_asleep=True)
    signs = _check_labels(labels, matrix.n_samples)
    sums, n_labeled = signed_sums(matrix, signs), matrix.coverage * matrix.n_samples
    estimate = np.divide(sums, n_labeled, out=np.full_like(sums, np.nan), where=n_labeled > 0)
    counts, delta = None, 1.0 - float(confidence_level)
    if method == "wilson":
        _check_hard_votes(matrix, n_labeled)
        delta = delta / 2 if two_sided else delta
    elif method == "transductive":
        counts = _check_counts(n_unlabeled, n_labeled)
    lower, upper = mean_bounds(estimate, n_labeled, counts, method, delta, n_labeled.size)
    return LabelCorrelations(
        estimate=estimate,
        lower=lower,
        upper=upper,
        n_labeled=n_labeled,
        method=method,
        confidence_level=None if method == "plug_in" else confidence_level,
        is_guarantee=method == "transductive" and not matrix.is_fractional,
        n_unlabeled=counts,
    )


def mean_bounds(
    estimate: np.ndarray,
    n_labeled: np.ndarray,
    n_unlabeled: np.ndarray | None,
    method: str,
    delta: float,
    n_compared: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper bounds on means of quantities in [-1, 1]; -1 and 1 without a label.

    ``estimate`` are means over ``n_labeled`` rows, NaN where there is none. For the methods see
    `lower_bounds`: only "transductive" needs ``n_unlabeled``, the rows that the bounds are for, and
    ``n_compared``, the number of means for which they hold together. ``delta`` is the probability
    that a bound of Wilson's fails, or that any of Hoeffding's does.
    """
    lower, upper = estimate, estimate
    if method == "wilson":
        lower, upper = wilson_bounds(estimate, n_labeled, delta)
    elif method == "transductive":
        assert n_unlabeled is not None
        radius = transductive_radius(n_labeled, n_unlabeled, delta, n_compared)
        lower, upper = estimate - radius, estimate + radius
    lower = np.where(np.isnan(lower), -1.0, np.clip(lower, -1.0, 1.0))
    return lower, np.where(np.isnan(upper), 1.0, np.clip(upper, -1.0, 1.0))


def transductive_radius(
    n_labeled: np.ndarray, n_unlabeled: np.ndarray, delta: float, n_voters: int
) -> np.ndarray:
    """Return 2 sqrt((m + n) ln(2 p / delta) / (2 m n)), infinite where m or n is 0.

    Hoeffding's bound on the difference between the labeled and the unlabeled mean of a quantity
    in [-1, 1], on both sides and for all p voters together; p counts the voters before any of them
    is dropped.
    """
    log_term = np.log(2 * max(n_voters, 1) / delta)
    with np.errstate(divide="ignore"):
        return 2.0 * np.sqrt((1.0 / n_labeled + 1.0 / n_unlabeled) * log_term / 2.0)


def wilson_bounds(
    estimate: np.ndarray, n_labeled: np.ndarray, delta: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return Wilson's score bounds on the correlation; each fails with probability delta."""
    quantile = ndtri(1.0 - delta)
    with np.errstate(divide="ignore", invalid="ignore"):
        noise = quantile**2 / n_labeled
        center = estimate / (1.0 + noise)
        radius = np.sqrt(noise * (1.0 - estimate**2 + noise)) / (1.0 + noise)
    return center - radius, center + radius


def _check_labels(labels: Any, n_samples: int) -> np.ndarray:
    signs = np.asarray(labels)
    if signs.dtype.kind not in "fiu":
        raise TypeError(
            f"labels must be the numbers -1 and 1. Got dtype {signs.dtype}. Encode them, for "
            "instance with np.where(labels == positive, 1, -1)."
        )
    signs = signs.astype(float)
    if signs.shape != (n_samples,):
        raise ValueError(
            f"labels must have one entry per row of votes, shape ({n_samples},). Got shape "
            f"{signs.shape}."
        )
    if not np.all(np.abs(signs) == 1.0):
        found = np.unique(signs)[:5].tolist()
        raise ValueError(
            f"labels must be -1 or 1. Got values such as {found}. Encode them, for instance with "
            "2 * (labels == positive) - 1, and pass labeled rows only."
        )
    return signs


def _check_counts(n_unlabeled: Any, n_labeled: np.ndarray) -> np.ndarray:
    if n_unlabeled is None:
        raise ValueError(
            "method='transductive' is for the unlabeled rows: pass n_unlabeled, how many of them "
            "there are (or how many each voter is awake on)."
        )
    counts = np.asarray(n_unlabeled, dtype=float)
    if counts.shape not in ((), n_labeled.shape) or np.any(counts < 0) or np.any(np.isnan(counts)):
        raise ValueError(
            f"n_unlabeled must be a count, or one count for each of the {n_labeled.size} voters. "
            f"Got {n_unlabeled!r}."
        )
    return np.broadcast_to(counts, n_labeled.shape)


def _check_hard_votes(matrix: VoteMatrix, n_labeled: np.ndarray) -> None:
    squares = np.zeros(matrix.n_voters)
    for block in matrix.blocks():
        square = block.multiply(block) if sparse.issparse(block) else block * block
        squares += np.asarray(square.sum(axis=0)).ravel()
    soft = np.flatnonzero(squares < n_labeled - 1e-9)
    if soft.size:
        raise ValueError(
            f"method='wilson' needs votes of -1 or 1, each wholly awake or asleep. Got others from "
            f"voter {soft[0]}. Take np.sign of the votes, or method='transductive'."
        )
