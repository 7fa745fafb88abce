"""What all displays share: axes, colors, and checks of estimators and labels."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, column_or_1d

from hedgeclipper.base.semi_supervised import is_unlabeled
from hedgeclipper.io.extras import import_extra

# Okabe and Ito's colors, which readers with any color vision can distinguish, and grays
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
BAND, MARK = "#EBEBEB", "#404040"


class Display:
    """Base of the displays: holds what was computed, and draws it on matplotlib's axes.

    As in scikit-learn, class methods such as ``from_estimator`` compute and draw, and ``plot``
    draws again. A subclass stores its results and a ``name``, and draws them on ``ax_`` in
    ``_draw``, or in a ``plot`` of its own if there are options of style.
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

    @classmethod
    def _classes_of(cls, estimator: Any) -> np.ndarray:
        """Return the classes of a fitted classifier that can be drawn."""
        # before rows are predicted for nothing
        import_extra("matplotlib", "plots", cls.__name__)
        check_is_fitted(estimator)
        if not hasattr(estimator, "classes_"):
            raise TypeError(
                f"{cls.__name__} is for classifiers. Got {type(estimator).__name__}, which has no "
                "classes_."
            )
        return np.asarray(estimator.classes_)


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


def check_labels(y: Any, classes: np.ndarray) -> np.ndarray:
    """Return the labels if each is one of the classes, and all of them occur."""
    y = column_or_1d(y)
    refuse_unlabeled(y, classes)
    found = np.unique(y)
    if not np.array_equal(found, classes):
        which = "both" if classes.size == 2 else "all"
        raise ValueError(
            f"y must have the labels {listed(classes)}, the classes of the estimator, and {which} "
            f"of them. Got {listed(found)}."
        )
    return y


def refuse_unlabeled(y: np.ndarray, classes: np.ndarray) -> None:
    """Raise if -1 is not a class but occurs: it then marks rows whose class is not known."""
    n_marked = int(is_unlabeled(y).sum())
    if n_marked and not is_unlabeled(classes).any():
        raise ValueError(
            f"y has {n_marked} unlabeled row{'s' * (n_marked != 1)} (-1) of {y.size}; the classes "
            f"are {listed(classes)}. Their class must be known to be drawn: pass the others alone."
        )


def listed(labels: Any) -> str:
    """Return a few labels as text."""
    shown = ", ".join(repr(label) for label in np.asarray(labels)[:5].tolist())
    return f"[{shown}{', ...' * (len(labels) > 5)}]"
