"""
A panel of language-model judges
================================

65 prompts of language models judged 419 pairs of answers in both orders. Many of them share the
same bias. A few gold labels tell `VoteAggregator` whom to trust.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from hedgeclipper import VoteAggregator
from hedgeclipper.datasets import load_judges

judges = load_judges()
majority = judges.verdicts.mode(axis=1)[0]
print(f"{judges.verdicts.shape[1]} judges, {len(judges.gold)} pairs")

# %%
# Accuracy on the pairs without a gold label, by the number of gold labels.

numbers, accuracies = [10, 20, 50, 100], []
for n_labels in numbers:
    gold = judges.gold.groupby(judges.gold).sample(n_labels // 2, random_state=0)
    model = VoteAggregator(random_state=0).fit(judges.verdicts, gold)
    rest = ~judges.gold.index.isin(gold.index)
    accuracies.append(np.mean((model.transduction_ == judges.gold)[rest]))
print(model.class_rates())

# %%
# The best of the 130 voters in hindsight, and the majority vote, for comparison.

best = judges.verdicts.eq(judges.gold, axis=0).mean().max()
figure, ax = plt.subplots(figsize=(5.6, 3.6), layout="constrained")
ax.plot(numbers, accuracies, marker="o", label="VoteAggregator")
ax.axhline(best, color="gray", linestyle="--", label="best judge in hindsight")
ax.axhline(np.mean(majority == judges.gold), color="gray", label="majority vote")
ax.set(xlabel="gold labels", ylabel="accuracy")
ax.legend()
plt.show()
