"""What certificates and estimates cost: their share of a forest's fit, and seconds for votes.

    python -m benchmarks.bounds_speed [ROWS]

A forest with 10,000 labels and a million unlabeled rows by default, with held-out labels
(guarantee) and without (estimate); votes of 100 voters on 10,000 rows, 200 gold labels.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np

from benchmarks.forest_speed import classifier, generate
from benchmarks.timing import calls_timed, print_rows
from benchmarks.votes import speed
from hedgeclipper import HedgeClipperClassifier, VoteAggregator
from hedgeclipper.bounds.checked_rule import CheckedRule
from hedgeclipper.votes import aggregator

N_ROUNDS = 3


def forest_row(level: float | None, X, y, U) -> tuple[str, ...]:
    """Return the share of the fit that goes into the certificate, the median of some fits."""
    shares, spent = [], []
    for _ in range(N_ROUNDS):
        with calls_timed(HedgeClipperClassifier, "_store_rule") as seconds:
            started = time.perf_counter()
            classifier().set_params(confidence_level=level).fit(X, y, X_unlabeled=U)
            shares.append(seconds[0] / (time.perf_counter() - started))
            spent.append(seconds[0])
    what = "estimate" if level is None else "guarantee"
    share = f"{np.median(shares):.3f} of the fit"
    return f"forest, {what}", f"{np.median(spent):.2f}", share


def votes_row(level: float | None) -> tuple[str, ...]:
    """Return the seconds that the certificate of votes takes, the median of some fits."""
    L, y = speed.generate(10_000)
    gold = np.where(np.arange(y.size) < 200, y, -1)
    spent = []
    for _ in range(N_ROUNDS):
        with calls_timed(aggregator, "check_rule") as made, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with calls_timed(CheckedRule, "certificate") as told:
                VoteAggregator(confidence_level=level, abstain_label=-1).fit(L, gold)
        spent.append(made[0] + told[0])
    what = "estimate" if level is None else "guarantee"
    return f"votes, {what}", f"{np.median(spent):.4f}", "-"


def main(n_rows: int = 1_000_000) -> None:
    """Print what certificates and estimates cost."""
    rows = [("what", "seconds", "share")]
    X, y, U = generate(n_rows)
    rows += [forest_row(level, X, y, U) for level in (None, 0.95)]
    rows += [votes_row(level) for level in (None, 0.95)]
    print_rows(rows)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
