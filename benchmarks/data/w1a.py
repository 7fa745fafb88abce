"""Web pages as 300 indicators, 3 % positive; the file has a test set."""

from benchmarks.data.paper import PaperData

DATA = PaperData(
    name="w1a",
    budgets=(100, 1000),
    published={
        100: (0.543, 0.510, 0.505, 0.502, 0.513, 0.509),
        1_000: (0.651, 0.592, 0.520, 0.695, 0.689, 0.671),
    },
    remarks={
        100: "3 % are positive, so 100 labels have about three positives and nearly every leaf "
        "votes for the negative class; by predicted classes HedgeClipper has 0.5, and the "
        "published value lies between",
        1_000: "scikit-learn's AdaBoost has changed since 2015, when it used probabilities, which "
        "may be the reason for its figure",
    },
)
