"""Time of automatic labels beside that of probabilities: ``python -m benchmarks.finish_speed``."""

import time

import numpy as np
from sklearn.datasets import make_classification

from hedgeclipper import HedgeClipperClassifier, audit, draw_sample
from hedgeclipper.bounds.finishing import make_plan

N_LABELS = 1_000


def seconds(action):
    """Return what an action returns, and the seconds that it takes."""
    start = time.perf_counter()
    return action(), time.perf_counter() - start


def compare(n_rows=1_000_000):
    """Print the times for so many rows of 20 columns, of a model of trees."""
    X, y = make_classification(n_rows, 20, flip_y=0.1, random_state=0)
    sample = draw_sample(X, N_LABELS)
    labels = np.full(n_rows, np.nan)
    labels[sample.rows] = y[sample.rows]
    model = HedgeClipperClassifier("trees", confidence_level=0.95, random_state=0)
    model.fit(X, labels, sample=sample)
    probabilities, predicting = seconds(lambda: model.predict_proba(X))
    sure, labeling = seconds(lambda: model.auto_label(0.05))
    errors = np.linspace(0.01, 0.2, 20)
    _, planning = seconds(lambda: make_plan(model.tested_predictions_, 0.95, errors))
    guesses, confidences = probabilities.argmax(axis=1), probabilities.max(axis=1)
    known = {"confidences": confidences, "max_error": 0.05}
    _, auditing = seconds(lambda: audit(guesses, sample, y[sample.rows], **known))
    print(f"{n_rows:,} rows; {sure.coverage:.1%} need no review")
    print(f"predict_proba {predicting:.1f} s")
    for name, taken in {"auto_label": labeling, "plan": planning, "audit": auditing}.items():
        print(f"{name} {taken:.2f} s, {taken / predicting:.3f} of predict_proba")


if __name__ == "__main__":
    compare()
