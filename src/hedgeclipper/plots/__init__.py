"""Pictures of a fitted model; matplotlib is imported only here, and only when something is drawn.

Each is a class as scikit-learn has them for plots: ``from_estimator`` and others compute, ``plot``
draws, and ``ax_`` and ``figure_`` are where.
"""

from hedgeclipper.plots.abstention import AbstentionDisplay
from hedgeclipper.plots.convergence import ConvergenceDisplay
from hedgeclipper.plots.live import LiveMargins
from hedgeclipper.plots.margins import MarginDisplay
from hedgeclipper.plots.reliability import ReliabilityDisplay
from hedgeclipper.plots.shared import per_cent
from hedgeclipper.plots.voters import VoterDisplay

__all__ = [
    "AbstentionDisplay",
    "ConvergenceDisplay",
    "LiveMargins",
    "MarginDisplay",
    "ReliabilityDisplay",
    "VoterDisplay",
    "per_cent",
]
