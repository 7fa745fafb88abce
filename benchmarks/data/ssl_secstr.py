"""Secondary structure of proteins (the SSL book's set 8): one-hot, 1,189,472 extra rows."""

from benchmarks.data.paper import PaperData

DATA = PaperData(
    name="ssl-secstr",
    budgets=(10, 100, 1000, 10_000),
    published={
        10: (0.572, 0.574, 0.535, 0.563, 0.557, 0.557),
        100: (0.656, 0.645, 0.610, 0.643, 0.637, 0.629),
        1_000: (0.687, 0.682, 0.646, 0.690, 0.689, 0.683),
    },
    remarks={
        100: "a fifth of 100 labels is too few to grow trees on 315 columns",
    },
)
