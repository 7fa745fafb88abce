"""The game of one class against the rest, on leaf numbers: from labels and rows to leaf scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_limits

from hedgeclipper.base.inspection import VoterTable, contributions_of
from hedgeclipper.base.semi_supervised import BatchCheck
from hedgeclipper.forest.groups import OutOfBag, Played, ScoredGroups
from hedgeclipper.forest.growing import GrownTrees
from hedgeclipper.forest.leaf_rows import LeafRows, Reservoir
from hedgeclipper.forest.leaves import (
    KINDS,
    Labeled,
    LeafPredictor,
    LeafSpecialists,
    LeafTable,
    count_in_leaves,
    describe_leaves,
    label_correlations,
    labeled_in_leaves,
    leaf_table,
)
from hedgeclipper.forest.trees import LeafFinder
from hedgeclipper.game.equations import Game, WeightTerms
from hedgeclipper.game.losses import BinaryLoss, resolve_loss
from hedgeclipper.game.solution import GameSolution, Progress, describe
from hedgeclipper.game.solve import play
from hedgeclipper.game.solvers import solve_batch, solve_stream
from hedgeclipper.sklearn_private import Interval, StrOptions

# how strongly weights are pulled to those of the forest's own vote
RIDGE, RIDGE_WITHOUT_LABELS = 100.0, 1e6
CLIPPED_TOO_MUCH, LARGE_ALPHA = 0.5, 3.0
DELTA = 0.05
ROWS_FOR_DOUBTS = 20_000


class LeafGame(BaseEstimator):
    """The paper's game, in which every leaf of the trees is a specialist with its own weight.

    It is what `HedgeClipperClassifier` plays if it is passed as ``game``, in place of that of its
    groups of trees; ``HedgeClipperClassifier.as_in_paper()`` has the settings of the paper.

    Parameters
    ----------
    specialists : {"leaves", "trees"} or sequence of both, default="leaves"
        What gets weights in the game: every leaf, or every tree. "trees" has the fewest weights,
        for very few labels.
    votes : {"hard", "soft"}, default="hard"
        What specialists vote: the majority class of their training rows, as in the paper, or 2 p -
        1, p the proportion of the class among these rows. Soft votes rank rows of unbalanced
        classes better, where nearly all leaves have the same majority.
    bound : {"plug_in", "wilson"}, default="plug_in"
        How the correlation of a specialist with the labels (b) is estimated: by the mean over
        labeled rows that its tree has not seen, as in the paper, or by Wilson's lower bound on that
        mean at 95 %. Specialists without a positive correlation are dropped; if that are all, the
        predictions are those of the forest's own vote.
    unlabeled_weight : float or "auto", default="auto"
        Weight of the unlabeled rows in the game (alpha). "auto" is 1, and 3 if that clips most
        rows. Below 1 every specialist with a correlation above alpha gets its largest weight, and
        the unlabeled rows have no effect.
    cap : float, "auto" or None, default="auto"
        Largest weight of a specialist. "auto" is 1, with which a specialist alone clips the rows
        it is awake on. None is no cap, as in the paper.
    ridge : float or "auto", default="auto"
        Strength of the ridge penalty on the distance of the weights from the anchor, which is those
        of the forest's own vote. "auto" falls with the number of labels of the rarer class; 0 is
        the paper's problem.
    min_specialist_size : int or None, default=None
        Leave out specialists with fewer training rows than this. The default forest is then grown
        without a minimum leaf size (the paper's alternative). None leaves out none.
    method : {"batch", "stream", "sgd"}, default="batch"
        How the slack is minimized. "batch": quasi-Newton steps over all rows. "stream": stochastic
        steps and then full passes. "sgd": a few passes of stochastic steps alone, as in the paper.
        Stochastic steps are made in this process: the leaf numbers of a Dask collection are fetched
        on each pass.
    batch_size : int, default=1024
        Rows of a stochastic step, for "stream" and "sgd".
    max_iter : int, default=100
        Largest number of passes over the unlabeled rows.

    Examples
    --------
    >>> from hedgeclipper import HedgeClipperClassifier
    >>> HedgeClipperClassifier(game=LeafGame(cap=1.0, ridge=0.0))
    HedgeClipperClassifier(game=LeafGame(cap=1.0, ridge=0.0))
    """

    _parameter_constraints: ClassVar[dict] = {
        "specialists": [StrOptions(set(KINDS)), list, tuple],
        "votes": [StrOptions({"hard", "soft"})],
        "bound": [StrOptions({"plug_in", "wilson"})],
        "unlabeled_weight": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "cap": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"}), None],
        "ridge": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "min_specialist_size": [Interval(Integral, 1, None, closed="left"), None],
        "method": [StrOptions({"batch", "stream", "sgd"})],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        specialists="leaves",
        votes="hard",
        bound="plug_in",
        unlabeled_weight="auto",
        cap="auto",
        ridge="auto",
        min_specialist_size=None,
        method="batch",
        batch_size=1024,
        max_iter=100,
    ):
        self.specialists = specialists
        self.votes = votes
        self.bound = bound
        self.unlabeled_weight = unlabeled_weight
        self.cap = cap
        self.ridge = ridge
        self.min_specialist_size = min_specialist_size
        self.method = method
        self.batch_size = batch_size
        self.max_iter = max_iter


@dataclass(frozen=True)
class LeafGameOptions:
    """Parameters of the estimator that the game needs."""

    game: LeafGame
    seed: int
    loss: BinaryLoss
    tol: float
    n_jobs: int | None

    @classmethod
    def of(cls, estimator: BaseEstimator, seed: int) -> LeafGameOptions:
        """Return the options of an estimator, which has parameters of the same names."""
        own = {name: getattr(estimator, name) for name in ("tol", "n_jobs", "game")}
        return cls(seed=seed, loss=resolve_loss(estimator.loss), **own)


@dataclass(frozen=True, eq=False)
class LeafEvidence:
    """What the labels tell of the specialists, one class against the rest."""

    labeled: Labeled
    table: LeafTable
    options: LeafGameOptions


def leaf_evidence(
    grown: GrownTrees, groups: ScoredGroups, options: LeafGameOptions
) -> list[LeafEvidence]:
    """Return what the labels tell of the leaves, shrunk as the groups are, for each game."""
    table = leaf_table(grown.finder, options.game.specialists)
    labeled = [
        labeled_in_leaves(grown, values, groups.codes == k, groups.weights)
        for k, values in zip(groups.games, groups.leaf_values, strict=True)
    ]
    return [LeafEvidence(one, table, options) for one in labeled]


def set_up_leaf_game(
    evidence: LeafEvidence, leaves: LeafRows, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, Game]:
    """Return which specialists play, their b, and the game, whose alpha is 1 if it is "auto".

    ``counts`` are the numbers of unlabeled rows in all leaves.
    """
    labeled, table, options = evidence.labeled, evidence.table, evidence.options
    finder, are_hard = labeled.finder, options.game.votes == "hard"
    scores, n_awake = labeled.scores, table.sum_leaves(counts)
    largest = max(1.0, float(np.abs(scores).max()))  # those of boosters may be above 1
    votes = table.votes(scores / largest, are_hard=are_hard)
    b = label_correlations(labeled, table, votes, options.game.bound, DELTA)
    # worth keeping: awake on some row, with a vote, large and good enough
    useful = (n_awake > 0) & (np.bincount(votes.indices, minlength=b.size) > 0)
    if options.game.min_specialist_size is not None:
        in_bag = labeled.sum_in_leaves(np.ones(labeled.signs.size), labeled.bags)
        useful &= table.sum_leaves(in_bag) >= options.game.min_specialist_size
    if not useful.any():
        raise ValueError(
            "No specialist is left: each one has no vote, is asleep on all unlabeled rows, or is "
            "smaller than min_specialist_size. Label more rows, grow larger trees, or leave game "
            "out."
        )
    are_known = bool(np.any(useful & (b > 0)))
    keep = np.flatnonzero(useful & (b > 0) if are_known else useful)
    b, coverage = b[keep], n_awake[keep] / leaves.n_samples
    # weights that give the forest's vote: hard votes of leaves have their sizes; where there are no
    # leaves, each tree has the mean size of its vote
    sizes = (np.abs(scores) if are_hard else np.full(scores.size, largest)) / finder.n_trees
    own_leaf = table.own_leaf[keep]
    anchor = np.where(own_leaf >= 0, sizes[own_leaf], 0.0)
    if np.all(own_leaf < 0):
        anchor = table.sum_leaves(counts * sizes)[keep] / np.maximum(n_awake[keep], 1.0)
    terms = _terms(evidence, anchor, b, coverage, are_known)
    voters = LeafSpecialists(leaves, finder.offsets, votes[:, keep], coverage, options.n_jobs)
    alpha = options.game.unlabeled_weight
    return (
        keep,
        b,
        Game(voters, terms, evidence.options.loss, 1.0 if alpha == "auto" else float(alpha)),
    )


def _terms(
    evidence: LeafEvidence,
    anchor: np.ndarray,
    b: np.ndarray,
    coverage: np.ndarray,
    are_known: bool,
) -> WeightTerms:
    """Return the box and the anchor at the forest's vote, with the strength the labels allow.

    If they tell nothing good of any specialist, the weights are those of the anchor.
    """
    cap, ridge = evidence.options.game.cap, evidence.options.game.ridge
    if not are_known:
        b, ridge = np.zeros_like(b), RIDGE_WITHOUT_LABELS
    upper = np.inf if cap is None else 1.0 if cap == "auto" else float(cap)
    if ridge == "auto":
        ridge = RIDGE * evidence.labeled.finder.n_trees / (2.0 * max(evidence.labeled.n_rare, 1))
    center = np.minimum(anchor, upper) if ridge > 0 else 0.0
    return WeightTerms.of(coverage, b, ridge=float(ridge), anchor=center, upper=upper)


@dataclass(frozen=True, eq=False)
class LeafSolution:
    """The game of one class against the rest, solved.

    The sum of the scores of a row's leaves is the awake prediction.
    """

    keep: np.ndarray  # (n_specialists,): numbers in the table of the specialists that play
    label_correlations: np.ndarray  # (n_specialists,): b
    coverage: np.ndarray  # (n_specialists,): proportion of the unlabeled rows each is awake on
    leaf_scores: np.ndarray  # (all leaves,)
    game: GameSolution


@threadpool_limits.wrap(limits=1, user_api="blas")
def play_leaf_game(
    evidence: LeafEvidence,
    leaves: LeafRows,
    counts: np.ndarray,
    *,
    start: np.ndarray,
) -> LeafSolution:
    """Estimate b and minimize the slack.

    The solver starts from weights ``start`` of all specialists of the table, or from the anchor
    where that is NaN.
    """
    options = evidence.options
    keep, b, game = set_up_leaf_game(evidence, leaves, counts)
    voters: LeafSpecialists = game.specialists  # type: ignore[assignment]

    weights = np.where(np.isnan(start[keep]), game.terms.anchor, start[keep])
    weights = np.clip(weights, game.terms.lower, game.terms.upper)

    def solve(game: Game) -> GameSolution:
        own, progress = options.game, Progress(options.tol, options.game.max_iter)
        if own.method == "batch" and np.isnan(start).all():
            return play(game, progress, "batch")
        if own.method == "batch":
            return describe(game, progress, solve_batch(game, progress, weights))
        rng, is_sgd = np.random.default_rng(options.seed), own.method == "sgd"
        steps = (game, progress, weights, rng, own.batch_size)
        return describe(game, progress, solve_stream(*steps, as_in_paper=is_sgd))

    solution = solve(game)
    if options.game.unlabeled_weight == "auto":
        # a smaller alpha would let every specialist with b > alpha have its largest weight: the
        # unlabeled rows would have no effect
        n_clipped = voters.sum_blocks(lambda rows: np.sum(np.abs(rows @ solution.weights) >= 1.0))
        if n_clipped > CLIPPED_TOO_MUCH * voters.n_samples:
            solution = solve(replace(game, unlabeled_weight=LARGE_ALPHA))
    leaf_scores = voters.votes @ solution.weights
    leaves.forget_views()
    return LeafSolution(keep, b, voters.coverage, leaf_scores, solution)


class LeafStream:
    """The games of all classes on leaves, each of which starts from the weights before.

    It has the methods of `GroupStream`.
    """

    def __init__(self, evidence: list[LeafEvidence]):
        self.evidence = evidence
        self.reservoir = Reservoir(np.random.default_rng(evidence[0].options.seed))
        # of all specialists in each game, NaN for those that have none yet
        sizes = [one.table.own_leaf.size for one in evidence]
        self.weights = [np.full(size, np.nan) for size in sizes]

    @property
    def finder(self) -> LeafFinder:
        """Finds the leaves of each row."""
        return self.evidence[0].labeled.finder

    def play(
        self,
        rows: LeafRows,
        prepare: BatchCheck | None,
    ) -> Played:
        """Solve the games on rows with these leaves, and note the weights."""
        options = self.evidence[0].options
        counts = count_in_leaves(rows, self.finder, options.n_jobs)
        solutions = [
            play_leaf_game(one, rows, counts, start=start)
            for one, start in zip(self.evidence, self.weights, strict=True)
        ]
        self.weights = [weights.copy() for weights in self.weights]
        for weights, solution in zip(self.weights, solutions, strict=True):
            weights[solution.keep] = solution.game.weights
        self.kept = [one.keep for one in solutions]
        scores = np.column_stack([one.leaf_scores for one in solutions])
        predictor = LeafPredictor(self.finder, scores, options.loss, prepare)
        return Played(
            predictor=predictor,
            games=[one.game for one in solutions],
            hedged_ranges=[predictor.hedged_range] * len(solutions),
            weights=[one.game.weights for one in solutions],
            label_correlations=[one.label_correlations for one in solutions],
            coverage=[one.coverage for one in solutions],
        )

    def out_of_bag(self, predictor: LeafPredictor, rows: LeafRows, n_jobs: int | None) -> OutOfBag:
        """Return predictions of labeled rows by trees grown without them, by their leaf scores.

        The weights of the game were found with these labels, so that they are not used. Fewer trees
        are less sure of themselves: the doubts on unlabeled rows come from as few.
        """
        labeled, finder = [one.labeled for one in self.evidence], self.finder
        found = [one.unseen_vote(one.scores) for one in labeled]
        known = np.flatnonzero(found[0][1])
        awake = np.column_stack([votes for votes, _ in found])[known] + predictor.offset
        n_unseen = labeled[0].unseen[:, known].sum(axis=0)
        n_few = max(1, round(float(n_unseen.mean()))) if known.size else 1
        few = np.linspace(0, finder.n_trees - 1, n_few).round().astype(int)
        in_few = np.repeat(np.isin(np.arange(finder.n_trees), few) / n_few, finder.n_leaves)
        scores = np.column_stack([one.scores for one in labeled])
        weaker = replace(predictor, leaf_scores=scores * in_few[:, None])
        stride = rows.n_samples // ROWS_FOR_DOUBTS
        thinned = rows.thinned(stride) if stride > 1 else None
        doubts = weaker.doubts(weaker.raw_in(rows if thinned is None else thinned, n_jobs))
        return OutOfBag(known, awake, float(doubts.mean()))

    def voters(self, model: Any) -> VoterTable:
        """Return the specialists that a fitted classifier keeps in its games."""
        table, kept = self.evidence[0].table, self.kept
        per_game = model.specialist_weights_, model.label_correlations_, model.coverage_
        weights, correlations, coverage = (np.concatenate(values) for values in per_game)
        targets = np.repeat(model.classes_, model.n_specialists_) if len(kept) > 1 else None
        return VoterTable(
            kind="leaf" if np.all(table.own_leaf >= 0) else "specialist",
            names=[name for keep in kept for name in table.names(keep)],
            weights=weights,
            correlations=correlations,
            contributions=contributions_of(weights * coverage) * len(kept),
            coverage=coverage,
            targets=None if targets is None else targets.tolist(),
        )

    def describe_voters(self, model: Any, voters: np.ndarray) -> dict[str, list]:
        """Return the class that each of these voters votes for, and its rows, if it is a leaf."""
        own_leaf = self.evidence[0].table.own_leaf
        leaves = np.concatenate([own_leaf[keep] for keep in self.kept])[voters]
        games = np.repeat(np.arange(len(self.kept)), model.n_specialists_)[voters]
        return describe_leaves(model._predictor, leaves, games, model.classes_, model._column_name)
