"""The labeling loop: which row to label next, when to prove, and the session file."""

from hedgeclipper.labeling.fitting import FitJob, FitResult
from hedgeclipper.labeling.loop import LabelingLoop
from hedgeclipper.labeling.progress import LabelingResult, LabelingStatus
from hedgeclipper.labeling.session import SessionError

__all__ = [
    "FitJob",
    "FitResult",
    "LabelingLoop",
    "LabelingResult",
    "LabelingStatus",
    "SessionError",
]
