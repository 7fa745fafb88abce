"""The algorithm of Balsubramani and Freund (NIPS 2015) as published: leaves as specialists.

`PaperHedgeClipper` follows the paper's algorithm box line by line, for readers of the paper and as
a baseline. For predictions on your own tables use `hedgeclipper.HedgeClipperClassifier`.

| what | module |
|---|---|
| grow trees, estimate b on trees and leaves, minimize the slack | `paper.algorithm` |
| the classifier: its parameters, predictions, the value of the game | `paper.classifier` |
| Figure 2 | `paper.margins` |
"""

from hedgeclipper.paper.algorithm import ContradictoryCorrelationsWarning
from hedgeclipper.paper.classifier import PaperHedgeClipper
from hedgeclipper.paper.margins import MarginDisplay

__all__ = ["ContradictoryCorrelationsWarning", "MarginDisplay", "PaperHedgeClipper"]
