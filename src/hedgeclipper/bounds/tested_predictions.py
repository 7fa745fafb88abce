"""What labels tell of a rule that was made without them: its error, and which rows it is sure of.

The labels that test a rule are a simple random sample of these and the unlabeled rows, and the fit
has treated both alike. Then the errors among them are hypergeometric, and so they are among any
rows picked without a look at the labels, such as those the rule is surest of. So `draw_held_out`
draws labels that nothing is fitted to or weighed by from all labels, not by class, and their rows
join the unlabeled ones.

**Automatic labels.** Rows are ordered by the rule's own uncertainty. Up to any threshold that was
fixed without a look at the labels, the exact bound on the proportion of errors holds. Thresholds
are ranks among the uncertainties of labeled and unlabeled rows together. They are tested one after
the other, from the first at which the labels could prove the bound to ever larger ones, and the
last before the first failure is taken: so many tests in a row need no correction, since one that
fails ends them. It is proved for tested and unlabeled rows up to the threshold together, and so it
is said of these.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.stats import mannwhitneyu
from sklearn.utils import check_random_state

from hedgeclipper.bounds.certificate import Certificate
from hedgeclipper.bounds.intervals import prediction_powered, proportion_bounds, wilson_bounds
from hedgeclipper.bounds.random_sample import Sample
from hedgeclipper.bounds.whole_file import order_by_uncertainty

N_THRESHOLDS = 25
# the first threshold has so many times the labels that could prove the bound without an error
LEAST_MARGIN, MARGIN = 1.3, 4.0
ESTIMATE_LEVEL = 0.95
# out-of-bag and out-of-fold errors vary more than those of a fixed rule: by this factor in standard
# deviations, as measured (S. Bates, T. Hastie, R. Tibshirani. Cross-Validation: What Does It
# Estimate and How Well Does It Do It? JASA, 2024)
EXTRA_SPREAD = 1.2
LEAST_HELD_OUT = 5
MOST_HELD_OUT = 2000
# errors that labels should be able to prove, if these take no more than this part of them; a few
# more labels than that takes allow two errors at 10% (docs/ablations.md)
PROVABLE, PROVING_PART, MORE_LABELS = (0.05, 0.01), 0.62, 3
# why there is no guarantee, or none for some rows
ONLY_HELD_OUT = "a class that nobody votes for has all its labels among the held-out ones"
SHIFTED_LABELS = "labeled and unlabeled rows differ, so that labels are no random sample of both"
# each rank test of held-out against unlabeled rows: together they cost random samples one in a
# thousand of their guarantees, and labels of the first or the easiest rows of a file have 1e-9
SHIFT_LEVEL = 5e-4
OTHER_ROWS = "these are not the unlabeled rows of the fit"
OTHER_ORDER = (
    "rows that nobody could decide are known by their place, and these are in another order"
)
SAMPLED_ROWS = "only a sample of the unlabeled rows of the fit is known; pass them as X"


def draw_held_out(
    n_labels: int, confidence_level: float | None, holdout: float | None, random_state: Any
) -> np.ndarray | None:
    """Return the numbers of the labels to hold out, in ascending order; None without a level.

    By default they are half of the labels, and 2,000 of more than 4,000: both the model and the
    bound get better by about the square root of their labels, and beyond some thousands there is
    little left to gain for the bound. Up to 62% are held out where half of them could not prove an
    error of 5% or of 1% in a file: 62 of 100 labels, and 302 of 500.
    """
    if confidence_level is None:
        if holdout is not None:
            raise ValueError(
                f"holdout is for a guarantee. Got holdout={holdout} and no confidence_level: pass "
                "one, such as 0.95, or leave holdout out."
            )
        return None
    n_held = _default_held_out(n_labels, 1.0 - confidence_level)
    if holdout is not None:
        n_held = round(holdout * n_labels)
    if n_held < LEAST_HELD_OUT or n_labels - n_held < 2:
        part = 0.5 if holdout is None else holdout
        needed = int(np.ceil(max(LEAST_HELD_OUT / part, 2 / (1 - part))))
        raise ValueError(
            f"A confidence_level needs at least {LEAST_HELD_OUT} labels to hold out, and two to "
            f"fit to. Got {n_labels} labels, of which {n_held} would be held out. Label at least "
            f"{max(needed, LEAST_HELD_OUT + 2)} rows, change holdout, or leave confidence_level "
            "out: the error is then an estimate."
        )
    return np.sort(check_random_state(random_state).choice(n_labels, n_held, replace=False))


def _default_held_out(n_labels: int, delta: float) -> int:
    n_held = min(n_labels // 2, MOST_HELD_OUT)
    for error in PROVABLE:
        n_needed = int(np.ceil(np.log(delta) / np.log1p(-error)))
        if n_held < n_needed and n_needed + MORE_LABELS <= PROVING_PART * n_labels:
            return n_needed + MORE_LABELS
    return n_held


@dataclass(frozen=True, eq=False)
class HeldOutLabels:
    """Which labels test predictions, and what is known of their draw.

    Parameters
    ----------
    held : ndarray of int or None
        Numbers of the held-out labels among all labels, in ascending order; None without any.
    places : ndarray of int or None
        Positions of the rows that test in the pool, in the order of the file: held-out labels,
        then rows that nobody could decide. None if rows have no common order.
    can_test : ndarray of bool of shape (n_labels,)
        Which labels are a random sample; others were chosen, and train only.
    skipped : ndarray of int
        Unlabeled rows of the sample that nobody could decide, as positions among unlabeled rows.
    skipped_tests : ndarray of int
        Those of them that were drawn to test. They count as wrong.
    is_recorded : bool
        Whether the draw is recorded, or was only stated.
    caveat : str
        Why these labels do not allow a guarantee; "" if they do.
    """

    held: np.ndarray | None
    places: np.ndarray | None
    can_test: np.ndarray
    skipped: np.ndarray
    skipped_tests: np.ndarray
    is_recorded: bool = False
    caveat: str = ""


def hold_out_labels(
    n_labels: int,
    rows: tuple[np.ndarray, np.ndarray] | None,
    sample: Sample | None,
    *,
    confidence_level: float | None,
    holdout: float | None,
    random_state: Any,
) -> HeldOutLabels:
    """Return the labels to hold out: of all labels, or of a sample alone if there is a record.

    Parameters
    ----------
    n_labels : int
        Number of labels.
    rows : tuple of ndarray or None
        Numbers of the unlabeled and of the labeled rows in the file, both ascending; None if these
        are not of one file.
    sample : Sample or None
        The record of a draw from this file.
    confidence_level, holdout, random_state
        As for `draw_held_out`.
    """
    nothing, known = np.zeros(0, np.int64), (confidence_level, holdout, random_state)
    if sample is None:
        held = draw_held_out(n_labels, *known)
        places = None
        if held is not None and rows is not None:
            places = pool_places(rows[1][held], rows[0])
        return HeldOutLabels(held, places, np.ones(n_labels, bool), nothing, nothing)
    unlabeled, labeled = (nothing, np.arange(n_labels)) if rows is None else rows
    caveat = sample.why_estimate(labeled)
    drawn = draw_held_out(sample.n_drawn, *known)
    tested = sample.rows if drawn is None else sample.rows[drawn]
    skipped = np.flatnonzero(np.isin(unlabeled, sample.rows))
    skipped_tests = np.flatnonzero(np.isin(unlabeled, tested))
    can_test = np.isin(labeled, sample.rows)
    if not can_test.any():
        raise ValueError(f"None of the {sample.n_drawn:,} rows of the sample has a label.")
    if drawn is None:
        return HeldOutLabels(None, None, can_test, skipped, skipped_tests, True, caveat)
    held = np.flatnonzero(np.isin(labeled, tested))
    tests = np.append(labeled[held], unlabeled[skipped_tests])
    places = pool_places(tests, np.delete(unlabeled, skipped))
    return HeldOutLabels(held, places, can_test, skipped, skipped_tests, True, caveat)


def pool_places(tested: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the positions of tested rows in the pool of these and others, in their file's order.

    Examples
    --------
    >>> pool_places(np.array([7, 2]), np.array([1, 5, 9]))
    array([3, 1])
    """
    return np.searchsorted(np.sort(np.append(tested, others)), tested)


def differ_in_rank(tested: np.ndarray, unlabeled: np.ndarray) -> bool:
    """Return whether scores of tested and unlabeled rows differ more than random samples do.

    Scores have the shape (n_rows,), or (n_rows, n_scores): the columns share the level of one test,
    the rank test of Mann and Whitney. If it rejects, the labels are no random sample. That it does
    not is no proof, and no bound becomes wrong by it.

    Examples
    --------
    >>> rows = np.arange(1000.0)
    >>> differ_in_rank(rows[::20], rows), differ_in_rank(rows[:50], rows)
    (False, True)
    """
    if tested.shape[0] == 0 or unlabeled.shape[0] == 0:
        return False
    found = mannwhitneyu(tested, unlabeled, axis=0, method="asymptotic").pvalue
    return bool(np.any(np.atleast_1d(found) < SHIFT_LEVEL / np.size(found)))


@dataclass(frozen=True)
class SureRows:
    """Up to which uncertainty predictions are taken as they are, and what labels say of these."""

    threshold: float
    coverage: float
    error_upper: float
    n_errors: int
    n_tested: int
    n_needed: int = 0


def _thresholds(pool: np.ndarray, first: float, least: float) -> np.ndarray:
    """Return the uncertainties at ranks from a ``first`` part of the sorted pool to all of it.

    Where many rows are as uncertain as the first, those before these come first, unless they are
    less than the ``least`` part.
    """
    ranks = np.ceil(np.linspace(first, 1.0, N_THRESHOLDS) * pool.size).astype(int) - 1
    below, upto = (np.searchsorted(pool, pool[ranks[0]], side) for side in ("left", "right"))
    if upto > ranks[0] + 1 and below >= least * pool.size:
        ranks = np.append(below - 1, ranks)
    return np.unique(pool[ranks])


@dataclass(frozen=True, eq=False)
class TestedPredictions:
    """Predictions of a rule on labeled rows that had no part in it, and on the unlabeled rows.

    Parameters
    ----------
    wrong : ndarray of bool of shape (n_tested,)
        Which predictions on the labeled rows are wrong.
    uncertainties : ndarray of shape (n_tested,)
        The rule's own probability that they are.
    unlabeled_uncertainties : ndarray
        The same for the unlabeled rows, or for some of them drawn at random.
    n_unlabeled : int
        Number of unlabeled rows; 0 if there are none, and the rule is for new rows.
    n_labeled : int
        Number of labeled rows of the same file, tested ones too.
    predicted : ndarray of shape (n_tested,) or None
        Predicted labels of the tested rows.
    majority_class : object
        The most frequent class of the labels.
    places : ndarray of int of shape (n_tested,) or None
        Positions of the tested rows in the pool of these and the others, in the order of the file,
        so that nothing depends on which rows test; None if they come first.
    skipped : ndarray of int
        Unlabeled rows that people could not decide. They need review, and are no part of the pool
        unless they are among the tested rows, as wrong ones.
    is_recorded : bool
        Whether the draw of the tested rows is recorded, or was only stated.
    baseline : float
        Proportion of the labels that are not of the most frequent class.
    own_uncertainties : ndarray or None
        Uncertainties of the models that predicted the labeled rows, where ``uncertainties`` are
        what these would be on the scale of the rule itself.
    center : float or None
        Mean uncertainty on the unlabeled rows of the models that predicted the labeled rows; None
        if these are the rule itself.
    caveat : str
        Why what these labels show is no guarantee; "" if it is one.
    digest : int or None
        By which the unlabeled rows are recognized (`digests.digest_rows`); None if unknown.
    """

    wrong: np.ndarray
    uncertainties: np.ndarray
    unlabeled_uncertainties: np.ndarray
    n_unlabeled: int
    baseline: float
    own_uncertainties: np.ndarray | None = None
    center: float | None = None
    caveat: str = ""
    digest: int | None = None
    n_labeled: int = 0
    predicted: np.ndarray | None = None
    majority_class: Any = None
    places: np.ndarray | None = None
    skipped: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    is_recorded: bool = False

    @classmethod
    def of(
        cls,
        wrong: np.ndarray,
        predicted: np.ndarray,
        uncertainties: np.ndarray,
        *,
        unlabeled: tuple[np.ndarray, np.ndarray],
        labels: np.ndarray,
        draw: HeldOutLabels,
        own_uncertainties: np.ndarray | None = None,
        caveat: str = "",
        **known: Any,
    ) -> TestedPredictions:
        """Return the rule, with rows of the draw that nobody could decide among the wrong ones.

        ``unlabeled`` are predicted labels and uncertainties of the unlabeled rows, and ``labels``
        all labels there are; other fields by name.
        """
        more, (their_labels, others) = draw.skipped_tests, unlabeled
        known.setdefault("n_unlabeled", others.size)
        classes, counts = np.unique(labels[draw.can_test], return_counts=True)
        if own_uncertainties is not None:
            own_uncertainties = np.append(own_uncertainties, others[more])
        return cls(
            np.append(wrong, np.ones(more.size, bool)),
            np.append(uncertainties, others[more]),
            others,
            baseline=1.0 - float(counts.max() / counts.sum()),
            majority_class=classes.tolist()[counts.argmax()],
            n_labeled=labels.size,
            predicted=np.append(predicted, their_labels[more]),
            own_uncertainties=own_uncertainties,
            places=draw.places,
            skipped=draw.skipped,
            is_recorded=draw.is_recorded,
            caveat=caveat or draw.caveat,
            **known,
        )

    @property
    def is_open(self) -> np.ndarray:
        """Which of the unlabeled rows are in the pool and were not drawn to test."""
        found = np.ones(self.unlabeled_uncertainties.size, bool)
        found[self.skipped] = False
        return found

    @property
    def is_tested(self) -> np.ndarray:
        """Which rows of the pool test."""
        found = np.zeros(self.wrong.size + int(self.is_open.sum()), bool)
        found[: self.wrong.size] = self.places is None
        if self.places is not None:
            found[self.places] = True
        return found

    def in_pool(self, tested: np.ndarray, unlabeled: np.ndarray) -> np.ndarray:
        """Return values of tested and of unlabeled rows in the order of the pool."""
        is_tested = self.is_tested
        found = np.empty(is_tested.size, np.result_type(tested, unlabeled))
        found[np.flatnonzero(is_tested) if self.places is None else self.places] = tested
        found[~is_tested] = unlabeled[self.is_open]
        return found

    def order_of_pool(self) -> np.ndarray:
        """Return the positions of the rows of the pool, the least uncertain first.

        Rows in the order of their file have one order, whichever of them test. Others have no such
        number, and equal ones are in another order for each sample of test rows: with one for all,
        a file in which all errors come last, say, would show in it.
        """
        seed = 0 if self.places is not None else self.digest or 0
        return order_by_uncertainty(
            self.in_pool(self.uncertainties, self.unlabeled_uncertainties), seed
        )

    @property
    def n_rows(self) -> int:
        """Number of rows of the file: labeled and unlabeled ones."""
        return self.n_labeled + self.n_unlabeled

    @property
    def n_known_rows(self) -> int:
        """The same, as far as uncertainties are known: those of a sample stand for all."""
        known = self.unlabeled_uncertainties.size
        if known == self.n_unlabeled:
            return self.n_rows
        return round(self.n_rows * known / max(self.n_unlabeled, 1))

    def certificate(self, confidence_level: float | None) -> Certificate:
        """Return what is known of the error on the unlabeled rows: a guarantee, or an estimate."""
        level = confidence_level or ESTIMATE_LEVEL
        n_errors, n_tested = int(self.wrong.sum()), self.wrong.size
        n_rows = self.n_unlabeled or np.inf  # rows that are yet to be drawn have no number
        if self.caveat and n_tested == 0:
            reason = "no labeled row is predicted without its own label"
            nothing = (None, 1.0, 0.0, "void", None, self.n_unlabeled)
            return Certificate(*nothing, baseline=self.baseline, reason=reason)
        if self.caveat:
            error, lower, upper = self._estimate(n_rows, (1.0 - level) / 2.0)
        else:
            error, n_skipped = n_errors / n_tested, self.skipped.size
            # rows that nobody could decide may all be wrong, or none
            n_errors_known = np.array([max(n_errors - n_skipped, 0), n_errors])
            bounds = proportion_bounds(n_errors_known, n_tested, n_rows - n_skipped, 1.0 - level)
            rest = 1.0 - n_skipped / n_rows
            lower, upper = rest * float(bounds[0][0]), rest * float(bounds[1][1]) + 1.0 - rest
        return Certificate(
            error=error,
            error_upper=min(upper, 1.0),
            error_lower=max(lower, 0.0),
            kind="estimate" if self.caveat else "guarantee",
            confidence_level=level,
            n_unlabeled=self.n_unlabeled,
            n_errors=n_errors,
            n_tested=n_tested,
            baseline=self.baseline,
            reason=self.caveat,
            is_recorded=self.is_recorded,
        )

    def _estimate(self, n_rows: float, delta: float) -> tuple[float, float, float]:
        """Return the error on so many rows, made more precise by uncertainties, and its bounds."""
        q = self.uncertainties if self.own_uncertainties is None else self.own_uncertainties
        center = self.center
        if center is None:
            center = float(np.mean(self.unlabeled_uncertainties if self.n_unlabeled else q))
        error, spread = prediction_powered(self.wrong.astype(float), q, center)
        size = 1.0 / ((1.0 / self.wrong.size + 1.0 / n_rows) * max(spread, 1e-3))
        mean, n_labels = np.array([1.0 - 2.0 * error]), np.array([size / EXTRA_SPREAD**2])
        upper, lower = ((1.0 - float(m[0])) / 2.0 for m in wilson_bounds(mean, n_labels, delta))
        return error, lower, upper

    def about(
        self, uncertainties: np.ndarray | None, digest: int | None = None
    ) -> tuple[TestedPredictions, str]:
        """Return the rule for rows with these uncertainties, and why it guarantees nothing of them.

        Without any they are the unlabeled rows of the fit. Others are these if they have the same
        ``digest``. The reason is "" for a guarantee: of these rows, if all their uncertainties are
        known, or of new rows, if the fit had none.
        """
        if uncertainties is None:
            is_sample = self.unlabeled_uncertainties.size < self.n_unlabeled
            return self, self.caveat or (SAMPLED_ROWS if is_sample else "")
        own = self.unlabeled_uncertainties
        is_known = uncertainties.size == self.n_unlabeled and digest == self.digest is not None
        is_same = uncertainties.shape == own.shape and np.allclose(uncertainties, own, atol=1e-5)
        # rows that are not those of the fit are a file of their own
        rule = replace(
            self,
            unlabeled_uncertainties=uncertainties,
            n_unlabeled=uncertainties.size,
            n_labeled=self.n_labeled if is_known else 0,
            places=self.places if is_known and is_same else None,
            skipped=self.skipped if is_known and is_same else self.skipped[:0],
        )
        reason = "" if is_known or not self.n_unlabeled else OTHER_ROWS
        if is_known and self.skipped.size and not is_same:
            reason = OTHER_ORDER
        return rule, self.caveat or reason

    def surest(self, max_error: float, confidence_level: float) -> SureRows:
        """Return up to which uncertainty at most this proportion of the rows is wrong.

        That is the last threshold before the first at which the bound cannot be proved.
        """
        delta = 1.0 - confidence_level
        n_tested = self.wrong.size
        n_faultless = np.log(1.0 / delta) / -np.log1p(-max_error)
        n_needed = LEAST_MARGIN * n_faultless
        # a few errors among the first labels shall not end it, if there are enough labels
        first = max(n_needed, min(MARGIN * n_faultless, n_tested / 2)) / max(n_tested, 1)
        if n_tested == 0 or first > 1.0:
            return SureRows(-np.inf, 0.0, 1.0, 0, n_tested, n_needed=int(np.ceil(n_needed)))
        others = self.unlabeled_uncertainties[self.is_open]
        pool = np.sort(np.concatenate([self.uncertainties, others]))
        thresholds = _thresholds(pool, first, n_needed / n_tested)
        below = self.uncertainties <= thresholds[:, None]
        tested, errors = below.sum(axis=1), (below & self.wrong).sum(axis=1)
        coverage, rows = tested / n_tested, np.full(thresholds.size, np.inf)
        if self.n_unlabeled:
            coverage = np.mean(others <= thresholds[:, None], axis=1)
            rows = np.rint(coverage * (self.n_unlabeled - self.skipped.size))
        _, upper = proportion_bounds(errors, tested, rows, delta)
        # what is proved is about the tested and the unlabeled rows up to the threshold together;
        # below all unlabeled rows the errors are known
        if self.n_unlabeled:
            upper = (errors + upper * rows) / np.maximum(tested + rows, 1)
        n_passed = int(np.cumprod(upper <= max_error).sum())
        at = n_passed - 1
        if n_passed == 0 or rows[at] == 0:
            first = min(n_passed, rows.size - 1)
            return SureRows(-np.inf, 0.0, 1.0, int(errors[first]), int(tested[first]))
        found = float(thresholds[at]), float(coverage[at]), float(upper[at])
        return SureRows(*found, int(errors[at]), int(tested[at]))
