"""
A panel of your own
===================

Five classifiers of different kinds are fitted to 60 labels of the breast cancer data; the other 509
rows are unlabeled. Labels that a member has not seen show how well it ranks, unlabeled rows show
where members agree, and the game computes the weights of the members.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from hedgeclipper import HedgedVotingClassifier

X, y = load_breast_cancer(return_X_y=True)
order = np.random.default_rng(3).permutation(y.size)
labeled, unlabeled = order[:60], order[60:]

members = [
    ("linear", make_pipeline(StandardScaler(), LogisticRegression())),
    ("neighbors", make_pipeline(StandardScaler(), KNeighborsClassifier(7))),
    ("bayes", GaussianNB()),
    ("forest", RandomForestClassifier(random_state=0)),
    ("one tree", DecisionTreeClassifier(random_state=0)),
]
panel = HedgedVotingClassifier(members, random_state=0)
panel.fit(X[labeled], y[labeled], X_unlabeled=X[unlabeled])

# %%
# The weight of each member, how well it ranks labels that it has not seen, and how much it agrees
# with the others on the unlabeled rows.

summary = panel.member_summary().set_index("member")
print(summary[["weight", "auc", "agreement", "contribution"]].round(3))

# %%
# The hidden labels of the unlabeled rows show the result. The panel is about as good as the best
# member, which one could hardly have found from the 60 labels above.

rows, truth = X[unlabeled], y[unlabeled]
aucs = {
    name: roc_auc_score(truth, member.predict_proba(rows)[:, 1])
    for name, member in panel.members_.items()
}
aucs["hedged panel"] = roc_auc_score(truth, panel.decision_function(rows))
names = sorted(aucs, key=aucs.get)

figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.2), layout="constrained")
left.barh(summary.index[::-1], summary["weight"].iloc[::-1], color="#E69F00")
left.set(xlabel="weight", title="weights in the panel")
colors = ["#0072B2" if name == "hedged panel" else "0.7" for name in names]
right.barh(names, [aucs[name] for name in names], color=colors)
right.set(xlabel="AUC", xlim=(0.85, 1.0), title="on the unlabeled rows")
plt.show()

# %%
# The certificate bounds the error of the panel's predictions. The members were fitted, in folds, to
# the same labels that measure them, so the bound is an estimate. See :doc:`/numbers`.

print(panel.certificate_)
