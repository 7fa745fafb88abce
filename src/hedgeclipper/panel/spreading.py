"""Label spreading that can say something about every row."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsRegressor
from sklearn.semi_supervised import LabelSpreading
from sklearn.utils.validation import check_is_fitted


class SmoothSpreading(LabelSpreading):
    """Label spreading over nearest neighbors, and their mean for new rows.

    Rows that no label reaches get the shares of the classes among the labels, where scikit-learn's
    own class has NaN or 0. There may be fewer rows than neighbors.

    Parameters
    ----------
    kernel, gamma, n_neighbors, alpha, max_iter, tol, n_jobs
        As in ``LabelSpreading``.
    """

    def fit(self, X, y):
        """Spread the labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels, -1 for unlabeled rows.
        """
        labels = np.asarray(y)
        n_neighbors = min(self.n_neighbors, labels.size)
        spread = LabelSpreading(**{**self.get_params(), "n_neighbors": n_neighbors})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", message="invalid value", category=RuntimeWarning)
            spread.fit(X, y)
        self.classes_, self.n_features_in_ = spread.classes_, spread.n_features_in_
        soft = spread.label_distributions_
        shares = np.mean(labels[labels != -1][:, None] == self.classes_, axis=0)
        reached = soft.sum(axis=1, keepdims=True) > 0
        soft = np.where(reached, soft, shares)
        self.neighbors_ = KNeighborsRegressor(n_neighbors, weights="distance").fit(X, soft)
        return self

    def predict_proba(self, X):
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        """
        check_is_fitted(self)
        return self.neighbors_.predict(X)
