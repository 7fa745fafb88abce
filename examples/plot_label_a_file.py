"""
Label a file until it is proved
===============================

`LabelingLoop` asks which rows to label next, and stops when at most 5% of all labels of the file
are wrong, with 95% confidence. Here the annotator is simulated: the true labels answer.
"""

# %%
# The rows are 1,797 images of handwritten digits, 8 by 8 pixels. Any classifier with
# ``predict_proba`` can learn from the labels; the default is `HedgeClipperClassifier`.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hedgeclipper import LabelingLoop

X, y = load_digits(return_X_y=True)
model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
loop = LabelingLoop(X, classes=range(10), max_error=0.05, model=model, random_state=0)

# %%
# Ask, tell, and look at the status in between. A person would look at the rows here.

history = []
while (rows := loop.ask(20)).size:
    status = loop.status()
    history.append((status.n_labeled, status.estimated_error, status.interval, status.phase))
    loop.tell(rows, y[rows])

result = loop.result()
print(result.describe())
print(f"Wrong are {(result.labels != y).mean():.1%}.")

# %%
# The estimated error falls while labels are chosen. Random rows then prove it.

known = [entry for entry in history if entry[1] is not None]
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
n_labels = [entry[0] for entry in known]
low, high = zip(*(entry[2] for entry in known), strict=True)
axes.fill_between(n_labels, low, high, alpha=0.2, linewidth=0)
axes.plot(n_labels, [entry[1] for entry in known], label="estimated error of the file now")
axes.axhline(0.05, color="gray", linestyle=":", label="largest error asked for")
start = next(n for n, _, _, phase in history if phase == "prove")
axes.axvline(start, color="C1", label="test labels begin")
axes.set(xlabel="labels by hand", ylabel="proportion of wrong labels", ylim=(0, None))
axes.legend()
plt.show()
