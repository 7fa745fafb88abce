"""Results that both estimators have, and the summary of a fit that notebooks show."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.bounds.certificate import Certificate
from hedgeclipper.bounds.tested_predictions import TestedPredictions
from hedgeclipper.sklearn_private import _is_fitted

MOST_CLASSES = 5


class SummaryMixin:
    """Adds a summary of the fit to the diagram that scikit-learn shows in a notebook."""

    classes_: np.ndarray
    n_labeled_: int
    n_unlabeled_: int
    n_iter_: np.ndarray
    stop_reason_: np.ndarray
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

    def _contributions(self) -> tuple[list[str], np.ndarray]:
        """Return the names of the voters, and the largest contribution of each to a game."""
        raise NotImplementedError

    def _main_figures(self) -> list[tuple[str, str]]:
        """Return the most important figures of a fit, as pairs of name and text."""
        classes = [str(label) for label in self.classes_[:MOST_CLASSES]]
        classes += ["..."] * (self.classes_.size > MOST_CLASSES)
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
                ("never predicted", f"{label}, which {count:,} label{'s' * (count != 1)} have")
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
