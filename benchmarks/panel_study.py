"""The panel without each of its members, and with other votes, games and weights.

    python -m benchmarks.panel_study

Members are not fitted again: their predictions are read from ``results/panel``, where
``make table`` writes them if that folder exists. Three draws of each row of the table and of other
data, weights from at most 10,000 unlabeled rows, AUC by scores on the rows that are scored there.
Remove the results file where members have changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.draws import MAX_UNLABELED, make_draw
from benchmarks.methods.hedged_voting import KEPT, kept_file
from benchmarks.methods.stacking import stack
from benchmarks.other_data import CASES, COMPARISONS
from benchmarks.results_file import FOLDER, Key, read_results
from benchmarks.run_table import run_all, table_rows
from hedgeclipper.base import predictions, weighing
from hedgeclipper.base.predictions import VoteScale, make_votes
from hedgeclipper.base.weighing import PanelScores, aggregate

RESULTS = FOLDER / "panel_study.csv"
N_DRAWS, N_ROWS = 3, 10_000
WITHOUT = "without "  # and the name of a member


@dataclass(frozen=True)
class StudyResult:
    """AUC of one way to combine the members of a draw."""

    data: str
    n_labels: int
    draw: int
    method: str
    auc: float

    @property
    def key(self) -> Key:
        """Return what was run."""
        return Key(self.data, self.n_labels, self.draw, self.method)


def game(module: Any = weighing, options: dict | None = None, **values: Any) -> Callable:
    """Return the panel's game with other constants or options."""

    def scores(given: PanelScores, all_scores: np.ndarray) -> np.ndarray:
        with ExitStack() as changes:
            for name, value in values.items():
                changes.enter_context(patch.object(module, name, value))
            return aggregate(given, **(options or {})).game.log_odds(all_scores)

    return scores


def mean(given: PanelScores, all_scores: np.ndarray) -> np.ndarray:
    """Return the mean of the members' probabilities."""
    return all_scores.mean(axis=1)


def mean_vote(given: PanelScores, all_scores: np.ndarray) -> np.ndarray:
    """Return the mean of the members' votes, with equal weights."""
    return make_votes([VoteScale.of(own) for own in given.unlabeled.T], all_scores).mean(axis=1)


def stacking(given: PanelScores, all_scores: np.ndarray) -> np.ndarray:
    """Return the prediction of a logistic regression on the members' log-odds."""
    return stack(given.labeled, given.is_positive.astype(int), all_scores)


def vote_by_b(given: PanelScores, all_scores: np.ndarray) -> np.ndarray:
    """Return the sum of the votes, each weighted by its b, without a game."""
    found = aggregate(given)
    b = found.solution.label_correlations
    return make_votes(found.game.scales, all_scores) @ np.maximum(b, 0.0)


def equal_anchor(given: PanelScores, all_scores: np.ndarray) -> np.ndarray:
    """Return the panel's scores if its weights are pulled to equal ones."""
    n_members = all_scores.shape[1]
    return aggregate(given, prior=np.full(n_members, 1.0 / n_members)).game.log_odds(all_scores)


def anchor_alone(given: PanelScores, all_scores: np.ndarray) -> np.ndarray:
    """Return the vote with the weights of the anchor, without a game."""
    found = aggregate(given)
    return make_votes(found.game.scales, all_scores) @ found.prior


def shuffled(given: PanelScores, all_scores: np.ndarray) -> np.ndarray:
    """Return the panel's scores if unlabeled rows do not tell how members agree.

    Each member's scores of the unlabeled rows are shuffled, so that its scale stays what it is.
    """
    rng = np.random.default_rng(0)
    scores = rng.permuted(given.unlabeled, axis=0)
    return aggregate(replace(given, unlabeled=scores)).game.log_odds(all_scores)


def best_by_labels(given: PanelScores, all_scores: np.ndarray) -> np.ndarray:
    """Return the scores of the member that ranks the labeled rows best, out of fold."""
    own = [roc_auc_score(given.is_positive, member) for member in given.labeled.T]
    return all_scores[:, int(np.argmax(own))]


class RankScale(VoteScale):
    """Votes that are ranks alone."""

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Return the ranks."""
        return np.interp(scores, self.values, self.ranks)


class LogOddsScale(VoteScale):
    """Votes that are standardized log-odds alone."""

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Return the log-odds, cut off."""
        return 2.0 * super().__call__(scores) - np.interp(scores, self.values, self.ranks)


def with_scale(scale: type[VoteScale]) -> Callable:
    """Return the panel's game on other votes."""
    return game(VoteScale=scale)


WAYS = {
    "the panel as it is": game(),
    "mean of probabilities": mean,
    "mean of votes, equal weights": mean_vote,
    "stacking by logistic regression": stacking,
    "the best member by out-of-fold labels": best_by_labels,
    "votes weighed by b, no game": vote_by_b,
    "votes weighed as in the anchor, no game": anchor_alone,
    "anchor: equal weights": equal_anchor,
    "agreement from labeled rows alone": game(LABELS_PER_VOTER=0.0),
    "agreement from unlabeled rows alone": game(CORRECTIONS=0),
    "unlabeled scores shuffled": shuffled,
    "votes: ranks alone": with_scale(RankScale),
    "votes: log-odds alone": with_scale(LogOddsScale),
    "votes: log-odds cut off at one deviation": game(predictions, DEVIATIONS=1.0),
    "loss: zero-one": game(options={"loss": "zero_one"}),
    "loss: log": game(options={"loss": "log"}),
    "ridge a quarter": game(options={"ridge": weighing.RIDGE / 4}),
    "ridge half": game(options={"ridge": weighing.RIDGE / 2}),
    "ridge twice": game(options={"ridge": weighing.RIDGE * 2}),
    "ridge four times": game(options={"ridge": weighing.RIDGE * 4}),
    "signs always free": game(LABELS_FOR_FREE_SIGNS=0.0),
    "signs never free": game(LABELS_FOR_FREE_SIGNS=np.inf),
    "no prior for the spread of votes": game(PRIOR_ROWS=0.0),
}


def without(number: int) -> Callable:
    """Return the panel's game without one of the members."""

    def scores(given: PanelScores, all_scores: np.ndarray) -> np.ndarray:
        labeled, unlabeled, rows = (
            np.delete(own, number, axis=1) for own in (given.labeled, given.unlabeled, all_scores)
        )
        return aggregate(replace(given, labeled=labeled, unlabeled=unlabeled)).game.log_odds(rows)

    return scores


def study(task: tuple[str, int, int, int]) -> list[StudyResult]:
    """Return the AUCs of all ways on a draw, with at most so many unlabeled rows."""
    *key, max_unlabeled = task
    draw = make_draw(*key, max_unlabeled=max_unlabeled)
    with np.load(kept_file(draw)) as kept:
        out_of_fold, scores = kept["out_of_fold"], kept["scores"].astype(float)
        names = kept["names"].tolist()
    rows = np.random.default_rng(draw.seed).permutation(len(scores))[:N_ROWS]
    is_scored = ~np.isnan(out_of_fold).any(axis=1)
    labeled, is_positive = out_of_fold[is_scored], draw.y[is_scored] == 1
    given = PanelScores(labeled, is_positive, np.ones(is_positive.size), scores[rows])
    ways = WAYS | {f"{WITHOUT}{name}": without(number) for number, name in enumerate(names)}
    aucs = {n: roc_auc_score(draw.y_scored, way(given, scores[: draw.n_scored])) for n, way in
            ways.items()}  # fmt: skip
    return [StudyResult(*key, name, round(float(auc), 6)) for name, auc in aucs.items()]


def main() -> None:
    print(__doc__)
    done = {result.key for result in read_results(RESULTS, StudyResult)}
    if not KEPT.is_dir():
        print(f"skipped: make the folder {KEPT}, and what members predict is kept there")
        return
    paper = [(*row, MAX_UNLABELED) for row in table_rows()]
    other = [(*row, COMPARISONS["panel"].n_unlabeled) for row in CASES]
    tasks = [
        (data, n_labels, draw, max_unlabeled)
        for data, n_labels, max_unlabeled in paper + other
        for draw in range(N_DRAWS)
        if not {Key(data, n_labels, draw, way) for way in WAYS} <= done
    ]
    run_all(study, tasks, RESULTS, os.cpu_count() or 1, StudyResult)


if __name__ == "__main__":
    main()
