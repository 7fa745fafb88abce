"""Ways to decide which predictions may stay in a file: ours, and others given the same test labels.

Each gets a `TestedPredictions`, whose test rows are in random order, and the largest error, and
returns which of the unlabeled rows keep their predicted label. Some answer for the whole file,
others for the automatic labels alone.

- "tuned": as many rows as the test labels themselves allow. It promises nothing.
- "PAC labels": E. J. Candès, A. Ilyas and T. Zrnic, Probably Approximately Correct Labels,
  arXiv:2506.10908, 2025. An upper bound on the mean of errors up to an uncertainty u, for each u;
  people label all rows from the first u on at which it is above the limit. The bound is the betting
  one of I. Waudby-Smith and A. Ramdas (JRSS B, 2024), or that of the normal approximation, which is
  asymptotic. All labels have the same probability of being drawn. Its draws are with replacement;
  here they are without, which helps it.
- "BARGAIN": S. Zeighami, S. Shankar and A. Parameswaran, Cut Costs, Not Accuracy, SIGMOD 2026, by
  its own package (`rivals.run_bargain`): with the same test labels, and with as many that it
  chooses itself, among the rows that it may accept. No other has that choice.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.stats import norm

from benchmarks.environments import Environment
from hedgeclipper.bounds.auto_labels import accept_in_file, surest_rows
from hedgeclipper.bounds.sequential import accept_rows_so_far
from hedgeclipper.bounds.tested_predictions import TestedPredictions
from hedgeclipper.bounds.whole_file import error_limit

LEVEL = 0.95
MAX_ERRORS = (0.01, 0.05, 0.1)
QUESTIONS = ("file", "automatic")
BARGAIN = ("BARGAIN", "BARGAIN, own choice")
ENVIRONMENT = Environment("BARGAIN", ".venv-bargain", "HEDGECLIPPER_BARGAIN")
MOST_BET = 0.75  # of the capital, as in both papers


def ours(rule: TestedPredictions, most: float) -> np.ndarray:
    return accept_in_file(rule, most, LEVEL).is_accepted[rule.wrong.size :]


def ours_at_every_look(rule: TestedPredictions, most: float) -> np.ndarray:
    tested, limit = np.arange(rule.wrong.size), error_limit(most, rule.n_rows)
    order = rule.order_of_pool()
    found = accept_rows_so_far(order, tested, rule.wrong, limit=limit, delta=1 - LEVEL)
    return found.is_accepted[tested.size :]


def ours_among_automatic(rule: TestedPredictions, most: float) -> np.ndarray:
    return surest_rows(rule, most, LEVEL).is_accepted[rule.wrong.size :]


def pool_limit(rule: TestedPredictions, most: float) -> float:
    """Return the proportion of the pool that may be wrong."""
    n_pool = rule.wrong.size + rule.unlabeled_uncertainties.size
    return error_limit(most, rule.n_rows) / n_pool


def before(rule: TestedPredictions, n_allowed: int) -> np.ndarray:
    """Return the unlabeled rows that are less uncertain than the first wrong test row too many."""
    ends = np.concatenate([[-np.inf], np.sort(rule.uncertainties[rule.wrong]), [np.inf]])
    return rule.unlabeled_uncertainties < ends[min(n_allowed + 1, ends.size - 1)]


def tuned(rule: TestedPredictions, most: float) -> np.ndarray:
    return before(rule, int(pool_limit(rule, most) * rule.wrong.size + 1e-9))


def tuned_among_automatic(rule: TestedPredictions, most: float) -> np.ndarray:
    order = np.argsort(rule.uncertainties)
    shares = np.cumsum(rule.wrong[order]) / np.arange(1, order.size + 1)
    fits = np.flatnonzero(shares <= most)
    end = rule.uncertainties[order[fits[-1]]] if fits.size else -np.inf
    return rule.unlabeled_uncertainties <= end


def bet_is_won(losses: np.ndarray, mean: float, delta: float) -> bool:
    """Return whether bets against a mean as large as this one multiply the capital by 1 / delta."""
    number = np.arange(1, losses.size + 1)
    centers = (0.5 + np.cumsum(losses)) / (number + 1)
    spread = (0.25 + np.cumsum((losses - centers) ** 2)) / (number + 1)
    known = np.append(0.25, spread[:-1])
    bets = np.sqrt(2 * np.log(2 / delta) / (losses.size * known))
    capital = np.cumsum(np.log1p(-np.minimum(bets, MOST_BET / (1 - mean)) * (losses - mean)))
    return bool(capital.max(initial=0.0) >= np.log(1 / delta))


def is_below_by_normal(losses: np.ndarray, mean: float, delta: float) -> bool:
    """Return whether the bound of the normal approximation is at most this mean."""
    return losses.mean() + norm.isf(delta) * losses.std() / np.sqrt(losses.size) <= mean


def pac_labels(
    is_below: Callable[[np.ndarray, float, float], bool], rule: TestedPredictions, most: float
) -> np.ndarray:
    limit, losses = pool_limit(rule, most), np.zeros(rule.wrong.size)
    wrong = np.flatnonzero(rule.wrong)
    for n_allowed, row in enumerate(wrong[np.argsort(rule.uncertainties[wrong])], start=-1):
        if not is_below(losses, limit, 1 - LEVEL):
            return before(rule, n_allowed)
        losses[row] = 1.0
    return before(rule, wrong.size if is_below(losses, limit, 1 - LEVEL) else wrong.size - 1)


# by question and name
PROCEDURES: dict[tuple[str, str], Callable[[TestedPredictions, float], np.ndarray]] = {
    ("file", "ours"): ours,
    ("file", "ours, at every look"): ours_at_every_look,
    ("file", "PAC labels"): partial(pac_labels, bet_is_won),
    ("file", "PAC labels, normal"): partial(pac_labels, is_below_by_normal),
    ("file", "tuned"): tuned,
    ("automatic", "ours"): ours_among_automatic,
    ("automatic", "tuned"): tuned_among_automatic,
}


def by_bargain(
    wrong: np.ndarray, uncertainties: np.ndarray, n_tested: int, n_rows: int
) -> np.ndarray:
    """Return the rows of pools that BARGAIN leaves to the model.

    Parameters
    ----------
    wrong, uncertainties : ndarray of shape (n_pools, n_pool)
        Pools of rows in random order: the first ones test.
    n_tested, n_rows : int
        How many of them, and the rows of the file.

    Returns
    -------
    ndarray of bool of shape (n_pools, 2, 2, n_limits, n_pool)
        With these test rows and by its own choice, for each question and limit.
    """
    limits = [error_limit(most, n_rows) / wrong.shape[1] for most in MAX_ERRORS]
    task = {"wrong": wrong, "uncertainties": uncertainties, "n_tested": n_tested}
    task |= {"delta": 1 - LEVEL, "targets": 1 - np.array([limits, MAX_ERRORS])}
    answer = ENVIRONMENT.run("benchmarks.rivals.run_bargain", **task)
    found = np.unpackbits(answer["automatic"], axis=1, count=wrong.shape[1])
    return found.astype(bool).reshape(len(wrong), 2, 2, len(MAX_ERRORS), -1)
