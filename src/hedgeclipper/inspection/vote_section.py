"""The report's section on a panel of voters: class rates, how many are needed, who agrees."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgeclipper.inspection import rendering
from hedgeclipper.inspection.display import BLUE
from hedgeclipper.inspection.subject import Subject

MOST_BARS = 12


def panel_section(subject: Subject) -> dict[str, Any]:
    """Return the section; none unless the model is one of votes on unlabeled rows."""
    if subject.model.describe_panel is None:
        return {}
    panel, rates = subject.model.describe_panel(), subject.estimator.class_rates()
    order = np.argsort(-rates.rates, kind="stable")[:MOST_BARS]
    bars = [(str(rates.classes[k]), rates.rates[k], rates.lower[k], rates.upper[k]) for k in order]
    label = "Estimated accuracy by number of voters"
    heat = [
        (name, [("-", 0) if np.isnan(v) else (f"{100 * v:.0f}", round(90 * v**2)) for v in row])
        for name, row in zip(panel.names, panel.agreement, strict=True)
    ]
    return {
        "panel": {
            "rates": rates,
            "bars": bars,
            "panel": panel,
            "heat": heat,
            "figure": rendering.figure(label, _draw_best, panel.n_best, panel.accuracies),
        }
    }


def _draw_best(n_best: list[int], accuracies: list[float], *, ax: Any) -> None:
    ax.plot(n_best, 100 * np.array(accuracies), marker="o", color=BLUE)
    if n_best[-1] > 10:
        ax.set_xscale("log")
    ax.set_xticks(n_best, [f"{k:,}" for k in n_best])
    ax.minorticks_off()
    ax.set_xlabel("voters with the largest weights")
    ax.set_ylabel("estimated accuracy, %")
