"""
Which rows need no review?
==========================

Many rows, labels for a few of them: how many must a person label, so that at most a given
proportion of all labels is wrong? ``auto_label`` tells which, with a guarantee. The data is Adult
(a1a, 24% positive).
"""

import matplotlib.pyplot as plt
import numpy as np

from hedgeclipper import HedgeClipperClassifier, PlanDisplay
from hedgeclipper.datasets import load_adult

N_ROWS, N_LABELS, N_MORE, MAX_ERROR, UNLABELED = 10_000, 800, 1_600, 0.1, -1

X_all, y_all = load_adult(return_X_y=True)


def draw_rows(seed):
    """Return rows, their true labels, and the order in which they are labeled: at random."""
    rng = np.random.default_rng(seed)
    rows = rng.choice(y_all.size, N_ROWS, replace=False)
    return X_all[rows], y_all[rows], rng.permutation(N_ROWS)


def fit(X, truth, labeled):
    """Return a model fitted to all rows, and the numbers of those without a label."""
    y = np.full(N_ROWS, UNLABELED)
    y[labeled] = truth[labeled]
    model = HedgeClipperClassifier(confidence_level=0.95, random_state=0).fit(X, y)
    return model, np.flatnonzero(y == UNLABELED)


# %%
# Label rows drawn at random, and fit with a ``confidence_level``: half of the labels are then held
# out to test the predictions, which makes their error a guarantee.

X, truth, order = draw_rows(seed=0)
first, unlabeled = fit(X, truth, order[:N_LABELS])
print(first.certificate_)

# %%
# Which rows must a person label so that at most one label in ten of the file is wrong?

found = first.auto_label(max_error=MAX_ERROR)
print(found)
to_review = unlabeled[found.review_order]
print(f"{to_review.size:,} rows need review, the most uncertain first:", *to_review[:5])

# %%
# All labels are known here, so that the errors that are left can be counted.

automatic = unlabeled[~found.needs_review]
n_wrong = np.sum(found.labels[~found.needs_review] != truth[automatic])
print(f"{n_wrong:,} of {N_ROWS:,} labels are wrong in the finished file")

# %%
# The next labels are again drawn at random, from *all* unlabeled rows: only then are the held-out
# labels a random sample, and what they show a guarantee. Labels of rows that were chosen, such as
# the least sure ones, may teach the model more, but what they show is an estimate: fit without a
# ``confidence_level`` then.

second, _ = fit(X, truth, order[: N_LABELS + N_MORE])
print(second.certificate_)
print(second.auto_label(max_error=MAX_ERROR))

# %%
# The number of rows depends on the draw. So here are three more.

for seed in range(1, 4):
    X, truth, order = draw_rows(seed)
    models = [fit(X, truth, order[:n])[0] for n in (N_LABELS, N_LABELS + N_MORE)]
    few, more = (model.auto_label(max_error=MAX_ERROR).coverage for model in models)
    print(f"draw {seed}: {few:.0%} need no review with {N_LABELS:,} labels, {more:.0%} with more")

# %%
# The plan of the first draw shows other errors: an estimate, but for the one that was named. Decide
# on the errors to allow by what they cost, before looking at the curve.

figure, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
name = f"{N_LABELS + N_MORE:,} labels"
PlanDisplay.from_estimator(second, max_error=MAX_ERROR, name=name, ax=ax)
before = PlanDisplay.from_estimator(first, name=f"{N_LABELS:,} labels", ax=ax)
before.line_.set(color="#D55E00", linestyle="--")
ax.legend(fontsize="small")
plt.show()
