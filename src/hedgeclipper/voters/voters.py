"""All voters of a fit: what they are, and how they score labeled, unlabeled and any other rows.

Unlabeled rows are scored once, batch by batch or on the workers of a cluster. The game is solved on
a random sample of them. Of rows that are not in memory nothing else is kept, so that memory does
not grow with their number.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import ThreadpoolController

from hedgeclipper.base.row_reader import ROWS_PER_SLICE, DaskRows, RowBatches, row_slices
from hedgeclipper.game.equations import ROWS_IN_GAME
from hedgeclipper.io.arrays import (
    MAX_SEED,
    MODULUS,
    Draw,
    digest_rows,
    draw_rows,
    merge_draws,
    stack_rows,
    tag_rows,
)
from hedgeclipper.sklearn_private import _safe_indexing
from hedgeclipper.voters.classifiers import (
    TREES,
    LabeledRows,
    classifier_scores,
    default_classifiers,
    fit_classifiers,
    one_thread,
)
from hedgeclipper.voters.tree_groups import FittedTrees, TreeScorer, fit_trees
from hedgeclipper.voters.trees import ROWS_PER_BLOCK, n_workers

# unlabeled rows that teach the views of classifiers, and that classifiers themselves learn from
ROWS_FOR_THEIR_VIEWS, ROWS_TO_LEARN_FROM = 10_000, 5_000


@dataclass(frozen=True, eq=False)
class VoterScorer:
    """Scores rows by all voters: groups of trees, then other classifiers.

    ``labels`` are those of the classes as each of the classifiers knows them.
    """

    trees: TreeScorer | None
    classifiers: dict[str, Any]
    labels: dict[str, np.ndarray]

    @property
    def names(self) -> list[str]:
        """Names of the voters, in the order of their scores."""
        groups = [] if self.trees is None else [group.name for group in self.trees.groups]
        return [*groups, *self.classifiers]

    def score(self, X: Any, n_jobs: int | None = None) -> np.ndarray:
        """Return scores of rows, shape (n_samples, n_voters, n_games), of about 0 to 1."""
        scores, n_threads = [], n_workers(n_jobs)
        # trees do without BLAS, and finding its libraries takes as long as a tenth of 8,000 rows
        pools = ThreadpoolController() if self.classifiers else None
        for start in range(0, max(X.shape[0], 1), ROWS_PER_SLICE):
            rows = _safe_indexing(X, slice(start, start + ROWS_PER_SLICE))
            calls, starts = [], range(0, max(rows.shape[0], 1), ROWS_PER_BLOCK)
            if self.trees is not None:
                calls = [delayed(self.trees.score)(rows[at : at + ROWS_PER_BLOCK]) for at in starts]
            n_blocks, score = len(calls), delayed(self._score_by_one)
            shared = pools if n_threads > 1 else None
            calls += [score(name, rows, shared) for name in self.classifiers]
            # of BLAS there is one limit for all threads
            with nullcontext() if pools is None else pools.limit(limits=1):
                found = Parallel(min(n_threads, len(calls)), require="sharedmem")(calls)
            parts = [np.concatenate(found[:n_blocks])] if n_blocks else []
            parts += [own[:, None].astype(np.float32) for own in found[n_blocks:]]
            scores.append(np.concatenate(parts, axis=1))
        return np.concatenate(scores)

    def _score_by_one(self, name: str, X: Any, pools: ThreadpoolController | None) -> np.ndarray:
        """Return scores by the classifier of this name; ``pools`` as in `one_thread`."""
        one = self.classifiers[name]
        try:
            with one_thread(one, pools):
                return classifier_scores(one, X, self.labels[name])
        except ValueError as error:
            raise ValueError(f"Voter {name!r} cannot score these rows: {error}.") from error


@dataclass(frozen=True, eq=False)
class FittedVoters:
    """Voters, and their scores of the labeled rows without the use of the row's own label.

    ``tree_sizes`` are each group's part of all trees, empty without trees, and ``seconds`` is the
    time that each voter's fits took, that of all trees for each group.
    """

    scorer: VoterScorer
    labeled: np.ndarray  # (n_labeled, n_voters, n_games): NaN where a row has no such score
    trees: FittedTrees | None
    tree_sizes: np.ndarray  # (n_groups,)
    seconds: np.ndarray  # (n_voters,)

    @property
    def is_scored(self) -> np.ndarray:
        """Which labeled rows all voters have scored, shape (n_labeled,)."""
        return ~np.isnan(self.labeled).any(axis=(1, 2))

    def reused(self, scores: UnlabeledScores) -> np.ndarray:
        """Return scores of labeled rows in place of unlabeled ones: out of sample, where known."""
        assert scores.of_all is not None
        is_scored = self.is_scored[:, None, None]
        return np.where(is_scored, self.labeled, scores.of_all[: len(self.labeled)])


def fit_voters(
    estimators: Sequence[tuple[str, Any]],
    rows: LabeledRows,
    games: Sequence[int],
    *,
    n_trees: int,
    random_state: np.random.RandomState,
    n_jobs: int | None,
) -> FittedVoters:
    """Return the voters, fitted to labeled rows.

    Parameters
    ----------
    estimators : sequence of (str, object)
        Names and classifiers; "default" in place of a classifier is the one of that name.
    rows : LabeledRows
        Labeled rows, and a sample of the unlabeled ones, which teach views.
    games : sequence of int
        Classes that have a game: the second of two, or all.
    n_trees : int
        Number of trees.
    random_state : RandomState
        Source of all seeds.
    n_jobs : int or None
        Threads and processes.
    """
    plan = dict(estimators)
    trees, seconds, parts = None, [], []
    if isinstance(plan.get(TREES), str):  # "default", and no classifier of that name
        del plan[TREES]
        started = time.perf_counter()
        trees = fit_trees(rows, games, n_trees=n_trees, random_state=random_state, n_jobs=n_jobs)
        parts.append(trees.out_of_bag)
        seconds += [time.perf_counter() - started] * len(trees.scorer.groups)
    seed = random_state.randint(MAX_SEED)
    fitted = []
    if plan:
        own, names = rows, [name for name, one in plan.items() if isinstance(one, str)]
        if names:
            sample, components = rows.X, None if trees is None else trees.scorer.components
            if rows.X_unlabeled is not None:
                more = draw_rows(rows.X_unlabeled, ROWS_FOR_THEIR_VIEWS, random_state)
                sample = stack_rows(rows.X, more)
            if components and components.has_unit_rows_ and "boosting" in names:
                # it needs half of the time for wide, sparse rows, and adds nothing to them
                # (docs/ablations.md)
                del plan["boosting"]
                names.remove("boosting")
            plan |= default_classifiers(names, sample, components, seed)
        if rows.X_unlabeled is not None:
            more = draw_rows(rows.X_unlabeled, ROWS_TO_LEARN_FROM, random_state)
            own = replace(rows, X_unlabeled=more)
        fitted = fit_classifiers(list(plan.items()), own, seed, n_jobs=n_jobs)
        parts += [one.out_of_fold[:, None] for one in fitted]
        seconds += [one.seconds for one in fitted]
    if not parts:
        raise ValueError("No voter could be fitted; the warnings before tell why.")
    scorer = VoterScorer(
        None if trees is None else trees.scorer,
        {one.name: one.estimator for one in fitted},
        {one.name: one.labels for one in fitted},
    )
    sizes = np.empty(0) if trees is None else trees.sizes
    return FittedVoters(scorer, np.concatenate(parts, axis=1), trees, sizes, np.array(seconds))


@dataclass(frozen=True, eq=False)
class UnlabeledScores:
    """Scores of a random sample of rows, and of all of them where these are in memory."""

    n_rows: int
    positions: np.ndarray  # (n_sampled,): of the sampled rows among all, in ascending order
    sample: np.ndarray  # (n_sampled, n_voters, n_games)
    digest: int = 0  # of all rows (`arrays.digest_rows`), if it was asked for
    of_all: np.ndarray | None = None  # (n_rows, n_voters, n_games)


def score_unlabeled(
    scorer: VoterScorer,
    X: Any,
    seed: int,
    *,
    n_jobs: int | None = None,
    with_digest: bool = True,
) -> UnlabeledScores:
    """Return the scores of unlabeled rows.

    The sample is the same whether rows are in memory, in files or in a Dask collection, whose
    partitions are read on the workers.
    """
    if isinstance(X, DaskRows):
        score = partial(_score_blocks, scorer, with_digest)
        n_rows, digest, (_, positions, sample) = X.score(score, ROWS_IN_GAME, seed)
        return UnlabeledScores(n_rows, positions, sample, digest)
    rows = X if isinstance(X, RowBatches) else row_slices(X)
    n_rows, digest, parts = 0, 0, []
    drawn: Draw | None = None
    for batch in rows:
        scores = scorer.score(batch, n_jobs)
        drawn = merge_draws(drawn, tag_rows(seed, n_rows, scores), ROWS_IN_GAME)
        n_rows += scores.shape[0]
        digest = (digest + digest_rows(batch)) % MODULUS if with_digest else 0
        if rows is not X:
            parts.append(scores)
    assert drawn is not None
    _, positions, sample = drawn
    of_all = np.concatenate(parts) if parts else None
    return UnlabeledScores(n_rows, positions, sample, digest, of_all)


def _score_blocks(
    scorer: VoterScorer, with_digest: bool, blocks: Iterable[Any]
) -> tuple[int, np.ndarray]:
    """Return digest and scores of the rows of a partition."""
    digest, scores = 0, []
    for block in blocks:
        digest = (digest + digest_rows(block)) % MODULUS if with_digest else 0
        scores.append(scorer.score(block))
    return digest, np.concatenate(scores)
