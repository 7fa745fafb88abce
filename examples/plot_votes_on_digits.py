"""
Weak votes that abstain
=======================

Is a handwritten digit a 3 or an 8? Each of ten simple rules looks at one patch of the image and
abstains if it is unclear. With 20 gold labels among 357 images, ``VoteAggregator`` learns which
rules to trust from the labels and from where the rules agree, and bounds its own error.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from hedgeclipper import VoteAggregator

ABSTAINS = -1

digits = load_digits()
chosen = np.isin(digits.target, (3, 8))
images, truth = digits.images[chosen], (digits.target[chosen] == 8).astype(int)

# %%
# A 3 is open on the left, where an 8 has ink. So a rule votes for 8 if there is much ink in its
# patch on the left, for 3 if there is hardly any, and otherwise abstains. Some patches are more
# informative than others, and we do not know which.

patches = [(row, column) for row in range(1, 6) for column in (1, 2)]
ink = np.stack([images[:, r : r + 2, c : c + 2].mean(axis=(1, 2)) for r, c in patches], axis=1)
votes = np.full(ink.shape, ABSTAINS)
votes[ink > 8] = 1
votes[ink < 2] = 0
print(f"{votes.shape[1]} rules; they abstain on {np.mean(votes == ABSTAINS):.0%} of the entries")

rng = np.random.default_rng(0)
gold = np.full(truth.size, ABSTAINS)
known = rng.choice(truth.size, 20, replace=False)
gold[known] = truth[known]

model = VoteAggregator().fit(votes, gold)

# %%
# A summary of each rule, with the columns of Snorkel's ``lf_summary`` and more.

columns = ["Coverage", "Conflicts", "Emp. Acc.", "Lower", "Upper", "Est. Acc.", "Weight"]
print(model.voter_summary()[columns].round(2).to_string())

# %%
# Comparison with the majority vote of the rules:

is_hidden = gold == ABSTAINS
majority = (np.sum(votes == 1, axis=1) > np.sum(votes == 0, axis=1)).astype(int)
for name, labels in (("majority vote", majority), ("VoteAggregator", model.transduction_)):
    error = np.mean(labels[is_hidden] != truth[is_hidden])
    print(f"{name}: {error:.1%} of the {is_hidden.sum()} images without a gold label are wrong")
print(model.certificate_)

# %%
# The images it is least sure of.

probabilities = model.predict_proba(votes)[:, 1]
least_sure = np.argsort(np.abs(probabilities - 0.5) + ~is_hidden)[:8]
figure, axes = plt.subplots(1, 8, figsize=(8.4, 1.7), layout="constrained")
for ax, row in zip(axes, least_sure, strict=True):
    ax.imshow(images[row], cmap="gray_r")
    ax.set_title(f"P(8) = {probabilities[row]:.2f}", fontsize=9)
    ax.axis("off")
plt.show()
