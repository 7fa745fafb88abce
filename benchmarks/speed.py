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

Runs are interleaved; seconds are medians. Writes a results file and its section of
docs/benchmarks.md.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier

from benchmarks.generated import GeneratedVotes, soft_votes, sparse_votes
from benchmarks.methods.supervised import N_TREES
from benchmarks.pages import NOT_RUN, markdown_table, write_pages
from benchmarks.results_file import FOLDER, read_results, today, versions, write_results
from benchmarks.timing import interleaved
from hedgeclipper import HedgeClipperClassifier, audit, draw_sample
from hedgeclipper.bounds.finishing import make_plan
from hedgeclipper.game.solve import play, set_up_game

TOL, N_JOBS, N_ROUNDS = 0.001, 2, 3
SIZES = ((1_000, 8_000), (10_000, None))
RESULTS = FOLDER / "speed.csv"


@dataclass(frozen=True)
class Timing:
    """Median seconds of a run, and of its peer in the same rounds."""

    part: str
    what: str
    method: str
    peer: str
    seconds: float
    peer_seconds: float
    date: str
    versions: str

    @property
    def key(self) -> tuple[str, str, str]:
        """Return what was run."""
        return self.part, self.what, self.method


Lines = list[Timing]


def lines(part: str, what: str, peer: str, seconds: dict[str, float]) -> Lines:
    """Return the time of each run beside the peer's."""
    return [
        Timing(part, what, name, peer, own, seconds[peer], today(), versions())
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
        found += lines("game", f"{n:,} x {p:,} votes", peer, seconds)
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
        found += lines("tables", f"fit, {what}", "forest", interleaved(fits, N_ROUNDS))
        scores = {name: partial(model.predict_proba, rest) for name, model in models.items()}
        scores["forest"] = partial(forest.predict_proba, rest)
        seconds = interleaved(scores, N_ROUNDS)
        found += lines("tables", f"predict_proba, {what}", "forest", seconds)
    return found


def threads(n_rows: int) -> Lines:
    """Return the time of a fit with two jobs, beside one."""
    X, y = generate(100 + min(n_rows, 8_000))
    rows = X[:100], y[:100], X[100:]
    runs = {f"{n} threads": partial(fit, rows, "default", n) for n in (1, 2)}
    seconds = interleaved(runs, N_ROUNDS)
    return lines("threads", f"fit, 100 labels, {len(X) - 100:,} rows", "1 threads", seconds)


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
    return lines("finish", f"{n_rows:,} rows", "predict_proba", interleaved(runs, 1))


PARTS = {"game": game, "tables": tables, "threads": threads, "finish": finish}


def measure(name: str = "", n_rows: str = "1_000_000") -> None:
    """Run all parts, or one of them, and replace its results."""
    warnings.simplefilter("ignore")
    for part in [name] if name else PARTS:
        new = PARTS[part](int(n_rows))
        others = [old for old in read_results(RESULTS, Timing) if old.part != part]
        write_results(RESULTS, others + new, Timing)


def pages() -> dict[str, dict[str, str]]:
    """Return the section of the page, with a ratio for each run."""
    rows = [["what", "run", "seconds", "beside", "its seconds", "ratio"]]
    for one in read_results(RESULTS, Timing):
        ratio = f"{one.seconds / one.peer_seconds:.2g}"
        times = f"{one.seconds:.3g}", one.peer, f"{one.peer_seconds:.3g}"
        rows.append([one.what, one.method, *times, ratio])
    return {"docs/benchmarks.md": {"speed": markdown_table(rows) if rows[1:] else NOT_RUN}}


if __name__ == "__main__":
    print(__doc__)
    measure(*sys.argv[1:])
    write_pages(pages())
