"""scikit-learn's label spreading over the seven nearest neighbors in scaled columns."""

import warnings

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import FunctionTransformer
from sklearn.semi_supervised import LabelSpreading

from benchmarks.draws import Draw
from benchmarks.methods.method import Method, scaled


def _dense(X) -> np.ndarray:
    return (X.toarray() if sparse.issparse(X) else X).astype(np.float64)


def scores(draw: Draw) -> np.ndarray:
    X = np.vstack([draw.X, draw.X_unlabeled])
    y = np.concatenate([draw.y, np.full(draw.X_unlabeled.shape[0], -1)])
    # Dense float64: the neighbors come from a blocked distance kernel that is fastest for it.
    X = scaled(FunctionTransformer(_dense), draw).fit_transform(X)
    model = LabelSpreading(kernel="knn", n_neighbors=7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # Rows that no label reaches are 0 / 0 inside; they get one half below.
        warnings.filterwarnings("ignore", message="invalid value", category=RuntimeWarning)
        model.fit(X, y)
    start = draw.y.size
    probabilities = model.label_distributions_[start : start + draw.n_scored, 1]
    return np.nan_to_num(probabilities, nan=0.5)


METHOD = Method(
    "label-spreading",
    "Label spreading",
    scores,
    is_member=True,
    uses_unlabeled=True,
    max_rows=100_000,
)
