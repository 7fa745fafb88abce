"""The paper's algorithm: alpha = 1, its default; alpha = 0.3; and alpha from the distributions.

The paper took one of 0.3, 1 and 3 for each data set after a look at the distributions. It says that
0.3 generally does not hurt, and that 1, its default, is best where classes are unbalanced. It also
says that it kept most labels for the estimation of b, which is the last method here.
"""

import warnings
from functools import partial

import numpy as np

from benchmarks.draws import Draw
from benchmarks.methods.method import Method
from hedgeclipper.paper import ContradictoryCorrelationsWarning, PaperHedgeClipper


def scores(draw: Draw, **parameters: object) -> np.ndarray:
    """Return awake predictions on the scale of probabilities: above one half where positive."""
    model = PaperHedgeClipper(random_state=draw.seed, **parameters)
    with warnings.catch_warnings():
        # plug-in correlations contradict each other nearly always
        warnings.simplefilter("ignore", ContradictoryCorrelationsWarning)
        model.fit(draw.X, draw.y, X_unlabeled=draw.X_unlabeled)
    m = model.decision_function(draw.X_scored)
    return (1.0 + m / (1.0 + np.abs(m))) / 2.0


def method(name: str, title: str, **parameters: object) -> Method:
    return Method(name, title, partial(scores, **parameters), uses_unlabeled=True)


METHOD = method("hedgeclipper-paper", "HedgeClipper as in the paper, alpha = 1")
SMALL_ALPHA = method(
    "hedgeclipper-paper-0.3", "HedgeClipper as in the paper, alpha = 0.3", unlabeled_weight=0.3
)
CHOSEN_ALPHA = method(
    "hedgeclipper-paper-auto", "the same, alpha by separation", unlabeled_weight="auto"
)
HELD_OUT = method(
    "hedgeclipper-paper-20-80",
    "the same, 20% of the labels grow trees",
    unlabeled_weight="auto",
    b_from="holdout",
)
