"""The table of votes: ten real sets, label draws of each, every method on the same draws.

    python -m benchmarks.votes.run_votes            # part of make votes-table, on two cores

What is in the results file already is not run again, except what failed. Ours and the simple
methods run in this process, each of the others in one of its own, which may take ten minutes. On
the verdicts of language models only the former are run. Two slow methods are run on few draws of
large sets: GLAD on one with more than 20,000 votes, LabelModel on three with more than 50,000, with
which GLAD is not run. Majority vote and MACE take no labels and are run once on each set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.figures import Row
from benchmarks.results_file import (
    FOLDER,
    Key,
    read_options,
    read_results,
    run_missing,
    today,
    write_results,
)
from benchmarks.votes.data import (
    BUDGETS,
    JUDGES,
    JUDGES_BUDGETS,
    SETS,
    VoteDraw,
    has_labels,
    make_draw,
    why_absent,
)
from benchmarks.votes.methods import ENVIRONMENT, METHODS, OWN, VoteMethod, VoteResult
from benchmarks.votes.peers.peer import Outcome, Setting

VOTES = FOLDER / "votes.csv"
N_DRAWS, JUDGES_DRAWS, TIMEOUT = 10, 30, 600.0
LEAST_PROBABILITY = 1e-6
FAILED = "failed"


def table_rows() -> list[Row]:
    """Return data set and number of labels of each row."""
    rows = [(name, n_labels) for name in SETS for n_labels in BUDGETS if has_labels(name, n_labels)]
    return [*rows, *((JUDGES, n_labels) for n_labels in JUDGES_BUDGETS)]


def all_keys(rows: Iterable[Row], n_draws: int, methods: Iterable[str] = METHODS) -> Iterator[Key]:
    """Return all that is in the table."""
    for data, n_labels in rows:
        n_own = JUDGES_DRAWS if data == JUDGES and n_draws == N_DRAWS else n_draws
        for name in methods:
            if data != JUDGES or METHODS[name].environment == OWN:
                yield from (Key(data, n_labels, draw, name) for draw in range(n_own))


def together(key: Key) -> tuple:
    """Return what draws have in common on which a method is run once."""
    return (key.data, key.method) if not METHODS[key.method].uses_labels else key


def run_keys(keys: Sequence[Key]) -> list[VoteResult]:
    """Return the results of a method that is run once, on each of the draws."""
    draws = [make_draw(*key[:3]) for key in keys]
    outcome = run_once(METHODS[keys[0].method], draws[0])
    return [
        VoteResult(
            *key, *measure(draw, outcome, uses_labels=METHODS[key.method].uses_labels),
            draw.y_scored.size, draw.n_scored, *costs(outcome), outcome.reason, today(),
            outcome.versions,
        )
        for key, draw in zip(keys, draws, strict=True)
    ]  # fmt: skip


def run_once(method: VoteMethod, draw: VoteDraw) -> Outcome:
    """Return what a method makes of a draw; where there is no result, the reason."""
    votes, gold = draw.every_row_once()
    if not method.uses_labels:
        votes, gold = draw.L_unlabeled, np.full(draw.y_scored.size, -1)
    setting, reason = Setting(gold, draw.n_classes, draw.seed), why_left_out(method, draw)
    if reason:
        return Outcome.none(gold.size, draw.n_classes, reason)
    if method.environment == OWN:
        return method.run(votes, setting)
    try:
        return method.run_apart(votes, setting, timeout=TIMEOUT)
    except RuntimeError as error:
        reason = f"{FAILED}: {str(error).splitlines()[-1]}"
        return Outcome.none(gold.size, draw.n_classes, reason)


def why_left_out(method: VoteMethod, draw: VoteDraw) -> str:
    """Return why a slow method is not run on this draw of a large set; empty if it is."""
    n_votes = int((draw.L_unlabeled >= 0).sum())
    if n_votes > method.too_many_votes:
        return f"more than {method.too_many_votes:,} votes: not run, since one run took too long"
    if n_votes > method.many_votes and draw.seed >= method.few_draws:
        return f"more than {method.many_votes:,} votes: few draws only"
    return ""


def costs(outcome: Outcome) -> tuple[float, float, float]:
    """Return times and memory as in the results."""
    times = round(outcome.seconds, 3), round(outcome.conversion_seconds, 3)
    return *times, round(outcome.peak_mb, 1)


def measure(draw: VoteDraw, outcome: Outcome, *, uses_labels: bool) -> tuple[float, float]:
    """Return accuracy and log loss on the scored rows."""
    n_rows = draw.y_scored.size
    probabilities, labels = outcome.probabilities[-n_rows:], outcome.labels[-n_rows:]
    if np.isnan(probabilities).any():
        return np.nan, np.nan
    if not uses_labels:
        prior = Setting(draw.y_labeled, draw.n_classes, draw.seed).class_prior
        is_uncovered = (draw.L_unlabeled < 0).all(axis=1)
        probabilities = np.where(is_uncovered[:, None], prior, probabilities)
        labels = np.where(is_uncovered, prior.argmax(), labels)
    is_scored = draw.y_scored >= 0
    return accuracy_and_loss(draw.y_scored[is_scored], probabilities[is_scored], labels[is_scored])


def accuracy_and_loss(
    y: np.ndarray, probabilities: np.ndarray, labels: np.ndarray
) -> tuple[float, float]:
    """Return accuracy and log loss."""
    of_truth = probabilities[np.arange(y.size), y]
    likelihood = np.clip(of_truth, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)
    figures = np.mean(labels == y), -np.log(likelihood).mean()
    return tuple(round(float(figure), 6) for figure in figures)


def check_ready(sets: Iterable[str], methods: Iterable[str]) -> None:
    """Raise, with what is missing, unless data and environments are there."""
    problems = [*map(why_absent, sets)]
    if any(METHODS[name].environment == ENVIRONMENT for name in methods):
        problems.append(ENVIRONMENT.why_absent())
    if any(problems):
        raise SystemExit("\n".join(dict.fromkeys(filter(None, problems))))


def forget_failures(path: Path) -> None:
    """Remove failed runs from the results file, so that they are run again."""
    results = read_results(path, VoteResult)
    whole = [result for result in results if not result.reason.startswith(FAILED)]
    if len(whole) < len(results):
        write_results(path, whole, VoteResult)


def main() -> None:
    options = read_options(__doc__, METHODS)
    check_ready((*SETS, JUDGES), options.methods)
    keys = all_keys(table_rows(), options.draws or N_DRAWS, options.methods)
    path = options.results or VOTES
    forget_failures(path)
    run_missing(
        keys, run_keys, path, VoteResult,
        together=together, n_jobs=options.jobs, again=options.again,
    )  # fmt: skip


if __name__ == "__main__":
    main()
