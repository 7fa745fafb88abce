"""Text in files, hashed on the way: memory depends neither on the rows nor on the vocabulary.

Rows of text lie in Parquet files, most of them without a label. scikit-learn's ``FeatureHasher``
turns a batch of texts into a sparse matrix of fixed width without a vocabulary, so that a function
which reads the files and hashes batch after batch is all that ``X_unlabeled`` needs.
"""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.feature_extraction import FeatureHasher

from hedgeclipper import HedgeClipperClassifier

N_COLUMNS, ROWS_PER_BATCH = 512, 2_000
hasher = FeatureHasher(N_COLUMNS, input_type="string", alternate_sign=False, dtype=np.float32)


def hashed(texts):
    """Return texts as a CSR matrix, a column for each word's hash."""
    return hasher.transform(text.split() for text in texts)


def hashed_batches(folder):
    """Return a function that reads and hashes all files of a folder anew on each call."""

    def batches():
        for path in sorted(Path(folder).glob("*.parquet")):
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(ROWS_PER_BATCH, columns=["text"]):
                    yield hashed(batch.column("text").to_pylist())

    return batches


def make_texts(n_rows, rng):
    """Return texts of two kinds, which differ in the words they tend to use, and the kinds."""
    kinds = rng.integers(0, 2, n_rows)
    words = rng.integers(0, 300, (n_rows, 30)) + 100 * kinds[:, None]
    return [" ".join(f"word{word}" for word in row) for row in words], kinds


rng = np.random.default_rng(0)
with tempfile.TemporaryDirectory() as folder:
    for number in range(3):
        texts, _ = make_texts(5_000, rng)
        pq.write_table(pa.table({"text": texts}), Path(folder) / f"part{number}.parquet")
    labeled_texts, labels = make_texts(300, rng)
    new_texts, kinds = make_texts(2_000, rng)

    model = HedgeClipperClassifier(random_state=0)
    model.fit(hashed(labeled_texts), labels, X_unlabeled=hashed_batches(folder))
    written = model.predict_to(Path(folder) / "labels.pq", hashed_batches(folder))

print(f"accuracy on new texts: {model.score(hashed(new_texts), kinds):.3f}")
print(f"{written} rows of the files labelled, {model.n_unlabeled_} used for the fit")
