"""Predictions of labeled rows without their labels, and what they tell of a model for tables.

With a ``confidence_level`` these are predictions of held-out rows. Without, they are made fold by
fold of the labeled rows, by weights that were found without the fold, from scores of voters that
have not seen the row. Both are `TestedPredictions` in the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import rankdata

from hedgeclipper.base.evaluation import SeenRowsWarning
from hedgeclipper.base.predictions import TablePredictor
from hedgeclipper.base.row_reader import HeldOutRows
from hedgeclipper.bounds.certificate import USED_LABELS
from hedgeclipper.bounds.hold_out import HeldOutLabels
from hedgeclipper.bounds.tested_predictions import TestedPredictions
from hedgeclipper.io.arrays import MODULUS, digest_rows, hash_rows
from hedgeclipper.io.messages import warn_user
from hedgeclipper.voters.voters import FittedVoters
from hedgeclipper.weighing import VoterScores, weigh_by_folds


@dataclass(frozen=True, eq=False)
class TestedRows:
    """Labeled rows that tested the model, and what was predicted for them without their labels."""

    y: np.ndarray  # (n_tested,): labels
    raw: np.ndarray  # (n_tested, n_games): log-odds
    hashes: np.ndarray  # (n_tested,): by which the rows are recognized


@dataclass(frozen=True, eq=False)
class FitFacts:
    """What a test must know of the fit: its labels, those that test, and its unlabeled rows."""

    y: np.ndarray  # (n_labeled,): all labels, held-out ones too
    draw: HeldOutLabels
    raw: np.ndarray  # (n_rows, n_games): of the unlabeled rows, or of a random sample of them
    n_unlabeled: int


def check_on_held_out(
    predictor: TablePredictor,
    held: HeldOutRows,
    facts: FitFacts,
    digest: int,
    is_shifted: bool,
    n_jobs: int | None,
) -> tuple[TestedRows, TestedPredictions]:
    """Return what held-out labels tell: a guarantee, unless labeled and unlabeled rows differ.

    ``digest`` is that of held-out and unlabeled rows, and ``is_shifted`` whether voters have seen
    that these are unlike the labeled ones.
    """
    tested = TestedRows(held.y, predictor.raw_predictions(held.X, n_jobs), hash_rows(held.X))
    digest = (digest - digest_rows(held.X)) % MODULUS
    own, others = predictor.uncertainties(tested.raw), predictor.uncertainties(facts.raw)
    caveat = facts.draw.why_no_sample(is_shifted, (tested.raw, facts.raw), (own, others))
    return tested, _tested(predictor, tested, facts, own, caveat=caveat, digest=digest)


def check_by_folds(
    predictor: TablePredictor,
    scores: Sequence[VoterScores],
    voters: FittedVoters,
    facts: FitFacts,
    hashes: np.ndarray,
) -> tuple[TestedRows, TestedPredictions]:
    """Return what labels tell that were used in the fit, too: an estimate.

    ``scores`` has an entry for each game, and ``hashes`` are those of the labeled rows.
    """
    # labeled rows that all voters have scored without their labels, if these are of all classes
    rows, raw, centers = np.flatnonzero(voters.is_scored), np.empty((0, len(scores))), []
    if all(own.n_rare for own in scores):
        raw = np.empty((rows.size, len(scores)))
        for test, votes, unlabeled in weigh_by_folds(scores, voters.tree_sizes):
            fold = replace(predictor, votes=votes)
            raw[test] = fold.raw_of(voters.labeled[rows[test]])
            centers.append(np.mean(fold.uncertainties(fold.raw_of(unlabeled))))
    can_test = facts.draw.can_test[rows[: len(raw)]]
    rows, raw = rows[: len(raw)][can_test], raw[can_test]
    tested = TestedRows(facts.y[rows], raw, hashes[rows])
    own = scaled = predictor.uncertainties(raw)
    if facts.raw.size and raw.size:
        # fewer trees and labels predict on another scale: take the values of the same ranks
        ranks = (rankdata(raw, axis=0) - 0.5) / tested.y.size
        pairs = zip(facts.raw.T, ranks.T, strict=True)
        same = np.column_stack([np.quantile(column, rank) for column, rank in pairs])
        scaled = predictor.uncertainties(same)
    # the mean uncertainty of the models without a fold, on some unlabeled rows
    center = float(np.mean(centers)) if centers and facts.n_unlabeled else None
    known = {"own_uncertainties": own, "center": center, "caveat": USED_LABELS}
    return tested, _tested(predictor, tested, facts, scaled, **known)


def _tested(
    predictor: TablePredictor,
    tested: TestedRows,
    facts: FitFacts,
    uncertainties: np.ndarray,
    **known: Any,
) -> TestedPredictions:
    predicted = predictor.predict(tested.raw)
    return TestedPredictions.of(
        predicted != tested.y,
        predicted,
        uncertainties,
        unlabeled=(predictor.predict(facts.raw), predictor.uncertainties(facts.raw)),
        labels=facts.y,
        draw=facts.draw,
        n_unlabeled=facts.n_unlabeled,
        **known,
    )


def predict_unseen(
    batches: Iterable[tuple[Any, np.ndarray]], tested: TestedRows, fitted_hashes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return log-odds of rows, and which of these can be scored.

    If most labeled rows of the fit, known by their hashes, are among them, these are predicted
    without their labels, by what tested the model, and cannot be scored where there is no such
    prediction. Batches of rows come with their log-odds.
    """
    raw, hashes = [tested.raw[:0]], [tested.hashes[:0]]
    for batch, own in batches:
        raw.append(own)
        hashes.append(hash_rows(batch))
    found, own = np.concatenate(raw), np.concatenate(hashes)
    fitted, is_scored = np.unique(fitted_hashes), np.ones(own.size, dtype=bool)
    is_seen, n_fitted = np.isin(own, fitted), fitted_hashes.size
    # if rows of the fit equal each other, or many rows equal one of them, columns are coarse: new
    # rows are then equal to rows of the fit by chance
    are_different, are_few = fitted.size >= 0.9 * n_fitted, is_seen.sum() <= 1.5 * n_fitted
    if are_different and are_few and np.isin(fitted, own).sum() > 0.5 * n_fitted:
        places = {key: place for place, key in enumerate(tested.hashes.tolist())}
        place = np.array([places.get(key, -1) for key in own.tolist()])
        found[place >= 0] = tested.raw[place[place >= 0]]
        is_scored = ~is_seen | (place >= 0)
        lost = f", and the {(~is_scored).sum():,} others are left out"
        warn_user(
            f"{is_seen.sum():,} of these rows are rows of the fit. They are scored by "
            "predictions made without their labels, those by which the error is estimated"
            f"{'' if is_scored.all() else lost}. Pass new rows for an independent test.",
            SeenRowsWarning,
        )
    return found, is_scored
