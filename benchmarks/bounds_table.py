"""How many rows need no review for a promised error, and how often promises are broken.

    python -m benchmarks.bounds_table          # runs what is missing, then writes docs/bounds.md

Labels are drawn at random, without regard to classes; up to 8,000 other rows are unlabeled. Each
model is fitted once for each draw, half of the labels held out to test it, and all procedures
(`finishing`) and limits use that fit. Since the fit has treated the held-out and the unlabeled rows
alike, they may be split again: other rows of both together test, and the truth is that of the rest.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from benchmarks import render_bounds
from benchmarks.draws import Draw, to_dense, whole
from benchmarks.finishing import (
    BARGAIN,
    ENVIRONMENT,
    LEVEL,
    MAX_ERRORS,
    PROCEDURES,
    QUESTIONS,
    by_bargain,
)
from benchmarks.results_file import FOLDER, read_options, read_results, run_missing, today, versions
from benchmarks.votes.data import SETS, vote_set
from benchmarks.votes.ours import fit_quietly
from hedgeclipper import HedgeClipperClassifier, VoteAggregator
from hedgeclipper.bounds.tested_predictions import TestedPredictions
from hedgeclipper.bounds.whole_file import error_limit

RESULTS = FOLDER / "bounds.csv"
# all visible tables of 4,000 rows or more in which the rarer class has more than 5%: with fewer,
# always guessing the other one keeps a limit of 5%
TABLES = (
    "a1a", "adult", "agnostic_ada", "covtype", "higgs_lgbm7k", "kagg-cred", "mushroom_sas",
    "ssl_secstr", "weather",
)  # fmt: skip
LABELS = (200, 1000, 100, 500, 3000)
# what is fitted, to which data, how many times
MODELS = {
    "trees": (partial(HedgeClipperClassifier, "trees"), TABLES, 5),
    "votes": (VoteAggregator, SETS, 5),
    "default": (HedgeClipperClassifier, TABLES, 3),
}
MAX_UNLABELED = 8_000
# BARGAIN takes longer than all others together
N_SPLITS, N_BARGAIN_SPLITS = 20, 2


class Key(NamedTuple):
    """What was run."""

    data: str
    n_labels: int
    model: str
    among: str
    procedure: str


@dataclass(frozen=True)
class Outcome:
    """Mean share of unlabeled rows that need no review, and how often more were wrong than allowed.

    For errors of 1, 5 and 10%, ``among`` all labels of the file or the automatic ones.
    """

    data: str
    n_labels: int
    model: str
    among: str
    procedure: str
    n_splits: int
    share_1: float
    broken_1: float
    share_5: float
    broken_5: float
    share_10: float
    broken_10: float
    date: str
    versions: str

    @property
    def key(self) -> Key:
        """Return what was run."""
        return Key(self.data, self.n_labels, self.model, self.among, self.procedure)


def draw(name: str, n_labels: int, seed: int) -> Draw | None:
    """Return a draw of which all unlabeled rows are scored.

    It is None if there are too few rows for as many unlabeled as labeled ones.
    """
    if name in SETS:
        data = vote_set(name)
        X, y = data.L[data.y >= 0], data.y[data.y >= 0]
    else:
        data = whole(name)
        X, y = data.data[: data.target.size], data.target
    if y.size < 2 * n_labels:
        return None
    rows = np.random.default_rng([seed, n_labels]).permutation(y.size)
    labeled, rest = rows[:n_labels], rows[n_labels : n_labels + MAX_UNLABELED]
    X, rest_of_X = to_dense(X[labeled]), to_dense(X[rest])
    return Draw(X, y[labeled], rest_of_X, y[rest], seed, is_sparse=False)


def fit_pool(model: Any, drawn: Draw) -> tuple[TestedPredictions, np.ndarray]:
    """Return what held-out labels tell, and which predictions of unlabeled rows are wrong."""
    fit_quietly(model, drawn.X, drawn.y, drawn.X_unlabeled)
    return model.tested_predictions_, model.transduction_ != drawn.y_scored


def split_again(
    rule: TestedPredictions, wrong: np.ndarray, seed: int
) -> tuple[TestedPredictions, np.ndarray]:
    """Return the rule tested by other rows of the pool, and what is wrong on the rest."""
    rows = np.random.default_rng(seed).permutation(rule.wrong.size + wrong.size)
    pool = np.append(rule.wrong, wrong)[rows]
    values = np.append(rule.uncertainties, rule.unlabeled_uncertainties)[rows]
    n = rule.wrong.size
    other = replace(
        rule, wrong=pool[:n], uncertainties=values[:n], unlabeled_uncertainties=values[n:],
        digest=seed,
    )  # fmt: skip
    return other, pool[n:]


def is_broken(among: str, wrong: np.ndarray, n_rows: int, most: float) -> bool:
    """Return whether of the automatic labels more are wrong than the promise allows."""
    limit = error_limit(most, n_rows if among == "file" else wrong.size)
    return bool(wrong.sum() > limit)


def measure(name: str, n_labels: int, kind: str, n_draws: int | None = None) -> list[Outcome]:
    """Return what the procedures make of the model, for all draws; none with too few rows."""
    pools, found = [], defaultdict(list)  # by question, procedure and limit
    make, _, most_draws = MODELS[kind]
    for seed in range(n_draws or most_draws):
        drawn = draw(name, n_labels, seed)
        if drawn is None or np.unique(drawn.y).size < 2:
            return []
        fitted = fit_pool(make(confidence_level=LEVEL, random_state=seed), drawn)
        pools += [split_again(*fitted, seed=split) for split in range(N_SPLITS)]
    for (rule, wrong), (key, accept), most in product(pools, PROCEDURES.items(), MAX_ERRORS):
        kept = accept(rule, most)
        broken = is_broken(key[0], wrong[kept], rule.n_rows, most)
        found[*key, most].append((kept.mean(), broken))
    if not ENVIRONMENT.why_absent():
        some = [pools[n] for n in range(len(pools)) if n % N_SPLITS < N_BARGAIN_SPLITS]
        parts = [(rule.wrong, wrong) for rule, wrong in some]
        scores = [(rule.uncertainties, rule.unlabeled_uncertainties) for rule, _ in some]
        wrong, scores = (np.array([np.append(*one) for one in two]) for two in (parts, scores))
        masks = by_bargain(wrong, scores, rule.wrong.size, rule.n_rows)
        for at in np.ndindex(masks.shape[:-1]):
            kept, most, among = wrong[at[0]][masks[at]], MAX_ERRORS[at[3]], QUESTIONS[at[2]]
            broken = is_broken(among, kept, rule.n_rows, most)
            share = min(kept.size / rule.n_unlabeled, 1.0)
            found[among, BARGAIN[at[1]], most].append((share, broken))
    return [
        Outcome(
            name, n_labels, kind, *key, len(found[*key, MAX_ERRORS[0]]),
            *(round(float(x), 4) for most in MAX_ERRORS for x in np.mean(found[*key, most], 0)),
            date=today(), versions=versions(),
        )
        for key in sorted({key[:2] for key in found})
    ]  # fmt: skip


def pages() -> dict[str, dict[str, str]]:
    """Return the sections by page."""
    return render_bounds.pages(read_results(RESULTS, Outcome))


def main() -> None:
    """Run what is missing, and write the page."""
    options = read_options(__doc__)
    if ENVIRONMENT.why_absent():
        print(f"without BARGAIN: {ENVIRONMENT.why_absent()}")
    keys = [
        Key(name, n_labels, model, "file", "ours")
        for model, n_labels in product(MODELS, LABELS)
        for name in MODELS[model][1]
    ]
    results = run_missing(
        keys, lambda own: measure(*own[0][:3], options.draws), options.results or RESULTS, Outcome,
        n_jobs=options.jobs, again=options.again,
    )  # fmt: skip
    if options.results is None:
        render_bounds.write(results)


if __name__ == "__main__":
    main()
