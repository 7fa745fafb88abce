"""Forest cover, class 2 against the rest: 54 columns, 581,012 rows."""

from benchmarks.data.paper import PaperData

DATA = PaperData(
    name="covtype",
    budgets=(100, 1000, 10_000),
    published={
        100: (0.735, 0.703, 0.661, 0.709, 0.732, 0.515),
        1_000: (0.764, 0.761, 0.715, 0.730, 0.761, 0.524),
        10_000: (0.809, 0.822, 0.785, 0.759, 0.788, 0.515),
    },
)
