"""Controls: the paper's game of leaves on HedgeClipper's trees, and the same with all nodes."""

from functools import partial

import numpy as np

from benchmarks.draws import Draw
from benchmarks.methods.hedgeclipper import fit
from benchmarks.methods.method import Method, probability
from hedgeclipper import HedgeClipperClassifier, LeafGame


def scores(draw: Draw, specialists: str) -> np.ndarray:
    game = LeafGame(specialists=specialists)
    model = fit(HedgeClipperClassifier(game=game, random_state=draw.seed), draw)
    return probability(model, draw.X_scored)


METHOD = Method(
    "hedgeclipper-leaves",
    "game of leaves",
    partial(scores, specialists="leaves"),
    uses_unlabeled=True,
    is_control=True,
    is_ablation=True,
)
NODES = Method(
    "hedgeclipper-nodes",
    "game of nodes",
    partial(scores, specialists="nodes"),
    uses_unlabeled=True,
    is_control=True,
    is_ablation=True,
)
