"""
Which predictions are sure?
===========================

The game decides some rows and hedges on the others: where the weighted vote of the awake leaves
goes beyond -1 or +1 it is clipped, in between it says how sure it is. So the vote itself says which
predictions to trust more, without any further label.
"""

import matplotlib.pyplot as plt
import numpy as np

from hedgeclipper import HedgeClipperClassifier, MarginDisplay
from hedgeclipper.datasets import fetch_a1a

X, y = fetch_a1a(return_X_y=True)
order = np.random.default_rng(0).permutation(y.size)
labeled, unlabeled, new = order[:1000], order[1000:9000], order[9000:20000]

model = HedgeClipperClassifier(random_state=0)
model.fit(X[labeled], y[labeled], X_unlabeled=X[unlabeled])

# %%
# The distribution of the vote in each class, on rows that played no part in the fit. The gray band
# is where the game hedges.

display = MarginDisplay.from_estimator(model, X[new], y[new])
plt.show()

# %%
# Sorted by how far the vote is from the middle of the band: the surer, the more often right.

low, high = model.hedged_range_[0]
vote = model.decision_function(X[new])
is_right = model.predict(X[new]) == y[new]
is_clipped = (vote <= low) | (vote >= high)
print(f"clipped: {is_clipped.mean():.0%} of the rows, {is_right[is_clipped].mean():.1%} right")
print(f"hedged:  {1 - is_clipped.mean():.0%} of the rows, {is_right[~is_clipped].mean():.1%} right")

surest_first = np.argsort(-np.abs(vote - (low + high) / 2))
share = np.arange(1, new.size + 1) / new.size
accuracy = np.cumsum(is_right[surest_first]) / np.arange(1, new.size + 1)

figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
ax.plot(share[200:], accuracy[200:], color="#0072B2")
ax.axvline(is_clipped.mean(), color="0.5", linestyle="--")
ax.text(is_clipped.mean() + 0.01, accuracy[200:].max(), "clipped | hedged", va="top", color="0.5")
ax.set(xlabel="share of the rows that are answered, surest first", ylabel="share that is right")
plt.show()
