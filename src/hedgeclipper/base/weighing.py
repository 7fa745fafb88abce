"""From the members' scores to their weights and calibrated probabilities.

Labels are weighted so that both classes weigh the same: b tells how well a member ranks (it is the
area under the ROC curve minus 1/2 where votes are ranks). The anchor, the weights that the game is
pulled to, is exp(-z / 2) for a member whose b is z standard errors below the best one, by the
paired difference of their votes: with few labels members are alike, and those that are clearly
behind count for nothing. Its ridge falls with the number of labels of the rarer class. This b is
not a statement about the rows and never enters a certificate.

How members agree is seen on the unlabeled rows, and on the labeled ones, too, where b comes from,
so that some of the noise in b cancels: b is corrected by a member's mean agreement with the
panel's predictions on the unlabeled rows, less that on the labeled ones, both classes weighing the
same there as they do in b. The weight of that correction is one half when labels are twice as many
as voters, and rises with them: with thousands of labels unlabeled rows hardly change the weights.

The weighted vote becomes a probability by a logistic curve through the labels, seen out of fold. A
few labels cannot place it alone: the mean of the members' probabilities on the unlabeled rows is
added to them as if it were some twenty labels more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from hedgeclipper.base.inspection import contributions_of
from hedgeclipper.base.predictions import Calibration, PanelGame, Scale, VoteScale, make_votes
from hedgeclipper.game.equations import Game, WeightTerms
from hedgeclipper.game.losses import resolve_loss
from hedgeclipper.game.solution import GameSolution, Progress
from hedgeclipper.game.solve import play
from hedgeclipper.game.specialists import VoteArray
from hedgeclipper.io.progress import warn_user

RIDGE, RIDGE_WITHOUT_LABELS = 80.0, 1e6
LABELS_PER_VOTER = 2.0
CORRECTIONS = 2
LABELS_FOR_FREE_SIGNS = 100.0
LEAST_SCALE = 1.0
PRIOR_ROWS, SMALLEST = 3.0, 1e-12
PRIOR_LABELS, ROWS_FOR_CALIBRATION = 20.0, 2_000
WEAK = 1e6


class NoHeldOutRowsWarning(UserWarning):
    """Some class has no held-out rows to score members on: labels do not change their weights."""


@dataclass(frozen=True, eq=False)
class PanelScores:
    """The members' scores for one class against the rest, or votes made of these.

    There is one column for each member. Those of labeled rows are by fits without the row;
    ``weights`` are of the labeled rows.
    """

    labeled: np.ndarray
    is_positive: np.ndarray
    weights: np.ndarray
    unlabeled: np.ndarray

    @property
    def n_rare(self) -> int:
        """Number of labels of the rarer class."""
        n_positive = int(self.is_positive.sum())
        return min(n_positive, self.is_positive.size - n_positive)


def panel_scores(
    out_of_fold: np.ndarray,
    unlabeled: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray | None,
    games: Sequence[int],
) -> list[PanelScores]:
    """Return the scores for each class against the rest; warn if a class has no labeled ones.

    Scores come as arrays of shape (n_rows, n_members, n_games). Labeled rows that some member has
    not scored without their label, where out-of-fold scores are NaN, are left out.
    """
    held_out = np.flatnonzero(~np.isnan(out_of_fold).any(axis=(1, 2)))
    if np.unique(codes[held_out]).size < np.unique(codes).size:
        warn_user(
            "Some class has no held-out row to score the members on, since each of its labels is "
            "needed to fit them: labels have no part in the weights of its game. Label at least "
            "two rows of each class, or make sample weights less unequal: rows of large weight are "
            "in the bootstrap sample of every tree.",
            NoHeldOutRowsWarning,
        )
    weights = np.ones(codes.size) if weights is None else weights
    return [
        PanelScores(
            labeled=out_of_fold[held_out, :, column],
            is_positive=codes[held_out] == code,
            weights=weights[held_out],
            unlabeled=unlabeled[:, :, column],
        )
        for column, code in enumerate(games)
    ]


@dataclass(frozen=True, eq=False)
class PanelSolution:
    """Weights (theta) of the members, what labels tell of these, and the last game's solution.

    ``label_correlations`` are b with both classes weighing the same, ``errors`` their standard
    errors.
    """

    weights: np.ndarray
    label_correlations: np.ndarray
    errors: np.ndarray
    game: GameSolution


@dataclass(frozen=True, eq=False)
class Aggregate:
    """The panel's game of one class: all that new scores need, the solution, and the votes.

    ``prior`` are the weights of the members that the game is pulled to.
    """

    game: PanelGame
    solution: PanelSolution
    votes: PanelScores
    prior: np.ndarray


def aggregate(
    scores: PanelScores,
    *,
    scales: Sequence[Scale] | None = None,
    loss: str = "square",
    tol: float = 1e-3,
    max_iter: int = 200,
    prior: np.ndarray | None = None,
    ridge: float = RIDGE,
) -> Aggregate:
    """Weigh the members and calibrate their vote.

    Parameters
    ----------
    scores : PanelScores
        The scores of the members.
    scales : sequence of Scale, optional
        What makes votes of each member's scores; by default ranks and standardized log-odds.
    loss, tol, max_iter
        As in `HedgedVotingClassifier`.
    prior : ndarray of shape (n_members,), optional
        Weight of each member that the game starts from and is pulled to; they add up to 1. By
        default those of `weights_near_best`.
    ridge : float
        Strength of this pull with one label of each class; it falls with more.

    Returns
    -------
    Aggregate
    """
    scales = [VoteScale.of(own) for own in scores.unlabeled.T] if scales is None else scales
    labeled, unlabeled = (make_votes(scales, own) for own in (scores.labeled, scores.unlabeled))
    votes = replace(scores, labeled=labeled, unlabeled=unlabeled)
    prior = weights_near_best(votes) if prior is None else prior
    solution = solve_panel_game(votes, prior, loss, tol=tol, max_iter=max_iter, ridge=ridge)
    calibration = calibrate(
        labeled @ solution.weights,
        scores.is_positive,
        scores.weights,
        unlabeled @ solution.weights,
        scores.unlabeled @ prior,
    )
    return Aggregate(PanelGame(scales, solution.weights, calibration), solution, votes, prior)


def solve_panel_game(
    votes: PanelScores,
    prior: np.ndarray,
    loss: str,
    *,
    tol: float = 1e-3,
    max_iter: int = 200,
    ridge: float = RIDGE,
) -> PanelSolution:
    """Return the weights of the members, which are pulled to the ``prior`` ones.

    The game is set up once; each correction of b changes its edge alone.
    """
    b, errors = balanced_correlations(votes)
    setting = _set_up(votes, prior, b, loss, ridge)

    def solve(correlations: np.ndarray) -> GameSolution:
        edge = setting.specialists.coverage * np.clip(correlations, -1.0, 1.0)
        game = replace(setting, terms=replace(setting.terms, edge=edge))
        return play(game, Progress(tol, max_iter), "batch")

    solution = solve(b)
    for _ in range(CORRECTIONS):
        solution = solve(b + _sampling_correction(votes, solution))
    # if no member is better than a guess as far as labels tell, the weights are the prior ones
    weights = solution.weights if np.any(solution.weights != 0) else setting.terms.anchor
    return PanelSolution(weights, b, errors, solution)


def balanced_correlations(votes: PanelScores) -> tuple[np.ndarray, np.ndarray]:
    """Return b of each voter, both classes weighing the same, and its standard error.

    Few labels may show too small a spread: to the spread of the votes in a class, that on all
    unlabeled rows is added as if three more labels showed it. Without labels of one of the classes,
    b is 0 and its error 1.
    """
    n_voters = votes.labeled.shape[1]
    if votes.n_rare == 0:
        return np.zeros(n_voters), np.ones(n_voters)
    b, variance, usual = np.zeros(n_voters), np.zeros(n_voters), votes.unlabeled.var(axis=0)
    for own, sign in ((votes.is_positive, 1.0), (~votes.is_positive, -1.0)):
        weights = votes.weights[own] / votes.weights[own].sum()
        products = sign * votes.labeled[own]
        mean = weights @ products
        n_effective = 1.0 / np.sum(weights**2)
        squares = n_effective * (weights @ (products - mean) ** 2) + PRIOR_ROWS * usual
        spread = squares / (max(n_effective - 1.0, 0.0) + PRIOR_ROWS)
        b += mean / 2.0
        variance += spread / n_effective / 4.0
    return b, np.sqrt(variance)


def weights_near_best(votes: PanelScores) -> np.ndarray:
    """Return weights of the members that add up to 1 and fall with how far they are behind.

    A weight is proportional to exp(-z / 2), if b of the member is z standard errors below that of
    the best one; the error is that of the difference of their votes. Without labels all are equal.
    """
    b, _ = balanced_correlations(votes)
    best = [int(np.argmax(b))]
    labeled, unlabeled = (own[:, best] - own for own in (votes.labeled, votes.unlabeled))
    behind, errors = balanced_correlations(replace(votes, labeled=labeled, unlabeled=unlabeled))
    weights = np.exp(-0.5 * behind / np.maximum(errors, SMALLEST))
    return weights / weights.sum()


def _set_up(votes: PanelScores, prior: np.ndarray, b: np.ndarray, loss: str, ridge: float) -> Game:
    """Return the game with its anchor, weights in given parts of the size that suits b."""
    size = float(np.mean((votes.unlabeled @ prior) ** 2))
    scale = max(float(b @ prior) / size, LEAST_SCALE) if size > 0 else LEAST_SCALE
    has_free_signs = votes.n_rare > LABELS_FOR_FREE_SIGNS * b.size
    voters = VoteArray(votes.unlabeled)
    terms = WeightTerms.of(
        voters.coverage,
        b,
        ridge=ridge / (2.0 * votes.n_rare) if votes.n_rare else RIDGE_WITHOUT_LABELS,
        anchor=scale * prior,
        lower=-np.inf if has_free_signs else 0.0,
    )
    return Game(voters, terms, resolve_loss(loss))


def _sampling_correction(votes: PanelScores, game: GameSolution) -> np.ndarray:
    """Return each voter's mean agreement with the predictions, unlabeled less labeled rows.

    Both classes of the labeled rows weigh the same. The more labels there are for each voter, the
    more of the difference counts.
    """
    balanced = np.zeros_like(votes.weights)
    for own in (votes.is_positive, ~votes.is_positive):
        balanced[own] = 0.5 * votes.weights[own] / max(votes.weights[own].sum(), SMALLEST)
    link, theta = game.loss.link, game.weights
    on_unlabeled = link(votes.unlabeled @ theta) @ votes.unlabeled / len(votes.unlabeled)
    on_labeled = (balanced * link(votes.labeled @ theta)) @ votes.labeled / (balanced.sum() or 1.0)
    n_labeled, n_voters = votes.labeled.shape
    counting = n_labeled / (n_labeled + LABELS_PER_VOTER * n_voters)
    return counting * (on_unlabeled - on_labeled)


def calibrate(
    scores: np.ndarray,
    is_positive: np.ndarray,
    weights: np.ndarray,
    prior_scores: np.ndarray,
    prior_probabilities: np.ndarray,
) -> Calibration:
    """Return the logistic curve through the awake predictions and labels of labeled rows.

    Those of unlabeled rows, with the members' mean probability of the class, are the prior.
    """
    thin = slice(None, None, max(1, prior_scores.size // ROWS_FOR_CALIBRATION))
    prior_scores, prior_probabilities = prior_scores[thin], prior_probabilities[thin]
    size = float(np.std(prior_scores)) or 1.0
    weights = weights * weights.size / weights.sum()
    if min(n_positive := np.count_nonzero(is_positive), is_positive.size - n_positive) < 2:
        # members that have not seen the only label of a class know nothing of the class
        weights = np.zeros_like(weights)
    each = PRIOR_LABELS / prior_scores.size
    rows = np.concatenate([scores, prior_scores, prior_scores]) / size
    labels = np.repeat([1, 0], [prior_scores.size, prior_scores.size])
    model = LogisticRegression(C=WEAK, max_iter=1000).fit(
        rows[:, None],
        np.concatenate([is_positive.astype(int), labels]),
        np.concatenate([weights, each * prior_probabilities, each * (1.0 - prior_probabilities)]),
    )
    slope = max(float(model.coef_[0, 0]), 1.0 / np.sqrt(WEAK)) / size
    return Calibration(slope, float(model.intercept_[0]))


def summarize(names: Sequence[str], scores: PanelScores, found: Aggregate) -> dict[str, list]:
    """Return columns of `HedgedVotingClassifier.member_summary`, one entry for each member."""
    votes, solution, weights = found.votes.unlabeled, found.solution, found.solution.weights
    has_both = scores.is_positive.any() and not scores.is_positive.all()
    return {
        "member": list(names),
        "weight": weights.tolist(),
        "correlation": solution.label_correlations.tolist(),
        "standard_error": solution.errors.tolist(),
        "auc": [
            float(roc_auc_score(scores.is_positive, own)) if has_both else float("nan")
            for own in scores.labeled.T
        ],
        "agreement": _agreement(votes).tolist(),
        "contribution": contributions_of(weights * votes.std(axis=0)).tolist(),
    }


def _agreement(votes: np.ndarray) -> np.ndarray:
    """Return the correlation of each member's votes with the mean vote of the others."""
    n_members = votes.shape[1]
    if n_members == 1:
        return np.full(1, np.nan)
    centered = votes - votes.mean(axis=0)
    others = (centered.sum(axis=1, keepdims=True) - centered) / (n_members - 1)
    sizes = np.sqrt((centered**2).sum(axis=0) * (others**2).sum(axis=0))
    together = (centered * others).sum(axis=0)
    return np.divide(together, sizes, out=np.zeros(n_members), where=sizes > 0)
