"""What a fitted estimator tells of itself: its voters, and a summary beside scikit-learn's diagram.

An estimator that derives from `ShowsItself` has ``classes_``, ``n_labeled_``, ``n_unlabeled_``,
``certificate_`` and ``_inspect()`` once it is fitted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.bounds.certificate import Certificate

MOST_CLASSES = 5


@dataclass(frozen=True, eq=False)
class VoterTable:
    """Who voted, with what weight, and what the labels say of them.

    Parameters
    ----------
    kind : str
        What a voter is called: "leaf", "member", "voter".
    names : list of str
        Names of the voters.
    weights, correlations : ndarray of shape (n_voters,)
        Weight of each, and its correlation with labels it has not seen; NaN where there are none.
    shares : ndarray of shape (n_voters,)
        How much of the result is each one's; they add up to 1 in each game.
    coverage : ndarray of shape (n_voters,) or None
        Share of the unlabeled rows on which each is awake, where that differs.
    errors : ndarray of shape (n_voters,) or None
        Standard errors of the correlations, where they are known.
    targets : list or None
        The class whose game each is in, where there is a game for each.
    more : dict of str to list
        Further columns, by what they are called.
    """

    kind: str
    names: list[str]
    weights: np.ndarray
    correlations: np.ndarray
    shares: np.ndarray
    coverage: np.ndarray | None = None
    errors: np.ndarray | None = None
    targets: list | None = None
    more: dict[str, list] = field(default_factory=dict)

    @property
    def plural(self) -> str:
        """What several voters are called."""
        return "leaves" if self.kind == "leaf" else f"{self.kind}s"

    def of_class(self, target: Any) -> VoterTable:
        """Return the voters in the game of a class."""
        if self.targets is None:
            raise ValueError(f"There is one game for all classes: leave out target={target!r}.")
        rows = np.flatnonzero([own == target for own in self.targets])
        if rows.size == 0:
            known = list(dict.fromkeys(self.targets))
            raise ValueError(f"target must be one of the classes {known}. Got {target!r}.")
        return self.take(rows)

    def take(self, rows: np.ndarray) -> VoterTable:
        """Return some of the voters."""

        def some(values: Any) -> Any:
            return values if values is None else [values[row] for row in rows]

        def part(values: np.ndarray | None) -> Any:
            return None if values is None else values[rows]

        return VoterTable(
            self.kind,
            some(self.names),
            self.weights[rows],
            self.correlations[rows],
            self.shares[rows],
            part(self.coverage),
            part(self.errors),
            some(self.targets),
            {name: some(values) for name, values in self.more.items()},
        )


def shares_of(sizes: np.ndarray) -> np.ndarray:
    """Return sizes as shares of their sum; 0 where all are."""
    sizes = np.abs(np.nan_to_num(sizes))
    total = float(sizes.sum())
    return sizes / total if total > 0 else sizes


def certificates_of(estimator: Any) -> list[Certificate]:
    """Return the certificates of a fitted estimator, one for each game."""
    found = estimator.certificate_
    return found if isinstance(found, list) else [found]


def is_fitted(estimator: Any) -> bool:
    """Return whether an estimator is fitted."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def main_figures(estimator: Any) -> list[tuple[str, str]]:
    """Return what is most worth knowing of a fitted estimator, as pairs of words."""
    certificates = certificates_of(estimator)
    worst = max(certificates, key=lambda one: one.error_upper)
    classes = [str(label) for label in estimator.classes_[:MOST_CLASSES]]
    classes += ["..."] * (estimator.classes_.size > MOST_CLASSES)
    table = estimator._inspect().voters
    heaviest = table.names[int(np.argmax(table.shares))] if table.names else "none"
    return [
        ("labeled rows", f"{estimator.n_labeled_:,}"),
        ("unlabeled rows", f"{estimator.n_unlabeled_:,}"),
        ("classes", ", ".join(classes)),
        (table.plural, f"{len(table.names):,}, most from {heaviest}"),
        ("worst class against the rest" if len(certificates) > 1 else "error", worst.describe()),
        ("passes", str(np.sum(estimator.n_iter_))),
    ]


class ShowsItself:
    """Adds a summary of the fit to what scikit-learn shows of an estimator in a notebook."""

    def _repr_html_inner(self) -> str:
        diagram = super()._repr_html_inner()  # type: ignore[misc]
        # copies for prediction alone know nothing of their fit
        is_whole = is_fitted(self) and hasattr(self, "certificate_")
        return diagram + _summary_html(self) if is_whole else diagram

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle


def _summary_html(estimator: Any) -> str:
    """Return the main figures as a small table that takes the notebook's own colors."""
    cell = "padding:0.15em 0.8em 0.15em 0;text-align:left;border:0"
    rows = "".join(
        f'<tr><th scope="row" style="{cell};font-weight:normal;opacity:0.75">{escape(name)}</th>'
        f'<td style="{cell}">{escape(value)}</td></tr>'
        for name, value in main_figures(estimator)
    )
    return f'<table class="hedgeclipper-fitted" style="border:0;margin:0.4em 0">{rows}</table>'
