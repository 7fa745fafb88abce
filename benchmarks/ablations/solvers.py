"""How the slack is minimized: the paper's stochastic gradient, AdaGrad and full passes, or L-BFGS.

The paper's game has a cap of 1 here; without it there is no minimum. Its stochastic gradient stops
after ten passes, so there are no settings with more.
"""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.ablations.effects import effect
from benchmarks.ablations.models import BASE_FOREST, FOREST, hedgeclipper
from benchmarks.ablations.plots import (
    FONT,
    WIDE,
    Series,
    add_legend,
    draw_line,
    draw_series,
    mark_x,
)
from benchmarks.ablations.study import Study, at
from benchmarks.ablations.summary import Difference, Summary

SOLVERS = {"sgd": "SGD", "stream": "AdaGrad twice, then full", "batch": "second order"}
PAPERS, GAME = "paper's game with a cap of 1", "default game"
SGD_PASSES, MANY_PASSES, FEW_PASSES = (5, 11), (5, 11, 30, 100), (2, 5, 11)
NEVER = 1e-9


def passes_of(solver: str, game: str) -> tuple[int, ...]:
    """Return the numbers of passes that are run."""
    if game == GAME:
        return FEW_PASSES
    return SGD_PASSES if solver == "sgd" else MANY_PASSES


def name(game: str, solver: str, n_iter: int) -> str:
    return f"{at(game, solver)}, {n_iter} passes"


def settings() -> dict[str, Any]:
    parameters: dict[str, dict[str, Any]] = {PAPERS: {"as_in_paper": True, "cap": 1.0}, GAME: {}}
    return {
        name(game, solver, n): hedgeclipper(
            method=solver, max_iter=n, tol=NEVER, **parameters[game]
        )
        for game in (PAPERS, GAME)
        for solver in SOLVERS
        for n in passes_of(solver, game)
    }


def above_lowest(summary: Summary, setting: str) -> Difference:
    """Return how far the slack is above its minimum, relative to this.

    The best lower bound that any of the solvers has found is used for the minimum.
    """
    names = [name(PAPERS, solver, n) for solver in SOLVERS for n in passes_of(solver, PAPERS)]
    by_row = {}
    for row in summary.rows:
        slacks = {n: summary.values(row, n, "slack") for n in names}
        lower = np.max([slacks[n] - summary.values(row, n, "gap") for n in names], axis=0)
        by_row[row] = (slacks[setting] - lower) / np.abs(lower)
    return Difference(by_row)


def sentence(summary: Summary) -> str:
    n = SGD_PASSES[-1]
    sgd, stream, batch = (
        f"{above_lowest(summary, name(PAPERS, solver, n)).mean:.1%}".replace("%", " %")
        for solver in SOLVERS
    )
    few, many = MANY_PASSES[0], MANY_PASSES[-1]
    paper = summary.difference(name(PAPERS, "batch", many), name(PAPERS, "sgd", n))
    nearer = summary.difference(name(PAPERS, "batch", many), name(PAPERS, "batch", few))
    default = summary.difference(name(GAME, "batch", n), name(GAME, "sgd", n))
    return (
        f"After {n} passes of the paper's game the slack is {sgd} above its minimum with SGD, "
        f"{stream} with two passes of AdaGrad and then full ones, and {batch} with second-order "
        f"steps. In AUC, taking {many} second-order passes {effect(paper)} compared with SGD but "
        f"{effect(nearer)} compared with taking {few}, so nearer the minimum is not always better. "
        f"In the default game, taking {n} second-order passes {effect(default)} compared with SGD."
    )


def gains_series(solver: str, game: str) -> Series:
    """Return the line of a solver's gains over the base forest."""
    places = passes_of(solver, game)
    settings = [name(game, solver, n) for n in places]
    return Series(SOLVERS[solver], places, settings, [FOREST] * len(places))


def plot(summary: Summary) -> Figure:
    figure = Figure(figsize=WIDE, layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    for number, solver in enumerate(SOLVERS):
        places = passes_of(solver, PAPERS)
        values = [above_lowest(summary, name(PAPERS, solver, n)) for n in places]
        draw_line(left, places, values, number, SOLVERS[solver])
    left.set_yscale("log")
    left.tick_params(labelsize=FONT)
    left.set_title("slack above its minimum,\npaper's game with a cap of 1", fontsize=FONT)
    for ax, game in ((middle, PAPERS), (right, GAME)):
        series = [gains_series(solver, game) for solver in SOLVERS]
        draw_series(ax, summary, series, summary.rows)
        ax.set_title(f"AUC gain over the base forest,\n{game}", fontsize=FONT)
    for ax, places in ((left, MANY_PASSES), (middle, MANY_PASSES), (right, FEW_PASSES)):
        mark_x(ax, {n: str(n) for n in places}, log=True)
    figure.supxlabel("passes over the unlabeled rows (means over the four rows)", fontsize=FONT)
    add_legend(figure, middle, len(SOLVERS))
    return figure


STUDY = Study(
    name="solvers",
    title="SGD, AdaGrad or second order",
    question="How close to the minimum do the solvers get, and does it matter?",
    settings={FOREST: BASE_FOREST, **settings()},
    sentence=sentence,
    plot=plot,
)
