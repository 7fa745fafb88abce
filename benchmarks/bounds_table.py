"""Guarantees, estimates and automatic labels beside the truth, on real rows and votes.

    python -m benchmarks.bounds_table          # runs what is missing, then writes docs/bounds.md
    python -m benchmarks.bounds_table --only hedgeclipper

Labels are drawn at random, without regard to classes; up to 8,000 other rows are unlabeled. Each
rule is frozen after its fit. Since the fit has treated the held-out and the unlabeled rows alike,
they may be split again: 200 times other rows of both together are those with known labels, and the
bound they give is compared with the truth on the rest.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from benchmarks.draws import whole
from benchmarks.results_file import FOLDER, Key, read_results, today, versions, write_results
from benchmarks.votes.data import SETS, vote_set
from hedgeclipper import HedgeClipperClassifier, VoteAggregator
from hedgeclipper.bounds.tested_predictions import TestedPredictions

RESULTS = FOLDER / "bounds.csv"
ROWS = ("adult", "covtype", "weather", "a1a")
LABELS = (100, 200, 1000, 3000)
MAX_UNLABELED = 8_000
LEVEL = 0.95
MAX_ERRORS = (0.01, 0.05, 0.1)
N_SPLITS = 200
N_DRAWS = 10
ESTIMATORS = {"hedgeclipper": HedgeClipperClassifier, "votes": VoteAggregator}
SIMPLE = {"hedgeclipper": "forest-half", "votes": "majority"}


@dataclass(frozen=True)
class BoundResult:
    """What a fit says of its error, and the truth; NaN where a method says nothing of it.

    ``covered`` is the share of the splits in which the guarantee held, ``broken_*`` that in which
    automatic labels had more errors than they may, ``labeled_*`` the mean share of rows labeled,
    both for the largest errors of 1, 5 and 10 %; ``tuned_*`` are the same for a threshold at which
    the held-out labels themselves have as few errors. ``out_of_sample`` is the plain out-of-bag or
    out-of-fold error, ``estimate`` what is made of it.
    """

    data: str
    n_labels: int
    draw: int
    method: str
    error: float
    guarantee: float
    n_held_out: int
    covered: float
    estimated_error: float
    estimate: float
    estimate_lower: float
    estimate_upper: float
    out_of_sample: float
    broken_1: float = float("nan")
    broken_5: float = float("nan")
    broken_10: float = float("nan")
    labeled_1: float = float("nan")
    labeled_5: float = float("nan")
    labeled_10: float = float("nan")
    tuned_broken_1: float = float("nan")
    tuned_broken_5: float = float("nan")
    tuned_broken_10: float = float("nan")
    tuned_labeled_1: float = float("nan")
    tuned_labeled_5: float = float("nan")
    tuned_labeled_10: float = float("nan")
    seconds: float = float("nan")
    date: str = ""
    versions: str = ""

    @property
    def key(self) -> Key:
        """Return what was run."""
        return Key(self.data, self.n_labels, self.draw, self.method)


@dataclass(frozen=True, eq=False)
class Drawn:
    """Labeled and unlabeled rows or votes, and the labels of both."""

    X: Any
    y: np.ndarray
    X_unlabeled: Any
    y_unlabeled: np.ndarray


def draw(name: str, n_labels: int, seed: int) -> Drawn | None:
    """Return a draw, None if there are too few rows for as many unlabeled as labeled ones."""
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
    X = X.tocsr() if hasattr(X, "tocsr") else X
    parts = [part.toarray() if hasattr(part, "toarray") else part for part in (X[labeled], X[rest])]
    return Drawn(parts[0], y[labeled], parts[1], y[rest])


def fit_quietly(method: str, seed: int, level: float | None, drawn: Drawn) -> Any:
    """Return the fitted model; warnings of shift and contradictions are not of interest here."""
    model = ESTIMATORS[method](confidence_level=level, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(drawn.X, drawn.y, drawn.X_unlabeled)


def measure(method: str, name: str, n_labels: int, seed: int) -> BoundResult | None:
    """Return what a fit with held-out labels guarantees, and one without them estimates."""
    drawn = draw(name, n_labels, seed)
    if drawn is None:
        return None
    start = perf_counter()
    held = fit_quietly(method, seed, LEVEL, drawn)
    seconds = perf_counter() - start
    rule, certificate = held._tested, held.certificate_
    wrong = held.transduction_ != drawn.y_unlabeled
    pool = np.append(rule.wrong, wrong), np.append(rule.uncertainties, rule.unlabeled_uncertainties)
    plain = fit_quietly(method, seed, None, drawn)
    estimate = plain.certificate_
    return BoundResult(
        name,
        n_labels,
        seed,
        method,
        float(wrong.mean()),
        certificate.error_upper,
        certificate.n_tested,
        *resplit(*pool, rule.wrong.size, seed),
        estimated_error=float(np.mean(plain.transduction_ != drawn.y_unlabeled)),
        estimate=estimate.error,
        estimate_lower=estimate.error_lower,
        estimate_upper=estimate.error_upper,
        out_of_sample=estimate.n_errors / estimate.n_tested,
        **automatic_labels(*pool, rule.wrong.size, seed),
        seconds=round(seconds, 2),
        date=today(),
        versions=versions(),
    )


def splits(
    wrong: np.ndarray, uncertainties: np.ndarray, n_held: int, seed: int
) -> Iterator[tuple[TestedPredictions, np.ndarray]]:
    """Yield rules tested by other rows of the pool, and what is wrong on the rest."""
    rng = np.random.default_rng([seed, n_held])
    for _ in range(N_SPLITS):
        rows = rng.permutation(wrong.size)
        held, rest = rows[:n_held], rows[n_held:]
        yield (
            TestedPredictions(
                wrong[held], uncertainties[held], uncertainties[rest], rest.size, 0.0
            ),
            wrong[rest],
        )


def resplit(wrong: np.ndarray, uncertainties: np.ndarray, n_held: int, seed: int) -> tuple[float]:
    """Return the share of the splits in which the guarantee holds."""
    pairs = splits(wrong, uncertainties, n_held, seed)
    return (float(np.mean([r.certificate(LEVEL).error_upper >= w.mean() for r, w in pairs])),)


def automatic_labels(
    wrong: np.ndarray, uncertainties: np.ndarray, n_held: int, seed: int
) -> dict[str, float]:
    """Return how often automatic labels have too many errors, and how many rows they cover."""
    found = {}
    for most in MAX_ERRORS:
        broken, labeled = np.zeros((2, N_SPLITS)), np.zeros((2, N_SPLITS))
        for number, (rule, rest) in enumerate(splits(wrong, uncertainties, n_held, seed)):
            thresholds = rule.surest(most, LEVEL).threshold, tuned_threshold(rule, most)
            for kind, threshold in enumerate(thresholds):
                sure = rule.unlabeled_uncertainties <= threshold
                labeled[kind, number] = sure.mean()
                broken[kind, number] = sure.any() and rest[sure].mean() > most
        percent = f"{100 * most:g}"
        for kind, prefix in enumerate(("", "tuned_")):
            found[f"{prefix}broken_{percent}"] = float(broken[kind].mean())
            found[f"{prefix}labeled_{percent}"] = float(labeled[kind].mean())
    return found


def tuned_threshold(rule: TestedPredictions, most: float) -> float:
    """Return the largest uncertainty up to which the held-out labels have as few errors."""
    order = np.argsort(rule.uncertainties)
    shares = np.cumsum(rule.wrong[order]) / np.arange(1, order.size + 1)
    fits = np.flatnonzero(shares <= most)
    return float(rule.uncertainties[order[fits[-1]]]) if fits.size else -np.inf


def measure_simple(method: str, name: str, n_labels: int, seed: int) -> BoundResult | None:
    """Return what anybody would do by hand: a forest on half of the labels, or a majority vote.

    The other half of the labels, or all of them, test it exactly.
    """
    drawn = draw(name, n_labels, seed)
    if drawn is None:
        return None
    if method == "majority":
        predict, tested = majority, slice(None)
    else:
        half = n_labels // 2
        forest = RandomForestClassifier(100, n_jobs=-1, random_state=seed)
        predict, tested = forest.fit(drawn.X[half:], drawn.y[half:]).predict, slice(half)
    held, rest = predict(drawn.X[tested]) != drawn.y[tested], predict(drawn.X_unlabeled)
    rest = rest != drawn.y_unlabeled
    rule = TestedPredictions(held, np.zeros(held.size), np.zeros(rest.size), rest.size, 0.0)
    bound = rule.certificate(LEVEL).error_upper
    pool, nothing = np.append(held, rest), float("nan")
    covered = resplit(pool, np.zeros(pool.size), held.size, seed)
    return BoundResult(
        name, n_labels, seed, method, float(rest.mean()), bound, held.size, *covered,
        nothing, nothing, nothing, nothing, nothing, date=today(), versions=versions(),
    )  # fmt: skip


def majority(L: np.ndarray) -> np.ndarray:
    """Return the class with the most votes in each row; the first of several."""
    return np.argmax([(k == L).sum(axis=1) for k in range(int(L.max()) + 1)], axis=0)


def plan(only: list[str]) -> list[Key]:
    """Return all that is to be run, the first draws of all before any second one."""
    keys = [
        Key(name, n_labels, seed, one)
        for seed in range(N_DRAWS)
        for method, simple in SIMPLE.items()
        for name in (SETS if method == "votes" else ROWS)
        for n_labels in LABELS
        for one in (method, simple)
    ]
    return [key for key in keys if not only or key.method in only]


def main() -> None:
    """Run what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[], help="methods to run; all by default")
    results = {one.key: one for one in read_results(RESULTS, BoundResult)}
    for key in plan(parser.parse_args().only):
        if key in results:
            continue
        run = measure if key.method in SIMPLE else measure_simple
        found = run(key.method, key.data, key.n_labels, key.draw)
        if found is not None:
            results[key] = found
            write_results(RESULTS, results.values(), BoundResult)
            print(
                f"{found.key}: error {found.error:.3f}, at most {found.guarantee:.3f}", flush=True
            )
    from benchmarks.render_bounds import write

    write(list(results.values()))


if __name__ == "__main__":
    main()
