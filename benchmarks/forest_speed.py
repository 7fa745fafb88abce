"""Speed of HedgeClipperClassifier, as ratios to its own forest and to SGDClassifier, in one run.

    python -m benchmarks.forest_speed [n_rows]

1,000,000 generated rows of 18 columns (ten informative, labels flipped with probability 0.1), a
forest of 100 trees grown on 10,000 labels, relative gap 1 %, two threads for all. "After
growing" is the whole of ``fit``, including predictions of all unlabeled rows, minus the time to
grow the same forest.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier

from benchmarks.timing import interleaved, print_rows
from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.forest.leaf_rows import LeafArray
from hedgeclipper.forest.leaves import LeafSpecialists
from hedgeclipper.forest.trees import leaf_finder
from hedgeclipper.game.equations import sum_over_rows
from hedgeclipper.game.losses import resolve_loss

N_LABELED, N_JOBS = 10_000, 2


def generate(n_rows: int):
    X, y = make_classification(
        N_LABELED + n_rows, 18, n_informative=10, flip_y=0.1, class_sep=0.7, random_state=0
    )
    X = X.astype(np.float32)
    return X[:N_LABELED], y[:N_LABELED], X[N_LABELED:]


def forest(n_trees: int = 100, least_leaf: int = 10) -> RandomForestClassifier:
    return RandomForestClassifier(
        n_trees, min_samples_leaf=least_leaf, n_jobs=N_JOBS, random_state=0
    )


def classifier(n_trees: int = 100, least_leaf: int = 10) -> HedgeClipperClassifier:
    return HedgeClipperClassifier(forest(n_trees, least_leaf), n_jobs=N_JOBS, random_state=0)


def one_pass(model: HedgeClipperClassifier, X_unlabeled: np.ndarray):
    """Return a pass of the slack's gradient and an epoch of SGD, over the same matrix."""
    finder = leaf_finder(model.estimator_)
    leaves = finder.find(X_unlabeled, N_JOBS)
    n_leaves, n_rows = int(finder.n_leaves.sum()), leaves.shape[1]
    signs = np.where(np.arange(n_leaves) % 2, 1.0, -1.0)
    table = sparse.csr_array(sparse.diags_array(signs))
    specialists = LeafSpecialists(LeafArray(leaves), finder.offsets, table, np.ones(n_leaves))
    theta, loss = np.full(n_leaves, 0.03), resolve_loss("square")
    columns = (leaves.T.astype(np.int32) + finder.offsets.astype(np.int32)).ravel()
    starts = np.arange(0, columns.size + 1, finder.n_trees, dtype=np.int32)
    matrix = sparse.csr_array((signs[columns], columns, starts), shape=(n_rows, n_leaves))
    y = (matrix @ theta > 0).astype(int)
    return {
        "pass": lambda: sum_over_rows(specialists, theta, loss, 0.1),
        "epoch": lambda: SGDClassifier(max_iter=1, tol=None).fit(matrix, y),
    }, leaves.itemsize


def after_growing(X, y, U, **shape) -> float:
    seconds = interleaved(
        {
            "grow": lambda: forest(**shape).fit(X, y),
            "fit": lambda: classifier(**shape).fit(X, y, X_unlabeled=U),
        },
        n_rounds=3,
    )
    return seconds["fit"] - seconds["grow"]


def print_growth(X, y, U) -> None:
    print("\nGrowth: seconds after growing (leaves of the whole forest)")
    half, quarter = U[: len(U) // 2], U[: len(U) // 4]
    rows = [("varied", "small", "medium", "large")]
    times = [after_growing(X, y, part) for part in (quarter, half, U)]
    rows.append(("rows: 1/4, 1/2, all", *[f"{t:.2f}" for t in times]))
    times = [after_growing(X, y, half, n_trees=n) for n in (25, 50, 100)]
    rows.append(("trees: 25, 50, 100 (half the rows)", *[f"{t:.2f}" for t in times]))
    cells = []
    for size in (40, 20, 10):
        n_leaves = sum(t.tree_.n_leaves for t in forest(100, size).fit(X, y).estimators_)
        cells.append(f"{after_growing(X, y, half, least_leaf=size):.2f} ({n_leaves})")
    rows.append(("least leaf: 40, 20, 10 (half the rows)", *cells))
    print_rows(rows)


FIRST_USE = """
import time, numpy as np
from sklearn.ensemble import RandomForestClassifier
from hedgeclipper import HedgeClipperClassifier
rng = np.random.default_rng(0)
X = rng.normal(size=(1000, 5)).astype(np.float32)
y = (X[:, 0] > 0).astype(int)
started = time.perf_counter()
RandomForestClassifier(100, random_state=0).fit(X[:300], y[:300]).predict_proba(X)
forest = time.perf_counter() - started
started = time.perf_counter()
HedgeClipperClassifier(random_state=0).fit(X[:300], y[:300], X_unlabeled=X[300:]).predict(X)
print(time.perf_counter() - started - forest)
"""


def first_use() -> float:
    """Return the seconds over the forest's of a first use, compiled code cached."""
    seconds = []
    for _ in range(4):
        done = subprocess.run(
            [sys.executable, "-c", FIRST_USE], capture_output=True, text=True, check=True
        )
        seconds.append(float(done.stdout))
    return float(np.median(seconds[1:]))


def main(n_rows: int = 1_000_000) -> None:
    print(__doc__)
    X, y, U = generate(n_rows)
    model = classifier().fit(X, y, X_unlabeled=U)
    own = model.estimator_
    seconds = interleaved(
        {
            "grow": lambda: forest().fit(X, y),
            "fit": lambda: classifier().fit(X, y, X_unlabeled=U),
            "predict": lambda: model.predict(U),
            "predict_proba of the forest": lambda: own.predict_proba(U),
        }
    )
    passes, itemsize = one_pass(model, U)
    seconds |= interleaved(passes, n_rounds=3)
    theirs = seconds["predict_proba of the forest"]
    after = seconds["fit"] - seconds["grow"]
    rows = [("what", "seconds", "peer", "ratio", "aim")]
    peer = f"forest's predict_proba {theirs:.2f} s"
    rows.append(("after growing", f"{after:.2f}", peer, f"{after / theirs:.2f}", "at most 0.7"))
    new = seconds["predict"]
    rows.append(("predicting new rows", f"{new:.2f}", peer, f"{new / theirs:.2f}", "at most 0.5"))
    ratio = seconds["pass"] / seconds["epoch"]
    peer = f"SGDClassifier epoch {seconds['epoch']:.2f} s"
    rows.append(("one pass", f"{seconds['pass']:.3f}", peer, f"{ratio:.3f}", "at most 0.25"))
    print_rows(rows)
    (n_iter,), (reason,) = model.n_iter_, model.stop_reason_
    print(f"\n{n_iter} passes, {reason}; leaf numbers in {itemsize} bytes each")
    print(
        f"first use in a fresh process: {first_use():.2f} s over the forest's time (aim: under 1)"
    )
    print_growth(X, y, U)


if __name__ == "__main__":
    main(*[int(argument) for argument in sys.argv[1:]])
