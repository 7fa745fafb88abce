"""Labels that nothing is fitted to or weighed by: they test the final predictions.

They are drawn at random from all labels, not by class, and their rows join the unlabeled ones, so
that the fit treats both alike: then the errors among them tell exactly how many there can be among
the unlabeled rows. `AutoLabelMixin` picks predictions that they show to be sure enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.base.semi_supervised import RowBatches, SemiSupervisedRows, is_dask, is_in_memory
from hedgeclipper.bounds.checked_rule import AutoLabels, CheckedRule
from hedgeclipper.bounds.intervals import check_level
from hedgeclipper.io.arrays import stack_rows
from hedgeclipper.sklearn_private import _safe_indexing

LEAST_HELD_OUT = 5
MOST_HELD_OUT = 2000
# why there is no guarantee
USED_LABELS = "its labels were used in the fit, too; a confidence_level holds some out"
WEIGHTED_LABELS = "sample weights do not go with a guarantee"
ADDED_ROWS = "unlabeled rows were added after the labels had tested the predictions"
ONLY_HELD_OUT = "a class that nobody votes for has all its labels among the held-out ones"
SHIFTED_LABELS = "labeled and unlabeled rows differ, so that labels are no random sample of both"


def draw_held_out(
    n_labels: int, confidence_level: float | None, holdout: float | None, random_state: Any
) -> np.ndarray | None:
    """Return the numbers of the labels to hold out, in ascending order; None without a level.

    By default they are half of the labels, and 2,000 of more than 4,000: both the model and the
    bound get better by about the square root of their labels, and beyond some thousands there is
    little left to gain for the bound.
    """
    if confidence_level is None:
        if holdout is not None:
            raise ValueError(
                f"holdout is for a guarantee. Got holdout={holdout} and no confidence_level: pass "
                "one, such as 0.95, or leave holdout out."
            )
        return None
    n_held = min(n_labels // 2, MOST_HELD_OUT) if holdout is None else round(holdout * n_labels)
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


def why_no_guarantee(is_weighted: bool, is_shifted: bool) -> str:
    """Return why held-out labels make no guarantee; "" if they do."""
    return WEIGHTED_LABELS if is_weighted else SHIFTED_LABELS if is_shifted else ""


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """Rows, in the form of the labeled ones, and their labels."""

    X: Any
    y: np.ndarray


def hold_out_rows(
    rows: SemiSupervisedRows, held: np.ndarray, names: list[str] | None = None
) -> tuple[SemiSupervisedRows, HeldOutRows]:
    """Return the rows to fit to, and the held-out ones, which are also among the unlabeled rows.

    They come after these. ``names`` are those of the columns, for a Dask frame.
    """
    fitted = np.setdiff1d(np.arange(rows.y_labeled.size), held)
    _check_classes(rows.y_labeled, fitted)
    out = HeldOutRows(_safe_indexing(rows.X_labeled, held), rows.y_labeled[held])
    X_labeled, weights = _safe_indexing(rows.X_labeled, fitted), rows.weight_labeled
    kept = replace(
        rows,
        X_labeled=X_labeled,
        y_labeled=rows.y_labeled[fitted],
        weight_labeled=None if weights is None else weights[fitted],
        X_unlabeled=_and_rows(rows.X_unlabeled, out.X, names) if rows.has_unlabeled else X_labeled,
    )
    return kept, out


def _check_classes(y: np.ndarray, fitted: np.ndarray) -> None:
    """Raise if the labels to fit to are of one class, and the others are not."""
    classes = np.unique(y[fitted])
    if classes.size < 2 <= np.unique(y).size:
        raise ValueError(
            f"A confidence_level holds {y.size - fitted.size} of the {y.size} labels out, and the "
            f"{fitted.size} to fit to are all of class {classes[0]}: at least two classes are "
            "needed. Label more rows, hold fewer out (holdout), or leave confidence_level out: the "
            "error is then an estimate."
        )


def _and_rows(X: Any, more: Any, names: list[str] | None) -> Any:
    """Return unlabeled rows in any form with more rows after them."""
    if is_in_memory(X):
        return stack_rows(X, more)
    if is_dask(X):
        from hedgeclipper.io.distributed import append_rows

        return append_rows(X, more, names)
    assert isinstance(X, RowBatches)
    return replace(X, more=more)


class AutoLabelMixin:
    """Adds ``auto_label`` to an estimator.

    It has a `CheckedRule` ``_checked``, ``_sure_predictions(X)``, which returns labels and doubts
    of rows, and ``_unlabeled_predictions()``, which returns those of the unlabeled rows of the fit.
    """

    _checked: CheckedRule

    def auto_label(self, X=None, max_error=0.05, confidence_level=0.95):
        """Return predictions, and which rows are so sure that few of these labels are wrong.

        Rows are ordered by their predicted probability; as many of the surest are taken as the
        labels can prove to have at most ``max_error`` wrong ones. That is a guarantee if the model
        was fitted with a ``confidence_level``, which holds labels out to test by, and the rows are
        the unlabeled ones of the fit (or, if the fit had none, new rows that are drawn like the
        labeled ones and are not among them). Otherwise it is an estimate.

        Parameters
        ----------
        X : like that of ``predict``, optional
            Rows; None takes the unlabeled rows of the fit, where these are in memory.
        max_error : float, default=0.05
            Largest proportion of wrong labels among the sure rows, between 0 and 1. At least 76
            held-out labels are needed for 5 % and 388 for 1 %, in practice several times as many.
        confidence_level : float, default=0.95
            Probability with which it holds.

        Returns
        -------
        AutoLabels
            Labels of all rows, which of them are sure, and what more labels would bring.
        """
        check_is_fitted(self)
        if not hasattr(self, "_checked"):
            raise TypeError("A copy for prediction knows no labels: use the model it was made of.")
        if not (isinstance(max_error, (int, float, np.number)) and 0.0 < max_error < 1.0):
            raise ValueError(f"max_error must lie strictly between 0 and 1. Got {max_error!r}.")
        check_level(confidence_level)
        labels, doubts = self._unlabeled_predictions() if X is None else self._sure_predictions(X)
        rule, reason = self._checked.about(None if X is None else doubts)
        found = rule.surest(float(max_error), float(confidence_level))
        return AutoLabels(
            labels=labels,
            is_sure=doubts <= found.threshold,
            max_error=float(max_error),
            confidence_level=float(confidence_level),
            kind="estimate" if reason else "guarantee",
            reason=reason,
            error_upper=found.error_upper,
            n_errors=found.n_errors,
            n_tested=found.n_tested,
            gain_per_label=found.gain_per_label,
            n_needed=found.n_needed,
        )

    def _sure_predictions(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        raise NotImplementedError

    def _unlabeled_predictions(self) -> tuple[np.ndarray, np.ndarray]:
        raise NotImplementedError
