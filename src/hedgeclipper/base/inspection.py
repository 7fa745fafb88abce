"""What a fitted estimator shows of itself: one object for summaries, displays and the report.

Each estimator has a method ``_inspect`` that returns an `Inspection`; others call
`inspect_estimator`, and read nothing private of an estimator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.base.semi_supervised import SemiSupervisedRows
from hedgeclipper.base.summary import VoterTable, certificates_of
from hedgeclipper.bounds.certificate import Certificate
from hedgeclipper.game.solution import PassRecord, Solution


@dataclass(frozen=True, eq=False)
class HeldOut:
    """A way to predict labeled rows without the use of their own labels.

    Parameters
    ----------
    codes : ndarray of shape (n_labeled,)
        Classes of the labeled rows.
    n_folds : int
        Into how many folds to split them.
    predict : callable
        From the numbers of the rows to learn from, and of those held out, to the probabilities of
        the latter by method: the model itself, first, and its baselines.
    description : str
        What is done with each fold.
    """

    codes: np.ndarray
    n_folds: int
    predict: Callable[[np.ndarray, np.ndarray], dict[str, np.ndarray]]
    description: str


@dataclass(frozen=True, eq=False)
class Inspection:
    """All that summaries, displays and the report need of a fitted estimator.

    Parameters
    ----------
    kind : {"forest", "panel", "votes"}
        Which of the three estimators it is.
    description : str
        What it is, in a few words.
    classes : ndarray of shape (n_classes,)
        Class labels.
    n_labeled, n_unlabeled : int
        Rows of the fit.
    tol : float
        Relative gap at which the solver was to stop.
    certificates : list of Certificate
        One, or one for each class against the rest.
    histories : list of sequence of PassRecord
        Passes of the solver, likewise.
    n_iter : int
        Passes over the rows in all games.
    stop_reasons : list of str
        Why it stopped, likewise.
    make_voters : callable
        Returns the table of the voters; use ``voters``.
    read_rows : callable
        Returns rows like those of the fit, checked as these were; arguments as in ``fit``.
    predict_rows : callable
        From rows that were read to probabilities of shape (n_samples, n_classes), and to what
        `MarginDisplay` draws of two classes, shape (n_samples,).
    draw_rows : callable or None
        From rows that were read, a number and a RandomState to so many rows drawn at random.
    describe_voters : callable
        From numbers of voters to more columns of the table, by name.
    hold_out : callable or None
        From unlabeled rows, or None, to the `HeldOut` of an estimator that need not be fitted
        again for it.
    contradicting : list of str
        Names of the voters whose bounds had to be relaxed.
    shift_score : float or None
        How much the unlabeled rows differ from the labeled ones, if that is significant.
    votes : Votes or None
        Unlabeled votes of the fit, where rows are votes.
    """

    kind: str
    description: str
    classes: np.ndarray
    n_labeled: int
    n_unlabeled: int
    tol: float
    certificates: list[Certificate]
    histories: list[Sequence[PassRecord]]
    n_iter: int
    stop_reasons: list[str]
    make_voters: Callable[[], VoterTable]
    read_rows: Callable[..., SemiSupervisedRows]
    predict_rows: Callable[[Any], tuple[np.ndarray, np.ndarray]]
    draw_rows: Callable[[Any, int, np.random.RandomState], Any] | None = None
    describe_voters: Callable[[np.ndarray], dict[str, list]] = lambda voters: {}
    hold_out: Callable[[Any], HeldOut] | None = None
    contradicting: Sequence[str] = ()
    shift_score: float | None = None
    votes: Any = None

    @cached_property
    def voters(self) -> VoterTable:
        """The voters with their weights and correlations."""
        return self.make_voters()

    @property
    def is_one_vs_rest(self) -> bool:
        """Whether there is a game, and a certificate, for each class against the rest."""
        return len(self.certificates) > 1


def store_games(
    estimator: Any,
    games: Sequence[Solution],
    certificates: Sequence[Certificate],
    hedged_ranges: Sequence[tuple[float, float]],
) -> None:
    """Store what all estimators tell of their games, in arrays with an entry for each game.

    Parameters
    ----------
    estimator : estimator
        Where to store it.
    games : sequence of Solution
        What the solver returned: one for two classes, or one per class for more.
    certificates : sequence of Certificate
        One for each game.
    hedged_ranges : sequence of pairs of floats
        Between which awake predictions each hedges.
    """
    estimator.slack_ = np.array([game.slack for game in games])
    estimator.duality_gap_ = np.array([game.duality_gap for game in games])
    estimator.n_iter_ = np.array([game.n_iter for game in games])
    estimator.stop_reason_ = np.array([game.stop_reason for game in games])
    estimator.history_ = [game.history for game in games]
    estimator.hedged_range_ = np.array(hedged_ranges)
    bounds = [certificate.error_upper for certificate in certificates]
    is_one = len(games) == 1
    estimator.certificate_ = certificates[0] if is_one else list(certificates)
    estimator.worst_case_error_ = bounds[0] if is_one else bounds


def inspection(estimator: Any, **own: Any) -> Inspection:
    """Return the inspection of an estimator, with the results that all have alike filled in.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator of this package.
    **own : dict
        The other fields of `Inspection`.
    """
    certificates = certificates_of(estimator)
    return Inspection(
        classes=estimator.classes_,
        n_labeled=estimator.n_labeled_,
        n_unlabeled=estimator.n_unlabeled_,
        tol=estimator.tol,
        certificates=certificates,
        histories=list(estimator.history_),
        n_iter=int(np.sum(estimator.n_iter_)),
        stop_reasons=estimator.stop_reason_.tolist(),
        **own,
    )


def inspect_estimator(estimator: Any, wanted_by: str) -> Inspection:
    """Return the inspection of a fitted estimator, or raise if it has none.

    Parameters
    ----------
    estimator : estimator
        An estimator of this package.
    wanted_by : str
        What needs it, as the user would call it.
    """
    if not hasattr(estimator, "_inspect"):
        raise TypeError(
            f"{wanted_by} is for HedgeClipperClassifier, HedgedVotingClassifier or "
            f"VoteAggregator, or a pipeline or search that ends in one. Got "
            f"{type(estimator).__name__}."
        )
    check_is_fitted(estimator)
    return estimator._inspect()
