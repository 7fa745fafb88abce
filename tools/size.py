"""How large the package is, and how many functions and files a fit of each estimator passes.

    python tools/size.py

Functions are those of the package that are called during ``fit`` on 400 x 5 rows (200 labeled), or
as many votes; comprehensions and the like count as part of theirs.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import hedgeclipper

HOME = Path(hedgeclipper.__file__).parent


def passed_through(work: Callable[[], Any]) -> set[tuple[str, str]]:
    """Return the files and functions of the package that the work calls."""
    seen: set[tuple[str, str]] = set()

    def note(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(HOME)) and code.co_name[0] != "<":
            seen.add((code.co_filename, code.co_qualname))

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return seen


def fits() -> dict[str, Callable[[], Any]]:
    """Return a fit of each estimator."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    truth = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    y = np.where(np.arange(400) < 200, truth, -1)
    votes = np.where(rng.random((400, 5)) < 0.7, truth[:, None], 1 - truth[:, None])
    members = [("linear", LogisticRegression()), ("bayes", GaussianNB())]
    return {
        "HedgeClipperClassifier": lambda: hedgeclipper.HedgeClipperClassifier().fit(X, y),
        "HedgedVotingClassifier": lambda: hedgeclipper.HedgedVotingClassifier(members).fit(X, y),
        "VoteAggregator": lambda: hedgeclipper.VoteAggregator().fit(votes, y),
    }


def main() -> None:
    """Print all figures."""
    files = sorted(HOME.rglob("*.py"))
    print(f"{sum(len(f.read_text().splitlines()) for f in files)} lines in {len(files)} files")
    for name, fit in fits().items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit()
            seen = passed_through(fit)
        n_files = len({file for file, _ in seen})
        parameters = inspect.signature(getattr(hedgeclipper, name)).parameters
        print(f"{name}: {len(parameters)} parameters, {len(seen)} functions in {n_files} files")


if __name__ == "__main__":
    main()
