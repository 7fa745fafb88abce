"""
Hashed rows from files
======================

Rows are often sets of tokens or codes: log lines, shopping baskets, attributes of a person. Here
every row of the Adult data is a line of codes in a Parquet file. scikit-learn's ``FeatureHasher``
turns a batch of lines into a sparse matrix of fixed width without a vocabulary, so ``X_unlabeled``
can be a function that reads and hashes the files batch by batch. Memory depends neither on the
number of rows nor on the number of different codes.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.feature_extraction import FeatureHasher
from sklearn.metrics import roc_auc_score

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.datasets import load_adult

ROWS_PER_BATCH = 2_000

X, y = load_adult(return_X_y=True)
order = np.random.default_rng(0).permutation(y.size)
labeled, unlabeled, new = order[:500], order[500:12_500], order[12_500:]


def as_lines(rows):
    """Return rows as text: the codes of each row."""
    return [" ".join(f"code{column}" for column in row.indices) for row in X[rows]]


def hashed(lines, width):
    """Return lines as a CSR matrix with a column for each hash of a code."""
    hasher = FeatureHasher(width, input_type="string", alternate_sign=False, dtype=np.float32)
    return hasher.transform(line.split() for line in lines)


def hashed_batches(folder, width):
    """Return a function that reads and hashes all files of a folder, again on each call."""

    def batches():
        for path in sorted(Path(folder).glob("*.parquet")):
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(ROWS_PER_BATCH, columns=["line"]):
                    yield hashed(batch.column("line").to_pylist(), width)

    return batches


# %%
# Files of unlabeled rows, and models for several widths. There are 123 codes; with fewer columns,
# several codes are hashed to the same column.

widths, aucs = (8, 32, 128, 512), []
lines, new_lines = as_lines(labeled), as_lines(new)
with tempfile.TemporaryDirectory() as folder:
    for number, part in enumerate(np.array_split(unlabeled, 3)):
        pq.write_table(pa.table({"line": as_lines(part)}), Path(folder) / f"part{number}.parquet")
    for width in widths:
        model = HedgeClipperClassifier(random_state=0)
        model.fit(hashed(lines, width), y[labeled], X_unlabeled=hashed_batches(folder, width))
        scores = model.decision_function(hashed(new_lines, width))
        aucs.append(roc_auc_score(y[new], scores))
        print(f"{width:4d} columns: AUC on {new.size} new rows {aucs[-1]:.3f}")
    written = model.predict_to(Path(folder) / "labels.pq", hashed_batches(folder, width))
print(f"{written} rows of the files labeled, {model.n_unlabeled_} used for the fit")

figure, ax = plt.subplots(figsize=(6.0, 3.4), layout="constrained")
ax.plot(widths, aucs, "o-", color="#0072B2")
ax.set(xscale="log", xlabel="number of hashed columns", ylabel="AUC on new rows")
ax.set_xticks(widths, [str(width) for width in widths])
ax.minorticks_off()
plt.show()
