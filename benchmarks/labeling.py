"""Labels by hand that it takes to finish a file, with simulated annotators.

    python -m benchmarks.labeling cost [REPEATS [MODEL [ERROR]]]    # runs what is missing
    python -m benchmarks.labeling validity [RUNS]
    python -m benchmarks.labeling page    # writes the sections in docs/label.md

**Cost.** A pool of 3,000 rows of a file, of whose labels at most a share may be wrong. *Random*:
random labels to learn from, then the fixed test of `whole_file`, then review. When to end learning
and how many labels test is planned by the rule for random labels in `policy`, with constants of its
own that were best for it. *BARGAIN*: the same model of random labels, after which BARGAIN chooses
the rows that test it, and how many (`finishing.by_bargain`). *One round* and *rounds*:
`LabelingLoop` with one attempt to prove that has all of the level, and as it is, with a second one
in reserve.

**Validity.** Generated pools of 600 rows and naive Bayes: how often the finished file has more
errors than promised, with annotators who know the truth, with some who err in 2% of the labels, and
for what is often done: 100 random labels to learn from, and the threshold at which 100 others, a
validation set, have no more errors than allowed.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from sklearn.naive_bayes import GaussianNB

from benchmarks.data.sources import data_folder, fetch
from benchmarks.draws import to_dense
from benchmarks.finishing import BARGAIN, ENVIRONMENT, MAX_ERRORS, QUESTIONS, by_bargain
from benchmarks.pages import NOT_RUN, bullets, markdown_table, write_pages
from benchmarks.results_file import FOLDER, read_results, run_missing
from hedgeclipper import HedgeClipperClassifier, LabelingLoop, VoteAggregator
from hedgeclipper.labeling import loop as loop_module
from hedgeclipper.labeling.fitting import FitJob, FitResult
from hedgeclipper.votes.matrix import Votes

RESULTS, VALIDITY = FOLDER / "labeling.csv", FOLDER / "labeling_validity.csv"
# files, some with as many percent of the rarer class
TABLES = ("mushroom_sas", "mushroom_sas 5 %", "agnostic_ada", "adult", "a1a", "weather", "covtype")
TABLES += ("covtype 10 %", "covtype, 7 classes", "kagg-cred")
VOTES = ("crowd_sp", "bf_domain")
ERRORS = MAX_ERRORS
WHOLE = (1.0,)
METHODS = {"random": WHOLE, "one round": WHOLE, "rounds": loop_module.LEVEL_PARTS}
RIVAL = "BARGAIN"
# those on the page
NAMES = {"random": "at random", RIVAL: "by BARGAIN", "rounds": "by the loop"}
VALIDITY_METHODS = ("loop", "annotators err in 2%", "validation set")
N_ROWS, N_BATCH, LEVEL = 3000, 20, 0.95


class Key(NamedTuple):
    """What is run."""

    data: str
    model: str
    max_error: float
    repeat: int
    method: str


@dataclass(frozen=True)
class Result:
    """What came out: labels by hand in all, and the proportion of wrong labels in the file."""

    data: str
    model: str
    max_error: float
    repeat: int
    method: str
    n_rows: int
    n_by_hand: int
    n_test: int
    n_attempts: int
    error: float
    seconds: float

    @property
    def key(self) -> Key:
        """Return what was run."""
        return Key(self.data, self.model, self.max_error, self.repeat, self.method)


@dataclass(frozen=True)
class ValidityRun:
    """One finished file of generated rows."""

    run: int
    method: str
    max_error: float
    error: float
    n_by_hand: int

    @property
    def key(self) -> tuple[str, int]:
        """Return what was run."""
        return self.method, self.run


def draw_pool(data: str, repeat: int) -> tuple[Any, np.ndarray]:
    """Return rows (or votes) of a file, drawn at random, and their classes from 0."""
    name, *percent = data.removesuffix(", 7 classes").split(" ")
    rng = np.random.default_rng([repeat, *data.encode()])
    if data in VOTES or data.endswith("classes"):
        folder = data_folder()
        if folder is None:
            raise SystemExit("No data folder: set HEDGECLIPPER_DATA to where the archives are.")
        with np.load(folder / f"{name}.npz", allow_pickle=False) as archive:
            rows, labels = ("L", "y") if "L" in archive else ("L_train", "y_train")
            rows, labels = ("X", "y7") if data not in VOTES else (rows, labels)
            X, y = archive[rows], archive[labels]
    else:
        contents = fetch(name)
        X, y = contents.data, contents.target
    y = np.unique(y, return_inverse=True)[1]
    chosen = rng.permutation(y.size)
    if percent:
        n_rare = round(N_ROWS * int(percent[0]) / 100)
        parts = chosen[y[chosen] == 1][:n_rare], chosen[y[chosen] == 0][: N_ROWS - n_rare]
        chosen = rng.permutation(np.concatenate(parts))
    chosen = chosen[:N_ROWS]
    X = X[chosen]
    return Votes.of(X) if data in VOTES else to_dense(X), y[chosen]


class Fits:
    """Fits of one pool, each done once: methods and errors have many in common."""

    def __init__(self) -> None:
        self.known: dict[bytes, FitResult] = {}

    def run(self, job: FitJob) -> FitResult:
        """Return the result of a job."""
        name = job.rows.tobytes() + job.codes.tobytes()
        if name not in self.known:
            self.known[name] = job.run()
        return self.known[name]


class RandomLoop(LabelingLoop):
    """Learns from random rows."""

    @property
    def _way(self) -> str:
        return "random"


def run_loop(
    X: Any, y: np.ndarray, model: Any, max_error: float, seed: int, method: str, fits: Fits
) -> tuple[LabelingLoop, np.ndarray]:
    """Return a loop that has asked for all it needs, with labels y, and the labels of the file."""
    kind = RandomLoop if method == "random" else LabelingLoop
    # the schedule is no option of users
    with patch.object(loop_module, "LEVEL_PARTS", METHODS[method]):
        loop = kind(
            X,
            classes=np.arange(y.max() + 1),
            max_error=max_error,
            confidence_level=LEVEL,
            model=model,
            random_state=seed,
        )
    while True:
        if (job := loop.fit_job()) is not None:
            loop.receive(fits.run(job))
        rows = loop.ask(N_BATCH, refit=False)
        if not rows.size:
            return loop, loop.result().labels
        loop.tell(rows, y[rows])


def cost(n_repeats: int = 5, model: str = "trees", only: float | None = None) -> None:
    """Run what is missing, all of a pool together; of one error only if it is given."""
    keys = [
        Key(data, model, error, repeat, method)
        for repeat in range(n_repeats)
        for data in (*TABLES, *VOTES)
        for method in (*METHODS, *[RIVAL] * (not ENVIRONMENT.why_absent()))
        for error in ERRORS
        if only in (None, error)
    ]
    together, n_jobs = (lambda key: (key.data, key.repeat)), os.cpu_count() or 1
    run_missing(keys, _cost_runs, RESULTS, Result, together=together, n_jobs=n_jobs)


def _cost_runs(keys: Sequence[Key]) -> list[Result]:
    data, model, _, repeat, _ = keys[0]
    X, y = draw_pool(data, repeat)
    fits, learner, results = Fits(), _model(data, model, repeat), []
    for key in keys:
        start = time.perf_counter()
        method = "random" if key.method == RIVAL else key.method
        loop, labels = run_loop(X, y, learner, key.max_error, repeat, method, fits)
        n_by_hand, n_test = loop.status().n_labeled, loop.status().n_test
        error = float(np.mean(labels != y))
        if key.method == RIVAL and loop.n_attempts:
            n_by_hand, error = _by_bargain(loop, y, key.max_error)
        seconds = round(time.perf_counter() - start, 2)
        results.append(Result(*key, y.size, n_by_hand, n_test, loop.n_attempts, error, seconds))
    return results


def _by_bargain(loop: LabelingLoop, y: np.ndarray, max_error: float) -> tuple[int, float]:
    """Return labels by hand, and the error of the file, if BARGAIN tests what this loop tested."""
    attempt = loop._state.attempts[0]
    wrong = attempt.predicted[attempt.order] != y[attempt.order]
    uncertainties = attempt.uncertainties[attempt.order]
    masks = by_bargain(wrong[None], uncertainties[None], wrong.size, y.size)
    at = BARGAIN.index("BARGAIN, own choice"), QUESTIONS.index("file"), ERRORS.index(max_error)
    kept = masks[0][at]
    return int(y.size - kept.sum()), float(wrong[kept].sum() / y.size)


def _model(data: str, model: str, seed: int) -> Any:
    if data in VOTES:
        return VoteAggregator()
    if model == "default":
        return HedgeClipperClassifier(random_state=seed)
    return HedgeClipperClassifier("trees", n_estimators=100, random_state=seed)


def validity(n_runs: int) -> None:
    """Run what is missing of generated pools."""
    keys = [(method, run) for run in range(n_runs) for method in VALIDITY_METHODS]
    run_missing(keys, _validity_run, VALIDITY, ValidityRun, n_jobs=os.cpu_count() or 1)


def _validity_run(keys: Sequence[tuple[str, int]]) -> list[ValidityRun]:
    ((method, run),) = keys
    rng = np.random.default_rng([run, 3])
    y, max_error = rng.integers(0, 2, 600), ERRORS[1 + run % 2]
    X = rng.normal(size=(600, 4)) * rng.uniform(0.9, 1.5) + y[:, None]
    if method == "validation set":
        labels, n_by_hand = _by_validation_set(X, y, max_error, rng)
    else:
        noisy = np.where(rng.random(600) < 0.02, 1 - y, y)
        given = y if method == "loop" else noisy
        loop, labels = run_loop(X, given, GaussianNB(), max_error, run, "rounds", Fits())
        n_by_hand = loop.status().n_labeled
    return [ValidityRun(run, method, max_error, float(np.mean(labels != y)), n_by_hand)]


def _by_validation_set(
    X: np.ndarray, y: np.ndarray, max_error: float, rng: np.random.Generator
) -> tuple[np.ndarray, int]:
    """Return labels of a file and how many are by hand: 100 labels to learn from, 100 to choose."""
    train, test, rest = np.split(rng.permutation(y.size), [100, 200])
    fit = FitJob(X, y.size, train, y[train], np.arange(2), GaussianNB()).run()
    wrong = fit.predicted[test] != y[test]
    # the last uncertainty up to which the errors left, as the validation set has them, are allowed
    order = np.argsort(fit.uncertainties[test])
    errors = np.cumsum(wrong[order]) / test.size * rest.size / y.size
    allowed = np.flatnonzero(errors <= max_error)
    last = fit.uncertainties[test][order[allowed[-1]]] if allowed.size else -1.0
    kept = rest[fit.uncertainties[rest] <= last]
    labels = y.copy()
    labels[kept] = fit.predicted[kept]
    return labels, y.size - kept.size


def pages() -> dict[str, dict[str, str]]:
    """Return the sections by page."""
    parts = {"labeling cost": _cost_section(), "labeling validity": _validity_section()}
    return {"docs/label.md": parts}


def _cost_section() -> str:
    results = read_results(RESULTS, Result)
    models = sorted({one.model for one in results})  # the default one first, with its table
    own = [[one for one in results if one.model == model] for model in models]
    return "\n\n".join(_cost_of(one, k == 0) for k, one in enumerate(own)) or NOT_RUN


def _cost_of(results: Sequence[Result], with_table: bool) -> str:
    """Return what the results of one model show, and their table."""
    found: dict[tuple[str, float, str], list[int]] = {}
    for one in results:
        found.setdefault((one.data, one.max_error, one.method), []).append(one.n_by_hand)
    means = {key: float(np.mean(own)) for key, own in found.items()}
    methods = [name for name in NAMES if any(key[2] == name for key in means)]
    errors = [error for error in ERRORS if any(key[1] == error for key in means)]
    lines = [["file", *(f"at most {error:.0%} wrong" for error in errors)]]
    ratios: dict[str, list[float]] = {name: [] for name in methods}
    for data in (*TABLES, *VOTES):
        cells = []
        for error in errors:
            own = [means[key] for name in methods if (key := (data, error, name)) in means]
            is_measured = len(own) == len(methods)
            cells.append(" / ".join(f"{mean:,.0f}" for mean in own) if is_measured else "")
            for name, mean in zip(methods, own if is_measured else (), strict=False):
                ratios[name].append(own[-1] / mean)
        if any(cells):
            lines.append([data.replace(" %", "%"), *cells])
    n_draws = len({one.repeat for one in results})
    ours = [one for one in results if one.method != RIVAL]
    n_broken = sum(one.error > one.max_error for one in ours)
    told = [
        f"On average {100 * (1 - np.mean(ratios[name])):.0f}% fewer labels than {NAMES[name]} "
        f"(median {100 * (1 - np.median(ratios[name])):.0f}%); "
        f"{100 * (np.min(ratios[name]) - 1):+.0f}% in the best cell, "
        f"{100 * (np.max(ratios[name]) - 1):+.0f}% in the worst"
        for name in methods[:-1]
    ]
    told.append(f"{n_broken} of {len(ours):,} finished files had more errors than allowed; 5% may")
    model = "the default model" if results[0].model == "default" else "100 trees"
    n_all = len((*TABLES, *VOTES))
    if len(lines) <= n_all:
        model += f" ({len(lines) - 1} of {n_all} files)"
    draws = f"mean of {n_draws} draw{'s' if n_draws > 1 else ''}"
    if not with_table:
        return f"The same with {model}, {draws}:\n\n{bullets(*told)}"
    what = f"Labels by hand {' / '.join(NAMES[name] for name in methods)}"
    head = f"{what}, {N_ROWS:,} rows, {model}, {draws}:"
    return f"{head}\n\n{markdown_table(lines)}\n\n{bullets(*told)}"


def _validity_section() -> str:
    results = read_results(VALIDITY, ValidityRun)
    if not results:
        return NOT_RUN
    lines, broken = [["method", "runs", "promise broken", "labels by hand"]], {}
    for method in VALIDITY_METHODS:
        own = [one for one in results if one.method == method]
        broken[method] = f"{100 * np.mean([one.error > one.max_error for one in own]):.1f}%"
        by_hand = np.mean([one.n_by_hand for one in own])
        lines.append([method, f"{len(own):,}", broken[method], f"{by_hand:.0f}"])
    told = (
        f"Errors of people come on top of the promise: with 2% wrong labels it was broken in "
        f"{broken[VALIDITY_METHODS[1]]} of all files, with right ones in {broken['loop']}"
    )
    return f"{markdown_table(lines)}\n\n{bullets(told)}"


if __name__ == "__main__":
    what, *rest = sys.argv[1:] or ["page"]
    if what == "cost":
        kinds = (int, str, float)
        cost(*(kind(text) for kind, text in zip(kinds, rest, strict=False)))
    elif what == "validity":
        validity(int(rest[0]) if rest else 1000)
    write_pages(pages())
