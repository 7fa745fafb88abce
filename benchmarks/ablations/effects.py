"""Differences as parts of sentences, computed from the results."""

from __future__ import annotations

from benchmarks.ablations.study import Row
from benchmarks.ablations.summary import Difference
from benchmarks.pages import listed


def effect(difference: Difference) -> str:
    """Return the effect of a change on AUC: gains, loses, or makes no significant difference."""
    return _put(difference, [])


def effect_by_row(difference: Difference) -> str:
    """Return the effect and the rows on which it is significant, each tested separately."""
    signs = {"up": difference.rows_of_sign(1), "down": difference.rows_of_sign(-1)}
    places = [
        f"{direction} on {_names(rows, difference)}" for direction, rows in signs.items() if rows
    ]
    return _put(difference, places)


def _put(difference: Difference, places: list[str]) -> str:
    mean, error = difference.mean, f"{difference.error:.4f}"
    if difference.sign == 0:
        figures = f"{mean:+.4f} ± {error}"
        return f"makes no significant difference ({', '.join([figures, *places])})"
    verb = "gains" if mean > 0 else "loses"
    return f"{verb} {abs(mean):.4f} ± {error}" + (f" ({', '.join(places)})" if places else "")


def _names(rows: list[Row], difference: Difference) -> str:
    return "all rows" if len(rows) == len(difference.by_row) else listed([r.data for r in rows])
