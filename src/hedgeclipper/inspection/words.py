"""Facts in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgeclipper.bounds.certificate import Certificate
from hedgeclipper.inspection.subject import Subject

LONG = 90
SPACE = "\N{NO-BREAK SPACE}"
MOST_CLASSES = 6


def per_cent(share: float) -> str:
    """Return a share in per cent, with one digit after the point."""
    return f"{100 * share:.1f}{SPACE}%"


def points(gain: float, error: float) -> str:
    """Return a difference of shares and its standard error, in points of a hundred."""
    return f"{100 * gain:+.1f} ± {100 * error:.1f}"


def count(n: int, one: str, many: str | None = None) -> str:
    """Return a number of things."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def listed(names: Any, most: int = MOST_CLASSES) -> str:
    """Return names in a row, the first few where there are many."""
    shown = [str(name) for name in names[:most]]
    more = len(names) - len(shown)
    if more:
        return ", ".join(shown) + f" and {more} more"
    return ", ".join(shown[:-1]) + f" and {shown[-1]}" if len(shown) > 1 else shown[0]


def shortened(value: Any) -> str:
    """Return a value as it is written in Python, cut off where it is long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= LONG else text[: LONG - 3] + "..."


def kind_of(subject: Subject) -> str:
    """Return what the model is, in a few words."""
    if subject.is_votes:
        return f"aggregate of the votes of {count(len(subject.voters.names), 'voter')}"
    if subject.is_panel:
        return f"panel of {count(len(subject.estimator.members_), 'classifier')}"
    n_trees = subject.estimator._predictor.finder.n_trees
    return f"forest of {count(n_trees, 'tree')} whose leaves were weighed anew"


def bound_words(certificate: Certificate) -> str:
    """Return what a certificate says of the error."""
    low, high = per_cent(certificate.error_lower), per_cent(certificate.error_upper)
    return f"between {low} and {high}" if certificate.error_lower > 0 else f"at most {high}"


def counts_by_class(codes: np.ndarray, classes: np.ndarray) -> str:
    """Return how many there are of each class."""
    numbers = np.bincount(codes, minlength=classes.size)
    return listed([f"{n:,} of class {label}" for n, label in zip(numbers, classes, strict=True)])
