"""What all displays share: axes, colors, and the classifier in a pipeline or search."""

from __future__ import annotations

from typing import Any, Self

from sklearn.pipeline import Pipeline

from hedgeclipper.io.extras import import_extra

BLUE, MARK = "#0072B2", "#404040"


class Display:
    """Base of the displays: holds what was computed, and draws it on matplotlib's axes.

    As in scikit-learn, class methods such as ``from_estimator`` compute and draw, and ``plot``
    draws again. A subclass stores its results and a ``name``, and draws them on ``ax_`` in
    ``_draw``.
    """

    name: str | None = None
    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None, *, name: str | None = None) -> Self:
        """Draw it again, on other axes for instance.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        name : str, optional
            Title, or entry of the legend. ``from_estimator`` stores the name of the estimator's
            class by default.

        Returns
        -------
        self
        """
        self._use_axes(ax)
        self._draw(self.name if name is None else name)
        return self

    def _draw(self, name: str | None) -> None:
        raise NotImplementedError

    def _use_axes(self, ax: Any) -> None:
        """Draw on the given axes from now on, or on those of a new figure."""
        if ax is None:
            import_extra("matplotlib", "plots", type(self).__name__)
            from matplotlib import pyplot

            ax = pyplot.subplots()[1]
        self.ax_, self.figure_ = ax, ax.figure


def steps_in(model: Any) -> tuple[list[Any], Any]:
    """Return the transformers in pipelines and searches, and the classifier at their end."""
    if hasattr(model, "best_estimator_"):
        return steps_in(model.best_estimator_)
    if not isinstance(model, Pipeline):
        return [], model
    steps, classifier = steps_in(model[-1])
    own = [step for _, step in model.steps[:-1] if step not in (None, "passthrough")]
    return own + steps, classifier


def classifier_in(estimator: Any) -> Any:
    """Return the classifier at the end of pipelines and searches."""
    return steps_in(estimator)[1]


def name_of(estimator: Any, name: str | None) -> str:
    """Return the given name, or that of the class of the classifier."""
    return type(classifier_in(estimator)).__name__ if name is None else name


def per_cent(proportion: float) -> str:
    """Return a proportion as text; 0 and 100 % only where it is exactly that."""
    if 0 < proportion < 0.0005:
        return "< 0.1 %"
    if 0.9995 <= proportion < 1:
        return "> 99.9 %"
    return f"{100 * proportion:.1f} %"
