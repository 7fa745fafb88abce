"""`solve_game`: check what is known of voters, set up a game, solve it, describe the solution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgeclipper.game.equations import Game, WeightTerms
from hedgeclipper.game.losses import ZeroOneLoss, resolve_loss
from hedgeclipper.game.solution import GameSolution, Progress, describe
from hedgeclipper.game.solvers import solve_batch, solve_exact
from hedgeclipper.game.specialists import Specialists, WithConstantVoter, as_vote_matrix
from hedgeclipper.io.messages import warn_user

MAX_PASSES = 500


@dataclass(frozen=True, eq=False)
class LabelCorrelations:
    """Correlations of voters with the labels, and bounds on them, as `lower_bounds` returns.

    Parameters
    ----------
    estimate : ndarray of shape (n_voters,)
        Mean of vote times label over the labeled rows a voter is awake on; NaN where there is none.
    lower, upper : ndarray of shape (n_voters,)
        Bounds; -1 and 1, which claim nothing, for a voter without a labeled row. Those of "exact"
        are lower bounds alone, and ``upper`` is 1.
    n_labeled : ndarray of shape (n_voters,)
        Labeled rows each voter is awake on (the sum of its participation).
    method : {"plug_in", "wilson", "exact"}
        How the bounds were made.
    confidence_level : float or None
        Probability that the bounds hold: each voter's by itself for "wilson", all of them together
        for "exact", None for "plug_in".
    is_guarantee : bool
        Whether the bounds hold for the unlabeled rows with that probability. Everything else is an
        estimate.
    """

    estimate: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    n_labeled: np.ndarray
    method: str
    confidence_level: float | None
    is_guarantee: bool


def set_up_game(
    votes: Any,
    label_correlations: Any,
    *,
    participation: Any = None,
    class_balance: Any = None,
    unlabeled_weight: float = 1.0,
    cap: float | None = 1.0,
    ridge: float = 0.0,
    anchor: Any = None,
    loss: str = "zero_one",
) -> Game:
    """Check everything and return the game; parameters as in `solve_game`."""
    resolved_loss = resolve_loss(loss)
    alpha = _check_positive("unlabeled_weight", unlabeled_weight)
    bound = np.inf if cap is None else _check_positive("cap", cap)
    strength = _check_positive("ridge", ridge, or_zero=True)
    specialists: Specialists = as_vote_matrix(votes, participation)
    p = specialists.n_voters
    b = _check_correlations(label_correlations, p)
    center = _check_anchor(anchor, strength, p)
    lower, width = np.zeros(p), np.zeros(p)
    if class_balance is not None:
        positive, around = _check_balance(class_balance)
        specialists = WithConstantVoter(specialists)
        b, width = np.append(b, 2 * positive - 1), np.append(width, 2 * around)
        center, lower = np.append(center, 0.0), np.append(lower, -bound)
    known: dict[str, Any] = {"width": width, "anchor": center, "lower": lower, "upper": bound}
    terms = WeightTerms.of(specialists.coverage, b, ridge=strength, **known)
    return Game(specialists, terms, resolved_loss, alpha, class_balance is not None)


def _check_correlations(known: Any, n_voters: int) -> np.ndarray:
    """Return lower bounds on the correlations of all voters."""
    known = known.lower if isinstance(known, LabelCorrelations) else known
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


def _check_anchor(anchor: Any, ridge: float, n_voters: int) -> np.ndarray:
    """Return the weights that the ridge pulls to."""
    if anchor is None:
        return np.zeros(n_voters)
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
    return np.broadcast_to(array, (n_voters,)).copy()


def _check_balance(class_balance: Any) -> tuple[float, float]:
    pair = _numbers("class_balance", class_balance)
    positive, width = pair if pair.shape == (2,) else (pair, 0.0)
    if pair.shape not in ((), (2,)) or not (0.0 <= positive <= 1.0 and 0.0 <= width <= 1.0):
        raise ValueError(
            "class_balance must be the proportion of + among the rows, in [0, 1], or a pair "
            f"(proportion, width). Got {class_balance!r}."
        )
    return float(positive), float(width)


def _numbers(name: str, value: Any) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} must be numbers. Got {value!r} of dtype {array.dtype}.")
    return array.astype(float)


def _check_positive(name: str, value: Any, *, or_zero: bool = False) -> float:
    """Return the parameter as a float if it is a positive finite number, else raise."""
    is_number = isinstance(value, (int, float, np.number)) and np.isfinite(value)
    if not (is_number and (value > 0 or (or_zero and value == 0))):
        wanted = "a number >= 0" if or_zero else "a positive number"
        raise ValueError(f"The '{name}' parameter must be {wanted}. Got {value!r}.")
    return float(value)


class UnboundedGameWarning(UserWarning):
    """The slack has no minimum: nothing keeps the weights in bounds."""


def solve_game(
    votes: Any,
    label_correlations: Any,
    *,
    participation: Any = None,
    class_balance: float | tuple[float, float] | None = None,
    unlabeled_weight: float = 1.0,
    cap: float | None = 1.0,
    ridge: float = 0.0,
    anchor: Any = None,
    loss: str = "zero_one",
    tol: float = 1e-3,
) -> GameSolution:
    """Solve for the minimax-optimal voter weights.

    A predictor picks a prediction for every row, an adversary then picks the labels, limited only
    by the correlation each voter is known to have with them. The predictor's best play is a
    function of a weighted sum of the votes, and the weights solve one convex problem [1]_, also
    for losses other than the error [2]_.

    Parameters
    ----------
    votes : array-like or sparse matrix of shape (n_samples, n_voters), or re-iterable of these
        Votes in [-1, 1] on the unlabeled rows (h). A voter abstains where a dense entry is NaN or a
        sparse entry absent (a stored 0, like a dense 0, is a vote of 0). Integer and float32 votes
        are converted a batch at a time. Batches may come from a list, any object that can be
        iterated over again, or a function that returns a fresh iterable.
    label_correlations : array-like of shape (n_voters,) or LabelCorrelations
        Lower bound (b), in [-1, 1], on the mean of vote times label over the rows a voter is awake
        on; for votes of -1 and 1 it is 2 * accuracy - 1. `lower_bounds` computes it from labeled
        rows. Of a `LabelCorrelations`, ``lower`` is used.
    participation : like votes, default=None
        Probability of voting (v), in [0, 1], where voters take part at random. By default a voter
        takes part wherever it does not abstain.
    class_balance : float or (float, float), default=None
        Proportion of + among the rows, or the proportion and the width within which it is known.
        By default nothing is known of it.
    unlabeled_weight : float, default=1.0
        Weight of the rows' term (alpha). Below 1 it stands for label noise, and larger weights
        result; above 1 weights are smaller and more rows are hedged.
    cap : float or None, default=1.0
        Largest size of a weight; the adversary may break the constraint of voter i at the cost of
        cap * c_i per unit, where c_i is the voter's coverage. 1 is right for votes of -1 and 1.
        Set it higher for votes in between and for log loss: one voter with correlation b needs
        2 artanh(b) there. None sets no limit; without a ridge the problem then has no minimum if
        the correlations contradict each other.
    ridge : float, default=0.0
        Strength of the anchor: (ridge / 2) * sum c_i (theta_i - anchor_i)^2 is added to the
        objective. Set it above 0 where correlations rest on few labels.
    anchor : float or array-like of shape (n_voters,), default=None
        Weights that the ridge pulls to, those of a majority vote for instance; None is 0. It needs
        a positive ridge.
    loss : {"zero_one", "log", "square"}, default="zero_one"
        What the predictor minimizes: the error, or the log loss or square loss of its
        probabilities.
    tol : float, default=1e-3
        Stop when the duality gap is at most tol times the objective (which counts as at least
        0.001). A smaller value takes more passes, of which there are at most 500.

    Returns
    -------
    GameSolution
        Weights, worst cases, and the gap to the optimum.

    See Also
    --------
    lower_bounds : Label correlations and their bounds, from labeled rows.

    References
    ----------
    .. [1] A. Balsubramani and Y. Freund. Scalable Semi-Supervised Aggregation of Classifiers.
       NIPS 2015.
    .. [2] A. Balsubramani and Y. Freund. Optimal Binary Classifier Aggregation for General Losses.
       NIPS 2016.

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
        class_balance=class_balance,
        unlabeled_weight=unlabeled_weight,
        cap=cap,
        ridge=ridge,
        anchor=anchor,
        loss=loss,
    )
    return play(game, Progress(tol, MAX_PASSES))


def play(game: Game, progress: Progress, method: str | None = None) -> GameSolution:
    """Solve a game that is set up, from its anchor on, and describe the solution.

    ``method`` is "exact" or "batch"; by default it is "exact" for small games that are linear
    programs, and else "batch".
    """
    is_exact = _suits_linear_program(game) if method is None else method == "exact"
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # `Progress` finds these
        if is_exact:
            stop_reason = solve_exact(game, progress)
        else:
            start = np.clip(game.terms.anchor, game.terms.lower, game.terms.upper)
            stop_reason = solve_batch(game, progress, start)
    if stop_reason == "unbounded":
        cause = (
            "some label correlations are larger than unlabeled_weight allows"
            if game.unlabeled_weight < 1
            else "the label correlations contradict each other"
        )
        warn_user(
            f"Without a cap or a ridge the slack has no minimum here, since {cause}; the weights "
            "are arbitrary in size. Set cap or ridge, or lower the correlations.",
            UnboundedGameWarning,
        )
    return describe(game, progress, stop_reason)


def _suits_linear_program(game: Game) -> bool:
    n, p = game.specialists.n_samples, game.specialists.n_voters
    is_small = p <= 100 and n * p <= 20_000  # the program then takes less than a second
    return is_small and isinstance(game.loss, ZeroOneLoss) and not np.any(game.terms.curvature)
