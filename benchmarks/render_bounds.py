"""The page of the bounds: docs/bounds.md, from the results of `benchmarks.bounds_table`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.bounds_table import N_SPLITS, SIMPLE
from benchmarks.figures import when, with_what
from benchmarks.pages import DOCS, bullets, markdown_table, write_sections

NAMES = {"hedgeclipper": "HedgeClipper", "votes": "votes"}
PAGE = DOCS / "bounds.md"


def write(results: Sequence[Any]) -> None:
    """Write the sections of the page."""
    write_sections(PAGE, sections(results))


def sections(results: Sequence[Any]) -> dict[str, str]:
    """Return the text of each section of the page."""
    cells = Cells(results)
    return {
        "guarantee": "\n\n".join([guarantee_table(cells), guarantee_findings(cells)]),
        "estimate": "\n\n".join([estimate_table(cells), estimate_findings(cells)]),
        "automatic labels": "\n\n".join([label_table(cells), label_findings(cells)]),
        "when": f"Measured on {when(results)} with {with_what(results)}.",
    }


class Cells:
    """Results by data, number of labels and method."""

    def __init__(self, results: Sequence[Any]):
        self.found: dict[tuple[str, int, str], list[Any]] = {}
        for one in results:
            self.found.setdefault((one.data, one.n_labels, one.method), []).append(one)

    def mean(
        self, data: str, n_labels: int, method: str, name: str, like: str | None = None
    ) -> float:
        """Return the mean of a field over the draws; NaN where there are none.

        With ``like`` only draws count that this other method has, too.
        """
        found = self.found.get((data, n_labels, method), [])
        if like is not None:
            draws = {one.draw for one in self.found[data, n_labels, like]}
            found = [one for one in found if one.draw in draws]
        values = [getattr(one, name) for one in found]
        return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")

    def rows(self) -> list[tuple[str, int, str]]:
        """Return data, number of labels and method of the rows of the tables."""
        order = list(NAMES)
        rows = [key for key in self.found if key[2] in NAMES]
        return sorted(rows, key=lambda key: (order.index(key[2]), key[0], key[1]))

    def groups(self, method: str) -> list[list[Any]]:
        """Return the results of one of our methods, those of each row of the tables apart."""
        return [self.found[key] for key in self.rows() if key[2] == method]

    def each(self, method: str | None = None) -> list[Any]:
        """Return all results of one of our methods, or of all of them."""
        return [one for key in self.rows() if method in (None, key[2]) for one in self.found[key]]


def percent(value: float) -> str:
    """Return a proportion as text."""
    return "-" if np.isnan(value) else f"{100 * value:.1f}"


def guarantee_table(cells: Cells) -> str:
    """Return guarantees beside the truth and what is done by hand."""
    head = ["rows, labels", "method", "error", "at most", "holds"]
    head += ["by hand: error", "at most"]
    body = []
    for data, n_labels, method in cells.rows():
        simple = SIMPLE[method]
        figures = [cells.mean(data, n_labels, method, n) for n in ("error", "guarantee", "covered")]
        figures += [
            cells.mean(data, n_labels, simple, name, like=method) for name in ("error", "guarantee")
        ]
        body.append([f"{data}, {n_labels:,}", NAMES[method], *map(percent, figures)])
    return markdown_table([head, *body])


def guarantee_findings(cells: Cells) -> str:
    """Return what the guarantees show."""
    lines = []
    for method, name in NAMES.items():
        ours = cells.each(method)
        if not ours:
            continue
        covered = np.array([one.covered for one in ours])
        true = np.mean([one.guarantee >= one.error for one in ours])
        lines.append(
            f"For {name} the bound holds in {100 * covered.mean():.1f} % of "
            f"{covered.size * N_SPLITS:,} splits and in {100 * true:.1f} % of the {len(ours)} fits"
        )
        pairs = [
            (
                cells.mean(*key, "guarantee"),
                cells.mean(*key[:2], SIMPLE[method], "guarantee", like=method),
            )
            for key in cells.rows()
            if key[2] == method
        ]
        pairs = [pair for pair in pairs if not np.isnan(pair[1])]
        lower = sum(one <= other for one, other in pairs)
        means = np.mean(pairs, axis=0)
        lines.append(
            f"The guarantee is {100 * means[0]:.1f} % on average, by hand {100 * means[1]:.1f} %; "
            f"it is the lower one in {lower} of {len(pairs)} rows"
        )
    return bullets(*lines)


def estimate_table(cells: Cells) -> str:
    """Return estimates beside the truth."""
    head = [
        "rows, labels",
        "method",
        "error",
        "estimate",
        "RMSE",
        "uncorrected RMSE",
        "covers",
    ]
    body = []
    for data, n_labels, method in cells.rows():
        found = cells.found[data, n_labels, method]
        figures = [
            cells.mean(data, n_labels, method, "estimated_error"),
            cells.mean(data, n_labels, method, "estimate"),
            root_mean_square(found, lambda one: one.estimate - one.estimated_error),
            root_mean_square(found, lambda one: one.out_of_sample - one.estimated_error),
            float(np.mean([is_covered(one) for one in found])),
        ]
        body.append([f"{data}, {n_labels:,}", NAMES[method], *map(percent, figures)])
    return markdown_table([head, *body])


def root_mean_square(results: Sequence[Any], error: Callable[[Any], float]) -> float:
    """Return the root of the mean square of an error."""
    return float(np.sqrt(np.mean([error(one) ** 2 for one in results])))


def is_covered(one: Any) -> bool:
    """Return whether the interval of an estimate has the truth in it."""
    return one.estimate_lower <= one.estimated_error <= one.estimate_upper


def estimate_findings(cells: Cells) -> str:
    """Return what the estimates show."""
    lines = []
    for method, name in NAMES.items():
        ours = cells.each(method)
        if not ours:
            continue
        covered = float(np.mean([is_covered(one) for one in ours]))
        estimate, uncorrected = mean_errors(cells.groups(method))
        lines.append(
            f"For {name} the 95 % interval covers the error in {100 * covered:.1f} % of "
            f"{len(ours)} fits. The root mean square error of the estimate is "
            f"{100 * estimate:.2f} points on average, that of the uncorrected out-of-sample error "
            f"{100 * uncorrected:.2f}{gain_findings(cells.groups(method))}"
        )
    return bullets(*lines)


def mean_errors(groups: Sequence[Sequence[Any]]) -> tuple[float, float]:
    """Return the RMSE of the estimate and of the uncorrected error, the mean over groups."""
    pairs = [
        (
            root_mean_square(group, lambda one: one.estimate - one.estimated_error),
            root_mean_square(group, lambda one: one.out_of_sample - one.estimated_error),
        )
        for group in groups
    ]
    estimate, uncorrected = np.mean(pairs, axis=0)
    return float(estimate), float(uncorrected)


def gain_findings(groups: Sequence[Sequence[Any]]) -> str:
    """Return how the RMSE of the estimate compares with what sqrt(1 - rho^2) allows.

    Each group counts by its uncorrected RMSE in both. The standard error is the jackknife's over
    draws. Fits without a rho are passed over.
    """
    known = [[one for one in group if np.isfinite(one.rho)] for group in groups]
    known = [group for group in known if group]
    draws = sorted({one.draw for group in known for one in group})
    if len(draws) < 2:
        return ""
    others = [[[one for one in group if one.draw != draw] for group in known] for draw in draws]
    ratio, allowed = gain(known)
    ratios = [gain([group for group in other if group])[0] for other in others]
    spread = np.sqrt((len(draws) - 1) * np.var(ratios))
    return (
        f". That is a ratio of {ratio:.3f} (standard error {spread:.3f}), where "
        f"sqrt(1 - rho^2) allows {allowed:.3f}"
    )


def gain(groups: Sequence[Sequence[Any]]) -> tuple[float, float]:
    """Return the ratio of the mean RMSEs of estimate and uncorrected error, and what rho allows."""
    estimate, uncorrected = mean_errors(groups)
    weights = [mean_errors([group])[1] for group in groups]
    factors = [np.sqrt(1.0 - np.mean([one.rho**2 for one in group])) for group in groups]
    return estimate / uncorrected, float(np.average(factors, weights=weights))


def label_table(cells: Cells) -> str:
    """Return the proportion of rows labeled automatically, and how often too many are wrong."""
    head = ["labels", "method", "max_error", "labeled", "broken", "tuned: labeled", "broken"]
    body = []
    for method, name in NAMES.items():
        for n_labels in sorted({key[1] for key in cells.rows() if key[2] == method}):
            ours = [one for one in cells.each(method) if one.n_labels == n_labels]
            for most in (1, 5, 10):
                fields = [f"labeled_{most}", f"broken_{most}"]
                fields += [f"tuned_{field}" for field in fields]
                figures = [
                    float(np.mean([getattr(one, field) for one in ours])) for field in fields
                ]
                body.append([f"{n_labels:,}", name, f"{most} %", *map(percent, figures)])
    return markdown_table([head, *body])


def label_findings(cells: Cells) -> str:
    """Return what automatic labels show."""
    lines = []
    for method, name in NAMES.items():
        ours = cells.each(method)
        if ours:
            broken = [
                float(np.mean([getattr(one, f"broken_{most}") for one in ours]))
                for most in (1, 5, 10)
            ]
            worst = max(getattr(one, f"broken_{most}") for one in ours for most in (1, 5, 10))
            lines.append(
                f"For {name} more labels are wrong than allowed in {100 * max(broken):.1f} % of "
                f"the splits, in the worst fit in {100 * worst:.1f} %"
            )
    return bullets(*lines)
