"""The table of votes: ten real sets, label draws of each, every method on the same draws.

    python -m benchmarks.votes.run_votes            # part of make votes-table, on two cores
    python -m benchmarks.votes.run_votes --quick    # bf_cardio with 100 labels, two draws

What is in the results file already is not run again, except what failed; remove the file to start
over. Ours and the simple methods run in this process, each of the others in one of its own, which
may take ten minutes. On the verdicts of language models only the former are run. Two slow methods
are run on few draws of large sets: GLAD on one with more than 20,000 votes, LabelModel on three
with more than 50,000, with which GLAD is not run. Majority vote and MACE take no labels and are run
once on each set.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.figures import OURS, Row
from benchmarks.results_file import FOLDER, Key, read_results, today, write_results
from benchmarks.run_table import run_all
from benchmarks.votes.data import (
    BUDGETS,
    JUDGES,
    JUDGES_BUDGETS,
    SETS,
    SPLIT_SETS,
    VoteDraw,
    has_labels,
    make_draw,
    why_absent,
)
from benchmarks.votes.here import run_here
from benchmarks.votes.methods import BF, METHODS, VoteMethod
from benchmarks.votes.peer import ABSENT, PEERS, PeerResult, no_result, peers_python, run_peer
from benchmarks.votes.peers.peer import Setting
from benchmarks.votes.results import VOTES, VoteResult

N_DRAWS, JUDGES_DRAWS, TIMEOUT = 10, 30, 600.0
PAPERS_LABELS = 100
QUICK_ROWS, QUICK_DRAWS = [("bf_cardio", 100)], 2
LEAST_PROBABILITY = 1e-6
FAILED = "failed"


class Task(NamedTuple):
    """A method, and on which draws of a set: numbers of labels and of the draw."""

    data: str
    method: str
    draws: tuple[tuple[int, int], ...]


def table_rows() -> list[Row]:
    """Return data set and number of labels of each row."""
    rows = [(name, n_labels) for name in SETS for n_labels in BUDGETS if has_labels(name, n_labels)]
    return [*rows, *((JUDGES, n_labels) for n_labels in JUDGES_BUDGETS)]


def runs_here(data: str, method: str) -> bool:
    """Return whether a method runs in this process."""
    is_simple = METHODS[method].is_simple or (data, method) == (JUDGES, "majority")
    return is_simple or method in (OURS, BF)


def all_keys(rows: Iterable[Row], n_draws: int, methods: Iterable[str] = METHODS) -> Iterator[Key]:
    """Return all that is in the table."""
    for data, n_labels in rows:
        is_papers = data in SPLIT_SETS and n_labels == PAPERS_LABELS
        n_own = JUDGES_DRAWS if data == JUDGES and n_draws == N_DRAWS else n_draws
        for method in methods:
            is_shown = is_papers if method == BF else data != JUDGES or runs_here(data, method)
            if is_shown:
                yield from (Key(data, n_labels, draw, method) for draw in range(n_own))


def plan(keys: Iterable[Key], done: set[Key]) -> list[Task]:
    """Return what is still to run, in random order for a good estimate of the time left."""
    runs: dict[tuple, list[tuple[int, int]]] = {}
    for data, n_labels, draw, method in (key for key in keys if key not in done):
        alone = (n_labels, draw) if METHODS[method].uses_labels else ()
        runs.setdefault((data, method, alone), []).append((n_labels, draw))
    tasks = [Task(data, method, tuple(draws)) for (data, method, _), draws in runs.items()]
    order = np.random.default_rng(0).permutation(len(tasks))
    return [tasks[number] for number in order]


def run_task(task: Task) -> list[VoteResult]:
    """Return the results of a method that is run once, on each of the draws."""
    draws = [make_draw(task.data, *draw) for draw in task.draws]
    method = METHODS[task.method]
    outcome = run_once(method, draws[0], is_here=runs_here(task.data, task.method))
    return [
        result_of(Key(task.data, n_labels, number, task.method), draw, outcome)
        for (n_labels, number), draw in zip(task.draws, draws, strict=True)
    ]


def run_once(
    method: VoteMethod, draw: VoteDraw, timeout: float | None = TIMEOUT, *, is_here: bool = False
) -> PeerResult:
    """Return what a method makes of a draw; where there is no result, the reason."""
    votes, gold = draw.every_row_once()
    if not method.uses_labels:
        votes, gold = draw.L_unlabeled, np.full(draw.y_scored.size, -1)
    reason = why_left_out(method, draw)
    if reason:
        return no_result(gold.size, draw.n_classes, reason)
    if is_here:
        return run_here(method.name, votes, gold, draw.n_classes, draw.seed)
    try:
        return run_peer(method.name, votes, gold, draw.n_classes, draw.seed, timeout=timeout)
    except RuntimeError as error:
        return no_result(gold.size, draw.n_classes, f"{FAILED}: {str(error).splitlines()[-1]}")


def why_left_out(method: VoteMethod, draw: VoteDraw) -> str:
    """Return why a slow method is not run on this draw of a large set; empty if it is."""
    n_votes = int((draw.L_unlabeled >= 0).sum())
    if method.too_many_votes is not None and n_votes > method.too_many_votes:
        return f"more than {method.too_many_votes:,} votes: not run, since one run took too long"
    is_large = method.many_votes is not None and n_votes > method.many_votes
    if is_large and draw.seed >= method.few_draws:
        return f"more than {method.many_votes:,} votes: few draws only"
    return ""


def result_of(key: Key, draw: VoteDraw, outcome: PeerResult) -> VoteResult:
    """Return the line of the results file."""
    uses_labels = METHODS[key.method].uses_labels
    return VoteResult(
        *key, *measure(draw, outcome, uses_labels=uses_labels),
        draw.y_scored.size, draw.n_scored, round(outcome.seconds, 3),
        round(outcome.conversion_seconds, 3), round(outcome.peak_mb, 1),
        outcome.reason, today(), outcome.versions,
    )  # fmt: skip


def measure(draw: VoteDraw, outcome: PeerResult, *, uses_labels: bool) -> tuple[float, float]:
    """Return accuracy and log loss on the scored rows."""
    n_rows = draw.y_scored.size
    probabilities, labels = outcome.probabilities[-n_rows:], outcome.labels[-n_rows:]
    if np.isnan(probabilities).any():
        return np.nan, np.nan
    if not uses_labels:
        prior = Setting(draw.y_labeled, draw.n_classes, draw.seed).class_prior
        is_uncovered = uncovered(draw.L_unlabeled)
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


def uncovered(L: np.ndarray) -> np.ndarray:
    """Return which rows have no vote."""
    return (L < 0).all(axis=1)


def check_ready(sets: Iterable[str], methods: Iterable[str]) -> None:
    """Raise, with what is missing, unless data and environments are there."""
    problems = [*filter(None, map(why_absent, sets))]
    if peers_python() is None and set(methods) & set(PEERS):
        problems.append(ABSENT)
    if problems:
        raise SystemExit("\n".join(dict.fromkeys(problems)))


def forget_failures(path: Path) -> None:
    """Remove failed runs from the results file, so that they are run again."""
    results = read_results(path, VoteResult)
    whole = [result for result in results if not result.reason.startswith(FAILED)]
    if len(whole) < len(results):
        write_results(path, whole, VoteResult)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one row, two draws")
    parser.add_argument("--draws", type=int, default=None, help="label draws of each row")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--results", type=Path, default=None, help="CSV file of the results")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    options = parser.parse_args(arguments)
    sets = {name for name, _ in QUICK_ROWS} if options.quick else (*SETS, JUDGES)
    check_ready(sets, options.methods)
    rows = QUICK_ROWS if options.quick else table_rows()
    n_draws = options.draws or (QUICK_DRAWS if options.quick else N_DRAWS)
    path = options.results or (FOLDER / "votes_quick.csv" if options.quick else VOTES)
    forget_failures(path)
    done = {result.key for result in read_results(path, VoteResult)}
    tasks = plan(all_keys(rows, n_draws, options.methods), done)
    print(f"{len(tasks)} runs on {options.jobs} processes, results in {path}")
    run_all(run_task, tasks, path, options.jobs, VoteResult)


if __name__ == "__main__":
    main()
