"""Give Me Some Credit (Kaggle): 10 columns with missing values, 7 % positive."""

from benchmarks.data.printed import PaperData

ALL_SAY_NO = (
    "nearly every leaf votes no, so that a score says only how sure the leaves are, and as far as "
    "we can tell the paper's steps make small leaves surest, where the positives are; by predicted "
    "classes our figure is nearer the published value"
)

DATA = PaperData(
    name="kagg-cred",
    budgets=(100, 1000, 10_000),
    printed={
        100: (0.558, 0.518, 0.501, 0.528, 0.542, 0.502),
        1_000: (0.602, 0.534, 0.510, 0.585, 0.565, 0.505),
        10_000: (0.603, 0.563, 0.535, 0.586, 0.566, 0.510),
    },
    remarks={
        100: ALL_SAY_NO,
        1_000: ALL_SAY_NO,
        10_000: ALL_SAY_NO,
    },
)
