"""Results that both estimators have: automatic labels, and the summary that notebooks show."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.bounds.auto_labels import auto_labels, check_question
from hedgeclipper.bounds.certificate import Certificate
from hedgeclipper.bounds.tested_predictions import TestedPredictions
from hedgeclipper.io.messages import counted
from hedgeclipper.sklearn_private import _is_fitted


class ResultsMixin:
    """Adds ``auto_label``, and a summary of the fit to the diagram that a notebook shows.

    An estimator has a `TestedPredictions` ``_tested``, ``_sure_predictions(X)``, which returns
    labels, uncertainties and the digest of rows, ``_unlabeled_labels()``, which returns labels of
    the unlabeled rows of the fit, and ``_contributions()``.
    """

    classes_: np.ndarray
    n_labeled_: int
    n_unlabeled_: int
    n_iter_: np.ndarray
    certificate_: Certificate
    _tested: TestedPredictions

    @property
    def tested_predictions_(self) -> TestedPredictions:
        """Which tested predictions are wrong, and how uncertain these and the others are.

        ``certificate_`` and ``auto_label`` are made from it, and a certificate at any level:
        ``tested_predictions_.certificate(confidence_level)``.
        """
        check_is_fitted(self)
        return self._tested

    def auto_label(self, max_error=0.05, X=None, *, among="file", confidence_level=0.95):
        """Return predictions, and which of them need review so that few labels are wrong.

        Rows are ordered by uncertainty, and as many of the least uncertain keep their predicted
        label as the test labels allow. If people label all others, at most ``max_error`` of the
        labels in the whole file are wrong. That is a guarantee if the model was fitted with a
        ``confidence_level``, which holds labels out to test by, the labels are a simple random
        sample, and the rows are the unlabeled ones of the fit (or, if the fit had none, new rows
        that are drawn like the labeled ones). Otherwise it is an estimate. It is for the
        ``max_error`` that was named before the test labels were seen: of many, each holds by
        itself.

        Parameters
        ----------
        max_error : float or dict, default=0.05
            Largest proportion of wrong labels in the finished file, between 0 and 1. A dictionary
            has limits for classes, such as ``{"yes": 0.1, None: 0.05}``: at most 10% of the rows
            that are predicted "yes" are wrong, and 5% of all; None may be left out if every class
            has a limit. At least 59 random test labels are needed for 5%, and 299 for 1%.
        X : like that of ``predict``, optional
            Rows; None takes the unlabeled rows of the fit, where these are in memory.
        among : {"file", "automatic"}, default="file"
            "automatic" limits the errors among the automatic labels (and tested rows that are as
            certain) in place of those in the file: a harder promise, which fewer rows keep.
        confidence_level : float, default=0.95
            Probability with which it holds.

        Returns
        -------
        AutoLabels
            Labels of all rows, and which of them need review, in what order.
        """
        check_is_fitted(self)
        # before rows are read and predicted, which may take long
        check_question(max_error, among, confidence_level)
        if X is None:
            labels = self._unlabeled_labels()
            rule, reason = self._tested.about(None)
        else:
            labels, uncertainties, digest = self._sure_predictions(X)
            rule, reason = self._tested.about(uncertainties, digest, labels)
        asked = {"max_error": max_error, "among": among, "confidence_level": confidence_level}
        return auto_labels(rule, labels, **asked, reason=reason)

    def _sure_predictions(self, X: Any) -> tuple[np.ndarray, np.ndarray, int]:
        raise NotImplementedError

    def _unlabeled_labels(self) -> np.ndarray:
        raise NotImplementedError

    def _contributions(self) -> tuple[list[str], np.ndarray]:
        """Return the names of the voters, and the largest contribution of each to a game."""
        raise NotImplementedError

    def _main_figures(self) -> list[tuple[str, str]]:
        """Return the most important figures of a fit, as pairs of name and text."""
        classes = [str(label) for label in self.classes_[:5]]
        classes += ["..."] * (self.classes_.size > 5)
        voters, contributions = self._contributions()
        heaviest = voters[int(np.argmax(contributions))]
        never = getattr(self, "never_predicted_", {})
        return [
            ("labeled rows", f"{self.n_labeled_:,}"),
            ("unlabeled rows", f"{self.n_unlabeled_:,}"),
            ("classes", ", ".join(classes)),
            ("voters", f"{len(voters):,}, largest contribution from {heaviest}"),
            ("error", self.certificate_.describe().removeprefix("error ")),
            *(
                ("never predicted", f"{label}, which {counted(count, 'label has', 'labels have')}")
                for label, count in never.items()
            ),
            ("passes", str(int(np.sum(self.n_iter_)))),
        ]

    def _repr_html_inner(self) -> str:
        diagram = super()._repr_html_inner()  # type: ignore[misc]
        if not _is_fitted(self):
            return diagram
        # a small table in the notebook's own colors
        cell = "padding:0.15em 0.8em 0.15em 0;text-align:left;border:0"
        rows = "".join(
            f'<tr><th scope="row" style="{cell};font-weight:normal;opacity:0.75">{escape(name)}'
            f'</th><td style="{cell}">{escape(value)}</td></tr>'
            for name, value in self._main_figures()
        )
        style = "border:0;margin:0.4em 0"
        return f'{diagram}<table class="hedgeclipper-fitted" style="{style}">{rows}</table>'

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle
