"""HedgeClipperClassifier beside AutoGluon: AUC, log loss, accuracy and time on the paper's data.

    python -m benchmarks.rivals.compare    # make rivals: what is missing, about 40 minutes

100 and 1,000 labels, at most 8,000 unlabeled rows, which AutoGluon does not use. AutoGluon gets 60
seconds, ``presets="best_quality"`` and AUC as its metric. Both get all cores, one after the other
on each draw; seconds are those of fitting and of predicting, without imports. Nothing else should
run beside it. ssl-text is left out: it has 1,500 rows of 11,960 columns, for which 60 seconds are
too few to be fair.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.draws import Draw, make_draw
from benchmarks.figures import OURS, gains_table, on_common_draws, summary_table
from benchmarks.pages import ROOT
from benchmarks.paper_table import Figures
from benchmarks.results_file import FOLDER, Key, Result, read_results, today, versions
from benchmarks.run_table import measure, run_all
from hedgeclipper import HedgeClipperClassifier

AUTOGLUON = "autogluon"
TITLES = {OURS: "HedgeClipper", AUTOGLUON: "AutoGluon, 60 seconds"}
RESULTS = FOLDER / "rivals.csv"
SETS = ("a1a", "w1a", "covtype", "kagg-cred", "kagg-prot", "ssl-secstr")
N_DRAWS, N_UNLABELED, SECONDS = 3, 8_000, 60.0
ROWS = [(data, n_labels) for data in SETS for n_labels in (100, 1_000)]
CHILD = Path(__file__).with_name("run_autogluon.py")
Scored = tuple[np.ndarray, float, str]  # scores, seconds, and versions


def autogluon_python() -> Path | None:
    """Return the interpreter of AutoGluon's environment, or None where there is none."""
    path = Path(os.environ.get("HEDGECLIPPER_RIVALS", ROOT / ".venv-rivals" / "bin" / "python"))
    return path if path.is_file() else None


def score_by_ours(draw: Draw) -> Scored:
    """Return what HedgeClipperClassifier predicts, with its defaults on all cores."""
    started = time.perf_counter()
    model = HedgeClipperClassifier(n_jobs=-1, random_state=draw.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(draw.X, draw.y, X_unlabeled=draw.X_unlabeled)
        scores = model.predict_proba(draw.X_scored)[:, 1]
    return scores, time.perf_counter() - started, versions()


def score_by_autogluon(draw: Draw) -> Scored:
    """Return what AutoGluon predicts, in a process of its own environment."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment.pop("OMP_NUM_THREADS", None)  # it may use all cores
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(source, X=draw.X, y=draw.y, X_scored=draw.X_scored, time_limit=SECONDS)
        command = [autogluon_python(), CHILD, source, target]
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"AutoGluon: exit code {done.returncode}\n{done.stderr[-2000:]}")
        with np.load(target, allow_pickle=False) as file:
            return file["scores"], float(file["seconds"]), f"autogluon {file['version']}"


METHODS: dict[str, Callable[[Draw], Scored]] = {
    OURS: score_by_ours,
    AUTOGLUON: score_by_autogluon,
}


def plan(done: set[Key]) -> list[Key]:
    """Return what is still to run, one draw of all rows after the other."""
    keys = [Key(*row, draw, name) for draw in range(N_DRAWS) for row in ROWS for name in METHODS]
    return [key for key in keys if key not in done]


def run_key(key: Key) -> list[Result]:
    """Return the result of one method on one draw."""
    draw = make_draw(key.data, key.n_labels, key.draw, max_unlabeled=N_UNLABELED)
    scores, seconds, used = METHODS[key.method](draw)
    figures = measure(draw.y_scored, scores)
    sizes = len(draw.X_unlabeled), draw.n_scored
    return [Result(*key, *figures, *sizes, round(seconds, 1), today(), used)]


def describe(results: Sequence[Result]) -> str:
    """Return tables of means, and of their differences, on draws that both have."""
    figures = Figures(on_common_draws(results, list(METHODS)), ROWS)
    figures.titles = TITLES
    tables = [summary_table(figures, m, list(TITLES), TITLES) for m in ("auc", "seconds")]
    return "\n\n".join([*tables, gains_table(figures, OURS, {AUTOGLUON: TITLES[AUTOGLUON]})])


def main() -> None:
    if autogluon_python() is None:
        print("skipped: AutoGluon's environment is absent; `make .venv-rivals/.ready` builds it")
        return
    todo = plan({result.key for result in read_results(RESULTS)})
    if todo:
        run_key(Key("a1a", 100, N_DRAWS, OURS))  # kernels are compiled before the clock starts
    run_all(run_key, todo, RESULTS, 1)
    print(describe(read_results(RESULTS)))


if __name__ == "__main__":
    main()
