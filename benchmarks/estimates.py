"""Estimates of the error beside the truth in many draws, and guarantees that rows refute.

    python -m benchmarks.estimates bias       # runs what is missing
    python -m benchmarks.estimates shift
    python -m benchmarks.estimates page       # writes the sections in docs/benchmarks.md

**Bias.** Labels are drawn at random, and up to 2,000 other rows are unlabeled. Without a
``confidence_level`` the certificate is an estimate: its bias, and how often its interval of 95%
covers the truth. Trees alone, half as many as by default, are run for many draws, the default
voters for fewer. (With 60 trees a row has so few that have not seen it that estimates are 0.8
points too high.)

**Shift.** 600 labels that are no random sample: the first rows of a file, those of its easiest
rows, as many of each class. How often the certificate is called a guarantee, beside labels drawn at
random.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from benchmarks.bounds_table import draw
from benchmarks.draws import to_dense, whole
from benchmarks.pages import NOT_RUN, markdown_table, write_pages
from benchmarks.results_file import FOLDER, Key, Line, read_options, read_results, run_missing
from benchmarks.votes.ours import fit_quietly
from hedgeclipper import HedgeClipperClassifier, VoteAggregator

RESULTS, SHIFTS = FOLDER / "estimates.csv", FOLDER / "shifts.csv"
ROWS = ("a1a", "adult", "agnostic_ada", "covtype", "higgs_lgbm7k", "kagg-cred", "weather")
VOTES = ("bf_basketball", "bf_domain", "bf_yelp", "bf_youtube", "crowd_rte", "crowd_sp")
# with other numbers of labels, too
FEW = ("a1a", "covtype", "weather", "bf_domain", "bf_yelp", "crowd_sp")
MODELS = {
    "trees": partial(HedgeClipperClassifier, "trees", n_estimators=300),
    "default": HedgeClipperClassifier,
    "votes": VoteAggregator,
}
N_DRAWS = {"trees": 300, "default": 50, "votes": 300}
MAX_UNLABELED, LEVEL = 2_000, 0.95
N_CHOSEN, N_SHIFT_ROWS, N_RANDOM = 600, 8_000, 2_000
KINDS = ("first rows", "easiest rows", "balanced by class", "at random")


@dataclass(frozen=True)
class Estimate(Line):
    """An estimate, its interval, and the truth."""

    error: float
    estimate: float
    lower: float
    upper: float


@dataclass(frozen=True)
class Shift(Line):
    """A certificate from 600 labels that were picked in some way: ``method`` tells how."""

    error: float
    upper: float
    is_guarantee: int


def estimate(key: Key) -> list[Estimate]:
    """Return what a fit without held-out labels says of its error, if it does, and the truth."""
    drawn = draw(key.data, key.n_labels, key.draw)
    if drawn is None or np.unique(drawn.y).size < 2:
        return []
    rest, truth = drawn.X_unlabeled[:MAX_UNLABELED], drawn.y_scored[:MAX_UNLABELED]
    model = fit_quietly(MODELS[key.method](random_state=key.draw), drawn.X, drawn.y, rest)
    found = model.certificate_
    if found.error is None:
        return []
    error = float(np.mean(model.transduction_ != truth))
    return [Estimate(*key, error, found.error, found.error_lower, found.error_upper)]


def picked(name: str, kind: str, seed: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return rows of a file, their classes, and the numbers of those that are labeled."""
    data, rng = whole(name), np.random.default_rng([seed, KINDS.index(kind)])
    rows = rng.permutation(data.target.size)
    if kind == "first rows":
        rows = np.append(np.arange(N_CHOSEN), rows[rows >= N_CHOSEN])
    rows = rows[:N_SHIFT_ROWS]
    X, y = to_dense(data.data[rows]), data.target[rows]
    if kind == "first rows":
        return X, y, np.arange(N_CHOSEN)
    if kind == "easiest rows":
        forest = RandomForestClassifier(100, oob_score=True, n_jobs=-1, random_state=seed)
        sure = np.abs(forest.fit(np.nan_to_num(X), y).oob_decision_function_[:, 1] - 0.5)
        return X, y, rng.permutation(np.argsort(-sure)[: N_SHIFT_ROWS // 2])[:N_CHOSEN]
    if kind == "balanced by class":
        each = [rng.permutation(np.flatnonzero(y == k))[: N_CHOSEN // 2] for k in np.unique(y)]
        return X, y, np.concatenate(each)
    return X, y, rng.permutation(y.size)[:N_CHOSEN]


def shift(key: Key) -> list[Shift]:
    """Return the certificate that labels picked in this way give, and the truth."""
    X, y, labeled = picked(key.data, key.method, key.draw)
    rest = np.setdiff1d(np.arange(y.size), labeled)
    model = MODELS["trees"](n_estimators=20, confidence_level=LEVEL, random_state=key.draw)
    found = fit_quietly(model, X[labeled], y[labeled], X[rest])
    error = float(np.mean(model.transduction_ != y[rest]))
    said = found.certificate_.error_upper, int(found.certificate_.is_guarantee)
    return [Shift(*key, error, *said)]


def bias_plan() -> Iterator[Key]:
    """Yield all estimates that are to be run, first those of few draws."""
    for seed in range(max(N_DRAWS.values())):
        for method, n_draws in N_DRAWS.items():
            for name in VOTES if method == "votes" else ROWS:
                if seed < n_draws:
                    yield Key(name, 100, seed, method)
                if seed < n_draws // 3 and name in FEW and method != "default":
                    yield from (Key(name, n, seed, method) for n in (50, 300))


def shift_plan() -> Iterator[Key]:
    """Yield all shifts that are to be run.

    Of these files that of covtype alone is in an order that means something, and its two classes
    are about as frequent.
    """
    for seed in range(10):
        yield Key("covtype", N_CHOSEN, seed, KINDS[0])
        yield from (Key(name, N_CHOSEN, seed, KINDS[1]) for name in ("covtype", "adult", "weather"))
        yield from (Key(name, N_CHOSEN, seed, KINDS[2]) for name in ("adult", "a1a"))
    for seed in range(N_RANDOM):
        yield Key(("covtype", "adult", "weather", "a1a")[seed % 4], N_CHOSEN, seed, KINDS[3])


def bias_section(results: list[Estimate]) -> str:
    """Return bias and coverage by method and number of labels, means over data sets."""
    if not results:
        return NOT_RUN
    groups: dict[tuple[str, int, str], list[Estimate]] = defaultdict(list)
    for one in results:
        groups[one.method, one.n_labels, one.data].append(one)
    parts = defaultdict(list)
    for (method, n_labels, _), found in sorted(groups.items()):
        off = np.array([100 * (one.estimate - one.error) for one in found])
        covers = 100 * np.mean([one.lower <= one.error <= one.upper for one in found])
        noise = off.std(ddof=1) / np.sqrt(off.size)
        parts[method, n_labels].append((off.mean(), noise, off.std(ddof=1), covers, off.size))
    lines = [["model", "labels", "fits", "bias", "typical error", "covers", "worst data set"]]
    for (method, n_labels), own in sorted(parts.items()):
        means, noises, spreads, covers, counts = np.array(own).T
        noise = np.sqrt(np.sum(noises**2)) / means.size
        cells = [
            method,
            f"{n_labels}",
            f"{counts.sum():,.0f}",
            f"{means.mean():+.1f} ± {noise:.1f}",
        ]
        lines.append(
            [*cells, f"{spreads.mean():.1f}", f"{covers.mean():.0f}%", f"{covers.min():.0f}%"]
        )
    return markdown_table(lines)


def shift_section(results: list[Shift]) -> str:
    """Return how often labels make a guarantee, by the way they were picked."""
    if not results:
        return NOT_RUN
    lines = [["labels", "fits", "called a guarantee", "bound below the true error"]]
    for kind in KINDS:
        own = [one for one in results if one.method == kind]
        if own:
            wrong = np.mean([one.upper < one.error for one in own])
            called = sum(one.is_guarantee for one in own)
            lines.append([kind, f"{len(own):,}", f"{called:,}", f"{100 * wrong:.1f}%"])
    return markdown_table(lines)


def pages() -> dict[str, dict[str, str]]:
    """Return the sections by page."""
    parts = {
        "bias": bias_section(read_results(RESULTS, Estimate)),
        "shift": shift_section(read_results(SHIFTS, Shift)),
    }
    return {"docs/benchmarks.md": parts}


def main() -> None:
    options = read_options(__doc__, names=("bias", "shift", "page"))
    plans = {
        "bias": (bias_plan(), estimate, RESULTS, Estimate),
        "shift": (shift_plan(), shift, SHIFTS, Shift),
    }
    if options.name in plans:
        plan, measure, path, kind = plans[options.name]
        keys = [key for key in plan if options.draws is None or key.draw < options.draws]
        work, path = (lambda own: measure(*own)), options.results or path
        run_missing(keys, work, path, kind, n_jobs=options.jobs, again=options.again)
    write_pages(pages())


if __name__ == "__main__":
    main()
