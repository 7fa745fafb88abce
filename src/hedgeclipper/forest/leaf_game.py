"""The game of one class against the rest, on leaf numbers: from labels and rows to leaf scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from hedgeclipper.bounds.certificate import Certificate, certify
from hedgeclipper.bounds.intervals import transductive_radius, wilson_bounds
from hedgeclipper.forest.leaf_correlations import (
    ForestVote,
    Labeled,
    LeafValues,
    balanced_vote,
    natural_correlations,
    residual_correlations,
)
from hedgeclipper.forest.leaf_rows import LeafRows
from hedgeclipper.forest.leaves import (
    LeafSpecialists,
    LeafTable,
    leaf_table,
    sum_in_leaves,
    sum_scores,
)
from hedgeclipper.forest.settings import LeafGame
from hedgeclipper.forest.trees import LeafFinder
from hedgeclipper.game.equations import Evaluation, Game, WeightTerms
from hedgeclipper.game.losses import Loss, absolute_loss, resolve_loss
from hedgeclipper.game.setup import LabelCorrelations
from hedgeclipper.game.solution import GameSolution, PassRecord, Progress
from hedgeclipper.game.solve import play, telling_all
from hedgeclipper.game.specialists import with_constant_voter

# how far a weight may move from the forest's own, and how strongly it is pulled back
LEAST_SHARE, LARGEST_SHARE = 0.5, 3.0
SHRUNK_RIDGE, PLAIN_RIDGE = 30.0, 100.0
OUT_OF_BAG_WEIGHT = 0.5
CLIPPED_TOO_MUCH, LARGE_ALPHA = 0.5, 3.0
CERTIFICATE_DELTA = 0.05
CERTIFICATE_PASSES = 12


@dataclass(frozen=True)
class LeafGameOptions:
    """What the estimator's parameters ask of the game; "auto" is resolved here."""

    game: LeafGame
    bound: str
    delta: float | None
    loss: str | Loss
    tol: float
    max_iter: int
    is_guarantee: bool
    n_jobs: int | None
    seed: int

    @property
    def is_shrunk(self) -> bool:
        """Whether b is the forest's vote corrected by its residual, with balanced labels."""
        return self.bound == "shrunk" and self.delta is None


@dataclass(frozen=True, eq=False)
class LeafSetting:
    """A game as the labels and the rows so far set it up.

    Parameters
    ----------
    keep : ndarray of int
        Numbers of the specialists who play, among all of the table.
    says : CSR matrix of shape (all leaves, n_specialists)
        What they say in each leaf.
    label_correlations, coverage : ndarray of shape (n_specialists,)
        b, and share of the unlabeled rows.
    terms : WeightTerms
        Edge, anchor and box.
    """

    keep: np.ndarray
    says: sparse.csr_array
    label_correlations: np.ndarray
    coverage: np.ndarray
    terms: WeightTerms


@dataclass(frozen=True, eq=False)
class LeafKnowledge:
    """What is known of one class before any unlabeled row is seen.

    Parameters
    ----------
    labeled : Labeled
        Labeled rows.
    finder, table : LeafFinder, LeafTable
        The trees and their specialists.
    values : LeafValues
        What the model says in each leaf.
    options : LeafGameOptions
        What the parameters ask for.
    """

    labeled: Labeled
    finder: LeafFinder
    table: LeafTable
    values: LeafValues
    options: LeafGameOptions

    @cached_property
    def vote(self) -> ForestVote | None:
        """The forest's vote, where b is its residual."""
        if not self.options.is_shrunk:
            return None
        return balanced_vote(self.labeled, self.values, OUT_OF_BAG_WEIGHT)

    @property
    def votes(self) -> np.ndarray:
        """Scores of the leaves whose signs are their votes."""
        return self.values.plain() if self.vote is None else self.vote.in_bag

    @property
    def prior(self) -> float:
        """Share of positive labels, where labels were balanced; else 1/2."""
        return self.labeled.share if self.options.is_shrunk else 0.5

    def setting(self, leaves: LeafRows, counts: np.ndarray) -> LeafSetting:
        """Return the game's terms on unlabeled rows whose counts in the leaves are known."""
        table, labeled, options = self.table, self.labeled, self.options
        says = table.votes(self.votes, counts)
        n_awake = table.sum_leaves(counts)
        b = self._correlations(leaves, says, n_awake)
        keep = np.flatnonzero(_is_useful(labeled, table, says, b, n_awake, options))
        if keep.size == 0:
            raise ValueError(
                "No specialist is left: each one has no vote, is asleep on all unlabeled rows, is "
                "smaller than min_specialist_size, or (unless bound='shrunk') has no positive "
                "correlation with labels its tree has not seen. Label more rows, or grow larger "
                "trees."
            )
        b, coverage = b[keep], n_awake[keep] / leaves.n_samples
        anchor = _forest_weights(self.finder, table.select(keep), self._sizes(), counts)
        terms = _terms(labeled, self.finder, anchor, b, coverage, options)
        return LeafSetting(keep, says[:, keep], b, coverage, terms)

    def _sizes(self) -> np.ndarray:
        """Return the weight of each leaf in the forest's vote, none where unseen rows turn it."""
        if self.vote is None:
            return np.abs(self.votes)
        return np.maximum(self.vote.scores * np.sign(self.votes), 0.0)

    def _correlations(
        self, leaves: LeafRows, says: sparse.csr_array, n_awake: np.ndarray
    ) -> np.ndarray:
        options = self.options
        if self.vote is None:
            bound = "transductive" if options.delta is not None else options.bound
            delta = CERTIFICATE_DELTA if options.delta is None else options.delta
            n_compared = n_awake.size + 1
            return natural_correlations(
                self.labeled, self.table, says, bound, delta, n_awake, n_compared
            )
        vote_sums = VoteSums(self.finder.offsets, self.vote.scores / self.finder.n_trees)
        sums = says.T @ leaves.sum_blocks(vote_sums, np.asarray, options.n_jobs)
        mean_vote = np.divide(sums, n_awake, out=np.zeros_like(sums), where=n_awake > 0)
        return residual_correlations(self.labeled, self.vote, self.table, says, mean_vote)


@dataclass(frozen=True, eq=False)
class VoteSums:
    """Adds up the forest's vote, clipped, over the rows of a block in each leaf."""

    offsets: np.ndarray
    weight: np.ndarray

    def __call__(self, leaves: np.ndarray) -> np.ndarray:
        """Return the sums for leaves of shape (n_trees, rows)."""
        vote = np.clip(sum_scores(leaves, self.offsets, self.weight), -1.0, 1.0)
        return sum_in_leaves(leaves, self.offsets, vote, self.weight.size)


@dataclass(frozen=True, eq=False)
class LeafSolution:
    """What came out for one class.

    Parameters
    ----------
    setting : LeafSetting
        The game that was played.
    leaf_scores : ndarray of shape (all leaves,)
        Score of each leaf; their sum over a row's leaves, and ``offset``, is the awake prediction.
    offset : float
        What makes the sign of the awake prediction the more probable class: 2 pi - 1 for balanced
        labels and square loss.
    prior : float
        pi, the share of positive labels, where labels were balanced; else 1/2.
    game : GameSolution
        Weights and gap.
    certificate : Certificate
        Bound on the error of the predictions on the unlabeled rows.
    """

    setting: LeafSetting
    leaf_scores: np.ndarray
    offset: float
    prior: float
    game: GameSolution
    certificate: Certificate


@threadpool_limits.wrap(limits=1, user_api="blas")
def play_leaf_game(
    knowledge: LeafKnowledge,
    leaves: LeafRows,
    counts: np.ndarray,
    start: np.ndarray | None = None,
    report: Callable[..., None] | None = None,
    watch: Callable[[PassRecord, np.ndarray, float], None] | None = None,
) -> LeafSolution:
    """Estimate b, minimize the slack and bound the error.

    Parameters
    ----------
    knowledge : LeafKnowledge
        Labels, trees, options.
    leaves : LeafRows
        Leaf numbers of the unlabeled rows.
    counts : ndarray of shape (all leaves,)
        Unlabeled rows in each leaf.
    start : ndarray of shape (all specialists of the table,), optional
        Weights to start from, NaN for those that have none yet.
    report : callable, optional
        Told of every pass.
    watch : callable, optional
        Told of every pass, with the leaf scores and the offset as they are then.
    """
    setting, options = knowledge.setting(leaves, counts), knowledge.options
    offsets = knowledge.finder.offsets
    specialists = LeafSpecialists(leaves, offsets, setting.says, setting.coverage, options.n_jobs)
    offset = -resolve_loss(options.loss).awake_at(1.0 - 2.0 * knowledge.prior)
    tell = telling_all(report, None if watch is None else _watcher(setting, offset, watch))
    solution = _solve(specialists, setting.terms, options, _start(setting, start), tell)
    certificate = _certificate(knowledge, specialists, solution, offset)
    leaves.forget_views()
    return LeafSolution(
        setting=setting,
        leaf_scores=setting.says @ solution.weights,
        offset=offset,
        prior=knowledge.prior,
        game=solution,
        certificate=certificate,
    )


def _watcher(
    setting: LeafSetting, offset: float, watch: Callable[[PassRecord, np.ndarray, float], None]
) -> Callable[..., None]:
    def report(record: PassRecord, evaluation: Evaluation) -> None:
        watch(record, setting.says @ evaluation.theta, offset)

    return report


def _is_useful(
    labeled: Labeled,
    table: LeafTable,
    says: sparse.csr_array,
    b: np.ndarray,
    n_awake: np.ndarray,
    options: LeafGameOptions,
) -> np.ndarray:
    """Return which specialists to keep: awake on some row, with a vote, large and good enough."""
    has_vote = np.bincount(says.indices, minlength=says.shape[1]) > 0
    useful = (n_awake > 0) & has_vote
    if not options.is_shrunk:
        useful &= b > 0
    if options.game.min_specialist_size is not None:
        sizes = table.sum_leaves(labeled.sum_in_leaves(np.ones(labeled.signs.size), labeled.bags))
        useful &= sizes >= options.game.min_specialist_size
    return useful


def _terms(
    labeled: Labeled,
    finder: LeafFinder,
    anchor: np.ndarray,
    b: np.ndarray,
    coverage: np.ndarray,
    options: LeafGameOptions,
) -> WeightTerms:
    """Return the box and the anchor at the forest's vote, with the strength the labels allow."""
    lower, upper = np.zeros_like(anchor), np.full_like(anchor, np.inf)
    if options.game.cap == "auto" and options.is_shrunk:
        # whoever has no weight in the forest's vote may get a usual one
        some = anchor[anchor > 0].mean() if np.any(anchor > 0) else 1.0
        usual = np.where(anchor > 0, anchor, some / LARGEST_SHARE)
        lower, upper = LEAST_SHARE * anchor, LARGEST_SHARE * usual
    elif options.game.cap is not None:
        upper = np.full_like(anchor, 1.0 if options.game.cap == "auto" else options.game.cap)
    strength = SHRUNK_RIDGE if options.is_shrunk else PLAIN_RIDGE
    automatic = strength * finder.n_trees / (2.0 * max(labeled.n_rare, 1))
    ridge = automatic if options.game.ridge == "auto" else float(options.game.ridge)
    return WeightTerms(
        edge=coverage * b,
        width=np.zeros_like(b),
        curvature=ridge * coverage,
        anchor=np.clip(anchor, lower, upper) if ridge > 0 else lower,
        lower=lower,
        upper=upper,
    )


def _forest_weights(
    finder: LeafFinder, table: LeafTable, sizes: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    """Return the weights with which the specialists give the forest's vote.

    Leaves carry it; where there are none, each tree the mean size of its vote.
    """
    size = sizes / finder.n_trees
    is_leaf = table.own_leaf >= 0
    weights = np.where(is_leaf, size[table.own_leaf], 0.0)
    if not is_leaf.any():
        rows = np.maximum(table.sum_leaves(counts), 1.0)
        weights = np.where(table.is_tree, table.sum_leaves(counts * size) / rows, 0.0)
    return weights


def _start(setting: LeafSetting, weights: np.ndarray | None) -> np.ndarray | None:
    """Return where those who play start: at their weights, or at the anchor if they are new."""
    if weights is None:
        return None
    own = weights[setting.keep]
    return np.where(np.isnan(own), setting.terms.anchor, own)


def _solve(
    specialists: LeafSpecialists,
    terms: WeightTerms,
    options: LeafGameOptions,
    start: np.ndarray | None,
    report: Callable[..., None] | None,
) -> GameSolution:
    """Solve the game; an "auto" alpha is 1, or 3 if that clips most rows.

    A smaller alpha lets every voter with b > alpha have its cap: the vote is then a plain count and
    the unlabeled rows have no say.
    """
    automatic = options.game.unlabeled_weight == "auto"
    alpha = 1.0 if automatic else float(options.game.unlabeled_weight)
    game = Game(specialists, terms, resolve_loss(options.loss), alpha)
    solution = _play(game, options, start, report)
    if automatic and _clipped_share(specialists, solution.weights) > CLIPPED_TOO_MUCH:
        return _play(replace(game, unlabeled_weight=LARGE_ALPHA), options, start, report)
    return solution


def _play(
    game: Game,
    options: LeafGameOptions,
    start: np.ndarray | None,
    report: Callable[..., None] | None,
) -> GameSolution:
    progress = Progress(options.tol, options.max_iter, report=report)
    own = options.game
    return play(game, progress, own.method, options.seed, own.batch_size, start)


def _clipped_share(specialists: LeafSpecialists, theta: np.ndarray) -> float:
    """Return the share of rows that are clipped: one pass."""
    clipped = specialists.sum_blocks(lambda rows: np.sum(np.abs(rows @ theta) >= 1.0))
    return float(clipped) / specialists.n_samples


def _certificate(
    knowledge: LeafKnowledge, specialists: LeafSpecialists, solution: GameSolution, offset: float
) -> Certificate:
    """Return a bound on the error of sign(m + offset), from what the labels say of the whole trees.

    A tree has far more judges than a leaf, so that its correlation, in natural proportions, is
    known far better; the class balance is known too. With a delta and held-out labels it is a
    guarantee, else an estimate from Wilson's bounds.
    """
    labeled, options = knowledge.labeled, knowledge.options
    trees, scores = leaf_table(knowledge.finder, ["trees"]), knowledge.values.plain()
    n_rows, n_trees = specialists.n_samples, labeled.offsets.size
    bound = "wilson" if options.delta is None else "transductive"
    delta = CERTIFICATE_DELTA if options.delta is None else options.delta
    says = trees.votes(scores, np.ones_like(scores))
    n_awake, n_compared = np.full(n_trees, float(n_rows)), n_trees + 1
    b = natural_correlations(labeled, trees, says, bound, delta, n_awake, n_compared)
    everywhere = np.ones(n_trees)
    voters = replace(specialists, says=says, coverage=everywhere)
    width = _balance_width(labeled, n_rows, bound, delta, n_compared)
    bounds = LabelCorrelations(
        estimate=b,
        lower=b,
        upper=everywhere,
        n_labeled=labeled.unseen.sum(axis=1).astype(float),
        method=bound,
        confidence_level=1.0 - delta,
        is_guarantee=options.is_guarantee,
        n_unlabeled=n_awake,
    )
    leaf_scores = specialists.says @ solution.weights

    def predict(block: Any) -> np.ndarray:
        leaves = block.votes
        awake = sum_scores(leaves.leaves, leaves.offsets, leaf_scores) + offset
        return np.where(awake > 0, 1.0, -1.0)

    return certify(
        _certificate_game(labeled, voters, b, width),
        predict,
        np.append(np.maximum(b, 0.0) / n_trees, 0.0),
        rule="hard",
        knowledge=bounds,
        max_iter=CERTIFICATE_PASSES,
        both_ends=False,
    )


def _class_balance(labeled: Labeled) -> tuple[float, int]:
    """Return the mean label of the rows that judge some tree, and their number."""
    judges = labeled.unseen.any(axis=0)
    return float(np.average(labeled.signs[judges], weights=labeled.weights[judges])), judges.sum()


def _balance_width(
    labeled: Labeled, n_unlabeled: int, bound: str, delta: float, n_compared: int
) -> float:
    """Return how far the unlabeled rows' mean label may be from that of the judges."""
    mean, n_judges = _class_balance(labeled)
    count = np.array([float(n_judges)])
    if bound == "transductive":
        rows = np.array([float(n_unlabeled)])
        return min(2.0, float(transductive_radius(count, rows, delta, n_compared)[0]))
    low, high = wilson_bounds(np.array([mean]), count, delta / 2)
    return float(max(high[0] - mean, mean - low[0]))


def _certificate_game(
    labeled: Labeled, specialists: LeafSpecialists, b: np.ndarray, width: float
) -> Game:
    """Return the game of what is known of the specialists and of the class balance."""
    balance, _ = _class_balance(labeled)
    none, endless = np.zeros(b.size + 1), np.full(b.size + 1, np.inf)
    terms = WeightTerms(
        edge=np.append(specialists.coverage * b, balance),
        width=np.append(none[:-1], width),
        curvature=none,
        anchor=none,
        lower=np.append(none[:-1], -np.inf),
        upper=endless,
    )
    return Game(with_constant_voter(specialists), terms, absolute_loss(), 1.0, has_balance=True)
