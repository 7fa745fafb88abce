"""Results by row of a table, method and draw; the best method and its ties; tables of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from benchmarks.comparison import Difference, best_and_ties
from benchmarks.pages import listed, markdown_table

OURS = "hedgeclipper"
NAMED = ("hedgeclipper", "scikit-learn", "snorkel", "crowd-kit")  # libraries, on pages
Row = tuple[str, int]


class PairedFigures:
    """The results by row of the table, method and draw.

    Parameters
    ----------
    results : sequence of Result
        All of them.
    rows : sequence of Row, optional
        The rows in order; those of ``order`` by default.

    Attributes
    ----------
    order : list of Row
        All rows, in the table's order.
    titles : mapping from str to str
        Headings of the methods, in the table's order.
    outside : tuple of str
        Methods that are not compared with the others.
    main_measure : str
        The figure that says whether a method was run.
    command : str
        What fills gaps in the results.
    """

    order: ClassVar[list[Row]]
    titles: ClassVar[dict[str, str]]
    outside: ClassVar[tuple[str, ...]] = ()
    main_measure: ClassVar[str]
    command: ClassVar[str]

    def __init__(self, results: Sequence[Any], rows: Sequence[Row] | None = None):
        self.results = results
        self._rows = self.order if rows is None else rows
        self._known: dict[tuple[Row, str], dict[int, Any]] = {}
        self._draws: dict[Row, set[int]] = {}
        for result in results:
            row = (result.data, result.n_labels)
            self._known.setdefault((row, result.method), {})[result.draw] = result
            self._draws.setdefault(row, set()).add(result.draw)

    @property
    def rows(self) -> list[Row]:
        """Return the rows that there are results of, in the table's order."""
        known = {row for row, _ in self._known}
        return [row for row in self._rows if row in known]

    def values(self, row: Row, method: str, measure: str) -> np.ndarray:
        """Return a figure of a method on the draws of the row, which are the same for all."""
        own, draws = self._known.get((row, method), {}), self._draws[row]
        missing = sorted(draws - set(own))
        if missing:
            raise ValueError(
                f"{row_name(row)} has no result of {method} for draw {missing[0]} "
                f"({len(missing)} missing in all). Run `{self.command}` to the end."
            )
        return np.array([getattr(own[draw], measure) for draw in sorted(draws)])

    def mean(self, row: Row, method: str, measure: str) -> float:
        """Return the mean of a figure over the draws that the method was run on."""
        values = self.values(row, method, measure)
        return float(np.nanmean(values)) if self.has(row, method) else np.nan

    def has(self, row: Row, method: str) -> bool:
        """Return whether the method could be run on the row."""
        return not np.isnan(self.values(row, method, self.main_measure)).all()

    def methods(self, *, without: Sequence[str] = ()) -> list[str]:
        """Return the methods that there are results of, in the table's order."""
        known = {method for _, method in self._known}
        return [name for name in self.titles if name in known and name not in without]

    def ties(self, row: Row, measure: str) -> list[str]:
        """Return the best of all methods that are compared, and its ties."""
        names = [name for name in self.methods(without=self.outside) if self.has(row, name)]
        values = {name: self.values(row, name, measure) for name in names}
        return best_and_ties(values)


def on_common_draws(results: Sequence[Any], methods: Sequence[str]) -> list[Any]:
    """Return the results on draws that all of these methods have.

    Rows with fewer such draws than others are left out: they are still being run.
    """
    run: dict[tuple, set[str]] = {}
    for result in results:
        run.setdefault(result.key[:3], set()).add(result.method)
    common = [draw for draw, names in run.items() if names >= set(methods)]
    n_draws = Counter(draw[:2] for draw in common)
    kept = {draw for draw in common if n_draws[draw[:2]] == max(n_draws.values())}
    return [r for r in results if r.key[:3] in kept and r.method in methods]


def when(results: Sequence[Any]) -> str:
    """Return the dates of the results."""
    dates = sorted({result.date for result in results})
    return dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"


def with_what(results: Sequence[Any]) -> str:
    """Return the versions of the main libraries that gave the results; the files have all."""
    items = {item for result in results for item in result.versions.split("; ")}
    return listed(sorted(item for item in items if item.split(" ")[0] in NAMED)) or "no versions"


def row_name(row: Row) -> str:
    """Return data set and number of labels."""
    n_labels = f"{row[1] // 1000}K" if row[1] >= 1000 else str(row[1])
    return f"{row[0]}, {n_labels}"


def difference(figures: PairedFigures, theirs: str, measure: str = "auc") -> Difference:
    """Return the paired difference of ours from a method, on the draws that both were run on."""
    by_row = {}
    for row in figures.rows:
        values = figures.values(row, OURS, measure) - figures.values(row, theirs, measure)
        values = values[~np.isnan(values)]
        if values.size > 1:
            by_row[row] = values
    return Difference(by_row)


def gains_rows(figures: PairedFigures, others: Mapping[str, str]) -> list[list[str]]:
    """Return how AUC and log loss of ours differ from those of others, a heading first.

    ``others`` are names with titles.
    """
    rows = [["compared with", "AUC", "better, worse", "log loss", "better, worse"]]
    for name, title in others.items():
        cells = [title]
        for measure, better in (("auc", 1), ("log_loss", -1)):
            found = difference(figures, name, measure)
            counts = [str(len(found.rows_of_sign(sign))) for sign in (better, -better)]
            cells += [f"{found.mean:+.4f} ± {found.error:.4f}", ", ".join(counts)]
        rows.append(cells)
    return rows


def differences_table(figures: Mapping[str, PairedFigures], others: Mapping[str, str]) -> str:
    """Return mean and median differences in AUC over the rows, and in how many it is positive.

    ``figures`` are results by the title of their data. Methods without results have empty cells.
    """
    head = ["compared with"]
    for title, own in figures.items():
        head += [f"{title}: mean", "median", f"higher in, of {len(own.rows)}", "significantly"]
    rows = [head]
    for name, title in others.items():
        cells = [title]
        for own in figures.values():
            if name not in own.methods():
                cells += [""] * 4
                continue
            found = difference(own, name)
            gains = np.array([*found.means.values()])
            higher, lower = (len(found.rows_of_sign(sign)) for sign in (1, -1))
            cells += [f"{gains.mean():+.3f}", f"{np.median(gains):+.3f}"]
            cells += [str((gains > 0).sum()), f"+{higher}, -{lower}"]
        rows.append(cells)
    return markdown_table(rows)


def summary_table(figures: PairedFigures, measure: str, titles: Mapping[str, str]) -> str:
    """Return one line for each of these methods, the best mean first, and how often it is first.

    Methods that could not be run on all rows have no mean and come last. A column has the median
    difference of ours from each of the others.
    """
    ties = [figures.ties(row, measure) for row in figures.rows]
    means = {
        name: float(np.mean([figures.mean(row, name, measure) for row in figures.rows]))
        for name in titles
    }
    title = {"auc": "AUC"}.get(measure, measure)
    rows = [["method", f"mean {title}", "our median gain", f"best or tied, of {len(ties)}"]]
    for name in sorted(means, key=lambda name: np.nan_to_num(-means[name], nan=np.inf)):
        mean = "-" if np.isnan(means[name]) else f"{means[name]:.3f}"
        gains = [*difference(figures, name, measure).means.values()]
        gain = "" if name == OURS or not gains else f"{np.median(gains):+.3f}"
        rows.append([titles[name], mean, gain, str(sum(name in tied for tied in ties))])
    return markdown_table(rows)
