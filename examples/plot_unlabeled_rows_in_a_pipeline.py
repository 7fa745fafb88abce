"""
Unlabeled rows in a pipeline
=============================

``X_unlabeled`` must pass through the same steps as ``X``. scikit-learn does this for inputs named
in ``transform_input`` if metadata routing is enabled and the classifier requests them.
"""

import matplotlib.pyplot as plt
import numpy as np
import sklearn
from sklearn.feature_selection import VarianceThreshold
from sklearn.metrics import RocCurveDisplay, roc_auc_score
from sklearn.pipeline import make_pipeline

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.datasets import load_adult

X, y = load_adult(return_X_y=True)
order = np.random.default_rng(0).permutation(y.size)
labeled, unlabeled = order[:1000], order[1000:]

with sklearn.config_context(enable_metadata_routing=True):
    classifier = HedgeClipperClassifier(random_state=0).set_fit_request(X_unlabeled=True)
    pipeline = make_pipeline(VarianceThreshold(0.01), classifier, transform_input=["X_unlabeled"])
    pipeline.fit(X[labeled], y[labeled], X_unlabeled=X[unlabeled])

# %%
# The classifier gets the selected columns of both labeled and unlabeled rows.

print(f"{pipeline[-1].n_features_in_} of {X.shape[1]} columns are kept")

# %%
# New rows are predicted as in any pipeline.

scores = pipeline.decision_function(X[unlabeled])
print(f"AUC on {unlabeled.size} unlabeled rows: {roc_auc_score(y[unlabeled], scores):.3f}")

figure, ax = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
RocCurveDisplay.from_predictions(y[unlabeled], scores, ax=ax, name="pipeline")
plt.show()
