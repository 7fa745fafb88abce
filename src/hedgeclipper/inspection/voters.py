"""Weights of the voters, and their correlations with the labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgeclipper.base.inspection import VoterTable, inspect_estimator
from hedgeclipper.inspection.display import BLUE, MARK, Display, classifier_in, name_of

MOST_NAMES = 8
SMALL, LARGE = 12.0, 120.0
MANY = 60
# room of a name, in proportion to the axes
NAME_WIDTH, NAME_HEIGHT = 0.4, 0.06


@dataclass(eq=False, repr=False)
class VoterDisplay(Display):
    """Weight of each voter against its correlation with the labels.

    Voters are the members of a panel, the leaves of a forest, or the columns of a matrix of votes.
    Use `from_estimator` or `from_weights` to make one.

    Parameters
    ----------
    correlations : ndarray of shape (n_voters,)
        Correlation of each voter with the labels; NaN where no label is known.
    weights : ndarray of shape (n_voters,)
        Weights.
    errors : ndarray of shape (n_voters,) or None
        Standard errors of the correlations.
    sizes : ndarray of shape (n_voters,) or None
        Sizes of the points, the proportion of rows on which each is awake for instance.
    voters : list of str or None
        Names of the voters.
    kind : str
        What a voter is called.
    name : str or None
        What is drawn, for the title.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    points_ : matplotlib PathCollection
        The voters.
    texts_ : list of matplotlib Text
        Names of the heaviest ones.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> display = VoterDisplay.from_weights([0.2, 0.6], [0.1, 1.3], voters=["a", "b"], ax=ax)
    >>> [text.get_text() for text in display.texts_]
    ['b', 'a']
    """

    correlations: np.ndarray
    weights: np.ndarray
    errors: np.ndarray | None = None
    sizes: np.ndarray | None = None
    voters: list[str] | None = None
    kind: str = "voter"
    name: str | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, target: Any = None, name: str | None = None, ax: Any = None
    ) -> VoterDisplay:
        """Draw the voters of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            One of this package, or a pipeline or search that ends in one.
        target : label, optional
            With more than two classes: the class whose game is drawn. By default all are, in one
            figure. A `VoteAggregator` has one game for all classes.
        name, ax
            As in `plot`.

        Returns
        -------
        VoterDisplay
        """
        table = inspect_estimator(classifier_in(estimator), cls.__name__).voters
        if target is not None:
            table = table.of_class(target)
        return cls.from_table(table, name=name_of(estimator, name), ax=ax)

    @classmethod
    def from_table(
        cls, table: VoterTable, *, name: str | None = None, ax: Any = None
    ) -> VoterDisplay:
        """Draw the voters of a table, as `Inspection` has them."""
        own: dict[str, Any] = {"errors": table.errors, "sizes": table.coverage, "kind": table.kind}
        own |= {"voters": table.names, "name": name, "ax": ax}
        return cls.from_weights(table.correlations, table.weights, **own)

    @classmethod
    def from_weights(
        cls,
        correlations: Any,
        weights: Any,
        *,
        errors: Any = None,
        sizes: Any = None,
        voters: Any = None,
        kind: str = "voter",
        name: str | None = None,
        ax: Any = None,
    ) -> VoterDisplay:
        """Draw given weights and correlations.

        Parameters
        ----------
        correlations, weights : array-like of shape (n_voters,)
            Correlation of each voter with the labels, NaN where no label is known, and its weight.
        errors, sizes : array-like of shape (n_voters,), optional
            Standard errors of the correlations, and sizes of the points.
        voters : list of str, optional
            Names of the voters.
        kind : str
            What a voter is called.
        name, ax
            As in `plot`.

        Returns
        -------
        VoterDisplay
        """
        given = {"correlations": correlations, "weights": weights, "errors": errors, "sizes": sizes}
        arrays: dict[str, Any] = {
            k: None if v is None else np.asarray(v, dtype=float) for k, v in given.items()
        }
        shape = arrays["weights"].shape
        wrong = [k for k, v in arrays.items() if v is not None and v.shape != shape]
        if wrong or len(shape) != 1 or (voters is not None and len(voters) != shape[0]):
            raise ValueError(
                f"All must have one value for each voter. Got weights of shape {shape}, and "
                f"others for {', '.join(wrong) or 'the names'}."
            )
        names = None if voters is None else [str(voter) for voter in voters]
        return cls(**arrays, voters=names, kind=kind, name=name).plot(ax)

    def _draw(self, name: str | None) -> None:
        """Draw a point for each voter, and the names of the heaviest."""
        is_many = self.weights.size > MANY
        # zero is worth a line where some voter is below it
        if np.any(self.weights < 0):
            self.ax_.axhline(0.0, color=MARK, linewidth=0.6)
        if np.any(self.correlations < 0):
            self.ax_.axvline(0.0, color=MARK, linewidth=0.6, linestyle=":")
        if self.errors is not None and not is_many:
            style = {"fmt": "none", "ecolor": BLUE, "alpha": 0.35, "linewidth": 1.0}
            self.ax_.errorbar(self.correlations, self.weights, xerr=self.errors, **style)
        areas = np.full(self.weights.size, 30.0)
        if self.sizes is not None:
            largest = max(self.sizes.max(initial=0.0), 1e-12)
            areas = np.clip(LARGE * self.sizes / largest, SMALL, None)
        style = {"color": BLUE, "alpha": 0.25 if is_many else 0.8, "linewidths": 0}
        self.points_ = self.ax_.scatter(self.correlations, self.weights, s=areas, **style)
        self.texts_ = [] if is_many or self.voters is None else self._draw_names(self.voters)
        self.ax_.set(
            xlabel=f"correlation of the {self.kind} with the labels",
            ylabel=f"weight of the {self.kind}",
            title=name,
        )

    def _draw_names(self, voters: list[str]) -> list[Any]:
        """Draw the names of the heaviest voters that would not overlap."""
        known = np.flatnonzero(np.isfinite(self.correlations) & np.isfinite(self.weights))
        scale = np.ptp(self.ax_.get_xlim()), np.ptp(self.ax_.get_ylim())
        places = np.column_stack([self.correlations, self.weights]) / scale
        chosen: list[int] = []
        for voter in known[np.argsort(-np.abs(self.weights[known]), kind="stable")]:
            gaps = np.abs(places[chosen] - places[voter])
            if not np.any((gaps[:, 0] < NAME_WIDTH) & (gaps[:, 1] < NAME_HEIGHT)):
                chosen.append(int(voter))
        middle, texts = np.mean(self.ax_.get_xlim()), []
        for voter in chosen[:MOST_NAMES]:
            place = self.correlations[voter], self.weights[voter]
            # names run toward the middle, those from the right above those from the left
            side, shift = ("left", (5, 4)) if place[0] <= middle else ("right", (-5, 14))
            style = {"textcoords": "offset points", "fontsize": "small", "parse_math": False}
            style |= {"ha": side, "xytext": shift}
            texts.append(self.ax_.annotate(voters[voter], place, **style))
        return texts
