"""Give Me Some Credit (Kaggle): 10 columns with missing values, 7 % positive."""

from benchmarks.data.paper import PaperData

NEGATIVE_LEAVES = (
    "nearly every leaf votes for the negative class, so a score shows only how large its weight "
    "is, and as far as we can tell the paper's steps give the largest weights to small leaves, "
    "where the positives are; with most labels held out for b the steps do so less"
)

DATA = PaperData(
    name="kagg-cred",
    budgets=(100, 1000, 10_000),
    published={
        100: (0.558, 0.518, 0.501, 0.528, 0.542, 0.502),
        1_000: (0.602, 0.534, 0.510, 0.585, 0.565, 0.505),
        10_000: (0.603, 0.563, 0.535, 0.586, 0.566, 0.510),
    },
    remarks={
        100: NEGATIVE_LEAVES,
        1_000: NEGATIVE_LEAVES,
        10_000: NEGATIVE_LEAVES,
    },
)
