"""`solve_game`: check what is known of voters, set up a game, solve it, describe the solution."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgeclipper.game.equations import Game, WeightTerms
from hedgeclipper.game.losses import ZeroOneLoss, resolve_loss
from hedgeclipper.game.solution import GameSolution, Progress, describe
from hedgeclipper.game.solvers import solve_batch, solve_exact
from hedgeclipper.game.specialists import as_vote_matrix

MAX_PASSES = 500


def set_up_game(
    votes: Any,
    label_correlations: Any,
    *,
    participation: Any = None,
    unlabeled_weight: float = 1.0,
    cap: float = 1.0,
    ridge: float = 0.0,
    anchor: Any = None,
    loss: str = "zero_one",
) -> Game:
    """Check everything and return the game; parameters as in `solve_game`."""
    resolved_loss = resolve_loss(loss)
    alpha = _check_positive("unlabeled_weight", unlabeled_weight)
    bound = _check_positive("cap", cap)
    strength = _check_positive("ridge", ridge, or_zero=True)
    specialists = as_vote_matrix(votes, participation)
    b = _check_correlations(label_correlations, specialists.n_voters)
    center = _check_anchor(anchor, strength, specialists.n_voters)
    terms = WeightTerms.of(specialists.coverage, b, ridge=strength, anchor=center, upper=bound)
    return Game(specialists, terms, resolved_loss, alpha)


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


def solve_game(
    votes: Any,
    label_correlations: Any,
    *,
    participation: Any = None,
    unlabeled_weight: float = 1.0,
    cap: float = 1.0,
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
        Set it higher for votes in between and for log loss: one voter with correlation b needs
        2 artanh(b) there. In the paper there is no limit, and the problem has no minimum if the
        correlations contradict each other; a large one shows that in `GameSolution.contradiction`.
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
    return describe(game, progress, stop_reason)


def _suits_linear_program(game: Game) -> bool:
    n, p = game.specialists.n_samples, game.specialists.n_voters
    is_small = p <= 100 and n * p <= 20_000  # the program then takes less than a second
    return is_small and isinstance(game.loss, ZeroOneLoss) and not np.any(game.terms.curvature)
