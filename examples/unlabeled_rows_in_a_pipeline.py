"""Unlabelled rows in a pipeline.

`X_unlabeled` has to go through the same steps as `X`. scikit-learn does that for inputs named in
`transform_input`, once metadata routing is on and the classifier asks for them.
"""

import numpy as np
import sklearn
from sklearn.feature_selection import VarianceThreshold
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.datasets import fetch_a1a

sklearn.set_config(enable_metadata_routing=True)

X, y = fetch_a1a(return_X_y=True)
order = np.random.default_rng(0).permutation(y.size)
labeled, unlabeled = order[:1000], order[1000:]

classifier = HedgeClipperClassifier(n_jobs=-1, random_state=0).set_fit_request(X_unlabeled=True)
pipeline = make_pipeline(VarianceThreshold(0.01), classifier, transform_input=["X_unlabeled"])
pipeline.fit(X[labeled], y[labeled], X_unlabeled=X[unlabeled])

scores = pipeline.decision_function(X[unlabeled])
print(f"{pipeline[:-1].transform(X[:1]).shape[1]} of {X.shape[1]} columns are kept")
print(f"AUC on {unlabeled.size} unlabelled rows: {roc_auc_score(y[unlabeled], scores):.3f}")
