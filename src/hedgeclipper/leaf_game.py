"""The game of one class against the rest, on leaf numbers: from labels and rows to leaf scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from hedgeclipper.correlations import LabelCorrelations, transductive_radius, wilson_bounds
from hedgeclipper.game.api import play
from hedgeclipper.game.certificates import Certificate, certify
from hedgeclipper.game.equations import Game
from hedgeclipper.game.losses import Loss, absolute_loss, resolve_loss
from hedgeclipper.game.solution import GameSolution
from hedgeclipper.game.terms import WeightTerms
from hedgeclipper.game.track import Progress
from hedgeclipper.leaf_correlations import (
    ForestVote,
    Labeled,
    LeafValues,
    balanced_vote,
    natural_correlations,
    residual_correlations,
)
from hedgeclipper.specialists.extended import with_constant_voter
from hedgeclipper.specialists.leaves import (
    LeafBlock,
    LeafSpecialists,
    LeafTable,
    count_in_leaves,
    leaf_table,
    sum_scores,
)
from hedgeclipper.specialists.trees import LeafFinder

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

    min_specialist_size: int | None
    bound: str
    delta: float | None
    unlabeled_weight: float | str
    cap: float | str | None
    ridge: float | str
    loss: str | Loss
    tol: float
    max_passes: int
    method: str
    batch_size: int
    is_guarantee: bool
    n_jobs: int | None
    seed: int
    report: Callable[..., None] | None = None

    @property
    def is_shrunk(self) -> bool:
        """Whether b is the forest's vote corrected by its residual, with balanced labels."""
        return self.bound == "shrunk" and self.delta is None


@dataclass(frozen=True, eq=False)
class LeafSolution:
    """What came out for one class.

    Parameters
    ----------
    awake : ndarray of shape (n_unlabeled,)
        Awake prediction of the unlabelled rows.
    leaf_scores : ndarray of shape (all leaves,)
        Score of each leaf; their sum over a row's leaves, and ``offset``, is the awake prediction.
    offset : float
        What makes the sign of the awake prediction the more probable class: 2 pi - 1 for balanced
        labels and square loss.
    prior : float
        pi, the share of positive labels, where labels were balanced; else 1/2.
    game : GameSolution
        Weights and gap.
    label_correlations, coverage : ndarray of shape (n_specialists,)
        b, and share of the unlabelled rows, of each specialist.
    certificate : Certificate
        Bound on the error of the predictions on the unlabelled rows.
    """

    awake: np.ndarray
    leaf_scores: np.ndarray
    offset: float
    prior: float
    game: GameSolution
    label_correlations: np.ndarray
    coverage: np.ndarray
    certificate: Certificate


def play_leaf_game(
    labeled: Labeled,
    leaves: np.ndarray,
    finder: LeafFinder,
    table: LeafTable,
    values: LeafValues,
    options: LeafGameOptions,
) -> LeafSolution:
    """Estimate b, minimise the slack and bound the error.

    Parameters
    ----------
    labeled : Labeled
        Labelled rows.
    leaves : ndarray of shape (n_trees, n_unlabeled)
        Leaf numbers of the unlabelled rows.
    finder, table : LeafFinder, LeafTable
        The trees and their specialists.
    values : LeafValues
        What the model says in each leaf.
    options : LeafGameOptions
        The rest.
    """
    counts = count_in_leaves(leaves, finder.offsets, labeled.n_leaves, options.n_jobs)
    vote = balanced_vote(labeled, values, OUT_OF_BAG_WEIGHT) if options.is_shrunk else None
    votes = values.plain() if vote is None else vote.in_bag
    says = table.votes(votes, counts)
    n_awake = table.sum_leaves(counts)
    b = _correlations(labeled, leaves, vote, table, says, n_awake, options)
    keep = np.flatnonzero(_is_useful(labeled, table, says, b, n_awake, options))
    if keep.size == 0:
        raise ValueError(
            "No specialist is left: each one has no vote, is asleep on all unlabelled rows, is "
            "smaller than min_specialist_size, or (unless bound='shrunk') has no positive "
            "correlation with labels its tree has not seen. Label more rows, or grow larger trees."
        )
    table, says, b, n_awake = table.select(keep), says[:, keep], b[keep], n_awake[keep]
    coverage = n_awake / leaves.shape[1]
    specialists = LeafSpecialists(leaves, finder.offsets, says, coverage, options.n_jobs)
    # a leaf has the weight of the forest's vote, or none where unseen rows turn its vote around
    sizes = np.abs(votes) if vote is None else np.maximum(vote.scores * np.sign(votes), 0.0)
    anchor = _forest_weights(finder, table, sizes, counts)
    terms = _terms(labeled, finder, anchor, b, coverage, options)
    solution, awake = _solve(specialists, terms, options)
    prior = labeled.share if options.is_shrunk else 0.5
    offset = -solution.loss.awake_at(1.0 - 2.0 * prior)
    return LeafSolution(
        awake=awake + offset,
        leaf_scores=says @ solution.weights,
        offset=offset,
        prior=prior,
        game=solution,
        label_correlations=b,
        coverage=coverage,
        certificate=_certificate(
            labeled,
            specialists,
            solution,
            leaf_table(finder, ["trees"]),
            values.plain(),
            offset,
            options,
        ),
    )


def _correlations(
    labeled: Labeled,
    leaves: np.ndarray,
    vote: ForestVote | None,
    table: LeafTable,
    says: sparse.csr_array,
    n_awake: np.ndarray,
    options: LeafGameOptions,
) -> np.ndarray:
    if vote is None:
        bound = "transductive" if options.delta is not None else options.bound
        delta = CERTIFICATE_DELTA if options.delta is None else options.delta
        n_compared = n_awake.size + 1
        return natural_correlations(labeled, table, says, bound, delta, n_awake, n_compared)
    specialists = LeafSpecialists(leaves, labeled.offsets, says, n_awake, options.n_jobs)
    weight = vote.scores / labeled.offsets.size

    def signed_vote(block: LeafBlock) -> np.ndarray:
        votes = np.clip(sum_scores(block.leaves, block.offsets, weight), -1.0, 1.0)
        return votes @ block

    sums = sum(specialists.map_blocks(signed_vote))
    mean_vote = np.divide(sums, n_awake, out=np.zeros_like(sums), where=n_awake > 0)
    return residual_correlations(labeled, vote, table, says, mean_vote)


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
    if options.min_specialist_size is not None:
        sizes = table.sum_leaves(labeled.sum_in_leaves(np.ones(labeled.signs.size), labeled.bags))
        useful &= sizes >= options.min_specialist_size
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
    if options.cap == "auto" and options.is_shrunk:
        # whoever has no weight in the forest's vote may get a usual one
        some = anchor[anchor > 0].mean() if np.any(anchor > 0) else 1.0
        usual = np.where(anchor > 0, anchor, some / LARGEST_SHARE)
        lower, upper = LEAST_SHARE * anchor, LARGEST_SHARE * usual
    elif options.cap is not None:
        upper = np.full_like(anchor, 1.0 if options.cap == "auto" else options.cap)
    strength = SHRUNK_RIDGE if options.is_shrunk else PLAIN_RIDGE
    automatic = strength * finder.n_trees / (2.0 * max(labeled.n_rare, 1))
    ridge = automatic if options.ridge == "auto" else float(options.ridge)
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


def _solve(
    specialists: LeafSpecialists, terms: WeightTerms, options: LeafGameOptions
) -> tuple[GameSolution, np.ndarray]:
    """Solve the game and return m too; an "auto" alpha is 1, or 3 if that clips most rows.

    A smaller alpha lets every voter with b > alpha have its cap: the vote is then a plain count and
    the unlabelled rows have no say.
    """
    automatic = options.unlabeled_weight == "auto"
    alpha = 1.0 if automatic else float(options.unlabeled_weight)
    game = Game(specialists, terms, resolve_loss(options.loss), alpha)
    solution, awake = _play(game, options)
    if automatic and np.mean(np.abs(awake) >= 1.0) > CLIPPED_TOO_MUCH:
        return _play(replace(game, unlabeled_weight=LARGE_ALPHA), options)
    return solution, awake


def _play(game: Game, options: LeafGameOptions) -> tuple[GameSolution, np.ndarray]:
    progress = Progress(options.tol, options.max_passes, report=options.report)
    solution = play(game, progress, options.method, options.seed, options.batch_size)
    awake = np.concatenate(list(game.specialists.map_blocks(lambda rows: rows @ solution.weights)))
    return solution, awake


def _certificate(
    labeled: Labeled,
    specialists: LeafSpecialists,
    solution: GameSolution,
    trees: LeafTable,
    scores: np.ndarray,
    offset: float,
    options: LeafGameOptions,
) -> Certificate:
    """Return a bound on the error of sign(m + offset), from what the labels say of the whole trees.

    A tree has far more judges than a leaf, so that its correlation, in natural proportions, is
    known far better; the class balance is known too. With a delta and held-out labels it is a
    guarantee, else an estimate from Wilson's bounds.
    """
    n_rows, n_trees = specialists.n_samples, labeled.offsets.size
    bound = "wilson" if options.delta is None else "transductive"
    delta = CERTIFICATE_DELTA if options.delta is None else options.delta
    says = trees.votes(scores, np.ones_like(scores))
    n_awake, n_compared = np.full(n_trees, float(n_rows)), n_trees + 1
    b = natural_correlations(labeled, trees, says, bound, delta, n_awake, n_compared)
    everywhere = np.ones(n_trees)
    voters = replace(specialists, says=says, coverage=everywhere)
    width = _balance_width(labeled, n_rows, bound, delta, n_compared)
    knowledge = LabelCorrelations(
        estimate=b,
        lower=b,
        upper=everywhere,
        n_labeled=labeled.unseen.sum(axis=1).astype(float),
        method=bound,
        delta=delta,
        is_guarantee=options.is_guarantee,
        n_unlabeled=n_awake,
    )
    leaf_scores = specialists.says @ solution.weights

    def predict(block: Any) -> np.ndarray:
        leaves = block.block
        awake = sum_scores(leaves.leaves, leaves.offsets, leaf_scores) + offset
        return np.where(awake > 0, 1.0, -1.0)

    return certify(
        _certificate_game(labeled, voters, b, width),
        predict,
        np.append(np.maximum(b, 0.0) / n_trees, 0.0),
        rule="hard",
        knowledge=knowledge,
        max_passes=CERTIFICATE_PASSES,
        both_ends=False,
    )


def _class_balance(labeled: Labeled) -> tuple[float, int]:
    """Return the mean label of the rows that judge some tree, and their number."""
    judges = labeled.unseen.any(axis=0)
    return float(np.average(labeled.signs[judges], weights=labeled.weights[judges])), judges.sum()


def _balance_width(
    labeled: Labeled, n_unlabeled: int, bound: str, delta: float, n_compared: int
) -> float:
    """Return how far the unlabelled rows' mean label may be from that of the judges."""
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
