"""The main job on bundled real data: ``python -m hedgeclipper.demo``.

A small forest is grown on some labels of a1a, others tell how good each tree is, and the game
combines the trees' votes on all remaining rows.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from hedgeclipper import certificate, lower_bounds, solve_game
from hedgeclipper.datasets import load_a1a

N_GROWN, N_KNOWN, N_TREES = 300, 700, 25


def main(random_state: int = 0) -> None:
    """Play the game on a1a and print what comes out."""
    X, y = load_a1a(return_X_y=True)
    signs = 2 * y - 1
    labeled, unlabeled = train_test_split(
        np.arange(y.size), train_size=N_GROWN + N_KNOWN, random_state=random_state
    )
    grown, known = labeled[:N_GROWN], labeled[N_GROWN:]
    forest = RandomForestClassifier(N_TREES, min_samples_leaf=4, random_state=random_state)
    forest.fit(X[grown], y[grown])
    started = time.perf_counter()
    votes = tree_votes(forest, X[unlabeled])
    b = lower_bounds(tree_votes(forest, X[known]), signs[known], method="wilson")
    guaranteed = lower_bounds(
        tree_votes(forest, X[known]),
        signs[known],
        method="transductive",
        n_unlabeled=unlabeled.size,
    )
    solution = solve_game(votes, b, ridge=1.0, anchor=1.0 / N_TREES)
    predictions = solution.predictions(votes)
    seconds = time.perf_counter() - started
    print(
        f"a1a: a forest of {N_TREES} trees grown on {N_GROWN} labels, {N_KNOWN} other labels to "
        f"judge the trees,\n{unlabeled.size:,} unlabelled rows; the game took {seconds:.1f} s.\n"
    )
    print(solution, end="\n\n")
    truth = signs[unlabeled]
    print(f"error of the forest's vote        {_error(votes.mean(axis=1), truth):.4f}")
    print(f"error of the game's vote          {_error(predictions, truth):.4f}\n")
    print(certificate(solution, votes, b, rule="hard"))
    print(certificate(solution, votes, guaranteed, rule="hard"))


def tree_votes(forest: RandomForestClassifier, X: Any) -> np.ndarray:
    """Return the vote of every tree, -1 or 1, as small integers."""
    columns = [tree.predict(X).astype(np.int8) for tree in forest.estimators_]
    return 2 * np.column_stack(columns) - 1


def _error(scores: np.ndarray, truth: np.ndarray) -> float:
    return float(np.mean(np.where(scores >= 0, 1, -1) != truth))


if __name__ == "__main__":
    main()
