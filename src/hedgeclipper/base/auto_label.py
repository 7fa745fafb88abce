"""Automatic labels: predictions that are sure enough to be taken as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.bounds.auto_labels import AutoLabels
from hedgeclipper.bounds.checked_rule import CheckedRule
from hedgeclipper.bounds.intervals import check_level


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
