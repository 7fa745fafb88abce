"""`solve_game`: check what is known of voters, set up a game, solve it, describe the solution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from hedgeclipper.game.equations import Evaluation, Game, WeightTerms, awake_predictions
from hedgeclipper.game.losses import Loss, PiecewiseLinearLoss, resolve_loss
from hedgeclipper.game.solution import GameSolution, PassRecord, PassView, Progress, describe
from hedgeclipper.game.solvers import MINIBATCH, solve_batch, solve_exact, solve_stream, warm_start
from hedgeclipper.game.specialists import Specialists, as_vote_matrix, with_constant_voter
from hedgeclipper.io.progress import pass_reporter, warn_user

ENTRIES_WHEN_SMALL = 20_000
VOTERS_WHEN_SMALL = 100
METHODS = ("auto", "exact", "batch", "stream", "sgd")


@dataclass(frozen=True, eq=False)
class LabelCorrelations:
    """Correlations of voters with the labels, and bounds on them, as `lower_bounds` returns.

    Parameters
    ----------
    estimate : ndarray of shape (n_voters,)
        Mean of vote times label over the labeled rows a voter is awake on; NaN where there is none.
    lower, upper : ndarray of shape (n_voters,)
        Bounds; -1 and 1, which claim nothing, for a voter without a labeled row.
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
    n_unlabeled : ndarray of shape (n_voters,) or None, default=None
        For "exact": the number of unlabeled rows, awake on, that each bound was made for.
    """

    estimate: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    n_labeled: np.ndarray
    method: str
    confidence_level: float | None
    is_guarantee: bool
    n_unlabeled: np.ndarray | None = None

    @property
    def centers(self) -> np.ndarray:
        """Middle of each interval, for a game with two-sided correlations."""
        return (self.lower + self.upper) / 2

    @property
    def widths(self) -> np.ndarray:
        """Half the length of each interval, for a game with two-sided correlations."""
        return (self.upper - self.lower) / 2

    def select(self, voters: Any) -> LabelCorrelations:
        """Return those of some voters; a simultaneous bound goes on counting all of them."""
        parts = ["estimate", "lower", "upper", "n_labeled"]
        parts += [] if self.n_unlabeled is None else ["n_unlabeled"]
        return replace(self, **{name: getattr(self, name)[voters] for name in parts})


def set_up_game(
    votes: Any,
    label_correlations: Any,
    participation: Any = None,
    widths: Any = None,
    class_balance: Any = None,
    *,
    loss: str | Loss = "zero_one",
    cap: float | None = 1.0,
    ridge: float = 0.0,
    anchor: Any = None,
    unlabeled_weight: float = 1.0,
) -> Game:
    """Check everything and return the game; parameters as in `solve_game`."""
    resolved_loss = resolve_loss(loss)
    alpha = check_positive("unlabeled_weight", unlabeled_weight)
    bound = np.inf if cap is None else check_positive("cap", cap, hint=" Pass None for no cap.")
    strength = check_positive("ridge", ridge, or_zero=True)
    specialists: Specialists = as_vote_matrix(votes, participation)
    p = specialists.n_voters
    b, eps = _check_knowledge(label_correlations, widths, p)
    center = _per_voter("anchor", 0.0 if anchor is None else anchor, p)
    if anchor is not None and strength == 0:
        raise ValueError("An anchor acts only with a ridge. Got ridge=0: set it, or no anchor.")
    lower = np.zeros(p) if eps is None else np.full(p, -bound)
    eps = np.zeros(p) if eps is None else eps
    if class_balance is not None:
        positive, width = _check_balance(class_balance)
        specialists = with_constant_voter(specialists)
        b, eps = np.append(b, 2 * positive - 1), np.append(eps, 2 * width)
        center, lower = np.append(center, 0.0), np.append(lower, -bound)
    known: dict[str, Any] = {"width": eps, "anchor": center, "lower": lower, "upper": bound}
    terms = WeightTerms.of(specialists.coverage, b, ridge=strength, **known)
    return Game(specialists, terms, resolved_loss, alpha, class_balance is not None)


def is_small(game: Game) -> bool:
    """Return whether the game is small enough for the linear program."""
    n, p = game.specialists.n_samples, game.specialists.n_voters
    return p <= VOTERS_WHEN_SMALL and n * p <= ENTRIES_WHEN_SMALL


def _check_knowledge(
    known: Any, widths: Any, n_voters: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the correlations and the widths around them, None for one-sided knowledge."""
    if isinstance(known, LabelCorrelations):
        if widths is not None and not (isinstance(widths, str) and widths == "bounds"):
            raise ValueError(
                "LabelCorrelations have bounds of their own: pass widths='bounds' to use both, or "
                f"arrays for label_correlations and widths. Got widths={widths!r}."
            )
        known, widths = (known.lower, None) if widths is None else (known.centers, known.widths)
    elif isinstance(widths, str):
        raise ValueError(
            f"widths={widths!r} takes them from LabelCorrelations, as lower_bounds returns. "
            f"Got label_correlations of type {type(known).__name__}."
        )
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
    eps = None if widths is None else _per_voter("widths", widths, n_voters)
    if eps is not None and np.any(eps < 0):
        raise ValueError(f"widths must not be negative. Got {eps.min():g}.")
    return b, eps


def _per_voter(name: str, value: Any, n_voters: int) -> np.ndarray:
    array = _numbers(name, value)
    if array.shape not in ((), (n_voters,)):
        raise ValueError(
            f"{name} must be a number or have one entry per voter, shape ({n_voters},). Got shape "
            f"{array.shape}."
        )
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be finite. Got {array[~np.isfinite(array)].flat[0]}.")
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


def check_positive(name: str, value: Any, hint: str = "", *, or_zero: bool = False) -> float:
    """Return the parameter as a float if it is a positive finite number, else raise."""
    is_number = isinstance(value, (int, float, np.number)) and np.isfinite(value)
    if not (is_number and (value > 0 or (or_zero and value == 0))):
        wanted = "a number >= 0" if or_zero else "a positive number"
        raise ValueError(f"The '{name}' parameter must be {wanted}.{hint} Got {value!r}.")
    return float(value)


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
        Called with a `PassView` after each full pass.

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
