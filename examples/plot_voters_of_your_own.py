"""
Voters of your own
==================

Five classifiers of different kinds are fitted to 60 labels of the breast cancer data; the other 509
rows are unlabeled. Labels that a classifier has not seen show how well it ranks, unlabeled rows
show where classifiers agree, and the game computes their weights.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from hedgeclipper import HedgeClipperClassifier

X, y = load_breast_cancer(return_X_y=True)
order = np.random.default_rng(3).permutation(y.size)
labeled, unlabeled = order[:60], order[60:]

voters = [
    ("linear", make_pipeline(StandardScaler(), LogisticRegression())),
    ("neighbors", make_pipeline(StandardScaler(), KNeighborsClassifier(7))),
    ("bayes", GaussianNB()),
    ("forest", RandomForestClassifier(random_state=0)),
    ("one tree", DecisionTreeClassifier(random_state=0)),
]
model = HedgeClipperClassifier(voters, random_state=0)
model.fit(X[labeled], y[labeled], X_unlabeled=X[unlabeled])

# %%
# The weight of each voter, how well it ranks labels that it has not seen, and how much it agrees
# with the others on the unlabeled rows.

summary = model.voter_summary().set_index("voter")
print(summary[["weight", "auc", "agreement", "contribution"]].round(3))

# %%
# The hidden labels of the unlabeled rows show how good all voters together are, and each by itself.

board = model.leaderboard(X[unlabeled], y[unlabeled]).set_index("voter")[::-1]
print(board.round(3))

figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.2), layout="constrained")
left.barh(summary.index[::-1], summary["weight"].iloc[::-1], color="#E69F00")
left.set(xlabel="weight", title="weights")
colors = ["#0072B2" if name == "all voters" else "0.7" for name in board.index]
right.barh(board.index, board["auc"], color=colors)
right.set(xlabel="AUC", xlim=(0.85, 1.0), title="on the unlabeled rows")
plt.show()

# %%
# The certificate has the error of the predictions. The voters were fitted, in folds, to the same
# labels that measure them, so it is an estimate. See :doc:`/numbers`.

print(model.certificate_)
