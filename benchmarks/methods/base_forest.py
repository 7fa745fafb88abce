"""The constrained forest of the paper: at least 10 rows a leaf, or 4 with few labels."""

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from benchmarks.draws import Draw
from benchmarks.methods.method import Method, probability


def forest(draw: Draw) -> RandomForestClassifier:
    """Return the forest, not fitted; the same seed for all methods that use it."""
    least = 10 if draw.y.size >= 1000 else 4
    return RandomForestClassifier(min_samples_leaf=least, random_state=draw.seed)


def scores(draw: Draw) -> np.ndarray:
    return probability(forest(draw).fit(draw.X, draw.y), draw.X_scored)


METHOD = Method("base-forest", "Base RF", scores, is_member=True)
