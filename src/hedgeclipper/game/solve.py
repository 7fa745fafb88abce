"""`solve_game`: set up, solve, describe."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np

from hedgeclipper.game.batch import solve_batch, warm_start
from hedgeclipper.game.equations import Evaluation, Game, awake_predictions
from hedgeclipper.game.exact import solve_exact
from hedgeclipper.game.losses import Loss, PiecewiseLinearLoss
from hedgeclipper.game.setup import check_positive, is_small, set_up_game
from hedgeclipper.game.solution import GameSolution, PassRecord, PassView, Progress, describe
from hedgeclipper.game.specialists import as_vote_matrix
from hedgeclipper.game.stream import MINIBATCH, solve_sgd, solve_stream
from hedgeclipper.io.progress import pass_reporter

METHODS = ("auto", "exact", "batch", "stream", "sgd")


class UnboundedGameWarning(UserWarning):
    """The slack has no minimum: nothing keeps the weights in bounds."""


def solve_game(
    votes: Any,
    label_correlations: Any,
    *,
    participation: Any = None,
    widths: Any = None,
    class_balance: float | tuple[float, float] | None = None,
    unlabeled_weight: float = 1.0,
    cap: float | None = 1.0,
    ridge: float = 0.0,
    anchor: Any = None,
    loss: str | Loss = "zero_one",
    abstain_cost: float | None = None,
    method: str = "auto",
    tol: float = 1e-3,
    max_iter: int = 500,
    random_state: Any = None,
    verbose: int = 0,
    callback: Callable[[PassView], None] | None = None,
) -> GameSolution:
    """Return the weights that aggregate votes best whatever the labels are.

    A predictor picks a prediction for every row, an adversary then picks the labels, limited only
    by the correlation each voter is known to have with them. The predictor's best play is a
    function of a weighted sum of the votes, and the weights solve one convex problem.

    Parameters
    ----------
    votes : array-like or sparse matrix of shape (n_samples, n_voters), or re-iterable of these
        Votes in [-1, 1]. A voter abstains where a dense entry is NaN or a sparse entry absent (a
        stored 0, like a dense 0, is a vote of 0). Integer and float32 votes are converted a batch
        at a time. Batches may come from a list, any object that can be iterated over again, or a
        function that returns a fresh iterable.
    label_correlations : array-like of shape (n_voters,) or LabelCorrelations
        b: at least this is the mean of vote times label over the rows a voter is awake on, each in
        [-1, 1]. See `lower_bounds`.
    participation : like votes, optional
        Probability v of voting, in [0, 1].
    widths : float, array-like of shape (n_voters,), or "bounds", optional
        Makes the knowledge two-sided: the correlations lie within ``widths`` of
        ``label_correlations``, or between the two bounds of a `LabelCorrelations` if "bounds".
        Weights may then be negative.
    class_balance : float or (float, float), optional
        Share of + among the rows, or the share and the width within which it is known.
    unlabeled_weight : float
        alpha, the weight of the rows' term; below 1 it stands for label noise.
    cap : float or None
        Largest size of a weight; the adversary may break the constraint of voter i at the price of
        cap * c_i per unit. 1 is right for hard votes. Soft votes and log loss want more: one voter
        with correlation b needs 2 artanh(b) there. With None and no ridge the problem has no
        minimum if the correlations contradict each other.
    ridge : float
        Strength of the anchor, (ridge / 2) * sum c_i (theta_i - anchor_i)^2.
    anchor : float or array-like of shape (n_voters,), optional
        Where the ridge pulls, the weights of a plain vote for instance. 0 if not given.
    loss : {"zero_one", "log", "square", "abstain"} or Loss
        What the predictor wants to be small; see also `cost_weighted_loss`.
    abstain_cost : float, optional
        Price of no answer, in (0, 1/2], where an error costs 1.
    method : {"auto", "exact", "batch", "stream", "sgd"}
        "exact" is a linear program, "batch" quasi-Newton steps over all rows in memory, "stream"
        stochastic steps and then full passes over batches, in memory that does not depend on the
        number of rows, "sgd" the stochastic steps alone, as in the paper. "auto" takes "exact" for
        tiny problems, "stream" for batches, and else "batch".
    tol : float
        Stop when the duality gap is at most tol times the objective (which counts as at least
        0.001).
    max_iter : int
        Stop after so many passes over the rows.
    random_state : int, Generator or None
        Order of the stochastic steps.
    verbose : int
        1 prints a line to standard error after each full pass.
    callback : callable, optional
        Called with a `PassView` after each full pass; see `LiveMargins`.

    Returns
    -------
    GameSolution
        Weights, worst cases, and the gap to the optimum.

    Examples
    --------
    Three voters who are right twice in three times beat three who are right five times in six,
    because of where they disagree (the first example of the paper):

    >>> a_rules = [[-1, 1, 1], [-1, 1, 1], [1, -1, 1], [1, -1, 1], [1, 1, -1], [1, 1, -1]]
    >>> b_rules = [[1, 1, 1]] * 5 + [[-1, -1, -1]]
    >>> votes = np.hstack([a_rules, b_rules])
    >>> solution = solve_game(votes, [1 / 3] * 3 + [2 / 3] * 3)
    >>> round(abs(solution.worst_case_error), 6)
    0.0
    >>> solution.predictions(votes).round(6).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    if method not in METHODS:
        raise ValueError(f"The 'method' parameter must be one of {METHODS}. Got {method!r}.")
    if not (isinstance(max_iter, Integral) and max_iter >= 1):
        raise ValueError(f"The 'max_iter' parameter must be at least 1. Got {max_iter!r}.")
    check_positive("tol", tol)
    game = set_up_game(
        votes,
        label_correlations,
        participation=participation,
        widths=widths,
        class_balance=class_balance,
        unlabeled_weight=unlabeled_weight,
        cap=cap,
        ridge=ridge,
        anchor=anchor,
        loss=loss,
        abstain_cost=abstain_cost,
    )
    with pass_reporter(verbose, tol) as reporter:
        report = telling_all(reporter, None if callback is None else _viewer(game, callback))
        return play(game, Progress(tol, max_iter, report), method, random_state)


def telling_all(*reports: Callable[..., None] | None) -> Callable[..., None] | None:
    """Return one report of passes that tells all that are there; None where there are none."""
    those = [report for report in reports if report is not None]
    if not those:
        return None

    def tell(record: PassRecord, evaluation: Evaluation) -> None:
        for report in those:
            report(record, evaluation)

    return tell


def _viewer(game: Game, callback: Callable[[PassView], None]) -> Callable[..., None]:
    """Return a report of passes that shows a callback the weights at work."""

    def report(record: PassRecord, evaluation: Evaluation) -> None:
        weights = evaluation.theta[: evaluation.theta.size - game.has_balance]
        constant = float(evaluation.theta[-1]) if game.has_balance else 0.0

        def awake(votes: Any) -> np.ndarray:
            matrix = as_vote_matrix(votes, None, allow_silent=True)
            return awake_predictions(matrix, weights) + constant

        callback(PassView(record, awake, game.loss.hedged_range))

    return report


def play(
    game: Game,
    progress: Progress,
    method: str,
    random_state: Any = None,
    minibatch: int = MINIBATCH,
    start: np.ndarray | None = None,
) -> GameSolution:
    """Solve a game that is set up, by the method of that name, and describe the solution.

    It starts from the anchor, or from weights that are known to be good.
    """
    is_new = start is None
    first = game.terms.anchor if start is None else start
    start = np.clip(first, game.terms.lower, game.terms.upper)
    method = _choose(game) if method == "auto" else method
    if method == "exact":
        stop_reason = solve_exact(game, progress)
    elif method == "batch":
        start = warm_start(game, progress, start) if is_new else start
        stop_reason = solve_batch(game, progress, start)
    else:
        solve = solve_sgd if method == "sgd" else solve_stream
        rng = np.random.default_rng(random_state)
        stop_reason = solve(game, progress, start, rng, minibatch)
    if stop_reason == "unbounded":
        cause = (
            "some label correlations are larger than unlabeled_weight allows"
            if game.unlabeled_weight < 1
            else "the label correlations contradict each other"
        )
        warnings.warn(
            f"Without a cap or a ridge the slack has no minimum here, since {cause}; the weights "
            "are arbitrary in size. Set cap or ridge, or lower the correlations.",
            UnboundedGameWarning,
            stacklevel=3,
        )
    return describe(game, progress, stop_reason)


def _choose(game: Game) -> str:
    if not game.specialists.in_memory:
        return "stream"
    is_linear = isinstance(game.loss, PiecewiseLinearLoss) and not np.any(game.terms.curvature)
    return "exact" if is_linear and is_small(game) else "batch"
