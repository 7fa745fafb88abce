"""The panel beside AutoGluon: AUC, log loss, accuracy and time on the paper's data.

    python -m benchmarks.rivals.compare    # make rivals: what is missing, about 40 minutes

100 and 1,000 labels, at most 8,000 unlabeled rows, which AutoGluon does not use. AutoGluon gets 60
seconds, ``presets="best_quality"`` and AUC as its metric. Both get all cores, one after the other
on each draw; seconds are those of fitting and of predicting, without imports. Nothing else should
run beside it. ssl-text is left out: it has 1,500 rows of 11,960 columns, for which 60 seconds are
too few to be fair. Writes the section in docs/panel.md.
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

from benchmarks.comparison import paired_p_value
from benchmarks.data.sources import data_folder
from benchmarks.draws import Draw, make_draw
from benchmarks.figures import row_name
from benchmarks.pages import DOCS, ROOT, markdown_table, write_sections
from benchmarks.panel_text import PANEL
from benchmarks.results_file import FOLDER, Key, Result, read_results, today, versions
from benchmarks.run_table import measure, run_all
from hedgeclipper import HedgedVotingClassifier

AUTOGLUON = "autogluon"
RESULTS = FOLDER / "rivals.csv"
SETS = ("a1a", "w1a", "covtype", "kagg-cred", "kagg-prot", "ssl-secstr")
BUDGETS, N_DRAWS, N_UNLABELED, SECONDS = (100, 1_000), 3, 8_000, 60.0
CHILD = Path(__file__).with_name("run_autogluon.py")
Scored = tuple[np.ndarray, float, str]  # scores, seconds, and versions


def autogluon_python() -> Path | None:
    """Return the interpreter of AutoGluon's environment, or None where there is none."""
    path = Path(os.environ.get("HEDGECLIPPER_RIVALS", ROOT / ".venv-rivals" / "bin" / "python"))
    return path if path.is_file() else None


def score_by_panel(draw: Draw) -> Scored:
    """Return what the panel predicts, with its defaults on all cores."""
    started = time.perf_counter()
    model = HedgedVotingClassifier(n_jobs=-1, random_state=draw.seed)
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
    PANEL: score_by_panel,
    AUTOGLUON: score_by_autogluon,
}


def plan(done: set[Key]) -> list[Key]:
    """Return what is still to run, one draw of all rows after the other."""
    keys = [
        Key(data, n_labels, draw, method)
        for draw in range(N_DRAWS)
        for data in SETS
        for n_labels in BUDGETS
        for method in METHODS
    ]
    return [key for key in keys if key not in done]


def run_key(key: Key) -> list[Result]:
    """Return the result of one method on one draw."""
    draw = make_draw(key.data, key.n_labels, key.draw, max_unlabeled=N_UNLABELED)
    scores, seconds, used = METHODS[key.method](draw)
    figures = measure(draw.y_scored, scores)
    sizes = len(draw.X_unlabeled), draw.n_scored
    return [Result(*key, *figures, *sizes, round(seconds, 1), today(), used)]


def describe(results: Sequence[Result]) -> str:
    """Return a table of both in each row, and their difference in AUC and time."""
    known = {result.key: result for result in results}
    both = sorted({key[:3] for key in known if all((*key[:3], m) in known for m in METHODS)})
    rows = [["data, labels", "AUC, panel", "AutoGluon", "log loss, panel", "AutoGluon",
             "accuracy, panel", "AutoGluon", "seconds, panel", "AutoGluon", "draws"]]  # fmt: skip
    for row in sorted({cell[:2] for cell in both}, key=lambda r: (SETS.index(r[0]), r[1])):
        own = [cell for cell in both if cell[:2] == row]
        rows.append([row_name(row), *_means(known, own), str(len(own))])
    rows.append(["mean", *_means(known, both), str(len(both))])
    auc, seconds = (
        {m: np.array([getattr(known[*cell, m], name) for cell in both]) for m in METHODS}
        for name in ("auc", "seconds")
    )
    gain = float((auc[PANEL] - auc[AUTOGLUON]).mean())
    # draws of one row are not independent of each other
    places = [[cell[:2] == row for cell in both] for row in sorted({cell[:2] for cell in both})]
    ours, theirs = (np.array([auc[m][own].mean() for own in places]) for m in METHODS)
    gains, p_value = ours - theirs, paired_p_value(ours, theirs)
    ratio = float(seconds[PANEL].mean() / seconds[AUTOGLUON].mean())
    text = (
        f"The panel's AUC differs from AutoGluon's by {gain:+.4f} on average and by "
        f"{np.median(gains):+.4f} in the median of {gains.size} rows, of which "
        f"{np.sum(gains > 0)} are above 0 (p = {p_value:.3f} by a paired t-test over the rows). It "
        f"takes {ratio:.2f} of its time."
    )
    return markdown_table(rows) + "\n\n" + text


def _means(known: dict[Key, Result], cells: Sequence[tuple]) -> list[str]:
    """Return the means of both methods over draws, figure by figure."""
    formats = {"auc": ".4f", "log_loss": ".4f", "accuracy": ".4f", "seconds": ".0f"}
    return [
        format(np.mean([getattr(known[*cell, method], name) for cell in cells]), shown)
        for name, shown in formats.items()
        for method in METHODS
    ]


def main() -> None:
    if data_folder() is None:
        print("skipped: no data folder; set HEDGECLIPPER_DATA to where the archives are")
        return
    if autogluon_python() is None:
        print("skipped: AutoGluon's environment is absent; `make .venv-rivals/.ready` builds it")
        return
    todo = plan({result.key for result in read_results(RESULTS)})
    if todo:
        run_key(Key("a1a", 100, N_DRAWS, PANEL))  # kernels are compiled before the clock starts
    run_all(run_key, todo, RESULTS, 1)
    write_sections(DOCS / "panel.md", {"rivals": describe(read_results(RESULTS))})


if __name__ == "__main__":
    main()
