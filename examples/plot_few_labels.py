"""
How many labels are needed?
===========================

The Adult data (a1a, 24% positive) with 50 to 1,000 labels and 4,000 unlabeled rows. The random
forests use the labels only, and one of them has as many trees as HedgeClipper, which learns from
the unlabeled rows as well.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.datasets import load_adult

N_LABELS, N_DRAWS, N_UNLABELED = (50, 200, 1000), 3, 4_000

X, y = load_adult(return_X_y=True)


def auc_of_three(n_labels, seed):
    """Return AUCs on unlabeled rows: default forest, one of 600 trees, and HedgeClipper."""
    order = np.random.default_rng(seed).permutation(y.size)
    labeled, unlabeled = order[:n_labels], order[n_labels : n_labels + N_UNLABELED]
    forests = [RandomForestClassifier(n_trees, random_state=seed) for n_trees in (100, 600)]
    model = HedgeClipperClassifier(random_state=seed)
    model.fit(X[labeled], y[labeled], X_unlabeled=X[unlabeled])
    rows, truth = X[unlabeled], y[unlabeled]
    scores = [forest.fit(X[labeled], y[labeled]).predict_proba(rows)[:, 1] for forest in forests]
    return [roc_auc_score(truth, own) for own in [*scores, model.decision_function(rows)]]


# %%
# For each number of labels there are three random draws. Draws differ more than methods do, so all
# three methods use the same draws.

aucs = np.array([[auc_of_three(n, seed) for seed in range(N_DRAWS)] for n in N_LABELS])
names = ["random forest, 100 trees", "random forest, 600 trees", "HedgeClipper"]
for n_labels, means in zip(N_LABELS, aucs.mean(axis=1), strict=True):
    print(f"{n_labels:5d} labels  " + "  ".join(f"{mean:.3f}" for mean in means))

figure, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
styles = [("s", "#D55E00"), ("^", "#E69F00"), ("o", "#0072B2")]
for number, (name, (marker, color)) in enumerate(zip(names, styles, strict=True)):
    ax.plot(N_LABELS, aucs[:, :, number].mean(axis=1), marker=marker, color=color, label=name)
ax.set(xscale="log", xlabel="labels", ylabel="AUC on unlabeled rows, mean of three draws")
ax.set_xticks(N_LABELS, [str(n) for n in N_LABELS])
ax.minorticks_off()
ax.legend(frameon=False)
plt.show()

# %%
# Draws differ, so these are few. :doc:`/benchmarks` has more draws of the paper's data and of
# others, and :doc:`/ablations` shows what the parts of HedgeClipper contribute.
