"""
Which rows need no review?
==========================

Many rows, labels for a few of them: some predictions are so sure that they can be taken as labels.
``auto_label`` finds as many as the labels can prove to have at most a given proportion of errors.
This is one round of the loop: label, fit, take what is sure, label some more, fit again. The data
is Adult (a1a, 24% positive).
"""

import matplotlib.pyplot as plt
import numpy as np

from hedgeclipper import AutoLabelDisplay, HedgeClipperClassifier
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
# Which rows can be labeled automatically if one label in ten may be wrong, and which need a look?

found = first.auto_label(max_error=MAX_ERROR)
print(found)
to_look_at = unlabeled[~found.is_sure]
print(f"{to_look_at.size:,} rows need a look, for instance", *to_look_at[:5])

# %%
# All labels are known here, so that the errors can be counted.

sure = unlabeled[found.is_sure]
n_wrong = np.sum(found.labels[found.is_sure] != truth[sure])
print(f"{n_wrong:,} of {sure.size:,} automatic labels are wrong")

# %%
# The next labels are again drawn at random, from *all* unlabeled rows: only then are the held-out
# labels a random sample, and what they show a guarantee. Labels of rows that were chosen, such as
# the least sure ones, may teach the model more, but what they show is an estimate: fit without a
# ``confidence_level`` then.

second, _ = fit(X, truth, order[: N_LABELS + N_MORE])
print(second.certificate_)
print(second.auto_label(max_error=MAX_ERROR))

# %%
# The proportion of rows depends on the draw: the test begins at the surest rows, and a few errors
# among these few labels end it at once. So here are three more draws.

for seed in range(1, 4):
    X, truth, order = draw_rows(seed)
    models = [fit(X, truth, order[:n])[0] for n in (N_LABELS, N_LABELS + N_MORE)]
    few, more = (model.auto_label(max_error=MAX_ERROR).coverage for model in models)
    print(f"draw {seed}: {few:.0%} of the rows with {N_LABELS:,} labels, {more:.0%} with more")

# %%
# The curves of the first draw show other proportions of errors. Each point is a test of its own:
# decide on the errors to allow by what they cost, before looking at the curve.

figure, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
AutoLabelDisplay.from_estimator(second, name=f"{N_LABELS + N_MORE:,} labels", ax=ax)
before = AutoLabelDisplay.from_estimator(first, name=f"{N_LABELS:,} labels", ax=ax)
before.line_.set(color="#D55E00", linestyle="--")
ax.legend(fontsize="small")
plt.show()
