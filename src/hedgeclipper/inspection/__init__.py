"""Displays of a fitted model, and the report; matplotlib and jinja2 are imported only when needed.

Displays are classes as in scikit-learn: ``from_estimator`` and others compute and draw, ``plot``
draws again, and ``ax_`` and ``figure_`` are where. A section of the report is a template in
``templates/``, named after its id, and a function that gathers its data.
"""

from hedgeclipper.inspection.auto_labels import AutoLabelDisplay
from hedgeclipper.inspection.display import per_cent
from hedgeclipper.inspection.voters import VoterDisplay

__all__ = [
    "AutoLabelDisplay",
    "VoterDisplay",
    "per_cent",
]
