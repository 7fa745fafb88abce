"""scikit-learn's self-training and label spreading.

Self-training has its defaults, around the scaled logistic regression. Label spreading is over the
seven nearest neighbors in scaled columns.
"""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

from benchmarks.draws import Draw, one_hot, to_dense
from benchmarks.methods.method import Method, scaled


def all_rows(draw: Draw) -> tuple[np.ndarray, np.ndarray]:
    """Return labeled and unlabeled rows, and labels, -1 where there is none."""
    unknown = np.full(draw.X_unlabeled.shape[0], -1)
    return np.vstack([draw.X, draw.X_unlabeled]), np.concatenate([draw.y, unknown])


def self_training(draw: Draw, n_jobs: int) -> np.ndarray:
    draw = one_hot(draw)
    model = SelfTrainingClassifier(scaled(LogisticRegression(max_iter=1000), draw))
    return model.fit(*all_rows(draw)).predict_proba(draw.X_scored)


def _dense(X) -> np.ndarray:
    return to_dense(X).astype(np.float64)


def label_spreading(draw: Draw, n_jobs: int) -> np.ndarray:
    draw = one_hot(draw)
    X, y = all_rows(draw)
    # Dense float64: the neighbors come from a blocked distance kernel that is fastest for it.
    X = scaled(FunctionTransformer(_dense), draw).fit_transform(X)
    model = LabelSpreading(kernel="knn", n_neighbors=7).fit(X, y)
    start = draw.y.size
    probabilities = model.label_distributions_[start : start + draw.n_scored]
    # Rows that no label reaches are 0 / 0 inside; all classes get the same there.
    return np.nan_to_num(probabilities, nan=1 / model.classes_.size)


METHODS = (
    Method("self-training", "Self-training", self_training, is_member=True),
    Method("label-spreading", "Label spreading", label_spreading, is_member=True),
)
