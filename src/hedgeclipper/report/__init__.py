"""Displays of a fitted model, and the HTML report.

Displays are classes as in scikit-learn: ``from_estimator`` computes and draws, ``plot`` draws
again, and ``ax_`` and ``figure_`` are where. A section of the report is a template in
``templates/``, named after its id, and a function in ``page.py`` that gathers its data. matplotlib
and jinja2 are imported only when needed.
"""

from hedgeclipper.report.displays import PlanDisplay, VoterDisplay

__all__ = ["PlanDisplay", "VoterDisplay"]
