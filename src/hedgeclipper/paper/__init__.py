"""The algorithm of Balsubramani and Freund (NIPS 2015) as published: leaves as specialists.

`PaperHedgeClipper` follows the paper's algorithm box line by line, for readers of the paper and as
a baseline. For predictions on your own tables use `hedgeclipper.HedgeClipperClassifier`.

| step of the algorithm | module |
|---|---|
| 1. grow trees, regularized; 2. estimate b on trees and leaves | `paper.specialists` |
| 3. minimize the slack on the unlabeled rows | `paper.slack` |
| the three steps, predictions, the value of the game | `paper.classifier` |
| Figure 2 | `paper.margins` |
"""

from hedgeclipper.paper.classifier import PaperHedgeClipper
from hedgeclipper.paper.margins import MarginDisplay
from hedgeclipper.paper.slack import ContradictoryCorrelationsWarning

__all__ = ["ContradictoryCorrelationsWarning", "MarginDisplay", "PaperHedgeClipper"]
