"""The votes of a fit: which rows have gold labels, what these tell, and what they test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import hypergeom, norm
from sklearn.utils import check_random_state

from hedgeclipper.base.columns import LARGEST_ACCIDENT, LEAST_OTHERS, log_accident
from hedgeclipper.base.row_reader import ShiftWarning, is_unlabeled, label_values, labeled_only
from hedgeclipper.bounds.certificate import USED_LABELS, RateEvidence
from hedgeclipper.bounds.hold_out import HeldOutLabels
from hedgeclipper.bounds.tested_predictions import ONLY_HELD_OUT, TestedPredictions
from hedgeclipper.game.equations import ROWS_IN_GAME
from hedgeclipper.game.losses import row_favorites, row_maxima
from hedgeclipper.io.arrays import digest_rows
from hedgeclipper.io.messages import warn_user
from hedgeclipper.votes.matrix import VoteKernel, Votes
from hedgeclipper.votes.readers import class_codes, sort_classes

# of those in the game, rows on which contradictions are searched
ROWS_IN_SEARCH = 5_000


def find_labels(votes: Votes, y: Any, *, has_others: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return the label of each row, and which rows have none.

    A missing entry of y marks a row without a label; so does -1, unless there are other rows
    without labels, or some entries are missing and -1 is a class of the votes. y None: no row has
    one.
    """
    labels = label_values(np.full(votes.n_rows, None) if y is None else _by_row(votes, y))
    if labels.shape != (votes.n_rows,):
        raise ValueError(
            f"y must have one entry for each of the {votes.n_rows} rows of votes. Got shape "
            f"{labels.shape}."
        )
    missing = is_unlabeled(labels, minus_one_is_class=True)
    marked = missing if has_others else is_unlabeled(labels)
    if is_unlabeled(votes.classes).any() and not np.array_equal(marked, missing):
        if not missing.any():
            raise ValueError(
                "-1 is a class of the votes, and in y it marks rows without a label. Pass a "
                "missing label (None or NaN) for these, or their votes as L_unlabeled."
            )
        marked = missing
    return labels, marked


def _by_row(votes: Votes, y: Any) -> Any:
    """Return labels in the order of the rows, None where there is none, if they are by name.

    Those of a mapping are; those of a Series if all its names are names of rows.
    """
    is_series = not isinstance(y, Mapping) and hasattr(y, "index") and not callable(y.index)
    if not is_series and not isinstance(y, Mapping):
        return y
    names = np.arange(votes.n_rows) if votes.rows is None else votes.rows
    position_of = {name: position for position, name in enumerate(names.tolist())}
    given = dict(y.items())
    unknown = [name for name in given if name not in position_of]
    if is_series and (unknown or len(given) < len(y)) and len(y) == votes.n_rows:
        return y  # its names are others, or not unique: labels are in the order of the rows
    if unknown:
        raise ValueError(
            f"y has labels of {len(unknown)} rows that are not among the votes, such as "
            f"{unknown[0]!r}; the first row is {names.tolist()[0]!r}. Pass labels by the names of "
            "the rows (Votes.rows), or one for each row in their order."
        )
    labels = np.full(votes.n_rows, None, dtype=object)
    for name, label in given.items():
        labels[position_of[name]] = label
    return labels


@dataclass(frozen=True, eq=False)
class LabeledVotes:
    """Votes on all rows of a fit, in the order in which they were passed, and which have labels.

    ``labeled_rows`` are the numbers of the labeled rows, in ascending order, ``codes`` their
    classes. If no row is unlabeled, the labeled ones are reused as such. ``is_apart`` tells whether
    unlabeled rows were passed as a set of their own; these are the last ones.
    """

    votes: Votes
    labeled_rows: np.ndarray
    codes: np.ndarray
    has_unlabeled: bool
    is_apart: bool

    @classmethod
    def of(cls, votes: Votes, y: Any, others: Votes | None, abstain_label: Any) -> LabeledVotes:
        """Return the rows of a fit, those of ``others`` last; warn if no row is unlabeled.

        ``abstain_label`` must not be a class.
        """
        values, marked = find_labels(votes, y, has_others=others is not None)
        labeled_rows = np.flatnonzero(~marked)
        labels = values[labeled_rows].tolist()
        if not labels:
            raise ValueError(
                "y has no gold label: the game needs a few, of each class if possible. Label some "
                "rows."
            )
        if others is not None:
            votes = Votes.stack(votes, others)
        seen = dict.fromkeys([*votes.classes.tolist(), *labels])
        classes = sort_classes(seen, "Votes and gold labels together")
        if classes.size < 2:
            raise ValueError(
                "Votes and gold labels must have at least two classes. Got one, "
                f"{classes.tolist()[0]!r}."
            )
        if votes.n_votes == 0:
            raise ValueError(
                "There are no votes: all voters abstain on all rows. Check what is read as an "
                "abstention."
            )
        if any(label == abstain_label for label in classes.tolist()):
            raise ValueError(
                f"The label {abstain_label!r} is both a class of the votes or of y, and "
                "abstain_label. Pass another abstain_label, or None if only missing votes abstain."
            )
        votes = votes.align(votes.voters, classes, named=votes.named)
        codes, has_unlabeled = class_codes(labels, classes, "y"), len(labels) < votes.n_rows
        if not has_unlabeled:
            labeled_only(votes, codes, "pass L_unlabeled, or mark them with y = -1")
        return cls(votes, labeled_rows, codes, has_unlabeled, others is not None)

    @property
    def unlabeled_rows(self) -> np.ndarray:
        """Numbers of the unlabeled rows, in ascending order."""
        every = np.arange(self.votes.n_rows)
        return np.delete(every, self.labeled_rows) if self.has_unlabeled else every

    @property
    def labeled(self) -> Votes:
        """Votes on the labeled rows."""
        return self.votes.take(self.labeled_rows)

    @property
    def unlabeled(self) -> Votes:
        """Votes on the unlabeled rows."""
        return self.votes.take(self.unlabeled_rows)

    def hold_out(self, held: np.ndarray) -> LabeledVotes:
        """Return the same rows with some of the labels, those of these numbers, taken away."""
        rows, codes = (np.delete(part, held) for part in (self.labeled_rows, self.codes))
        return replace(self, labeled_rows=rows, codes=codes)

    def aligned(self, votes: Votes) -> Votes:
        """Return other votes with the voters and classes of these."""
        return votes.align(self.votes.voters, self.votes.classes, named=self.votes.named)

    def all_labels(self, predicted: np.ndarray) -> np.ndarray:
        """Return the labels of all rows passed, given predicted ones of the unlabeled rows."""
        if self.is_apart:
            return predicted
        whole = np.empty(self.votes.n_rows, dtype=predicted.dtype)
        if self.has_unlabeled:
            whole[self.unlabeled_rows] = predicted
        whole[self.labeled_rows] = self.votes.classes[self.codes]
        return whole


def find_gold_voters(gold: LabeledVotes) -> dict[str, str]:
    """Return voters that seem to be the gold labels, and why.

    They vote for the gold label on more than half of the labeled rows, never for another one, and
    on no other row, with enough votes of each class that this is no accident.
    """
    others = np.bincount(gold.unlabeled.triplets()[1], minlength=gold.votes.n_voters)
    if not gold.has_unlabeled or gold.unlabeled_rows.size < LEAST_OTHERS:
        return {}
    rows, voters, codes = gold.labeled.triplets()
    found = {}
    for k in np.flatnonzero(others == 0):
        own = voters == k
        is_right = codes[own] == gold.codes[rows[own]]
        is_most = is_right.all() and is_right.sum() > 0.5 * gold.codes.size
        if is_most and log_accident(np.bincount(codes[own])) < np.log(LARGEST_ACCIDENT):
            found[str(gold.votes.voters[k])] = "it votes for the label, and on no other row"
    return found


@dataclass(frozen=True, eq=False)
class Evidence:
    """Votes on labeled and unlabeled rows, and which rows are used for what.

    ``codes`` are the classes of the labeled rows. The game is solved on ``sample``, a part of the
    unlabeled rows, and contradictions are searched on ``searched``, a part of that. ``n_active`` is
    the number of voters that vote on any row, at least 1. ``balance`` has the class frequencies,
    and ``cautious_balance`` those for component models: `cautious_frequencies`, or again the known
    ones. Without unlabeled rows, the labeled ones are reused.
    """

    labeled: VoteKernel
    codes: np.ndarray
    unlabeled: VoteKernel
    sample: VoteKernel
    searched: VoteKernel
    n_active: int
    balance: np.ndarray
    cautious_balance: np.ndarray
    is_balance_known: bool


def gather_evidence(rows: LabeledVotes, class_balance: Any, random_state: Any) -> Evidence:
    """Return the evidence of the rows of a fit; ``random_state`` draws rows of many."""
    labeled, unlabeled = VoteKernel(rows.labeled), VoteKernel(rows.unlabeled)
    rng = np.random.default_rng(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    counts = np.bincount(rows.codes, minlength=labeled.n_classes)
    balance = class_frequencies(class_balance, counts)
    is_balance_known = not (isinstance(class_balance, str) and class_balance == "labeled")
    sample = _draw(unlabeled, ROWS_IN_GAME, rng)
    n_cast = labeled.votes_cast.sum(axis=1) + unlabeled.votes_cast.sum(axis=1)
    return Evidence(
        labeled,
        rows.codes,
        unlabeled,
        sample,
        # always the same rows, but not every k-th, since rows may be in a periodic order
        _draw(sample, ROWS_IN_SEARCH, np.random.default_rng(0)),
        max(int(np.count_nonzero(n_cast)), 1),
        balance,
        balance if is_balance_known else cautious_frequencies(counts),
        is_balance_known,
    )


def class_frequencies(class_balance: Any, counts: np.ndarray) -> np.ndarray:
    """Return class frequencies: of the labels and one more per class, or the given ones.

    ``counts`` are the numbers of labels of each class.
    """
    if isinstance(class_balance, str):
        more = counts + 1.0 if class_balance == "labeled" else np.ones(counts.size)
        return more / more.sum()
    try:
        balance = np.asarray(class_balance, dtype=float)
    except (TypeError, ValueError):
        balance = np.empty(0)
    is_whole = balance.shape == counts.shape and np.isclose(balance.sum(), 1.0)
    if not is_whole or np.any(balance <= 0):
        raise ValueError(
            f"class_balance must be {counts.size} positive frequencies that add up to 1, one for "
            f"each class in sorted order. Got {class_balance!r}."
        )
    return balance


def cautious_frequencies(counts: np.ndarray) -> np.ndarray:
    """Return class frequencies, shrunk to equal ones as far as labels may be of such.

    It is the shrinkage of James and Stein, with two standard errors in the place of one: where rows
    have few votes, frequencies of few labels mislead component models.
    """
    expected = max(counts.sum(), 1) / counts.size
    excess, noise = counts - expected, 4.0 * (counts.size - 1)
    distance = max(np.sum(excess**2) / expected, noise)
    shrunken = expected + excess * (1.0 - noise / distance) + 1.0
    return shrunken / shrunken.sum()


def _draw(votes: VoteKernel, most: int, rng: np.random.Generator) -> VoteKernel:
    """Return all rows, or some drawn from them, in order."""
    if votes.n_rows <= most:
        return votes
    return votes.take(np.sort(rng.choice(votes.n_rows, most, replace=False)))


def warn_of_shift(labeled: VoteKernel, unlabeled: VoteKernel) -> bool:
    """Warn of the vote whose frequency differs most; return whether a difference is significant.

    If labeled rows are a simple random sample of all rows, then how many of a voter's votes for a
    class fall on them is hypergeometric. That is computed where the normal approximation, which is
    faster, and wrong for rare votes, does not rule a difference out.
    """
    m, n, cast = labeled.n_rows, unlabeled.n_rows, labeled.votes_cast
    both = cast + unlabeled.votes_cast
    level = 1e-4 / (2.0 * both.size)  # of a false warning, shared by all votes and both tails
    rate = (both + 1.0) / (m + n + 2.0)
    error = np.sqrt(rate * (1.0 - rate) * (1.0 / m + 1.0 / n))
    distance = np.abs(cast / m - unlabeled.votes_cast / n) / error
    voters, votes = np.nonzero(distance > norm.isf(level))
    here, total = cast[voters, votes], both[voters, votes]
    tails = (hypergeom.cdf(here, m + n, total, m), hypergeom.sf(here - 1, m + n, total, m))
    probability = np.minimum(*tails)
    if not np.any(probability < level):
        return False
    voter, vote = voters[probability.argmin()], votes[probability.argmin()]
    warn_user(
        "Voters vote significantly differently on the unlabeled rows than on the labeled ones: "
        f"{unlabeled.votes.voters.tolist()[voter]!r} votes for "
        f"{unlabeled.votes.classes.tolist()[vote]!r} on "
        f"{unlabeled.votes_cast[voter, vote] / n:.2%} of the former and "
        f"{cast[voter, vote] / m:.2%} of the latter. What the labels tell of it may not hold for "
        "them.",
        ShiftWarning,
    )
    return True


def check_predictions(
    gold: LabeledVotes,
    draw: HeldOutLabels,
    evidence: Evidence,
    tested: np.ndarray,
    unlabeled: np.ndarray,
    is_shifted: bool,
) -> tuple[TestedPredictions, RateEvidence]:
    """Return the errors on labeled rows, and the uncertainty on these and on the unlabeled ones.

    With them comes what labels and predictions tell of how often each class occurs. ``draw`` has
    the held-out labels, ``tested`` the probabilities of their rows, or without such labels those of
    all labeled rows, and ``unlabeled`` those of the unlabeled rows.
    """
    unlabeled = unlabeled if gold.has_unlabeled else unlabeled[:0]
    numbers, caveat, is_guarantee = draw.held, "", False
    if numbers is None:  # labels that were chosen do not test
        numbers, tested, caveat = np.flatnonzero(draw.can_test), tested[draw.can_test], USED_LABELS
    uncertainty, others = (1.0 - part.max(axis=1) for part in (tested, unlabeled))
    if draw.held is not None:
        caveat = draw.why_no_sample(is_shifted, (tested, unlabeled), (uncertainty, others))
        # rates need all labels to be a random sample, those that the model has learned from, too
        is_random = draw.can_test.all() and not draw.skipped.size and not draw.caveat
        is_guarantee = bool(is_random) and not caveat
        known = np.bincount(evidence.codes, minlength=evidence.balance.size)
        known = known + (evidence.labeled.votes_cast + evidence.unlabeled.votes_cast).sum(axis=0)
        if np.any(known[gold.codes[numbers]] == 0):
            caveat = ONLY_HELD_OUT
    mean = unlabeled.mean(axis=0) if len(unlabeled) else np.zeros(evidence.balance.size)
    rates = RateEvidence(gold.codes, tested, numbers, mean, len(unlabeled), is_guarantee)
    predicted, classes = most_probable(tested, evidence.balance), gold.votes.classes
    checked = TestedPredictions.of(
        predicted != gold.codes[numbers],
        classes[predicted],
        uncertainty,
        unlabeled=(classes[most_probable(unlabeled, evidence.balance)], others),
        labels=classes[gold.codes],
        draw=draw,
        caveat=caveat,
        digest=digest_rows(gold.unlabeled.matrix),
    )
    return checked, rates


def most_probable(probabilities: np.ndarray, balance: np.ndarray) -> np.ndarray:
    """Return the code of the most probable class of each row, in a tie the most frequent one."""
    best = row_maxima(probabilities)[:, None]
    # what differs by rounding is a tie
    return row_favorites(np.where(probabilities >= best - 1e-12, balance, 0.0))
