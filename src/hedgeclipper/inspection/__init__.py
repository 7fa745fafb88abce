"""Pictures of a fitted model; matplotlib is imported only here, and only when something is drawn.

Each is a class as scikit-learn has them for plots: ``from_estimator`` and others compute, ``plot``
draws, and ``ax_`` and ``figure_`` are where.
"""

from hedgeclipper.inspection.abstention import AbstentionDisplay
from hedgeclipper.inspection.convergence import ConvergenceDisplay
from hedgeclipper.inspection.display import per_cent
from hedgeclipper.inspection.live import LiveMargins
from hedgeclipper.inspection.margins import MarginDisplay
from hedgeclipper.inspection.voters import VoterDisplay

__all__ = [
    "AbstentionDisplay",
    "ConvergenceDisplay",
    "LiveMargins",
    "MarginDisplay",
    "VoterDisplay",
    "per_cent",
]
