"""`Certificate`: what is known of the error of predictions, and how it is said."""

from __future__ import annotations

from dataclasses import dataclass

# the usual reason why an error is an estimate, which needs no mention
USED_LABELS = "its labels were used in the fit, too; a confidence_level holds some out"


@dataclass(frozen=True, repr=False)
class Certificate:
    """What is known of the error of predictions on the unlabeled rows.

    Parameters
    ----------
    error : float or None
        Point estimate; None where nothing is known.
    error_upper, error_lower : float
        Bounds on the error. For a guarantee each holds with probability ``confidence_level`` by
        itself; for an estimate they are the ends of an interval.
    kind : {"guarantee", "estimate", "void"}
        "guarantee": the labels behind it had no part in the predictions, and the labeled rows are
        a simple random sample of labeled and unlabeled rows. "estimate": everything else. "void":
        nothing is known, since no label could test it; the bounds are 0 and 1.
    confidence_level : float or None
        Probability that a bound holds (of an estimate: about so), if known.
    n_unlabeled : int
        Number of rows the bounds are for. They do not hold for others. 0: there were no unlabeled
        rows, and they are for new rows that are drawn like the labeled ones.
    n_errors, n_tested : int
        How many of the labeled rows that tested the predictions were predicted wrong, and how many
        there were.
    baseline : float or None
        Error of always predicting the most frequent class, by the labels.
    reason : str
        Why it is not a guarantee, where it is not.
    """

    error: float | None
    error_upper: float
    error_lower: float
    kind: str
    confidence_level: float | None
    n_unlabeled: int
    n_errors: int = 0
    n_tested: int = 0
    baseline: float | None = None
    reason: str = ""

    @property
    def is_guarantee(self) -> bool:
        """Whether it is a guarantee, not an estimate or void."""
        return self.kind == "guarantee"

    def describe(self) -> str:
        r"""Return what is known of the error, in one sentence.

        Examples
        --------
        >>> found = Certificate(0.114, 0.142, 0.09, "guarantee", 0.95, 8000, 57, 500, 0.241)
        >>> print(found.describe().replace(" (", "\n("))
        error at most 14.2% on the 8,000 unlabeled rows, guaranteed with 95% confidence
        (57 errors on 500 held-out labels; always the most frequent class: 24.1%)
        """
        if self.kind == "void":
            return f"no bound on the error: {self.reason}"
        rows = f"the {self.n_unlabeled:,} unlabeled rows" if self.n_unlabeled else "new rows"
        low, high = f"{self.error_lower:.1%}", f"{self.error_upper:.1%}"
        level = f"{100 * (self.confidence_level or 0):g}%"
        if self.is_guarantee:
            text = f"error at most {high} on {rows}, guaranteed with {level} confidence"
            notes = [f"{count_errors(self.n_errors)} on {self.n_tested:,} held-out labels"]
        else:
            text = f"error about {self.error:.1%} on {rows}, an estimate"
            notes = [f"{level} interval {low} to {high}"]
            if self.reason not in ("", USED_LABELS):
                notes.append(f"no guarantee, since {self.reason}")
        if self.baseline is not None:
            notes.append(f"always the most frequent class: {self.baseline:.1%}")
        return f"{text} ({'; '.join(notes)})"

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        return f"<Certificate ({self.kind}): {self.describe()}>"


def count_errors(n_errors: int) -> str:
    """Return the number of errors with the word."""
    return f"{n_errors:,} error{'s' * (n_errors != 1)}"
