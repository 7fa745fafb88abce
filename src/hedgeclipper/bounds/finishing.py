"""What is left for people: the plan before they review a file, and the claim while they do.

Each point of a `Plan` is the answer of `auto_labels.accept_in_file` to one error. Each holds by
itself, if the test labels allow a guarantee, but not all of them together: a curve is an estimate,
and the guarantee is for the one error that was named before. A `FileClaim` is what is known of the
labels of a file while people review it, and in the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hedgeclipper.bounds.certificate import STATED, how_sure
from hedgeclipper.bounds.tested_predictions import TestedPredictions
from hedgeclipper.bounds.whole_file import allowed_errors, error_limit


@dataclass(frozen=True, eq=False)
class Plan:
    """Rows to label by hand for each error of the finished file: an estimate.

    Parameters
    ----------
    max_errors : ndarray of shape (n_errors,)
        Largest proportions of wrong labels in the finished file.
    n_by_hand : ndarray of int of shape (n_errors,)
        Unlabeled rows that people must label so that no more labels are wrong.
    n_by_hand_with_more : dict of int to ndarray of shape (n_errors,)
        The same, further random test labels included, for numbers of these: if they are wrong as
        often as those that there are.
    n_unlabeled, n_rows : int
        Number of unlabeled rows, and of all rows of the file.
    confidence_level : float
        Level of each point by itself.
    """

    max_errors: np.ndarray
    n_by_hand: np.ndarray
    n_by_hand_with_more: dict[int, np.ndarray]
    n_unlabeled: int
    n_rows: int
    confidence_level: float

    def rows(self) -> list[tuple[Any, ...]]:
        """Return the plan line by line: error, rows by hand, and these with more test labels."""
        columns = [self.max_errors.tolist(), self.n_by_hand.tolist()]
        columns += [own.tolist() for own in self.n_by_hand_with_more.values()]
        return list(zip(*columns, strict=True))


def make_plan(
    rule: TestedPredictions,
    confidence_level: float,
    max_errors: Sequence[float] | np.ndarray,
    more: Sequence[int] = (),
) -> Plan:
    """Return the plan for the unlabeled rows of tested predictions.

    Parameters
    ----------
    rule : TestedPredictions
        What test labels tell of the predictions.
    confidence_level : float
        Level of each point by itself.
    max_errors : array-like of shape (n_errors,)
        Proportions of wrong labels in the finished file, between 0 and 1.
    more : sequence of int
        Numbers of further random test labels.

    Examples
    --------
    One in five rows is uncertain, and half of these are predicted wrong:

    >>> wrong = np.arange(400) % 10 == 0
    >>> own = np.where(np.arange(400) % 5 == 0, 0.5, 0.1)
    >>> others = np.repeat([0.1, 0.5], [4000, 1000])
    >>> rule = TestedPredictions(wrong, own, others, 5000, 0.3, n_labeled=400)
    >>> plan = make_plan(rule, 0.95, [0.02, 0.05, 0.2], more=[400])
    >>> plan.n_by_hand.tolist(), plan.n_by_hand_with_more[400].tolist()
    ([900, 730, 0], [1153, 998, 400])
    """
    n_tested, delta = rule.wrong.size, 1.0 - confidence_level
    order = rule.order_of_pool()
    # after how many untested rows each wrong test row comes, in the order of uncertainty
    untested = np.cumsum(~rule.is_tested[order])
    none_wrong = np.zeros(rule.unlabeled_uncertainties.size, bool)
    wrong_at = untested[rule.in_pool(rule.wrong, none_wrong)[order]]
    n_known = int(np.sum(~rule.is_tested))
    scale = rule.n_unlabeled / max(n_known, 1)
    limits = [error_limit(float(one), rule.n_known_rows) for one in max_errors]

    def by_hand(n_more: int) -> np.ndarray:
        n_sample, n_pool = n_tested + n_more, max(order.size, n_tested + n_more)
        found = []
        for limit in limits:
            allowed = allowed_errors(n_pool, n_sample, limit, delta)
            # of more labels as many are wrong, and so the allowed ones come at an earlier place
            place = int((allowed + 1) * n_tested / max(n_sample, 1)) if n_more else allowed
            if allowed < 0:
                n_kept = 0
            else:
                n_kept = n_known if place >= wrong_at.size else int(wrong_at[place])
            left = max(n_known - n_kept, 0) * (1.0 - n_more / max(rule.n_unlabeled, 1))
            found.append(min(round(scale * left) + n_more, rule.n_unlabeled))
        return np.array(found)

    return Plan(
        np.asarray(max_errors, dtype=float),
        by_hand(0),
        {int(one): by_hand(int(one)) for one in more},
        rule.n_unlabeled,
        rule.n_rows,
        confidence_level,
    )


@dataclass(frozen=True)
class FileClaim:
    r"""How many labels of a file may be wrong, once people have labeled all rows to review.

    People's labels count as right, so the wrong ones are among the automatic labels. A person who
    looks at an automatic label takes it out of these; an error that is corrected is one less.

    Parameters
    ----------
    n_rows : int
        Rows of the file.
    n_automatic : int
        Rows whose label is a prediction.
    errors_left : int
        Upper bound on the number of wrong labels among these.
    max_error : float
        Largest proportion of wrong labels in the file that was asked for.
    confidence_level : float
        Probability that the bound holds.
    kind : {"guarantee", "estimate"}
        Whether it was proved.
    is_recorded : bool
        Whether the draw of the test labels is recorded, or was only stated.

    Examples
    --------
    >>> claim = FileClaim(8000, 5212, 392, 0.05, 0.95, "guarantee", True)
    >>> print(claim.describe(n_open=0).replace(". ", ".\n"))
    All 8,000 rows have a label, 5,212 of them an automatic one.
    At most 392 labels (4.9%) are wrong: guaranteed with 95% confidence.
    """

    n_rows: int
    n_automatic: int
    errors_left: int
    max_error: float
    confidence_level: float
    kind: str
    is_recorded: bool

    def after_review(self, n_seen: int, n_corrected: int) -> FileClaim:
        """Return the claim after people have looked at automatic labels, and corrected some."""
        n_automatic = self.n_automatic - n_seen
        errors = min(max(self.errors_left - n_corrected, 0), n_automatic)
        return replace(self, n_automatic=n_automatic, errors_left=errors)

    def describe(self, n_open: int) -> str:
        """Return what is known if so many rows are still to be labeled by people, in sentences."""
        sure = how_sure(self.kind, self.confidence_level)
        bound = f"{self.errors_left:,} labels ({self.errors_left / max(self.n_rows, 1):.1%})"
        if n_open:
            text = (
                f"{n_open:,} of {self.n_rows:,} rows {'is' if n_open == 1 else 'are'} still to be "
                f"labeled by hand. Then at most {bound} are wrong: {sure}. Until then they have "
                "no label."
            )
        else:
            text = (
                f"All {self.n_rows:,} rows have a label, {self.n_automatic:,} of them an automatic "
                f"one. At most {bound} are wrong: {sure}."
            )
        if self.kind == "guarantee" and not self.is_recorded:
            text += f" {STATED.capitalize()}."
        return text

    def to_record(self) -> dict[str, str]:
        """Return the claim as text by name."""
        return {
            "rows": str(self.n_rows),
            "automatic": str(self.n_automatic),
            "errors": str(self.errors_left),
            "max_error": f"{self.max_error:g}",
            "confidence": f"{self.confidence_level:g}",
            "kind": self.kind,
            "recorded": "yes" if self.is_recorded else "no",
        }

    @classmethod
    def from_record(cls, facts: Mapping[str, str]) -> FileClaim:
        """Return the claim that such a text holds.

        Examples
        --------
        >>> claim = FileClaim(8000, 5212, 392, 0.05, 0.95, "guarantee", True)
        >>> FileClaim.from_record(claim.to_record()) == claim
        True
        """
        try:
            return cls(
                int(facts["rows"]),
                int(facts["automatic"]),
                int(facts["errors"]),
                float(facts["max_error"]),
                float(facts["confidence"]),
                {"guarantee": "guarantee", "estimate": "estimate"}[facts["kind"]],
                {"yes": True, "no": False}[facts["recorded"]],
            )
        except (KeyError, ValueError) as error:
            raise ValueError(
                f"The record of a file of labels cannot be read ({error}). Leave the column "
                "'record' as it was written."
            ) from error
