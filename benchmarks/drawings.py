"""Draws the pictures of the guide, each for a light and for a dark page.

python -m benchmarks.drawings
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from benchmarks.pages import FIGURES, save_svg
from hedgeclipper import solve_game

MINUS = "\N{MINUS SIGN}"
A_RULES = [[-1, 1, 1], [-1, 1, 1], [1, -1, 1], [1, -1, 1], [1, 1, -1], [1, 1, -1]]
B_RULES = [[1, 1, 1]] * 5 + [[-1, -1, -1]]
N_TREES, N_LEAVES, N_LABELED, N_SHOWN, HIGHLIGHTED = 3, 4, 60, 14, 3


@dataclass(frozen=True)
class Ink:
    """Colors of a picture; the two of the votes are told apart by the color-blind."""

    text: str
    faint: str  # of lines
    plus: str
    minus: str
    mark: str  # of the row that is followed


INKS = {
    "light": Ink("#222222", "#9a9a9a", "#56a0d3", "#e8935a", "#b5179e"),
    "dark": Ink("#e4e4e4", "#7d7d7d", "#2f78ad", "#b8602a", "#ff77e9"),
}


def six_by_six(ink: Ink) -> Figure:
    """Return the paper's first example: votes, accuracies, and two ways to combine votes."""
    votes = np.hstack([A_RULES, B_RULES])
    solution = solve_game(votes, [1 / 3] * 3 + [2 / 3] * 3)
    plain, game = np.sign(votes.sum(axis=1)), np.sign(solution.predictions(votes))
    figure, ax = _blank((7.2, 3.7), (-1.6, 11.4), (8.0, -1.9))
    names = ["A1", "A2", "A3", "B1", "B2", "B3"]
    for column, name in enumerate(names):
        _column(ax, ink, column + 0.4 * (column > 2), votes[:, column], name)
    for place, column in ((7.6, plain), (9.6, game)):
        _column(ax, ink, place, column, "")
    for place, title in ((7.6, "majority\nof six"), (9.6, "the\ngame")):
        ax.text(place + 0.5, -0.2, title, ha="center", va="bottom", color=ink.text)
    ax.text(3.2, -1.35, "votes on six unlabeled rows", ha="center", color=ink.text, weight="bold")
    for row in range(6):
        ax.text(-0.25, row + 0.5, f"row {row + 1}", ha="right", va="center", color=ink.text)
    ax.text(-0.25, 6.75, "error", ha="right", va="center", color=ink.text)
    for column in range(6):
        known = "1/3" if column < 3 else "1/6"
        ax.text(column + 0.4 * (column > 2) + 0.5, 6.75, known, ha="center", va="center",
                color=ink.text)  # fmt: skip
    for place, rule in ((7.6, plain), (9.6, game)):
        wrong = int(np.sum(rule != 1))
        text = f"{wrong}/6" if wrong else "0"
        ax.text(place + 0.5, 6.75, text, ha="center", va="center", color=ink.mark, weight="bold")
    ax.text(3.2, 7.6, "known from labels", ha="center", color=ink.text)
    ax.text(9.1, 7.6, "what follows", ha="center", color=ink.text)
    return figure


def forest_to_matrix(ink: Ink) -> Figure:
    """Return how the leaves of a small forest become the rows of the matrix of votes."""
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(y.size)
    labeled, shown = order[:N_LABELED], order[N_LABELED : N_LABELED + N_SHOWN]
    forest = RandomForestClassifier(N_TREES, max_leaf_nodes=N_LEAVES, random_state=0)
    forest.fit(X[labeled], y[labeled])
    figure, ax = _blank((8.2, 5.2), (-4.6, 17.6), (17.3, -1.2))
    top = 0.0
    for number, tree in enumerate(forest.estimators_):
        leaves = _leaves_in_order(tree.tree_)
        _draw_tree(ax, ink, tree.tree_, tree.apply(X[shown])[HIGHLIGHTED], top)
        nodes = tree.apply(X[shown])
        for row, leaf in enumerate(leaves):
            says = 1 if tree.tree_.value[leaf].argmax() == 1 else -1
            _leaf_row(ax, ink, top + row, nodes == leaf, says)
        ax.text(-4.5, top - 0.55, f"tree {number + 1}", color=ink.text, weight="bold")
        top += len(leaves) + 1.3
    _mark_column(ax, ink, top - 1.3)
    ax.text(N_SHOWN / 2, -0.75, "unlabeled rows", ha="center", color=ink.text, weight="bold")
    ax.text(14.6, 1.0, "a leaf is awake\nwhere rows fall\ninto it", color=ink.text, va="top")
    _legend(ax, ink)
    return figure


def _leaves_in_order(tree: Any) -> list[int]:
    """Return the leaves from left to right."""

    def below(node: int) -> list[int]:
        if tree.children_left[node] < 0:
            return [node]
        return below(tree.children_left[node]) + below(tree.children_right[node])

    return below(0)


def _draw_tree(ax: Any, ink: Ink, tree: Any, reached: int, top: float) -> None:
    """Draw a tree on its side, its leaves at the rows of the matrix, the way to one marked."""
    leaves = _leaves_in_order(tree)

    def place(node: int, depth: int) -> tuple[float, float, bool]:
        left, right = tree.children_left[node], tree.children_right[node]
        if left < 0:
            x, height = -0.35, top + leaves.index(node) + 0.5
            is_on_way = node == reached
        else:
            x = -4.3 + 1.05 * depth
            ends = [place(child, depth + 1) for child in (left, right)]
            height = (ends[0][1] + ends[1][1]) / 2
            for child_x, child_y, marked in ends:
                ax.plot([x, x, child_x], [height, child_y, child_y],
                        color=ink.mark if marked else ink.faint, linewidth=2.2 if marked else 1.2,
                        zorder=3 if marked else 2)  # fmt: skip
            is_on_way = any(end[2] for end in ends)
        ax.plot(x, height, "o", color=ink.mark if is_on_way else ink.faint, markersize=5, zorder=4)
        return x, height, is_on_way

    place(0, 0)


def _leaf_row(ax: Any, ink: Ink, y: float, is_awake: np.ndarray, says: int) -> None:
    for column, awake in enumerate(is_awake):
        _cell(ax, ink, column, y, says if awake else 0)


def _mark_column(ax: Any, ink: Ink, bottom: float) -> None:
    frame = Rectangle((HIGHLIGHTED, -0.1), 1, bottom + 0.2, fill=False, edgecolor=ink.mark, lw=2.2,
                      zorder=5)  # fmt: skip
    ax.add_patch(frame)
    ax.text(HIGHLIGHTED + 0.5, bottom + 0.95, "one row: awake in one\nleaf of each tree", va="top",
            ha="center", color=ink.mark)  # fmt: skip


def _legend(ax: Any, ink: Ink) -> None:
    for line, (vote, label) in enumerate(((1, "votes +"), (-1, f"votes {MINUS}"), (0, "asleep"))):
        _cell(ax, ink, 14.6, 5.2 + 1.5 * line, vote)
        ax.text(15.9, 5.7 + 1.5 * line, label, va="center", color=ink.text)


def _column(ax: Any, ink: Ink, x: float, votes: np.ndarray, name: str) -> None:
    for row, vote in enumerate(votes):
        _cell(ax, ink, x, row, int(vote))
    ax.text(x + 0.5, -0.2, name, ha="center", va="bottom", color=ink.text)


def _cell(ax: Any, ink: Ink, x: float, y: float, vote: int) -> None:
    """Draw a vote: a color and a sign, or an empty cell if the voter abstains."""
    color = {1: ink.plus, -1: ink.minus, 0: "none"}[vote]
    ax.add_patch(Rectangle((x, y), 1, 1, facecolor=color, edgecolor=ink.faint, linewidth=0.8))
    sign = {1: "+", -1: MINUS, 0: ""}[vote]
    ax.text(x + 0.5, y + 0.5, sign, ha="center", va="center", color=ink.text)


def _blank(size: tuple[float, float], x: tuple[float, float], y: tuple[float, float]) -> Any:
    figure = Figure(figsize=size)
    ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set(xlim=x, ylim=y)
    ax.axis("off")
    return figure, ax


DRAWINGS: dict[str, Callable[[Ink], Figure]] = {
    "six_by_six": six_by_six,
    "forest_to_matrix": forest_to_matrix,
}


def draw_all(folder: Path = FIGURES) -> None:
    """Write all pictures, NAME-light.svg and NAME-dark.svg each."""
    for name, draw in DRAWINGS.items():
        for page, ink in INKS.items():
            with mpl.rc_context({"svg.hashsalt": name, "font.size": 10.0}):
                save_svg(draw(ink), folder / f"{name}-{page}.svg")


if __name__ == "__main__":
    draw_all()
