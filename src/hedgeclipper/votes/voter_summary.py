"""What each voter does, and what it is worth."""

from __future__ import annotations

import numpy as np

from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.knowledge import Knowledge
from hedgeclipper.votes.vote_predictor import VotePredictor


def summarize_voters(
    labeled: Ballots,
    codes: np.ndarray,
    unlabeled: Ballots,
    knowledge: Knowledge,
    predictor: VotePredictor,
    contradicts: np.ndarray,
    classes: np.ndarray,
) -> dict[str, np.ndarray | list]:
    """Return the columns of the summary, those of Snorkel's first.

    Parameters
    ----------
    labeled, unlabeled : Ballots
        Votes.
    codes : ndarray of shape (n_labeled,)
        Gold labels.
    knowledge : Knowledge
        Bounds on the voters.
    predictor : VotePredictor
        The result.
    contradicts : ndarray of bool
        Whose bounds have to give way.
    classes : ndarray
        Labels of the classes.
    """
    n_voters, n_classes, _ = unlabeled.shape
    overlaps, conflicts = _meetings(unlabeled)
    right = np.diagonal(labeled.sums(np.eye(n_classes)[codes]), axis1=1, axis2=2).sum(axis=1)
    n_judged = labeled.said.sum(axis=1)
    n_cast = unlabeled.said.sum(axis=1)
    believed = np.diagonal(
        unlabeled.sums(predictor.probabilities(unlabeled)), axis1=1, axis2=2
    ).sum(axis=1)
    said = labeled.said + unlabeled.said
    return {
        "j": np.arange(n_voters),
        "Polarity": [classes[row > 0].tolist() for row in said],
        "Coverage": n_cast / unlabeled.n_rows,
        "Overlaps": overlaps / unlabeled.n_rows,
        "Conflicts": conflicts / unlabeled.n_rows,
        "Correct": right.astype(int),
        "Incorrect": (n_judged - right).astype(int),
        "Emp. Acc.": _ratio(right, n_judged),
        "Lower": knowledge.voters.lower,
        "Upper": knowledge.voters.upper,
        "Est. Acc.": _ratio(believed, n_cast),
        "Weight": vote_weight(unlabeled, predictor),
        "Contradicts": contradicts,
    }


def vote_weight(ballots: Ballots, predictor: VotePredictor) -> np.ndarray:
    """Return by how much a voter's vote moves the log-odds of the class it votes for, on average.

    The mean is over its votes, and over the other classes.
    """
    n_classes = ballots.n_classes
    own = np.diagonal(predictor.vote_weights(ballots.shape), axis1=1, axis2=2)
    over_others = own * n_classes / (n_classes - 1)
    return _ratio(np.sum(ballots.said * over_others, axis=1), ballots.said.sum(axis=1))


def _meetings(ballots: Ballots) -> tuple[np.ndarray, np.ndarray]:
    """Return on how many rows each voter votes beside others, and against one of them."""
    rows, voters, codes = ballots.votes.triplets()
    per_row = ballots.n_votes[rows]
    same = ballots.votes.counts()[rows, codes]
    n_voters = ballots.votes.n_voters
    overlaps = np.bincount(voters, per_row > 1, minlength=n_voters)
    return overlaps, np.bincount(voters, same < per_row, minlength=n_voters)


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
