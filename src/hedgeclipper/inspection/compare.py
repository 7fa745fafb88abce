"""An honest comparison: what the model, and what it is made of, get right on labels held back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from hedgeclipper.inspection.holding_back import HeldBack, Skipped, held_back
from hedgeclipper.inspection.subject import SEED, Subject

LEAST_LABELS = 6


@dataclass(frozen=True, eq=False)
class Contestant:
    """What somebody said of every labeled row, by a fit without it.

    Parameters
    ----------
    name : str
        Its name.
    shares : ndarray of shape (n_labeled, n_classes)
        Probabilities, or for votes their shares.
    """

    name: str
    shares: np.ndarray


@dataclass(frozen=True, eq=False)
class Comparison:
    """Who said what, fold by fold.

    Parameters
    ----------
    codes : ndarray of shape (n_labeled,)
        Classes of the labeled rows.
    folds : list of ndarray
        Numbers of the rows of each fold.
    ours : Contestant
        The model.
    others : list of Contestant
        What it is made of, and plain ways to put that together.
    how : str
        How labels were held back.
    """

    codes: np.ndarray
    folds: list[np.ndarray]
    ours: Contestant
    others: list[Contestant]
    how: str

    def wrong(self, who: Contestant) -> np.ndarray:
        """Return on which rows a contestant is wrong, shape (n_labeled,)."""
        return (who.shares.argmax(axis=1) != self.codes).astype(float)

    def error(self, who: Contestant) -> tuple[float, float]:
        """Return the error and its standard error over the rows."""
        error = float(self.wrong(who).mean())
        return error, float(np.sqrt(error * (1.0 - error) / self.codes.size))

    def errors_by_fold(self, who: Contestant) -> list[float]:
        """Return the error on each fold."""
        wrong = self.wrong(who)
        return [float(wrong[fold].mean()) for fold in self.folds]

    def auc(self, who: Contestant) -> float:
        """Return the mean over the folds of the area under the ROC curve; NaN for many classes."""
        if who.shares.shape[1] != 2:
            return float("nan")
        areas = [roc_auc_score(self.codes[fold], who.shares[fold, 1]) for fold in self.folds]
        return float(np.mean(areas))

    def gain(self, over: Contestant) -> tuple[float, float]:
        """Return by how much the model's error is lower, row by row, and the standard error."""
        gains = self.wrong(over) - self.wrong(self.ours)
        return float(gains.mean()), float(gains.std(ddof=1) / np.sqrt(gains.size))

    @property
    def best_other(self) -> Contestant:
        """The contestant, other than the model, with the lowest error."""
        return min(self.others, key=lambda who: self.error(who)[0])


def compare(subject: Subject) -> Comparison | str:
    """Return the comparison, or why there is none."""
    try:
        way = held_back(subject)
        folds = _folds(way, subject.classes)
        said = [way.said(train, test) for train, test in folds]
    except Skipped as reason:
        return str(reason)
    tests = [test for _, test in folds]
    contestants = [
        Contestant(name, _gathered([part[name] for part in said], tests))
        for name in said[0]
        if all(name in part for part in said)
    ]
    how = f"{len(folds)} stratified folds of {way.codes.size:,} labeled rows, shuffled. {way.words}"
    return Comparison(way.codes, tests, contestants[0], contestants[1:], how)


def _folds(way: HeldBack, classes: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    counts = np.bincount(way.codes, minlength=classes.size)
    fewest = int(counts.min())
    if fewest < LEAST_LABELS:
        raise Skipped(
            f"Class {classes[counts.argmin()]} has {fewest} labeled row{'s' * (fewest != 1)}, and "
            f"a comparison by cross-validation takes {LEAST_LABELS} of each class at least. With "
            "fewer it would be chance."
        )
    splitter = StratifiedKFold(way.n_folds, shuffle=True, random_state=SEED)
    return list(splitter.split(np.zeros((way.codes.size, 1)), way.codes))


def _gathered(parts: list[np.ndarray], folds: list[np.ndarray]) -> np.ndarray:
    """Return what was said of the rows of each fold, in the order of all rows."""
    whole = np.empty((sum(fold.size for fold in folds), parts[0].shape[1]))
    for part, fold in zip(parts, folds, strict=True):
        whole[fold] = part
    return whole
