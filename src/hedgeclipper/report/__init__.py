"""`PlanDisplay`, and the HTML report of a fitted model.

The display is a class as in scikit-learn: ``from_estimator`` computes and draws, ``plot`` draws
again, and ``ax_`` and ``figure_`` are where. A section of the report is a template in
``templates/``, named after its id, and a function in ``page.py`` that gathers its data. matplotlib
and jinja2 are imported only when needed.
"""
