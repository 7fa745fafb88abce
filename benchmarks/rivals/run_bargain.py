"""Run BARGAIN on a folder of predictions, in its own environment.

    python -m benchmarks.rivals.run_bargain FOLDER

Accuracy of all records (``BARGAIN_A``) is the question of the whole file. Precision
(``BARGAIN_P``), where a record is positive if its prediction is right, is that of automatic labels.
It has the labels of the test rows, in their order, or it chooses as many rows to label itself, as
it does by default. A row without a label counts as wrong, which ends the search of ``BARGAIN_A``,
and as not reviewed. All settings are its defaults. Its tests take a time that grows with the square
of the labels, so they are replaced by the same sums as arrays.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from BARGAIN import BARGAIN_A, BARGAIN_P, Oracle, Proxy
from BARGAIN.bounds import betting_bounds

from benchmarks.environments import load, save

PROCESSES = [sys.modules[f"BARGAIN.process.{kind.__name__}"] for kind in (BARGAIN_A, BARGAIN_P)]
MOST_BET = 0.75


class TestRowsFirst(PROCESSES[0].WoR_Sampler):
    """Its sampler, which draws rows by their rank; here in an order that is given."""

    order: Any = None

    def __init__(self, n: int):
        super().__init__(n)
        self.indxs = self.indxs if self.order is None else self.order


def bets(seen: np.ndarray, alpha: float) -> np.ndarray:
    """Return how much of the capital is bet on each observation, by the spread of those before."""
    number = np.arange(seen.size)
    sums = np.append(0.0, np.cumsum(seen)[:-1])
    centers = (0.5 + sums) / (number + 1)
    spread = (0.25 + sums - 2 * centers * sums + number * centers**2) / (number + 1)
    return np.sqrt(2 * np.log(2 / alpha) / ((number + 1) * np.log(number + 2) * spread))


def is_above(seen: np.ndarray, m: float, alpha: float, N: int, **_: Any) -> bool:
    """Return what ``test_if_true_mean_is_above_m`` does: False if the mean is above m."""
    number, before = np.arange(seen.size), np.append(0.0, np.cumsum(seen)[:-1])
    means = (N * m - before) / (N - number)
    capital = np.cumprod(1 + np.minimum(bets(seen, alpha), MOST_BET / means) * (seen - means))
    return not np.any(capital >= 1 / alpha)


def is_below(seen: np.ndarray, m: float, alpha: float, N: int, **_: Any) -> bool:
    """Return what ``test_if_true_mean_is_below_m`` does: False if the mean is below m."""
    means = np.append(m, (N * m - np.cumsum(seen[:-1])) / (N - np.arange(seen.size - 1)))
    most = MOST_BET / (1 - means[-1])
    capital = np.cumprod(1 - np.minimum(bets(seen, alpha), most) * (seen - means))
    return not np.any(capital >= 1 / alpha)


def check_tests() -> None:
    """Raise unless these tests are its own."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        seen, m = (rng.random(rng.integers(1, 200)) < rng.random()).astype(float), rng.random()
        options = {"without_replacement": True, "N": 400, "fixed_sample_size": False}
        for ours, name in ((is_above, "above"), (is_below, "below")):
            theirs = getattr(betting_bounds, f"test_if_true_mean_is_{name}_m")
            assert ours(seen, m, 0.05, **options) == theirs(seen, m, 0.05, **options)


class Model(Proxy):
    """Predictions that all say "right", with one minus the uncertainty as their score."""

    def __init__(self, uncertainties: np.ndarray):
        super().__init__(verbose=False)
        self.scores = 1.0 - uncertainties

    def get_preds_and_scores(self, indxs: Any, data_records: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return predictions and scores of rows."""
        return np.ones(len(indxs), int), self.scores[indxs]


class Labels(Oracle):
    """Labels of rows that are known, and of others up to a budget."""

    def __init__(self, wrong: np.ndarray, known: np.ndarray, budget: int):
        super().__init__(verbose=False)
        self.right, self.budget, self.is_known = ~wrong, budget, known

    def ask(self, rows: np.ndarray) -> np.ndarray:
        """Return which rows are known to be right."""
        new = rows[~self.is_known[rows]][: self.budget]
        self.is_known[new] = True
        self.budget -= len(new)
        return (self.right[rows] & self.is_known[rows]).astype(float)

    def is_answer_correct(self, rows: Any, records: Any, predictions: Any) -> np.ndarray:
        """Return it for a sample of ``BARGAIN_A``."""
        return self.ask(np.asarray(rows))

    def get_pred(self, data_records: Any, indxs: Any = None) -> np.ndarray:
        """Return it for a sample of ``BARGAIN_P``."""
        return self.ask(np.asarray(indxs))


def automatic(
    kind: str, wrong: np.ndarray, uncertainties: np.ndarray, n_tested: int, *, chooses: bool,
    **options: Any,
) -> np.ndarray:  # fmt: skip
    """Return which rows keep their predicted label; the first ones of a random order test."""
    model, records = Model(uncertainties), np.arange(wrong.size)
    ranks = np.argsort(np.argsort(model.scores)[::-1])
    TestRowsFirst.order = None if chooses else ranks
    known = np.zeros(wrong.size, bool) if chooses else records < n_tested
    labels = Labels(wrong, known, n_tested if chooses else 0)
    options |= {"proxy": model, "oracle": labels}
    if kind == "file":
        _, by_oracle = BARGAIN_A(verbose=False, **options).process(records, True)
        kept = ~np.array(by_oracle)
        # it also leaves out rows that it asked for in vain
        kept = ranks <= ranks[kept].max(initial=-1)
    else:
        budget = n_tested if chooses else wrong.size
        kept = np.isin(records, BARGAIN_P(budget=budget, **options).process(records))
    return kept & ~labels.is_known


def main(folder: Path) -> None:
    check_tests()
    for process in PROCESSES:
        process.WoR_Sampler = TestRowsFirst
        process.test_if_true_mean_is_above_m = is_above
        process.test_if_true_mean_is_below_m = is_below
    task = load(folder, "task")
    shared = {name: task[name] for name in ("n_tested", "delta")}
    found = [
        automatic(kind, wrong, scores, target=float(target), seed=seed, chooses=chooses, **shared)
        for seed, (wrong, scores) in enumerate(
            zip(task["wrong"], task["uncertainties"], strict=True)
        )
        for chooses in (False, True)
        for kind, targets in zip(("file", "automatic"), task["targets"], strict=True)
        for target in targets
    ]
    save(folder, "answer", automatic=np.packbits(found, axis=1))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
