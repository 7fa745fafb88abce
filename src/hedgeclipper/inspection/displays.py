"""What all pictures share: colors, axes, the classifier in a pipeline, shares in words."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from hedgeclipper.io.extras import import_extra

# Okabe and Ito's colors, which can be told apart by all readers, and grays
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
BAND, MARK = "#EBEBEB", "#404040"


def need_matplotlib(wanted_by: str) -> None:
    """Raise before anything is computed if the picture could not be drawn."""
    import_extra("matplotlib", "plots", wanted_by)


def axes_for(ax: Any, wanted_by: str) -> Any:
    """Return the given axes, or those of a new figure."""
    if ax is not None:
        return ax
    need_matplotlib(wanted_by)
    return import_extra("matplotlib.pyplot", "plots", wanted_by).subplots()[1]


def classifier_in(estimator: Any) -> Any:
    """Return the classifier at the end of pipelines and searches."""
    if isinstance(estimator, Pipeline):
        return classifier_in(estimator[-1])
    if hasattr(estimator, "best_estimator_"):
        return classifier_in(estimator.best_estimator_)
    return estimator


def name_of(estimator: Any) -> str:
    """Return the name of the class of the classifier."""
    return type(classifier_in(estimator)).__name__


def per_cent(share: float) -> str:
    """Return a share as text that says 0 or 100 % only where it is."""
    if 0 < share < 0.0005:
        return "< 0.1 %"
    if 0.9995 <= share < 1:
        return "> 99.9 %"
    return f"{100 * share:.1f} %"
