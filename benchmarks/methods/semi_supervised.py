"""scikit-learn's self-training and label spreading.

Self-training has its defaults, around the scaled logistic regression. Label spreading is over the
seven nearest neighbors in scaled columns.
"""

import warnings
from collections.abc import Callable

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

from benchmarks.draws import Draw
from benchmarks.methods.method import Method, scaled


def all_rows(draw: Draw) -> tuple[np.ndarray, np.ndarray]:
    """Return labeled and unlabeled rows, and labels, -1 where there is none."""
    unknown = np.full(draw.X_unlabeled.shape[0], -1)
    return np.vstack([draw.X, draw.X_unlabeled]), np.concatenate([draw.y, unknown])


def self_training(draw: Draw) -> np.ndarray:
    """Return the probability of each class, shape (n_scored, n_classes)."""
    model = SelfTrainingClassifier(scaled(LogisticRegression(max_iter=1000), draw))
    with warnings.catch_warnings():
        # No harm done where all rows end up labeled before the last round.
        warnings.filterwarnings("ignore", message="y contains no unlabeled samples")
        model.fit(*all_rows(draw))
    return model.predict_proba(draw.X_scored)


def _dense(X) -> np.ndarray:
    return (X.toarray() if sparse.issparse(X) else X).astype(np.float64)


def label_spreading(draw: Draw) -> np.ndarray:
    """Return the probability of each class, shape (n_scored, n_classes)."""
    X, y = all_rows(draw)
    # Dense float64: the neighbors come from a blocked distance kernel that is fastest for it.
    X = scaled(FunctionTransformer(_dense), draw).fit_transform(X)
    model = LabelSpreading(kernel="knn", n_neighbors=7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # Rows that no label reaches are 0 / 0 inside; all classes get the same there, below.
        warnings.filterwarnings("ignore", message="invalid value", category=RuntimeWarning)
        model.fit(X, y)
    start = draw.y.size
    probabilities = model.label_distributions_[start : start + draw.n_scored]
    return np.nan_to_num(probabilities, nan=1 / model.classes_.size)


def method(name: str, title: str, probabilities: Callable, **options) -> Method:
    return Method(name, title, lambda draw: probabilities(draw)[:, 1], is_member=True, **options)


METHODS = (
    method("self-training", "Self-training", self_training),
    method("label-spreading", "Label spreading", label_spreading, max_rows=100_000),
)
