"""Speed as ratios, each within one run, so that the machine's moods hit both sides alike.

    python -m benchmarks.speed                  # all parts, part of make bench
    python -m benchmarks.speed tables [rows]    # one of: game, tables, threads, finish

**game**: generated votes, a hidden label, voters right with probability 0.55 to 0.8, and b from
2,000 labeled rows; linear models fit the label on the same matrix. alpha = 1, relative gap 1e-3.

**tables**: generated rows of 18 columns (ten informative, labels flipped with probability 0.1), two
jobs. With 1,000 labels and 8,000 unlabeled rows, and with 10,000 and a million of them: the whole
``fit`` with the default voters and with trees alone, beside the ``fit`` and ``predict_proba`` of a
random forest of as many trees on the same rows, and ``predict_proba`` beside the forest's.

**threads**: a fit with 100 labels and 8,000 unlabeled rows, with two jobs beside one.

**finish**: automatic labels, the plan of labels and an audit, beside ``predict_proba`` of trees, on
a million rows of 20 columns with 1,000 labels.

Runs are interleaved; seconds are medians.
"""

from __future__ import annotations

import sys
import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier

from benchmarks.generated import GeneratedVotes, soft_votes, sparse_votes
from benchmarks.methods.supervised import N_TREES
from benchmarks.timing import interleaved, print_rows
from hedgeclipper import HedgeClipperClassifier, audit, draw_sample
from hedgeclipper.bounds.finishing import make_plan
from hedgeclipper.game.solve import play, set_up_game

TOL, N_JOBS, N_ROUNDS = 1e-3, 2, 3
SIZES = ((1_000, 8_000), (10_000, None))
Lines = list[tuple[str, ...]]


def lines(what: str, peer: str, seconds: dict[str, float]) -> Lines:
    """Return a line for each run, with its ratio to the peer's time."""
    theirs = seconds[peer]
    return [
        (f"{what}: {name}", f"{own:.3f}", f"{peer} {theirs:.3f}", f"{own / theirs:.3f}")
        for name, own in seconds.items()
        if name != peer
    ]


def solve(data: GeneratedVotes, method: str = "batch") -> Any:
    game = set_up_game(data.votes, data.label_correlations)
    return play(game, TOL, method=method)


def game(n_rows: int) -> Lines:
    """Return the time of the game beside linear models and the linear program."""
    dense, wide, small = (
        soft_votes(n_rows, 50),
        sparse_votes(n_rows, 1_000, 20),
        soft_votes(max(n_rows // 200, 200), 500),
    )
    peers = {
        "LogisticRegression": lambda: LogisticRegression().fit(dense.votes, dense.labels),
        "SGDClassifier, 5 epochs": lambda: SGDClassifier(max_iter=5, tol=None).fit(
            wide.votes, wide.labels
        ),
        "linear program": partial(solve, small, "exact"),
    }
    found = []
    for (peer, run), data in zip(peers.items(), (dense, wide, small), strict=True):
        n, p = data.votes.shape
        seconds = interleaved({"game": partial(solve, data), peer: run}, N_ROUNDS)
        found += lines(f"{n:,} x {p:,} votes", peer, seconds)
    return found


def generate(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(
        n_rows, 18, n_informative=10, flip_y=0.1, class_sep=0.7, random_state=0
    )
    return X.astype(np.float32), y


def fit(rows: tuple[Any, Any, Any], estimators: str, n_jobs: int = N_JOBS) -> Any:
    X, y, unlabeled = rows
    model = HedgeClipperClassifier(estimators, n_jobs=n_jobs, random_state=0)
    return model.fit(X, y, X_unlabeled=unlabeled)


def tables(n_rows: int) -> Lines:
    """Return what fits and predictions cost, beside those of the forest."""
    all_rows, labels = generate(SIZES[-1][0] + n_rows)
    found = []
    for n_labels, n_unlabeled in SIZES:
        X, y, rest = all_rows[:n_labels], labels[:n_labels], all_rows[n_labels:][:n_unlabeled]
        forest = RandomForestClassifier(N_TREES, n_jobs=N_JOBS, random_state=0)
        models = {name: fit((X, y, rest), name) for name in ("default", "trees")}
        fits = {name: partial(fit, (X, y, rest), name) for name in models}
        fits["forest"] = lambda: forest.fit(X, y).predict_proba(rest)  # noqa: B023
        what = f"{n_labels:,} labels, {len(rest):,} rows"
        found += lines(f"fit, {what}", "forest", interleaved(fits, N_ROUNDS))
        scores = {name: partial(model.predict_proba, rest) for name, model in models.items()}
        scores["forest"] = partial(forest.predict_proba, rest)
        found += lines(f"predict_proba, {what}", "forest", interleaved(scores, N_ROUNDS))
    return found


def threads(n_rows: int) -> Lines:
    """Return the time of a fit with two jobs, beside one."""
    X, y = generate(100 + min(n_rows, 8_000))
    rows = X[:100], y[:100], X[100:]
    runs = {f"{n} jobs": partial(fit, rows, "default", n) for n in (1, 2)}
    return lines("fit, 100 labels", "1 jobs", interleaved(runs, N_ROUNDS))


def finish(n_rows: int) -> Lines:
    """Return the times of automatic labels, beside probabilities of all rows."""
    X, y = make_classification(n_rows, 20, flip_y=0.1, random_state=0)
    sample = draw_sample(X, 1_000)
    labels = np.full(n_rows, np.nan)
    labels[sample.rows] = y[sample.rows]
    model = HedgeClipperClassifier("trees", confidence_level=0.95, random_state=0)
    model.fit(X, labels, sample=sample)
    scores, errors = model.predict_proba(X), np.linspace(0.01, 0.2, 20)
    known = {"confidences": scores.max(axis=1), "max_error": 0.05}
    runs = {
        "predict_proba": partial(model.predict_proba, X),
        "auto_label": partial(model.auto_label, 0.05),
        "plan": partial(make_plan, model.tested_predictions_, 0.95, errors),
        "audit": partial(audit, scores.argmax(axis=1), sample, y[sample.rows], **known),
    }
    return lines(f"{n_rows:,} rows", "predict_proba", interleaved(runs, 1))


PARTS = {"game": game, "tables": tables, "threads": threads, "finish": finish}


def main(name: str = "", n_rows: str = "1_000_000") -> None:
    print(__doc__)
    warnings.simplefilter("ignore")
    rows: Lines = [("what", "seconds", "peer's seconds", "ratio")]
    for part in [name] if name else PARTS:
        rows += PARTS[part](int(n_rows))
    print_rows(rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
