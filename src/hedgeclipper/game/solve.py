"""`solve_game`: set up a game, solve it, describe the solution."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np

from hedgeclipper.game.batch import solve_batch, warm_start
from hedgeclipper.game.equations import Evaluation, Game, awake_predictions
from hedgeclipper.game.exact import solve_exact
from hedgeclipper.game.losses import Loss, PiecewiseLinearLoss, resolve_loss
from hedgeclipper.game.setup import check_positive, is_small, set_up_game
from hedgeclipper.game.solution import GameSolution, PassRecord, PassView, Progress, describe
from hedgeclipper.game.specialists import as_vote_matrix
from hedgeclipper.game.stream import MINIBATCH, solve_stream
from hedgeclipper.io.progress import pass_reporter, warn_user

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
    widths : float, array-like of shape (n_voters,), or "bounds", default=None
        Makes the knowledge two-sided: the correlations lie within ``widths`` of
        ``label_correlations``, or between the two bounds of a `LabelCorrelations` if "bounds".
        Weights may then be negative. Use it where voters may be worse than random; by default
        correlations are bounded from below alone and weights are at least 0.
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
    loss : {"zero_one", "log", "square", "abstain"} or Loss, default="zero_one"
        What the predictor minimizes: the error, log loss or square loss of its probabilities, or
        the error with the option to abstain (needs ``abstain_cost``). A `Loss` such as
        `cost_weighted_loss` gives errors of the two kinds different costs.
    abstain_cost : float, default=None
        Cost of abstaining, in (0, 1/2], where an error costs 1; see `abstention_loss`.
    method : {"auto", "exact", "batch", "stream", "sgd"}, default="auto"
        - "exact": a linear program, for small problems and piecewise linear losses
        - "batch": quasi-Newton steps over all rows in memory
        - "stream": stochastic steps and then full passes over batches, in memory that does not
          depend on the number of rows
        - "sgd": stochastic steps alone, as in the paper
        - "auto": "exact" for tiny problems, "stream" for batches, and else "batch"
    tol : float, default=1e-3
        Stop when the duality gap is at most tol times the objective (which counts as at least
        0.001). A smaller value takes more passes.
    max_iter : int, default=500
        Stop after so many passes over the rows, with ``stop_reason`` "max_iter".
    random_state : int, Generator or None, default=None
        Order of the stochastic steps of "stream" and "sgd"; an int makes them reproducible.
    verbose : int, default=0
        1 prints a line to standard error after each full pass.
    callback : callable, default=None
        Called with a `PassView` after each full pass; see `LiveMargins`.

    Returns
    -------
    GameSolution
        Weights, worst cases, and the gap to the optimum.

    See Also
    --------
    lower_bounds : Label correlations and their bounds, from labeled rows.
    certificate : Bounds on the error of the solution's predictions.
    smallest_relaxation : By how much correlations contradict each other.

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
    if method not in METHODS:
        raise ValueError(f"The 'method' parameter must be one of {METHODS}. Got {method!r}.")
    if not (isinstance(max_iter, Integral) and max_iter >= 1):
        raise ValueError(f"The 'max_iter' parameter must be at least 1. Got {max_iter!r}.")
    check_positive("tol", tol)
    game = set_up_game(
        votes,
        label_correlations,
        participation,
        widths,
        class_balance,
        loss=resolve_loss(loss, abstain_cost),
        cap=cap,
        ridge=ridge,
        anchor=anchor,
        unlabeled_weight=unlabeled_weight,
    )
    with pass_reporter(verbose, tol) as reporter:
        reports = (reporter, None if callback is None else _viewer(game, callback))
        return play(game, Progress(tol, max_iter, reports), method, random_state)


def _viewer(game: Game, callback: Callable[[PassView], None]) -> Callable[..., None]:
    """Return a report of passes that shows a callback the weights at work."""

    def report(record: PassRecord, evaluation: Evaluation) -> None:
        weights = evaluation.theta[: evaluation.theta.size - game.has_balance]
        constant = float(evaluation.theta[-1]) if game.has_balance else 0.0

        def awake(votes: Any) -> np.ndarray:
            return awake_predictions(as_vote_matrix(votes, allow_asleep=True), weights) + constant

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
    terms, is_new = game.terms, start is None
    start = np.clip(terms.anchor if start is None else start, terms.lower, terms.upper)
    if method == "auto" and not game.specialists.in_memory:
        method = "stream"
    elif method == "auto":
        is_linear = isinstance(game.loss, PiecewiseLinearLoss) and not np.any(terms.curvature)
        method = "exact" if is_linear and is_small(game) else "batch"
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # `Progress` finds these
        if method == "exact":
            stop_reason = solve_exact(game, progress)
        elif method == "batch":
            start = warm_start(game, progress, start) if is_new else start
            stop_reason = solve_batch(game, progress, start)
        else:
            rng, is_sgd = np.random.default_rng(random_state), method == "sgd"
            stop_reason = solve_stream(game, progress, start, rng, minibatch, as_in_paper=is_sgd)
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
