"""The paper's algorithm: alpha = 1, its default; alpha = 0.3; and most labels for b.

The paper took one of 0.3, 1 and 3 for each data set after a look at the distributions. It says that
0.3 generally does not hurt, and that 1, its default, is best where classes are unbalanced. It also
says that it kept most labels for the estimation of b, which is the last method here, with alpha
from the separation of the classes.
"""

import numpy as np

from benchmarks.draws import Draw
from benchmarks.methods.method import Method, two_classes
from hedgeclipper.paper import PaperHedgeClipper


def method(name: str, title: str, **parameters: object) -> Method:
    def probabilities(draw: Draw, n_jobs: int) -> np.ndarray:
        """Return awake predictions on the scale of probabilities: above one half if positive."""
        model = PaperHedgeClipper(random_state=draw.seed, n_jobs=n_jobs, **parameters)
        m = model.fit(draw.X, draw.y, X_unlabeled=draw.X_unlabeled).decision_function(draw.X_scored)
        return two_classes((1.0 + m / (1.0 + np.abs(m))) / 2.0)

    return Method(name, f"HedgeClipper as in the paper, {title}", probabilities)


METHODS = (
    method("hedgeclipper-paper", "alpha = 1"),
    method("hedgeclipper-paper-0.3", "alpha = 0.3", unlabeled_weight=0.3),
    method(
        "hedgeclipper-paper-20-80",
        "20% of the labels grow trees",
        unlabeled_weight="auto",
        b_from="holdout",
    ),
)
