"""
How many labels are needed?
===========================

The Adult data (a1a, 24 % positive) with 50 to 1,000 labels and 4,000 unlabeled rows. The random
forest uses the labels only. HedgeClipper computes new weights for the leaves of a forest, from
labels that the trees have not seen and from the leaves' overlap on the unlabeled rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.datasets import fetch_a1a

N_LABELS, N_DRAWS, N_UNLABELED = (50, 200, 1000), 3, 4_000

X, y = fetch_a1a(return_X_y=True)


def auc_of_three(n_labels, seed):
    """Return AUCs on unlabeled rows: default forest, HedgeClipper's forest, and HedgeClipper."""
    order = np.random.default_rng(seed).permutation(y.size)
    labeled, unlabeled = order[:n_labels], order[n_labels : n_labels + N_UNLABELED]
    forest = RandomForestClassifier(random_state=seed).fit(X[labeled], y[labeled])
    model = HedgeClipperClassifier(random_state=seed)
    model.fit(X[labeled], y[labeled], X_unlabeled=X[unlabeled])
    rows, truth = X[unlabeled], y[unlabeled]
    scores = [
        forest.predict_proba(rows)[:, 1],
        model.estimator_.predict_proba(rows)[:, 1],
        model.decision_function(rows),
    ]
    return [roc_auc_score(truth, score) for score in scores]


# %%
# For each number of labels there are three random draws. Draws differ more than methods do, so all
# three methods use the same draws.

aucs = np.array([[auc_of_three(n, seed) for seed in range(N_DRAWS)] for n in N_LABELS])
names = ["random forest, default", "forest with larger leaves", "HedgeClipper on its leaves"]
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
# Most of the gain over the default forest comes from larger leaves; the new weights add a little. A
# panel of different classifiers adds more, see :doc:`/auto_examples/plot_panel_of_your_own`.
# :doc:`/table` has all results on the paper's data.
