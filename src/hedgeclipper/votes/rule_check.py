"""What gold labels tell of the predictions: held-out ones of the final rule, or those fitted to.

Without held-out labels a labeled row is predicted by an initial model that estimates the accuracies
of its voters without the row's own label; the weights of the mixture and of the game were found
with it.
"""

from __future__ import annotations

import numpy as np

from hedgeclipper.base.held_out import ONLY_HELD_OUT, SHIFTED_LABELS, USED_LABELS
from hedgeclipper.bounds.checked_rule import CheckedRule
from hedgeclipper.bounds.class_rates import RateEvidence
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.evidence import Evidence
from hedgeclipper.votes.gold import GoldRows
from hedgeclipper.votes.vote_game import VotePredictor, most_probable


def check_rule(
    gold: GoldRows,
    held: np.ndarray | None,
    evidence: Evidence,
    predictor: VotePredictor,
    on_labeled: np.ndarray,
    probabilities: np.ndarray,
    is_shifted: bool,
) -> tuple[CheckedRule, RateEvidence]:
    """Return the errors on labeled rows, and the doubts on these and on the unlabeled ones.

    With them comes what labels and predictions tell of how often each class occurs.

    ``held`` are the numbers of the held-out labels, ``on_labeled`` log-probabilities of the initial
    model for the others, and ``probabilities`` those of the predictor for the unlabeled rows of the
    fit, held-out ones last.
    """
    if held is None:
        tested, codes = predictor.moved(on_labeled, evidence.labeled), evidence.codes
        caveat = USED_LABELS
    else:
        if gold.has_unlabeled:
            tested = probabilities[gold.unlabeled.n_rows :]
        else:
            tested = predictor.probabilities(Ballots(gold.labeled.take(held)))
        codes, caveat = gold.codes[held], SHIFTED_LABELS if is_shifted else ""
        known = np.bincount(evidence.codes, minlength=evidence.balance.size)
        known = known + (evidence.labeled.votes_cast + evidence.unlabeled.votes_cast).sum(axis=0)
        if np.any(known[codes] == 0):
            caveat = ONLY_HELD_OUT
    wrong = most_probable(tested, evidence.balance) != codes
    unlabeled = probabilities[: gold.unlabeled.n_rows if gold.has_unlabeled else 0]
    rates = RateEvidence(
        gold.codes,
        tested,
        np.arange(gold.codes.size) if held is None else held,
        unlabeled.mean(axis=0) if len(unlabeled) else np.zeros(evidence.balance.size),
        len(unlabeled),
        is_guarantee=held is not None and not is_shifted,
    )
    doubts, others = (1.0 - part.max(axis=1) for part in (tested, unlabeled))
    return CheckedRule.of(wrong, doubts, others, gold.codes, caveat=caveat), rates
