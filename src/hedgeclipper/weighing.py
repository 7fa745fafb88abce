"""From scores of voters to weights and calibrated probabilities: where a voter's weight comes from.

**Votes.** Voters give scores of any scale. A vote is the mean of two readings of a score, each in
[-1, 1]: its rank among the voter's scores on the unlabeled rows, which makes all voters alike, and
its log-odds, standardized there and cut off at two standard deviations, which keeps how confident
the voter is. Groups of trees are probabilities of one kind: their votes are these, less their mean,
in units of two standard deviations of the trees together, so that equal weights are the mean.

**Correlations b.** Labels are weighted so that both classes count the same: b tells how well a
voter ranks. It is not a statement about the rows, and never enters a bound.

**Anchor.** The game is pulled to weights that labels change little: one half for the trees, by
their numbers, and the other half for the other voters. Each is multiplied by exp(z / 2) if its AUC
is z standard errors ahead of a reference: for groups of trees that is the first one, the random
forest on the columns, for other voters the trees together. With few labels z counts less. (The
form was chosen among some sixty variants on two draws of 34 rows of the benchmarks and of 48 with
rare classes. AUC in place of b, also for groups of trees, was chosen on 13 mixed files and
confirmed on 13 others: docs/ablations.md.)

**Game.** How voters agree is seen on the unlabeled rows, and on the labeled ones, where b comes
from, so that some of the noise in b cancels (`_sampling_correction`). The slack is minimized with a
ridge around the anchor that falls with the number of labels of the rarer class.

**Calibration.** A row's score is the mean of two readings: the log-odds of the voters' mean
probability, by their weights, which is on the right scale, and the weighted vote, brought to the
same mean and spread on the unlabeled rows, which ranks better. Log-odds are slope * (score - its
mean) + intercept. A few labels cannot place the line alone: the logarithm of the slope is normal
around 0, and the intercept around the mean score, before labels are seen. (Chosen among some 45
variants on half of 350 draws of 17 data sets, and confirmed on the other half; prior labels, other
links and stronger priors were worse. The voters' mean probability is often too cautious: the best
slope of a data set lies between 0.7 and 3.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit
from threadpoolctl import threadpool_limits

from hedgeclipper.bounds.intervals import placements
from hedgeclipper.game.equations import Game, VoteArray, WeightTerms
from hedgeclipper.game.losses import SquareLoss
from hedgeclipper.game.solvers import Solution, minimize_by_newton, solve_batch
from hedgeclipper.io.messages import warn_user

# votes: ranks at most so many, and log-odds cut off at so many standard deviations
MOST_RANKS, LEAST_SCORE, DEVIATIONS = 10_000, 1e-3, 2.0
# the anchor: the trees' part, and labels of the rarer class with which z counts half
TREE_PART, LABELS_FOR_HALF = 0.5, 10.0
# the ridge with one label of each class, and labels of the rarer class below which it is larger
RIDGE, RIDGE_LABELS = 20.0, 20.0
LABELS_PER_VOTER = 2.0
LABELS_FOR_FREE_SIGNS = 100.0
# the usual variance of differences between placements of two voters (`auc_differences`)
PRIOR_ROWS, USUAL_SPREAD = 3.0, 0.02
# calibration: standard deviations of the logarithm of the slope, and of the intercept
SLOPE_SPREAD, INTERCEPT_SPREAD = 0.5, 2.0


class NoHeldOutRowsWarning(UserWarning):
    """Some class has no held-out rows to score voters on: labels do not change their weights."""


@dataclass(frozen=True, eq=False)
class RankScale:
    """What the scores of a voter were on the unlabeled rows.

    ``values`` are the different scores in rising order, and ``ranks`` their ranks in [-1, 1];
    ``center`` and ``spread`` are mean and standard deviation of the log-odds.
    """

    values: np.ndarray
    ranks: np.ndarray
    center: float
    spread: float


@dataclass(frozen=True, eq=False)
class VoteScales:
    """Makes votes of the scores of all voters: groups of trees first, then the others.

    Votes of groups are (score - tree_center) / tree_spread, the same for all of them; votes of the
    others lie in [-1, 1]. All rise with the scores.
    """

    n_groups: int
    tree_center: float
    tree_spread: float
    others: Sequence[RankScale]

    @classmethod
    def of(cls, scores: np.ndarray, tree_sizes: np.ndarray) -> VoteScales:
        """Return the scales for scores of shape (n_unlabeled, n_voters).

        Examples
        --------
        >>> scales = VoteScales.of(np.array([[0.2], [0.9], [0.2], [0.4]]), np.empty(0))
        >>> scales(np.array([[0.1], [0.2], [0.9]])).round(3).ravel()
        array([-0.583, -0.445,  0.792])
        """
        trees, others = scores[:, : tree_sizes.size] @ tree_sizes, []
        for own in scores[:, tree_sizes.size :].T:
            values, counts = np.unique(own, return_counts=True)
            ranks = (2.0 * np.cumsum(counts) - counts) / own.size - 1.0
            if values.size > MOST_RANKS:
                kept = np.linspace(0, values.size - 1, MOST_RANKS).round().astype(int)
                values, ranks = values[kept], ranks[kept]
            log_odds = _log_odds(own)
            spread = float(log_odds.std())
            spread = spread if spread > 1e-9 else 1.0  # all are the same
            others.append(RankScale(values, ranks, float(log_odds.mean()), spread))
        spread = DEVIATIONS * float(trees.std())
        spread = spread if spread > 1e-9 else 1.0
        return cls(tree_sizes.size, float(trees.mean()), spread, others)

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Return the votes for scores of shape (n_samples, n_voters)."""
        votes, n_groups = np.empty(scores.shape), self.n_groups
        votes[:, :n_groups] = (scores[:, :n_groups] - self.tree_center) / self.tree_spread
        for voter, one in enumerate(self.others, n_groups):
            rank = np.interp(scores[:, voter], one.values, one.ranks)
            standardized = (_log_odds(scores[:, voter]) - one.center) / one.spread
            votes[:, voter] = (rank + np.clip(standardized / DEVIATIONS, -1.0, 1.0)) / 2.0
        return votes


def _log_odds(scores: np.ndarray) -> np.ndarray:
    return logit(np.clip(scores, LEAST_SCORE, 1.0 - LEAST_SCORE))


@dataclass(frozen=True, eq=False)
class WeightedVote:
    """The weights of the voters for one class against the rest: all that new scores need.

    ``scales`` make votes of the scores, and ``weights`` (theta) a weighted vote. The line from both
    readings of a row to log-odds has a ``slope``, which is positive, and an ``intercept``; by
    default it is the mean of both. ``center`` is the mean of the voters' mean log-odds on the
    unlabeled rows, ``vote_center`` that of the weighted vote, and ``vote_scale`` brings the latter
    to the spread of the former.
    """

    scales: VoteScales
    weights: np.ndarray
    center: float
    vote_center: float
    vote_scale: float
    slope: float = 1.0
    intercept: float = 0.0

    def check_arrays(self) -> None:
        """Raise unless all numbers that predictions are made of are finite, and voters as many."""
        own, scales = vars(self).copy(), vars(self.scales).copy()
        del own["scales"], scales["others"]
        parts = [own, scales, *map(vars, self.scales.others)]
        if not all(np.isfinite(number).all() for part in parts for number in part.values()):
            raise ValueError("its game has numbers that are not finite")
        if self.weights.shape != (self.scales.n_groups + len(self.scales.others),):
            raise ValueError("its weights do not fit its voters")

    def log_odds(self, scores: np.ndarray) -> np.ndarray:
        """Return the log-odds of the class for scores of shape (n_samples, n_voters)."""
        vote = self.vote_scale * (self.scales(scores) @ self.weights - self.vote_center)
        mean = mean_log_odds(scores, self.weights)
        return self.slope * (mean - self.center + vote) / 2.0 + self.intercept


def mean_log_odds(scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the log-odds of the mean score of the voters, by their positive weights."""
    positive = np.maximum(weights, 0.0)
    return _log_odds(np.clip(scores, 0.0, 1.0) @ (positive / max(positive.sum(), 1e-12)))


@dataclass(frozen=True, eq=False)
class VoterScores:
    """Votes for one class against the rest, or scores: a column for each voter.

    Those of labeled rows are made without the row's own label.
    """

    labeled: np.ndarray
    is_positive: np.ndarray
    unlabeled: np.ndarray

    @property
    def n_rare(self) -> int:
        """Number of labels of the rarer class."""
        n_positive = int(self.is_positive.sum())
        return min(n_positive, self.is_positive.size - n_positive)


@dataclass(frozen=True, eq=False)
class WeighedVoters:
    """The game of one class against the rest, solved: the vote, and where its weights come from.

    ``label_correlations`` are b with both classes counting the same, and ``errors`` their standard
    errors.
    """

    vote: WeightedVote
    label_correlations: np.ndarray
    errors: np.ndarray
    game: Solution
    votes: VoterScores

    def describe(self) -> dict[str, np.ndarray]:
        """Return columns of ``voter_summary``, one entry for each voter."""
        votes, weights = self.votes, self.vote.weights
        nothing, aucs = np.zeros(weights.size), np.full(weights.size, np.nan)
        if votes.n_rare:
            aucs = placements(votes.is_positive, votes.labeled)[0].mean(axis=0)
        # agreement: the correlation of each voter's votes with the mean vote of the others
        centered = votes.unlabeled - votes.unlabeled.mean(axis=0)
        others = centered.sum(axis=1, keepdims=True) - centered
        sizes = np.sqrt((centered**2).sum(axis=0) * (others**2).sum(axis=0))
        together = (centered * others).sum(axis=0)
        agreement = np.divide(together, sizes, out=nothing, where=sizes > 0)
        spreads = weights * votes.unlabeled.std(axis=0)
        return {
            "weight": weights,
            "correlation": self.label_correlations,
            "standard_error": self.errors,
            "auc": aucs,
            "agreement": agreement if weights.size > 1 else np.full(1, np.nan),
            "contribution": contributions_of(spreads),
        }


def contributions_of(sizes: np.ndarray) -> np.ndarray:
    """Return sizes as proportions of their sum; 0 where all are."""
    sizes = np.abs(np.nan_to_num(sizes))
    total = float(sizes.sum())
    return sizes / total if total > 0 else sizes


def scores_by_game(
    labeled: np.ndarray,
    unlabeled: np.ndarray,
    codes: np.ndarray,
    games: Sequence[int],
) -> list[VoterScores]:
    """Return the scores for each class against the rest; warn if a class has no labeled ones.

    Scores have the shape (n_rows, n_voters, n_games). Labeled rows that some voter has not scored
    without their label, where scores are NaN, are left out.
    """
    known, unlabeled = np.flatnonzero(~np.isnan(labeled).any(axis=(1, 2))), unlabeled.astype(float)
    if np.unique(codes[known]).size < np.unique(codes).size:
        warn_user(
            "Some class has no held-out row to score the voters on, since each of its labels is "
            "needed to fit them: labels have no part in the weights of its game. Label at least "
            "two rows of each class.",
            NoHeldOutRowsWarning,
        )
    return [
        VoterScores(
            labeled=labeled[known, :, column],
            is_positive=codes[known] == code,
            unlabeled=unlabeled[:, :, column],
        )
        for column, code in enumerate(games)
    ]


@threadpool_limits.wrap(limits=1, user_api="blas")
def weigh(scores: VoterScores, tree_sizes: np.ndarray) -> WeighedVoters:
    """Return the weights of the voters and the calibration of their vote.

    Parameters
    ----------
    scores : VoterScores
        Scores of the voters, groups of trees first.
    tree_sizes : ndarray of shape (n_groups,)
        Each group's part of all trees; empty if there are none.
    """
    scales = VoteScales.of(scores.unlabeled, tree_sizes)
    votes = replace(scores, labeled=scales(scores.labeled), unlabeled=scales(scores.unlabeled))
    anchor = choose_anchor(votes, tree_sizes)
    b, errors = balanced_correlations(votes)
    game = solve_weights(votes, anchor, b)
    # if no voter is better than a guess as far as labels tell, the weights are those of the anchor
    weights = game.weights if np.any(game.weights != 0) else anchor
    mean, voted = mean_log_odds(scores.unlabeled, weights), votes.unlabeled @ weights
    spread = float(voted.std())
    scale = float(mean.std()) / spread if spread > 1e-9 else 1.0
    vote = WeightedVote(scales, weights, float(mean.mean()), float(voted.mean()), scale)
    line = 1.0, vote.center
    if scores.n_rare >= 2:  # who scores the only label of a class has seen none of the class
        line = fit_line(vote.log_odds(scores.labeled), scores.is_positive, vote.center)
    vote = replace(vote, slope=line[0], intercept=line[1])
    return WeighedVoters(vote, b, errors, game, votes)


def weigh_by_folds(
    scores: Sequence[VoterScores], tree_sizes: np.ndarray
) -> Iterator[tuple[np.ndarray, list[WeightedVote], np.ndarray]]:
    """Yield weighted votes that were found without the labels of a fold, fold by fold.

    With the numbers of the fold's rows and the vote of each game come scores of some unlabeled
    rows, shape (n_rows, n_voters, n_games), which took their part. ``scores`` has an entry for each
    game.
    """
    rng, n_labeled = np.random.default_rng(0), scores[0].is_positive.size
    some = rng.permutation(len(scores[0].unlabeled))[:5_000]
    # at random: folds with as many rows of each class would tell a class by what the others lack
    fold = rng.permutation(n_labeled) % 10
    unlabeled = np.stack([own.unlabeled[some] for own in scores], axis=2)
    for number in np.unique(fold):
        train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        votes = []
        for game, own in enumerate(scores):
            known = own.labeled[train], own.is_positive[train]
            votes.append(weigh(VoterScores(*known, unlabeled[:, :, game]), tree_sizes).vote)
        yield test, votes, unlabeled


def choose_anchor(votes: VoterScores, tree_sizes: np.ndarray) -> np.ndarray:
    """Return the weights that the game starts from, which add up to 1.

    Groups of trees are compared with the first of them, and voters beside trees with all trees.
    Without trees all voters are compared with the best of them.
    """
    n_groups, n_voters = tree_sizes.size, votes.labeled.shape[1]
    trees, others = votes.labeled[:, :n_groups], votes.labeled[:, n_groups:]
    weights = np.full(n_voters, 1.0 / n_voters)
    if n_groups:
        own = tree_sizes * np.exp(0.5 * _standard_errors_ahead(votes, trees, trees[:, 0]))
        own /= own.sum()
        if n_groups == n_voters:
            return own
        weights = np.full(n_voters, (1.0 - TREE_PART) / (n_voters - n_groups))
        weights[:n_groups] = TREE_PART * own
        reference = trees @ own
    else:
        reference = others[:, np.argmax(balanced_correlations(votes)[0])]
    weights[n_groups:] *= np.exp(0.5 * _standard_errors_ahead(votes, others, reference))
    return weights / weights.sum()


def _standard_errors_ahead(
    votes: VoterScores, labeled: np.ndarray, reference: np.ndarray
) -> np.ndarray:
    """Return by how many standard errors the AUC of each voter is ahead; less with few labels."""
    difference, errors = auc_differences(labeled, reference, votes.is_positive)
    return difference / errors * votes.n_rare / (votes.n_rare + LABELS_FOR_HALF)


def auc_differences(
    scores: np.ndarray,
    reference: np.ndarray,
    is_positive: np.ndarray,
    prior_rows: float = PRIOR_ROWS,
) -> tuple[np.ndarray, np.ndarray]:
    """Return how far AUCs are ahead of that of a reference, and the standard errors of that.

    A row's placement is the part of the rows of the other class that its score is on the right side
    of, and the AUC is the mean placement of either class. Differences of placements are averaged in
    each class, so that the errors are those of paired scores [1]_. Their usual variance,
    `USUAL_SPREAD`, counts as so many ``prior_rows``. With fewer than two labels of a class the
    difference is 0 and its error 1.

    Parameters
    ----------
    scores : ndarray of shape (n_labeled, n_voters)
        Scores of the voters, on any scales.
    reference : ndarray of shape (n_labeled,)
        Scores of the reference.
    is_positive : ndarray of shape (n_labeled,)
        The labels.
    prior_rows : float
        Labels that the usual spread counts as.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or
       more correlated receiver operating characteristic curves", Biometrics 44, 1988.

    Examples
    --------
    >>> scores, reference = np.array([[1], [2], [3], [4]]), np.array([1, 3, 2, 4])
    >>> auc_differences(scores, reference, np.array([False, False, True, True]))[0]  # 1 - 3/4
    array([0.25])
    """
    n_voters = scores.shape[1]
    if min(is_positive.sum(), (~is_positive).sum()) < 2:
        return np.zeros(n_voters), np.ones(n_voters)
    difference, variance = np.zeros(n_voters), np.zeros(n_voters)
    both = placements(is_positive, np.column_stack([scores, reference]))
    for below, sign in zip(both, (1.0, -1.0), strict=True):
        ahead = sign * (below[:, :-1] - below[:, -1:])
        mean, own_variance = _mean_and_variance(ahead, USUAL_SPREAD, prior_rows)
        difference += mean / 2.0
        variance += own_variance
    return difference, np.sqrt(variance)


def _mean_and_variance(
    values: np.ndarray, usual: np.ndarray | float, prior_rows: float = PRIOR_ROWS
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of each column and the variance of that mean.

    Few rows may show too small a variance: the ``usual`` one is added as if three more rows showed
    it, or ``prior_rows``.
    """
    n_rows, mean = len(values), values.mean(axis=0)
    squares = ((values - mean) ** 2).sum(axis=0) + prior_rows * usual
    return mean, squares / (n_rows - 1.0 + prior_rows) / n_rows


def balanced_correlations(votes: VoterScores) -> tuple[np.ndarray, np.ndarray]:
    """Return b of each voter, both classes counting the same, and its standard error.

    The usual variance of votes is that on all unlabeled rows. Without labels of one of the classes,
    b is 0 and its error 1.
    """
    n_voters = votes.labeled.shape[1]
    if votes.n_rare == 0:
        return np.zeros(n_voters), np.ones(n_voters)
    b, variance, usual = np.zeros(n_voters), np.zeros(n_voters), votes.unlabeled.var(axis=0)
    for own, sign in ((votes.is_positive, 1.0), (~votes.is_positive, -1.0)):
        mean, own_variance = _mean_and_variance(sign * votes.labeled[own], usual)
        b += mean / 2.0
        variance += own_variance / 4.0
    return b, np.sqrt(variance)


def solve_weights(votes: VoterScores, anchor: np.ndarray, b: np.ndarray) -> Solution:
    """Return the solution of the game that weighs the voters, pulled to the anchor."""
    size = float(np.mean((votes.unlabeled @ anchor) ** 2))
    scale = max(float(b @ anchor) / size, 1.0) if size > 0 else 1.0
    has_free_signs = votes.n_rare > LABELS_FOR_FREE_SIGNS * b.size
    n_rare, ridge = votes.n_rare, 1e6  # without labels, nothing but the anchor
    if n_rare:
        ridge = RIDGE * (1.0 + (RIDGE_LABELS / n_rare) ** 2) / (2.0 * n_rare)
    voters, corrected = VoteArray(votes.unlabeled), b
    center, lower = scale * anchor, -np.inf if has_free_signs else 0.0
    for _ in range(3):
        known = np.clip(corrected, -1.0, 1.0)
        terms = WeightTerms.of(voters.coverage, known, ridge=ridge, anchor=center, lower=lower)
        game = Game(voters, terms, SquareLoss(), baseline=0.5)
        solution = solve_batch(game, tol=1e-3, max_iter=200)
        corrected = b + _sampling_correction(votes, solution)
    return solution


def _sampling_correction(votes: VoterScores, game: Solution) -> np.ndarray:
    """Return each voter's mean agreement with the predictions, unlabeled less labeled rows.

    Both classes of the labeled rows count the same. The more labels there are for each voter, the
    more of the difference counts.
    """
    balanced = np.zeros(votes.is_positive.size)
    for own in (votes.is_positive, ~votes.is_positive):
        balanced[own] = 0.5 / max(own.sum(), 1)
    unlabeled, labeled = (
        np.clip(own @ game.weights, -1.0, 1.0) for own in (votes.unlabeled, votes.labeled)
    )
    on_unlabeled = unlabeled @ votes.unlabeled / len(votes.unlabeled)
    on_labeled = (balanced * labeled) @ votes.labeled / (balanced.sum() or 1.0)
    n_labeled, n_voters = votes.labeled.shape
    counting = n_labeled / (n_labeled + LABELS_PER_VOTER * n_voters)
    return counting * (on_unlabeled - on_labeled)


def fit_line(scores: np.ndarray, is_positive: np.ndarray, center: float) -> tuple[float, float]:
    """Return slope and intercept of log-odds, the most probable ones after the labels are seen.

    Before, the logarithm of the slope is normal around 0, and the intercept around ``center``. In
    place of the Hessian is that of a line, which is positive definite.
    """
    y, prior = is_positive.astype(float), np.array([0.0, center])
    precision = 1.0 / np.array([SLOPE_SPREAD, INTERCEPT_SPREAD]) ** 2

    def loss(line: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        columns = np.column_stack([np.exp(line[0]) * scores, np.ones_like(scores)])
        z = columns[:, 0] + line[1]
        p, fit = expit(z), np.sum(np.logaddexp(0.0, z) - y * z)
        gradient = columns.T @ (p - y) + precision * (line - prior)
        curvature = (columns.T * (p * (1.0 - p))) @ columns + np.diag(precision)
        return float(fit + 0.5 * precision @ (line - prior) ** 2), gradient, curvature

    line = minimize_by_newton(loss, prior)
    return float(np.exp(line[0])), float(line[1])
