"""Trees to test with, grown as the classifier grows them."""

import numpy as np
from hedgeclipper.forest.groups import score_groups
from hedgeclipper.forest.growing import Ensemble, grow_trees


def grow(ensembles, X, y, sample_weight=None, views=(), **options):
    """Return trees of one ensemble on the columns, or of several `Ensemble` on these views."""
    ensembles = ensembles if isinstance(ensembles, list) else [Ensemble("forest", ensembles)]
    random_state = np.random.RandomState(0)
    return grow_trees(ensembles, views, X, y, sample_weight, random_state=random_state, **options)


def scored(grown, y, weights=None, games=(1,), shrinkage=None):
    """Return the groups of grown trees with what they predict for the labeled rows."""
    return score_groups(grown, y, weights, list(games), shrinkage)
