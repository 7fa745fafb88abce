"""Web pages as 300 indicators, 3 % positive; the file has a test set."""

from benchmarks.data.printed import PaperData

DATA = PaperData(
    name="w1a",
    budgets=(100, 1000),
    printed={
        100: (0.543, 0.510, 0.505, 0.502, 0.513, 0.509),
        1_000: (0.651, 0.592, 0.520, 0.695, 0.689, 0.671),
    },
    remarks={
        100: "3 % are positive, so that 100 labels have about three of them and nearly every leaf "
        "votes no; by predicted classes HedgeClipper is at 0.5, and the published value lies "
        "between",
        1_000: "AdaBoost in scikit-learn is no longer the one of 2015, which used probabilities; "
        "that may be why",
    },
)
