"""The game of one class against the rest, on leaf numbers: from labels and rows to leaf scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from threadpoolctl import threadpool_limits

from hedgeclipper.base.semi_supervised import SemiSupervisedRows
from hedgeclipper.bounds.certificate import Certificate
from hedgeclipper.forest.growing import GrownTrees
from hedgeclipper.forest.leaf_correlations import (
    ForestVote,
    Labeled,
    balanced_vote,
    natural_correlations,
    residual_correlations,
)
from hedgeclipper.forest.leaf_rows import LeafRows, Reservoir
from hedgeclipper.forest.leaves import (
    LeafPredictor,
    LeafSpecialists,
    LeafTable,
    count_in_leaves,
    leaf_table,
    sum_in_leaves,
    sum_scores,
)
from hedgeclipper.forest.tree_certificate import tree_certificate
from hedgeclipper.game.equations import Evaluation, Game, WeightTerms
from hedgeclipper.game.losses import BinaryLoss, Loss, resolve_loss
from hedgeclipper.game.solution import GameSolution, PassRecord, Progress
from hedgeclipper.game.solve import play

# how far a weight may move from the forest's own, and how strongly it is pulled back
LEAST_RATIO, LARGEST_RATIO = 0.5, 3.0
SHRUNK_RIDGE, NATURAL_RIDGE = 30.0, 100.0
OUT_OF_BAG_WEIGHT = 0.5
CLIPPED_TOO_MUCH, LARGE_ALPHA = 0.5, 3.0
DELTA = 0.05


class LeafGame(BaseEstimator):
    """How the game of a forest's leaves is set up and solved.

    The defaults suit most data; ``HedgeClipperClassifier.as_in_paper()`` has those of the paper.

    Parameters
    ----------
    unlabeled_weight : float or "auto", default="auto"
        Weight of the unlabeled rows in the game (alpha). "auto" is 1, and 3 if that clips most
        rows. Below 1 every specialist with a correlation above alpha gets its largest weight, and
        the unlabeled rows have no effect.
    cap : float, "auto" or None, default="auto"
        Largest weight of a specialist. "auto" lets a leaf have between half and three times its
        weight in the forest's vote (``bound="shrunk"``), else up to 1. None is no cap, as in the
        paper.
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

    Examples
    --------
    >>> from hedgeclipper import HedgeClipperClassifier
    >>> HedgeClipperClassifier(game=LeafGame(cap=1.0, ridge=0.0))
    HedgeClipperClassifier(game=LeafGame(cap=1.0, ridge=0.0))
    """

    _parameter_constraints: ClassVar[dict] = {
        "unlabeled_weight": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "cap": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"}), None],
        "ridge": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "min_specialist_size": [Interval(Integral, 1, None, closed="left"), None],
        "method": [StrOptions({"batch", "stream", "sgd"})],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        unlabeled_weight="auto",
        cap="auto",
        ridge="auto",
        min_specialist_size=None,
        method="batch",
        batch_size=1024,
    ):
        self.unlabeled_weight = unlabeled_weight
        self.cap = cap
        self.ridge = ridge
        self.min_specialist_size = min_specialist_size
        self.method = method
        self.batch_size = batch_size


@dataclass(frozen=True)
class LeafGameOptions:
    """Parameters of the estimator that the game needs."""

    game: LeafGame
    seed: int
    specialists: str | Sequence[str]
    bound: str
    confidence_level: float | None
    loss: str | Loss
    tol: float
    max_iter: int
    n_jobs: int | None

    @classmethod
    def of(cls, estimator: BaseEstimator, game: LeafGame, seed: int) -> LeafGameOptions:
        """Return the options of an estimator, which has parameters of the same names."""
        names = [field.name for field in fields(cls)[2:]]
        return cls(game, seed, **{name: getattr(estimator, name) for name in names})

    @property
    def is_shrunk(self) -> bool:
        """Whether b is the forest's vote plus its shrunk residual, with balanced labels."""
        return self.bound == "shrunk" and self.confidence_level is None

    @property
    def delta(self) -> float:
        """Probability that the bounds fail."""
        return DELTA if self.confidence_level is None else 1.0 - self.confidence_level


@dataclass(frozen=True, eq=False)
class LeafEvidence:
    """What the labels tell of the specialists, one class against the rest.

    ``is_guarantee``: labels were held out from all trees, so that the bounds from them hold.
    """

    labeled: Labeled
    table: LeafTable
    options: LeafGameOptions
    is_guarantee: bool = False

    @property
    def loss(self) -> BinaryLoss:
        """The loss of the game."""
        return resolve_loss(self.options.loss)

    @property
    def prior(self) -> float:
        """Proportion of positive labels (pi), if labels are balanced; else 1/2."""
        return self.labeled.prior if self.options.is_shrunk else 0.5

    @property
    def offset(self) -> float:
        """What makes the sign of the awake prediction the more probable class.

        It is 2 pi - 1 for balanced labels and square loss.
        """
        return -self.loss.awake_at(1.0 - 2.0 * self.prior)

    @cached_property
    def forest_vote(self) -> ForestVote | None:
        """The forest's vote with balanced labels; None if b does not need it."""
        return balanced_vote(self.labeled, OUT_OF_BAG_WEIGHT) if self.options.is_shrunk else None

    def correlations(
        self, leaves: LeafRows, votes: sparse.csr_array, n_awake: np.ndarray
    ) -> np.ndarray:
        """Return b of all specialists: shrunk, or as the bound or the guarantee demands."""
        options, forest_vote, finder = self.options, self.forest_vote, self.labeled.finder
        if forest_vote is None:
            bound = options.bound if options.confidence_level is None else "transductive"
            return natural_correlations(
                self.labeled, self.table, votes, bound, options.delta, n_awake, n_awake.size + 1
            )
        sums_of = partial(
            _vote_sums, offsets=finder.offsets, scores=forest_vote.scores / finder.n_trees
        )
        sums = votes.T @ leaves.sum_blocks(sums_of, np.asarray, options.n_jobs)
        mean_vote = np.divide(sums, n_awake, out=np.zeros_like(sums), where=n_awake > 0)
        return residual_correlations(self.labeled, forest_vote, self.table, votes, mean_vote)


def leaf_evidence(
    grown: GrownTrees,
    rows: SemiSupervisedRows,
    codes: np.ndarray,
    classes: Sequence[int],
    options: LeafGameOptions,
) -> list[LeafEvidence]:
    """Return what the labels, given as codes, tell of the leaves, for each of these classes."""
    table = leaf_table(grown.finder, options.specialists)
    leaves = grown.finder.find(rows.X_labeled, options.n_jobs)
    is_held_out = options.confidence_level is not None and grown.source == "holdout"
    is_guarantee = is_held_out and rows.weight_labeled is None and rows.has_unlabeled
    labeled = [grown.labeled(leaves, codes, rows.weight_labeled, k) for k in classes]
    return [LeafEvidence(one, table, options, is_guarantee) for one in labeled]


def _vote_sums(leaves: np.ndarray, offsets: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return for each leaf the sum of the forest's clipped vote over a block's rows in it."""
    vote = np.clip(sum_scores(leaves, offsets, scores), -1.0, 1.0)
    return sum_in_leaves(leaves, offsets, vote, scores.size)


def set_up_leaf_game(
    evidence: LeafEvidence, leaves: LeafRows, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, Game]:
    """Return which specialists play, their b, and the game, whose alpha is 1 if it is "auto".

    ``counts`` are the numbers of unlabeled rows in all leaves.
    """
    labeled, table, options = evidence.labeled, evidence.table, evidence.options
    forest_vote, finder = evidence.forest_vote, labeled.finder
    scores = labeled.scores if forest_vote is None else forest_vote.in_bag
    votes, n_awake = table.votes(scores, counts), table.sum_leaves(counts)
    b = evidence.correlations(leaves, votes, n_awake)
    # worth keeping: awake on some row, with a vote, good and large enough
    useful = (n_awake > 0) & (np.bincount(votes.indices, minlength=b.size) > 0)
    if not options.is_shrunk:
        useful &= b > 0
    if options.game.min_specialist_size is not None:
        in_bag = labeled.sum_in_leaves(np.ones(labeled.signs.size), labeled.bags)
        useful &= table.sum_leaves(in_bag) >= options.game.min_specialist_size
    keep = np.flatnonzero(useful)
    if keep.size == 0:
        raise ValueError(
            "No specialist is left: each one has no vote, is asleep on all unlabeled rows, is "
            "smaller than min_specialist_size, or (unless bound='shrunk') has no positive "
            "correlation with labels its tree has not seen. Label more rows, or grow larger "
            "trees."
        )
    b, coverage = b[keep], n_awake[keep] / leaves.n_samples
    sizes = np.abs(scores)
    if forest_vote is not None:  # a leaf whose sign unseen rows reverse has no weight
        sizes = np.maximum(forest_vote.scores * np.sign(scores), 0.0)
    anchor = _forest_weights(table.select(keep), sizes / finder.n_trees, counts)
    terms = _terms(evidence, anchor, b, coverage)
    voters = LeafSpecialists(leaves, finder.offsets, votes[:, keep], coverage, options.n_jobs)
    alpha = options.game.unlabeled_weight
    return keep, b, Game(voters, terms, evidence.loss, 1.0 if alpha == "auto" else float(alpha))


def _forest_weights(table: LeafTable, sizes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the weights with which the specialists give the forest's vote.

    Leaves have their sizes; where there are no leaves, each tree has the mean size of its vote.
    """
    is_leaf = table.own_leaf >= 0
    if is_leaf.any():
        return np.where(is_leaf, sizes[table.own_leaf], 0.0)
    n_rows = np.maximum(table.sum_leaves(counts), 1.0)
    return np.where(table.is_tree, table.sum_leaves(counts * sizes) / n_rows, 0.0)


def _terms(
    evidence: LeafEvidence, anchor: np.ndarray, b: np.ndarray, coverage: np.ndarray
) -> WeightTerms:
    """Return the box and the anchor at the forest's vote, with the strength the labels allow."""
    labeled, is_shrunk = evidence.labeled, evidence.options.is_shrunk
    cap, ridge = evidence.options.game.cap, evidence.options.game.ridge
    lower, upper = np.zeros_like(anchor), np.full_like(anchor, np.inf)
    if cap == "auto" and is_shrunk:
        # a specialist without a weight in the forest's vote may get a usual one
        some = anchor[anchor > 0].mean() if np.any(anchor > 0) else 1.0
        usual = np.where(anchor > 0, anchor, some / LARGEST_RATIO)
        lower, upper = LEAST_RATIO * anchor, LARGEST_RATIO * usual
    elif cap is not None:
        upper = np.full_like(anchor, 1.0 if cap == "auto" else cap)
    if ridge == "auto":
        strength = SHRUNK_RIDGE if is_shrunk else NATURAL_RIDGE
        ridge = strength * labeled.finder.n_trees / (2.0 * max(labeled.n_rare, 1))
    return WeightTerms(
        edge=coverage * b,
        width=np.zeros_like(b),
        curvature=float(ridge) * coverage,
        anchor=np.clip(anchor, lower, upper) if ridge > 0 else lower,
        lower=lower,
        upper=upper,
    )


@dataclass(frozen=True, eq=False)
class LeafSolution:
    """The game of one class against the rest, solved.

    The sum of the scores of a row's leaves, and ``offset``, is the awake prediction.
    """

    keep: np.ndarray  # (n_specialists,): numbers in the table of the specialists that play
    label_correlations: np.ndarray  # (n_specialists,): b
    coverage: np.ndarray  # (n_specialists,): proportion of the unlabeled rows each is awake on
    leaf_scores: np.ndarray  # (all leaves,)
    offset: float
    prior: float
    game: GameSolution
    certificate: Certificate


@threadpool_limits.wrap(limits=1, user_api="blas")
def play_leaf_game(
    evidence: LeafEvidence,
    leaves: LeafRows,
    counts: np.ndarray,
    *,
    start: np.ndarray | None = None,
    report: Callable[..., None] | None = None,
    watch: Callable[[PassRecord, LeafPredictor], None] | None = None,
) -> LeafSolution:
    """Estimate b, minimize the slack and bound the error.

    The solver starts from the anchor, or from weights ``start`` of all specialists of the table,
    NaN for those that have none yet. After every pass it calls ``report`` with the record and the
    evaluation, and ``watch`` with the record and the predictor as it is then.
    """
    options, labeled, offset = evidence.options, evidence.labeled, evidence.offset
    keep, b, game = set_up_leaf_game(evidence, leaves, counts)
    voters: LeafSpecialists = game.specialists  # type: ignore[assignment]

    def show(record: PassRecord, evaluation: Evaluation) -> None:
        assert watch is not None
        scores, loss = voters.votes @ evaluation.theta, evidence.loss
        offsets, priors = np.array([offset]), np.array([evidence.prior])
        watch(record, LeafPredictor(labeled.finder, scores[:, None], offsets, priors, loss))

    reports = (report, None if watch is None else show)
    if start is not None:
        start = np.where(np.isnan(start[keep]), game.terms.anchor, start[keep])

    def solve(game: Game) -> GameSolution:
        progress, own = Progress(options.tol, options.max_iter, reports), options.game
        return play(game, progress, own.method, options.seed, own.batch_size, start)

    solution = solve(game)
    if options.game.unlabeled_weight == "auto":
        # a smaller alpha would let every specialist with b > alpha have its largest weight: the
        # unlabeled rows would have no effect
        n_clipped = voters.sum_blocks(lambda rows: np.sum(np.abs(rows @ solution.weights) >= 1.0))
        if n_clipped > CLIPPED_TOO_MUCH * voters.n_samples:
            solution = solve(replace(game, unlabeled_weight=LARGE_ALPHA))
    leaf_scores = voters.votes @ solution.weights
    certificate = tree_certificate(
        labeled,
        voters,
        leaf_scores,
        offset,
        method="wilson" if options.confidence_level is None else "transductive",
        delta=options.delta,
        is_guarantee=evidence.is_guarantee,
    )
    leaves.forget_views()
    return LeafSolution(
        keep, b, voters.coverage, leaf_scores, offset, evidence.prior, solution, certificate
    )


class LeafStream:
    """The games of all classes, and a random sample of all rows so far on which they are played.

    Each game starts from the weights before, and neither its time nor its memory grows with the
    number of rows. It begins with the solutions on the first unlabeled rows, if there are any.
    """

    def __init__(
        self,
        evidence: list[LeafEvidence],
        leaves: LeafRows | None,
        solutions: list[LeafSolution],
    ):
        self.evidence = [replace(one, is_guarantee=False) for one in evidence]
        self.reservoir = Reservoir(leaves, np.random.default_rng(evidence[0].options.seed))
        self.weights = [np.full(one.table.own_leaf.size, np.nan) for one in evidence]
        self._keep_weights(solutions)

    def grown(self, parts: Iterable[np.ndarray]) -> LeafStream:
        """Return a stream with more rows, leaf numbers of shape (n_trees, rows).

        This one stays as it is, so that no row is counted twice where reading them fails.
        """
        stream = copy(self)
        stream.reservoir = deepcopy(self.reservoir)  # which new rows change, and its generator
        stream.weights = [weights.copy() for weights in self.weights]
        for leaves in parts:
            stream.reservoir.add(leaves)
        if stream.reservoir.n_seen == 0:
            raise ValueError("There are no rows to add: X_unlabeled is empty.")
        return stream

    def play(self, report: Callable[..., None] | None = None) -> list[LeafSolution]:
        """Return the solutions of the games on the sample as it is now."""
        leaves, first = self.reservoir.leaves, self.evidence[0]
        counts = count_in_leaves(leaves, first.labeled.finder, first.options.n_jobs)
        solutions = [
            play_leaf_game(evidence, leaves, counts, start=start, report=report)
            for evidence, start in zip(self.evidence, self.weights, strict=True)
        ]
        self._keep_weights(solutions)
        return solutions

    def _keep_weights(self, solutions: list[LeafSolution]) -> None:
        for weights, solution in zip(self.weights, solutions, strict=True):
            weights[solution.keep] = solution.game.weights
