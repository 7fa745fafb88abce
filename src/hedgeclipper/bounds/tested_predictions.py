"""What labels tell of a rule that was made without them: its error, and the pool that they test.

If the labels that test a rule are a simple random sample of these and the unlabeled rows
(`hold_out`), the errors among them are hypergeometric, and so they are among any rows picked
without a look at the labels, such as those the rule is surest of. So the same `TestedPredictions`
make the certificate, the automatic labels (`auto_labels`) and the plan (`finishing`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hedgeclipper.bounds.certificate import Certificate, most_frequent
from hedgeclipper.bounds.hold_out import SHIFTED_LABELS, HeldOutLabels, differ_in_rank
from hedgeclipper.bounds.intervals import prediction_powered, proportion_bounds, wilson_bounds
from hedgeclipper.bounds.sample import FirstQuestion
from hedgeclipper.bounds.whole_file import order_by_uncertainty

ESTIMATE_LEVEL = 0.95
# out-of-bag and out-of-fold errors vary more than those of a fixed rule: by this factor in standard
# deviations, as measured (S. Bates, T. Hastie, R. Tibshirani. Cross-Validation: What Does It
# Estimate and How Well Does It Do It? JASA, 2024)
EXTRA_SPREAD = 1.2
# why there is no guarantee, or none for some rows
ONLY_HELD_OUT = "a class that nobody votes for has all its labels among the held-out ones"
OTHER_ROWS = "these are not the unlabeled rows of the fit"
OTHER_ORDER = "skipped rows are known by their place, and these are in another order"
SAMPLED_ROWS = "only a sample of the unlabeled rows of the fit is known; pass them as X"


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
        By which the unlabeled rows are recognized (`arrays.digest_rows`); None if unknown.
    first_question : FirstQuestion
        What the labels were asked first: a guarantee is for this one alone.
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
    first_question: FirstQuestion = field(default_factory=FirstQuestion)

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
        """Return the rule, with skipped rows of the draw among the wrong ones.

        ``unlabeled`` are predicted labels and uncertainties of the unlabeled rows, and ``labels``
        all labels there are; other fields by name.
        """
        more, (their_labels, others) = draw.skipped_tests, unlabeled
        known.setdefault("n_unlabeled", others.size)
        majority, baseline = most_frequent(labels[draw.can_test])
        if own_uncertainties is not None:
            own_uncertainties = np.append(own_uncertainties, others[more])
        uncertainties, caveat = np.append(uncertainties, others[more]), caveat or draw.caveat
        if not caveat:  # whoever sees several certificates may choose among models
            draw.first_question.why_estimate("", uncertainties)
        return cls(
            np.append(wrong, np.ones(more.size, bool)),
            uncertainties,
            others,
            baseline=baseline,
            majority_class=majority,
            n_labeled=labels.size,
            predicted=np.append(predicted, their_labels[more]),
            own_uncertainties=own_uncertainties,
            places=draw.places,
            skipped=draw.skipped,
            is_recorded=draw.is_recorded,
            first_question=draw.first_question,
            caveat=caveat,
            **known,
        )

    @property
    def is_open(self) -> np.ndarray:
        """Which of the unlabeled rows are in the pool and were not drawn to test."""
        found = np.ones(self.unlabeled_uncertainties.size, bool)
        found[self.skipped] = False
        return found

    @property
    def tested(self) -> np.ndarray:
        """Positions of the tested rows in the pool."""
        return np.arange(self.wrong.size) if self.places is None else self.places

    @property
    def is_tested(self) -> np.ndarray:
        """Which rows of the pool test."""
        found = np.zeros(self.wrong.size + int(self.is_open.sum()), bool)
        found[self.tested] = True
        return found

    def in_pool(self, tested: np.ndarray, unlabeled: np.ndarray) -> np.ndarray:
        """Return values of tested and of unlabeled rows in the order of the pool."""
        is_tested = self.is_tested
        found = np.empty(is_tested.size, np.result_type(tested, unlabeled))
        found[self.tested] = tested
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
            # skipped rows may all be wrong, or none
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
            is_recorded=self.is_recorded and self.n_unlabeled > 0,
        )

    def _estimate(self, n_rows: float, delta: float) -> tuple[float, float, float]:
        """Return the error on so many rows, made more precise by uncertainties, and its bounds."""
        q = self.uncertainties if self.own_uncertainties is None else self.own_uncertainties
        center = self.center
        if center is None:
            center = float(np.mean(self.unlabeled_uncertainties if self.n_unlabeled else q))
        error, spread = prediction_powered(self.wrong.astype(float), q, center)
        size = 1.0 / ((1.0 / self.wrong.size + 1.0 / n_rows) * max(spread, 1e-3))
        lower, upper = wilson_bounds(error, size / EXTRA_SPREAD**2, delta)
        return error, float(lower), float(upper)

    def about(
        self,
        uncertainties: np.ndarray | None,
        digest: int | None = None,
        labels: np.ndarray | None = None,
    ) -> tuple[TestedPredictions, str]:
        """Return the rule for rows with these uncertainties, and why it guarantees nothing of them.

        Without any they are the unlabeled rows of the fit. Others are these if they have the same
        ``digest``. The reason is "" for a guarantee: of these rows, if all their uncertainties are
        known, or of new rows, if the fit had none and these, with their predicted ``labels``, do
        not differ from the tested ones.
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
        reason = "" if is_known else OTHER_ROWS
        if not self.n_unlabeled:  # that new rows are like the labeled ones is not recorded
            rule = replace(rule, is_recorded=False)
            reason = SHIFTED_LABELS if self._differ(uncertainties, labels) else ""
        if is_known and self.skipped.size and not is_same:
            reason = OTHER_ORDER
        return rule, self.caveat or reason

    def _differ(self, uncertainties: np.ndarray, labels: np.ndarray | None) -> bool:
        """Return whether rows differ from the tested ones in uncertainty or in predicted labels."""
        if differ_in_rank(self.uncertainties, uncertainties):
            return True
        if self.predicted is None or labels is None:
            return False
        # of two classes these are the probabilities, of more they tell those of the most frequent
        tested, others = (
            np.where(own == self.majority_class, 1.0 - u, u)
            for own, u in ((self.predicted, self.uncertainties), (labels, uncertainties))
        )
        return differ_in_rank(tested, others)
