"""An and Dasgupta's published values (UAI 2024) for 100 labels, beside ours."""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.figures import OURS, Row
from benchmarks.pages import bullets, listed, markdown_table
from benchmarks.votes.methods import BF
from benchmarks.votes.run_votes import PAPERS_LABELS
from benchmarks.votes.table import VoteFigures

NEAR, WORSE_LOSS, WORSE_ERROR = 0.02, 0.01, 0.005


class Published(NamedTuple):
    """Zero-one loss and log loss of BF, and the lowest log loss of any method."""

    bf_error: float
    bf_loss: float
    best_loss: float


PUBLISHED = {
    "bf_basketball": Published(0.1140, 0.39, 0.39),
    "bf_cardio": Published(0.0311, 0.20, 0.20),
    "bf_domain": Published(0.3675, 1.12, 1.12),
    "bf_yelp": Published(0.3442, 0.64, 0.60),
    "bf_youtube": Published(0.2434, 0.50, 0.42),
}


def papers_rows(figures: VoteFigures) -> list[Row]:
    """Return the rows that the paper has."""
    return [(data, n) for data, n in figures.rows if data in PUBLISHED and n == PAPERS_LABELS]


def error(figures: VoteFigures, row: Row, method: str) -> float:
    """Return the mean zero-one loss."""
    return 1.0 - figures.mean(row, method, "accuracy")


def loss(figures: VoteFigures, row: Row, method: str) -> float:
    """Return the mean log loss."""
    return figures.mean(row, method, "log_loss")


def published_table(figures: VoteFigures) -> str:
    """Return the published values beside ours."""
    rows = [
        [
            "data", "BF 0-1 loss: here / published", "BF log loss: here / published (difference)",
            "log loss: default / best published (difference)", "0-1 loss: default / majority vote",
        ]
    ]  # fmt: skip
    for row in papers_rows(figures):
        theirs, bf, own = PUBLISHED[row[0]], loss(figures, row, BF), loss(figures, row, OURS)
        errors = [f"{100 * error(figures, row, name):.2f}" for name in (OURS, "majority")]
        rows.append(
            [
                row[0],
                f"{100 * error(figures, row, BF):.2f} / {100 * theirs.bf_error:.2f}",
                f"{bf:.3f} / {theirs.bf_loss:.2f} ({bf - theirs.bf_loss:+.3f})",
                f"{own:.3f} / {theirs.best_loss:.2f} ({own - theirs.best_loss:+.3f})",
                " / ".join(errors),
            ]
        )
    return markdown_table(rows)


def published_findings(figures: VoteFigures) -> str:
    """Return where figures are not reproduced, and where the defaults are not as good."""
    rows = papers_rows(figures)
    off = [r for r in rows if abs(loss(figures, r, BF) - PUBLISHED[r[0]].bf_loss) > NEAR]
    worse = [r for r in rows if loss(figures, r, OURS) > PUBLISHED[r[0]].best_loss + WORSE_LOSS]
    behind = [
        r for r in rows if error(figures, r, OURS) > error(figures, r, "majority") + WORSE_ERROR
    ]
    return bullets(
        f"BF's log loss differs by more than {NEAR} from the published value on {_where(off)}",
        f"The default's log loss is more than {WORSE_LOSS} above that of the best published method "
        f"on {_where(worse)}",
        "The default's 0-1 loss is more than half a point above that of majority vote run here on "
        f"{_where(behind)}",
    )


def _where(rows: list[Row]) -> str:
    return listed([data for data, _ in rows]) if rows else "no set"
