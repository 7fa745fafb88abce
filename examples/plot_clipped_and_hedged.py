"""
Which predictions are certain?
==============================

The paper's game gives every leaf of a forest a weight (``game=LeafGame()``). It decides some rows
and hedges on the others: if the weighted vote of the awake leaves is beyond -1 or +1 it is clipped,
and in between its size shows how certain it is. So the vote itself shows which predictions to trust
more, without additional labels.
"""

import matplotlib.pyplot as plt
import numpy as np

from hedgeclipper import HedgeClipperClassifier, LeafGame, MarginDisplay
from hedgeclipper.datasets import load_adult

X, y = load_adult(return_X_y=True)
order = np.random.default_rng(0).permutation(y.size)
labeled, unlabeled, new = order[:1000], order[1000:9000], order[9000:20000]

model = HedgeClipperClassifier(game=LeafGame(), random_state=0)
model.fit(X[labeled], y[labeled], X_unlabeled=X[unlabeled])

# %%
# The distribution of the vote in each class, on rows that were not part of the fit. In the gray
# band the game hedges.

display = MarginDisplay.from_estimator(model, X[new], y[new])
plt.show()

# %%
# Rows sorted by the distance of the vote from the middle of the band: predictions with a larger
# distance are more often right.

low, high = model.hedged_range_[0]
vote = model.decision_function(X[new])
is_right = model.predict(X[new]) == y[new]
is_clipped = (vote <= low) | (vote >= high)
print(f"clipped: {is_clipped.mean():.0%} of the rows, {is_right[is_clipped].mean():.1%} right")
print(f"hedged:  {1 - is_clipped.mean():.0%} of the rows, {is_right[~is_clipped].mean():.1%} right")

most_certain_first = np.argsort(-np.abs(vote - (low + high) / 2))
coverage = np.arange(1, new.size + 1) / new.size
accuracy = np.cumsum(is_right[most_certain_first]) / np.arange(1, new.size + 1)

figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
ax.plot(coverage[200:], accuracy[200:], color="#0072B2")
ax.axvline(is_clipped.mean(), color="0.5", linestyle="--")
ax.text(is_clipped.mean() + 0.01, accuracy[200:].max(), "clipped | hedged", va="top", color="0.5")
ax.set(xlabel="proportion of rows, most certain first", ylabel="accuracy on these rows")
plt.show()
