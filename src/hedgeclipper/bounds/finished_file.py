"""`FileClaim`: what is known of the labels of a file while people review it, and in the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace


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
        level = f"{100 * self.confidence_level:g}% confidence"
        sure = f"guaranteed with {level}" if self.kind == "guarantee" else f"an estimate at {level}"
        bound = f"{self.errors_left:,} labels ({self.errors_left / max(self.n_rows, 1):.1%})"
        if n_open:
            text = (
                f"{n_open:,} of {self.n_rows:,} rows are still to be labeled by hand. Then at most "
                f"{bound} are wrong: {sure}. Until then nothing is known of these rows."
            )
        else:
            text = (
                f"All {self.n_rows:,} rows have a label, {self.n_automatic:,} of them an automatic "
                f"one. At most {bound} are wrong: {sure}."
            )
        if self.kind == "guarantee" and not self.is_recorded:
            text += " That the test labels are a random sample was stated, not known."
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
